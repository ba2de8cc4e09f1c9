"""The data directory and its published file: names, places and rights that need no settings model."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from warehouse.errors import ChipledgerError

FILE_NAME = "chipledger.toml"
PREFIX = "CHIPLEDGER_"
DATA_DIR = Path("data")
PUBLISHED = "prices.duckdb"
OFFLINE = "offline"
"""The folder of a data directory that holds the archive of the package, apart from live prices."""


def is_anything_set(environ: Mapping[str, str]) -> bool:
    """Return whether there is a settings file here or a variable of a setting."""
    return Path(FILE_NAME).exists() or any(name.startswith(PREFIX) for name in environ)


def offline_folder(data_dir: Path) -> Path:
    """Return the data directory of the package's archive."""
    return data_dir if data_dir.name == OFFLINE else data_dir / OFFLINE


def visible_folder(data_dir: Path) -> Path:
    """Return the data directory whose prices are shown; the archive's where only the archive was published."""
    archive = offline_folder(data_dir)
    if (data_dir / PUBLISHED).exists() or not (archive / PUBLISHED).exists():
        return data_dir
    _note_archive(archive / PUBLISHED)
    return archive


def published_in(data_dir: Path) -> Path:
    """Return the published file of a data directory. Raises ChipledgerError where there is none."""
    file = data_dir / PUBLISHED
    if not file.exists():
        hint = "`chipledger run` makes one; `chipledger run --offline` works without a network"
        raise ChipledgerError("there is no published file yet", source=str(file), hint=hint)
    return file


@cache
def users_umask() -> int:
    """Return the umask that this process was started with; the first call is before any change."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextmanager
def as_user(*, alone: bool = False) -> Iterator[None]:
    """Make files inside with the user's umask: those whose place he names, such as an export's; or his alone."""
    mask = os.umask(0o077 if alone else users_umask())
    try:
        yield
    finally:
        os.umask(mask)


@cache
def _note_archive(file: Path) -> None:
    """Write once to stderr that answers come from the archive of the package, and its date."""
    import duckdb

    with duckdb.connect(str(file), read_only=True) as con:
        ((day,),) = con.execute("select strftime(built_at, '%Y-%m-%d') from meta.build").fetchall()
    sys.stderr.write(f"prices of the archive in the package, as of {day}; `chipledger run` fetches today's\n")
