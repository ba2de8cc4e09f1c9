"""The hash of a large file that an excerpt was cut from: its algorithm is stored with it, for the next run."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from crash import shapes
from landing_places import document
from looks import day

from flows.collect.collector import Collector, LogState
from flows.config.settings import Settings
from warehouse.documents import Document, ScopeFetch, Whole
from warehouse.landing.folder import Landing
from warehouse.log import db, shared_rows

OLD = Whole(size=300, digest="ab" * 32, algorithm="sha256")
NEW = Whole(size=400, digest="cd" * 32, algorithm="blake3")


def landed(folder: Landing, key: str, whole: Whole) -> Document:
    """Land a version of a file."""
    made = replace(document(), url=key, version_key=key, whole=whole)
    fetch = ScopeFetch(source=made.source, scope=made.scope, observed_at=day(0), complete=True, documents=(made,))
    folder.record_fetch(fetch, run_id="r", recorded_at=day(0))
    return made


def found_again(data_dir: Path, made: Document) -> Document | None:
    """Return what a fetch finds of a version that was landed before."""
    settings, folder = Settings(data_dir=data_dir), Landing(data_dir / "landing")
    with db.open_build(data_dir / "build.duckdb") as con:
        state = LogState.read(con)
        here = Collector(settings, folder, state, lambda: day(1), print)
        copied = pickle.loads(pickle.dumps(state.of(made.source, made.scope)))  # noqa: S301 - our own
        elsewhere = Collector(settings, folder, copied, day, print)
        found = [each._landed_document(made.source, made.version_key) for each in (here, elsewhere)]
    assert found[0] == found[1]
    return found[0]


def test_the_algorithm_goes_with_the_hash(tmp_path: Path) -> None:
    """Each is found again under its own name, and its column has it alone."""
    folder = Landing(tmp_path / "landing")
    versions = [landed(folder, "old", OLD), landed(folder, "new", NEW)]
    with db.open_build(tmp_path / "build.duckdb") as con:
        fetches = [entry.content for entry in folder.entries()]
        shared_rows.append_documents(con, fetches, recorded_at=day(0).replace(tzinfo=None))
        columns = "version_key, whole_size_bytes, whole_sha256, whole_blake3"
        rows = con.execute(f"select {columns} from core.document order by version_key desc").fetchall()

    assert rows == [("old", 300, OLD.digest, None), ("new", 400, None, NEW.digest)]
    assert [each.whole for made in versions if (each := found_again(tmp_path, made))] == [OLD, NEW]


def test_a_journal_of_the_version_before_says_sha_256(tmp_path: Path) -> None:
    """Its lines name no algorithm."""
    folder = Landing(tmp_path / "landing")
    landed(folder, "old", OLD)
    line = json.loads(folder.journal.file(folder.part).read_text())
    line["documents"][0]["whole"] = [OLD.size, OLD.digest]
    folder.journal.file(folder.part).write_text(json.dumps(line) + "\n")

    (entry,) = folder.entries()

    assert folder.document(entry.content, 0).whole == OLD


@pytest.mark.of_file("the shape of the writer's file as an earlier version made it")
def test_a_log_of_the_version_before_goes_on(tmp_path: Path) -> None:
    """Its versions are found, and not fetched again; what comes is appended after them."""
    folder = Landing(tmp_path / "landing")
    made = landed(folder, "old", OLD)
    with duckdb.connect(str(tmp_path / "build.duckdb")) as con:
        shapes.make(con, [])
        con.execute(
            "insert into core.document by name select $1 as document_sha256, $2 as source, $3 as scope, $4 as url, "
            "$5 as version_key, $6 as fetched_at, $6 as recorded_at, 300 as whole_size_bytes, $7 as whole_sha256",
            [made.sha256, made.source, made.scope, made.url, "old", day(0).replace(tzinfo=None), OLD.digest],
        )

    again = found_again(tmp_path, made)

    assert again is not None
    assert (again.body, again.whole) == (made.body, OLD)
    newer = landed(folder, "new", NEW)
    with db.open_build(tmp_path / "build.duckdb") as con:
        fetches = [entry.content for entry in folder.entries()]
        shared_rows.append_documents(con, fetches, recorded_at=day(1).replace(tzinfo=None))
    assert [each.whole for made in (made, newer) if (each := found_again(tmp_path, made))] == [OLD, NEW]
