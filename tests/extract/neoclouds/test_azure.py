"""Azure's retail prices: its traps, one by one, and a server that pages and limits the rate as the API does."""

import csv
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from neoclouds.case import MOMENT, document, rows
from neoclouds.cases.azure import CASE
from web_site import Site, send

from extract.base import Context
from extract.neoclouds.azure import REGIONS, SOURCE
from extract.web.http import HttpWeb, Retries
from warehouse.documents import Document
from warehouse.errors import LayoutChanged, Unavailable

PAGES: list[dict[str, Any]] = json.loads(CASE.body)["chipledger_pages"]


def changed(change: Callable[[dict[str, Any]], None], size: str) -> bytes:
    """Return the fixture with the first item of a size changed."""
    pages = json.loads(json.dumps(PAGES))
    item = next(item for page in pages for item in page["Items"] if item["armSkuName"] == size)
    change(item)
    return json.dumps({"chipledger_pages": pages}).encode()


def prices(body: bytes) -> dict[tuple[object, ...], object]:
    keys = ("instance_type", "purchase_option", "commitment_term_hours")
    return {tuple(row.get(key) for key in keys): row["unit_price"] for row in rows(CASE.parse(body))}


def test_what_is_no_price_of_a_machine_with_linux_is_counted() -> None:
    """Windows, Cloud Services, Low Priority, DevTest, promotions, FPGAs, old prices; unknown sizes are named."""
    found = CASE.parse(CASE.body)

    assert found.ignored == {
        "a machine with Windows": 2, "a price for developers and tests": 1, "Low Priority": 1, "Cloud Services": 1,
        "a price that does not hold now": 1, "a price before the present one": 1, "a meter of another region": 1,
        "a promotion": 1, "an FPGA": 1, "a machine without accelerators": 1, "another service": 1, "duplicate offer": 1,
    }  # fmt: skip
    assert found.unknown == ("the size Standard_ND900_H900_v9",)


def test_pages_of_all_services_have_items_without_a_size() -> None:
    """As the API gives them where nobody filters: they are left out, and hide no price of a machine beside them."""
    item = PAGES[0]["Items"][0]
    traffic = item | {"armSkuName": "", "serviceName": "Bandwidth", "productName": "Bandwidth", "unitOfMeasure": "1 GB"}
    page = {"BillingCurrency": "USD", "Items": [item, *4 * [traffic]], "NextPageLink": None, "Count": 5}

    found = CASE.parse(json.dumps(page).encode())
    assert {row["instance_type"] for row in rows(found)} == {"Standard_ND96isr_H100_v5"}
    assert found.ignored == {"a price of no size of machine": 4}
    with pytest.raises(LayoutChanged, match=r"value {'a price of no size of machine': 1}"):
        CASE.parse(json.dumps(page | {"Items": [traffic]}).encode())


@pytest.mark.parametrize(
    ("product", "unknown", "ignored"),
    [
        ("Virtual Machines NCCadsv5 Srs", None, None),
        ("Virtual Machines NDisrv5 series", None, None),
        ("Virtual Machines NCCadsv5 Srs Win", None, "a machine with Windows"),
        ("Virtual Machines NDsr H100 v5 Series RHEL", "the system of Virtual Machines NDsr H100 v5 Series RHEL", None),
    ],
)
def test_a_price_of_another_system_is_none_of_linux(product: str, unknown: str | None, ignored: str | None) -> None:
    """What the product's name ends in tells the system, as Azure writes it; any other end is named."""
    whole = CASE.parse(CASE.body)
    found = CASE.parse(changed(lambda item: item.update(productName=product), "Standard_ND96isr_H100_v5"))

    is_linux = unknown is None and ignored is None
    assert (len(rows(found)) == len(rows(whole))) == is_linux
    assert (unknown in found.unknown) == (unknown is not None)
    assert found.ignored.total() - whole.ignored.total() == (ignored is not None)
    assert not ignored or found.ignored[ignored] == whole.ignored[ignored] + 1


def test_a_reservation_is_a_total_and_a_plan_is_by_the_hour() -> None:
    """551,221 and 1,134,310 are 62.92 and 43.16 an hour of their terms."""
    found = {
        (row["purchase_option"], row.get("commitment_term_hours")): row
        for row in rows(CASE.parse(CASE.body))
        if row["instance_type"] == "Standard_ND96isr_H100_v5"
    }

    one, three = found["reserved", 8760], found["reserved", 26280]
    assert (one["unit_price"], three["unit_price"]) == ("0", "0")
    assert [round(float(each["upfront_price"]) / each["commitment_term_hours"], 2) for each in (one, three)] == [
        62.92, 43.16,
    ]  # fmt: skip
    assert found["savings_plan", 8760]["unit_price"] == "71.77"
    assert "upfront_price" not in found["savings_plan", 8760]


def test_two_names_of_a_machine_are_one_offer() -> None:
    """The list has Standard_ND96asr_v4 twice; as two offers, one would look like another machine."""
    assert prices(CASE.body)["Standard_ND96asr_v4", "on_demand", None] == "27.197"
    assert not [name for name, *_ in prices(CASE.body) if name == "Standard_ND96asr_A100_v4"]


def test_a_price_that_begins_later_waits() -> None:
    """The price in force holds until the day of the next one."""
    later = changed(lambda item: item.update(effectiveStartDate="2026-12-01T00:00:00Z"), "Standard_NC24ads_A100_v4")
    assert ("Standard_NC24ads_A100_v4", "on_demand", None) not in prices(later)
    assert CASE.parse(later).ignored["a price that does not hold now"] == 2


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"armRegionName": "westus"}, "armRegionName"),
        ({"currencyCode": "EUR"}, "currencyCode"),
        ({"unitOfMeasure": "1 Month"}, "unitOfMeasure"),
        ({"unitPrice": 9.8}, "unitPrice"),
        ({"meterName": "ND96isrH100v5 Spot"}, "meterName"),
        ({"reservationTerm": "1 Year"}, "reservationTerm"),
    ],
)
def test_what_changes_the_meaning_refuses_the_answer(change: dict[str, object], field: str) -> None:
    """Another region, currency or unit, and words that contradict one another, of one item alone."""
    body = changed(lambda item: item.update(change), "Standard_ND96isr_H100_v5")
    with pytest.raises(LayoutChanged) as refusal:
        CASE.parse(body, "eastus")
    assert refusal.value.field is not None
    assert refusal.value.field.endswith(field)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda item: item["savingsPlan"][0].update(retailPrice=99.0), "savingsPlan[0].retailPrice"),
        (lambda item: item.update(effectiveStartDate="2026-05-01"), "effectiveStartDate"),
        (lambda item: item.update(effectiveEndDate="2027"), "effectiveEndDate"),
    ],
)
def test_an_odd_item_is_refused_alone(change: Callable[[dict[str, Any]], None], field: str) -> None:
    """A plan above its price, as if both were exchanged, and a time that is none; the region's other prices hold."""
    found = CASE.parse(changed(change, "Standard_ND96isr_H100_v5"))
    assert [one.field for one in found.refused] == [f"page 1.Items[0].{field}"]


def test_a_newer_price_of_another_regions_meter_does_not_end_the_present_one() -> None:
    """It is counted; the machine keeps its price on demand."""
    pages = json.loads(json.dumps(PAGES))
    newer = {"isPrimaryMeterRegion": False, "effectiveStartDate": "2026-06-01T00:00:00Z", "retailPrice": 1.0}
    pages[0]["Items"].append(pages[0]["Items"][0] | newer)
    assert prices(json.dumps({"chipledger_pages": pages}).encode()) == prices(CASE.body)


def context(site: Site, **settings: object) -> Context:
    web = HttpWeb(retries=Retries(attempts=2, seconds=5, pause_s=0.001))
    own = {"url": f"{site.url}/api/retail/prices", **settings}
    return Context(web=web, settings=own, now=lambda: MOMENT)


def asked(region: str, skip: str = "") -> str:
    """Return path and query of a page, as the API writes it."""
    where = (
        f"serviceName%20eq%20%27Virtual%20Machines%27%20and%20armRegionName%20eq%20%27{region}%27%20and%20"
        "contains%28armSkuName%2C%20%27Standard_N%27%29"
    )
    return f"/api/retail/prices?api-version=2023-01-01-preview&currencyCode='USD'&$filter={where}{skip}"


def test_pages_follow_one_another(site: Site) -> None:
    """The next page is asked at the address that was set, and both are one document."""
    first, second = json.loads(json.dumps(PAGES))
    first["NextPageLink"] = f"https://prices.azure.com:443{asked('eastus', '&$skip=1000')}"
    site.answers[asked("eastus")] = [send(json.dumps(first).encode())]
    site.answers[asked("eastus", "&$skip=1000")] = [send(json.dumps(second).encode())]

    (found,) = SOURCE.fetch(context(site), "eastus").documents

    assert rows(SOURCE.parse(found)) == CASE.expected


@pytest.mark.parametrize(
    ("body", "found"),
    [(b"<!DOCTYPE html><title>Just a moment...</title>", "HTML"), (b" ", "nothing"), (b"{", "no JSON")],
)
def test_a_page_that_is_no_json_is_named(site: Site, body: bytes, found: str) -> None:
    """A guard against robots answers 200 with a page of its own: the error says so, and shows how it begins."""
    site.answers[asked("eastus")] = [send(body)]

    with pytest.raises(LayoutChanged, match=f"expected JSON, found {found}") as refusal:
        SOURCE.fetch(context(site), "eastus")
    assert refusal.value.value == body.decode()


def test_a_limited_rate_is_waited_for(site: Site) -> None:
    """429 with the API's own header: the second try comes after the time that it says."""
    page = PAGES[1]
    limited = send(status=429, x_ms_ratelimit_retailprices_retry_after="0")
    site.answers[asked("eastus")] = [limited, send(json.dumps(page).encode())]
    assert SOURCE.fetch(context(site), "eastus").complete

    site.answers[asked("westus")] = [send(status=429, x_ms_ratelimit_retailprices_retry_after="600")] * 2
    with pytest.raises(Unavailable) as refusal:
        SOURCE.fetch(context(site), "westus")
    assert refusal.value.retry_after == 600


def test_a_region_without_machines_has_no_prices(site: Site) -> None:
    """It is an answer."""
    page = {"BillingCurrency": "USD", "Items": [], "NextPageLink": None, "Count": 0}
    site.answers[asked("jioindiawest")] = [send(json.dumps(page).encode())]
    (found,) = SOURCE.fetch(context(site), "jioindiawest").documents
    assert SOURCE.parse(found).rows.is_empty()


def test_prices_in_another_currency_are_refused() -> None:
    """Where the account or the address says so."""
    page = dict(PAGES[1], BillingCurrency="EUR")
    with pytest.raises(LayoutChanged, match="expected prices in USD"):
        SOURCE.parse(document(SOURCE, json.dumps(page).encode(), "eastus"))


def test_regions_are_chosen(site: Site, shared: Path) -> None:
    """By default those with a chip of 80 GB or more, but those for the few; any other by its name."""
    with (shared / "data" / "clouds" / "azure_on_demand_gpu_lists.csv").open() as file:
        listed = {
            row["arm_region_name"] for row in csv.DictReader(file)
            if row["generated_at"] > "2026" and re.search("[ABH][123]00", row["arm_sku_name"])
        }  # fmt: skip
    few = "francesouth germanynorth jioindiacentral jioindiawest southafricawest switzerlandwest uaecentral"
    assert listed - {*REGIONS} == {*few.split()}
    assert SOURCE.scopes(context(site)) == REGIONS
    assert SOURCE.scopes(context(site, regions=["jioindiawest"])) == ("jioindiawest",)


def test_a_moment_is_utc() -> None:
    """A price that begins this very second holds."""
    body = changed(
        lambda item: item.update(effectiveStartDate=f"{MOMENT:%Y-%m-%dT%H:%M:%SZ}"), "Standard_NV6ads_A10_v5"
    )
    assert prices(body)["Standard_NV6ads_A10_v5", "on_demand", None] == "0.454"
    assert MOMENT.astimezone(UTC) == datetime(2026, 11, 20, 6, tzinfo=UTC)


@pytest.mark.parametrize("scope", ["", "all"])
def test_a_file_without_a_region_is_of_any(scope: str) -> None:
    """`chipledger parse` names none."""
    found = Document(source="azure", scope=scope, url=SOURCE.url, body=CASE.body, fetched_at=MOMENT)
    assert len(SOURCE.parse(found).rows) == len(CASE.parse(CASE.body, "eastus").rows)
