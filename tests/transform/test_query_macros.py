"""Macros for common questions: what was a price on a date, and who is cheapest now."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from looks import day, row
from published import records
from purchase import P5, Put, plan, putting, seen, spot, term

ASKED = ("cheapest", "price_on")
P5EN = "p5en.48xlarge"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A price and a fee that fell on day 10, last seen on day 20, a plan and a spot price, published on day 40."""
    with putting(tmp_path_factory.mktemp("macros"), asked=ASKED) as put:
        yield put(
            seen(0, "aws_price_list", row(P5, "98.32"), term(P5EN, "8", "Partial", "87600")),
            seen(10, "aws_price_list", row(P5, "55.04"), row("p4d.24xlarge", "21.96"),
                 term(P5EN, "8", "Partial", "43800")),
            seen(20, "aws_price_list", row(P5, "55.04"), term(P5EN, "8", "Partial", "43800")),
            seen(39.9, "aws_spot", spot(P5, "use1-az1", "30")),
            seen(39.9, "aws_savings_plans", plan(P5, "36"), plan(P5, "24", years=3)),
            at=40,
        )  # fmt: skip


def on(file: Path, moment: str, instance_type: str = P5) -> list[tuple[object, ...]]:
    """Return amount, days held and whether confirmed, of the on-demand price of a type at a moment."""
    lines = records(
        file,
        f"from mart.price_on({moment}) where instance_type = '{instance_type}' and purchase_option = 'on_demand'",
    )
    return [
        (str(line["unit_price"]), line["price_per_accelerator_hour_usd"], line["held_days"], line["is_confirmed"])
        for line in lines
    ]


def test_a_price_on_a_date(file: Path) -> None:
    """Before the cut the old price, from the moment of the cut the new one; nothing before the first look."""
    assert on(file, "'2025-12-31 23:59:59'") == []
    assert on(file, "'2026-01-01'") == [("98.3200000000", 12.29, 0, True)]
    assert on(file, "'2026-01-11'") == [("55.0400000000", 6.88, 0, True)]
    assert on(file, "'2026-01-20'") == [("55.0400000000", 6.88, 0, True)]


def bounds(file: Path, moment: str, instance_type: str = P5) -> list[tuple[object, ...]]:
    """Return amount, low, high and the end of the window, and the same per chip in US dollars, at a moment."""
    lines = records(
        file,
        f"select * replace (unit_price::DOUBLE as unit_price, unit_price_low::DOUBLE as unit_price_low, "
        f"unit_price_high::DOUBLE as unit_price_high) from mart.price_on({moment}) "
        f"where instance_type = '{instance_type}' and purchase_option in ('on_demand', 'reserved')",
    )
    usd = "price_per_accelerator_hour_usd"
    for line in lines:
        assert line["is_confirmed"] == (line["window_end"] is None and line["held_days"] <= 3)
    names = ("unit_price", "unit_price_low", "unit_price_high", "window_end", usd, f"{usd}_low", f"{usd}_high")
    return [tuple(line[name] for name in names) for line in lines]


def test_inside_the_window_of_a_change_the_price_is_unknown(file: Path) -> None:
    """Seen at 98.32 on day 0, at 55.04 on day 10: between them it was one of both; at either end it is known."""
    end = day(10).replace(tzinfo=None)
    inside = [(None, 55.04, 98.32, end, None, 6.88, 12.29)]
    assert bounds(file, "'2026-01-01 00:00:01'") == inside
    assert bounds(file, "'2026-01-10 23:59:59'") == inside
    assert bounds(file, "'2026-01-01'") == [(98.32, 98.32, 98.32, None, 12.29, 12.29, 12.29)]
    assert bounds(file, "'2026-01-11'") == [(55.04, 55.04, 55.04, None, 6.88, 6.88, 6.88)]
    assert bounds(file, "'2026-01-26'") == [(55.04, 55.04, 55.04, None, 6.88, 6.88, 6.88)]


def test_an_offer_that_was_gone_by_the_end_of_the_window_keeps_its_price(file: Path) -> None:
    """Nothing contradicts 21.96, the only price it ever had; that it was gone on day 20 is said."""
    end = day(20).replace(tzinfo=None)
    assert bounds(file, "'2026-01-15'", "p4d.24xlarge") == [(21.96, 21.96, 21.96, end, 2.745, 2.745, 2.745)]


def test_an_upfront_fee_that_changed_leaves_what_an_hour_cost_unknown(file: Path) -> None:
    """The hourly part stayed at 8, so it is known; 87,600 or 43,800 were paid upfront: 18 or 13 an hour over a year."""
    end = day(10).replace(tzinfo=None)
    assert bounds(file, "'2026-01-05'", P5EN) == [(8, 8, 8, end, None, 13 / 8, 18 / 8)]
    (line,) = records(
        file, "select upfront_price, effective_hourly_price as hourly from mart.price_on('2026-01-05') "
        f"where instance_type = '{P5EN}'",
    )  # fmt: skip
    assert line == {"upfront_price": None, "hourly": None}
    assert bounds(file, "'2026-01-11'", P5EN) == [(8, 8, 8, None, 13 / 8, 13 / 8, 13 / 8)]


def test_a_price_is_held_and_says_how_long(file: Path) -> None:
    """Two days after the last look it is confirmed (the source's max_age is 72 hours), five days after it is held."""
    assert on(file, "'2026-01-23'") == [("55.0400000000", 6.88, 2, True)]
    assert on(file, "'2026-01-26'") == [("55.0400000000", 6.88, 5, False)]


def test_a_gone_offer_had_a_price_until_then(file: Path) -> None:
    """An offer that a complete look did not show has no price from that moment."""
    assert [line[0] for line in on(file, "'2026-01-20 23:59:59'", "p4d.24xlarge")] == ["21.9600000000"]
    assert on(file, "'2026-01-21'", "p4d.24xlarge") == []


def test_no_moment_is_no_question(file: Path) -> None:
    """NULL is refused, as an empty answer would read as no prices."""
    with pytest.raises(duckdb.Error, match="moment must not be NULL"):
        on(file, "null")


def test_the_price_at_building_is_the_last_known(file: Path) -> None:
    """At the moment of building, the answer is int.accelerator_hour_price."""
    columns = "offer_id, unit_price, price_per_accelerator_hour_usd, valid_from, last_observed_at, source"
    built = f"{day(40):%Y-%m-%d %H:%M}"
    now = records(file, f"select {columns}, is_confirmed as now from mart.price_on('{built}') order by all")
    assert len(now) == 5
    assert now == records(file, f"select {columns}, is_current as now from int.accelerator_hour_price order by all")


def test_each_way_to_buy_has_its_own_cheapest(file: Path) -> None:
    """Each purchase option and length apart: per chip 6.88 on demand (20 days old), 3.75 spot, 4.50 and 3 on a plan."""
    lines = records(
        file,
        "select purchase_option, commitment_class, price_rank, cheapest_price_usd, is_current, round(age_days) as age "
        "from mart.cheapest('h100')",
    )
    assert [tuple(line.values()) for line in lines] == [
        ("on_demand", "none", 1, 6.88, False, 20),
        ("savings_plan", "one_year", 1, 4.5, True, 0),
        ("savings_plan", "three_years", 1, 3, True, 0),
        ("spot", "interruptible", 1, 3.75, True, 0),
    ]


def test_prices_within_the_limit_of_age_come_first(put: Put) -> None:
    """A cheaper price that nobody confirmed for 91 days has no rank and stands behind a newer one; at 90 it has one."""
    other = {"accelerator_label": "H100 SXM", "accelerator_count": "8", "capacity_unit": "GPU"}
    file = put(
        seen(0, "aws_price_list", row(P5, "55.04")),
        *(seen(at, "aws_savings_plans", row(None, "8", service_provider_name=name, **other), scope=name)
          for at, name in ((0, "Older"), (1, "Old"))),
        seen(90.9, "aws_price_list", row(P5, "55.04")),
        at=91,
    )  # fmt: skip
    lines = records(file, "from mart.cheapest('H100') where purchase_option = 'on_demand'")
    assert [(line["price_rank"], line["service_provider_name"], line["cheapest_price_usd"]) for line in lines] == [
        (1, "Old", 1), (2, "AWS", 6.88), (None, "Older", 1),
    ]  # fmt: skip
    assert [line["is_ranked"] for line in lines] == [True, True, False]


def test_an_unknown_chip_is_an_error(file: Path) -> None:
    """A misspelt chip is refused by its name; one that nobody sells here is known, and has no rows."""
    with pytest.raises(duckdb.Error, match="no chip is named H1000; the nearest: H100, "):
        records(file, "from mart.cheapest('H1000')")
    assert records(file, "from mart.cheapest('Trainium2')") == []


def test_macros_work_after_use_and_not_through_a_name(file: Path) -> None:
    """As docs/querying.md says: an attached file answers once it is in use."""
    with duckdb.connect() as con:
        con.execute(f"attach '{file}' as prices (read_only)")
        with pytest.raises(duckdb.Error):
            con.execute("from prices.mart.cheapest('H100')")
        con.execute("use prices")
        assert len(con.execute("from mart.cheapest('H100')").fetchall()) == 4
        assert len(con.execute("from mart.price_on('2026-01-01')").fetchall()) == 2
