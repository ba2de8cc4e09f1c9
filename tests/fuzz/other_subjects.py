"""The readers of neoclouds, of catalogues, of imports and of benchmark files."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from fuzz.json_mutants import of_json
from fuzz.markup_mutants import of_markup
from fuzz.mutants import Change
from fuzz.rows import NOW, of_frames, of_source, of_values, text
from fuzz.table_mutants import of_table
from fuzz.verdicts import Row, Subject
from neoclouds.case import cases
from neoclouds.markets import MARKETS

from extract import observations
from extract.benchmarks import read as read_benchmark
from extract.benchmarks.result import RUN as RUN_MODEL
from extract.catalogues import gpuhunt_, skypilot_catalog
from warehouse.documents import Document

CATALOGUE = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n"
    "cpu_4x_general,,,4.0,16.0,0.2,us-east-1,,\n"
    "gpu_8x_h100_sxm5,H100,8.0,208.0,1800.0,27.52,us-east-1,"
    "\"{'Gpus': [{'Name': 'H100', 'Manufacturer': 'NVIDIA', 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': 81920}}], "
    "'TotalGpuMemoryInMiB': 81920}\",\n"
    "gpu_1x_a100_sxm4,A100,1.0,30.0,200.0,1.48,us-west-2,"
    "\"{'Gpus': [{'Name': 'A100', 'Manufacturer': 'NVIDIA', 'Count': 1.0, 'MemoryInfo': {'SizeInMiB': 40960}}], "
    "'TotalGpuMemoryInMiB': 40960}\",\n"
)
"""Lines of https://github.com/skypilot-org/skypilot-catalog (Apache-2.0), lambda, read on 2026-11-21."""
OBSERVED = (
    "observed_at_utc,provider,region,pricing,term,payment,currency,usd_per_hour,instance_type,gpu,gpu_count,source,"
    "tier_raw,gpu_raw,flags\n"
    "2022-06-22T13:25:00Z,aws,us-east-1,on_demand,,,USD,13.10904,dl1.24xlarge,,,karpenter@cafda,,,\n"
    "2022-06-22T13:25:00Z,aws,us-east-1,reserved,1yr,No Upfront,USD,8.5,p4d.24xlarge,,,karpenter@cafda,,,\n"
    "2022-08-04T00:00:00Z,lambda,,on_demand,,,,1.1,,A100-40GB,1,the-full-stack/website,hand_curated,A100 (40 GB),"
    "git_commit_date\n"
    "2022-09-04T00:00:00Z,lambda,,on_demand,,,,1.29,,A100-40GB,1,the-full-stack/website,hand_curated,A100 (40 GB),\n"
    "2022-09-04T00:00:00Z,vast.ai,,spot,,,,0.8,,RTX 4090,2,vast,,RTX 4090,median_of_offers\n"
    "2022-10-04T00:00:00Z,lambda,,on_demand,,,,,,A100-40GB,1,the-full-stack/website,hand_curated,A100 (40 GB),\n"
)
"""Lines of the shared observations; the reserved one and those of 2022-10 and of vast.ai are made up."""
GPUHUNT = {
    "provider": "seeweb", "gpuhunt": "0.1.34", "warnings": [],
    "items": [
        {"provider": "seeweb", "instance_name": "ECS2GPU3", "location": "it-fr2", "price": 1.98, "cpu": 32,
         "memory": 240.0, "gpu_count": 2, "gpu_name": "A100", "gpu_memory": 80.0, "spot": False, "disk_size": 2000.0,
         "provider_data": {}},
        {"provider": "seeweb", "instance_name": "ECS1GPU1", "location": "it-fr2", "price": 0.38, "cpu": 4,
         "memory": 16.0, "gpu_count": 1, "gpu_name": "A30", "gpu_memory": 24.0, "spot": False, "disk_size": 500.0,
         "provider_data": {}},
    ],
}  # fmt: skip


FOLLOW = {
    "massedcompute": ("instance_type",),  # named by the label, and by how many there are
    "digitalocean": ("accelerator_count", "capacity_unit"),  # one where the label, which is told whole, says none
    "google_cloud": ("unit_price", "price_parts"),  # the sum of a machine's parts: the answer has prices of parts alone
    "runpod": ("purchase_option",),  # a spot price counts where it is below the price on demand
}
"""Columns that follow from others in one source alone."""


def of_whatever(body: bytes) -> Mapping[str, Change]:
    """Return the changes that fit a document's form."""
    text = body.decode("utf-8", "replace")
    start = text.lstrip()[:1]
    if start in ("{", "["):
        try:
            return of_json(text)
        except ValueError:
            return {}
    return of_markup(text) if start == "<" else {}


def subjects(shared: Path | None) -> Iterator[Subject]:
    """Yield the readers; without the folder of captures, those of our own fixtures."""
    for case in cases():
        named = FOLLOW.get(case.source.name, ())
        documents = {"fixture": case.body}
        if shared:
            documents |= {Path(path).name: (shared / path).read_bytes() for path in case.samples}
        yield Subject(
            name=case.source.name, read=of_source(case.source, scope="all"), changes=of_whatever,
            documents={name: body for name, body in documents.items() if len(body) < 100_000},
            derived=("accelerator_label", "capacity_unit", "tier", "conditions", "restriction", "n_machines", "n_accelerators", "stock_status", *named), unknown=("n_machines", "n_accelerators"),  # noqa: E501
            amounts=_markets(case.source.name),
        )  # fmt: skip
    documents = {"made": CATALOGUE.encode()}
    yield Subject(
        name="skypilot_catalog lambda", read=of_source(skypilot_catalog.SOURCE, scope="lambda"), documents=documents,
        changes=lambda body: of_table(body.decode()), derived=("accelerator_label", "capacity_unit"),
    )  # fmt: skip
    yield Subject(
        name="gpuhunt", read=of_source(gpuhunt_.SOURCE, scope="seeweb"),
        documents={"made": json.dumps(GPUHUNT).encode()}, changes=of_json, derived=("accelerator_label",),
    )  # fmt: skip
    seen = {"made": OBSERVED.encode()}
    if shared:
        for name, most in (("neocloud_history.csv", 60), ("aws_on_demand_observations.csv", 60)):
            lines = (shared / "data" / name).read_text().splitlines(keepends=True)
            seen[name] = "".join([lines[0], *lines[1 :: max(1, len(lines) // most)]]).encode()
    yield Subject(
        name="import", read=_imported, documents=seen, changes=lambda body: of_table(body.decode()),
        derived=("accelerator_label", "statistic", "origin"), optional=observations.OPTIONAL,
    )  # fmt: skip
    if shared:
        yield from _benchmarks(shared)


def _markets(name: str) -> Any:
    """Return what the quantiles of an edited answer should be, of the sources that tell quantiles."""
    quantiles = MARKETS.get(name)
    if name in ("hyperbolic", "shadeform"):  # in cents
        return lambda body: {
            text(Decimal(each.decode()) / 100)
            for each in re.findall(rb"(?<![\w.])\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,2})?", body)
        }
    if quantiles is None:
        return None

    def amounts(body: bytes) -> Collection[str]:
        try:
            return {found[-1] for found in quantiles(body)}
        except Exception:  # noqa: BLE001 - what cannot be computed allows nothing
            return ()

    return amounts


def _imported(body: bytes) -> Collection[Row]:
    document = Document(source="import", scope="seen.csv", url="seen.csv", body=body, fetched_at=NOW)
    return of_frames(observations.parse(document).prices)


def _benchmarks(shared: Path) -> Iterator[Subject]:
    from benchmark_words import WORDS

    folder = shared / "data" / "benchmark_samples"
    for name, words in WORDS.items():
        if name.startswith("custom_") or "overcount" in name:  # of no known tool, and wrong: refused as they are
            continue

        def read(body: bytes, name: str = name, words: Mapping[str, str] = words) -> Collection[Row]:
            return of_values(read_benchmark(body, name, words))

        yield Subject(
            name=f"benchmark {name[:17]}", read=read, documents={name: (folder / name).read_bytes()},
            changes=of_whatever, derived=RUN, unknown=RUN,
        )  # fmt: skip


RUN = tuple(RUN_MODEL.fields)
"""A figure that is missing is worked out from others, or another statistic stands in: so of these files errors, time and
memory are judged, and the figures by the tests of their readers."""  # noqa: E501
