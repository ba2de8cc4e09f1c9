"""The budget of the house, tests/budget.toml: nothing grows unseen."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from flows.cli.main import main
from flows.config import show
from transform.models import PUBLIC

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import house  # noqa: E402

BUDGET = tomllib.loads((ROOT / "tests/budget.toml").read_text(encoding="utf-8"))
LIMITS: dict[str, int] = BUDGET["limits"]


@pytest.fixture(scope="module")
def measured() -> dict[str, int]:
    """Return every figure of this checkout."""
    return house.measure(ROOT) | {
        "top_level_commands": len(main.commands),
        "public_tables": len(PUBLIC),
        "settings": len(re.findall(r"(?m)^#[\w-]+ = ", show.text())),
        "environment_megabytes": house.environment_bytes() // 1_000_000,
    }


@pytest.mark.parametrize("name", LIMITS)
def test_within_budget(measured: dict[str, int], name: str) -> None:
    """Each figure is within its limit."""
    assert measured[name] <= LIMITS[name]


def test_everything_measured_has_a_limit(measured: dict[str, int]) -> None:
    """A figure without a limit would grow unseen."""
    assert set(measured) == set(LIMITS)


def test_goals_are_below_the_limits() -> None:
    """A goal that was reached is a limit."""
    assert all(goal < LIMITS[name] for name, goal in BUDGET["goals"].items())


# --- each measure finds what it looks for


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a made-up checkout with our packages and nothing wrong."""
    for package in house.PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text("line-length = 120\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("third", ["from flows import a", "def f():\n    from flows import a", "import flows.a"])
def test_a_circle_of_imports_is_found(tree: Path, third: str) -> None:
    """Three modules that import one another, the last one lazily too, are one circle."""
    (tree / "flows/a.py").write_text("from flows import b\n", encoding="utf-8")
    (tree / "flows/b.py").write_text("from flows.c import x\n", encoding="utf-8")
    assert house.circles(house.imports(tree)) == []
    (tree / "flows/c.py").write_text(f"{third}\nx = 1\n", encoding="utf-8")

    assert house.circles(house.imports(tree)) == [["flows.a", "flows.b", "flows.c"]]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("told = 1", ["told"]),
        ("def known_told(): ...", ["known_told"]),
        ("class ToldOff: ...", ["ToldOff"]),
        ("MOST_ROWS = 1", ["MOST_ROWS"]),
        ("def f(beside): ...", ["beside"]),
        ("import os as door", ["door"]),
        ("raise ValueError('what was told')", ["told"]),
        ("x = f'{1} stands there'", ["stands"]),
        ("@click.command()\ndef f():\n    '''Say what was told.'''", ["told"]),
        ("def f():\n    '''What was told, for readers of code.'''", []),
        ("almost, outlook, x = 1, 2, 'doorway of a kind'", []),
    ],
)
def test_a_banned_word_is_found(tree: Path, line: str, found: list[str]) -> None:
    """In a name or a text for users, as a whole word; the docstring of a command is such a text."""
    (tree / "flows/a.py").write_text(line + "\n", encoding="utf-8")

    offences = house.offences(tree, house.banned_words(ROOT))

    assert [word for word, offence in zip(found, offences, strict=True) if word not in offence] == []


def test_a_banned_word_in_a_table_of_words_is_found(tree: Path) -> None:
    (tree / "reports/words.csv").write_text("of,name,words\nstate,stale,what was told\n", encoding="utf-8")

    assert house.offences(tree, {"told"}) == ["reports/words.csv:2: told in 'what was told'"]


def test_lines_are_counted_as_the_formatter_leaves_them(tree: Path) -> None:
    """A list that is exempt from the formatter counts as it would be written without the exemption."""
    (tree / "flows/a.py").write_text("x = [\n    1, 2,\n]  # fmt: skip\n", encoding="utf-8")

    assert (house.product_lines(tree), house.skips(tree)) == (4, 1)
