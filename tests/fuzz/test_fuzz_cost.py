"""What the formulas of cost must be whatever the numbers: monotone, of one unit, and undone by their inverse."""

from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transform.formula import create_formulas

EXAMPLES = settings(max_examples=25, deadline=None)
PRICE = st.floats(0.01, 1000)
RATE = st.floats(1, 1e6)
CHIPS = st.integers(1, 512)
SHARE = st.floats(0.05, 1)
MORE = st.floats(1.001, 100)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        create_formulas(connection)
        yield connection


def cost(con: duckdb.DuckDBPyConnection, name: str, *numbers: float) -> float:
    places = ", ".join("?::DOUBLE" for _ in numbers)
    found = con.execute(f"select cost.{name}({places})", list(numbers)).fetchone()
    assert found is not None
    return float(found[0])


@EXAMPLES
@given(PRICE, CHIPS, RATE, SHARE, MORE)
def test_a_token_costs_in_proportion(
    con: duckdb.DuckDBPyConnection, price: float, chips: int, rate: float, share: float, more: float
) -> None:
    """Twice the price is twice the cost; twice the rate, or the share of it that is served, is half."""
    plain = cost(con, "usd_per_million_tokens", price, chips, rate, share)

    assert cost(con, "usd_per_million_tokens", price * more, chips, rate, share) == pytest.approx(plain * more)
    assert cost(con, "usd_per_million_tokens", price, chips, rate * more, share) == pytest.approx(plain / more)
    assert cost(con, "usd_per_million_tokens", price, chips, rate, share / more) == pytest.approx(plain * more)
    assert cost(con, "usd_per_million_tokens", price * more, chips, rate, share) > plain


@EXAMPLES
@given(PRICE, CHIPS, RATE, SHARE)
def test_money_is_conserved(
    con: duckdb.DuckDBPyConnection, price: float, chips: int, rate: float, share: float
) -> None:
    """What the tokens of an hour cost together is what the machine costs for the hour."""
    per_million = cost(con, "usd_per_million_tokens", price, chips, rate, share)

    assert per_million * rate * share * 3600 / 1e6 == pytest.approx(price * chips)


@EXAMPLES
@given(PRICE, CHIPS, RATE)
def test_the_rate_to_beat_undoes_the_cost(
    con: duckdb.DuckDBPyConnection, price: float, chips: int, rate: float
) -> None:
    """At the rate that a hosted price asks for, the machine costs just that price."""
    hosted = cost(con, "usd_per_million_tokens", price, chips, rate, 1)

    assert cost(con, "rate_to_beat", price, chips, hosted, 1) == pytest.approx(rate)


@EXAMPLES
@given(st.integers(1, 10_000), st.integers(1, 72))
def test_whole_machines_work_at_most_whole(con: duckdb.DuckDBPyConnection, chips: int, per_machine: int) -> None:
    """The share of rented chips that work is all of them at most, and never none."""
    share = cost(con, "working_share", chips, per_machine)

    assert 0 < share <= 1
    assert share == 1 or chips % per_machine
