"""Observations and coverage give intervals, whatever the order in which they arrive."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import duckdb
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from warehouse import db
from warehouse.batch import ParsedLook
from warehouse.events import naive
from warehouse.load import load, no_rows, observation_schema

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


def look(
    at: int, told: Told, *, complete: bool, scope: str = "a", document: str = "", trusted: bool = True
) -> ParsedLook:
    document = document or f"{scope}-{at}-{complete}-{sorted(told.items(), key=str)}"
    if complete:
        told = told | {f"{ANCHOR}-{scope}": "1"}
    return ParsedLook(
        run_id="run", source="aws_price_list", scope=scope, observed_at=day(at), complete=complete,
        archived=not complete, document_sha256=document, rows=rows_of(told, document), trusted=trusted,
    )  # fmt: skip


@pytest.fixture
def con(tmp_path):
    with db.open_build(tmp_path / "build.duckdb") as connection:
        yield connection


def intervals(con: duckdb.DuckDBPyConnection, moment: str = "9999-01-01") -> set[tuple[object, ...]]:
    return set(
        con.execute(
            "select instance_type, valid_from, valid_to, last_observed_at, p.unit_price "
            "from core.price_known_at(?::TIMESTAMP) as p join core.offer using (offer_id) "
            f"where instance_type not like '{ANCHOR}%'",
            [moment],
        ).fetchall()
    )


def expected(looks: list[ParsedLook]) -> set[tuple[object, ...]]:
    """Work the intervals out the plain way: every observation of every offer, sorted, walked through once."""
    scopes = {name: one.scope for one in looks for name in one.rows["instance_type"]}
    said: dict[str, dict[datetime, set[Decimal | None]]] = defaultdict(lambda: defaultdict(set))
    for one in looks:
        told = dict(zip(one.rows["instance_type"], one.rows["unit_price"], strict=True))
        for name, scope in scopes.items():
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
TOLD = {
    scope: st.dictionaries(st.sampled_from(names), st.sampled_from(["1", "2", "3"]), max_size=2)
    for scope, names in NAMES.items()
}
LOOKS = st.lists(
    st.sampled_from(["a", "b"]).flatmap(
        lambda scope: st.builds(look, st.integers(0, 7), TOLD[scope], complete=st.booleans(), scope=st.just(scope))
    ),
    min_size=1,
    max_size=9,
    unique_by=lambda one: (one.scope, one.observed_at, one.document_sha256),
)


@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(LOOKS, st.data())
def test_any_order_and_any_split_give_the_same_intervals(looks: list[ParsedLook], data: st.DataObject) -> None:
    """The intervals are a function of the set of looks: order of arrival and split into loads do not matter."""
    shuffled = data.draw(st.permutations(looks))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(looks)), max_size=3)))
    with duckdb.connect() as con:
        db.migrate(con)
        for start, end in zip([0, *cuts], [*cuts, len(looks)], strict=True):
            if start < end:
                load(con, shuffled[start:end], recorded_at=day(100 + start))
        assert expected(looks) == intervals(con)
        events = con.execute("select count(*) from core.price_event").fetchone()
        load(con, looks, recorded_at=day(200))
        assert events == con.execute("select count(*) from core.price_event").fetchone()
