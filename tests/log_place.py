"""Where the tests' logs lie: files, or with `--warehouse=lake` DuckLakes, one for each path that a test opens.

A new file is a copy of one that was migrated once, as migrating takes longer than most loads.
Every lake has a database of its own in one PostgreSQL, made from a template that was migrated once, and its rows in a
folder beside the path at which the file would lie.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import own_postgres
import psycopg
import pytest

from warehouse.lake import ducklake
from warehouse.lake.place import place
from warehouse.log import db

NUMBERS = count(1)
MIGRATE, OPEN_BUILD = db.migrate, db.open_build
"""The product's own, for the tests of these."""
Opened = Callable[[Path], AbstractContextManager[duckdb.DuckDBPyConnection]]


class Lakes:
    """The lakes of one test run, in one cluster of PostgreSQL."""

    def __init__(self, words: str, folder: Path) -> None:
        self.words, self.folder = words, folder
        self.made: dict[Path, str] = {}
        self._admin = psycopg.connect(f"{words} dbname=postgres", autocommit=True)
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            self._admin.execute(f"alter system set {setting} = off")
        self._admin.execute("select pg_reload_conf()")
        self._admin.execute("create database template_lake")
        with self._lake("template_lake", folder / "template", folder) as con:
            db._prepare(con)

    @contextmanager
    def open_build(self, path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the lake that stands for a writer's file; it is made where it does not exist."""
        path = path.absolute()
        files = path.with_name(f"{path.name}.files")
        if path not in self.made or not files.exists():
            self._make(path, files)
        with self._lake(self.made[path], files, path.parent) as con:
            db._prepare(con)
            yield con

    def drop(self, below: Path) -> None:
        """Forget the lakes of one test, as each takes 8 MB."""
        for path in [path for path in self.made if path.is_relative_to(below)]:
            self._admin.execute(f'drop database "{self.made.pop(path)}" with (force)')

    def close(self) -> None:
        self._admin.close()

    def _make(self, path: Path, files: Path) -> None:
        name = f"lake_{next(NUMBERS)}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
        self._admin.execute(f'create database "{name}" template template_lake')
        shutil.copytree(self.folder / "template", files, dirs_exist_ok=True)
        with psycopg.connect(f"{self.words} dbname={name}") as con:
            con.execute("update ducklake_metadata set value = %s where key = 'data_path'", [f"{files}/"])
        self.made[path] = name

    def _lake(self, database: str, files: Path, data_dir: Path) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        words = f"ducklake:postgres:{self.words} dbname={database}"
        return ducklake.connected(place(data_dir, url=words, data_path=str(files)))


class Files:
    """The files of one test run: a new one is a copy of one that the product made."""

    def __init__(self, folder: Path) -> None:
        self.first = folder / db.FILE_NAME
        self.made: set[Path] = set()
        with OPEN_BUILD(self.first):
            pass

    @contextmanager
    def open_build(self, path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open a writer's file; it is made where it does not exist."""
        if not path.exists():
            shutil.copyfile(self.first, path)
            self.made.add(path.absolute())
        with OPEN_BUILD(path) as con:
            yield con

    def migrate(self, con: duckdb.DuckDBPyConnection) -> None:
        """Migrate, but for a file that was made or migrated here, and has all migrations, macros and facts."""
        file = con.execute("select path from duckdb_databases() where database_name = current_database()").fetchone()
        place = Path(file[0]) if file and file[0] and ducklake.of(con) is None else None
        if place not in self.made or db.lacking(con):
            MIGRATE(con)
            self.made.add(place or self.first)


_LAKES: list[Lakes] = []


@contextmanager
def files(folder: Path) -> Iterator[None]:
    """Let every new log be a copy of one that was migrated once, for as long as this lasts."""
    made = Files(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warehouse.log.db.open_build", made.open_build)
        patch.setattr("warehouse.log.db.migrate", made.migrate)
        yield


@contextmanager
def anew() -> Iterator[None]:
    """Let each file of a log be migrated by the product itself, and be no copy of one that was."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warehouse.log.db.open_build", OPEN_BUILD)
        patch.setattr("warehouse.log.db.migrate", MIGRATE)
        yield


@contextmanager
def unsigned_extensions() -> Iterator[None]:
    """Leave the signatures of extensions unread: reading 70 MB of them takes longer than most tests."""
    connect: Any = duckdb.connect

    def unsigned(*given: Any, config: Any = None, **named: Any) -> Any:
        return connect(*given, config={"allow_unsigned_extensions": True, **(config or {})}, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warehouse.lake.ducklake.duckdb.connect", unsigned)
        yield


@contextmanager
def lakes(folder: Path) -> Iterator[Lakes]:
    """Let every log that tests open be a DuckLake, for as long as this lasts."""
    programs = own_postgres.programs()
    assert programs, "no PostgreSQL: apt-get install postgresql"
    with ExitStack() as held:
        server = held.enter_context(own_postgres.running(programs, log=folder / "postgres.log"))
        words = f"host={server.environment['PGHOST']} port={server.port} user=postgres"
        patch = held.enter_context(pytest.MonkeyPatch.context())
        held.enter_context(unsigned_extensions())
        made = Lakes(words, folder)
        held.callback(made.close)
        patch.setattr("warehouse.log.db.open_build", made.open_build)
        _LAKES.append(made)
        held.callback(_LAKES.clear)
        yield made


def drop(folder: Path | None) -> None:
    """Forget the lakes below a test's folder."""
    for each in _LAKES if folder is not None else ():
        each.drop(folder)


@contextmanager
def fresh() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a writer's log of nobody else: a file, or a new lake."""
    if not _LAKES:
        with tempfile.TemporaryDirectory() as held, db.open_build(Path(held) / db.FILE_NAME) as con:
            con.execute("pragma disable_checkpoint_on_shutdown")  # nobody opens it again
            yield con
        return
    (made,) = _LAKES
    folder = made.folder / f"fresh-{next(NUMBERS)}"
    with made.open_build(folder / db.FILE_NAME) as con:
        yield con
    made.drop(folder)
