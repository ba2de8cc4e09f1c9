"""Wrong prices that look plausible: held or refused with words that say why, and none of them published as current."""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import duckdb
import pytest
from looks import Row, at_once, day, look, memory, row

from warehouse.log.load import load
from warehouse.log.parsed import ParsedFetch, ScopeResult
from warehouse.log.quarantine import Quarantined, listed

CENT = Decimal("0.01")
Sizes = dict[tuple[str, str, int], Decimal]
"""Prices of a machine by chip, region and count."""

CHIPS = {"H100": "2.49", "H200": "3.10", "B200": "4.65", "A100": "1.35", "L40S": "0.99", "MI300X": "1.99"}
PROVIDER: Sizes = {
    (chip, region, count): Decimal(price) * count
    for chip, price in CHIPS.items()
    for region, count in (("eu-1", 1), ("eu-1", 8), ("us-1", 1))
}
"""18 prices as a provider of a few chips lists them, in cents."""

RATE = Decimal("1.1587")


def cents(price: Decimal) -> Decimal:
    return price.quantize(CENT, ROUND_HALF_UP)


def rows(prices: Sizes, provider: str) -> list[Row]:
    return [
        row(
            None, str(price), service_provider_name=provider, accelerator_label=chip, region_id=region,
            accelerator_count=str(count), capacity_unit="instance" if count > 1 else "GPU",
        )
        for (chip, region, count), price in prices.items()
    ]  # fmt: skip


def answer(at: float, prices: Sizes, source: str = "acme") -> ParsedFetch:
    return look(at, *rows(prices, source.title()), source=source)


@dataclass
class Outcome:
    """What became of an attack: results day by day, what waits, and the prices that stand in the end."""

    results: list[ScopeResult] = field(default_factory=list)
    waiting: list[Quarantined] = field(default_factory=list)
    current: Sizes = field(default_factory=dict)

    @property
    def words(self) -> set[str]:
        """Return the reasons that a user sees."""
        return {each.reason for each in self.waiting}


def outcomes(*answers: ParsedFetch) -> dict[str, Outcome]:
    """Return what became of the attack on each source, whose providers are others: days of many cost those of one."""
    with memory() as con:
        con.execute(
            "insert into core.fx_rate (pricing_currency, rate_date, units_per_eur, recorded_at) "
            f"values ('USD', '2026-01-01', {RATE}, '2026-01-02')"
        )
        found = {each.source: Outcome() for each in answers}
        for moment, together in at_once(sorted(answers, key=lambda each: each.observed_at)):
            for result in load(con, together, recorded_at=moment):
                if moment > day(0):
                    found[result.source].results.append(result)
        for waiting in listed(con):
            found[waiting.source].waiting.append(waiting)
        for source, chip, region, count, price in con.execute(
            "select source, accelerator_label, region_id, accelerator_count, unit_price "
            "from core.price_known_at('9999-01-01'::timestamp) inner join core.offer using (offer_id) "
            "where valid_to is null and unit_price is not null"
        ).fetchall():
            found[source].current[chip, region, int(count)] = price
        return found


@pytest.fixture(params=[2, pytest.param(4, marks=pytest.mark.prove)])
def n_days(request: pytest.FixtureRequest) -> int:
    """Return on how many days the same wrong answer comes: on two, as a day later prices are confirmed, or on more."""
    return int(request.param)


@pytest.fixture
def daily(n_days: int) -> dict[str, Outcome]:
    """Return what became of each attack of ATTACKS, by its name, day after day."""
    return attacked(n_days)


@functools.cache
def attacked(n_days: int) -> dict[str, Outcome]:
    return outcomes(
        *(answer(0, PROVIDER, name) for name in [*ATTACKS, "drift"]),
        *(answer(at, change(PROVIDER), name) for name, change in ATTACKS.items() for at in range(1, n_days + 1)),
        *(answer(at, all_times(Decimal("0.55") ** at)(PROVIDER), "drift") for at in range(1, n_days + 1)),
    )


def all_times(factor: Decimal) -> Callable[[Sizes], Sizes]:
    return lambda prices: {key: cents(price * factor) for key, price in prices.items()}


def renamed(names: Mapping[str, str]) -> Callable[[Sizes], Sizes]:
    return lambda prices: {(names.get(chip, chip), *rest): price for (chip, *rest), price in prices.items()}


FACTORS = {
    "euros": 1 / RATE, "dollars": RATE, "tax": Decimal("1.19"), "cut": Decimal("0.55"), "chip": Decimal(1) / 8,
    "month": Decimal(730),
}  # fmt: skip
FEW = dict(list(PROVIDER.items())[:4])
ATTACKS: dict[str, Callable[[Sizes], Sizes]] = {
    **{name: all_times(factor) for name, factor in FACTORS.items()},
    "part": lambda prices: prices | all_times(1 / RATE)(FEW),
    "node": lambda prices: {key: price / key[2] for key, price in prices.items()},
    "two": lambda prices: prices | {("H100", "eu-1", 1): Decimal("19.92"), ("H200", "eu-1", 1): Decimal("24.80")},
    "exchange": renamed({"H200": "B200", "B200": "H200"}),
    "round": renamed({"H100": "H200", "H200": "A100", "A100": "H100"}),
}
"""What becomes of an answer, by the source whose answers become so."""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("euros", "18 of 18 prices moved by one factor, 0.8629, the rate between EUR and USD; waits for a person"),
        ("dollars", "18 of 18 prices moved by one factor, 1.159, the rate between EUR and USD; waits for a person"),
        ("tax", "18 of 18 prices moved by one factor, 1.19; waits for a person"),
        ("cut", "18 of 18 prices moved by one factor, 0.55; waits for a person"),
        ("chip", "18 of 18 prices moved by one factor, 0.125, that of a unit; waits for a person"),
        ("month", "18 of 18 prices moved by one factor, 730, that of a unit; waits for a person"),
    ],
)
def test_one_factor_rounded_to_cents(name: str, words: str, daily: dict[str, Outcome]) -> None:
    """Euros for dollars, a tax, the unit of a node or a month: refused each day, however often it is repeated."""
    outcome = daily[name]

    assert {result.status for result in outcome.results} == {"refused"}
    assert outcome.words == {words}
    assert outcome.current == PROVIDER


def test_a_part_of_the_prices_by_one_factor(daily: dict[str, Outcome]) -> None:
    """Four prices of 18 as euros: they wait, the others are loaded and confirmed."""
    outcome = daily["part"]

    assert {(result.status, result.n_rows, result.n_refused) for result in outcome.results} == {("ok", 14, 4)}
    assert outcome.words == {
        "4 of 18 prices moved by one factor, 0.863, the rate between EUR and USD; waits for a person"
    }
    assert outcome.current == PROVIDER


def few(n: int) -> Sizes:
    return {(chip, "eu-1", 1): Decimal(price) for chip, price in list(CHIPS.items())[:n]}


EUROS, DEARER = all_times(1 / RATE), all_times(Decimal("1.1"))
IN_US, NEW_IN_US_1, FAIR_IN_US_1 = (
    {(chip, region, 1): Decimal(price) * times for chip, price in list(CHIPS.items())[:2]}
    for region, times in (("us", 1), ("us-1", 8), ("us-1", 2))
)
NEARLY = {key: price + CENT for key, price in NEW_IN_US_1.items()}
POLAND = [PROVIDER | {("A100", "polandcentral", 8): Decimal(price)} for price in ("46.861", "7.692", "46.89")]
HERE, NEIGHBOUR = ("H100", "eu-1", 1), ("H100", "us-1", 1)
NEIGHBOUR_MOVED = {NEIGHBOUR: Decimal("2.50")}
SLIP, SMALLER_SLIP = {HERE: Decimal("24.90")}, {HERE: Decimal("1.20")}
ANOTHER_SIZE = PROVIDER | {("H100", "eu-1", 4): Decimal("9.96")}
del ANOTHER_SIZE["A100", "us-1", 1]

TOLD: dict[str, dict[float, Sizes]] = {
    **{f"{n} in euros": {0: few(n), 1: EUROS(few(n)), 2: EUROS(few(n))} for n in (2, 3)},
    **{f"{n} dearer": {0: few(n), 1: DEARER(few(n))} for n in (2, 3)},
    "new": {0: IN_US, 1: IN_US | NEW_IN_US_1, 2: IN_US | NEARLY},
    "renamed": {0: IN_US, 1: NEW_IN_US_1, 2: NEARLY},
    "fair": {0: IN_US, 1: IN_US | FAIR_IN_US_1},
    "slip for good": {0: POLAND[0], 30: POLAND[1], 60: POLAND[1]},
    "slip for one look": dict(zip((0, 30, 60), POLAND, strict=True)),
    "slip": {0: PROVIDER, 1: PROVIDER | SLIP, 1.01: PROVIDER | SLIP | NEIGHBOUR_MOVED,
             3: PROVIDER | SLIP | NEIGHBOUR_MOVED},
    "smaller slip": {0: PROVIDER, 1: PROVIDER | SMALLER_SLIP, 1.01: PROVIDER | SMALLER_SLIP | NEIGHBOUR_MOVED,
                     2: PROVIDER},
    "another size": {0: PROVIDER, 1: ANOTHER_SIZE},
}  # fmt: skip
"""What each source tells on which day, of a provider of its own name."""


@pytest.fixture(scope="module")
def told() -> dict[str, Outcome]:
    """Return what became of each source's answers of TOLD, by its name."""
    return outcomes(*(answer(at, prices, name) for name, days in TOLD.items() for at, prices in days.items()))


@pytest.mark.parametrize("n", [2, 3])
def test_a_few_prices_that_are_all_there_are(n: int, told: dict[str, Outcome]) -> None:
    """As euros they wait for a person, though two chips are no crowd; a rise of 10 % is believed."""
    outcome = told[f"{n} in euros"]
    (words,) = outcome.words
    assert f"{n} of {n} prices moved by one factor" in words
    assert "the rate between EUR and USD; waits for a person" in words
    assert outcome.current == few(n)
    assert told[f"{n} dearer"].current == DEARER(few(n))


@pytest.mark.parametrize("name", ["new", "renamed"])
def test_a_region_at_eight_times_the_price_of_another(name: str, told: dict[str, Outcome]) -> None:
    """It is new, or another had its name before: inside the range of all providers, and still no price of this one."""
    outcome = told[name]
    assert outcome.words == {"new in us-1, not as in us, at 8 times the price per chip-hour; waits for a person"}
    assert outcome.current == IN_US
    assert told["fair"].current == IN_US | FAIR_IN_US_1


def test_a_node_for_a_chip(daily: dict[str, Outcome]) -> None:
    """Prices of machines of 8 in the column of a chip: each moves by its own count, those of one chip not at all."""
    outcome = daily["node"]

    assert {(result.status, result.n_rows, result.n_refused) for result in outcome.results} == {("ok", 12, 6)}
    assert outcome.words == {
        "6 of 6 prices of several chips moved by their number of chips; waits for a person",
    }
    assert outcome.current == PROVIDER


def test_a_price_that_was_one_for_one_look(told: dict[str, Outcome]) -> None:
    """Azure's own list had its A100 of polandcentral at 7.692 on 2025-05-16, between 46.861 and 46.89."""
    outcome = told["slip for good"]
    assert outcome.words == {"0.164 times the last price, 46.861; waits for a person"}
    assert outcome.current == POLAND[0]
    assert told["slip for one look"].current == POLAND[2]


@pytest.mark.parametrize("n_days", [2, pytest.param(10, marks=pytest.mark.prove)], indirect=True)
def test_two_offers_at_eight_times_their_price(daily: dict[str, Outcome]) -> None:
    """Two are no crowd, but too far for a price to move: they wait for a person, and are not believed the next day."""
    outcome = daily["two"]

    assert outcome.words == {
        "8 times the last price, 2.49; waits for a person",
        "8 times the last price, 3.1; waits for a person",
    }
    assert outcome.current == PROVIDER


def test_two_chips_exchange_their_prices(daily: dict[str, Outcome]) -> None:
    """Rows of a table that slipped by one: each of the two costs what the other did."""
    outcome = daily["exchange"]

    assert outcome.words == {
        "exchanged its price with that of B200; waits for a person",
        "exchanged its price with that of H200; waits for a person",
    }
    assert outcome.current == PROVIDER


def test_three_chips_go_round(daily: dict[str, Outcome]) -> None:
    """A column sorted otherwise than its names."""
    outcome = daily["round"]

    assert outcome.words == {
        f"exchanged its price with that of {others}; waits for a person"
        for others in ("A100, H200", "A100, H100", "H100, H200")
    }
    assert outcome.current == PROVIDER


def test_a_drift_of_all_prices(daily: dict[str, Outcome]) -> None:
    """All prices at 0.55 of the day before, each day: each day is one factor of what is believed."""
    outcome = daily["drift"]

    assert {result.status for result in outcome.results} == {"refused"}
    assert outcome.current == PROVIDER


def test_a_slip_is_not_believed_because_a_neighbour_moved(told: dict[str, Outcome]) -> None:
    """2.49 for 24.90: 15 minutes later another document repeats it. It is a move beyond three, and waits for good."""
    outcome = told["slip"]

    assert outcome.words == {"10 times the last price, 2.49; waits for a person"}
    assert outcome.current == PROVIDER | NEIGHBOUR_MOVED


def test_a_smaller_slip_waits_twenty_hours(told: dict[str, Outcome]) -> None:
    """2.49 for 1.20: minutes later it is repeated, a day later not. It never was a price."""
    outcome = told["smaller slip"]

    assert outcome.waiting == []
    assert outcome.current == PROVIDER


def machines(
    count: int, *, currency: str = "USD", unit: str | None = None, provider: str = "Acme"
) -> list[Row]:  # fmt: skip
    """Return three machines under their names, and a spot price of one, as of a price page."""
    prices = {"HGX B200": "68.80", "HGX H200": "50.44", "HGX H100": "49.24"}
    own = {
        "accelerator_count": str(count), "capacity_unit": "instance", "pricing_currency": currency,
        "service_provider_name": provider, "pricing_unit": unit,
    }  # fmt: skip
    named = [row(name, price, accelerator_label=name, **own) for name, price in prices.items()]
    return [*named, row("HGX H100", "19.71", accelerator_label="HGX H100", purchase_option="spot", **own)]


AFTER: dict[str, dict[str, Any]] = {
    "8 chips became 1 chip, at 8 times the price per chip-hour; waits for a person": {"count": 1},
    "8 chips became 16 chips, at 0.5 times the price per chip-hour; waits for a person": {"count": 16},
    "USD became EUR, at 1 times the price per chip-hour; waits for a person": {"count": 8, "currency": "EUR"},
    "Hours became Months, at 0.00137 times the price per chip-hour; waits for a person":
        {"count": 8, "unit": "Months"},
}  # fmt: skip
"""What becomes of machines of 8 chips at a dollar price per hour, by the words that say so."""
EUROS_OF_FR, DOLLARS_OF_US = (machines(8, currency=currency, provider="OVHcloud") for currency in ("EUR", "USD"))
SOLD = (
    *(look(at, *machines(**change if at else {"count": 8}, provider=words), source=words)
      for words, change in AFTER.items() for at in range(4)),
    *(look(at, *machines(count, provider="Right again"), source="right again") for at, count in enumerate((8, 1, 8))),
    *(look(at, *EUROS_OF_FR, source="ovhcloud", scope="FR") for at in (0, 1)),
    look(1, *DOLLARS_OF_US, source="ovhcloud", scope="US"),
)  # fmt: skip


@pytest.fixture(scope="module")
def sold() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a log of what is sold from day to day, by providers that know nothing of each other."""
    with memory() as con:
        for moment, together in at_once(sorted(SOLD, key=lambda each: each.observed_at)):
            load(con, together, recorded_at=moment)
        yield con


def test_the_currency_of_another_scope_is_its_own(sold: duckdb.DuckDBPyConnection) -> None:
    """OVHcloud's companies sell machines of one name, of no region, in euros and in dollars: neither replaces one."""
    assert [each for each in listed(sold) if each.source == "ovhcloud"] == []


def test_another_count_unit_or_currency_of_the_same_machines(sold: duckdb.DuckDBPyConnection) -> None:
    """The count, unit and currency are part of an offer: another one is a new offer, of a machine that is known.

    The old offers are neither confirmed nor gone meanwhile.
    """
    current = sold.execute(
        "select service_provider_name, accelerator_count::int, pricing_currency, pricing_unit, "
        "unit_price::varchar::double, valid_to, epoch(last_observed_at - timestamp '2026-01-01') / 86400 "
        "from core.price_known_at('9999-01-01'::timestamp) inner join core.offer using (offer_id) "
        "where list_contains(?, service_provider_name) order by 1, 5",
        [[*AFTER]],
    ).fetchall()

    assert current == [
        (words, 8, "USD", None, price, None, 0) for words in sorted(AFTER) for price in (19.71, 49.24, 50.44, 68.80)
    ]
    held = {(each.source, each.reason) for each in listed(sold) if each.source in AFTER}
    assert held == {(words, words) for words in AFTER}


def test_a_count_that_is_right_again(sold: duckdb.DuckDBPyConnection) -> None:
    """The next answer shows the machines as before: they were never interrupted."""
    assert sold.execute(
        "select count(*), min(valid_to), min(last_observed_at) = timestamp '2026-01-03' "
        "from core.price_known_at('9999-01-01'::timestamp) where source = 'right again'"
    ).fetchall() == [(4, None, True)]


def test_another_size_of_a_chip_is_no_other_count(told: dict[str, Outcome]) -> None:
    """A chip sold in sizes may have one more, and one less."""
    outcome = told["another size"]

    assert outcome.waiting == []
    assert outcome.current == ANOTHER_SIZE
