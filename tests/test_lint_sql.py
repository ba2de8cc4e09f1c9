"""`tools/lint_sql.py` reads SQL that it does not know to be good, and all else not again."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BAD = "SELECT 1 as x\n"


def lint(folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, ROOT / "tools/lint_sql.py", "sql"], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


def test_only_what_is_not_known_to_be_good_is_read(tmp_path: Path) -> None:
    """A fault is told each time; a file is read again when it or the rules change, and a good one not."""
    (tmp_path / "sql").mkdir()
    good, other = tmp_path / "sql/good.sql", tmp_path / "sql/other.sql"
    settings = '[tool.sqlfluff.core]\ndialect = "duckdb"\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    good.write_text("select 1 as x\n")
    assert lint(tmp_path) == (0, "All Finished!\n1 of 1 SQL files read, the others are known to be good\n")
    assert lint(tmp_path) == (0, "0 of 1 SQL files read, the others are known to be good\n")

    other.write_text(BAD)
    for _ in range(2):
        code, told = lint(tmp_path)
        assert (code, "CP01" in told, "good.sql" in told) == (1, True, False)

    other.unlink()
    rules = '[tool.sqlfluff.rules.capitalisation.keywords]\ncapitalisation_policy = "upper"\n'
    (tmp_path / "pyproject.toml").write_text(settings + rules)
    code, told = lint(tmp_path)
    assert (code, "good.sql" in told) == (1, True)
