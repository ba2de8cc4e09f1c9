"""Past list prices of the shared data as frames of observations: other providers, AWS, Azure and Google Cloud.

`bench/false_alarms.py` passes them through the gates, `tools/price_bands.py` makes the limits of them. What is tested
on was set aside before any limit was made: one collector of the other providers, and the last quarter of all others.
"""

import re
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from extract import observations
from warehouse.documents import Document
from warehouse.schema.tables import OBSERVATION

HELD_OUT_COLLECTOR = "adriannutiu/gpu-rental-prices"
LAST_QUARTER = datetime(2026, 6, 22, 20, 30, 6, tzinfo=UTC)
"""A quarter of the rows of the other collectors are later: quantile_disc(observed_at_utc, 0.75) of them."""

GCP = {
    "a2-highgpu": "NVIDIA A100 40GB", "a2-megagpu": "NVIDIA A100 40GB", "a2-ultragpu": "NVIDIA A100 80GB",
    "a3-highgpu": "NVIDIA H100 80GB", "a3-megagpu": "NVIDIA H100 80GB", "g2-standard": "NVIDIA L4",
    "g4-standard": "NVIDIA RTX PRO 6000",
}  # fmt: skip
GCP_COUNTS = {
    "g2-standard": {24: "2", 48: "4", 96: "8"},
    "g4-standard": {6: "0.125", 12: "0.25", 24: "0.5", 96: "2", 192: "4", 384: "8"},
}
"""Chips by vCPUs, where the name does not say the count (https://cloud.google.com/compute/docs/gpus); else one."""

SOURCES = {
    "aws_on_demand_history": "https://github.com/aws/karpenter-provider-aws",
    "aws_multi_region_2025_2026": "https://github.com/tsaol/aws-gpu",
    "azure_on_demand_gpu_lists": "https://github.com/Azure/karpenter-provider-azure",
    "gcp_gpu_machine_prices_weekly": "https://github.com/cloudpilot-ai/karpenter-provider-gcp",
}
"""Where each list was published, by the name of its file."""

PLAIN = {
    "capacity_unit": "instance", "statistic": "price", "pricing_currency": "USD", "unit_price_type": "List",
    "purchase_option": "on_demand",
}  # fmt: skip


def other_providers(shared: Path) -> pl.DataFrame:
    """Return the rows of all collectors: the columns of an import, `origin`, `flag` and `part`.

    `flag` is why a collector doubts the row, else NULL. `part` is `tuning`, `collector` or `last_quarter`.
    """
    body = (shared / "data" / "neocloud_history.csv").read_bytes()
    document = Document(source="import", scope="neocloud_history", url="", body=body, fetched_at=datetime.now(UTC))
    observed = observations.parse(document)
    frames = [
        frame.with_columns(origin=pl.lit(origin), flag=pl.lit(None, pl.String))
        for origin, frame in observed.prices.items()
    ]
    frames += [
        frame.rename({"reason": "flag"}).with_columns(origin=pl.lit(origin))
        for origin, frame in observed.set_aside.items()
    ]
    return pl.concat(frames, how="diagonal").with_columns(
        part=pl.when(pl.col("origin") == HELD_OUT_COLLECTOR)
        .then(pl.lit("collector"))
        .when(pl.col("observed_at") > LAST_QUARTER.replace(tzinfo=None))
        .then(pl.lit("last_quarter"))
        .otherwise(pl.lit("tuning"))
    )


def clouds(shared: Path) -> pl.DataFrame:
    """Return the price lists of AWS (2021 to 2026), Azure and Google Cloud, with `origin` the name of the file."""
    data = shared / "data"
    aws = pl.read_csv(data / "aws_on_demand_history.csv", infer_schema=False).select(
        instance_type="instance_type", region_id="region", unit_price="usd_per_hour",
        observed_at=_moment("generated_at_utc"), origin=pl.lit("aws_on_demand_history"),
    )  # fmt: skip
    regions = pl.read_csv(data / "aws_multi_region_2025_2026.csv", infer_schema=False).select(
        instance_type="instance_type", region_id="region", unit_price="usd_per_hour",
        observed_at=_moment("committed_at_utc"), origin=pl.lit("aws_multi_region_2025_2026"),
        purchase_option=pl.when(pl.col("term") == "onDemand").then(pl.lit("on_demand")).otherwise(pl.lit("reserved")),
    )  # fmt: skip
    reserved = pl.col("purchase_option") == "reserved"
    regions = regions.with_columns(
        commitment_term_hours=pl.when(reserved).then(pl.lit(8760, pl.Int64)),
        purchase_payment_model=pl.when(reserved).then(pl.lit("No Upfront")),
        offering_class=pl.when(reserved).then(pl.lit("standard")),
    )
    sizes = pl.read_csv(data / "clouds" / "azure_gpu_sizes.csv", infer_schema=False)
    azure = pl.read_csv(data / "clouds" / "azure_on_demand_gpu_lists.csv", infer_schema=False).join(
        sizes, left_on="arm_sku_name", right_on="size_name", how="left"
    )
    azure = azure.select(
        service_provider_name=pl.lit("Azure"), instance_type="arm_sku_name", region_id="arm_region_name",
        accelerator_label="accelerator", unit_price="usd_per_vm_hour", observed_at=_moment("generated_at"),
        accelerator_count=pl.col("accelerator_count").cast(pl.Decimal(10, 4), strict=False).cast(pl.String),
        origin=pl.lit("azure_on_demand_gpu_lists"),
    )  # fmt: skip
    gcp = pl.read_csv(data / "clouds" / "gcp_gpu_machine_prices_weekly.csv", infer_schema=False)
    counts = {name: _gcp_count(name) for name in gcp["machine_type"].unique()}
    families = {name: GCP[_gcp_family(name)] for name in counts}
    gcp = gcp.select(
        service_provider_name=pl.lit("Google Cloud"), instance_type="machine_type", region_id="region",
        accelerator_label=pl.col("machine_type").replace_strict(families),
        accelerator_count=pl.col("machine_type").replace_strict(counts),
        purchase_option="option", observed_at=_moment("committed_at"), origin=pl.lit("gcp_gpu_machine_prices_weekly"),
        unit_price=pl.col("usd_per_vm_hour").cast(pl.Float64).round(10).cast(pl.Decimal(18, 10)).cast(pl.String),
    )  # fmt: skip
    found = pl.concat([aws, regions, azure, gcp], how="diagonal").with_columns(
        pl.col("service_provider_name").fill_null("AWS"), pl.col("purchase_option").fill_null("on_demand")
    )
    found = found.filter(pl.col("unit_price").cast(pl.Float64, strict=False) > 0)
    missing = [name for name in OBSERVATION if name not in found.columns]
    return found.with_columns(
        *(pl.lit(PLAIN.get(name), pl.String).alias(name) for name in missing if name != "commitment_term_hours"),
    ).select(*OBSERVATION, "observed_at", pl.col("observed_at").cast(pl.String).alias("observed_at_utc"), "origin")


def _gcp_family(name: str) -> str:
    return "-".join(name.split("-")[:2])


def _gcp_count(name: str) -> str:
    stated = re.search(r"-(\d+)g$", name)
    if stated:
        return stated[1]
    return GCP_COUNTS[_gcp_family(name)].get(int(name.rpartition("-")[2]), "1")


def _moment(column: str) -> pl.Expr:
    """Return a column of ISO 8601 times as naive UTC."""
    return pl.col(column).str.to_datetime(time_zone="UTC", time_unit="us").dt.replace_time_zone(None)
