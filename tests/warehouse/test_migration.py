"""A log that an earlier version made, of events, becomes one of intervals that says the same."""

import random
from pathlib import Path

import duckdb
import pytest
from crash.shapes import made_older, migrations
from looks import day, look, row

from warehouse.log import content, db
from warehouse.log.events import naive
from warehouse.log.load import load

pytestmark = [
    pytest.mark.of_file("the shape of the writer's file as earlier versions made it"),
    pytest.mark.usefixtures("migrated_anew"),
]
BEFORE = migrations().index("0009_intervals.sql")
MOMENTS = (0, 3, 8, 11, 15, 40)
KNOWN_AT = (
    "select offer_id, source, scope, valid_from, valid_to, last_observed_at, unit_price, upfront_price, "
    "document_sha256, recorded_at from core.price_known_at(?::timestamp) order by all"
)


def filled(con: duckdb.DuckDBPyConnection, seed: int, days: int) -> None:
    """Load what a log may hold: moves, absences, refusals, late and incomplete answers, contradictions, two sources."""
    dice = random.Random(seed)  # noqa: S311 (made-up prices)
    names = [f"p{n}.large" for n in range(8)]
    for at in range(days):
        shown = [row(name, str(dice.choice((1, 1, 1, 1.2)))) for name in names if dice.random() < 0.9]
        load(con, [look(at, *shown, row("g9.large", "0" if at == 4 else "2"))], recorded_at=day(at + 0.1))
        if dice.random() < 0.5:
            late = look(
                dice.uniform(0, days), *(row(name, str(dice.choice((1, 1.1, 1.3)))) for name in dice.sample(names, 3)),
                complete=False, archived=True, source=dice.choice(("aws_price_list", "import:own")),
            )  # fmt: skip
            load(con, [late], recorded_at=day(at + 0.2))
    for price in ("7", "8"):
        one = look(12, row("p5.large", price), archived=True, complete=False, document=f"contradiction {price}")
        load(con, [one], recorded_at=day(13))
    load(con, [look(14, row("p1.large", "1"), error="no answer")], recorded_at=day(14))


def told(con: duckdb.DuckDBPyConnection) -> list[list[object]]:
    """Return all intervals as known at some moments."""
    return [con.execute(KNOWN_AT, [naive(day(at))]).fetchall() for at in MOMENTS]


def take_back(con: duckdb.DuckDBPyConnection) -> None:
    """Take two prices back in a log of the shape before, as only a person could."""
    con.execute(
        "insert into core.price_event by name select * replace (recorded_at as retracts_recorded_at, "
        "timestamp '2026-01-15' as recorded_at) from core.price_event order by valid_from, offer_id limit 2"
    )


LONG = [(12, seed, retracted) for seed in range(3) for retracted in (True, False)]


@pytest.mark.parametrize(
    ("days", "seed", "retracted"), [(8, 0, True), *(pytest.param(*each, marks=pytest.mark.prove) for each in LONG)]
)
def test_the_log_says_the_same_after_the_migration(tmp_path: Path, days: int, seed: int, *, retracted: bool) -> None:
    """Every table of the log, and what was known at any moment; what is loaded afterwards goes on from there.

    What the long form adds: longer logs, those of other seeds, and logs in which nothing was taken back.
    """
    log = tmp_path / "build.duckdb"
    with db.open_build(log) as con:
        filled(con, seed, days)
        loaded = told(con)
    made_older(log, BEFORE)
    with duckdb.connect(str(log)) as con:
        # A column that the macros of now ask for: nothing was withdrawn then.
        for table in ("scope_run", "sighting"):
            con.execute(f"alter table core.{table} add column withdrawn_at TIMESTAMP")
        con.execute((db.MIGRATIONS / "0010_withdrawal.sql").read_text().partition(";")[0])
        db.create_macros(con, of_events=True)
        assert told(con) == loaded
        if retracted:
            take_back(con)
        before, known = content.tables(con, ("core",)), told(con)
        del before["core.withdrawal"]
        for table in ("scope_run", "sighting"):
            con.execute(f"alter table core.{table} drop column withdrawn_at")
        con.execute("drop table core.withdrawal")
    with db.open_build(log) as con:
        # The first is filled anew from the package, the others are new.
        found = content.differing(before, content.tables(con, ("core",)))
        assert found == ["core.instance_type", "core.price_detail", "core.withdrawal"]
        assert told(con) == known
        assert (known == loaded) is not retracted
        ((n_chains, n_others),) = con.execute(
            "select (select count(*) from log.price_closed), (select count(*) from log.price_other)"
        ).fetchall()
        assert n_chains > 5
        assert n_others > 5
        load(con, [look(20, row("p1.large", "5"), trusted=True)], recorded_at=day(20))
        after = told(con)
        assert after[:-1] == known[:-1]
        db.create_macros(con, of_events=True)
        assert told(con) == after


def test_what_no_table_explains_is_kept(tmp_path: Path) -> None:
    """An event without its offer, and one without a document: both stay, and the checks of publishing name them."""
    log = tmp_path / "build.duckdb"
    with db.open_build(log) as con:
        load(con, [look(0, row("p5.48xlarge", "40"))], recorded_at=day(0))
    made_older(log, BEFORE)
    with duckdb.connect(str(log)) as con:
        con.execute("insert into core.price_event by name select * replace (77 as offer_id) from core.price_event")
        con.execute(
            "insert into core.price_event by name select * replace (null as document_sha256) from core.price_event"
        )
    with db.open_build(log) as con:
        found = con.execute(
            "select offer_id is null, document_sha256 is null from core.price_event order by all"
        ).fetchall()
    assert found == [(False, False), (False, True), (True, False), (True, True)]
