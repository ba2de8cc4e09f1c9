"""Lint the SQL of folders, as `make lint` does: `python tools/lint_sql.py FOLDER…`.

A file that was found good is not read again until it, sqlfluff or its settings change: reading all takes as long as all
other linters, several times.
"""

import hashlib
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

GOOD = Path(".tools/good-sql.txt")


def main(folders: list[str]) -> int:
    """Return sqlfluff's exit code for what is not known to be good, and remember all when that is nought."""
    settings = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["sqlfluff"]
    rules = f"{version('sqlfluff')} {settings} ".encode()
    files = sorted(file for folder in folders for file in Path(folder).rglob("*.sql"))
    found = {file: hashlib.sha256(rules + file.read_bytes()).hexdigest() for file in files}
    good = set(GOOD.read_text().split()) if GOOD.exists() else set()
    unread = [str(file) for file, digest in found.items() if digest not in good]
    if unread:
        done = subprocess.run([sys.executable, "-m", "sqlfluff", "lint", "--processes", "2", *unread], check=False)
        if done.returncode:
            return done.returncode
    print(f"{len(unread)} of {len(files)} SQL files read, the others are known to be good")
    GOOD.parent.mkdir(exist_ok=True)
    GOOD.write_text("\n".join(sorted(found.values())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
