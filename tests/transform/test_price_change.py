"""What a change of a chip's price is, on literal rows: each sign of a move that no provider made."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from looks import Row, day, look, memory, row

from transform.models import SQL
from warehouse.log.db import create_macros, sql
from warehouse.log.load import load

P5 = "p5.48xlarge"


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a log in memory."""
    with memory() as con:
        create_macros(con)
        yield con


def chip(price: str | None, label: str = "H100 SXM", count: str = "1", **others: Any) -> Row:
    """Return the price of chips of one provider, in the provider's words."""
    named = {"service_provider_name": "lambda", "accelerator_label": label, "accelerator_count": count}
    return row(None, price, **(named | {"region_id": None} | others))


def kinds(con: duckdb.DuckDBPyConnection, *days: tuple[float, list[Row]], complete: bool = True) -> list[str]:
    """Load what each day shows and return the kinds of all changes, by time and then by price before."""
    for at, rows in days:
        load(con, [look(at, *rows, source="lambda", trusted=True, complete=complete)], recorded_at=day(at))
    con.execute("create schema int")
    con.execute("insert into core.source by name select 'lambda' as source, 10 as precedence")
    con.execute("create table core.sku_price as select * from core.price_known_at(timestamp '9999-01-01')")
    con.execute(
        "create schema ref; create table ref.accelerator_label ("
        "service_provider_name varchar, accelerator_label varchar, "
        "accelerator_name varchar, accelerator_vendor varchar, form_factor varchar, "
        "accelerator_memory_gib decimal(10, 4), accelerator_share decimal(10, 4))"
    )
    con.execute(
        "insert into ref.accelerator_label select distinct service_provider_name, accelerator_label, "
        "split_part(accelerator_label, ' ', 1), 'NVIDIA', null, null, 1 from core.offer "
        "where accelerator_label is not null"
    )
    con.execute("create schema if not exists meta")
    con.execute("create table meta.build as select timestamp '2027-01-01' as built_at")
    con.execute("create view ref.instance_type as from core.instance_type")
    con.execute(f"create view ref.current_instance_type as {sql('current_instance_type.sql')}")
    con.execute(f"create table core.offer_unit as {sql('offer_unit.sql')}")
    for name in ("first_look", "silent_import"):
        con.execute(f"create view core.{name} as {sql(f'{name}.sql')}")
    con.execute(f"create table int.price_history as {(SQL / 'price_history.sql').read_text()}")
    for name in ("price_move", "repricing", "price_correction"):
        con.execute(f"create table int.{name} as {(SQL / f'{name}.sql').read_text()}")
    found = con.execute(
        f"select change_kind from ({(SQL / 'price_change.sql').read_text()}) order by observed_at, unit_price_before"
    ).fetchall()
    return [kind for (kind,) in found]


def daily(*prices: str, **others: Any) -> list[tuple[float, list[Row]]]:
    """Return one offer's prices, a day apart."""
    return [(at, [chip(price, **others)]) for at, price in enumerate(prices)]


def test_a_new_price_that_stays_is_a_list_change(con: duckdb.DuckDBPyConnection) -> None:
    """Up and later up again, also by half: one series alone does not say that it is wrong."""
    assert kinds(con, *daily("2.99", "3.29", "4.99")) == ["list_change", "list_change"]


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [("2", "16", "1"), ("16", "2", "1"), ("7.5", "0.75", "1"), ("2.99", "299", "1"), ("2", "1460", "1"),
     ("12.00", "3.00", "4"), ("49.24", "6.16", "8")],
)  # fmt: skip
def test_a_factor_of_a_unit_is_suspected(con: duckdb.DuckDBPyConnection, before: str, after: str, count: str) -> None:
    """8, a slipped decimal, cents, the hours of a month, the offer's own chips, also where per chip it is rounded."""
    assert kinds(con, *daily(before, after, count=count)) == ["suspected_error"]


@pytest.mark.parametrize(("after", "count"), [("0.5", "2"), ("0.25", "1"), ("0.13", "8"), ("2", "2")])
def test_a_factor_of_no_unit_is_a_list_change(con: duckdb.DuckDBPyConnection, after: str, count: str) -> None:
    """Half and a quarter are prices that somebody may ask, and 7.7 is not 8."""
    assert kinds(con, *daily("1", after, count=count)) == ["list_change"]


def test_what_is_far_out_and_soon_back_is_suspected_with_its_end(con: duckdb.DuckDBPyConnection) -> None:
    """A marketplace's real case: 0.57, a day of 7.50, then 0.75; both moves, and nothing after them."""
    assert kinds(con, *daily("0.57", "7.37", "0.75", "0.80")) == ["suspected_error", "suspected_error", "list_change"]


def test_what_is_far_out_and_stays_a_week_is_a_list_change(con: duckdb.DuckDBPyConnection) -> None:
    """The bounds alone prove nothing: a price cut to 0.4 that is raised again next month was one."""
    days = [(0, [chip("1")]), (1, [chip("0.4")]), (9, [chip("0.9")])]
    assert kinds(con, *days) == ["list_change", "list_change"]


@pytest.mark.parametrize("n_flips", range(1, 6))
def test_a_flapping_price_moves_where_it_ends(con: duckdb.DuckDBPyConnection, n_flips: int) -> None:
    """There, back, there, back is nothing; there, back and there again is one change of the list, the last."""
    prices = ("2.56", "2.40") * 3
    ends = ["list_change"] if n_flips % 2 else []
    assert kinds(con, *daily(*prices[: n_flips + 1])) == ["correction"] * (n_flips // 2 * 2) + ends


def test_the_wrong_column(con: duckdb.DuckDBPyConnection) -> None:
    """On-demand takes the price of spot, which still has it: a real case of a page with one more column."""
    spot = chip("1.25", purchase_option="spot")
    days = [(0, [chip("2.95"), spot]), (1, [chip("1.25"), spot])]
    assert kinds(con, *days) == ["suspected_error"]


def test_a_price_of_its_own_is_no_wrong_column(con: duckdb.DuckDBPyConnection) -> None:
    """Beside a spot price that moves with it, or one elsewhere, of another chip, or in another tier, it is believed."""

    def spot(price: str, **others: Any) -> Row:
        return chip(price, purchase_option="spot", **others)

    others = [spot("1.25", region_id="b"), spot("1.25", label="H200 SXM"), chip("1.25", tier="community")]
    days = [(0, [chip("2.95"), spot("1"), *others]), (1, [chip("1.25"), spot("1.25"), *others])]
    assert kinds(con, *days) == ["spot_move", "list_change"]


def test_the_next_card(con: duckdb.DuckDBPyConnection) -> None:
    """GB200 takes the price of H200, and H200 is not shown: a real case of a page read past a card without a price."""
    days = [(0, [chip("6", "GB200"), chip("4.29", "H200")]), (1, [chip("4.29", "GB200")])]
    assert sorted(kinds(con, *days)) == ["gone_offer", "suspected_error"]


@pytest.mark.parametrize("price", ["4.29", "4.49"])
def test_two_chips_of_one_price_are_no_next_card(con: duckdb.DuckDBPyConnection, price: str) -> None:
    """Where the other chip is shown too, with its price or with a new one, both are what they are."""
    days = [(0, [chip("6", "GB200"), chip("4.29", "H200")]), (1, [chip("4.29", "GB200"), chip(price, "H200")])]
    assert "suspected_error" not in kinds(con, *days)


def test_a_change_of_rounding_is_suspected(con: duckdb.DuckDBPyConnection) -> None:
    """49.24 for eight is 6.155 each: once 6.16 is written of each, it is 49.28. AWS's own amounts are not rounded."""
    assert kinds(con, *daily("49.24", "49.28", count="8")) == ["suspected_error"]


def test_a_cent_is_a_change_of_the_list(con: duckdb.DuckDBPyConnection) -> None:
    """From whole cents to whole cents nobody rounded, nor for a machine of AWS, whose list has more digits."""
    days = [(0, [chip("1.00"), row(P5, "55.04")]), (1, [chip("1.01"), row(P5, "55.041")])]
    assert kinds(con, *days) == ["list_change", "list_change"]


@pytest.mark.parametrize(
    "others", [{"statistic": "median"}, {"statistic": "p25"}, {"statistic": "floor"}, {"tier": "marketplace_verified"}]
)
def test_a_market_moves_without_a_list(con: duckdb.DuckDBPyConnection, others: dict[str, str]) -> None:
    """A middle, a least, a marketplace: also by a unit's factor, and also there and back."""
    assert kinds(con, *daily("2", "16", "2", **others)) == ["market_move", "market_move"]


def test_a_provider_that_is_a_marketplace_is_one_in_all_tiers(con: duckdb.DuckDBPyConnection) -> None:
    """Not so the provider whose machines somebody else's marketplace sells."""
    market = chip("1", service_provider_name="vast.ai", tier="marketplace")
    plain: dict[str, Any] = {"service_provider_name": "vast.ai", "tier": None}
    sold = chip("9", tier="prime-intellect-marketplace")
    days = [(0, [market, chip("2", **plain), chip("3"), sold]), (1, [market, chip("2.5", **plain), chip("3.5"), sold])]
    assert kinds(con, *days) == ["market_move", "list_change"]


def test_five_moves_in_thirty_days_are_a_market(con: duckdb.DuckDBPyConnection) -> None:
    """Nobody changes a list so often; the first and last two of a series are told by their neighbours alone."""
    prices = ("2.01", "2.11", "2.21", "2.31", "2.41", "2.51")
    days = [(at * 7, [chip(price)]) for at, price in enumerate(prices)]
    assert kinds(con, *days).count("market_move") == 2


def test_new_gone_and_returned(con: duckdb.DuckDBPyConnection) -> None:
    """What comes back after it was gone is no new offer, at whatever price."""
    other = chip("1", "A100")
    days = [(0, [other]), (1, [chip("2"), other]), (2, [other]), (4, [chip("2.2"), other])]
    assert kinds(con, *days) == ["new_offer", "gone_offer", "returned_offer"]


def test_far_out_and_back_comes_in_pairs(con: duckdb.DuckDBPyConnection) -> None:
    """Thunder Compute's A100: there, back, and there for good, the last of which is a change of the list."""
    days = [(0, [chip("1.79")]), (6, [chip("0.78")]), (12, [chip("1.79")]), (14, [chip("0.78")])]
    assert kinds(con, *days) == ["correction", "correction", "list_change"]


def test_near_returns_come_in_pairs_too(con: duckdb.DuckDBPyConnection) -> None:
    """Trebled, nearly back, trebled again to stay: a series without the pair ends where it does with it."""
    assert kinds(con, *daily("1", "3", "1.1", "3.2")) == ["suspected_error", "suspected_error", "list_change"]


def test_the_way_back_from_an_error_is_one_too(con: duckdb.DuckDBPyConnection) -> None:
    """Eight times for a month, then 2.20 of what had been 2: 7.3 is no unit's factor, but the end of one."""
    days = [(0, [chip("2")]), (1, [chip("16")]), (40, [chip("2.2")]), (50, [chip("2.3")])]
    assert kinds(con, *days) == ["suspected_error", "suspected_error", "list_change"]


def test_a_term_without_an_hourly_price(con: duckdb.DuckDBPyConnection) -> None:
    """All Upfront costs nothing an hour: its fee moves, there and back, without a logarithm of zero."""

    def term(fee: str) -> Row:
        return row(
            P5, "0", purchase_option="reserved", commitment_term_hours=8760, purchase_payment_model="All Upfront",
            offering_class="standard", upfront_price=fee,
        )  # fmt: skip

    days = [(at, [term(fee)]) for at, fee in enumerate(("100", "900", "100", "50"))]
    assert kinds(con, *days) == ["correction", "correction", "list_change"]


def beside_others(con: duckdb.DuckDBPyConnection, before: str, after: str, *, others: int = 3) -> list[str]:
    """Return the kinds of a price's moves while so many other providers ask 2.00 for the chip."""
    asked = [chip("2", service_provider_name=f"provider {number}") for number in range(others)]
    return kinds(con, (0, [chip(before), *asked]), (1, [chip(after), *asked]))


@pytest.mark.parametrize(("before", "after"), [("0.21125", "1.89"), ("1.89", "0.21125")])
def test_a_price_that_nobody_else_asks_is_suspected(con: duckdb.DuckDBPyConnection, before: str, after: str) -> None:
    """RunPod's A100 80 GB of May 2023, and the way back: a row of eight had the price of one, 1.69, and then 15.12."""
    assert beside_others(con, before, after) == ["suspected_error"]


@pytest.mark.parametrize(
    ("before", "after", "others"),
    [
        ("0.49", "1.95", 3),  # not quite fourfold
        ("0.2", "0.97", 3),  # neither side is near what the others ask
        ("0.6", "2.7", 3),  # a third of what the others ask may be a price
        ("0.21125", "1.89", 2),  # two others are no market
    ],
)
def test_a_far_move_of_a_price_that_may_be_one_is_a_list_change(
    con: duckdb.DuckDBPyConnection, before: str, after: str, others: int
) -> None:
    """More than fourfold, from or to less than a quarter of three others' median, and within [0.5, 2] of it."""
    assert beside_others(con, before, after, others=others) == ["list_change"]
