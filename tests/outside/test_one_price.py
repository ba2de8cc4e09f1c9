"""One price moves what it must, and nothing else: two runs on one day, after the same day before, with one price apart.

The first of two places with the cheapest H100 of a provider raises its price above the second's. On that day another
provider moves a price, too, in both runs. All public tables are compared row by row; they have the same age in both.
"""

import email
import email.policy
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import log
from pathlib import Path
from typing import Any

import duckdb
import pytest
from month_mails import tells
from month_prices import OFFERS, Event, Month
from month_runs import open_shop, surroundings

from flows import mail_steps, settings, steps
from transform.models import PUBLIC

FIRST = datetime(2026, 9, 5, 6, 10, tzinfo=UTC)
SECOND = FIRST + timedelta(days=1)
WEEK = "2026-W36"
BEFORE, AFTER, NEXT = 1.99, 2.19, 2.09
"""The price before and after, and the one that is the cheapest then."""
MOVED = Event(offer=OFFERS["a ethernet"], day=1, before=Decimal("1.99"), after=Decimal("2.19"))
IN_BOTH = Event(offer=OFFERS["p6-b200"], day=1, before=Decimal("14.24"), after=Decimal("13.13"))
N_PLACES, N_PROVIDERS, N_CHIPS = 4, 2, 4
"""Prices of H100 at that provider, providers of H100, and chips: each has the same weight in the drift of the next."""
OF_COST = ("usd_per_million_output_tokens", "offer_id")
JUDGED = ("price_now", "price_history", "price_change", "price_index", "provider_price", "token_cost")

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one of the two runs published, and the text of its mail."""

    file: Path
    text: str

    def rows(self, query: str) -> list[Row]:
        """Return what the published file says."""
        with duckdb.connect(str(self.file), read_only=True) as con:
            answer = con.execute(query)
            names = [column[0] for column in answer.description]
            return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The run without the move, and the one with it."""

    without: Side
    moved: Side

    def differing(self, query: str) -> tuple[list[Row], list[Row]]:
        """Return the rows that only the one has, and those that only the other has."""
        one, other = (
            Counter(tuple(row.items()) for row in side.rows(query)) for side in (self.without, self.moved)
        )  # fmt: skip
        return [dict(row) for row in (one - other).elements()], [dict(row) for row in (other - one).elements()]

    def changed(self, query: str) -> Row:
        """Return the columns in which the only two differing rows differ, with both values."""
        (one,), (other,) = self.differing(query)
        return {name: (one[name], other[name]) for name in one if one[name] != other[name]}

    def offer_ids(self) -> tuple[int, int]:
        """Return the offers of the price that moved, and of the next."""
        found = {
            row["price_per_accelerator_hour_usd"]: row["offer_id"]
            for row in self.without.rows("from mart.price_now where accelerator_name = 'H100'")
        }
        return found[BEFORE], found[NEXT]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Return both runs of the second day."""
    folder = tmp_path_factory.mktemp("one-price")
    with open_shop(Month(first=FIRST.date(), n_days=2, events=[IN_BOTH]), folder) as shop:
        env = surroundings(shop, 25, folder)

        def run(name: str, moment: datetime) -> settings.Settings:
            shop.turn(moment)
            chosen = settings.read(data_dir=folder / name, environ=env)
            with steps.open_run(chosen, clock=lambda: moment) as one:
                one.fetch_all(one.plan(one.sources()))
                one.clock = lambda: moment + timedelta(minutes=1)
                summary = one.finish()
            assert not summary.failed
            return chosen

        def side(name: str) -> Side:
            shutil.copytree(folder / "before", folder / name)
            chosen = run(name, SECOND)
            written = mail_steps.dry_run(chosen, WEEK, clock=lambda: SECOND).read_bytes()
            part = email.message_from_bytes(written, policy=email.policy.default).get_body(("plain",))
            assert part is not None
            return Side(file=chosen.data_dir / "prices.duckdb", text=str(part.get_content()))

        run("before", FIRST)
        without = side("without")
        shop.month.events.append(MOVED)
        yield Pair(without=without, moved=side("moved"))


def test_its_price_moves_and_no_other(pair: Pair) -> None:
    """The row of its offer, in its price alone."""
    assert pair.changed("from mart.price_now") == {"price_per_accelerator_hour_usd": (BEFORE, AFTER)}


def test_its_history_has_one_step_more(pair: Pair) -> None:
    """The old price ends when the new one begins, and one change says so."""
    now = SECOND.replace(tzinfo=None)
    spans = [
        {(row["price_per_accelerator_hour"], row["valid_from"] == now, row["valid_to"]) for row in rows}
        for rows in pair.differing("from mart.price_history")
    ]
    none, (change,) = pair.differing("from mart.price_change")

    assert spans == [{(BEFORE, False, None)}, {(BEFORE, False, now), (AFTER, True, None)}]
    assert none == []
    assert (
        change["price_per_accelerator_hour_before"], change["price_per_accelerator_hour_after"],
        change["change_kind"], change["observed_at"], change["offer_id"],
    ) == (BEFORE, AFTER, "list_change", now, pair.offer_ids()[0])  # fmt: skip


@pytest.mark.parametrize("query", ["from mart.provider_price", "from mart.cheapest('H100')"])
def test_the_cheapest_is_the_next_one(pair: Pair, query: str) -> None:
    """One provider's row changes, to the place that asks less now, which is named; its rank stays."""
    changed = pair.changed(query)

    assert changed["cheapest_price_usd"] == (BEFORE, NEXT)
    assert changed["offer_id"] == pair.offer_ids()
    assert "price_rank" not in changed


def test_the_cheapest_of_other_chips_stay(pair: Pair) -> None:
    """Nobody's H200, B200 or MI300X has anything to do with it."""
    for chip in ("H200", "B200", "MI300X"):
        assert pair.differing(f"from mart.cheapest('{chip}')") == ([], [])


def test_drift_moves_by_its_part(pair: Pair) -> None:
    """The logarithm of the move, by its part of the provider's prices of the chip, of the chip, and of all."""
    query = (
        "select index_level, service_provider_name, accelerator_name, purchase_option, index_date, drift_log "
        "from mart.price_index"
    )
    one, other = (
        {tuple(row.values())[:-1]: row["drift_log"] for row in rows}
        for rows in pair.differing(query)
    )  # fmt: skip
    in_any_column = pair.differing("from mart.price_index")
    part = log(AFTER / BEFORE) / N_PLACES
    day: date = SECOND.date()

    assert {key: other[key] - one[key] for key in one | other} == {
        ("provider", "Voltage Park", "H100", "on_demand", day): pytest.approx(part, abs=1e-12),
        ("chip", None, "H100", "on_demand", day): pytest.approx(part / N_PROVIDERS, abs=1e-12),
        ("all", None, None, "on_demand", day): pytest.approx(part / N_PROVIDERS / N_CHIPS, abs=1e-12),
    }
    assert [len(rows) for rows in in_any_column] == [3, 3]


def test_tokens_cost_more_by_the_provider_s_price(pair: Pair) -> None:
    """Costs are by the middle of the two places and grow with it, and name the next offer; of others the rank moves."""
    moved, following = pair.offer_ids()
    query = "select * exclude (cost_rank) from mart.token_cost where offer_id"
    by_price = [
        {tuple(value for name, value in row.items() if name not in OF_COST): row[OF_COST[0]] for row in side.rows(each)}
        for side, each in ((pair.without, f"{query} = {moved}"), (pair.moved, f"{query} = {following}"))
    ]
    known = {row: cost for row, cost in by_price[0].items() if cost is not None}

    assert known
    assert by_price[1] == {
        row: pytest.approx(cost * (AFTER + NEXT) / (BEFORE + NEXT), rel=1e-12) if row in known else None
        for row, cost in by_price[0].items()
    }
    assert pair.differing(f"{query} not in ({moved}, {following})") == ([], [])
    assert pair.without.rows(f"{query} = {following}") == pair.moved.rows(f"{query} = {moved}") == []


@pytest.mark.parametrize("table", [model.name for model in PUBLIC])
def test_nothing_else_moves(pair: Pair, table: str) -> None:
    """Of tables that are judged above, rows of other chips and options stay; others have the same rows in both."""
    columns = "* exclude (cost_rank)" if table == "token_cost" else "*"
    of_others = "accelerator_name <> 'H100' or purchase_option <> 'on_demand'"
    query = f"select {columns} from mart.{table} where {of_others if table in JUDGED else True}"

    assert pair.differing(query) == ([], [])


def test_the_mail_has_one_line_more(pair: Pair) -> None:
    """The move is told where it happened; the other provider's move is told in both."""
    assert [tells(side.text, MOVED) for side in (pair.without, pair.moved)] == [False, True]
    assert [tells(side.text, IN_BOTH) for side in (pair.without, pair.moved)] == [True, True]
