"""Captured documents of AWS's price list, through both doors."""

import json
from pathlib import Path

import pytest
from price_list_files import csv_lines, document, offer_csv, same

from extract.aws.price_list import parse
from warehouse.schema.tables import OBSERVATION


def sample(shared: Path, name: str) -> bytes:
    return (shared / "data" / "aws_samples" / name).read_bytes()


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        (
            "us-east-1",
            {"g4dn.xlarge": "0.526", "g5.2xlarge": "1.212", "g6.xlarge": "0.8048", "inf2.xlarge": "0.7582",
             "p4d.24xlarge": "21.957642", "p5.48xlarge": "55.04", "trn1.32xlarge": "21.5"},
        ),
        (
            "us-west-2",
            {"g4dn.xlarge": "0.526", "g5.2xlarge": "1.212", "g6.xlarge": "0.8048", "inf2.xlarge": "0.7582",
             "p4d.24xlarge": "21.95764", "p5.48xlarge": "55.04", "trn1.32xlarge": "21.5"},
        ),
    ],
)  # fmt: skip
def test_real_pages_give_their_prices_through_both_doors(shared: Path, region: str, expected: dict[str, str]) -> None:
    """Captured pages of GetProducts, and the same products as a bulk file, give exactly the published prices."""
    page = sample(shared, f"pricing_get_products_{region.replace('-', '_')}.json")
    bulk = offer_csv(csv_lines(json.loads(each) for each in json.loads(page)["PriceList"]))

    through_api, through_bulk = parse(document(page, region)), parse(document(bulk, region))

    assert dict(through_api.rows.select("instance_type", "unit_price").rows()) == expected
    assert same(through_api.rows, through_bulk.rows)
    assert through_api.ignored == through_bulk.ignored
    assert set(through_api.rows["purchase_option"]) == {"on_demand"}
    assert through_api.unknown == ()


def test_what_a_row_holds(shared: Path) -> None:
    """Every column of an observation is set or NULL on purpose."""
    rows = parse(document(sample(shared, "pricing_get_products_us_east_1.json"))).rows

    (p5,) = [row for row in rows.iter_rows(named=True) if row["instance_type"] == "p5.48xlarge"]
    assert list(p5) == list(OBSERVATION)
    assert {name: value for name, value in p5.items() if value is not None} == {
        "service_provider_name": "AWS",
        "instance_type": "p5.48xlarge",
        "capacity_unit": "instance",
        "region_id": "us-east-1",
        "purchase_option": "on_demand",
        "statistic": "price",
        "pricing_currency": "USD",
        "unit_price_type": "List",
        "sku_id": "3D4V8UAYEMB38GU2",
        "sku_price_id": "3D4V8UAYEMB38GU2.JRTCKXETXF.6YS6EN2CT7",
        "unit_price": "55.04",
    }


def test_a_document_of_2016_with_reservations(shared: Path) -> None:
    """The one captured document with Reserved terms: each pair of amounts is one row, in whichever order they stand.

    It has no MarketOption and no regionCode: there were no Capacity Blocks then, and its scope is its region. Its
    c4.large is called g4dn.xlarge here, as no accelerator's was captured.
    """
    body = sample(shared, "pricing_offer_c4.large_with_reserved_2016.json").replace(b"c4.large", b"g4dn.xlarge")

    rows = parse(document(body)).rows.filter(purchase_option="reserved")

    columns = ("commitment_term_hours", "purchase_payment_model", "offering_class", "unit_price", "upfront_price")
    found = set(rows.select(columns).rows())
    assert {
        (8760, "No Upfront", "standard", "0.063", "0"),
        (8760, "Partial Upfront", "standard", "0.03", "263"),
        (26280, "Partial Upfront", "standard", "0.021", "539"),
        (26280, "Partial Upfront", "convertible", "0.027", "710"),
    } <= found
    assert len(found) == rows.height
    assert set(rows["region_id"]) == {"us-east-1"}
