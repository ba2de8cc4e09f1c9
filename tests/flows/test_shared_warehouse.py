"""A deployment on a shared warehouse: runs, readers, the past, moving there and back, and upkeep."""

import json
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import kept_data
import landing_places
import pytest
from benchmark_words import WORDS
from click.testing import CliRunner
from few_marts import published_with
from looks import day
from published import query
from toy_source import TOY, Toy

from flows.backup import replicas
from flows.cli.main import main
from flows.collect import benchmarks, importer, ingest, publisher, steps
from flows.config.settings import Settings
from warehouse.errors import ChipledgerError, WriterBusy
from warehouse.lake import ducklake, maintenance, publication
from warehouse.lake.place import Place, place
from warehouse.landing.journal import scope_lock
from warehouse.log import db
from warehouse.log.events import naive
from warehouse.log.quarantine import listed
from warehouse.log.withdraw import selected
from warehouse.publish import published_file

PRICES = "select unit_price::double as price from core.current_price order by 1"

pytestmark = pytest.mark.usefixtures("unsigned_extensions")


@pytest.fixture
def toy(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Toy]:
    """Return a toy whose published files have a mart of prices in the long proofs alone."""
    least = ("price_change",) if request.node.get_closest_marker("prove") else ()
    with kept_data.toy_at(tmp_path / "file", least) as made:
        yield made


@pytest.fixture
def sqlite_place(tmp_path: Path) -> Place:
    """Return a new place of a lake whose catalogue is a file: it costs less than a server, which the proofs have."""
    return place(tmp_path / "shared", url=f"ducklake:sqlite:{tmp_path}/catalogue.sqlite")


def on(where: Place, data_dir: Path, landing: Path | str, **others: str) -> dict[str, Any]:
    """Return the settings' words for a shared warehouse."""
    table = {"url": where.url, "data_path": where.data_path, "schema": where.schema, "landing": str(landing)} | others
    return {"data_dir": data_dir, "warehouse": table}


@contextmanager
def loaded(
    toy: Toy, settings: Settings, at: float, world: dict[str, dict[str, str | None] | None]
) -> Iterator[steps.Run]:
    """Yield a run of a day that has loaded what the toy has then."""
    toy.at = at
    toy.world |= world
    with steps.open_run(settings, clock=toy.clock) as one:
        one.collect()
        one.load()
        yield one


def run(toy: Toy, settings: Settings, at: float, **world: dict[str, str | None] | None) -> Path:
    with loaded(toy, settings, at, world) as one:
        return one.publisher.publish()


def learn(toy: Toy, settings: Settings, at: float, **world: dict[str, str | None] | None) -> None:
    with loaded(toy, settings, at, world):
        pass


def prices(file: Path) -> list[float]:
    with duckdb.connect(str(file), read_only=True) as con:
        return [price for (price,) in con.execute(PRICES).fetchall()]


def test_readers_elsewhere_have_the_newest_and_the_past(
    toy: Toy, sqlite_place: Place, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One machine publishes; another's file becomes current by itself, and says its day where it cannot be made so.

    A published file that was changed is taken by nobody. Its moment is after the wait for others that publish.
    """
    words = on(sqlite_place, tmp_path / "writer", tmp_path / "landing")
    writer = toy.settings().replace(**words)
    reader = writer.replace(data_dir=tmp_path / "reader")
    with pytest.raises(ChipledgerError, match="nothing is published there yet"):
        reader.published()

    run(toy, writer, 1, a={"x": "1"})
    first = prices(reader.published())
    opened = duckdb.connect(str(reader.published()), read_only=True)
    lock = ducklake.Locks.lock

    def waits(locks: ducklake.Locks, name: str, **how: Any) -> AbstractContextManager[None]:
        toy.at = 3 if name == "publish" else toy.at
        return lock(locks, name, **how)

    with monkeypatch.context() as patched:
        patched.setattr(ducklake.Locks, "lock", waits)
        run(toy, writer, 2, a={"x": "1.5"})

    assert [float(each) for (each,) in opened.execute(PRICES).fetchall()] == first == [1.0]
    opened.close()
    assert prices(reader.published()) == [1.5]
    assert reader.published().stat().st_mode & 0o777 == 0o444
    with db.open_log(reader.place()) as con:
        told = publication.listed(con)
    between = told[0].published_at
    assert told[1].published_at == naive(day(3))
    file, found = publication.as_of(reader.place(), between)
    assert (prices(file), found) == ([1.0], told[0])

    file = Path(sqlite_place.data_path) / "published" / told[1].name
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    with pytest.raises(ChipledgerError, match="not what was published") as caught:
        writer.replace(data_dir=tmp_path / "third").published()
    assert file.name in caught.value.source
    assert not (tmp_path / "third/prices.duckdb").exists()

    (Path(sqlite_place.data_path) / "published").rename(tmp_path / "gone")
    with caplog.at_level(logging.WARNING):
        assert prices(reader.published()) == [1.5]
    assert f"answered from the copy of {told[1].published_at:%Y-%m-%d %H:%M} UTC" in caplog.text


def decided_and_withdrawn(toy: Toy, settings: Settings, at_work: Callable[[], object]) -> list[object]:
    """Refuse a price that waits and withdraw the fetch, and return what `at_work` says while the log is read for it."""
    learn(toy, settings, 1, a={"x": "1"})
    learn(toy, settings, 3, a={"x": "9"})
    said = []

    def beside(work: Any) -> Any:
        def working(*given: Any, **named: Any) -> Any:
            said.append(at_work())
            return work(*given, **named)

        return working

    with pytest.MonkeyPatch.context() as patched, steps.open_run(settings, clock=toy.clock) as one:
        for name in ("rehearse", "_seen_besides"):
            patched.setattr(ingest, name, beside(getattr(ingest, name)))
        one.decide(listed(one.con)[0].quarantine_id, "refuse")
        one.withdraw(
            selected(one.con, one.con.execute("select max(run_id) from core.scope_run").fetchall()[0][0]), "no"
        )
    return said


def test_who_decides_or_withdraws_holds_the_scope(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """From before he reads the log: asked of a file, where to hold a scope is no more than to say so."""
    held = list[tuple[str, str]]()

    @contextmanager
    def holding(_: object, scopes: Iterable[tuple[str, str]]) -> Iterator[None]:
        held.extend(scopes)
        yield
        held.clear()

    for module in (ducklake, ingest):
        monkeypatch.setattr(module, "scopes_held", holding)
    assert decided_and_withdrawn(toy, toy.settings(), lambda: [*held]) == [[(TOY, "a")]] * 2


@pytest.mark.prove
def test_who_holds_a_scope_keeps_others_out(toy: Toy, sqlite_place: Place, tmp_path: Path) -> None:
    """Of a warehouse, whose locks are asked for by another machine while somebody decides or withdraws."""

    def is_free() -> bool:
        with ducklake.FileLocks(sqlite_place).try_lock(scope_lock(TOY, "a")) as is_held:
            return is_held

    writer = toy.settings().replace(**on(sqlite_place, tmp_path / "writer", tmp_path / "landing"))
    assert decided_and_withdrawn(toy, writer, is_free) == [False, False]


def test_upkeep_asks_for_two_files_of_one_snapshot(
    toy: Toy, sqlite_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the warehouse has a newer one each time that it is asked for."""
    newest, asked = count(7), list[Any]()
    writer = toy.settings().replace(**on(sqlite_place, tmp_path, tmp_path / "landing"))

    def publish(*_: object, snapshot_id: int, from_nothing: bool = False, **__: object) -> Path:
        asked.append((snapshot_id, from_nothing))
        duckdb.connect(str(tmp_path / "prices.duckdb")).close()
        return tmp_path / "prices.duckdb"

    monkeypatch.setattr(ducklake, "of", lambda con: sqlite_place)
    monkeypatch.setattr(ducklake, "snapshot", lambda con: next(newest))
    monkeypatch.setattr(publisher, "publish_log", publish)
    monkeypatch.setattr(published_file, "differing", lambda one, other: [])
    with duckdb.connect() as con:
        assert "is equal to the one before" in publisher.publish_anew(con, day(4), settings=writer)
    assert asked == [(7, False), (7, True)]


@pytest.mark.prove
def test_upkeep_compares_two_files_of_one_snapshot(
    toy: Toy, sqlite_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though another machine loads meanwhile."""
    writer = toy.settings().replace(**on(sqlite_place, tmp_path / "writer", tmp_path / "landing"))
    learn(toy, writer, 1, a={"x": "1"})
    publish_log = publisher.publish_log

    def beside_a_load(*given: Any, **named: Any) -> Path:
        made = publish_log(*given, **named)
        learn(toy, writer.replace(data_dir=tmp_path / "beside"), 4, a={"x": "1.6"})
        return made

    with monkeypatch.context() as patched, db.open_log(writer.place()) as con:
        patched.setattr(publisher, "publish_log", beside_a_load)
        assert "is equal to the one before" in publisher.publish_anew(con, day(4), settings=writer)


def test_a_file_moves_to_a_lake(toy: Toy, sqlite_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Log and landed documents are equal, as migrating compares them; what holds something stays.

    What was sent stays sent. That both publish the same file is asked by `test_there_and_back`, and of a file that
    moves to another by test_lost_history.
    """
    monkeypatch.setattr(replicas, "_published_both", lambda old, new, now, target: ({}, target.data_dir))
    toy.learn(1, a={"x": "1", "y": "3"})
    shared = toy.settings().replace(**on(sqlite_place, tmp_path / "shared", tmp_path / "landing"))
    (toy.data_dir / "mail.jsonl").write_text('{"week": "2026-W01"}\n')

    there = replicas.migrate(toy.settings(), shared, clock=toy.clock, progress=lambda told: None)

    assert there.landed is not None
    assert (there.landed.n_lines, there.landed.missing) == (1, ())
    assert there.log["log.price_open"].n_rows == 2
    assert (tmp_path / "landing/mail.jsonl").read_text() == '{"week": "2026-W01"}\n'
    with pytest.raises(ChipledgerError, match="holds something already"):
        replicas.migrate(toy.settings(), shared, clock=toy.clock, progress=lambda told: None)
    with pytest.raises(ChipledgerError, match="the target is the source"):
        replicas.migrate(shared, shared, clock=toy.clock)
    with pytest.raises(ChipledgerError, match="holds a journal already") as caught:
        replicas.refuse_landed(shared.landing())
    assert caught.value.field == "warehouse.landing"


@pytest.mark.prove
def test_a_benchmark_added_by_two_machines_is_in_the_log_once(
    toy: Toy, sqlite_place: Place, tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes second waits until the first has loaded it, and then knows it."""
    name = "vllm_bench_serve_4xL40S_llama3.2-3b.json"
    result = benchmarks.understand(shared / "data/benchmark_samples" / name, WORDS[name])
    machines = [toy.settings().replace(**on(sqlite_place, tmp_path / each, tmp_path / "landing")) for each in "ab"]
    is_known, added = benchmarks.is_known, list[bool]()

    def second() -> None:
        with steps.open_run(machines[1]) as one:
            added.append(importer.add_benchmark(one, result))

    other = threading.Thread(target=second)

    def slow(*given: Any) -> bool:
        found = is_known(*given)
        if threading.current_thread() is not other:
            other.start()
            other.join(2)
        return found

    monkeypatch.setattr(benchmarks, "is_known", slow)
    with steps.open_run(machines[0]) as one:
        added.append(importer.add_benchmark(one, result))
        other.join()
        rows = one.con.execute("select count(*) from core.throughput").fetchall()

    assert (added, rows) == ([True, False], [(len(result.runs),)])


@pytest.mark.prove
def test_there_and_back(toy: Toy, lake_place: Place, tmp_path: Path) -> None:
    """File to lake to file: every table of the log and of the published file is equal, and so is what was landed."""
    toy.learn(1, a={"x": "1", "y": "3"})
    toy.learn(2, a={"x": "9"})
    toy.at = 3
    shared = toy.settings().replace(**on(lake_place, tmp_path / "shared", tmp_path / "landing"))
    back = toy.settings().replace(data_dir=tmp_path / "back")

    there = replicas.migrate(toy.settings(), shared, clock=toy.clock, progress=lambda told: None)
    again = replicas.migrate(shared, back, clock=toy.clock, progress=lambda told: None)

    assert there.landed is not None
    assert (there.landed.n_lines, there.landed.missing) == (2, ())
    assert there.log == again.log
    assert there.published == again.published
    assert there.log["core.quarantine"].n_rows == 1
    assert (tmp_path / "back/landing/journal.jsonl").read_bytes() == (
        toy.data_dir / "landing/journal.jsonl"
    ).read_bytes()
    run(toy, back, 4, a={"x": "9"})  # goes on from there
    run(toy, shared, 4, a={"x": "9"})

    with pytest.raises(ChipledgerError, match="holds something already") as caught:
        replicas.migrate(toy.settings(), shared, clock=toy.clock, progress=lambda told: None)
    assert caught.value.field.startswith("core.")
    with pytest.raises(ChipledgerError, match="the target is the source"):
        replicas.migrate(back, back, clock=toy.clock)


@pytest.mark.prove
def test_a_difference_is_found(toy: Toy, lake_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that lacks one row is told by its table, and what is landed and not loaded refuses to move.

    Where what is published of it differs, the published file of the source's directory stays.
    """
    toy.learn(1, a={"x": "1", "y": "3"})
    shared = toy.settings().replace(**on(lake_place, toy.data_dir, tmp_path / "landing"))
    copy = replicas.copy_tables

    def lossy(source: Any, target: Any, **named: Any) -> None:
        copy(source, target, **named)
        target.execute("delete from log.price_open where unit_price = 3")

    with monkeypatch.context() as patch, pytest.raises(ChipledgerError, match="the log in the target") as caught:
        patch.setattr("flows.backup.replicas.copy_tables", lossy)
        replicas.migrate(toy.settings(), shared, clock=toy.clock, progress=lambda told: None)
    assert caught.value.value == "log.price_open"

    other = shared.warehouse.model_dump(by_alias=True) | {"schema": "unequal", "landing": str(tmp_path / "unequal")}
    with monkeypatch.context() as patch, pytest.raises(ChipledgerError, match="the published file in the target"):
        patch.setattr("flows.backup.replicas.copy_tables", lossy)
        patch.setattr("flows.backup.replicas.log_hashes", lambda con, **others: {})
        replicas.migrate(toy.settings(), shared.replace(warehouse=other), clock=toy.clock, progress=lambda told: None)
    assert not (toy.data_dir / "prices.duckdb").exists()

    toy.settings().landing().record(
        "decision", datetime(2026, 2, 1, tzinfo=UTC), quarantine_id=1, decision="accept", decided_by="me"
    )
    with pytest.raises(ChipledgerError, match="landed that is not loaded"):
        other = shared.warehouse.model_dump(by_alias=True) | {"schema": "other"}
        replicas.migrate(toy.settings(), shared.replace(warehouse=other))


@pytest.mark.prove
def test_upkeep_keeps_what_publications_need(toy: Toy, lake_place: Place, tmp_path: Path) -> None:
    """Old snapshots and publications go, but for the newest; the log and the past that is kept say what they said."""
    writer = toy.settings().replace(**on(lake_place, tmp_path / "writer", tmp_path / "landing"))
    for at, price in enumerate(("1", "1.5", "2"), start=1):
        run(toy, writer, at, a={"x": price})
    with db.open_log(lake_place) as con:
        events = con.execute("from core.price_event order by all").fetchall()
        told = publication.listed(con)
        done = maintenance.maintain(con, days=0, now=datetime.now(UTC))
        left = [number for (number,) in con.execute("select snapshot_id from build.snapshots()").fetchall()]
        assert con.execute("from core.price_event order by all").fetchall() == events
        assert publication.listed(con) == told[-1:]
        assert {told[-1].snapshot_id, ducklake.snapshot(con)} <= set(left)
        _, n_files, n_flushed, n_snapshots, n_publications, _ = map(int, re.findall(r"\d+", " ".join(done)))
        assert n_publications == 2
        assert n_snapshots > 5
        assert n_flushed > 10
        assert maintenance.maintain(con, days=30, now=datetime.now(UTC)) == [
            f"files of rows: {n_files}, now {n_files}; rows that the catalogue held: 0",
            "expired snapshots: 0; publications: 0; old files deleted: 0",
        ]
    assert len(list((Path(lake_place.data_path) / "published").glob("*.duckdb"))) == 1
    assert prices(writer.replace(data_dir=tmp_path / "reader").published()) == [2.0]


@pytest.mark.prove
def test_what_a_bucket_would_not_delete_goes_later(
    toy: Toy, sqlite_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right that is missing, or a process that is killed, leaves no published file that nobody knows of."""
    writer = toy.settings().replace(**on(sqlite_place, tmp_path / "writer", tmp_path / "landing"))
    for at, price in enumerate(("1", "1.5"), start=1):
        run(toy, writer, at, a={"x": price})

    def refused(*_: object) -> None:
        raise ChipledgerError("a published file cannot be moved", field="S3", value="AccessDenied")

    folder = Path(sqlite_place.data_path) / "published"
    with db.open_log(sqlite_place) as con:
        with monkeypatch.context() as patched, pytest.raises(ChipledgerError, match="AccessDenied"):
            patched.setattr(publication, "remove", refused)
            maintenance.maintain(con, days=0, now=datetime.now(UTC))
        assert len(list(folder.glob("*.duckdb"))) == 2
        maintenance.maintain(con, days=0, now=datetime.now(UTC))
        assert [folder / one.name for one in publication.listed(con)] == list(folder.glob("*.duckdb"))


@pytest.mark.prove
def test_all_of_it_in_a_bucket(
    toy: Toy, lake_place: Place, tmp_path: Path, s3_server: str, bucket: landing_places.Place
) -> None:
    """Rows, published files, documents and journal in S3: moved there from a file, run there, and read elsewhere."""
    toy.learn(1, a={"x": "1"})
    words = on(lake_place, tmp_path / "shared", f"{bucket.place}landed/", s3_endpoint=s3_server)
    words["warehouse"] |= {"data_path": f"{bucket.place}rows/"}
    shared = toy.settings().replace(**words)

    moved = replicas.migrate(toy.settings(), shared, clock=toy.clock, progress=lambda told: None)
    run(toy, shared, 2, a={"x": "1.5"})

    assert moved.landed is not None
    assert (moved.landed.n_documents, moved.landed.n_lines) == (1, 1)
    reader = shared.replace(data_dir=tmp_path / "reader")
    assert prices(reader.published()) == [1.5]
    names = [str(name) for name in bucket.bucket.names("")]
    assert {name.split("/")[0] for name in names} == {"landed", "rows"}
    assert any(name.startswith("rows/published/newest.json") for name in names)


@pytest.mark.parametrize("command", [["data", "backup", "x"], ["data", "rebuild"], ["data", "restore", "."]])
def test_what_works_on_one_file_says_so(sqlite_place: Place, tmp_path: Path, command: list[str]) -> None:
    """Each names the setting, and another way."""
    environ = {
        "CHIPLEDGER_WAREHOUSE__URL": sqlite_place.url, "CHIPLEDGER_WAREHOUSE__DATA_PATH": sqlite_place.data_path,
        "CHIPLEDGER_DATA_DIR": str(tmp_path),
    }  # fmt: skip
    done = CliRunner().invoke(main, [*command, "--json"], env=environ)
    assert done.exit_code == 1
    told = json.loads(done.output)
    assert (told["field"], "is shared" in told["error"], bool(told["hint"])) == ("warehouse.url", True, True)
    assert told["error"].startswith(f"`chipledger {' '.join(command[:2])}` needs")


def test_a_file_has_no_past_publications(tmp_path: Path) -> None:
    """`--as-of` says what answers instead."""
    command = ["--data-dir", str(tmp_path), "query", "select 1", "--as-of", "2026-01-01", "--json"]
    done = CliRunner().invoke(main, command)
    assert (done.exit_code, json.loads(done.output)["field"]) == (1, "--as-of")


@pytest.mark.prove
@published_with("price_index_item", least=())  # which a day's offers are held to
def test_maintain_makes_the_published_file_from_nothing(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """And compares it with the one that was amended: a difference is named, and gone. Nothing published: nothing.

    Its moment is after the wait for a run, whose fetches it has.
    """

    def after_the_wait() -> datetime:
        with pytest.raises(WriterBusy), db.locked(toy.data_dir):
            pass
        return datetime.now(UTC)

    monkeypatch.setattr("flows.collect.steps.utc_now", after_the_wait)
    file = run(toy, toy.settings(), 0, here={"g6.xlarge": "1"})
    command = ["--data-dir", str(toy.data_dir), "data", "maintain", "--json"]

    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        con.execute("update log.document set size_bytes = 77")
    done = CliRunner().invoke(main, command)
    assert (done.exit_code, json.loads(done.output)["value"]) == (1, "log.document")
    assert query(file, "select count(*) from core.document where size_bytes = 77") == [(0,)]
    done = CliRunner().invoke(main, command)
    assert (done.exit_code, "is equal to the one before" in done.output) == (0, True), done.output

    file.unlink()
    assert "nothing is published yet" in CliRunner().invoke(main, command).output
