"""What a change of a chip's price is, on literal rows: each sign of a move that no provider made."""

from collections import defaultdict
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from index_panel import number_prices
from looks import ParsedFetch, Row, look, memory, row

from transform.models import SQL
from warehouse.log.db import create_macros, sql
from warehouse.log.load import load

P5 = "p5.48xlarge"


Kinds = list[str]
Days = list[tuple[float, list[Row]]]
CASES: list[Days] = []
"""What each day shows, of all tests; each case is a source of its own.

Its providers, chips and regions have its number, but for names that say what they are.
"""


def case(*days: tuple[float, list[Row]]) -> int:
    """Add what each day shows, and return the number of the case, which the fixture `kinds` takes."""
    CASES.append([*days])
    return len(CASES) - 1


def shown(*days: tuple[float, list[Row]]) -> pytest.MarkDecorator:
    """Return what gives a test the kinds of all changes of a case."""
    return pytest.mark.parametrize("kinds", [case(*days)], indirect=True)


def chip(price: str | None, label: str = "H100 SXM", count: str = "1", **others: Any) -> Row:
    """Return the price of chips of one provider, in the provider's words."""
    named = {"service_provider_name": "lambda", "accelerator_label": label, "accelerator_count": count}
    return row(None, price, **(named | {"region_id": None} | others))


def looks() -> list[ParsedFetch]:
    """Return the looks of all cases, by time: to load the first of each case, then the second, takes few rounds."""
    found = []
    for number, days in enumerate(CASES):
        for at, rows in days:
            one = look(at, *rows, source=f"lambda {number}", scope=f"{number}", trusted=True)
            own = pl.lit(number)
            rows = one.rows.with_columns(
                pl.col("accelerator_label").str.replace("^[^ ]+", f"${{0}}-{number}"),
                pl.format("{} {}", "region_id", own),
                service_provider_name=pl.when(pl.col("service_provider_name").is_in(["AWS", "vast.ai"]))
                .then("service_provider_name")
                .otherwise(pl.format("{} {}", "service_provider_name", own)),
            )
            found.append(replace(one, rows=rows))
    return sorted(found, key=lambda each: each.observed_at)


@pytest.fixture(scope="module")
def every_kind() -> dict[str, list[str]]:
    """Return the kinds of the changes of each source, by time and then by price before."""
    with memory() as con:
        create_macros(con)
        every = looks()
        load(con, every, recorded_at=every[-1].observed_at)
        con.execute("create schema int")
        con.execute(
            "insert into core.source by name "
            "select distinct source, 10 as precedence from core.price_known_at(timestamp '9999-01-01')"
        )
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
        for name in ("market", "market_offer", "first_look", "silent_import"):
            con.execute(f"create view core.{name} as {sql(f'{name}.sql')}")
        con.execute(f"create table int.price_history as {(SQL / 'price_history.sql').read_text()}")
        number_prices(con)
        for name in ("price_move", "repricing", "price_correction"):
            con.execute(f"create table int.{name} as {(SQL / f'{name}.sql').read_text()}")
        found = con.execute(
            f"select coalesce(source, source_before), change_kind from ({(SQL / 'price_change.sql').read_text()}) "
            "order by observed_at, unit_price_before"
        ).fetchall()
    by_source: dict[str, list[str]] = defaultdict(list)
    for source, kind in found:
        by_source[source].append(kind)
    return by_source


@pytest.fixture
def kinds(every_kind: dict[str, list[str]], request: pytest.FixtureRequest) -> Kinds:
    """Return the kinds of all changes of the case whose number is the parameter."""
    return every_kind[f"lambda {request.param}"]


def daily(*prices: str, **others: Any) -> Days:
    """Return one offer's prices, a day apart."""
    return [(at, [chip(price, **others)]) for at, price in enumerate(prices)]


@shown(*daily("2.99", "3.29", "4.99"))
def test_a_new_price_that_stays_is_a_list_change(kinds: Kinds) -> None:
    """Up and later up again, also by half: one series alone does not say that it is wrong."""
    assert kinds == ["list_change", "list_change"]


def of_factor(before: str, after: str, count: str) -> Any:
    return pytest.param(case(*daily(before, after, count=count)), id=f"{before}-{after}-{count}")


@pytest.mark.parametrize(
    "kinds",
    [of_factor(*each) for each in (
        ("2", "16", "1"), ("16", "2", "1"), ("7.5", "0.75", "1"), ("2.99", "299", "1"), ("2", "1460", "1"),
        ("12.00", "3.00", "4"), ("49.24", "6.16", "8"),
    )],
    indirect=True,
)  # fmt: skip
def test_a_factor_of_a_unit_is_suspected(kinds: Kinds) -> None:
    """8, a slipped decimal, cents, the hours of a month, the offer's own chips, also where per chip it is rounded."""
    assert kinds == ["suspected_error"]


@pytest.mark.parametrize(
    "kinds", [of_factor("1", *each) for each in (("0.5", "2"), ("0.25", "1"), ("0.13", "8"), ("2", "2"))], indirect=True
)
def test_a_factor_of_no_unit_is_a_list_change(kinds: Kinds) -> None:
    """Half and a quarter are prices that somebody may ask, and 7.7 is not 8."""
    assert kinds == ["list_change"]


@shown(*daily("0.57", "7.37", "0.75", "0.80"))
def test_what_is_far_out_and_soon_back_is_suspected_with_its_end(kinds: Kinds) -> None:
    """A marketplace's real case: 0.57, a day of 7.50, then 0.75; both moves, and nothing after them."""
    assert kinds == ["suspected_error", "suspected_error", "list_change"]


@shown((0, [chip("1")]), (1, [chip("0.4")]), (9, [chip("0.9")]))
def test_what_is_far_out_and_stays_a_week_is_a_list_change(kinds: Kinds) -> None:
    """The bounds alone prove nothing: a price cut to 0.4 that is raised again next month was one."""
    assert kinds == ["list_change", "list_change"]


FLIPS = ("2.56", "2.40") * 3


@pytest.mark.parametrize(
    ("kinds", "n_flips"), [(case(*daily(*FLIPS[: n + 1])), n) for n in range(1, 6)], indirect=["kinds"]
)
def test_a_flapping_price_moves_where_it_ends(kinds: Kinds, n_flips: int) -> None:
    """There, back, there, back is nothing; there, back and there again is one change of the list, the last."""
    ends = ["list_change"] if n_flips % 2 else []
    assert kinds == ["correction"] * (n_flips // 2 * 2) + ends


def spot(price: str, **others: Any) -> Row:
    return chip(price, purchase_option="spot", **others)


@shown((0, [chip("2.95"), spot("1.25")]), (1, [chip("1.25"), spot("1.25")]))
def test_the_wrong_column(kinds: Kinds) -> None:
    """On-demand takes the price of spot, which still has it: a real case of a page with one more column."""
    assert kinds == ["suspected_error"]


OTHERS = [spot("1.25", region_id="b"), spot("1.25", label="H200 SXM"), chip("1.25", tier="community")]


@shown((0, [chip("2.95"), spot("1"), *OTHERS]), (1, [chip("1.25"), spot("1.25"), *OTHERS]))
def test_a_price_of_its_own_is_no_wrong_column(kinds: Kinds) -> None:
    """Beside a spot price that moves with it, or one elsewhere, of another chip, or in another tier, it is believed."""
    assert kinds == ["spot_move", "list_change"]


@shown((0, [chip("6", "GB200"), chip("4.29", "H200")]), (1, [chip("4.29", "GB200")]))
def test_the_next_card(kinds: Kinds) -> None:
    """GB200 takes the price of H200, and H200 is not shown: a real case of a page read past a card without a price."""
    assert sorted(kinds) == ["gone_offer", "suspected_error"]


@pytest.mark.parametrize(
    "kinds",
    [case((0, [chip("6", "GB200"), chip("4.29", "H200")]), (1, [chip("4.29", "GB200"), chip(price, "H200")]))
     for price in ("4.29", "4.49")],
    indirect=True,
)  # fmt: skip
def test_two_chips_of_one_price_are_no_next_card(kinds: Kinds) -> None:
    """Where the other chip is shown too, with its price or with a new one, both are what they are."""
    assert "list_change" in kinds
    assert "suspected_error" not in kinds


@shown(*daily("49.24", "49.28", count="8"))
def test_a_change_of_rounding_is_suspected(kinds: Kinds) -> None:
    """49.24 for eight is 6.155 each: once 6.16 is written of each, it is 49.28. AWS's own amounts are not rounded."""
    assert kinds == ["suspected_error"]


@shown(*daily("0.0467", "0.05", "0.05004", pricing_unit="Minutes"))
def test_what_is_rounded_is_an_hour(kinds: Kinds) -> None:
    """From 2.802 to 3.00 an hour, less than half a cent a minute, nobody rounded; from 3.00 to 3.0024 somebody did."""
    assert kinds == ["list_change", "suspected_error"]


@shown((0, [chip("1.00"), row(P5, "55.04")]), (1, [chip("1.01"), row(P5, "55.041")]))
def test_a_cent_is_a_change_of_the_list(kinds: Kinds) -> None:
    """From whole cents to whole cents nobody rounded, nor for a machine of AWS, whose list has more digits."""
    assert kinds == ["list_change", "list_change"]


@pytest.mark.parametrize(
    "kinds",
    [case(*daily("2", "16", "2", **others)) for others in (
        {"statistic": "median"}, {"statistic": "p25"}, {"statistic": "floor"}, {"tier": "marketplace_verified"}
    )],
    indirect=True,
)  # fmt: skip
def test_a_market_moves_without_a_list(kinds: Kinds) -> None:
    """A middle, a least, a marketplace: also by a unit's factor, and also there and back."""
    assert kinds == ["market_move", "market_move"]


def of_market(price: str, listed: str, sold: str) -> list[Row]:
    """Return a marketplace's two tiers, a provider's own price, and one of it that somebody else's marketplace has."""
    own = {"service_provider_name": "vast.ai"}
    return [
        chip(price, tier="marketplace", **own), chip(listed, tier=None, **own), chip(sold),
        chip("9", tier="prime-intellect-marketplace"),
    ]  # fmt: skip


@shown((0, of_market("1", "2", "3")), (1, of_market("1", "2.5", "3.5")))
def test_a_provider_that_is_a_marketplace_is_one_in_all_tiers(kinds: Kinds) -> None:
    """Not so the provider whose machines somebody else's marketplace sells."""
    assert kinds == ["market_move", "list_change"]


@shown(*((at * 7, [chip(price)]) for at, price in enumerate(("2.01", "2.11", "2.21", "2.31", "2.41", "2.51"))))
def test_five_moves_in_thirty_days_are_a_market(kinds: Kinds) -> None:
    """Nobody changes a list so often; the first and last two of a series are told by their neighbours alone."""
    assert kinds.count("market_move") == 2


OTHER = chip("1", "A100")


@shown(*((at, [OTHER] if at % 3 == 2 else [OTHER, chip("2" if at < 4 else "2.2")]) for at in range(8)))
def test_what_sells_out_time_and_again_has_a_list(kinds: Kinds) -> None:
    """To go and to come back is no move of the price, how often ever."""
    assert kinds == ["gone_offer", "returned_offer", "list_change", "gone_offer", "returned_offer"]


@shown((0, [OTHER]), (1, [chip("2"), OTHER]), (2, [OTHER]), (4, [chip("2.2"), OTHER]))
def test_new_gone_and_returned(kinds: Kinds) -> None:
    """What comes back after it was gone is no new offer, at whatever price."""
    assert kinds == ["new_offer", "gone_offer", "returned_offer"]


@shown((0, [chip("1.79")]), (6, [chip("0.78")]), (12, [chip("1.79")]), (14, [chip("0.78")]))
def test_far_out_and_back_comes_in_pairs(kinds: Kinds) -> None:
    """Thunder Compute's A100: there, back, and there for good, the last of which is a change of the list."""
    assert kinds == ["correction", "correction", "list_change"]


@shown(*daily("1", "3", "1.1", "3.2"))
def test_near_returns_come_in_pairs_too(kinds: Kinds) -> None:
    """Trebled, nearly back, trebled again to stay: a series without the pair ends where it does with it."""
    assert kinds == ["suspected_error", "suspected_error", "list_change"]


@shown((0, [chip("2")]), (1, [chip("16")]), (40, [chip("2.2")]), (50, [chip("2.3")]))
def test_the_way_back_from_an_error_is_one_too(kinds: Kinds) -> None:
    """Eight times for a month, then 2.20 of what had been 2: 7.3 is no unit's factor, but the end of one."""
    assert kinds == ["suspected_error", "suspected_error", "list_change"]


def term(fee: str) -> Row:
    return row(
        P5, "0", purchase_option="reserved", commitment_term_hours=8760, purchase_payment_model="All Upfront",
        offering_class="standard", upfront_price=fee,
    )  # fmt: skip


@shown(*((at, [term(fee)]) for at, fee in enumerate(("100", "900", "100", "50"))))
def test_a_term_without_an_hourly_price(kinds: Kinds) -> None:
    """All Upfront costs nothing an hour: its fee moves, there and back, without a logarithm of zero."""
    assert kinds == ["correction", "correction", "list_change"]


def beside_others(before: str, after: str, others: int = 3) -> Any:
    """Return the case of a price that moves while so many other providers ask 2.00 for the chip."""
    asked = [chip("2", service_provider_name=f"provider {number}") for number in range(others)]
    number = case((0, [chip(before), *asked]), (1, [chip(after), *asked]))
    return pytest.param(number, id=f"{before}-{after}-{others}")


@pytest.mark.parametrize("kinds", [beside_others("0.21125", "1.89"), beside_others("1.89", "0.21125")], indirect=True)
def test_a_price_that_nobody_else_asks_is_suspected(kinds: Kinds) -> None:
    """RunPod's A100 80 GB of May 2023, and the way back: a row of eight had the price of one, 1.69, and then 15.12."""
    assert kinds == ["suspected_error"]


@pytest.mark.parametrize(
    "kinds",
    [
        beside_others("0.49", "1.95"),  # not quite fourfold
        beside_others("0.2", "0.97"),  # neither side is near what the others ask
        beside_others("0.6", "2.7"),  # a third of what the others ask may be a price
        beside_others("0.21125", "1.89", 2),  # two others are no market
    ],
    indirect=True,
)
def test_a_far_move_of_a_price_that_may_be_one_is_a_list_change(kinds: Kinds) -> None:
    """More than fourfold, from or to less than a quarter of three others' median, and within [0.5, 2] of it."""
    assert kinds == ["list_change"]
