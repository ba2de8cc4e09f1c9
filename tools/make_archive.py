"""Render the offline archive, documents in AWS's own formats, from its tables of facts.

    python tools/make_archive.py [--into FOLDER]

Reads `facts.csv`, `snapshots.csv` and `companions.csv` in `extract/archive/` and writes `offers/` beside them, or
into another folder. The same tables give the same documents. What is rendered, and from where: docs/offline-archive.md.
"""

import argparse
import base64
import csv
import gzip
import hashlib
import io
import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

ARCHIVE = Path(__file__).resolve().parent.parent / "extract" / "archive"
ROOT = "offers/v1.0/aws"
OFFER = "AmazonEC2"
FORMAT = "v1.0"
DISCLAIMER = (
    "Not a document of AWS. Rendered by chipledger, in the format of AWS's price list, from public records of AWS's "
    "list prices; see docs/offline-archive.md for the sources. For prices that hold, ask AWS."
)
DESCRIPTION = "Placeholder row, rendered by chipledger from a public record: {price} USD per {type} Instance Hour"
SKU_MARK = "NOTAWS"
"""How each placeholder for an unknown SKU begins; a real one is 16 letters and digits too."""
ON_DEMAND_TERM, HOURLY_RATE = "JRTCKXETXF", "6YS6EN2CT7"
"""AWS's codes of the on-demand term and of its hourly rate, the same in every price list."""

COLUMNS = """
SKU|OfferTermCode|RateCode|TermType|PriceDescription|EffectiveDate|StartingRange|EndingRange|Unit|PricePerUnit|Currency
RelatedTo|LeaseContractLength|PurchaseOption|OfferingClass|Product Family|serviceCode|Location|Location Type
Instance Type|Current Generation|Instance Family|vCPU|Physical Processor|Clock Speed|Memory|Storage|Network Performance
Processor Architecture|Storage Media|Volume Type|Max Volume Size|Max IOPS/volume|Max IOPS Burst Performance
Max throughput/volume|Provisioned|Tenancy|EBS Optimized|Operating System|License Model|Group|Group Description
Transfer Type|From Location|From Location Type|To Location|To Location Type|usageType|operation|AvailabilityZone
CapacityStatus|ClassicNetworkingSupport|Dedicated EBS Throughput|ECU|Elastic Graphics Type|Enhanced Networking Supported
From Region Code|GPU|GPU Memory|Instance|Instance Capacity - 10xlarge|Instance Capacity - 12xlarge
Instance Capacity - 16xlarge|Instance Capacity - 18xlarge|Instance Capacity - 24xlarge|Instance Capacity - 2xlarge
Instance Capacity - 32xlarge|Instance Capacity - 4xlarge|Instance Capacity - 8xlarge|Instance Capacity - 9xlarge
Instance Capacity - large|Instance Capacity - medium|Instance Capacity - metal|Instance Capacity - xlarge|instanceSKU
Intel AVX2 Available|Intel AVX Available|Intel Turbo Available|MarketOption|Normalization Size Factor|Physical Cores
Pre Installed S/W|Processor Features|Product Type|Region Code|Resource Type|serviceName|SnapshotArchiveFeeType
To Region Code|Volume API Name|VPCNetworkingSupport
"""
HEADER = tuple(COLUMNS.strip().replace("\n", "|").split("|"))
"""The 91 columns of AWS's regional AmazonEC2 file, in order."""

LOCATIONS = {
    "eu-west-1": ("EU (Ireland)", "EU-"),
    "us-east-1": ("US East (N. Virginia)", ""),
    "us-gov-east-1": ("AWS GovCloud (US-East)", "UGE1-"),
    "us-west-2": ("US West (Oregon)", "USW2-"),
}
"""AWS's name of each region and the prefix of its usage types."""

FAMILIES = (
    (("inf", "trn"), "Machine Learning ASIC Instances"),
    (("f",), "FPGA Instances"),
    (("vt",), "Media Accelerator Instances"),
    (("",), "GPU instance"),
)
"""Beginnings of type names and the Instance Family that AWS lists them under; the first that fits counts."""

ALL_TYPES, NAMED_TYPES = "all", "named"
"""Coverage of a snapshot: its source listed every type of the region, or only those named for that moment."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One price of one product, in the words of the columns that decide whose price it is."""

    region: str
    instance_type: str
    usd_per_hour: str
    usage_type: str
    instance_family: str
    product_family: str = "Compute Instance"
    operating_system: str = "Linux"
    license_model: str = "No License required"
    tenancy: str = "Shared"
    pre_installed_sw: str = "NA"
    capacity_status: str = "Used"
    market_option: str = "OnDemand"
    operation: str = "RunInstances"

    @property
    def sku(self) -> str:
        """Return the placeholder: the same product has the same one in every version."""
        product = "|".join((self.region, self.usage_type, self.operation, self.tenancy, self.license_model))
        digest = hashlib.blake2b(product.encode(), digest_size=10).digest()
        return SKU_MARK + base64.b32encode(digest).decode()[: 16 - len(SKU_MARK)]

    def cells(self) -> Mapping[str, str]:
        """Return the columns that are known; all others are empty."""
        return {
            "SKU": self.sku,
            "OfferTermCode": ON_DEMAND_TERM,
            "RateCode": f"{self.sku}.{ON_DEMAND_TERM}.{HOURLY_RATE}",
            "TermType": "OnDemand",
            "PriceDescription": DESCRIPTION.format(price=self.usd_per_hour, type=self.instance_type),
            "StartingRange": "0",
            "EndingRange": "Inf",
            "Unit": "Hrs",
            "PricePerUnit": f"{Decimal(self.usd_per_hour):.10f}",
            "Currency": "USD",
            "Product Family": self.product_family,
            "serviceCode": OFFER,
            "Location": LOCATIONS[self.region][0],
            "Location Type": "AWS Region",
            "Instance Type": self.instance_type,
            "Instance Family": self.instance_family,
            "Tenancy": self.tenancy,
            "Operating System": self.operating_system,
            "License Model": self.license_model,
            "usageType": self.usage_type,
            "operation": self.operation,
            "CapacityStatus": self.capacity_status,
            "MarketOption": self.market_option,
            "Pre Installed S/W": self.pre_installed_sw,
            "Region Code": self.region,
            "serviceName": "Amazon Elastic Compute Cloud",
        }


def render(archive: Path = ARCHIVE) -> dict[str, bytes]:
    """Return every document by its path under the archive's folder; CSV documents uncompressed, under `.csv`."""
    facts = _read(archive / "facts.csv")
    companions = _read(archive / "companions.csv")
    documents: dict[str, bytes] = {}
    versions: defaultdict[str, list[str]] = defaultdict(list)
    for snapshot in _read(archive / "snapshots.csv"):
        at, region = snapshot["observed_at_utc"], snapshot["region"]
        rows = [
            *(_priced(region, name, price) for name, price in _state(facts, snapshot).items()),
            *(_companion(row) for row in companions if (row["observed_at_utc"], row["region"]) == (at, region)),
        ]
        documents[f"{ROOT}/{OFFER}/{_version(at)}/{region}/index.csv"] = _offer_csv(rows, at)
        versions[at].append(region)
    return documents | _indexes(versions)


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, strict=True))


def _state(facts: Iterable[Mapping[str, str]], snapshot: Mapping[str, str]) -> dict[str, str]:
    """Return the price of each type at a snapshot: its last change by then, or what was told of that very moment."""
    at, region = snapshot["observed_at_utc"], snapshot["region"]
    of_all = snapshot["coverage"] == ALL_TYPES
    told = [fact for fact in facts if fact["region"] == region]
    counting = [fact for fact in told if fact["observed_at_utc"] == at or (of_all and fact["observed_at_utc"] < at)]
    return {fact["instance_type"]: fact["usd_per_hour"] for fact in counting if fact["usd_per_hour"]}


def _priced(region: str, instance_type: str, usd_per_hour: str) -> Row:
    family = next(name for beginnings, name in FAMILIES if instance_type.startswith(beginnings))
    metal = instance_type.endswith(".metal")
    # karpenter asks for bare metal as a product family of its own, under tenancy Dedicated.
    return Row(
        region=region,
        instance_type=instance_type,
        usd_per_hour=usd_per_hour,
        usage_type=f"{LOCATIONS[region][1]}{'DedicatedUsage' if metal else 'BoxUsage'}:{instance_type}",
        instance_family=family,
        product_family="Compute Instance (bare metal)" if metal else "Compute Instance",
        tenancy="Dedicated" if metal else "Shared",
    )


def _companion(row: Mapping[str, str]) -> Row:
    return Row(**{name: value for name, value in row.items() if name in Row.__dataclass_fields__})


def _version(at: str) -> str:
    """Return AWS's spelling of a moment as a version: 2025-06-23T13:18:30Z is 20250623131830."""
    return "".join(letter for letter in at if letter.isdigit())


def _offer_csv(rows: Iterable[Row], at: str) -> bytes:
    lines = [
        ("FormatVersion", FORMAT),
        ("Disclaimer", DISCLAIMER),
        ("Publication Date", at),
        ("Version", _version(at)),
        ("OfferCode", OFFER),
        HEADER,
    ]
    for row in sorted(rows, key=lambda row: row.sku):
        cells = row.cells()
        lines.append(tuple(cells.get(name, "") for name in HEADER))
    return "".join(_quoted(line) for line in lines).encode()


def _quoted(cells: Iterable[str]) -> str:
    """Return a line as AWS writes it: every cell that has something is quoted, an empty one is nothing."""
    return ",".join('"{}"'.format(cell.replace('"', '""')) if cell else "" for cell in cells) + "\n"


def _indexes(versions: Mapping[str, list[str]]) -> dict[str, bytes]:
    last = max(versions)
    latest = {region: at for at in sorted(versions) for region in versions[at]}
    entries = {
        _version(at): {
            "versionEffectiveBeginDate": at,
            "versionEffectiveEndDate": "",
            "offerVersionUrl": f"/{ROOT}/{OFFER}/{_version(at)}/index.json",
        }
        for at in sorted(versions)
    }
    offer = {
        "offerCode": OFFER,
        "versionIndexUrl": f"/{ROOT}/{OFFER}/index.json",
        "currentVersionUrl": f"/{ROOT}/{OFFER}/current/index.json",
        "currentRegionIndexUrl": f"/{ROOT}/{OFFER}/current/region_index.json",
    }
    documents = {
        f"{ROOT}/index.json": _json(last, {"offers": {OFFER: offer}}),
        f"{ROOT}/{OFFER}/index.json": _json(
            last, {"offerCode": OFFER, "currentVersion": _version(last), "versions": entries}
        ),
        f"{ROOT}/{OFFER}/current/region_index.json": _region_index(last, latest),
    }
    for at, regions in versions.items():
        path = f"{ROOT}/{OFFER}/{_version(at)}/region_index.json"
        documents[path] = _region_index(at, dict.fromkeys(regions, at))
    return documents


def _region_index(published: str, regions: Mapping[str, str]) -> bytes:
    entries = {
        region: {
            "regionCode": region,
            "currentVersionUrl": f"/{ROOT}/{OFFER}/{_version(at)}/{region}/index.json",
        }
        for region, at in sorted(regions.items())
    }
    return _json(published, {"regions": entries})


def _json(published: str, content: dict[str, object]) -> bytes:
    head = {"formatVersion": FORMAT, "disclaimer": DISCLAIMER, "publicationDate": published}
    return (json.dumps(head | content, indent=2) + "\n").encode()


def write(documents: Mapping[str, bytes], into: Path) -> None:
    """Write the documents under a folder, CSV as .csv.gz, in place of those that were there."""
    shutil.rmtree(into / "offers", ignore_errors=True)
    for name, body in documents.items():
        is_csv = name.endswith(".csv")
        path = into / (f"{name}.gz" if is_csv else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_packed(body) if is_csv else body)


def _packed(body: bytes) -> bytes:
    packed = io.BytesIO()
    # No name and no time inside, so that the same body gives the same file.
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(body)
    return packed.getvalue()


def main() -> None:
    """Render the archive and say what was written."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--into", type=Path, default=ARCHIVE, help="folder to write offers/ into")
    into = parser.parse_args().into
    documents = render()
    write(documents, into)
    print(f"{len(documents)} documents in {into / 'offers'}")


if __name__ == "__main__":
    main()
