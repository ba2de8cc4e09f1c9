"""The readers of AWS's documents and of the ECB's: documents captured where there are any, made in their format else."""  # noqa: E501

import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from functools import partial
from pathlib import Path

from fuzz.json_mutants import of_json
from fuzz.markup_mutants import of_markup
from fuzz.rows import of_source, text
from fuzz.table_mutants import of_table
from fuzz.verdicts import Subject
from price_list_files import P5, csv_lines, offer_csv
from savings_plan_files import csv_file, page, result
from standin.ec2 import xml

from extract import ecb_rates, offline_archive  # fmt: skip
from extract.aws import (
    capacity_block_rates,
    capacity_blocks,
    instance_types,
    price_list,
    savings_plans,
    spot,
    spot_feed,
)

DAILY = b"""<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>\n\t\t<gesmes:name>European Central Bank</gesmes:name>\n\t</gesmes:Sender>
\t<Cube>\n\t\t<Cube time='2026-09-24'>
\t\t\t<Cube currency='USD' rate='1.1367'/>
\t\t\t<Cube currency='JPY' rate='180.57'/>
\t\t\t<Cube currency='CNY' rate='7.6302'/>
\t\t</Cube>\n\t</Cube>\n</gesmes:Envelope>
"""
"""Real rates of 2026-09-24."""
RATES = b"""Date,USD,JPY,BGN,CYP,GBP,CNY,
2025-04-25,1.1357,162.8,1.9558,N/A,0.8531,8.2773,
2025-04-24,1.1376,162.16,1.9558,N/A,0.855,8.2925,
"""
SPOT_AT = datetime(2026, 11, 20, 6, tzinfo=UTC)
NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"
RESERVED = {
    "OfferTermCode": "38NPMPTW36", "RateCode": "3D4V8UAYEMB38GU2.38NPMPTW36.6YS6EN2CT7", "TermType": "Reserved",
    "LeaseContractLength": "1yr", "PurchaseOption": "Partial Upfront", "OfferingClass": "standard",
}  # fmt: skip
LINES = (
    P5,
    P5 | {"SKU": "OTHER1", "Instance Type": "p4d.24xlarge", "PricePerUnit": "21.9600000000", "RateCode": "OTHER1.A.B"},
    P5 | RESERVED | {"PricePerUnit": "18.1200000000"},
    P5 | RESERVED | {"PricePerUnit": "158731", "Unit": "Quantity", "RateCode": "3D4V8UAYEMB38GU2.38NPMPTW36.2TG2D8R56U"},  # noqa: E501
    P5 | {"SKU": "CB", "operation": "RunInstances:CB", "MarketOption": "CapacityBlock", "PricePerUnit": "0.0000000000"},
    P5 | {"SKU": "RES", "CapacityStatus": "AllocatedCapacityReservation", "PricePerUnit": "0.0000000000"},
    P5 | {"SKU": "WIN", "Operating System": "Windows", "PricePerUnit": "63.8720000000"},
    P5 | {"SKU": "CPU", "Instance Type": "m5.large", "Instance Family": "General purpose", "GPU": "",
          "PricePerUnit": "0.0960000000"},
)  # fmt: skip


def spot_records() -> list[dict[str, object]]:
    """Return records of spot in EC2's form; the prices are made up."""
    return [
        {
            "AvailabilityZone": f"us-east-1{zone}", "AvailabilityZoneId": f"use1-az{number}", "InstanceType": kind,
            "ProductDescription": "Linux/UNIX", "SpotPrice": price, "Timestamp": SPOT_AT.replace(hour=number),
        }
        for number, (zone, kind, price) in enumerate(
            [("a", "p5.48xlarge", "31.4159000"), ("b", "p5.48xlarge", "29.9100000"), ("c", "g6.xlarge", "0.3210000"),
             ("a", "g6.xlarge", "0.2990000"), ("d", "m5.large", "0.0400000")], start=1,
        )
    ]  # fmt: skip


def block_offer(fee: str, number: str, zone: str, start: str, hours: int = 24) -> str:
    end = datetime.fromisoformat(start) + timedelta(hours=hours)
    return (
        f"<item><capacityBlockOfferingId>{number}</capacityBlockOfferingId><instanceType>trn2.48xlarge</instanceType>"
        f"<availabilityZone>{zone}</availabilityZone><instanceCount>1</instanceCount>"
        f"<startDate>{start}</startDate><endDate>{end.isoformat()}</endDate>"
        f"<capacityBlockDurationHours>{hours}</capacityBlockDurationHours>"
        "<capacityBlockDurationMinutes>0</capacityBlockDurationMinutes>"
        f"<upfrontFee>{fee}</upfrontFee><currencyCode>USD</currencyCode><tenancy>default</tenancy></item>"
    )


def blocks() -> bytes:
    """Return an answer with three offers in EC2's XML; the first fee is observed, the others are made up."""
    offers = (
        block_offer("858.26", "cb-1", "ap-south-2b", "2026-12-03T11:30:00.000Z"),
        block_offer("1716.5184", "cb-2", "ap-south-2b", "2026-12-05T11:30:00.000Z", 48),
        block_offer("900.48", "cb-3", "ap-south-2a", "2026-12-04T11:30:00.000Z"),
    )
    return (
        f'<DescribeCapacityBlockOfferingsResponse xmlns="{NAMESPACE}"><requestId>r</requestId>'
        f"<capacityBlockOfferingSet>{''.join(offers)}</capacityBlockOfferingSet></DescribeCapacityBlockOfferingsResponse>"
    ).encode()


def machines() -> list[dict[str, object]]:
    """Return instance types as the API describes them."""
    return [
        {
            "InstanceType": "p5.48xlarge", "SupportedUsageClasses": ["on-demand", "spot", "capacity-block"],
            "GpuInfo": {"Gpus": [{"Name": "H100", "Manufacturer": "NVIDIA", "Count": 8,
                                  "MemoryInfo": {"SizeInMiB": 81920}}], "TotalGpuMemoryInMiB": 655360},
        },
        {
            "InstanceType": "trn2.48xlarge", "SupportedUsageClasses": ["on-demand", "capacity-block"],
            "NeuronInfo": {"NeuronDevices": [{"Count": 16, "Name": "Trainium2",
                                              "CoreInfo": {"Count": 8, "Version": 3},
                                              "MemoryInfo": {"SizeInMiB": 98304}}]},
        },
        {"InstanceType": "m5.large", "SupportedUsageClasses": ["on-demand", "spot"]},
    ]  # fmt: skip


def bulk_rates() -> bytes:
    """Return rates in the form of the bulk files' JSON; the captured excerpt has none of an accelerator."""
    rate = {
        "discountedSku": "BB8PM5YDQ3ZXCVBN", "discountedUsageType": "BoxUsage:p5.48xlarge",
        "discountedOperation": "RunInstances", "discountedServiceCode": "AmazonEC2", "rateCode": "PLAN.P5",
        "unit": "Hrs", "discountedRate": {"price": "40.1792", "currency": "USD"},
        "discountedRegionCode": "us-east-1", "discountedInstanceType": "p5.48xlarge",
    }  # fmt: skip
    other = rate | {
        "discountedUsageType": "BoxUsage:p4d.24xlarge", "discountedInstanceType": "p4d.24xlarge", "rateCode": "PLAN.P4",
        "discountedRate": {"price": "16.03", "currency": "USD"},
    }  # fmt: skip
    term = {"sku": "PLAN", "leaseContractLength": {"duration": 1, "unit": "year"}, "rates": [rate, other]}
    plan = {"sku": "PLAN", "productFamily": "ComputeSavingsPlans", "attributes": {"purchaseOption": "No Upfront"}}
    return json.dumps({"products": [plan], "terms": {"savingsPlan": [term]}}).encode()


def of_csv(body: bytes, head: int = 5) -> object:
    return of_table(body.decode(), head=head)


def zipped(body: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("eurofxref-hist.csv", body)
    return packed.getvalue()


def _small_feed(body: bytes, most: int = 3) -> bytes:
    """Return a captured feed with some of its regions."""
    content = json.loads(body)
    if "config" in content:
        for region in content["config"]["regions"]:
            region["instanceTypes"] = [
                each for each in region["instanceTypes"] if each["type"].startswith(("gpu", "accel"))
            ]
        content["config"]["regions"] = content["config"]["regions"][:most]
        return json.dumps(content).encode()
    regions = {name: content["spot_advisor"][name] for name in ("us-east-1",)}
    kept = {
        region: {
            system: {name: said for name, said in types.items() if name.startswith(("p", "g", "trn", "inf", "m5."))}
            for system, types in systems.items()
        }
        for region, systems in regions.items()
    }
    return json.dumps({"ranges": content["ranges"], "spot_advisor": kept}).encode()


def _small_answer(body: bytes, name: str, most: int) -> bytes:
    content = json.loads(body)
    content[name] = content[name][:most]
    return json.dumps(content).encode()


def subjects(shared: Path | None) -> Iterator[Subject]:
    """Yield the readers; without the folder of captures, those of documents made in the same formats."""
    samples = shared / "data" / "aws_samples" if shared else None

    def captured(name: str) -> bytes:
        body = (samples / name).read_bytes() if samples else b""
        return gzip.decompress(body) if name.endswith(".gz") else body

    made = offer_csv(LINES)
    lists = {"made": made}
    if samples:
        real = json.loads(captured("pricing_get_products_us_east_1.json"))
        listed = real.get("PriceList", [])
        products = [json.loads(each) if isinstance(each, str) else each for each in listed]
        if products:
            lists["captured as CSV"] = offer_csv(csv_lines(products))
    yield Subject(
        name="aws_price_list csv", read=of_source(price_list.SOURCE, scope="us-east-1"), documents=lists,
        changes=of_csv, derived=("capacity_unit",),
    )  # fmt: skip
    archive = sorted((Path(price_list.__file__).parent.parent / "archive").rglob("us-east-1/index.csv.gz"))
    yield Subject(
        name="offline_archive", read=of_source(offline_archive.SOURCE, scope="us-east-1"),
        documents={path.parts[-3]: gzip.decompress(path.read_bytes()) for path in archive[::6]}, changes=of_csv,
        derived=("capacity_unit",),
    )  # fmt: skip
    if samples:
        for place in ("us_east_1", "us_west_2"):
            yield Subject(
                name=f"aws_price_list json {place[3:7]}",
                read=of_source(price_list.SOURCE, scope=place.replace("_", "-")),
                documents={place: _plain_page(captured(f"pricing_get_products_{place}.json"))},
                changes=of_json, derived=("capacity_unit",),
            )  # fmt: skip
    yield Subject(
        name="aws_savings_plans csv", read=of_source(savings_plans.SOURCE, scope="us-east-1"),
        documents={"made": csv_file({}, {"DiscountedRate": "36.5", "PurchaseOption": "All Upfront", "RateCode": "PLAN.2"},  # noqa: E501
                                    {"Product Family": "SageMakerSavingsPlans", "DiscountedServiceCode": "AmazonSageMaker",  # noqa: E501
                                     "DiscountedUsageType": "USE1-Train:ml.p5.48xlarge", "DiscountedOperation": "",
                                     "DiscountedInstanceType": "ml.p5.48xlarge", "DiscountedRate": "50.1"})},
        changes=of_csv, derived=("capacity_unit", "conditions"),
    )  # fmt: skip
    rates = {"made": page(result(), result(rate="30.5", paymentOption="All Upfront"))}
    yield Subject(
        name="aws_savings_plans json", read=of_source(savings_plans.SOURCE, scope="us-east-1"), documents=rates,
        changes=of_json, derived=("capacity_unit", "conditions"),
    )  # fmt: skip
    yield Subject(
        name="aws_savings_plans bulk json", read=of_source(savings_plans.SOURCE, scope="us-east-1"),
        documents={"made": bulk_rates()}, changes=of_json, derived=("capacity_unit", "conditions"),
    )  # fmt: skip
    yield from _spot(captured if samples else None)
    yield from _facts(captured if samples else None)


def _plain_page(body: bytes) -> bytes:
    """Return a page whose products are objects, so that changes reach into them."""
    content = json.loads(body)
    content["PriceList"] = [json.loads(each) if isinstance(each, str) else each for each in content["PriceList"]][:8]
    return json.dumps(content).encode()


def _spot(captured: object) -> Iterator[Subject]:
    records = spot_records()
    texts = [record | {"Timestamp": record["Timestamp"].isoformat()} for record in records]  # type: ignore[attr-defined]
    saved = {"made": json.dumps({"SpotPriceHistory": texts}).encode()}
    if captured:
        for kind in ("p3.2xlarge", "inf1.xlarge"):
            body = captured(f"spot_history_us_east_1_{kind}_20210530.json.gz")  # type: ignore[operator]
            saved[kind] = _small_answer(body, "SpotPriceHistory", 40)
    read = partial(of_source, spot.SOURCE, scope="us-east-1")
    yield Subject(name="aws_spot json", read=read(), documents=saved, changes=of_json, parts=_records)
    answer = xml("DescribeSpotPriceHistory", {"SpotPriceHistory": records})
    current = {"query": "current", "StartTime": "2026-11-21T06:00:00+00:00"}
    yield Subject(
        name="aws_spot xml", read=read(parameters=current), documents={"made": answer}, changes=lambda body:
        of_markup(body.decode()),
    )  # fmt: skip
    lines = "".join(
        "\t".join(str(record[name]) for name in ("AvailabilityZoneId", "InstanceType", "ProductDescription", "SpotPrice"))  # noqa: E501
        + f"\t{record['Timestamp'].isoformat()}\n" for record in records  # type: ignore[attr-defined]
    )  # fmt: skip
    yield Subject(
        name="aws_spot archive",
        read=read(),
        documents={"made": lines.encode()},
        changes=lambda body: of_table(body.decode(), by="\t", header=False),
    )
    if captured:
        for name in ("spot_js_prices_20210406.json.gz", "spot_advisor_data_20250628.json.gz"):
            yield Subject(
                name=f"aws_spot_feed {name[5:12]}", read=of_source(spot_feed.SOURCE, scope="prices"),
                documents={"captured": _small_feed(captured(name))}, changes=of_json,  # type: ignore[operator]
                derived=("availability_zone", "interruption_band"), unknown=("interruption_band", "savings_percent"),
            )  # fmt: skip


def _records(body: bytes) -> Iterator[bytes]:
    """Yield each record of a saved answer alone."""
    for record in json.loads(body)["SpotPriceHistory"]:
        yield json.dumps({"SpotPriceHistory": [record]}).encode()


FACTS = ("capacity_block_offering_id", "starts_at", "ends_at", "duration_minutes", "usable_minutes", "block_fee",
         "pricing_currency", "answer_error", "availability_zone_id")  # fmt: skip


def _hourly(body: bytes) -> set[str]:
    """Return the hourly rates of an answer's offers, by the arithmetic of the documentation."""
    found = set()
    for item in re.findall(rb"<item>(.*?)</item>", re.sub(rb"<!\[CDATA\[(.*?)\]\]>", rb"\1", body), re.DOTALL):
        told = dict(re.findall(r"<(\w+)>([^<>]*)</\1>", item.decode("utf-8", "replace")))
        numbers = [told.get(name, "") for name in (
            "upfrontFee", "instanceCount", "capacityBlockDurationHours", "capacityBlockDurationMinutes")]  # fmt: skip
        if all(re.fullmatch(r"[0-9]+(\.[0-9]+)?", each) for each in numbers):
            fee, count, hours, minutes = map(Decimal, numbers)
            if count and (hours or minutes):
                hourly = fee * 60 / count / (hours * 60 + minutes)
                found.add(text(hourly.quantize(Decimal("1e-10"), ROUND_HALF_EVEN)))
    return found


def _facts(captured: object) -> Iterator[Subject]:
    query = {"InstanceType": "trn2.48xlarge", "InstanceCount": "1", "CapacityDurationHours": "24"}
    yield Subject(
        name="aws_capacity_blocks", read=of_source(capacity_blocks.SOURCE, scope="ap-south-2", parameters=query),
        documents={"made": blocks()}, changes=lambda body: of_markup(body.decode()),
        derived=("duration_minutes", "usable_minutes"), amounts=_hourly, unknown=FACTS,
    )  # fmt: skip
    described = {"made": json.dumps({"InstanceTypes": machines()}).encode()}
    if captured:
        yield Subject(
            name="aws_capacity_block_rates", read=of_source(capacity_block_rates.SOURCE, scope="published"),
            documents={"captured": captured("capacity_block_published_rates_20260722.json")},  # type: ignore[operator]
            changes=of_json, derived=("capacity_unit", "availability_zone", "region_id"),
        )  # fmt: skip
        body = captured("describe_instance_types_accelerators_2026.json.gz")  # type: ignore[operator]
        described["captured"] = _small_answer(body, "InstanceTypes", 6)
    sizes = ("api_accelerator_memory_gib", "api_accelerator_count", "supports_on_demand", "supports_spot",
             "supports_capacity_block", "api_accelerator_name", "api_neuron_cores_per_accelerator")  # fmt: skip
    read = of_source(instance_types.SOURCE, scope="us-east-1")
    yield Subject(
        name="aws_instance_types json", read=read, documents=described, changes=of_json, derived=sizes, unknown=sizes
    )
    yield Subject(
        name="aws_instance_types xml", read=read, derived=sizes, unknown=sizes,
        documents={"made": xml("DescribeInstanceTypes", {"InstanceTypes": machines()})},
        changes=lambda body: of_markup(body.decode()),
    )  # fmt: skip
    euro = of_source(ecb_rates.SOURCE, scope="euro")
    yield Subject(
        name="ecb_rates xml", read=euro, documents={"daily": DAILY}, changes=lambda body: of_markup(body.decode())
    )
    yield Subject(name="ecb_rates csv", read=euro, documents={"archive": RATES}, changes=lambda body: of_csv(body, 0))
    yield Subject(name="ecb_rates zip", read=euro, documents={"archive": zipped(RATES)})
