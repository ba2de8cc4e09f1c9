"""The maps behind AWS's price pages: their form as public readers describe it, with the figures of 2026-09 and 2023-06.

The maps here are rendered from tables that were typed from them; one captured map of October 2026 is in test_captures.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from price_maps import SHORT, VIRGINIA, Pages

from extract.aws.price_pages import SOURCE
from extract.base import Context
from extract.web.http import HttpWeb, Retries
from warehouse.documents import Document
from warehouse.errors import LayoutChanged, SourceError
from warehouse.log.gates import row_gate

NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture
def pages(shared: Path) -> Iterator[Pages]:
    found = Pages(shared / "data/aws2/aws_us_east_1_commitments_20260924.csv")
    found.server.start()
    yield found
    found.server.stop()


class At:
    """The web, with AWS's host at another address."""

    def __init__(self, url: str) -> None:
        self.url, self.web = url, HttpWeb(retries=Retries(attempts=1))

    def get(self, url: str) -> Any:
        return self.web.get(url.replace("https://b0.p.awsstatic.com", self.url))


def context(pages: Pages, **others: Any) -> Context:
    return Context(web=At(pages.server.url), settings={}, now=lambda: NOW, **others)  # type: ignore[arg-type]


def effective(row: Mapping[str, Any]) -> Decimal:
    """Return what an hour costs with the fee spread over the term."""
    return Decimal(row["unit_price"]) + Decimal(row["upfront_price"] or 0) / Decimal(row["commitment_term_hours"] or 1)


def test_every_figure_of_the_table_comes_back(pages: Pages, shared: Path) -> None:
    """81 types on demand, 342 Reserved, 486 of Compute plans; none refused, nothing of plain machines."""
    look = SOURCE.fetch(context(pages), "us-east-1")
    rows = [row for document in look.documents for row in SOURCE.parse(document).rows.iter_rows(named=True)]

    assert {len(row_gate(SOURCE.parse(document).rows)[1]) for document in look.documents} == {0}
    counts = {option: sum(row["purchase_option"] == option for row in rows) for option in
              ("on_demand", "reserved", "savings_plan")}  # fmt: skip
    assert counts == {"on_demand": 81, "reserved": 342, "savings_plan": 486}
    found = {}
    for row in rows:
        kind = {"on_demand": "on_demand", "reserved": "ri", "savings_plan": "sp"}[row["purchase_option"]]
        years = (row["commitment_term_hours"] or 0) // 8760
        payment = SHORT.get(row["purchase_payment_model"] or "")
        found[row["instance_type"], kind if kind == "on_demand" else f"{kind}_{years}y_{payment}"] = effective(row)
    for expected in pages.rows:
        for column, value in expected.items():
            if column not in ("instance_type", "vcpu", "memory_gib") and value:
                assert abs(found[expected["instance_type"], column] - Decimal(value)) < Decimal("1e-9"), (
                    expected,
                    column,
                )
    assert look.complete is False
    assert {row["offering_class"] for row in rows if row["purchase_option"] == "reserved"} == {"standard"}


def test_the_rule_of_plans_and_reservations(shared: Path) -> None:
    """An EC2 Instance plan costs what a standard Reserved Instance does, to AWS's rounding: 53 types in June 2023."""
    columns = {"ec2-reservedinstance": "ri_std", "compute-savings-plan-ec2": "sp_compute",
               "instance-savings-plan-ec2": "sp_ec2instance"}  # fmt: skip
    old = Pages(shared / "data/aws2/aws_us_east_1_commitments_202306.csv", packed=False, columns=columns)
    old.server.start()
    look = SOURCE.fetch(context(old), "us-east-1")
    old.server.stop()
    rates: dict[tuple[Any, ...], dict[str, Decimal]] = {}
    for document in look.documents:
        for row in SOURCE.parse(document).rows.iter_rows(named=True):
            if row["purchase_option"] != "on_demand":
                key = (row["instance_type"], row["commitment_term_hours"], row["purchase_payment_model"])
                rates.setdefault(key, {})[row["commitment_discount_type"] or "reserved"] = effective(row)

    both = {key: each for key, each in rates.items() if {"EC2Instance", "reserved"} <= each.keys()}
    assert {key[0].partition(".")[0] for key in both} == {"p2", "p3", "p3dn", "p4d"}
    assert [key for key, each in both.items() if abs(each["EC2Instance"] - each["reserved"]) > Decimal("0.0011")] == []


def test_the_place_is_named_as_the_pages_name_it(shared: Path) -> None:
    """EU (Ireland) first, and by botocore's name where that is not there."""
    for place, names in (("EU (Ireland)", ["EU (Ireland)"]), ("Europe (Spain)", ["EU (Spain)", "Europe (Spain)"])):
        pages = Pages(shared / "data/aws2/aws_us_east_1_commitments_20260924.csv", place)
        pages.server.start()
        region = {"EU (Ireland)": "eu-west-1", "Europe (Spain)": "eu-south-2"}[place]
        look = SOURCE.fetch(context(pages), region)
        pages.server.stop()
        asked = [path.split("/")[-3] for path in pages.requests if "ondemand" in path]
        assert asked == names
        assert set(SOURCE.parse(look.documents[0]).rows["region_id"]) == {region}


def test_without_on_demand_prices_there_is_no_fetch(pages: Pages) -> None:
    with pytest.raises(SourceError, match="no on-demand prices"):
        SOURCE.fetch(context(pages), "eu-west-1")


def test_regions_are_the_users_own_or_four(pages: Pages) -> None:
    assert SOURCE.scopes(context(pages)) == ("ap-northeast-1", "us-east-1", "us-east-2", "us-west-2")
    assert SOURCE.scopes(context(pages, regions=("eu-west-1",))) == ("eu-west-1",)
    before = context(pages, last_observed=lambda scope: NOW if scope == "sa-east-1" else None)
    assert SOURCE.scopes(before) == ("ap-northeast-1", "sa-east-1", "us-east-1", "us-east-2", "us-west-2")


ROW = {"Instance Type": "p5.48xlarge", "price": "55.0400000000", "Pre Installed S/W": "NA",
       "rateCode": "3D4V8UAYEMB38GU2.JRTCKXETXF.6YS6EN2CT7"}  # fmt: skip


def document(rows: Mapping[str, Any], place: str = VIRGINIA, path: str = "") -> Document:
    body = json.dumps({"regions": {place: rows}}).encode()
    return Document(source=SOURCE.name, scope="us-east-1", url=f"https://x/{quote(path)}", body=body, fetched_at=NOW)


def test_the_rate_code_is_the_price_lists() -> None:
    (row,) = SOURCE.parse(document({"a": ROW})).rows.iter_rows(named=True)
    assert (row["sku_id"], row["sku_price_id"]) == ("3D4V8UAYEMB38GU2", ROW["rateCode"])
    assert row["unit_price"] == "55.04"


@pytest.mark.parametrize(
    "other", [{"Pre Installed S/W": "SQL Std"}, {"Tenancy": "Dedicated"}, {"Instance Type": "m5.large"}]
)
def test_other_software_tenancy_and_machines_are_left_out(other: dict[str, str]) -> None:
    assert SOURCE.parse(document({"a": ROW | other})).rows.is_empty()


@pytest.mark.parametrize("broken", [
    document({"a": ROW, "b": ROW}), document({"a": ROW}, "US West (Oregon)"), document({"a": ROW}, "Nowhere"),
    document({"a": ROW | {"price": 55.04}}), replace(document({}), body=b"{}"), replace(document({}), body=b"<html>"),
    replace(document({}), body=gzip.compress(b"{}")[:-4]),
    document({"a": ROW | {"rateCode": "3D4V8UAYEMB38GU2.38NPMPTW36.6YS6EN2CT7"}}),
])  # fmt: skip
def test_another_form_is_refused(broken: Document) -> None:
    """A type twice, another place, a number in place of a text, no map, a page, a gzip that is cut short;

    and a map saved without its address, of reservations by its codes, which would be prices on demand.
    """
    with pytest.raises(LayoutChanged):
        SOURCE.parse(broken)


@pytest.mark.parametrize("price", ["0", "-1", "NaN", "n/a", ""])
def test_a_price_that_is_none_is_refused_by_the_gate(price: str) -> None:
    assert row_gate(SOURCE.parse(document({"a": ROW | {"price": price}})).rows)[0].is_empty()
