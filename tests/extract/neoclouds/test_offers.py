"""What a source yields becomes rows, stock, reasons and names of what is unknown, alike for every source."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from neoclouds.case import MOMENT

from extract.neoclouds.answers import Fields, refusal
from extract.neoclouds.offers import (
    Empty,
    Found,
    Offer,
    Unknown,
    by_option,
    offer,
    parsed,
    parser,
    refuse_exchanged,
    shown_price,
    stock,
)
from warehouse.documents import Document
from warehouse.errors import LayoutChanged

H100 = Decimal("2.50")
DOCUMENT = Document(source="toy", scope="all", url="https://toy.example", body=b"", fetched_at=MOMENT)


def test_each_kind_of_thing_has_its_place() -> None:
    """One offer of three that say the same; stock once; a text is a reason; what is unknown is no row."""
    there = stock("H100", count=8, region_id="oslo", stock_status="available")
    found = parsed([*[offer("H100", H100)] * 3, there, there, "sold out", "sold out", Unknown("section Spot")], "Toy")

    assert found.rows.select("service_provider_name", "accelerator_label", "unit_price").rows() == [
        ("Toy", "H100", "2.5")
    ]
    assert found.ignored == {"duplicate offer": 2, "sold out": 2}
    assert found.unknown == ("section Spot",)
    facts = found.facts["availability"]
    assert facts.select("service_provider_name", "accelerator_count", "region_id").rows() == [("Toy", 8, "oslo")]


def test_two_prices_of_one_offer_stay() -> None:
    """Which of them holds, no source decides."""
    assert len(parsed([offer("H100", H100), offer("H100", H100 + 1)], "Toy").rows) == 2


@pytest.mark.parametrize("price", [None, Decimal(0), shown_price("Contact sales", "price")])
def test_no_price_is_a_reason_and_never_a_row(price: Decimal | None) -> None:
    assert offer("H100", price, option="spot") == "no spot price"


def test_a_shown_price_brings_currency_and_statistic() -> None:
    row = offer("H100", shown_price("from \N{EURO SIGN}2.10", "price"))
    assert isinstance(row, dict)
    assert (row["pricing_currency"], row["statistic"], row["unit_price"]) == ("EUR", "floor", "2.1")


def test_no_price_at_all_is_refused_unless_a_source_says_that_it_may_be() -> None:
    """The error names the source, which no helper knows."""

    def nothing(document: Document) -> Iterator[Found]:
        yield "no GPU"

    with pytest.raises(LayoutChanged, match="expected prices, found none") as raised:
        parser("toy", "Toy", nothing)(DOCUMENT)
    assert raised.value.source == "toy"
    assert parsed(["no GPU", Empty()], "Toy").rows.is_empty()


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("A100 Spot", {}),
        ("A100", {"instance_type": "n3-A100x1-spot"}),
        ("A100", {"tier": "Spot"}),
        ("A100", {"instance_type": "gpu_preemptible_1"}),
        ("A100 [Interruptible]", {}),
    ],
)
def test_what_is_named_spot_has_no_price_on_demand(label: str, names: dict[str, str]) -> None:
    assert offer(label, None, **names) == "no on_demand price"
    assert isinstance(offer(label, H100, option="spot", **names), Offer)
    with pytest.raises(LayoutChanged, match="a name of spot machines, with a price of on_demand"):
        offer(label, H100, **names)


def test_a_word_with_spot_in_it_is_no_spot() -> None:
    assert isinstance(offer("A100", H100, instance_type="hotspot-a100", tier="spotless"), Offer)


def test_a_column_that_does_not_exist_is_no_offer() -> None:
    with pytest.raises(TypeError, match="colour"):
        offer("H100", H100, colour="green")


def test_a_spot_price_above_the_other_is_refused() -> None:
    assert by_option(H100, H100, "spot") == {"on_demand": H100, "spot": H100}
    assert by_option(None, H100, "spot") == {"on_demand": None, "spot": H100}
    with pytest.raises(LayoutChanged, match="a spot price above"):
        by_option(H100, H100 + 1, "spot")


def test_spot_prices_of_two_regions_are_compared_with_prices_on_demand_alone() -> None:
    """Where a chip has none on demand, its spot prices may differ as they like."""
    spot = [offer("H100", price, option="spot", region_id=region) for region, price in (("a", H100), ("b", 2 * H100))]
    refuse_exchanged(spot)
    refuse_exchanged([*spot, offer("H100", 3 * H100)])
    with pytest.raises(LayoutChanged, match="a spot price above"):
        refuse_exchanged([*spot, offer("H100", H100)])


def test_an_error_says_field_value_and_what_is_allowed() -> None:
    with pytest.raises(LayoutChanged) as raised:
        Fields("answer", {"tier": "gold"}).one_of("tier", ("secure", "spot"))
    assert str(raised.value) == (
        "unknown tier; expected one of secure, spot (field answer.tier, value gold). "
        "Check the document; the source may have a new layout"
    )
    assert refusal("", "", None).source == ""
