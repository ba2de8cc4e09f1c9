"""What a published file says of lists that were repriced, of rates of exchange, last changes, and the limit of age."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from looks import Row, row
from published import query
from purchase import P5, block, putting, seen


def chip(price: str | None, count: int, provider: str, **others: Any) -> Row:
    """Return what so many H100 cost a provider's customers; the count makes them offers of their own."""
    named = {"service_provider_name": provider, "accelerator_label": "NVIDIA H100 SXM", "region_id": None}
    return row(None, price, accelerator_count=str(count), capacity_unit="GPU", **(named | others))


LISTS = {
    "Three of four": ((2, 4, 6, 8), (2.2, 4.4, 6.6, 8)),
    "Two of two": ((2, 4), (2.2, 4.4)),
    "Three of six": ((2, 4, 6, 8, 10, 12), (2.2, 4.4, 6.6, 8, 10, 12)),
    "Three of three": ((2, 4, 6), (2.2, 4.4, 6.6, 9)),
}
"""Each provider's prices of one chip, two chips ... on the first day, and on the second."""
HISTORY = ((1, ("2", "4", "6", None)), (3, ("2.2", "4", "6", "8")), (30, ("2.2", "4.4", "6", "8")),
           (32, ("2.2", "4", "6", "8")))  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a file of two days of lists, of four days of one provider, a price in euros, and blocks of a month ago."""
    looks = [
        seen(at, "aws_price_list", *(chip(str(price), count, provider) for provider, days in LISTS.items()
             for count, price in enumerate(days[at - 1], start=1)),
             *(chip(str(count), count, "Three of three", purchase_option="reserved", commitment_term_hours=8760)
               for count in (1, 2, 3)),
             chip("2", 1, "Euro", pricing_currency="EUR"))
        for at in (1, 2)
    ]  # fmt: skip
    looks += [
        seen(at, "aws_spot_feed", *(chip(price, count, "Past") for count, price in enumerate(shown, start=1) if price))
        for at, shown in HISTORY
    ]
    looks += [
        seen(2, "aws_capacity_blocks", block(P5, "12"), complete=False),
        seen(2, "aws_capacity_block_rates", block("trn1.32xlarge", "9", None)),
    ]
    with putting(tmp_path_factory.mktemp("repriced"), asked=("price_change", "drift_report")) as put:
        yield put(*looks, at=33)


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ("Three of four", {("list_change", 0.75, True)}),
        ("Two of two", {("list_change", None, False)}),  # two prices are no catalogue
        ("Three of six", {("list_change", 0.5, False)}),  # half is not most
        # Other ways to buy and other providers were not to be repriced, and a new offer is no change.
        ("Three of three", {("list_change", 1.0, True), ("new_offer", None, False)}),
    ],
)
def test_most_of_a_list_at_once(file: Path, provider: str, expected: set[tuple[Any, ...]]) -> None:
    """Three prices or more, and more than half of what the source showed of the provider's list before and after."""
    sql = "select change_kind, repricing_share, is_repricing from int.price_change where service_provider_name = "
    assert set(query(file, f"{sql} '{provider}'")) == expected


def test_a_rate_of_exchange_moves_no_price(file: Path) -> None:
    """2 EUR looked at twice: one event and no change, whatever the euro did in between."""
    of_euro = "join core.offer using (offer_id) where core.offer.service_provider_name = 'Euro'"
    assert query(file, f"select count(*) from core.price_event {of_euro}") == [(1,)]
    assert query(file, "select count(*) from int.price_change where service_provider_name = 'Euro'") == [(0,)]


def test_when_a_price_last_changed(file: Path) -> None:
    """A change counts, there and back does not; what nobody saw change has no date, what came has its coming."""
    assert query(
        file, "select accelerator_count::int, last_changed_at::date - date '2026-01-01', valid_from::date - date "
        "'2026-01-01' from int.accelerator_hour_price where service_provider_name = 'Past' order by all"
    ) == [(1, 3, 3), (2, None, 32), (3, None, 1), (4, 3, 3)]  # fmt: skip


def test_an_offer_of_a_block_counts_as_long_as_one_of_a_marketplace(file: Path) -> None:
    """After 31 days the drift of a published rate is told, and none of an offer, which is ranked no more."""
    chips = "select distinct accelerator_name from int.drift_report where purchase_option = 'capacity_block'"
    assert query(file, f"{chips} and accelerator_name is not null") == [("Trainium1",)]
