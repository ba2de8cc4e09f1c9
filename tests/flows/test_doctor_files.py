"""The doctor reads what lies in the data directory, names what is damaged, and changes nothing of it."""

import errno
import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import duckdb
import kept
import pytest
from few_marts import published_with
from looks import day
from toy_source import Toy, installed

from extract import SOURCES
from flows.config.settings import Settings
from flows.doctor import checks
from flows.doctor.row import Row
from warehouse.landing.folder import Landing
from warehouse.log import db


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data directory of two runs of a source with two scopes, of which one failed at last."""

    def make(folder: Path) -> None:
        with published_with("source_health", least=()), pytest.MonkeyPatch.context() as patch:
            toy = installed(patch, folder)
            toy.learn(0, r1={"p5.48xlarge": "55.04"}, r2={"p5.48xlarge": "60"})
            toy.run(5, r1={"p5.48xlarge": "49"}, r2=None)

    return kept.once(tmp_path_factory, "doctor", make)


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of it, read by a program that knows the toy and one source more."""
    monkeypatch.setattr("extract.SOURCES", (Toy(tmp_path).source(), next(s for s in SOURCES if s.name == "vultr")))
    return Path(shutil.copytree(made, tmp_path / "data"))


def looked(folder: Path, *, at: datetime | None = None, **more: Any) -> dict[str, Row]:
    """Return the lines by name, half a day after the last run."""
    rows = checks.data_files(Settings(data_dir=folder, **more), at or day(5.5).replace(tzinfo=UTC))
    return {str(row["check"]): row for row in rows}


def results(rows: dict[str, Row]) -> dict[str, object]:
    return {name: row["result"] for name, row in rows.items() if row["result"] != "ok"}


HEAD_BYTES = 3 * 4096
"""Of a file of DuckDB: what precedes its blocks."""


def blocks(file: Path) -> tuple[int, list[int]]:
    """Return the bytes of a block, and the numbers of those that have rows: others are free, or of the catalogue."""
    with duckdb.connect(str(file), read_only=True) as con:
        (size,) = con.execute("select block_size from pragma_database_size()").fetchall()[0]
        names = con.execute('select format(\'"{}"."{}"\', schema_name, table_name) from duckdb_tables()').fetchall()
        sql = "select distinct unnest(list_append(additional_block_ids, block_id)) from pragma_storage_info(?)"
        found = {number for (name,) in names for (number,) in con.execute(sql, [name]).fetchall()}
    return size, sorted(number for number in found if number is not None and number >= 0)


def damage(file: Path, at: float) -> None:
    """Turn a few bytes over at the head of the file, or of the block with rows that is so far among them."""
    start = 0
    if at:
        size, numbers = blocks(file)
        start = HEAD_BYTES + numbers[int(at * (len(numbers) - 1))] * size
    content = bytearray(file.read_bytes())
    content[start : start + 64] = bytes(byte ^ 0xFF for byte in content[start : start + 64])
    file.write_bytes(content)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_one_document_is_said_as_one(folder: Path) -> None:
    landing = Landing(folder / "landing")
    sha256 = next(iter(landing.entries())).content["documents"][0]["sha256"]
    assert checks.read_back(landing, [sha256], "", "")["found"] == "1 document, 1 of them read back by hash"


def test_a_good_directory_is_read_and_left_as_it_is(folder: Path) -> None:
    """What is old and what was never read is named; nothing is wrong, nothing changed."""
    before = contents(folder)
    rows = looked(folder)

    assert results(rows) == {"prices of toy": "warn", "prices never read": "warn"}
    assert str(rows["prices of toy"]["found"]).startswith("1 fresh, 1 stale; oldest of ")
    assert "HTTP 503" in str(rows["prices of toy"]["found"])
    assert rows["prices of toy"]["advice"] == "`chipledger collect --source toy`"
    assert rows["prices never read"]["found"] == "vultr"
    assert str(rows["landing"]["found"]).endswith(" lines, 3 documents, 3 of them read back by hash")
    assert contents(folder) == before
    assert all(row["advice"] for row in rows.values() if row["result"] != "ok")


def test_sources_that_are_off_are_not_missed(folder: Path) -> None:
    rows = looked(folder, sources={"vultr": {"enabled": False}, "toy": {"enabled": False}})
    assert results(rows) == {}


def test_an_empty_directory_wants_a_run(tmp_path: Path) -> None:
    rows = looked(tmp_path / "new")
    assert results(rows) == {"published file": "warn"}
    assert rows["published file"]["advice"] == "`chipledger run` makes it"


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    rows = looked(tmp_path / "file" / "data")
    assert results(rows)["data directory"] == "fail"


@pytest.mark.parametrize(("free", "result"), [(1 << 29, "fail"), (3 << 30, "warn"), (9 << 30, "ok")])
def test_room_on_the_disk_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, result: str) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr("flows.doctor.checks.shutil.disk_usage", lambda path: usage)
    assert looked(tmp_path)["disk"]["result"] == result


@pytest.mark.parametrize("at", [0.0, 0.01, 0.3, 0.6, 1.0])
def test_a_damaged_published_file_is_named(folder: Path, at: float) -> None:
    """Wherever the damage is: every block with rows is read, and has a sum of its own."""
    damage(folder / "prices.duckdb", at)
    row = looked(folder)["published file"]
    assert (row["result"], row["advice"]) == ("fail", "`chipledger build` makes it anew")


def test_an_old_file_and_one_of_another_version_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late = looked(folder, at=day(8).replace(tzinfo=UTC))["published file"]
    assert (late["result"], "No run has published since" in str(late["advice"])) == ("warn", True)
    monkeypatch.setattr("flows.doctor.checks.importlib.metadata.version", lambda name: "2030.1.0")
    assert "with this version" in str(looked(folder)["published file"]["advice"])


def test_the_writers_file_has_a_shape(folder: Path) -> None:
    """One that lacks migrations will get them; one of a newer program is not touched."""
    with duckdb.connect(str(folder / "build.duckdb")) as con:
        lacking = con.execute("delete from meta.migration where name > '0004' returning name").fetchall()
    newest = max(name for (name,) in lacking).removesuffix(".sql")
    row = looked(folder)["writer's file"]
    assert (row["result"], str(row["found"]).endswith(f"the next run brings it to {newest}")) == ("ok", True)
    with duckdb.connect(str(folder / "build.duckdb")) as con:
        con.execute("insert into meta.migration values ('9999_more.sql', now()::TIMESTAMP)")
    assert looked(folder)["writer's file"]["result"] == "fail"
    damage(folder / "build.duckdb", 0.0)
    assert looked(folder)["writer's file"]["advice"] == "`chipledger data rebuild` makes it anew from landing/"


def test_a_run_that_writes_is_not_disturbed(folder: Path) -> None:
    """Its process is named, and the writer's file left alone."""
    script = (
        "import sys; from pathlib import Path; from warehouse.log import db\n"
        "with db.locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        row = looked(folder)["writer's file"]
        holder.kill()
    assert row["result"] == "warn"
    assert f"process {holder.pid}" in str(row["found"])


def test_what_was_landed_and_not_loaded_is_named(folder: Path) -> None:
    """And a journal that is shorter than what was loaded of it."""
    journal = folder / "landing" / "journal.jsonl"
    lines = journal.read_bytes()
    failure = {"kind": "failure", "recorded_at": "2026-01-07T00:00:00.000000Z", "error": "HTTP 503"}
    journal.write_bytes(lines + json.dumps(failure).encode() + b"\n")
    assert looked(folder)["journal"]["advice"] == "`chipledger build` loads them"
    journal.write_bytes(lines[: lines.rindex(b"\n", 0, -1) + 1])
    row = looked(folder)["journal"]
    assert (row["result"], "its disk is mounted" in row["advice"]) == ("fail", True)


def test_what_was_loaded_of_other_parts_is_not_held_against_the_journal(folder: Path) -> None:
    """A log that was built from several parts says of each how far it came."""
    with duckdb.connect(str(folder / "build.duckdb")) as con:
        con.execute("insert into core.journal_position by name select 99999999 as position, 'w1' as part")
    assert "journal" not in looked(folder)


def test_an_unreadable_journal_is_named(folder: Path) -> None:
    journal = folder / "landing" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"kind"', b'"kond"', 1))
    row = looked(folder)["landing"]
    assert (row["result"], row["advice"]) == ("fail", "`chipledger data restore` a backup")


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_document_that_is_not_what_it_was_is_named(folder: Path, *, is_gone: bool) -> None:
    """Gone, or with other bytes under its name; the other documents are counted as good."""
    files = sorted((folder / "landing").glob("??/*.gz"))
    if is_gone:
        files[0].unlink()
    else:
        shutil.copy(files[1], files[0])
    row = looked(folder)["landing"]
    assert row["result"] == "fail"
    assert str(row["found"]).startswith("1 of 3 documents checked: ")


def test_the_sample_is_of_the_newest_and_of_all_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are more documents than are looked at."""
    read: list[str] = []
    monkeypatch.setattr(checks, "SAMPLE", 2)
    monkeypatch.setattr("flows.doctor.checks._fault", lambda landing, sha256: read.append(sha256) or "")
    looked(folder)
    entries = [json.loads(line) for line in (folder / "landing" / "journal.jsonl").read_text().splitlines()]
    landed = [each["sha256"] for entry in entries for each in entry.get("documents", ())]
    assert read[:1] == landed[-1:]
    assert len(set(read)) == 2


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOLCK, "the disk has no locks: No locks available"), (errno.EACCES, "may not be read")],
)
def test_a_lock_that_cannot_be_had_is_a_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    """A network folder without locks, and a file of another user: all else is checked."""
    error = OSError(number, os.strerror(number))
    name = "fcntl.flock" if number == errno.ENOLCK else "warehouse.disk.lock_file"
    monkeypatch.setattr(name, MagicMock(side_effect=error))
    row = looked(folder)["writer's file"]
    assert row["result"] == "fail"
    assert words in str(row["found"])


def test_the_lock_is_given_back(folder: Path) -> None:
    looked(folder)
    with db.locked(folder):
        pass


def test_freshness_is_of_the_moment(folder: Path) -> None:
    """The same file is fresh now, but for the scope that failed, and stale later."""
    assert str(looked(folder)["prices of toy"]["found"]).startswith("1 fresh, 1 stale; ")
    stale = looked(folder, at=day(60).replace(tzinfo=UTC))["prices of toy"]
    assert str(stale["found"]).startswith("2 stale; ")
