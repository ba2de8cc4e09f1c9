"""The prepared reference tables: made once, read after that, and never trusted when they are not what they say."""

import hashlib
import sys
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from warehouse.reference import prepared, throughput
from warehouse.schema.tables import ddl


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by one each time the tables are made."""
    calls: list[int] = []
    tables = {name: table.slice(0, 20) for name, table in prepared.made().items()}

    def make() -> dict[str, pa.Table]:
        calls.append(1)
        return tables

    monkeypatch.setattr(prepared, "made", make)
    return calls


def test_they_are_made_once_and_then_read_equal(tmp_path: Path, made: list[int]) -> None:
    """Types and values are those of the tables that were made."""
    wanted = prepared.made()
    made.clear()
    prepared.tables(tmp_path)
    n_made = len(made)

    found = prepared.tables(tmp_path)

    assert len(made) == n_made > 0
    assert {name: table.to_pylist() for name, table in found.items()} == {
        name: table.to_pylist() for name, table in wanted.items()
    }
    assert [table.schema.types for table in found.values()] == [table.schema.types for table in wanted.values()]


@pytest.mark.parametrize("damage", [lambda body: body[:-1], lambda body: b"", lambda body: body[:-9] + bytes(9)])
def test_a_damaged_file_is_made_again(tmp_path: Path, made: list[int], damage: Callable[[bytes], bytes]) -> None:
    """Its hash is not that of its name."""
    prepared.tables(tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    made.clear()

    prepared.tables(tmp_path)

    assert (len(made) > 0, [*tmp_path.iterdir()], file.read_bytes() == whole) == (True, [file], True)


def test_what_another_version_or_a_killed_process_left_goes(
    tmp_path: Path, made: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file made from other data is not read; one file stays."""
    prepared.tables(tmp_path)
    (old,) = tmp_path.iterdir()
    (tmp_path / "reference-1.arrow.77.part").touch()
    made.clear()
    monkeypatch.setattr(prepared, "_made_from", lambda: "0" * 16)

    prepared.tables(tmp_path)

    (new,) = tmp_path.iterdir()
    assert (len(made) > 0, new != old, "0" * 16 in new.name) == (True, True, True)


def test_without_a_folder_to_write_they_are_made_all_the_same(tmp_path: Path, made: list[int]) -> None:
    """The cache saves time, and nothing depends on it."""
    (tmp_path / "file").touch()

    assert prepared.tables(tmp_path / "file" / "cache").keys() == prepared.made().keys()


def test_processes_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    """Whoever renames last wins, and all of them write the same."""
    with get_context("fork").Pool(4) as pool:
        counts = pool.map(_n_rows, [tmp_path] * 8)

    assert len({*counts}) == 1
    (file,) = tmp_path.iterdir()
    assert hashlib.sha256(file.read_bytes()).hexdigest() in file.name


@pytest.mark.parametrize("is_compiled", [True, False])
def test_they_are_kept_where_compiled_modules_are(
    tmp_path: Path, made: list[int], monkeypatch: pytest.MonkeyPatch, *, is_compiled: bool
) -> None:
    """So that a new data directory does not wait for them; where Python keeps none they are in its cache."""
    package = tmp_path / "__pycache__"
    package.mkdir()
    monkeypatch.setattr(prepared, "__file__", str(tmp_path / "prepared.py"))
    monkeypatch.setattr(sys, "dont_write_bytecode", not is_compiled)
    n_made = []
    for name in ("one", "other"):
        with duckdb.connect() as con:
            con.execute("create schema ref; create schema core")
            con.execute(ddl(throughput.CORE))
            prepared.load(con, tmp_path / name)
        n_made.append(len(made))

    assert n_made[0] > 0
    assert (n_made[1] > n_made[0]) is not is_compiled
    assert len([*package.iterdir()]) == is_compiled
    assert len([*tmp_path.glob("*/cache/reference-*")]) == (0 if is_compiled else 2)


def _n_rows(folder: Path) -> int:
    return sum(table.num_rows for table in prepared.tables(folder).values())
