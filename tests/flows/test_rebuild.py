"""`chipledger data rebuild`: a new log from the landing folder alone, compared before use, the old one set aside."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from few_marts import published_with
from kept_data import toy_at
from published import content as rows_of
from toy_source import Toy

from flows.backup import replicas
from flows.collect import importer, steps
from flows.config.settings import Settings
from warehouse.errors import ChipledgerError
from warehouse.log import content

HEADER = "observed_at_utc,provider,gpu,gpu_count,instance_type,region,pricing,usd_per_hour,source\n"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toy]:
    """Return a toy with a price that changed, one that ended, and a scope that failed."""
    with toy_at(tmp_path_factory.mktemp("rebuild") / "data") as toy:
        toy.learn(
            0,
            a={"p5.48xlarge": "10", "p4d.24xlarge": "20", "g5.xlarge": "1", "g6.xlarge": "2"},
            b={"p2.xlarge": "0.9"},
        )
        toy.run(40, a={"p5.48xlarge": "11", "p4d.24xlarge": "20", "g5.xlarge": "1"}, b=None)
        yield toy


@pytest.fixture
def settings(kept: Toy, tmp_path: Path) -> Settings:
    """Return settings over a copy of the toy's data."""
    shutil.copytree(kept.data_dir, tmp_path / "data")
    return Settings(data_dir=tmp_path / "data")


def test_the_log_from_landing_alone_is_equal_and_used(kept: Toy, settings: Settings) -> None:
    """The same hash over all tables, the file in use is the new one."""
    before = rows_of(settings.data_dir / "prices.duckdb")
    done = replicas.rebuild(settings, clock=kept.clock)

    assert (done.differing, done.is_in_use, done.n_fetches) == ([], True, 4)
    assert content.whole(done.before) == content.whole(done.after)
    assert {"core.price_event", "core.scope_run", "int.price_history"} <= done.after.keys()
    assert done.after["core.price_event"].n_rows == 7
    assert rows_of(settings.data_dir / "prices.duckdb") == before
    assert done.set_aside and done.set_aside.parent.name == "replaced"
    assert sum(content.whole(done.after) in line for line in done.lines()) == 2


def n_events(log: Path) -> int:
    with duckdb.connect(str(log), read_only=True) as con:
        ((number,),) = con.execute("select count(*) from core.price_event").fetchall()
    return int(number)


def test_one_thing_of_a_kind_is_told_as_one() -> None:
    one, none = content.TableHash(n_rows=1, sha256="a"), content.TableHash(n_rows=0, sha256="b")
    told = list(replicas.Rebuilt(after={"t": one}, before={"t": none}, n_fetches=1).lines())
    assert told[0].startswith("1 table of 1 row, rebuilt from 1 fetch: ")
    assert told[2] == "t: 0 rows before, 1 row now"


@pytest.mark.prove
@pytest.mark.usefixtures("log_alone")
def test_what_differs_is_named_and_not_used(kept: Toy, settings: Settings) -> None:
    """A log with an event too few stays in use until a person accepts; then it lies aside, whole."""
    with duckdb.connect(str(settings.data_dir / "build.duckdb")) as con:
        con.execute("delete from log.price_open where unit_price = 11")
    refused = replicas.rebuild(settings, clock=kept.clock)

    assert not refused.is_in_use
    assert refused.differing == ["core.price_event", "core.sku_price"]
    assert "core.price_event: 6 rows before, 7 rows now" in list(refused.lines())
    assert n_events(settings.data_dir / "build.duckdb") == 6
    assert not (settings.data_dir / "replaced").exists()

    accepted = replicas.rebuild(settings, accept=True, clock=kept.clock)

    assert (accepted.is_in_use, accepted.differing) == (True, refused.differing)
    assert n_events(settings.data_dir / "build.duckdb") == 7
    assert accepted.set_aside and n_events(accepted.set_aside) == 6
    assert sorted(path.name for path in settings.data_dir.iterdir()) == [
        "build.duckdb", "cache", "landing", "prices.duckdb", "replaced", "writer.lock",
    ]  # fmt: skip


@pytest.mark.prove
def test_numbers_and_chains_may_be_others(tmp_path: Path) -> None:
    """Two imports that were loaded one after the other are equal to both of them loaded at once."""
    settings = Settings(data_dir=tmp_path / "data")
    for day, price in ((1, "3.99"), (2, "4.49")):
        file = tmp_path / f"{day}.csv"
        file.write_text(f"{HEADER}2026-10-0{day}T00:00:00Z,lambda,H100,8,,,on_demand,{price},a/b\n")
        with steps.open_run(settings, clock=lambda: datetime(2026, 11, 22, tzinfo=UTC)) as run:
            importer.land(run, importer.landed(file, run.clock()))
            run.load()
    with published_with(least=()):
        done = replicas.rebuild(settings)

    assert (done.differing, done.is_in_use, done.n_fetches) == ([], True, 2)
    assert done.after["core.sku_price"].n_rows == 2


@pytest.mark.usefixtures("log_alone")
@pytest.mark.parametrize("damage", ["lost", "unreadable"])
def test_a_log_that_is_gone_is_made_anew(kept: Toy, settings: Settings, damage: str) -> None:
    """Nothing to compare with: the new log is used, and what could not be read lies aside."""
    log = settings.data_dir / "build.duckdb"
    log.unlink()
    if damage == "unreadable":
        log.write_bytes(b"no database")
    done = replicas.rebuild(settings, clock=kept.clock)

    assert (done.is_in_use, done.before, bool(done.unreadable)) == (True, {}, damage == "unreadable")
    assert (done.set_aside is not None) == (damage == "unreadable")
    assert n_events(log) == 7


def test_without_a_journal_nothing_is_done(tmp_path: Path) -> None:
    """A lost landing folder is not taken for an empty history."""
    with pytest.raises(ChipledgerError, match="no journal"):
        replicas.rebuild(Settings(data_dir=tmp_path))
    assert not (tmp_path / "build.duckdb").exists()


def test_a_hash_is_of_rows_whatever_their_order() -> None:
    """Order is none of a table's content; a value, its type of NULL, and a column's name are."""

    def of(*rows: str, columns: str = "a, b") -> str:
        with duckdb.connect() as con:
            con.execute("create schema core")
            con.execute(f"create table core.t as select * from (values {', '.join(rows)}) as t ({columns})")
            return content.whole(content.tables(con, ("core",)))

    assert of("(1, 'x')", "(2, null)") == of("(2, null)", "(1, 'x')")
    others = {
        of("(1, 'x')", "(2, 'null')"),
        of("(1, 'x')", "(1, 'x')", "(2, null)"),
        of("(1, 'x')", "(2, null)", columns="a, c"),
    }
    assert len(others | {of("(1, 'x')", "(2, null)")}) == 4
