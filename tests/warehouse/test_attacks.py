"""Wrong prices that look plausible: held or refused with words that say why, and none of them published as current."""

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal

import pytest
from looks import Row, day, look, memory, row

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


def rows(prices: Sizes, **others: object) -> list[Row]:
    return [
        row(
            None, str(price), service_provider_name="Acme", accelerator_label=chip, region_id=region,
            accelerator_count=str(count), capacity_unit="instance" if count > 1 else "GPU", **others,
        )
        for (chip, region, count), price in prices.items()
    ]  # fmt: skip


def answer(at: float, prices: Sizes, **others: object) -> ParsedFetch:
    return look(at, *rows(prices), source="acme", **others)


class Outcome:
    """What became of an attack: results day by day, what waits, and the prices that stand in the end."""

    def __init__(self, *answers: ParsedFetch, before: Sizes = PROVIDER, rates: bool = True) -> None:
        with memory() as con:
            if rates:
                con.execute(
                    "insert into core.fx_rate (pricing_currency, rate_date, units_per_eur, recorded_at) "
                    f"values ('USD', '2026-01-01', {RATE}, '2026-01-02')"
                )
            load(con, [answer(0, before)], recorded_at=day(0))
            self.results: list[ScopeResult] = [
                result for each in answers for result in load(con, [each], recorded_at=each.observed_at)
            ]
            self.waiting: list[Quarantined] = listed(con)
            self.current: Sizes = {
                (chip, region, int(count)): price
                for chip, region, count, price in con.execute(
                    "select accelerator_label, region_id, accelerator_count, unit_price "
                    "from core.price_known_at('9999-01-01'::timestamp) inner join core.offer using (offer_id) "
                    "where valid_to is null and unit_price is not null"
                ).fetchall()
            }

    @property
    def words(self) -> set[str]:
        """Return the reasons that a user sees."""
        return {each.reason for each in self.waiting}


Daily = Callable[[Callable[[Sizes], Sizes]], Outcome]


@pytest.fixture(params=[2, pytest.param(4, marks=pytest.mark.prove)])
def n_days(request: pytest.FixtureRequest) -> int:
    """Return on how many days the same wrong answer comes: on two, as a day later prices are confirmed, or on more."""
    return int(request.param)


@pytest.fixture
def daily(n_days: int) -> Daily:
    """Return what tells what becomes of the same wrong answer, day after day."""
    return lambda change: Outcome(*(answer(number, change(PROVIDER)) for number in range(1, n_days + 1)))


def all_times(factor: Decimal) -> Callable[[Sizes], Sizes]:
    return lambda prices: {key: cents(price * factor) for key, price in prices.items()}


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (1 / RATE, "18 of 18 prices moved by one factor, 0.8629, the rate between EUR and USD; waits for a person"),
        (RATE, "18 of 18 prices moved by one factor, 1.159, the rate between EUR and USD; waits for a person"),
        (Decimal("1.19"), "18 of 18 prices moved by one factor, 1.19; waits for a person"),
        (Decimal("0.55"), "18 of 18 prices moved by one factor, 0.55; waits for a person"),
        (Decimal(1) / 8, "18 of 18 prices moved by one factor, 0.125, that of a unit; waits for a person"),
        (Decimal(730), "18 of 18 prices moved by one factor, 730, that of a unit; waits for a person"),
    ],
)
def test_one_factor_rounded_to_cents(factor: Decimal, words: str, daily: Daily) -> None:
    """Euros for dollars, a tax, the unit of a node or a month: refused each day, however often it is repeated."""
    outcome = daily(all_times(factor))

    assert {result.status for result in outcome.results} == {"refused"}
    assert outcome.words == {words}
    assert outcome.current == PROVIDER


def test_a_part_of_the_prices_by_one_factor(daily: Daily) -> None:
    """Four prices of 18 as euros: they wait, the others are loaded and confirmed."""
    few = dict(list(PROVIDER.items())[:4])
    outcome = daily(lambda prices: prices | all_times(1 / RATE)(few))

    assert {(result.status, result.n_rows, result.n_refused) for result in outcome.results} == {("ok", 14, 4)}
    assert outcome.words == {
        "4 of 18 prices moved by one factor, 0.863, the rate between EUR and USD; waits for a person"
    }
    assert outcome.current == PROVIDER


def test_a_node_for_a_chip(daily: Daily) -> None:
    """Prices of machines of 8 in the column of a chip: each moves by its own count, those of one chip not at all."""
    outcome = daily(lambda prices: {key: price / key[2] for key, price in prices.items()})

    assert {(result.status, result.n_rows, result.n_refused) for result in outcome.results} == {("ok", 12, 6)}
    assert outcome.words == {
        "6 of 6 prices of several chips moved by their number of chips; waits for a person",
    }
    assert outcome.current == PROVIDER


def test_a_price_that_was_one_for_one_look() -> None:
    """Azure's own list had its A100 of polandcentral at 7.692 on 2025-05-16, between 46.861 and 46.89."""
    before, slip, after = (
        PROVIDER | {("A100", "polandcentral", 8): Decimal(price)} for price in ("46.861", "7.692", "46.89")
    )
    outcome = Outcome(answer(30, slip), answer(60, slip), before=before)
    assert outcome.words == {"0.164 times the last price, 46.861; waits for a person"}
    assert outcome.current == before
    assert Outcome(answer(30, slip), answer(60, after), before=before).current == after


@pytest.mark.parametrize("n_days", [2, pytest.param(10, marks=pytest.mark.prove)], indirect=True)
def test_two_offers_at_eight_times_their_price(daily: Daily) -> None:
    """Two are no crowd, but too far for a price to move: they wait for a person, and are not believed the next day."""
    wrong = {("H100", "eu-1", 1): Decimal("19.92"), ("H200", "eu-1", 1): Decimal("24.80")}
    outcome = daily(lambda prices: prices | wrong)

    assert outcome.words == {
        "8 times the last price, 2.49; waits for a person",
        "8 times the last price, 3.1; waits for a person",
    }
    assert outcome.current == PROVIDER


def test_two_chips_exchange_their_prices(daily: Daily) -> None:
    """Rows of a table that slipped by one: each of the two costs what the other did."""
    names = {"H200": "B200", "B200": "H200"}
    outcome = daily(lambda prices: {(names.get(chip, chip), *rest): price for (chip, *rest), price in prices.items()})

    assert outcome.words == {
        "exchanged its price with that of B200; waits for a person",
        "exchanged its price with that of H200; waits for a person",
    }
    assert outcome.current == PROVIDER


def test_three_chips_go_round(daily: Daily) -> None:
    """A column sorted otherwise than its names."""
    names = {"H100": "H200", "H200": "A100", "A100": "H100"}
    outcome = daily(lambda prices: {(names.get(chip, chip), *rest): price for (chip, *rest), price in prices.items()})

    assert outcome.words == {
        f"exchanged its price with that of {others}; waits for a person"
        for others in ("A100, H200", "A100, H100", "H100, H200")
    }
    assert outcome.current == PROVIDER


def test_a_drift_of_all_prices(n_days: int) -> None:
    """All prices at 0.55 of the day before, each day: each day is one factor of what is believed."""
    outcome = Outcome(
        *(answer(number, all_times(Decimal("0.55") ** number)(PROVIDER)) for number in range(1, n_days + 1)),
        rates=False,
    )

    assert {result.status for result in outcome.results} == {"refused"}
    assert outcome.current == PROVIDER


def test_a_slip_is_not_believed_because_a_neighbour_moved() -> None:
    """2.49 for 24.90: 15 minutes later another document repeats it. It is a move beyond three, and waits for good."""
    key, neighbour = ("H100", "eu-1", 1), ("H100", "us-1", 1)
    outcome = Outcome(
        answer(1, PROVIDER | {key: Decimal("24.90")}),
        answer(1.01, PROVIDER | {key: Decimal("24.90"), neighbour: Decimal("2.50")}),
        answer(3, PROVIDER | {key: Decimal("24.90"), neighbour: Decimal("2.50")}),
    )

    assert outcome.words == {"10 times the last price, 2.49; waits for a person"}
    assert outcome.current == PROVIDER | {neighbour: Decimal("2.50")}


def test_a_smaller_slip_waits_twenty_hours() -> None:
    """2.49 for 1.20: minutes later it is repeated, a day later not. It never was a price."""
    key, neighbour = ("H100", "eu-1", 1), ("H100", "us-1", 1)
    outcome = Outcome(
        answer(1, PROVIDER | {key: Decimal("1.20")}),
        answer(1.01, PROVIDER | {key: Decimal("1.20"), neighbour: Decimal("2.50")}),
        answer(2, PROVIDER),
    )

    assert outcome.waiting == []
    assert outcome.current == PROVIDER


def machines(count: int, *, currency: str = "USD", unit: str | None = None) -> list[Row]:
    """Return three machines under their names, and a spot price of one, as of a price page."""
    prices = {"HGX B200": "68.80", "HGX H200": "50.44", "HGX H100": "49.24"}
    own = {"accelerator_count": str(count), "capacity_unit": "instance", "pricing_currency": currency}
    named = [
        row(name, price, service_provider_name="Acme", accelerator_label=name, pricing_unit=unit, **own)
        for name, price in prices.items()
    ]
    spot = row(
        "HGX H100", "19.71", service_provider_name="Acme", accelerator_label="HGX H100", pricing_unit=unit, **own,
        purchase_option="spot",
    )  # fmt: skip
    return [*named, spot]


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ({"count": 1}, "8 chips became 1 chip, at 8 times the price per chip-hour; waits for a person"),
        ({"count": 16}, "8 chips became 16 chips, at 0.5 times the price per chip-hour; waits for a person"),
        ({"count": 8, "currency": "EUR"}, "USD became EUR, at 1 times the price per chip-hour; waits for a person"),
        (
            {"count": 8, "unit": "Months"},
            "Hours became Months, at 0.00137 times the price per chip-hour; waits for a person",
        ),
    ],
)
def test_another_count_unit_or_currency_of_the_same_machines(after: dict[str, object], words: str) -> None:
    """The count, unit and currency are part of an offer: another one is a new offer, of a machine that is known.

    The old offers are neither confirmed nor gone meanwhile.
    """
    with memory() as con:
        load(con, [look(0, *machines(8), source="acme")], recorded_at=day(0))
        for number in (1, 2, 3):
            load(con, [look(number, *machines(**after), source="acme")], recorded_at=day(number))  # type: ignore[arg-type]
        current = con.execute(
            "select accelerator_count::int, pricing_currency, pricing_unit, unit_price::varchar::double, valid_to, "
            "epoch(last_observed_at - timestamp '2026-01-01') / 86400 "
            "from core.price_known_at('9999-01-01'::timestamp) inner join core.offer using (offer_id) order by 4"
        ).fetchall()

        assert current == [(8, "USD", None, price, None, 0) for price in (19.71, 49.24, 50.44, 68.80)]
        assert {each.reason for each in listed(con)} == {words}


def test_a_count_that_is_right_again() -> None:
    """The next answer shows the machines as before: they were never interrupted."""
    with memory() as con:
        for number, count in enumerate((8, 1, 8)):
            load(con, [look(number, *machines(count), source="acme")], recorded_at=day(number))
        assert con.execute(
            "select count(*), min(valid_to), min(last_observed_at) = timestamp '2026-01-03' "
            "from core.price_known_at('9999-01-01'::timestamp)"
        ).fetchall() == [(4, None, True)]


def test_another_size_of_a_chip_is_no_other_count() -> None:
    """A chip sold in sizes may have one more, and one less."""
    more = PROVIDER | {("H100", "eu-1", 4): Decimal("9.96")}
    del more["A100", "us-1", 1]
    outcome = Outcome(answer(1, more))

    assert outcome.waiting == []
    assert outcome.current == more
