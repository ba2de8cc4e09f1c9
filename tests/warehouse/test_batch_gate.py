"""The batch gate: what a whole answer must be beside its own rows and the last answer."""

from dataclasses import replace
from decimal import Decimal

import polars as pl
import pytest
from looks import Read, Row, day, history, look, memory, refused, row

from warehouse.log import batch
from warehouse.log.events import naive
from warehouse.log.gates import row_gate
from warehouse.log.load import load
from warehouse.log.parsed import ScopeResult
from warehouse.log.quarantine import listed

LISTED = {
    "p4d.24xlarge": "32.7726", "p4de.24xlarge": "40.96575", "p5.48xlarge": "98.32", "p5en.48xlarge": "84.80",
    "p3.2xlarge": "3.06", "p3.8xlarge": "12.24", "g4dn.xlarge": "0.526", "g5.xlarge": "1.006", "g6.xlarge": "0.8048",
    "inf2.xlarge": "0.7582",
}  # fmt: skip
REPRICED = {"p4d.24xlarge": "0.67", "p4de.24xlarge": "0.67", "p5.48xlarge": "0.56", "p5en.48xlarge": "0.75"}
"""The joint repricing of 2025-06: -33, -33, -44 and -25 %."""


def rows(prices: dict[str, str], where: str = "us-east-1") -> list[Row]:
    return [row(name, price, region_id=where) for name, price in prices.items()]


def times(factor: str, names: list[str] | None = None) -> dict[str, str]:
    return {
        name: format(round(Decimal(price) * Decimal(factor), 10), "f") if names is None or name in names else price
        for name, price in LISTED.items()
    }


def first(count: int) -> dict[str, str]:
    """Return the first of the listed prices."""
    return dict(list(LISTED.items())[:count])


UNITS = ("8", "0.01", "0.125", "100", "730", "0.0013698630137")
RATES = ("1.16", "0.8621")
"""That day's rate of 1.1611 dollars, and its inverse."""
ANSWERS: dict[str, tuple[dict[str, str], dict[str, bool]]] = {
    "empty": ({}, {}), "six": (first(6), {}), "seven": (first(7), {}), "six after months": (first(6), {}),
    "a part": (first(1), {"complete": False}), "archived": (first(1), {"archived": True}),
    **{f"times {factor}": (times(factor), {}) for factor in (*UNITS, *RATES)},
    "half": (times("2", list(LISTED)[:5]), {}), "four": (times("2", list(LISTED)[:4]), {}),
    "three": (times("0.9", list(LISTED)[:3]), {}), "trusted": (times("8"), {"trusted": True}),
}  # fmt: skip
"""Answers of the day after the listed prices, each in a scope and region of its own, and what is said of each."""


def chips(where: str, *prices: str) -> list[Row]:
    """Return machines of 1, 2, 4 and 8 chips, at these prices, that another provider than AWS names by its chip."""
    own = {"service_provider_name": "Lambda", "accelerator_label": "H100 SXM", "region_id": where}
    named = zip("1248", prices, strict=True)
    return [row(None, price, accelerator_count=count, tier=f"{count}x", **own) for count, price in named]


def market(prices: dict[str, str]) -> list[Row]:
    return [each | {"statistic": "median"} for each in rows(prices, "market")]


def of_p5(where: str, *prices: str) -> list[Row]:
    return [row("p5.48xlarge", price, region_id=where) for price in prices]


WITHOUT_TWO = {name: price for name, price in LISTED.items() if name not in ("p5.48xlarge", "g6.xlarge")}
WHOLE, EACH = ("6", "12", "24", "48"), ("6",) * 4
OTHERS = {
    "whole": (chips("whole", *WHOLE), chips("whole", *EACH)), "each": (chips("each", *EACH), chips("each", *WHOLE)),
    "market": (market(LISTED), market({"p5.48xlarge": "190", "g6.xlarge": LISTED["g6.xlarge"]})),
    "two prices": (
        rows(LISTED, "two prices"), [*rows(WITHOUT_TWO, "two prices"), *of_p5("two prices", "98.32", "55.04")]
    ),
    "a copy": (rows(LISTED, "a copy"), [*rows(LISTED, "a copy"), *of_p5("a copy", "98.320")]),
}  # fmt: skip
"""Rows of the first day and of the day after, likewise."""


@pytest.fixture(scope="module")
def second() -> tuple[dict[str, ScopeResult], Read]:
    """Return what becomes of the answers, by scope; those that are refused leave no trace in the history of prices."""
    with memory() as con:
        con.execute(
            "insert into core.fx_rate (pricing_currency, rate_date, units_per_eur, recorded_at) "
            "values ('USD', '2026-01-01', 1.1611, '2026-01-02')"
        )
        looks = [look(-99 * ("months" in name), *rows(LISTED, name), scope=name) for name in ANSWERS]
        load(con, looks + [look(0, *shown, scope=name) for name, (shown, _) in OTHERS.items()], recorded_at=day(0))
        before = Read(con)
        looks = [look(1, *rows(prices, name), scope=name, **said) for name, (prices, said) in ANSWERS.items()]
        looks += [look(1, *shown, scope=name) for name, (_, shown) in OTHERS.items()]
        results = {each.scope: each for each in load(con, looks, recorded_at=day(1))}
        after = Read(con)
        looked = con.execute("select scope, complete, status from core.scope_run order by observed_at").fetchall()
    for name in (name for name, each in results.items() if each.status == "refused"):
        assert after.history(name) == before.history(name) != []
        assert [line[1:] for line in looked if line[0] == name] == [(True, "ok"), (False, "refused")]
    return results, after


@pytest.fixture
def results(second: tuple[dict[str, ScopeResult], Read]) -> dict[str, ScopeResult]:
    """Return what became of each answer."""
    return second[0]


@pytest.fixture
def read(second: tuple[dict[str, ScopeResult], Read]) -> Read:
    """Return what the log says after the answers."""
    return second[1]


def test_an_empty_answer_is_refused(results: dict[str, ScopeResult], read: Read) -> None:
    """No price at all is a failure of the source, never the end of all offers."""
    result = results["empty"]

    assert (result.status, result.error) == ("refused", "no price in the whole answer")
    assert read.refused("empty") == [("batch", "", "no price in the whole answer")]


def test_an_answer_cut_short_is_refused(results: dict[str, ScopeResult], read: Read) -> None:
    """Fewer than 70 % of the last complete answer's prices look like a cut answer, not like removals."""
    assert results["seven"].status == "ok"
    for result in (results["six"], results["six after months"]):
        assert (result.status, result.error) == ("refused", "6 prices where the last complete answer had 10")
    assert read.refused("six") == [("batch", "", "6 prices where the last complete answer had 10")]


def test_past_answers_are_no_measure_of_the_first_live_one() -> None:
    """Loaded at once, each has its own number of prices; what is asked for today may be less than an archive had."""
    with memory() as con:
        load(con, [look(number, *rows(LISTED), archived=True) for number in range(4)], recorded_at=day(9))
        assert con.execute("select n_rows from core.scope_run").fetchall() == [(len(LISTED),)] * 4

        (result,) = load(con, [look(10, *rows(dict(list(LISTED.items())[:6])))], recorded_at=day(10))
        assert (result.status, result.error) == ("ok", None)


def test_a_part_of_a_scope_may_be_any_size(results: dict[str, ScopeResult]) -> None:
    """An answer that does not claim to be whole, and an archived one, may show one price."""
    assert results["a part"].status == "ok"
    assert results["archived"].status == "ok"


@pytest.mark.parametrize("factor", UNITS)
def test_prices_that_moved_by_a_unit_together_are_refused(
    results: dict[str, ScopeResult], read: Read, factor: str
) -> None:
    """All prices times 8 (chips), 100 (cents), 730 (hours of a month) or their inverse: a unit was mistaken."""
    result = results[f"times {factor}"]

    assert result.status == "refused"
    assert "10 of 10 prices moved by one factor" in str(result.error)
    assert len(read.refused(f"times {factor}")) == 1


def test_half_of_the_prices_is_enough_to_refuse_an_answer(results: dict[str, ScopeResult], read: Read) -> None:
    """Five of ten prices times 2 refuse the answer; four wait for a person, and the others are loaded."""
    result = results["four"]

    assert results["half"].status == "refused"
    assert (result.status, result.n_rows, result.n_refused) == ("ok", 6, 4)
    assert set(read.refused("four")) == {
        ("history", "unit_price", "4 of 10 prices moved by one factor, 2, that of a unit; waits for a person")
    }


def test_three_prices_may_move_alike(results: dict[str, ScopeResult]) -> None:
    """Three offers are no crowd."""
    assert results["three"].n_refused == 0


def test_a_real_joint_repricing_waits_a_day() -> None:
    """AWS's largest cut so far changes four prices by three factors: they wait for a second fetch 20 hours later."""
    prices = LISTED | {name: times(REPRICED[name])[name] for name in REPRICED}

    with memory() as con:
        load(con, [look(0, *rows(LISTED))], recorded_at=day(0))
        (held,) = load(con, [look(1, *rows(prices))], recorded_at=day(1))
        waiting = refused(con)
        (early,) = load(con, [look(1 + 19 / 24, *rows(prices))], recorded_at=day(1.8))
        (result,) = load(con, [look(2, *rows(prices))], recorded_at=day(2))

        assert [(each.n_rows, each.n_refused, each.n_events) for each in (held, early, result)] == [
            (6, 4, 0), (6, 4, 0), (10, 0, 4),
        ]  # fmt: skip
        assert {reason.partition(", and ")[2] for _, _, reason in waiting} == {
            "4 prices moved at once; waits for confirmation 20 hours later"
        }
        assert ("p5.48xlarge", 0, 1, 0, "98.32") in history(con)
        assert ("p5.48xlarge", 1, None, 2, "55.0592") in history(con)
        assert refused(con) == []


def test_one_factor_of_all_prices_waits_for_a_person() -> None:
    """A general cut by 15 % may be a cut, or a tax: repeating it proves nothing."""
    with memory() as con:
        load(con, [look(0, *rows(LISTED))], recorded_at=day(0))
        before = history(con)
        for number in (1, 2, 3):
            (result,) = load(con, [look(number, *rows(times("0.85")))], recorded_at=day(number))
            assert result.error == "10 of 10 prices moved by one factor, 0.85; waits for a person"
        assert history(con) == before


def test_an_answer_twice_as_dear_is_accepted_by_a_person_only(results: dict[str, ScopeResult]) -> None:
    """A trusted look passes the gate."""
    assert results["trusted"].status == "ok"


def test_contradictory_rows_leave_their_offer_unknown(results: dict[str, ScopeResult], read: Read) -> None:
    """Two prices of one offer in one answer: both are refused by name, the offer holds, the others are complete."""
    result, held = results["two prices"], read.held("two prices")

    assert (result.status, result.n_rows, result.n_refused) == ("ok", 8, 2)
    words = ("batch", "unit_price", "the same offer is in the answer with different prices")
    assert {(each.gate, each.field, each.reason) for each in held} == {words}
    assert {each.value for each in held} == {"98.32", "55.04"}
    assert {("p5.48xlarge", 0, None, 0, "98.32"), ("g6.xlarge", 0, 1, 0, "0.8048")} < set(read.history("two prices"))


def test_the_row_gate_refuses_each_look_its_own_rows() -> None:
    """Looks that pass together, some of them empty, come out as each does by itself."""
    looks = [
        look(0), look(1, *rows(LISTED)), look(2), look(3, row("p5.48xlarge", "x"), *rows(LISTED), row("g6.xlarge", "")),
        look(4, row("p5.48xlarge", "-1")), look(5, *rows(LISTED)),
        look(6, row("p5.48xlarge", "1"), row("p4d.24xlarge", "y")),
        look(7),
    ]  # fmt: skip
    frames, together = batch._row_gates(looks)
    accepted = pl.concat(frames[1:]).partition_by("fetch_number", include_key=False, as_dict=True)

    for number, (one, refusals) in enumerate(zip(looks, together, strict=True)):
        alone, alone_refused = row_gate(one.rows)
        assert refusals == alone_refused
        assert accepted.pop((number,), alone.clear()).equals(alone)
    assert not accepted
    assert [[each.row for each in refusals] for refusals in together] == [[], [], [], [0, 11], [0], [], [1], []]


def test_no_row_is_of_a_time_after_its_own_fetch() -> None:
    """Of histories that pass together, one that was fetched before a row's time must not have it."""
    one, other = (
        replace(each, rows=each.rows.with_columns(observed_at=pl.lit(naive(day(3)), pl.Datetime("us"))))
        for each in (look(at, row("p3.one", "1", observed_at_utc="day 3"), archived=True) for at in (0, 5))
    )

    frames, (early, late) = batch._row_gates([one, other, other])[0], batch._row_gates([one, other])[1]

    assert [(each.row, each.reason) for each in early] == [(0, "a time in the future")]
    assert not late
    assert [each["fetch_number"].to_list() for each in frames[1:]] == [[1, 2]]


def test_of_exact_duplicates_one_is_kept(results: dict[str, ScopeResult], read: Read) -> None:
    """A row that stands twice with one price is a price; its copy is refused and hides nothing."""
    result = results["a copy"]

    assert (result.status, result.n_rows, result.n_refused) == ("ok", 10, 1)
    assert read.refused("a copy") == [("batch", "unit_price", "the same offer is in the answer twice; one is stored")]
    assert ("p5.48xlarge", 0, None, 1, "98.32") in read.history("a copy")


def test_a_refused_row_of_an_import_keeps_its_own_time() -> None:
    """Rows of an import that contradict each other are quarantined at the moment they speak of, once."""

    def told(at: str, price: str) -> Row:
        return row("p3.one", price, observed_at_utc=at)

    import polars as pl

    from warehouse.log.parsed import ParsedFetch

    def look_at(number: float) -> ParsedFetch:
        one = look(
            number, told("2025-05-05", "1"), told("2025-05-05", "2"), told("2025-06-06", "1"), told("2025-06-06", "2"),
            complete=False, archived=True, source="import:x", document="one file",
        )  # fmt: skip
        at = pl.col("observed_at_utc").str.to_datetime("%Y-%m-%d", time_unit="us").alias("observed_at")
        return ParsedFetch(**{**vars(one), "rows": one.rows.with_columns(at)})

    with memory() as con:
        load(con, [look_at(0)], recorded_at=day(0))
        load(con, [look_at(1)], recorded_at=day(1))

        assert sorted((f"{each.observed_at:%Y-%m-%d}", each.value) for each in listed(con)) == [
            ("2025-05-05", "1"),
            ("2025-05-05", "2"),
            ("2025-06-06", "1"),
            ("2025-06-06", "2"),
        ]
        assert con.execute("select count(*) from core.quarantine").fetchone() == (4,)


@pytest.mark.parametrize("name", ["whole", "each"])
def test_prices_that_moved_by_their_own_chip_counts_are_refused(results: dict[str, ScopeResult], name: str) -> None:
    """The price of a machine becomes one of a chip: each moves by its own count, so that no factor is common."""
    assert results[name].status == "refused"
    assert results[name].error == "3 of 3 prices of several chips moved by their number of chips; waits for a person"


@pytest.mark.parametrize("factor", RATES)
def test_prices_that_moved_by_an_exchange_rate_are_refused(results: dict[str, ScopeResult], factor: str) -> None:
    """Euros kept as dollars, or the reverse, move all prices by that day's rate, which the reason names."""
    result = results[f"times {factor}"]

    assert result.status == "refused"
    assert str(result.error).endswith("the rate between EUR and USD; waits for a person")


def test_a_marketplace_may_halve_and_double(results: dict[str, ScopeResult], read: Read) -> None:
    """Its statistics follow whoever rents out that day, so neither its prices nor their number wait for anything."""
    assert results["market"].status == "ok"
    assert not read.refused("market")
