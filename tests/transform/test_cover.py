"""The cover that costs least: equal to trying everything, monotone where it must be, and sums worked out by hand."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transform import cover
from transform.cover import SWANSON, Demand, Market, Owned, Size, Term

YEAR, THREE_YEARS = 365, 1095
few = settings(max_examples=40, deadline=None)
cents = st.integers(1, 400).map(lambda n: n / 100)


@st.composite
def markets(draw: st.DrawFn, days: int = 3, n_terms: int = 2) -> Market:
    """Give a market of a few days, whose terms may outlast it."""
    terms = draw(st.lists(st.tuples(st.integers(1, 4), cents), min_size=1, max_size=n_terms))
    levels = draw(st.lists(st.integers(2, 15), min_size=days - 1, max_size=days - 1))
    return Market(
        on_demand=draw(cents),
        terms=tuple(Term(name=f"{i}", days=length, hourly=price) for i, (length, price) in enumerate(terms)),
        levels=(1.0, *(level / 10 for level in levels)),
    )


@st.composite
def demands(draw: st.DrawFn, machines: int = 2) -> Demand:
    """Give shares of hours in which 0, 1/2, 1 ... machines run."""
    parts = draw(st.lists(st.integers(0, 5), min_size=2 * machines + 1, max_size=2 * machines + 1).filter(any))
    return tuple((part / sum(parts), i / 2) for i, part in enumerate(parts))


owned_ones = st.lists(st.builds(Owned, st.integers(1, 2), st.integers(0, 4)), max_size=2)


def by_brute_force(market: Market, demand: Demand, owned: list[Owned], machines: int) -> float:
    """Return the cost of a size over every way to buy, counting what runs on each day."""
    days = range(market.days)
    ways = list(itertools.product(range(len(market.terms)), days))
    held = [sum(each.machines for each in owned if each.days > day) for day in days]
    least = math.inf
    for counts in itertools.product(range(machines + 1), repeat=len(ways)):
        active, paid = list(held), 0.0
        for n, (which, start) in zip(counts, ways, strict=True):
            term = market.terms[which]
            paid += n * term.hourly * market.levels[start] * 24 * term.days
            for day in range(start, min(start + term.days, market.days)):
                active[day] += n
        if all(n >= machines for n in active):
            least = min(least, paid)
    beyond = sum(
        24 * market.levels[day] * market.on_demand
        * sum(share * max(runs - max(machines, held[day]), 0) for share, runs in demand)
        for day in days
    )  # fmt: skip
    return least + beyond


@few
@given(markets(), demands(), owned_ones)
def test_every_size_costs_what_the_cheapest_of_all_ways_costs(
    market: Market, demand: Demand, owned: list[Owned]
) -> None:
    """Purchases are searched exhaustively, term by term and day by day; the best size is the least of them all."""
    found = cover.sizes(market, demand, owned)
    expected = [by_brute_force(market, demand, owned, size.machines) for size in found]

    assert [size.cost for size in found] == pytest.approx(expected)
    assert cover.best(found).cost == pytest.approx(min(expected))
    assert [size.machines for size in found] == list(range(cover.most(demand) + 1))


@few
@given(markets(days=8), demands(machines=4), owned_ones, st.integers(0, 8), st.floats(0, 1))
def test_more_use_never_lowers_the_best_cover(
    market: Market, demand: Demand, owned: list[Owned], which: int, share: float
) -> None:
    """Some of the hours of one level of use become hours in which everything runs."""
    hours, runs = demand[which]
    more = (*demand[:which], (hours * (1 - share), runs), *demand[which + 1 :], (hours * share, 4.0))

    before = cover.best(cover.sizes(market, demand, owned, at_least=4))
    after = cover.best(cover.sizes(market, more, owned, at_least=4))

    assert before.machines <= after.machines


@few
@given(markets(days=8), demands(machines=3), owned_ones, st.integers(0, 9), st.floats(0.1, 1))
def test_a_price_fall_never_raises_the_best_cost(
    market: Market, demand: Demand, owned: list[Owned], which: int, ratio: float
) -> None:
    """On demand, a term, or all prices of one day become cheaper."""
    levels, terms = list(market.levels), list(market.terms)
    on_demand = market.on_demand
    if which == 0:
        on_demand *= ratio
    elif which == 1:
        terms[0] = Term(name=terms[0].name, days=terms[0].days, hourly=terms[0].hourly * ratio)
    else:
        levels[which - 2] *= ratio
    fallen = Market(on_demand=on_demand, terms=tuple(terms), levels=tuple(levels))

    before, after = (cover.best(cover.sizes(each, demand, owned)).cost for each in (market, fallen))
    assert after <= before + 1e-9 * before


@few
@given(markets(days=6), demands(machines=3), owned_ones)
def test_a_size_costs_the_same_when_things_come_as_planned(market: Market, demand: Demand, owned: list[Owned]) -> None:
    """What a size costs in a case is what it was found to cost, if the case is the plan; no regret is below zero."""
    found = cover.sizes(market, demand, owned)
    assert [cover.cost_in(size, market, demand, owned) for size in found] == pytest.approx([s.cost for s in found])
    (regret,) = cover.regrets(found, market, {"as planned": demand}, owned).values()
    assert min(regret) == 0
    assert regret[found.index(cover.best(found))] == pytest.approx(0, abs=1e-6)


P5 = Market(
    on_demand=55.04,
    terms=(Term(name="one year", days=YEAR, hourly=40), Term(name="three years", days=THREE_YEARS, hourly=25)),
    levels=cover.moved(0, THREE_YEARS),
)


def cost_of(size: int, market: Market, demand: Demand, *owned: Owned) -> Size:
    return cover.sizes(market, demand, owned)[size]


def test_six_p5_at_seventy_percent() -> None:
    """All or none run, 70 % of 26,280 hours: six on demand, six committed for three years, and three of each."""
    demand = cover.together(6, 0.7)
    hours = 26_280

    assert cost_of(0, P5, demand).cost == pytest.approx(6 * 0.7 * hours * 55.04)  # 6,075,095.04
    assert cost_of(0, P5, demand).cost == pytest.approx(6_075_095.04)
    assert cost_of(6, P5, demand).cost == pytest.approx(6 * hours * 25)  # 3,942,000
    assert cost_of(3, P5, demand).cost == pytest.approx((6_075_095.04 + 3_942_000) / 2)
    assert cover.best(cover.sizes(P5, demand)).machines == 6
    assert cover.unused_share(cost_of(6, P5, demand), demand) == pytest.approx(0.3)


def test_the_critical_ratio() -> None:
    """A term at 25 pays above a share of 25 / 55.04 = 0.4542 of the hours, and not below."""
    sizes = {share: cover.best(cover.sizes(P5, cover.together(6, share))).machines for share in (0.4541, 0.4543)}
    assert sizes == {0.4541: 0, 0.4543: 6}


def test_use_that_comes_in_steps_is_covered_up_to_the_step_that_pays() -> None:
    """Two machines always, four for half of the hours, six for a tenth: the fifth and sixth stay on demand."""
    demand = ((0.5, 2.0), (0.4, 4.0), (0.1, 6.0))
    assert cover.use_of_each(demand, 6) == pytest.approx([1, 1, 0.5, 0.5, 0.1, 0.1])
    assert cover.best(cover.sizes(P5, demand)).machines == 4


def test_a_fall_after_the_purchase_makes_three_years_a_loss() -> None:
    """44 % off on the second day: 6 x 25 an hour for three years against 55.04 for one day and 30.82 after it."""
    fallen = Market(on_demand=55.04, terms=P5.terms, levels=cover.moved(-0.44, THREE_YEARS))
    demand = cover.together(6, 0.7)
    bought = cost_of(6, P5, demand)

    assert cover.cost_in(bought, fallen, demand) == pytest.approx(3_942_000)
    regret = cover.regrets(cover.sizes(P5, demand), fallen, {"fallen": demand})["fallen"]
    on_demand = 6 * 0.7 * 24 * 55.04 * (1 + 1094 * 0.56)
    assert regret[0] == 0
    assert regret[6] == pytest.approx(3_942_000 - on_demand)  # 537,505 lost by having committed
    assert cover.best(cover.sizes(P5, cover.together(6, 0.3))).machines == 0


def test_what_is_owned_is_used_first_and_followed_up() -> None:
    """Six are owned for 30 days: nothing is bought before they end, and sizes below six cost nothing till then."""
    demand = cover.together(6, 1)
    none, _, _, three, _, _, six = cover.sizes(P5, demand, [Owned(6, 30)])

    rest = THREE_YEARS - 30
    assert none.cost == pytest.approx(6 * 24 * rest * 55.04)
    assert [(each.day, each.machines, each.term.name) for each in six.purchases] == [(30, 6, "three years")]
    assert six.cost == pytest.approx(6 * 24 * THREE_YEARS * 25)  # charged whole, 30 days beyond the horizon
    assert three.cost == pytest.approx((none.cost + six.cost) / 2)


def test_a_chain_of_years_where_prices_fall() -> None:
    """At 30 % less each year, three terms of one year are cheaper than one of three: 40 + 29.6 + 21.9 < 3 x 33."""
    terms = (Term(name="one year", days=YEAR, hourly=40), Term(name="three years", days=THREE_YEARS, hourly=33))
    market = Market(on_demand=55.04, terms=terms, levels=cover.drifting(-0.3, THREE_YEARS))
    (_, one) = cover.sizes(market, cover.together(1, 1))

    assert [(each.day, each.term.name) for each in one.purchases] == [
        (0, "one year"), (YEAR, "one year"), (2 * YEAR, "one year"),
    ]  # fmt: skip
    assert one.committed == pytest.approx(40 * 8760 * (1 + math.exp(-0.3) + math.exp(-0.6)))


def test_nothing_to_buy_leaves_on_demand_and_what_is_owned() -> None:
    """Without terms there is one size of new cover: none."""
    market = Market(on_demand=2, terms=(), levels=(1.0,) * 10)
    (size,) = cover.sizes(market, cover.level(2, 1))
    assert (size.machines, size.cost) == (0, 2 * 2 * 240)
    assert [s.machines for s in cover.sizes(market, cover.level(2, 1), [Owned(1, 10)])] == [0, 1]


def test_three_points_of_use_weigh_three_four_three() -> None:
    """Low, likely and high use mix as Swanson's rule has it."""
    demand = cover.mixed([cover.together(2, share) for share in (0.2, 0.5, 0.9)], SWANSON)
    assert cover.use_of_each(demand, 2) == pytest.approx([0.3 * 0.2 + 0.4 * 0.5 + 0.3 * 0.9] * 2)
    assert cover.horizon_days(36) == THREE_YEARS
