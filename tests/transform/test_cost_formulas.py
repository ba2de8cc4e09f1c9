"""The formulas of cost, each against a number worked out by hand, and what they refuse."""

import math
from collections.abc import Iterator

import duckdb
import pytest

from transform.formula import SQL, create_formulas


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        create_formulas(connection)
        yield connection


def value(con: duckdb.DuckDBPyConnection, call: str) -> object:
    """Return what a macro of cost gives."""
    row = con.execute(f"select cost.{call}").fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("working_share(8, 8)", 1),
        ("working_share(3, 8)", 0.75),
        ("working_share(12, 16)", 0.75),
        ("working_share(20, 8)", 20 / 24),
        ("paid_rate(6.88, 0.8)", 8.6),
        ("usd_per_million_tokens(55.04, 1, 12000, 0.5)", 55.04e6 / 3600 / 6000),
        ("usd_per_million_tokens(6.88, 8, 12000, 0.5)", 55.04e6 / 3600 / 6000),
        # 4 chips read 1,000 tokens/s and 16 generate 500: 0.004 against 0.032 chip-seconds a token
        ("measured_input_weight(4, 1000, 16, 500)", 0.125),
        ("interpolated(25, 20, 160, 40, 80)", 140),
        ("interpolated(20, 20, 160, 20, 160)", 160),
        ("monthly(21.50)", 15695),
        ("blended(1, 4, 3)", 1.75),
        ("price_to_beat(0.61, 1, 1500, 1)", 3.294),
        ("rate_to_beat(4.54, 1, 0.61, 1)", 4.54e6 / 3600 / 0.61),
        ("training_usd_per_million(6.88, 815.6, 0.1, 0.8)", 6.88e6 * 1.1 / 3600 / 815.6 / 0.8),
        ("training_hours(1e12, 256, 815.6, 0, 1)", 1e12 / 256 / 815.6 / 3600),
        ("accelerators_for_load(1e7, 8, 10, 0.5)", 24),  # 23.1 chips
        ("usable_share('AWS', 'capacity_block', 48, 'p5.48xlarge')", 47.5 / 48),
        ("usable_share('AWS', 'capacity_block', null, 'u-trn2x64')", 23.5 / 24),
        # an hour before the end of a block, instances of a P6e-GB200 UltraServer must be ended
        ("usable_share('AWS', 'capacity_block', null, 'u-p6e-gb200x72')", 23 / 24),
        ("usable_share('AWS', 'on_demand', null, 'p5.48xlarge')", 1),
        ("block_hours(23.5)", 24),
        ("block_hours(23.5, 'u-p6e-gb200x72')", 48),
        ("block_hours(335.5, 'p5.48xlarge')", 336),
        ("block_hours(336, 'p5.48xlarge')", 504),
        # A band of 5 to 10 % a month: 10 % is -ln(0.9) = 0.105 interruptions in 730 hours
        ("interruptions_per_hour(0.1)", -math.log(0.9) / 730),
        # 16 machines, each interrupted every 1,000 hours, lose 0.75 h each time; 36 s of writing every hour
        ("spot_loss_share(0.001, 16, 1, 0.25, 0.01)", 16 * 0.001 * 0.75 + 0.01),
        ("serving_loss_share(0.001, 0.1, 0.4)", 0.0005),
    ],
)
def test_formulas(con: duckdb.DuckDBPyConnection, call: str, expected: float) -> None:
    assert value(con, call) == pytest.approx(expected)


@pytest.mark.parametrize(
    "call",
    [
        "usd_per_million_tokens(null, 1, 1500, 1)", "usd_per_million_tokens(1, 1, null, 1)",
        "usd_per_million_tokens(1, 1, 1500, 0)", "paid_rate(1, 0)",
    ],
)  # fmt: skip
def test_unknown_and_never_have_no_cost(con: duckdb.DuckDBPyConnection, call: str) -> None:
    """What is unknown, serves nothing or loses everything costs NULL: never 0 and never infinity."""
    assert value(con, call) is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("usd_per_million_tokens(0, 1, 1500, 1)", "paid_rate_usd must be above 0"),
        ("usd_per_million_tokens(1, 1, 1500, 1.1)", "utilisation must be from 0 to 1"),
        ("paid_rate(1, -0.1)", "running_share must be from 0 to 1"),
        ("spot_loss_share(0.001, 16, 0, 0.25, 0.01)", "checkpoint_interval_hours must be above 0"),
    ],
)
def test_what_cannot_be_is_refused(con: duckdb.DuckDBPyConnection, call: str, said: str) -> None:
    with pytest.raises(duckdb.InvalidInputException, match=said):
        value(con, call)


def test_every_file_is_a_macro_with_a_comment(con: duckdb.DuckDBPyConnection) -> None:
    """No formula lies unused in the folder, and each says what it is."""
    made = con.execute("select function_name, comment from duckdb_functions() where schema_name = 'cost'").fetchall()

    assert {name for name, _ in made} == {path.name.removesuffix(".sql") for path in (SQL / "cost").iterdir()}
    assert all(comment for _, comment in made)
