"""What a published file says of a list that was repriced, of a price beside others', and of when it last changed."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from looks import Row, row
from published import query
from purchase import Put, seen

KINDS = (
    "select change_kind, repricing_share, is_repricing from mart.price_change order by accelerator_count, observed_at"
)


def chip(price: str | None, count: int, provider: str = "Alpha", **others: Any) -> Row:
    """Return what so many H100 cost a provider's customers; the count makes them offers of their own."""
    named = {"service_provider_name": provider, "accelerator_label": "NVIDIA H100 SXM", "region_id": None}
    return row(None, price, accelerator_count=str(count), capacity_unit="GPU", **(named | others))


def prices(*amounts: str, **others: Any) -> list[Row]:
    return [chip(amount, count, **others) for count, amount in enumerate(amounts, start=1)]


@pytest.mark.parametrize(
    ("after", "share", "whole"),
    [
        (("2.2", "4.4", "6.6", "8"), 0.75, True),
        (("2.2", "4.4", "6", "8"), None, False),  # two prices are no catalogue
        (("2.2", "4.4", "6.6", "8", "10", "12"), 0.5, False),  # half is not most
    ],
)
def test_most_of_a_list_at_once(put: Put, after: tuple[str, ...], share: float | None, whole: bool) -> None:
    """Three prices or more, and more than half of what the source showed before and after."""
    before = [str(2 * count) for count in range(1, len(after) + 1)]
    file = put(seen(1, "aws_price_list", *prices(*before)), seen(2, "aws_price_list", *prices(*after)), at=3)
    assert set(query(file, KINDS)) == {("list_change", share, whole)}


def test_a_list_is_one_purchase_option_of_one_provider(put: Put) -> None:
    """What others ask, and other ways to buy, were not to be repriced; a new offer is no change."""
    others = [*prices("1", "2", "3", "4", provider="Beta"), *prices("1", "2", "3", "4", purchase_option="reserved",
              commitment_term_hours=8760)]  # fmt: skip
    file = put(
        seen(1, "aws_price_list", *prices("2", "4", "6"), *others),
        seen(2, "aws_price_list", *prices("2.2", "4.4", "6.6", "9"), *others),
        at=3,
    )
    assert sorted(query(file, KINDS), key=str) == [("list_change", 1.0, True)] * 3 + [("new_offer", None, False)]


def of_market(put: Put, before: str, after: str, *, others: int = 3) -> list[Any]:
    asked = [chip("2", 1, provider=f"P{n}") for n in range(others)]
    file = put(
        seen(1, "aws_price_list", chip(before, 1), *asked), seen(2, "aws_price_list", chip(after, 1), *asked), at=9
    )
    return [kind for kind, *_ in query(file, KINDS)]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("0.21", "1.89", "suspected_error"),  # the price of one chip in the row of eight, then the right one
        ("1.89", "0.21", "suspected_error"),
        ("0.21", "0.85", "list_change"),  # fourfold and no more
        ("0.2", "0.97", "list_change"),  # neither side is near what others ask
        ("0.6", "2.7", "list_change"),  # more than fourfold, but a third of what others ask may be a price
    ],
)
def test_a_price_that_nobody_else_asks(put: Put, before: str, after: str, kind: str) -> None:
    """Beside three others at 2.00: from or to less than a quarter, and on the other side within [0.5, 2]."""
    assert of_market(put, before, after) == [kind]


def test_two_others_are_no_market(put: Put) -> None:
    """They prove nothing."""
    assert of_market(put, "0.21", "1.89", others=2) == ["list_change"]


def test_a_rate_of_exchange_moves_no_price(put: Put) -> None:
    """The same 2 EUR at two rates: another price in dollars, no event, no change, and no drift of the index."""
    euro = chip("2", 1, pricing_currency="EUR")
    other = chip("3", 1, provider="Beta")
    put(seen(1, "aws_price_list", euro, other), at=1.5)
    file = put(seen(2, "aws_price_list", euro, other), at=3)
    assert query(file, "select count(*) from core.price_event") == [(2,)]
    assert query(file, "select count(*) from mart.price_change") == [(0,)]


def test_when_a_price_last_changed(put: Put) -> None:
    """A change counts, there and back does not; what nobody saw change has no date, what came has its coming."""
    days: list[tuple[float, tuple[str | None, ...]]] = [
        (1, ("2", "4", "6", None)),
        (3, ("2.2", "4", "6", "8")),
        (30, ("2.2", "4.4", "6", "8")),
        (32, ("2.2", "4", "6", "8")),
    ]
    looks = [
        seen(at, "aws_price_list", *(chip(price, n) for n, price in enumerate(shown, start=1) if price))
        for at, shown in days
    ]
    file = put(*looks, at=33)
    found = query(
        file, "select accelerator_count::int, last_changed_at::date - date '2026-01-01', valid_from::date - date "
        "'2026-01-01' from mart.accelerator_hour_price order by all"
    )  # fmt: skip
    assert found == [(1, 3, 3), (2, None, 32), (3, None, 1), (4, 3, 3)]


def test_the_ninefold_rise_of_the_history(shared: Path, put: Put) -> None:
    """RunPod's 8 x A100 80 GB at 1.69 and then at 15.12, beside what others asked on that day, is no rise."""
    import csv

    wanted = {"2023-05-20T00:00:00Z", "2023-05-22T00:00:00Z"}
    with (shared / "data" / "neocloud_history.csv").open(newline="") as lines:
        told = [each for each in csv.DictReader(lines) if each["source"] == "the-full-stack/website"
                and each["observed_at_utc"] in wanted and each["gpu"] == "A100-80GB"]  # fmt: skip
    assert len({each["provider"] for each in told}) > 3

    def rows(at: str) -> list[Row]:
        return [
            row(
                None, each["usd_per_hour"], service_provider_name=each["provider"],
                accelerator_label="NVIDIA A100 80GB SXM", accelerator_count=each["gpu_count"], capacity_unit="GPU",
                region_id=None, tier=each["region"] + each["gpu_raw"] + each["tier_raw"],
            )
            for each in {(e["provider"], e["gpu_count"]): e for e in told if e["observed_at_utc"] == at}.values()
        ]  # fmt: skip

    looks = [seen(day, "offline_archive", *rows(at)) for day, at in enumerate(sorted(wanted))]
    file = put(*looks, at=3)
    assert query(
        file, "select unit_price_before, unit_price_after, change_kind from mart.price_change "
        "where service_provider_name = 'runpod' and unit_price_before is not null"
    ) == [(Decimal("1.69"), Decimal("15.12"), "suspected_error")]  # fmt: skip
