"""What the drift index must be whatever the prices are: drawn panels, each rule a property."""

from collections.abc import Iterator
from math import exp, fsum, log

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_panel import Offer, Panel, index, load, panels

EXAMPLES = settings(max_examples=6, deadline=None)
OFFERS: list[Offer] = [("a", "H100", 1), ("a", "H100", 2), ("a", "B200", 3), ("b", "H100", 4), ("b", "H200", 5)]
PRICE = st.integers(min_value=20, max_value=2000).map(lambda cents: cents / 100)
DAYS = 8


@pytest.fixture(scope="module", params=["on_demand"])
def con(request: pytest.FixtureRequest) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a database of panels of one purchase option; a price of spot holds for the whole day here."""
    with panels(request.param) as con:
        yield con


@st.composite
def baskets(draw: st.DrawFn, days: int = DAYS) -> dict[Offer, list[float | None]]:
    """Draw a fixed basket: every offer has a price on each day, which often stays."""
    panel: dict[Offer, list[float | None]] = {}
    for offer in OFFERS:
        prices = [draw(PRICE)]
        for _ in range(days - 1):
            prices.append(draw(st.one_of(st.just(prices[-1]), PRICE)))
        panel[offer] = [*prices]
    return panel


def mean_relative(panel: Panel, first: int, last: int) -> float:
    """Return the drift between two days by its definition: over offers, then providers, then chips."""
    cells: dict[tuple[str, str], list[float]] = {}
    for (provider, chip, _), prices in panel.items():
        before, after = prices[first], prices[last]
        assert before is not None
        assert after is not None
        cells.setdefault((chip, provider), []).append(log(after / before))
    chips: dict[str, list[float]] = {}
    for (chip, _), logs in cells.items():
        chips.setdefault(chip, []).append(fsum(logs) / len(logs))
    means = [fsum(logs) / len(logs) for logs in chips.values()]
    return exp(fsum(means) / len(means))


@EXAMPLES
@given(baskets())
def test_a_fixed_basket_chained_is_the_direct_index(con: duckdb.DuckDBPyConnection, panel: Panel) -> None:
    """On each day the chain gives what the day's prices give against the first day's."""
    load(con, panel)
    assert index(con) == pytest.approx([100 * mean_relative(panel, 0, at) for at in range(DAYS)], rel=1e-11)


@EXAMPLES
@given(baskets(), st.floats(min_value=0.1, max_value=10), st.integers(min_value=1, max_value=DAYS - 1))
def test_all_prices_scaled_scale_the_index(
    con: duckdb.DuckDBPyConnection, panel: Panel, factor: float, since: int
) -> None:
    """All prices x k from one day on: the index of those days x k."""
    load(con, panel)
    plain = index(con)
    load(
        con, {offer: [*prices[:since], *(p and p * factor for p in prices[since:])] for offer, prices in panel.items()}
    )
    scaled = [value * (factor if at >= since else 1) for at, value in enumerate(plain)]
    assert index(con) == pytest.approx(scaled, rel=1e-11)


@EXAMPLES
@given(st.lists(st.tuples(PRICE, st.integers(0, DAYS - 1), st.integers(1, DAYS)), min_size=1, max_size=8))
def test_coming_and_going_is_no_drift(con: duckdb.DuckDBPyConnection, others: list[tuple[float, int, int]]) -> None:
    """Offers of any price that come, go, and come back at their price leave an unmoved basket at 100."""
    panel: dict[Offer, list[float | None]] = {("a", "H100", 0): [2.0] * DAYS}
    for number, (price, first, n) in enumerate(others):
        shown = [price if first <= at < first + n else None for at in range(DAYS)]
        if any(shown):
            panel[(*OFFERS[number % 5][:2], number + 1)] = shown
    load(con, panel)
    assert index(con) == [100] * DAYS


@EXAMPLES
@given(baskets())
def test_there_and_back_is_nothing(con: duckdb.DuckDBPyConnection, panel: Panel) -> None:
    """Whatever prices do between two days on which all are the same, the index returns."""
    load(con, {offer: [*prices, prices[0], prices[0]] for offer, prices in panel.items()})
    assert index(con)[-1] == pytest.approx(100, rel=1e-12)


@EXAMPLES
@given(baskets())
def test_forward_times_backward_is_one(con: duckdb.DuckDBPyConnection, panel: Panel) -> None:
    """The same days in reverse order undo the index."""
    load(con, panel)
    forward = index(con)[-1]
    load(con, {offer: prices[::-1] for offer, prices in panel.items()})
    assert forward * index(con)[-1] == pytest.approx(100 * 100, rel=1e-12)


@EXAMPLES
@given(baskets(days=12), st.sampled_from(OFFERS), st.integers(1, 4), st.integers(1, 7))
def test_a_gap_of_a_week_at_an_unchanged_price_changes_nothing(
    con: duckdb.DuckDBPyConnection, panel: dict[Offer, list[float | None]], offer: Offer, first: int, n: int
) -> None:
    """Seven days of absence are held."""
    prices = panel[offer]
    panel[offer] = [*prices[:first], *([prices[first - 1]] * n), prices[first - 1], *prices[first + n + 1 :]]
    load(con, panel)
    whole = index(con)
    panel[offer] = [*panel[offer][:first], *([None] * n), *panel[offer][first + n :]]
    load(con, panel)
    assert index(con) == whole


@EXAMPLES
@given(baskets(), st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(con: duckdb.DuckDBPyConnection, panel: Panel, seed: int) -> None:
    """To the last bit."""
    everything = "from int.price_index order by all"
    load(con, panel)
    plain = con.execute(everything).fetchall()
    load(con, panel, shuffled=seed)
    assert con.execute(everything).fetchall() == plain
