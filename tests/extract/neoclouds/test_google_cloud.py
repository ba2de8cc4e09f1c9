"""Google Cloud's machines: each the sum of its parts or nothing, and the traps of the SKUs, one by one."""

import csv
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from neoclouds.case import MOMENT, document, rows
from neoclouds.cases.google_cloud import CASE
from web_site import open_site, send

from extract.base import Context
from extract.neoclouds.google_cloud import KEY, SOURCE
from extract.web.http import HttpWeb, Retries
from warehouse.errors import CredentialsMissing, LayoutChanged

SKUS: list[dict[str, Any]] = [sku for page in json.loads(CASE.body)["chipledger_pages"] for sku in page["skus"]]
A3 = "a3-highgpu-8g"


def prices(skus: list[dict[str, Any]]) -> dict[tuple[object, ...], str]:
    """Return prices in us-central1 by machine, option and tier."""
    found = SOURCE.parse(document(SOURCE, json.dumps({"skus": skus}).encode()))
    return {
        (row.get("instance_type"), row["purchase_option"], row.get("tier")): row["unit_price"]
        for row in rows(found)
        if row["region_id"] == "us-central1" and "instance_type" in row
    }


def described(texts: tuple[str, ...], usage: str) -> list[dict[str, Any]]:
    """Return the SKUs, with those of an option added: each part of an A3 under its description there."""
    added = []
    parts = ("A3 Instance Core", "A3 Instance Ram", "Nvidia H100 80GB GPU", "SSD backed Local Storage")
    for part, text in zip(parts, texts, strict=True):
        sku = json.loads(json.dumps(next(one for one in SKUS if one["description"].startswith(part))))
        sku["description"] = text
        sku["category"]["usageType"] = usage
        added.append(sku)
    return [*[sku for sku in SKUS if sku["description"] not in texts], *added]


def without(word: str) -> list[dict[str, Any]]:
    return [sku for sku in SKUS if word not in sku["description"]]


def test_a_machine_is_the_sum_of_its_parts() -> None:
    """208 cores, 1,872 GiB, 8 accelerators and 6,000 GB of SSD: 88.49; A3 Mega with parts of its own: 93.40."""
    found = prices(SKUS)

    assert abs(Decimal(found[A3, "on_demand", None]) - Decimal("88.49")) < Decimal("1e-6")
    assert round(Decimal(found["a3-megagpu-8g", "on_demand", None]), 2) == Decimal("93.40")
    assert found["a4-highgpu-8g", "on_demand", None] == "128.88"
    assert found["g4-standard-48", "on_demand", None] == "4.49993"
    assert found["a2-highgpu-1g", "on_demand", None] == "3.673385"


def test_a_part_of_an_accelerator_is_sold_with_its_machine() -> None:
    """An eighth is 0.64688 with its cores and memory: 6 cores and an eighth of a whole G4 would be 0.55956."""
    found = {
        row.get("instance_type"): row for row in rows(CASE.parse(CASE.body)) if row["purchase_option"] == "on_demand"
    }
    parts = [found[f"g4-standard-{cores}"] for cores in (6, 12, 24)]

    assert [(row["accelerator_count"], row["unit_price"]) for row in parts] == [
        ("0.125", "0.64688"), ("0.25", "1.29376"), ("0.5", "2.58752"),
    ]  # fmt: skip
    assert prices(without("vGPU")).keys() == {
        key for key in prices(SKUS) if key[0] not in {row["instance_type"] for row in parts}
    }


def test_a_price_that_only_a_reservation_gets_is_open_to_nobody_else() -> None:
    """A4 and an A3 High of less than eight have a price on demand, and are not sold so; as spot they are."""
    of_reservations = {row.get("instance_type") for row in CASE.expected if row.get("restriction") == "reservation"}
    found = {
        (row.get("instance_type"), row["purchase_option"]): row.get("restriction")
        for row in rows(CASE.parse(CASE.body))
    }

    assert of_reservations == {"a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g", "a4-highgpu-8g"}
    assert {found[name, "on_demand"] for name in of_reservations} == {"reservation"}
    assert found[A3, "on_demand"] is found["a3-highgpu-1g", "spot"] is found["a3-megagpu-8g", "on_demand"] is None


@pytest.mark.parametrize(
    "part", ["A3 Instance Core running", "A3 Instance Ram running", "H100 80GB GPU running", "Local"]
)
def test_a_machine_without_one_of_its_parts_has_no_price(part: str) -> None:
    """Without its SSD it would cost 87.83: nothing is better."""
    assert (A3, "on_demand", None) not in prices(without(part))


def test_an_a3_ultra_has_its_own_cores_and_twelve_terabytes() -> None:
    """83.49 without its SSD and 84.81 with it, in Google's console on 2026-03-25: 12,000 GB x 0.08 / 730 are 1.32."""
    renamed = {"A3 Instance": "A3Ultra Instance", "Nvidia H100 80GB GPU running": "H200 141GB GPU running"}
    skus = json.dumps([sku for sku in SKUS if "H200" not in sku["description"]])
    for old, new in renamed.items():
        skus = skus.replace(f'"{old}', f'"{new}')
    found = prices(json.loads(skus))

    cores, memory, chips = 224 * Decimal("0.025498003"), 2952 * Decimal("0.00222034"), 8 * Decimal("9.796550569")
    ssd = Decimal(found["a3-ultragpu-8g", "on_demand", None]) - cores - memory - chips
    assert round(ssd, 2) == Decimal("84.81") - Decimal("83.49") == Decimal("1.32")


def test_the_weekly_list_of_another_reader_agrees(shared: Path) -> None:
    """Machines of us-central1 whose parts we have. It has an eighth of a G4's accelerator at an eighth of its price."""
    with (shared / "data" / "clouds" / "gcp_gpu_machine_prices_weekly.csv").open() as file:
        theirs = {
            row["machine_type"]: float(row["usd_per_vm_hour"])
            for row in csv.DictReader(file)
            if (row["region"], row["option"]) == ("us-central1", "on_demand")
        }
    ours = {name: float(price) for (name, option, _), price in prices(SKUS).items() if option == "on_demand"}
    compared = (ours.keys() & theirs.keys()) - {"g4-standard-6", "g4-standard-12", "g4-standard-24"}

    assert len(compared) >= 12
    assert {name: (ours[name], theirs[name]) for name in compared if abs(ours[name] / theirs[name] - 1) > 1e-6} == {}


@pytest.mark.parametrize(
    ("texts", "usage", "key"),
    [
        (
            (
                "DWS Defined Duration A3 Core running in Americas",
                "DWS Defined Duration A3 Ram running in Americas",
                "Nvidia H100 80GB GPU attached to DWS Defined Duration VMs running in Americas",
                "DWS Defined Duration SSD backed Local Storage running in Americas",
            ),
            "OnDemand",
            (A3, "capacity_block", "flex-start"),
        ),
        (
            (
                "DWS Calendar Mode A3 Core in Seoul",
                "Reserved A3 Ram in Seoul in Calendar Mode",
                "Reserved Nvidia H100 80GB GPU in Seoul in Calendar Mode",
                "DWS Calendar Mode SSD backed Local Storage in Seoul",
            ),
            "OnDemand",
            (A3, "capacity_block", "calendar mode"),
        ),
        (
            (
                "Spot Preemptible A3 Instance Core running in Paris",
                "Spot Preemptible A3 Instance Ram running in Paris",
                "Nvidia H100 80GB GPU attached to Spot Preemptible VMs running in Paris",
                "SSD backed Local Storage attached to Spot Preemptible VMs in Paris",
            ),
            "OnDemand",
            (A3, "spot", None),
        ),
    ],
)
def test_options_are_told_by_the_description(texts: tuple[str, ...], usage: str, key: tuple[object, ...]) -> None:
    """As Google words each part. None of them moves the price on demand, though usageType is that of one."""
    found = prices(described(texts, usage) if key[1] != "spot" else [
        sku for sku in described(texts, usage) if sku["description"] in texts or "Spot" not in sku["description"]
    ])  # fmt: skip

    assert found.get((A3, "on_demand", None)) == prices(SKUS)[A3, "on_demand", None]
    assert found.get(key) == found[A3, "on_demand", None]


def test_a_slice_of_an_a4_is_a_machine_under_each_option() -> None:
    """8 x 11.277 in calendar mode, which its own words say, with usageType OnDemand as the others have."""
    slices = []
    for text, price in (
        ("DWS Calendar Mode {} in Seoul", "11.277"),
        ("DWS Defined Duration {} running in Iowa", "8.055"),
    ):
        sku = json.loads(json.dumps(next(one for one in SKUS if one["description"].startswith("A4 Nvidia B200"))))
        units, nanos = price.split(".")
        money = {"units": units, "nanos": int(nanos.ljust(9, "0")), "currencyCode": "USD"}
        sku["description"] = text.format("A4 Nvidia B200 (1 gpu slice)")
        sku["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]["unitPrice"] = money
        slices.append(sku)

    found = prices([*SKUS, *slices])

    assert found["a4-highgpu-8g", "capacity_block", "calendar mode"] == "90.216"
    assert found["a4-highgpu-8g", "capacity_block", "flex-start"] == "64.44"


@pytest.mark.parametrize(("years", "hours"), [("1 Year", 8760), ("3 Years", 26280)])
def test_a_commitment_is_of_all_parts(years: str, hours: int) -> None:
    """By the hour; one whose cores are not committed has no price."""
    parts = ("A3 Cpu in", "A3 Ram in", "Nvidia H100 80GB GPU running in", "Local SSD In")
    skus = described(tuple(f"Commitment v1: {part} Americas for {years}" for part in parts), f"Commit{years[0]}Yr")
    assert not [row for row in CASE.expected if row["purchase_option"] == "reserved"]
    skus = [sku for sku in skus if sku["skuId"] != "302A-B1A1-06DD"]
    found = [
        row for row in rows(SOURCE.parse(document(SOURCE, json.dumps({"skus": skus}).encode())))
        if row.get("instance_type") == A3 and row["purchase_option"] == "reserved"
    ]  # fmt: skip
    assert {row["commitment_term_hours"] for row in found} == {hours}
    assert {row["purchase_payment_model"] for row in found} == {"No Upfront"}


def test_whole_dollars_count() -> None:
    """Nanos alone would give 0.80 for an H100 at 9.80."""
    (h100,) = [sku for sku in SKUS if sku["skuId"] == "D4E2-451A-15B9"]
    assert h100["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]["unitPrice"]["units"] == "9"
    assert float(prices(SKUS)[A3, "on_demand", None]) > 8 * 9.79


def test_two_prices_of_a_part_are_none() -> None:
    """The same words at another price: named, and no machine with that part has a price there."""
    twin = json.loads(json.dumps(next(sku for sku in SKUS if sku["description"].startswith("A3 Instance Core"))))
    twin["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]["unitPrice"]["nanos"] = 30000000
    body = json.dumps({"skus": [*SKUS, twin]}).encode()

    found = SOURCE.parse(document(SOURCE, body))

    assert "two prices of A3 core, on_demand, in us-central1" in found.unknown
    assert (A3, "on_demand", None) not in prices([*SKUS, twin])


def test_what_is_not_known_is_named() -> None:
    """A new accelerator by its description; what is no part of such a machine is counted, as is what has no sum."""
    found = CASE.parse(CASE.body)

    assert found.unknown == ("the accelerator Nvidia H900 GPU",)
    assert found.ignored == {
        "a reservation's own line": 1, "an accelerator without a machine of its own": 1,
        "a price without a region": 1, "no part of a machine with accelerators": 1,
        "a machine without one price of A3 core": 20, "a machine without one price of A3Plus core": 2,
        "a machine without one price of A3Ultra core": 2, "a3-edgegpu-8g, the size of whose local SSD is not known": 9,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "usage", "chip", "key"),
    [
        ("TpuV5p running in Sao Paulo", "OnDemand", "TPU v5p", ("on_demand", None, None)),
        (
            "TpuV5e attached to Spot Preemptible VMs running in Singapore",
            "Preemptible",
            "TPU v5e",
            ("spot", None, None),
        ),
        ("DWS Defined Duration V6e running in Columbus", "OnDemand", "TPU v6e", ("capacity_block", "flex-start", None)),
        (
            "Reserved V5e TPU in Seoul in Calendar Mode",
            "OnDemand",
            "TPU v5e",
            ("capacity_block", "calendar mode", None),
        ),
        ("Commitment v1: TpuV5p running in Netherlands for 3 Years", "Commit3Yr", "TPU v5p", ("reserved", None, 26280)),
        ("TPU7x running in Americas", "OnDemand", "TPU7x", ("on_demand", None, None)),
        ("Capacity Optimized TpuV6e running in Columbus", "OnDemand", "Capacity Optimized TpuV6e", None),
    ],
)
def test_a_tpu_is_priced_by_the_chip(text: str, usage: str, chip: str, key: tuple[object, ...] | None) -> None:
    """As the catalogue words each option; what is of an unknown unit is named, and has no price."""
    sku = json.loads(json.dumps(next(one for one in SKUS if one["description"].startswith("TpuV6e"))))
    sku |= {"description": text, "serviceRegions": ["us-east5"]}
    sku["category"]["usageType"] = usage
    others = [one for one in SKUS if "Tpu" not in one["description"]]

    found = SOURCE.parse(document(SOURCE, json.dumps({"skus": [*others, sku]}).encode()))

    terms = ("purchase_option", "tier", "commitment_term_hours", "accelerator_count", "unit_price")
    tpus = [tuple(row.get(name) for name in terms) for row in rows(found) if row["accelerator_label"] == chip]
    assert tpus == ([(*key, "1", "2.7")] if key else [])
    assert (f"a price of a TPU, {chip}" in found.unknown) == (key is None)


def test_another_currency_is_refused(shared: Path) -> None:
    """An account's own currency, as in a captured answer: whole, where the SKU is a part of a machine."""
    captured = json.loads((shared / "data" / "clouds" / "samples" / "gcp_billing_skus_opencost.json").read_text())
    rupiah = [sku for sku in captured["skus"] if sku["description"].startswith("E2 Instance Core")]
    rupiah[0]["description"] = "A2 Instance Core running in Americas"
    with pytest.raises(LayoutChanged, match="expected prices in USD"):
        SOURCE.parse(document(SOURCE, json.dumps({"skus": rupiah}).encode()))


def test_a_captured_answer_gives_its_machines(shared: Path) -> None:
    """Core, RAM and A100 of A2 in three regions, with four SKUs that are none of ours."""
    body = (shared / "data" / "clouds" / "samples" / "gcp_billing_skus_opencost.json").read_bytes()
    found = SOURCE.parse(document(SOURCE, body))

    assert {(row["instance_type"], row["region_id"], row["unit_price"]) for row in rows(found)} >= {
        ("a2-highgpu-1g", region, "3.673385") for region in ("us-central1", "us-east1", "us-west1")
    }
    assert found.ignored == {"no part of a machine with accelerators": 4}


def fetched(monkeypatch: pytest.MonkeyPatch, key: str, check: Callable[[str, Any], None]) -> bytes:
    """Return what is fetched of a catalogue of two pages; `check` gets each request."""
    monkeypatch.setenv(KEY, key)
    first, second = json.loads(CASE.body)["chipledger_pages"]
    path = "/v1/services/6F81-5844-456A/skus?pageSize=5000&currencyCode=USD&prettyPrint=false"
    with open_site() as site:
        site.answers[path] = [send(json.dumps(first).encode())]
        site.answers[f"{path}&pageToken=APKCS1HVa0Y%3D"] = [send(json.dumps(second).encode())]
        web = HttpWeb(retries=Retries(attempts=2, seconds=5, pause_s=0.001))
        settings = {"url": f"{site.url}/v1/services/6F81-5844-456A/skus"}
        ctx = Context(web=web, settings=settings, now=lambda: MOMENT)
        (found,) = SOURCE.fetch(ctx, "all").documents
        for request in site.asked:
            check(request.path, request.headers)
    return found.body


def test_pages_follow_one_another_and_the_key_stays_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key goes in a header: no address, and so no log and no document, has it."""

    def check(path: str, headers: Any) -> None:
        assert headers["X-Goog-Api-Key"] == "example-0001"
        assert "example-0001" not in path

    body = fetched(monkeypatch, "example-0001", check)
    assert b"example-0001" not in body
    assert rows(SOURCE.parse(document(SOURCE, body))) == CASE.expected


def test_without_a_key_it_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is named."""
    monkeypatch.delenv(KEY, raising=False)
    ctx = Context(web=HttpWeb(), settings={}, now=lambda: MOMENT)
    with pytest.raises(CredentialsMissing) as error:
        SOURCE.scopes(ctx)
    assert KEY in str(error.value.hint)


@pytest.mark.parametrize(
    ("machine", "region", "theirs", "ours"),
    [
        # SkyPilot's catalogue has the rate of flex-start as that on demand.
        ("a3-highgpu-8g", "us-central1", 8 * (4.200761 + 26 * 0.025498003 + 234 * 0.00222034), 88.4899999026),
        ("a2-ultragpu-1g", "us-central1", 1.846198 + 12 * 0.031611 + 170 * 0.004237, 5.0687978904),
        # A published cost calculator gives A3 Mega the cores and memory of A3 High.
        ("a3-megagpu-8g", "us-central1", 8 * 10.344275712 + 208 * 0.025498 + 1872 * 0.00222034 + 0.6575, 93.3998999426),
        # Without cores, memory and SSD: the accelerators alone.
        ("a3-highgpu-8g", "us-central1", 8 * 9.796550569, 88.4899999026),
        # Cores and memory of A3 Ultra are in no answer that was seen.
        ("a3-ultragpu-8g", "us-central1", 8 * 9.31174, None),
        ("a3-megagpu-8g", "europe-west4", 118.236831175, None),
    ],
)  # fmt: skip
def test_what_other_catalogues_have_is_not_ours(machine: str, region: str, theirs: float, ours: float | None) -> None:
    """Wrong rows of others, each with its cause; where a part is missing there is no row of ours."""
    found = {
        float(row["unit_price"])
        for row in CASE.expected
        if (row.get("instance_type"), row["region_id"], row["purchase_option"]) == (machine, region, "on_demand")
    }
    assert found == ({ours} if ours else set())
    assert all(abs(price / theirs - 1) > 0.003 for price in found)
