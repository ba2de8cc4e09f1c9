"""What the drift index must be whatever the prices are: drawn panels, each rule a property."""

from collections.abc import Iterator, Sequence
from itertools import islice
from math import exp, fsum, log
from typing import TypeVar

import duckdb
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from index_panel import Offer, Panel, indices, load, panels

N = 6
EXAMPLES = settings(max_examples=2, deadline=None, phases=(Phase.generate,))
"""The plainest example and a drawn one, each of N panels side by side, as the marts take long and panels little.

What fails is not made smaller, which would take minutes.
"""
OFFERS: list[Offer] = [("a", "H100", 1), ("a", "H100", 2), ("a", "B200", 3), ("b", "H100", 4), ("b", "H200", 5)]
PRICE = st.integers(min_value=20, max_value=2000).map(lambda cents: cents / 100)
DAYS = 12
T = TypeVar("T")


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a database of panels."""
    with panels() as con:
        yield con


def several(drawn: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    """Draw N at once."""
    return st.lists(drawn, min_size=N, max_size=N)


def loaded(con: duckdb.DuckDBPyConnection, *side_by_side: Panel) -> list[list[float]]:
    """Return the index of each panel."""
    load(con, *side_by_side)
    return indices(con, len(side_by_side))


@st.composite
def baskets(draw: st.DrawFn) -> dict[Offer, list[float | None]]:
    """Draw a fixed basket: every offer has a price on each day, which often stays."""
    panel: dict[Offer, list[float | None]] = {}
    for offer in OFFERS:
        prices = [draw(PRICE)]
        for _ in range(DAYS - 1):
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


def shown(panel: Panel, offer: Offer, first: int, week: Sequence[float | None]) -> Panel:
    """Return a panel in which an offer is shown so for a week at most, and then at its price of before."""
    prices = panel[offer]
    return {**panel, offer: [*prices[:first], *week, prices[first - 1], *prices[first + len(week) + 1 :]]}


@EXAMPLES
@given(
    several(
        st.tuples(
            baskets(), st.floats(min_value=0.1, max_value=10), st.integers(1, DAYS - 1),
            st.sampled_from(OFFERS), st.integers(1, 4), st.integers(1, 7),
        )
    )
)  # fmt: skip
def test_any_basket(con: duckdb.DuckDBPyConnection, drawn: list[tuple[Panel, float, int, Offer, int, int]]) -> None:
    """What holds of the index of any prices, of all of which the marts are made at once.

    The chain gives on each day what the day's prices give against the first day's; all prices x k from one day on are
    the index of those days x k; the same days in reverse order undo it; whatever prices do between two days on which
    all are the same, it returns; and seven days of absence are held.
    """
    panels = [panel for panel, *_ in drawn]
    scaled = [
        {offer: [*prices[:since], *(p and p * factor for p in prices[since:])] for offer, prices in panel.items()}
        for panel, factor, since, *_ in drawn
    ]
    back = [{offer: prices[::-1] for offer, prices in panel.items()} for panel in panels]
    there = [{offer: [*prices[:-2], prices[0], prices[0]] for offer, prices in panel.items()} for panel in panels]
    whole = [shown(panel, offer, first, [panel[offer][first - 1]] * n) for panel, *_, offer, first, n in drawn]
    gap = [shown(panel, offer, first, [None] * n) for panel, *_, offer, first, n in drawn]
    found = iter(loaded(con, *panels, *scaled, *back, *there, *whole, *gap))
    plain, scaled_index, back_index, there_index, whole_index, gap_index = (list(islice(found, N)) for _ in range(6))
    for (panel, factor, since, *_), index, other in zip(drawn, plain, scaled_index, strict=True):
        assert index == pytest.approx([100 * mean_relative(panel, 0, at) for at in range(DAYS)], rel=1e-11)
        assert other == pytest.approx(
            [value * (factor if at >= since else 1) for at, value in enumerate(index)], rel=1e-11
        )
    undone = [one[-1] * other[-1] for one, other in zip(plain, back_index, strict=True)]
    assert undone == pytest.approx([100 * 100] * N, rel=1e-12)
    assert [index[-1] for index in there_index] == pytest.approx([100] * N, rel=1e-12)
    assert gap_index == whole_index


@EXAMPLES
@given(several(st.lists(st.tuples(PRICE, st.integers(0, DAYS - 1), st.integers(1, DAYS)), min_size=1, max_size=8)))
def test_coming_and_going_is_no_drift(
    con: duckdb.DuckDBPyConnection, drawn: list[list[tuple[float, int, int]]]
) -> None:
    """Offers of any price that come, go, and come back at their price leave an unmoved basket at 100."""
    every = []
    for others in drawn:
        panel: dict[Offer, list[float | None]] = {("a", "H100", 0): [2.0] * DAYS}
        for number, (price, first, n) in enumerate(others):
            shown = [price if first <= at < first + n else None for at in range(DAYS)]
            if any(shown):
                panel[(*OFFERS[number % 5][:2], number + 1)] = shown
        every.append(panel)
    assert loaded(con, *every) == [[100] * DAYS] * N


@EXAMPLES
@given(several(baskets()), st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(con: duckdb.DuckDBPyConnection, drawn: list[Panel], seed: int) -> None:
    """To the last bit."""
    everything = "from int.price_index order by all"
    load(con, *drawn)
    plain = con.execute(everything).fetchall()
    load(con, *drawn, shuffled=seed)
    assert con.execute(everything).fetchall() == plain
