"""Observations and coverage give intervals, whatever the order in which they arrive."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import duckdb
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from looks import memory

from warehouse.log import db
from warehouse.log.events import naive
from warehouse.log.load import load
from warehouse.log.parsed import ParsedFetch, no_rows
from warehouse.schema.tables import observation_schema

START = datetime(2026, 1, 1, tzinfo=UTC)
ABSENT = None
ANCHOR = "p9.anchor"
Told = dict[str, str | None]


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def rows_of(told: Told, document: str) -> pl.DataFrame:
    base = {
        "service_provider_name": "AWS", "capacity_unit": "instance", "region_id": "us-east-1",
        "purchase_option": "on_demand", "statistic": "price", "pricing_currency": "USD", "unit_price_type": "List",
    }  # fmt: skip
    rows = [base | {"instance_type": name, "unit_price": price} for name, price in told.items()]
    frame = pl.DataFrame(rows, schema=observation_schema()) if rows else no_rows().drop("document_sha256")
    return frame.with_columns(document_sha256=pl.lit(document))


def look(at: int, told: Told, *, complete: bool, scope: str = "a", source: str = "aws_price_list") -> ParsedFetch:
    document = f"{source}-{scope}-{at}-{complete}-{sorted(told.items(), key=str)}"
    if complete:
        told = told | {f"{ANCHOR}-{scope}": "1"}
    return ParsedFetch(
        run_id="run", source=source, scope=scope, observed_at=day(at), complete=complete,
        archived=not complete, document_sha256=document, rows=rows_of(told, document), trusted=True,
    )  # fmt: skip


@pytest.fixture
def con(tmp_path):
    with db.open_build(tmp_path / "build.duckdb") as connection:
        yield connection


def intervals(con: duckdb.DuckDBPyConnection, moment: str = "9999-01-01") -> set[tuple[object, ...]]:
    return set(
        con.execute(
            "select instance_type, p.source, valid_from, valid_to, last_observed_at, p.unit_price "
            "from core.price_known_at(?::TIMESTAMP) as p join core.offer using (offer_id) "
            f"where instance_type not like '{ANCHOR}%'",
            [moment],
        ).fetchall()
    )


def known_at(con: duckdb.DuckDBPyConnection, moment: datetime, macro: str = "core.price_known_at") -> list[object]:
    """Return every column of every interval as known at a moment, in order."""
    columns = "offer_id, source, scope, valid_from, valid_to, last_observed_at, unit_price, upfront_price"
    query = f"select {columns}, document_sha256, recorded_at from {macro}(?::timestamp) order by all"
    return con.execute(query, [naive(moment)]).fetchall()


def by_events(con: duckdb.DuckDBPyConnection, moment: datetime) -> list[object]:
    """Return the same, derived from all events, as of offers whose events are no chain."""
    con.execute(f"create or replace macro core.by_events(moment) as table {db.sql('log/other_known_at.sql')}")
    return known_at(con, moment, "core.by_events")


def expected(looks: list[ParsedFetch]) -> set[tuple[object, ...]]:
    """Work the intervals out the plain way: every observation of every offer, sorted, walked through once."""
    sources = {one.source for one in looks}
    return {
        (name, source, *interval)
        for source in sources
        for name, *interval in expected_of_one([one for one in looks if one.source == source])
    }


def expected_of_one(looks: list[ParsedFetch]) -> set[tuple[object, ...]]:
    scopes = {name: one.scope for one in looks for name in one.rows["instance_type"]}
    said: dict[str, dict[datetime, set[Decimal | None]]] = defaultdict(lambda: defaultdict(set))
    for one in looks:
        told = dict(zip(one.rows["instance_type"], one.rows["unit_price"], strict=True))
        for name, scope in scopes.items():
            if told.get(name) == REFUSED:
                continue
            if name in told:
                price = None if told[name] is None else Decimal(told[name])
                said[name][naive(one.observed_at)].add(price)
            elif one.complete and scope == one.scope:
                said[name][naive(one.observed_at)].add(ABSENT)
    found = set()
    for name, moments in said.items():
        if name.startswith(ANCHOR):
            continue
        current: list[object] | None = None
        for moment in sorted(moments):
            prices = moments[moment] - {ABSENT}
            if len(prices) > 1:
                continue
            price = next(iter(prices), ABSENT)
            if current and current[2] == price:
                current[1] = moment
                continue
            if current:
                found.add((name, current[0], moment, current[1], current[2]))
            current = [moment, moment, price] if price is not None else None
        if current:
            found.add((name, current[0], None, current[1], current[2]))
    return found


NAMES = {"a": ["p9.one", "p9.two"], "b": ["p9.three"]}
GONE = None
REFUSED = "0"
"""A price that the row gate refuses: the look says nothing of the offer."""

PRICES = {True: ["1", "1", "2", "2", REFUSED], False: ["1", "1", "2", "2", "2", GONE, REFUSED]}
"""What a complete look and an archived one may say of an offer; only archives say in words that it is gone."""


def looks_at(scope: str, complete: bool) -> st.SearchStrategy[ParsedFetch]:
    told = st.dictionaries(st.sampled_from(NAMES[scope]), st.sampled_from(PRICES[complete]), max_size=2)
    return st.builds(
        look, st.integers(0, 7), told, complete=st.just(complete), scope=st.just(scope),
        source=st.sampled_from(["aws_price_list"] * 3 + ["offline_archive"]),
    )  # fmt: skip


def apart(looks: list[ParsedFetch]) -> list[ParsedFetch]:
    """Leave out other looks at a moment and scope at which a price was refused: a refusal speaks of the moment."""
    moments: dict[object, list[ParsedFetch]] = defaultdict(list)
    for one in looks:
        moments[one.source, one.scope, one.observed_at].append(one)
    return [
        one
        for group in moments.values()
        for one in (group[:1] if any(REFUSED in each.rows["unit_price"].to_list() for each in group) else group)
    ]


LOOKS = st.lists(
    st.tuples(st.sampled_from(["a", "a", "a", "b"]), st.booleans()).flatmap(lambda kind: looks_at(*kind)),
    min_size=3,
    max_size=10,
    unique_by=lambda one: (one.source, one.scope, one.observed_at, one.document_sha256),
).map(apart)
PLAIN = settings(deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])


def check_order_and_split(looks: list[ParsedFetch], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(looks))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(looks)), max_size=3)))
    with memory() as con:
        for start, end in zip([0, *cuts], [*cuts, len(looks)], strict=True):
            if start < end:
                load(con, shuffled[start:end], recorded_at=day(100 + start))
        assert expected(looks) == intervals(con)
        events = con.execute("select count(*) from core.price_event").fetchone()
        load(con, looks, recorded_at=day(200))
        assert events == con.execute("select count(*) from core.price_event").fetchone()
        for moment in {start for start in (0, *cuts) if start < len(looks)}:
            known = shuffled[: min(cut for cut in [*cuts, len(looks)] if cut > moment)]
            assert expected(known) == intervals(con, str(naive(day(100 + moment)))), "as known then"
            assert known_at(con, day(100 + moment)) == by_events(con, day(100 + moment)), "as the events tell it"


@settings(PLAIN, max_examples=3)
@given(looks=LOOKS, data=st.data())
def test_any_order_and_any_split_give_the_same_intervals(looks: list[ParsedFetch], data: st.DataObject) -> None:
    """The intervals are a function of the set of looks: order of arrival and split into loads do not matter.

    Loaded again they add nothing; and what was known after each load is what was loaded by then.
    """
    check_order_and_split(looks, data)


@pytest.mark.prove
@pytest.mark.timeout(3600)
@settings(PLAIN, max_examples=600)
@given(looks=LOOKS, data=st.data())
def test_any_order_and_any_split_at_length(looks: list[ParsedFetch], data: st.DataObject) -> None:
    """The same over thousands of histories."""
    check_order_and_split(looks, data)


def test_what_was_known_before_a_backfill(con: duckdb.DuckDBPyConnection) -> None:
    """A backfill that moves a change to an earlier day changes what is known now, not what was known then."""
    load(con, [look(0, {"p5.48xlarge": "98"}, complete=True)], recorded_at=day(0))
    load(con, [look(9, {"p5.48xlarge": "55"}, complete=True)], recorded_at=day(9))
    before = intervals(con, "2026-01-15")
    load(con, [look(4, {"p5.48xlarge": "55"}, complete=False)], recorded_at=day(20))

    def told(moment: str) -> list[tuple[int, str]]:
        return sorted((line[2].day - 1, str(line[-1])[:2]) for line in intervals(con, moment))

    assert told("2025-12-31") == []
    assert told("2026-01-05") == [(0, "98")]
    assert told("2026-01-15") == [(0, "98"), (9, "55")]
    assert told("9999-01-01") == [(0, "98"), (4, "55")]
    assert intervals(con, "2026-01-15") == before


def test_an_import_says_in_words_that_an_offer_is_gone(con: duckdb.DuckDBPyConnection) -> None:
    """An empty price ends the interval there; a later price begins another; absence from an import ends nothing."""
    load(
        con,
        [
            look(0, {"p5.48xlarge": "98", "p3.2xlarge": "3"}, complete=False),
            look(3, {"p5.48xlarge": None}, complete=False),
            look(5, {"p5.48xlarge": "98"}, complete=False),
        ],
        recorded_at=day(9),
    )

    assert sorted((line[0], line[2].day - 1, line[3] and line[3].day - 1) for line in intervals(con)) == [
        ("p3.2xlarge", 0, None), ("p5.48xlarge", 0, 3), ("p5.48xlarge", 5, None)
    ]  # fmt: skip


def test_an_old_price_resumes_where_it_was_confirmed(con: duckdb.DuckDBPyConnection) -> None:
    """What lands between two confirmations holds until the second: after it the old price holds again."""
    load(con, [look(at, {"p5.48xlarge": "98"}, complete=True) for at in (0, 4)], recorded_at=day(4))
    load(con, [look(2, {"p5.48xlarge": "55"}, complete=False)], recorded_at=day(9))

    assert sorted((line[2].day - 1, line[3] and line[3].day - 1, str(line[-1])[:2]) for line in intervals(con)) == [
        (0, 2, "98"), (2, 4, "55"), (4, None, "98")
    ]  # fmt: skip


def test_two_observations_of_one_load_around_a_confirmation(con: duckdb.DuckDBPyConnection) -> None:
    """Both are events, though they are equal: between them the old price was confirmed."""
    load(con, [look(at, {"p5.48xlarge": "98"}, complete=True) for at in (0, 4)], recorded_at=day(4))
    load(con, [look(at, {"p5.48xlarge": "55"}, complete=False) for at in (2, 6)], recorded_at=day(9))

    assert sorted((line[2].day - 1, line[3] and line[3].day - 1, str(line[-1])[:2]) for line in intervals(con)) == [
        (0, 2, "98"), (2, 4, "55"), (4, 6, "98"), (6, None, "55")
    ]  # fmt: skip
