"""The formulas of decisions: against numbers worked out by hand, against brute force, and against one another."""

import math
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.decisions.break_even import INPUTS, in_memory
from flows.shared.query import rows

SUMS = in_memory()
PUBLISHED = dict(zip(INPUTS, (0.61, 0.28, 1e9, 3, 2, 150, 0, 0, 0, 0, 0, 12), strict=True))
"""Three weeks of two engineers at 150 USD an hour, from 0.61 to 0.28 USD a million, at a billion tokens a day."""


def numbers(low: float, high: float) -> st.SearchStrategy[float]:
    """Return numbers of some digits, so that what is tested is the formula and not the last bit of a double."""
    return st.integers(1, 1000).map(lambda part: low + (high - low) * part / 1000)


def or_zero(low: float, high: float) -> st.SearchStrategy[float]:
    return st.one_of(st.just(0.0), numbers(low, high))


MOVES = st.lists(
    st.fixed_dictionaries({
        "from_usd": numbers(0.05, 5), "to_usd": numbers(0.05, 5), "tokens_a_day": numbers(1e7, 1e11),
        "weeks": or_zero(1, 12), "engineers": numbers(1, 8), "engineer_hour": numbers(50, 300),
        "upkeep": or_zero(100, 20_000), "dual_weeks": or_zero(1, 8), "stranded": or_zero(1000, 200_000),
        "late_weeks": or_zero(1, 12), "late_usd": or_zero(100, 10_000), "horizon": numbers(3, 60),
    }),
    min_size=6, max_size=10,
)  # fmt: skip
"""Many moves at once: a question costs more than a row."""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("decision.engineering_cost(3, 2, 150)", 36_000),
        ("decision.months_of_weeks(730)", 168),
        ("decision.million_tokens_per_month(24e6)", 730),
        ("decision.monthly_spend(24e6, 0.5)", 365),
        ("decision.dual_running_cost(0, null)", 0),
        ("decision.dual_running_cost(5, 7300)", 8400),
        ("decision.delay_cost(3, 1000)", 3000),
        ("decision.one_off_cost(36000, 8400, 500, 3000)", 47_900),
        ("decision.upkeep_per_month(5, 4, 150)", 2000),
        ("decision.wait_months(3, 2, 1)", 6 * 168 / 730),
        ("decision.hosted_usd_per_million(0.5, 1.5, null, 3, 0)", 3),
        ("decision.hosted_usd_per_million(0.5, 1.5, 0.1, 3, 0.5)", 1.5 + 3 * 0.3),
        ("decision.hosted_usd_per_million(0.5, 1.5, null, 3, 0.5)", None),
        ("decision.break_even_tokens(36000, 0.33)", 36_000 / 0.33 * 1e6),
        ("decision.break_even_tokens(36000, 0)", None),
        ("decision.tokens_to_pay_units(2, 3650, 1)", 240e6),
        ("decision.last_gap(50, 100)", 1),
        ("decision.last_gap(60, 100)", 2),
        ("decision.last_gap(100, 100)", None),
        ("decision.precision_class('nvfp4')", 4),
        ("decision.precision_class('mxfp4')", 4),
        ("decision.precision_class('mxfp6')", 6),
        ("decision.precision_class('mxfp8')", 8),
        ("decision.precision_class('int8')", 8),
        ("decision.precision_class('bf16')", 16),
        ("decision.precision_class('mixed')", None),
        ("decision.commitment_class('on_demand', null)", "none"),
        ("decision.commitment_class('spot', 0)", "interruptible"),
        ("decision.commitment_class('capacity_block', null)", "under_a_year"),
        ("decision.commitment_class('reserved', 8759)", "under_a_year"),
        ("decision.commitment_class('reserved', 8760)", "one_year"),
        ("decision.commitment_class('commitment', 2 * 8760)", "two_years"),
        ("decision.commitment_class('commitment', 3 * 8760)", "three_years"),
        ("decision.commitment_class('commitment', 5 * 8760)", "longer"),
        ("decision.commitment_class('reserved', null)", None),
    ],
)
def test_formulas(call: str, expected: object) -> None:
    (row,) = rows(SUMS.con, f"select {call} as found", [])

    assert row["found"] == (pytest.approx(expected) if isinstance(expected, int | float) else expected)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("decision.engineering_cost(-1, 2, 150)", "weeks must be 0 or more"),
        ("decision.break_even_tokens(-1, 2)", "one_off_usd must be 0 or more"),
        ("decision.hosted_usd_per_million(1, 1, 1, 1, 1.2)", "cached_share must be from 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused(call: str, said: str) -> None:
    with pytest.raises(duckdb.InvalidInputException, match=said):
        rows(SUMS.con, f"select {call}", [])


def test_the_sums_of_a_move() -> None:
    """Worked out by hand: 365 USD a month before, 146 after and 73 of upkeep, for 730 million tokens of a month."""
    month = PUBLISHED | {"from_usd": 0.5, "to_usd": 0.2, "tokens_a_day": 24e6, "upkeep": 73, "stranded": 1000}
    nothing = {"weeks": 0, "dual_weeks": 0}
    paid, late = SUMS.moves([month | nothing, month | nothing | {"late_weeks": 730 / 168 * 24, "horizon": 6}])

    names = "one_off_usd", "net_saving_usd_per_month", "saving_usd_per_million", "break_even_months", "staying_usd"
    assert [paid[name] for name in names] == pytest.approx([1000, 146, 0.2, 1000 / 146, 12 * 365])
    assert paid["moving_usd"] == pytest.approx(1000 + 12 * (146 + 73))
    assert late["moving_usd"] == pytest.approx(1000 + 6 * 365), "the old side until the horizon ends"
    assert late["months_from_start"] == pytest.approx(24 + 1000 / 146)
    assert (paid["move_verdict"], late["move_verdict"]) == ("pays", "too late")


@pytest.mark.parametrize(("name", "value"), [("horizon", 0), ("upkeep", -1), ("stranded", -1), ("late_usd", -1)])
def test_a_move_that_cannot_be_is_refused(name: str, value: float) -> None:
    with pytest.raises(duckdb.InvalidInputException, match="must be"):
        SUMS.moves([PUBLISHED | {name: value}])


def test_the_published_sum() -> None:
    """36,000 / (0.61 - 0.28) are 109 billion tokens: 109 days at a billion a day, 30 years at ten million."""
    fast, slow, any_load = SUMS.moves(
        [PUBLISHED, PUBLISHED | {"tokens_a_day": 1e7}, PUBLISHED | {"tokens_a_day": None}]
    )

    assert fast["one_off_usd"] == 36_000
    assert fast["break_even_tokens"] == pytest.approx(109e9, rel=0.001)
    assert fast["break_even_months"] * 730 / 24 == pytest.approx(109, abs=0.1)
    assert slow["break_even_months"] / 12 == pytest.approx(30, abs=0.2)
    assert (fast["move_verdict"], slow["move_verdict"]) == ("pays", "too late")
    assert any_load["break_even_tokens"] == fast["break_even_tokens"]
    assert (any_load["break_even_months"], any_load["move_verdict"]) == (None, None)


@settings(max_examples=12, deadline=None)
@given(MOVES, numbers(0.5, 0.999))
def test_more_saving_never_lengthens_it(moves: list[dict[str, float]], share: float) -> None:
    """A cheaper new side pays no later, after no more tokens, from no higher spend, and gains no less."""
    found = SUMS.moves([*moves, *(move | {"to_usd": move["to_usd"] * share} for move in moves)])

    for one, other in zip(found[: len(moves)], found[len(moves) :], strict=True):
        assert other["gain_usd"] >= one["gain_usd"]
        for name in ("break_even_months", "break_even_tokens", "spend_to_pay_usd_per_month"):
            assert one[name] is None or other[name] <= one[name] * (1 + 1e-9)


@settings(max_examples=12, deadline=None)
@given(MOVES)
def test_tokens_months_and_curves_agree(moves: list[dict[str, float]]) -> None:
    """Tokens x saving is the one-off cost; the curves of both costs cross at months_from_start, and nowhere else."""
    rows = SUMS.moves(moves)
    paying = [(move, row) for move, row in zip(moves, rows, strict=True) if row["break_even_months"] is not None]
    ends = SUMS.moves([
        move | {"horizon": max(row["months_from_start"], 1e-6) * factor}
        for move, row in paying for factor in (0.999, 1, 1.001)
    ])  # fmt: skip

    assert {row["move_verdict"] for row in rows if row["break_even_months"] is None} <= {"never"}
    for (move, row), early, there, late in zip(paying, ends[::3], ends[1::3], ends[2::3], strict=True):
        assert row["break_even_tokens"] * row["saving_usd_per_million"] / 1e6 == pytest.approx(row["one_off_usd"])
        assert row["break_even_months"] * move["tokens_a_day"] * 730 / 24 == pytest.approx(row["break_even_tokens"])
        if row["one_off_usd"] > 0:
            assert there["gain_usd"] == pytest.approx(0, abs=1e-9 * there["staying_usd"])
            assert (early["move_verdict"], late["move_verdict"]) == ("too late", "pays")


@settings(max_examples=6, deadline=None)
@given(MOVES)
def test_what_it_takes_to_pay(moves: list[dict[str, float]]) -> None:
    """At the cost, or the spend, that it takes to pay, moving and staying cost the same."""
    rows = SUMS.moves(moves)
    asked: list[dict[str, float]] = []
    for move, row in zip(moves, rows, strict=True):
        fixed = row["engineering_usd"] + row["stranded_usd"] + row["delay_usd"]
        terms = move["horizon"], row["wait_months"], move["dual_weeks"]
        for name, other in (("to", "from"), ("from", "to")):
            cost = SUMS.value(
                f"decision.{name}_cost_to_pay",
                *terms,
                move["tokens_a_day"],
                move[f"{other}_usd"],
                move["upkeep"],
                fixed,
            )
            if cost:
                asked.append(move | {f"{name}_usd": cost})
        spend = row["spend_to_pay_usd_per_month"]
        if spend:
            asked.append(move | {"tokens_a_day": spend / move["from_usd"] * 1e6 * 24 / 730})

    assert asked
    for row in SUMS.moves(asked):
        assert row["gain_usd"] == pytest.approx(0, abs=1e-9 * row["moving_usd"])


@settings(max_examples=3, deadline=None)
@given(MOVES, st.sampled_from((None, 0.3, 1.0)))
def test_flips_really_flip(moves: list[dict[str, float]], used: float | None) -> None:
    """On one side of a flip the move pays and on the other it does not, all else as given; the nearest comes first."""
    found = SUMS.flips([(move, used) for move in moves])
    asked, expected = [], []
    for move, flips in zip(moves, found, strict=True):
        ratios = [flip["ratio"] for flip in flips if flip["ratio"] is not None]
        assert ratios == sorted(ratios)
        for flip in flips:
            assert flip["ratio"] is None or flip["ratio"] >= 1
            for factor in (1 - 1e-6, 1 + 1e-6):
                value = flip["flips_at"] * factor
                if flip["name"] == "utilisation":
                    asked.append(move | {each: move[each] * (used or 1) / value for each in ("from_usd", "to_usd")})
                else:
                    asked.append(move | {flip["name"]: value})
                expected.append((factor > 1) == (flip["pays"] == "above"))

    assert asked
    assert [row["move_verdict"] == "pays" for row in SUMS.moves(asked)] == expected


def test_what_flips_the_published_sum() -> None:
    """Worked out by hand: R = 12 - 3 x 168 / 730 months, and 36,000 = M x (from - to) x R."""
    running = 12 - 3 * 168 / 730
    (found,) = SUMS.flips([(PUBLISHED, None)])
    by_name = {flip["name"]: flip for flip in found}

    per_million = 36_000 / (1e9 * 730 / 24 / 1e6) / running
    assert by_name["to_usd"]["flips_at"] == pytest.approx(0.61 - per_million)
    assert by_name["from_usd"]["flips_at"] == pytest.approx(0.28 + per_million)
    assert by_name["tokens_a_day"]["flips_at"] == pytest.approx(1e9 * per_million / 0.33)
    assert by_name["engineers"]["flips_at"] == pytest.approx(2 * 0.33 / per_million)
    assert by_name["stranded"]["flips_at"] == pytest.approx(36_000 * (0.33 / per_million - 1))
    assert "late_usd" not in by_name
    assert SUMS.flips([(PUBLISHED | {"tokens_a_day": None}, None)]) == [[]]


def test_every_input_that_may_be_zero_may() -> None:
    """With nothing to do and nothing to pay once, a cheaper side pays at once and a dearer one never."""
    nothing = PUBLISHED | dict.fromkeys(INPUTS[3:-1], 0.0)
    cheaper, dearer = SUMS.moves([nothing, nothing | {"to_usd": 0.62}])

    assert (cheaper["break_even_months"], cheaper["move_verdict"]) == (0, "pays")
    assert (dearer["break_even_months"], dearer["move_verdict"]) == (None, "never")


def stretches(unit_month: float, unit_load: float, hosted: float) -> list[tuple[Any, ...]]:
    values = [unit_month, unit_load, hosted]
    return [tuple(row.values()) for row in rows(SUMS.con, "from mart.make_or_buy(?, ?, ?)", values)]


@settings(max_examples=60, deadline=None)
@given(numbers(100, 30_000), numbers(1e7, 5e9), numbers(0.1, 5), st.lists(numbers(0.001, 12), min_size=20, max_size=20))
def test_make_or_buy_against_brute_force(
    unit_month: float, unit_load: float, hosted: float, fills: list[float]
) -> None:
    """A load lies in a stretch exactly where whole units cost less than the hosted model."""
    found = stretches(unit_month, unit_load, hosted)

    for fill in fills:
        load = fill * unit_load
        own, bought = math.ceil(fill) * unit_month, load * 730 / 24 / 1e6 * hosted
        if abs(own / bought - 1) > 1e-9 and abs(fill - round(fill)) > 1e-9:
            assert any(low < load and (high is None or load <= high) for _, low, high in found) == (own < bought)


@pytest.mark.parametrize(
    ("hosted", "expected"),
    [
        (1.0, [(1, 240e6, None)]),
        (0.3, [(1, 800e6, 1e9), (2, 1.6e9, 2e9), (3, 2.4e9, 3e9), (4, 3.2e9, None)]),
        (0.24, []),
        (0.2, []),
    ],
)
def test_make_or_buy(hosted: float, expected: list[tuple[Any, ...]]) -> None:
    """A unit at 7,300 USD a month serves a billion tokens a day: it pays from 240 million at 1 USD, at 0.24 never."""
    assert stretches(7300, 1e9, hosted) == [pytest.approx(line) for line in expected]


def test_many_stretches_are_cut_in_the_middle() -> None:
    """Of more than a thousand stretches the first 999 and the last are given; the last has no end."""
    found = stretches(7300, 1e9, 0.24001)

    assert [line[0] for line in found[:3]] == [1, 2, 3]
    assert (len(found), found[-1][2]) == (1000, None)
    assert found[-1][0] > 20_000
