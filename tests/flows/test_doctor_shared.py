"""The doctor looks at a warehouse that several machines share, and makes nothing there."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import kept_data
import landing_places
import pytest
from log_place import unsigned_extensions
from looks import day

from flows.collect import steps
from flows.config.settings import Settings
from flows.doctor import checks
from flows.doctor.row import Row
from warehouse.errors import ChipledgerError
from warehouse.lake.ducklake import FileLocks
from warehouse.landing.folder import stamp
from warehouse.landing.journal import lock_of

SOON = day(1.5).replace(tzinfo=UTC)


def settings(folder: Path, **table: str) -> Settings:
    words = {"url": f"ducklake:sqlite:{folder}/catalogue.sqlite", "landing": str(folder / "landing")}
    return Settings(data_dir=folder / "data", warehouse=words | table)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Return the settings of a lake of two runs; each test leaves it as it was."""
    folder = tmp_path_factory.mktemp("doctor-shared")
    chosen = settings(folder)
    with unsigned_extensions():
        with kept_data.toy_at(folder / "data") as toy:
            toy.at, toy.world = 1, {"a": {"x": "1"}, "b": {"x": "3"}}
            with steps.open_run(chosen, clock=toy.clock) as one:
                one.collect()
                one.load()
                one.publisher.publish()
        yield chosen


def looked(chosen: Settings, *, at: datetime = SOON, offline: bool = False) -> dict[str, Row]:
    return {str(row["check"]): row for row in checks.shared_warehouse(chosen, at, offline=offline)}


def results(rows: dict[str, Row]) -> dict[str, object]:
    return {name: row["result"] for name, row in rows.items() if row["result"] != "ok"}


def contents(folder: Path) -> dict[str, bytes]:
    """Return what lies in a folder, but for the notes that SQLite keeps beside a file that is open."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.endswith(("-wal", "-shm"))
    }


def test_a_good_one_is_read_and_left_as_it_is(made: Settings) -> None:
    before = contents(made.data_dir.parent)
    rows = looked(made)
    assert results(rows) == {}
    assert [*rows] == [
        "catalogue", "log", "publication", "journal parts", "landing", "shared rows", "shared landing", "copy here"
    ]  # fmt: skip
    assert str(rows["publication"]["found"]).startswith("1, the newest of 2026-01-02 00:00 UTC by version ")
    assert rows["landing"]["found"] == "2 documents, 2 of them read back by hash"
    assert str(rows["copy here"]["found"]).startswith("of 2026-01-02 00:00 UTC, the newest; built ")
    assert contents(made.data_dir.parent) == before
    whole = {str(row["check"]) for row in checks.data_files(made, SOON)}
    assert not whole & {"published file", "writer's file", "journal", "landing"}


def test_parts_whose_writer_died_are_named(made: Settings) -> None:
    """One that is being written is none of them, and one that was cut is a fault."""
    landing = made.landing(part="w9")
    landing.record("failure", SOON, source="toy", scope="a", observed_at=stamp(SOON), error="HTTP 503", run_id="r")
    (loaded,) = [file for file in landing.journal.file(landing.part).parent.iterdir() if file.stem == "w1"]
    lines = loaded.read_bytes()
    locks = FileLocks(made.place())
    try:
        row = looked(made)["journal parts"]
        assert (row["result"], row["found"]) == ("warn", "not loaded, and nobody writes them: w9")
        assert row["advice"] == "`chipledger build` loads them"
        with locks.lock(lock_of("w9")):
            assert looked(made)["journal parts"]["found"] == "1 loaded, 1 being written"
        landing.journal.file(landing.part).unlink()
        loaded.write_bytes(lines[:-9])
        row = looked(made)["journal parts"]
        assert (row["result"], "missing, cut or changed" in str(row["found"])) == ("fail", True)
    finally:
        locks.close()
        landing.journal.file(landing.part).unlink(missing_ok=True)
        loaded.write_bytes(lines)


def test_old_and_other_publications_are_named(made: Settings, tmp_path: Path) -> None:
    """The newest that is old, a pointer to another, and a machine that has none or a damaged one."""
    late = looked(made, at=day(5).replace(tzinfo=UTC))["publication"]
    assert (late["result"], "No run has published since" in str(late["advice"])) == ("warn", True)

    elsewhere = made.replace(data_dir=tmp_path)
    assert looked(elsewhere)["copy here"]["advice"] == "The first query fetches it"
    elsewhere.published()
    assert results(looked(elsewhere)) == {}
    file = tmp_path / "prices.duckdb"
    content = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(bytes(1000) + content[1000:])
    row = looked(elsewhere)["copy here"]
    assert (row["result"], str(row["advice"])) == ("fail", f"Remove {file}: the next query fetches it")

    pointer = Path(made.place().data_path) / "published/newest.json"
    words = pointer.read_text()
    pointer.write_text(words.replace("2026-01-02", "2026-01-01"))
    try:
        rows = looked(made)
    finally:
        pointer.write_text(words)
    assert results(rows) == {"publication": "warn", "copy here": "warn"}
    assert rows["publication"]["advice"] == "`chipledger build` publishes anew"
    assert "the newest is of 2026-01-01" in str(rows["copy here"]["found"])


def test_a_damaged_document_is_named(made: Settings) -> None:
    one, other = sorted((made.data_dir.parent / "landing").glob("??/*.gz"))
    before = one.read_bytes()
    shutil.copy(other, one)
    row = looked(made)["landing"]
    one.write_bytes(before)
    assert (row["result"], str(row["found"]).startswith("1 of 2 documents checked: ")) == ("fail", True)
    assert one.name in str(row["found"])


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    rows = looked(settings(tmp_path))
    assert {name: row["result"] for name, row in rows.items()} == {
        "catalogue": "warn", "shared rows": "warn", "shared landing": "warn", "copy here": "warn"
    }  # fmt: skip
    assert list(tmp_path.iterdir()) == []
    assert all(row["advice"] for row in rows.values())


def test_a_catalogue_that_does_not_answer_is_named(made: Settings, tmp_path: Path) -> None:
    """A server that is gone, and a database without a lake, which stays without."""
    gone = settings(tmp_path, url="ducklake:postgres:host=127.0.0.1 port=1 dbname=x", data_path=str(tmp_path))
    row = looked(gone)["catalogue"]
    assert (row["result"], "warehouse-shared.md" in str(row["advice"])) == ("fail", True)
    assert [*looked(gone, offline=True)] == ["shared warehouse"]

    (tmp_path / "catalogue.sqlite").touch()
    assert looked(settings(tmp_path))["catalogue"]["result"] == "fail"
    with closing(sqlite3.connect(tmp_path / "catalogue.sqlite")) as con:
        assert con.execute("select count(*) from sqlite_master").fetchone() == (0,)


def test_a_bucket_is_listed_and_written_to(
    made: Settings, s3_server: str, bucket: landing_places.Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing stays there; who may only read is told so, and a bucket that is not there is a fault."""
    of_file = Settings(data_dir=made.data_dir, warehouse={"landing": str(bucket.place), "s3_endpoint": s3_server})
    row = looked(of_file)["landing bucket"]
    assert (row["result"], row["found"]) == ("ok", f"{bucket.place}: listed and written to")
    whole = {"Bucket": bucket.bucket.bucket}
    assert list(bucket.bucket.names("")) == []
    assert not bucket.bucket.client.list_multipart_uploads(**whole).get("Uploads")
    assert looked(of_file, offline=True) == {}

    refused = ChipledgerError("the bucket refuses it", source="s3", field="S3", value="AccessDenied")

    def refuse(one: object) -> None:
        raise refused

    with monkeypatch.context() as patch:
        patch.setattr("flows.doctor.checks.Bucket.refuse_unwritable", refuse)
        row = looked(of_file)["landing bucket"]
    assert (row["result"], "can be read, not written to" in str(row["found"])) == ("warn", True)

    nowhere = of_file.replace(warehouse={"landing": "s3://no-such-bucket/", "s3_endpoint": s3_server})
    assert looked(nowhere)["landing bucket"]["result"] == "fail"
