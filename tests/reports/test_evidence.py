"""What a provider says beside a price: since when it holds, and the parts it is the sum of; on the page of evidence."""

import html
import json
import re
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import paging
import polars as pl
import pytest
from looks import ParsedFetch, day
from neoclouds.case import Case, document
from neoclouds.cases import azure, google_cloud, ovh
from published import query
from purchase import SOURCES, putting

from reports.pages import evidence_page

MARTS = ("accelerator_hour_price", "document_evidence", "price_change")
A3, CORE = "a3-highgpu-8g", "A3 Instance Core running in Americas"
ND = "Standard_ND96isr_H100_v5"


def fetched(case: Case, body: bytes, at: float) -> ParsedFetch:
    """Return a document as it was fetched on a day."""
    name = case.source.name
    sha256 = f"{name:0>62}{at:02.0f}"
    found = case.source.parse(document(case.source, body, "eastus" if name == "azure" else None))
    facts = {table: frame.with_columns(document_sha256=pl.lit(sha256)) for table, frame in found.facts.items()}
    return ParsedFetch(
        run_id=f"run {at}", source=name, scope="all", observed_at=day(at), complete=True, archived=False,
        document_sha256=sha256, rows=found.rows.with_columns(document_sha256=pl.lit(sha256)), facts=facts,
    )  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a published file of both; Azure's prices of a machine have moved after two days."""
    body = json.loads(azure.CASE.body)
    for item in (item for page in body["chipledger_pages"] for item in page["Items"] if item["armSkuName"] == ND):
        if item["type"] == "Consumption" and "Windows" not in item["productName"]:
            item["retailPrice"] = item["unitPrice"] = {98.32: 78.66, 18.17: 17}[item["retailPrice"]]
            if item["retailPrice"] == 78.66:
                item["effectiveStartDate"] = "2026-01-02T12:00:00Z"
    looks = [fetched(each, each.body, 0) for each in (google_cloud.CASE, azure.CASE, ovh.CASE)]
    more = [(name, name, name, "live", 40, 72, "https://x.test") for name in ("google_cloud", "azure", "ovh")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("purchase.SOURCES", [*SOURCES, *more])
        with putting(tmp_path_factory.mktemp("evidence"), asked=MARTS) as put:
            return put(*looks, fetched(azure.CASE, json.dumps(body).encode(), 2), at=3)


def test_the_sum_of_a_machine_is_on_the_page(file: Path) -> None:
    """A reader can add up an A3 by hand: what the page shows of its parts comes to the price, to 1e-6."""
    ((offer, price),) = query(
        file,
        "select offer_id, unit_price from int.accelerator_hour_price "
        f"where instance_type = '{A3}' and region_id = 'us-central1' and purchase_option = 'on_demand'",
    )
    page = html.unescape(paging.of(file, evidence_page.render, [offer]))

    words = re.search(r"for 8 chips = ([^<]+)<", page)
    assert words is not None
    parts = [re.fullmatch(r"([\d.]+) (\D.*?) x ([\d.]+)", part) for part in words[1].split(" + ")]
    assert [(part[1], part[2]) for part in parts if part] == [
        ("8", "H100 gpu"), ("208", "A3 core"), ("1872", "A3 ram"), ("6000", "local SSD ssd"),
    ]  # fmt: skip
    total = sum((Decimal(part[1]) * Decimal(part[3]) for part in parts if part), Decimal(0))
    assert abs(total - Decimal(price)) < Decimal("1e-6")
    assert "stated to hold since 23\N{NO-BREAK SPACE}Jun\N{NO-BREAK SPACE}2026" in page


def test_an_amount_is_stated_with_its_time(file: Path) -> None:
    """OVHcloud's minutes and months; an hour needs no word."""
    offers = query(file, "select offer_id from int.accelerator_hour_price where service_provider_name = 'OVHcloud'")
    page = paging.of(file, evidence_page.render, [offer for (offer,) in offers])
    assert {*re.findall(r"EUR( a \w+)?<", page)} == {"", " a minute", " a month"}


def test_a_change_has_the_date_that_the_provider_states(file: Path) -> None:
    """On demand it lies between two fetches, so that is when the price moved; that of spot does not, and is NULL."""
    found = query(
        file,
        "select purchase_option, unit_price_after, effective_at from int.price_change "
        f"where instance_type = '{ND}' order by all",
    )
    assert found == [("on_demand", Decimal("78.66"), datetime(2026, 1, 2, 12)), ("spot", Decimal(17), None)]  # noqa: DTZ001
