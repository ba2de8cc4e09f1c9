"""The frame of published files: made once, copied after that, and never trusted when it is not what it says."""

import shutil
import sys
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from blake3 import blake3
from few_marts import LEAST_MARTS, formulas_of
from looks import day

from warehouse.log import db
from warehouse.publish import frame
from warehouse.publish.frame import Contents
from warehouse.publish.published_file import publish

OF_ONE = Contents(marts=LEAST_MARTS[:1], sources=())


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that has the frame of no contents, which every other one is made of."""
    folder = tmp_path_factory.mktemp("base")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "_folder", lambda _: folder / "kept")
        copied(OF_ONE, folder / "part")
    for file in kept(folder / "kept"):
        file.unlink()
    return folder / "kept"


@pytest.fixture
def folder(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where frames are kept; that of no contents is."""
    monkeypatch.setattr(frame, "_folder", lambda _: tmp_path / "kept")
    return Path(shutil.copytree(base, tmp_path / "kept"))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Contents]:
    """Return a list of what frames were made of."""
    calls: list[Contents] = []
    make = frame._make_rest
    monkeypatch.setattr(frame, "_make_rest", lambda con, contents: calls.append(contents) or make(con, contents))
    return calls


def test_it_is_made_once_for_the_same_contents(tmp_path: Path, folder: Path, made: list[Contents]) -> None:
    """Sources and limits are no part of it; marts with their examples, formulas and aliases are."""
    part = tmp_path / "part"
    names = ("schema", "name", "qualified", "row", "sql", "is_table", "amended")
    told = SimpleNamespace(**{name: getattr(LEAST_MARTS[0], name) for name in names}, example="select 1")
    others = (
        Contents(marts=[told], sources=()),
        Contents(marts=LEAST_MARTS[:2], sources=()),
        Contents(marts=LEAST_MARTS[:1], sources=(), formulas=["create schema physics"]),
        Contents(marts=LEAST_MARTS[:1], sources=(), aliases={"mart.former": LEAST_MARTS[0].qualified}),
    )
    bodies = {copied(each, part) for each in (OF_ONE, *others)}
    assert (len(bodies), made) == (5, [OF_ONE, *others])

    again = Contents(marts=LEAST_MARTS[:1], sources=[("x", "X", "X", "live", 1, None, "")], ranked_days=7, code="other")

    assert copied(again, part) in bodies
    assert (len(made), len(kept(folder))) == (5, 5)
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "part"}


@pytest.mark.parametrize(
    "damage", [lambda body: body[:-1], lambda body: b"", lambda body: body[:5000] + b"other" + body[5005:]]
)
def test_a_damaged_one_is_made_again(
    tmp_path: Path, folder: Path, made: list[Contents], damage: Callable[[bytes], bytes]
) -> None:
    """Its hash is not that of its name."""
    copied(OF_ONE, tmp_path / "part")
    (file,) = kept(folder)
    file.write_bytes(damage(file.read_bytes()))

    body = copied(OF_ONE, tmp_path / "part")

    (file,) = kept(folder)
    assert (len(made), file.read_bytes() == body) == (2, True)


def test_what_another_version_or_a_killed_process_left_goes(
    tmp_path: Path, folder: Path, made: list[Contents], monkeypatch: pytest.MonkeyPatch
) -> None:
    copied(OF_ONE, tmp_path / "part")
    (folder / "frame-0-1.77.part").touch()
    monkeypatch.setattr(frame, "_package", lambda: "0" * 16)

    copied(OF_ONE, tmp_path / "part")

    (new,) = kept(folder)
    assert (len(made), new.name.startswith(f"frame-{'0' * 16}-")) == (2, True)


def test_without_a_folder_to_write_it_is_made_all_the_same(
    tmp_path: Path, made: list[Contents], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache saves time, and nothing depends on it."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(frame, "_folder", lambda _: tmp_path / "file" / "cache")

    assert [len(copied(OF_ONE, tmp_path / "part")) > 0 for _ in range(2)] == [True, True]
    assert len(made) == 2


def test_it_is_packed_whoever_makes_it(tmp_path: Path, folder: Path) -> None:
    """These tests pack nothing, and what they keep is used by whoever runs the same code."""
    copied(OF_ONE, tmp_path / "part")
    with duckdb.connect(tmp_path / "part", read_only=True) as con:
        ways = con.execute("select distinct compression from pragma_storage_info('ref.model')").fetchall()

    assert ("DICT_FSST",) in ways


@pytest.mark.prove
def test_processes_at_once_leave_whole_ones(tmp_path: Path, folder: Path) -> None:
    """Each makes its own; whoever reads one reads all of it."""
    with get_context("spawn").Pool(3) as pool:  # the threads of polars survive no fork
        hashes = pool.map(_hash, [tmp_path / f"part{number}" for number in range(6)], chunksize=1)

    found = {blake3(file.read_bytes()).hexdigest() for file in kept(folder)}
    assert found <= {*hashes}
    assert found == {file.stem.rpartition("-")[2] for file in kept(folder)}


@pytest.mark.parametrize("is_compiled", [True, False])
def test_it_is_kept_where_compiled_modules_are(
    tmp_path: Path, made: list[Contents], monkeypatch: pytest.MonkeyPatch, *, is_compiled: bool
) -> None:
    """So that a new data directory does not wait for it; where Python keeps none it is in its cache."""
    package = tmp_path / "__pycache__"
    package.mkdir()
    monkeypatch.setattr(frame, "__file__", str(tmp_path / "frame.py"))
    monkeypatch.setattr(sys, "dont_write_bytecode", not is_compiled)
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        copied(OF_ONE, tmp_path / name / "part")

    assert len(made) == (1 if is_compiled else 2)
    assert len(kept(package)) == is_compiled
    assert sum(len(kept(folder)) for folder in tmp_path.glob("*/cache")) == (0 if is_compiled else 2)


def test_a_new_state_of_the_package_has_another_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a frame is made by is in its name: each file of the package next to those that marts bring."""
    read = frame._package.__wrapped__
    for name in ("data", "log", "publish", "reference", "schema", "sql"):
        (tmp_path / name).mkdir()
    (tmp_path / "sql" / "view.sql").write_text("select 1")
    monkeypatch.setattr(frame.resources, "files", lambda _: tmp_path)
    before = read()
    (tmp_path / "sql" / "view.pyc").touch()
    assert read() == before
    (tmp_path / "sql" / "view.sql").write_text("select 2")
    assert read() != before


def test_a_file_is_the_same_by_a_kept_frame_as_by_one_that_was_made(tmp_path: Path, folder: Path) -> None:
    """With its words: comments of all tables and columns, and the dictionary."""
    told = []
    for name in ("first", "second"):
        with db.writer(tmp_path / name) as con:
            file = publish(
                con, tmp_path / name, marts=LEAST_MARTS, formulas=formulas_of(LEAST_MARTS), sources=(),
                built_at=day(1), version="test",
            )  # fmt: skip
        with duckdb.connect(str(file), read_only=True) as con:
            columns = (
                "select schema_name, table_name, column_name, data_type, comment from duckdb_columns() order by all"
            )
            told.append(
                (con.execute(columns).fetchall(), con.execute("from mart.data_dictionary order by all").fetchall())
            )
    assert told[0] == told[1]
    assert len(told[0][1]) > 500
    assert len(kept(folder)) == 1


def kept(folder: Path) -> list[Path]:
    """Return the files of a folder but for the frame of no contents."""
    return [file for file in folder.iterdir() if "-base-" not in file.name]


def copied(contents: Contents, part: Path) -> bytes:
    """Return what the frame of some contents is as a new file."""
    part.unlink(missing_ok=True)
    frame.copy(contents, part)
    return part.read_bytes()


def _hash(part: Path) -> str:
    """Return the hash of a frame that a process of its own copied; frames are kept beside it."""
    frame._folder = lambda _: part.parent / "kept"
    return blake3(copied(OF_ONE, part)).hexdigest()
