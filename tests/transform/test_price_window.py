"""Windows of a price, how wrong forecasts of it were, and when a machine was last to be had: what decisions read."""

from pathlib import Path

import duckdb
import pytest
from cost_file import P5, lines
from looks import row as seen_row
from purchase import putting, seen

from transform.models import SQL


def test_no_change_is_beaten_by_no_forecast_or_the_table_says_so(tmp_path: Path) -> None:
    """A price that stands for 30 months: all errors are 0, every ratio is in the band, and no forecast is better."""
    with putting(tmp_path, asked=("price_window", "price_backtest")) as put:
        file = put(*(seen(30.5 * n, "aws_price_list", seen_row(P5, "55.04")) for n in (0, 29)), at=30.5 * 29)
    windows = lines(file, "from mart.price_window(3)")
    (found,) = lines(file, "from mart.price_backtest(3)")

    assert {(row["end_ratio"], row["mean_ratio"]) for row in windows} == {(1.0, 1.0)}
    assert found["mean_error_no_change"] == found["mean_error_past_mean"] == 0
    assert (found["coverage_80"], found["is_forecast_better"], found["n_moved"]) == (1, False, 0)


FELL_ON = {"First": 608, "Third": 610, "Spheron": 608}
"""Providers, and the day on which what they ask for H100 falls; the last is a marketplace."""


def test_a_fall_is_a_window_and_an_error(tmp_path: Path) -> None:
    """From 98.32 to 55.04 on the first of September, or the third: three windows of three months hold it, of those that
    end on or after that day; "no change" was wrong there. What a marketplace asks is no list's price."""
    looks = []
    for provider, fell_on in FELL_ON.items():
        asked = {"service_provider_name": provider, "accelerator_label": "NVIDIA H100 SXM", "accelerator_count": "8"}
        for on, usd in ((0, "98.32"), (fell_on - 30, "98.32"), (fell_on, "55.04"), (884, "55.04")):
            looks.append(seen(on, "aws_price_list", seen_row(None, usd, **asked), scope=provider))
    with putting(tmp_path, asked=("price_window", "price_backtest")) as put:
        file = put(*sorted(looks, key=lambda each: each.observed_at), at=884)
    moved = lines(file, "from mart.price_window(3) where end_ratio <> 1 order by service_provider_name, starts_on")
    (found,) = lines(file, "from mart.price_backtest(3)")

    assert {round(row["end_ratio"], 6) for row in moved} == {round(55.04 / 98.32, 6)}
    assert [(row["service_provider_name"], row["starts_on"].year, row["starts_on"].month) for row in moved] == [
        *(("First", 2027, month) for month in (6, 7, 8)), *(("Third", 2027, month) for month in (7, 8, 9)),
    ]  # fmt: skip
    assert found["n_moved"] == 6
    assert found["mean_error_no_change"] > 0
    assert found["is_forecast_better"] == (found["mean_error_past_mean"] < found["mean_error_no_change"])


def test_windows_and_errors_are_the_same_in_any_order_of_rows() -> None:
    """To the last digit: seven machines of a provider, of which each price moves by itself in every month."""
    prices = [
        (machine, 12 * year + month, round(1 + (machine * 7919 + (12 * year + month) * 104729) % 97 / 89, 4))
        for machine in range(7)
        for year in range(3)
        for month in range(12)
    ]
    found = []
    for rows in (prices, prices[::-1]):
        with duckdb.connect() as con:
            con.execute("create schema core; create schema log; create schema mart; set threads = 1")
            con.execute("create table price (offer_id BIGINT, n BIGINT, unit_price DECIMAL(18, 10))")
            con.executemany("insert into price values (?, ?, ?)", rows)
            con.execute(
                "create table log.price_link as select offer_id as offer_no, unit_price, TIMESTAMP '2020-01-01' + "
                "to_months(n::INTEGER) as valid_from, valid_from + interval 1 month as valid_to, "
                "valid_to as last_observed_at from price; "
                "create table core.offer as select distinct 'A' as service_provider_name, offer_id, "
                "offer_id as offer_no, 'on_demand' as purchase_option, 'price' as statistic, "
                "'List' as unit_price_type, null::VARCHAR as restriction from price; "
                "create view core.market_offer as select 7 as offer_id; "
                "create table core.offer_unit as select distinct offer_id, 'H100' as accelerator_name from price"
            )
            for name in ("price_window", "price_backtest"):
                text = (SQL / f"{name}.sql").read_text()
                con.execute(f"create macro mart.{name}(months_asked) as table {text}")
            with pytest.raises(duckdb.Error, match="months_asked must be 1 or more"):
                con.execute("from mart.price_window(0)")
            windows = con.execute("from mart.price_window(3) order by starts_on").fetchall()
            singly = [row for n in (3, 6) for row in con.execute(f"from mart.price_backtest({n})").fetchall()]
            assert con.execute("from mart.price_backtest([3, 6]) order by months").fetchall() == singly
            found.append((windows, singly))
    assert len(found[0][0]) > 24
    assert [months for months, *_ in found[0][1]] == [3, 6]
    assert found[0] == found[1]


def test_obtainable_is_a_count_a_word_or_a_block() -> None:
    """The last sight of each, and the last question where it was never there; a block refused is no answer."""
    sql = (SQL / "obtainable.sql").read_text()
    with duckdb.connect() as con:
        con.execute("create schema core; create schema ref")
        con.execute(
            "create table core.availability as select * from (values "
            "('A', 'x', 'H100', 'on_demand', 0, null, null, timestamp '2026-01-02'), "
            "('A', 'x', 'H100', 'on_demand', 3, null, null, timestamp '2026-01-01'), "
            "('B', 'y', 'H100', 'spot', null, null, 'Low', timestamp '2026-01-01'), "
            "('C', 'z', 'H100', 'on_demand', null, null, 'not available', timestamp '2026-01-03')"
            ") as t (service_provider_name, instance_type, accelerator_label, purchase_option, n_machines, "
            "n_accelerators, stock_status, observed_at)"
        )
        con.execute(
            "create table core.offer as select distinct service_provider_name, instance_type, accelerator_label, "
            "purchase_option, hash(service_provider_name) as offer_id from core.availability"
        )
        con.execute("create table core.offer_unit as select offer_id, 'H100' as accelerator_name from core.offer")
        con.execute(
            "create table ref.current_instance_type as select 'p5' as instance_type, 'H100' as accelerator_name"
        )
        con.execute(
            "create table core.capacity_block_answer as select * from (values "
            "('p5', 'cb-1', null, timestamp '2026-01-05'), ('p5', '', null, timestamp '2026-01-06'), "
            "('p5', '', 'UnauthorizedOperation', timestamp '2026-01-07')"
            ") as t (instance_type, capacity_block_offering_id, answer_error, observed_at)"
        )
        found = con.execute(f"select service_provider_name, purchase_option, last_obtainable_at::DATE::VARCHAR, "
                            f"last_asked_at::DATE::VARCHAR from ({sql}) order by 1").fetchall()  # fmt: skip
    assert found == [
        ("A", "on_demand", "2026-01-01", "2026-01-02"),
        ("AWS", "capacity_block", "2026-01-05", "2026-01-06"),
        ("B", "spot", "2026-01-01", "2026-01-01"),
        ("C", "on_demand", None, "2026-01-03"),
    ]
