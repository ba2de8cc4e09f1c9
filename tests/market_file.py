"""A published file of a small market: AWS, clouds, marketplaces, floors, euros, old prices and words nobody knows."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import kept
import pytest
from log_rows import add_documents
from looks import ParsedFetch, Row, at_once, day, row
from purchase import SOURCES, said, seen, spot

from transform.formula import statements
from transform.models import MACROS, MARTS
from warehouse.log import db
from warehouse.log.load import load
from warehouse.publish import published_file

NOW = 60
HOSTILE = '<img src=x onerror="alert(1)">'
SXM, PCIE = "NVIDIA H100 SXM5 80GB", "NVIDIA H100 PCIe 80GB"


def machine(provider: str, price: str, label: str = SXM, count: int = 8, **others: object) -> Row:
    return row(
        f"{count}x", price, service_provider_name=provider, accelerator_label=label, accelerator_count=str(count),
        **({"region_id": "eu-north-1"} | others),
    )  # fmt: skip


def chip(provider: str, price: str, label: str = SXM, **others: object) -> Row:
    return row(
        None, price, service_provider_name=provider, accelerator_label=label, accelerator_count="1",
        capacity_unit="GPU", **({"region_id": None} | others),
    )  # fmt: skip


CURRENT = [
    row("p5.48xlarge", "80"), row("p5.4xlarge", "12"), spot("p5.48xlarge", "use1-az1", "32"),
    machine("Alpha", "40", tier="a tier with a long name that has to wrap somewhere", fabric="Ethernet"),
    machine("Beta", "44", pricing_currency="EUR"),
    machine("Gamma", "2", count=1, statistic="floor"),
    machine("Delta", "16", label=PCIE), machine("Epsilon", "36", purchase_option="spot"),
    machine("Nobody", "8", host_provider_name="a-host"),
    chip("Zeta", "2.5", minimum_quantity="1", statistic="p25"),
    chip("Zeta", "3", minimum_quantity="1", statistic="median"),
    chip("Eta", "3.5", minimum_quantity="1", statistic="median"), chip("Theta", "4"),
    machine("Iota", "50", purchase_option="reserved", commitment_term_hours=8760),
    machine("Iota", "60", purchase_option="reserved", tier="no length told"),
    chip("Kappa", "9", label="NVIDIA Z9000 Ti"), chip("Kappa", "3", pricing_currency="GBP"),
    chip("Kappa", "4", label="H200 20GB", minimum_quantity="1"),
    machine(HOSTILE, "48", tier=HOSTILE, host_provider_name=HOSTILE, region_id=HOSTILE, fabric=HOSTILE),
    chip(HOSTILE, "48", label="NVIDIA L4", region_id=HOSTILE),
    *(machine(f"Many {n}", str(100 + n)) for n in range(5)),
]  # fmt: skip
RATE = {"pricing_currency": "USD", "rate_date": day(NOW - 3).date(), "units_per_eur": Decimal("1.25")}


def stock(provider: str, **told: object) -> Row:
    fact = {
        "service_provider_name": provider, "host_provider_name": None, "instance_type": None, "accelerator_label": SXM,
        "accelerator_count": None, "region_id": None, "purchase_option": "on_demand", "tier": None,
        "n_machines": None, "n_accelerators": None, "stock_status": None,
    }  # fmt: skip
    return fact | told


NONE_LEFT = stock(
    "Nobody", instance_type="8x", host_provider_name="a-host", region_id="eu-north-1", n_accelerators=0,
    stock_status="sold out",
)  # fmt: skip


def looks() -> list[ParsedFetch]:
    return [
        said(NOW, "offline_archive", "fx_rate", RATE),
        said(NOW, "aws_spot_feed", "availability", stock("Zeta", n_machines=12), NONE_LEFT),
        seen(20, "aws_price_list", machine("Lambda", "48"), scope="old"),
        seen(NOW, "aws_price_list", *CURRENT),
    ]


def market(base: pytest.TempPathFactory) -> Path:
    """Return the market's file, made once for all tests: read it, or copy its folder."""
    return kept.once(base, "market", publish_market) / "prices.duckdb"


def publish_market(folder: Path) -> Path:
    """Publish the market into a folder and return the file."""
    with db.writer(folder) as con:
        every = list(looks())
        add_documents(con, *every, urls=["https://x.test/"] * len(every))
        for moment, together in at_once(looks()):
            load(con, together, recorded_at=moment)
        return published_file.publish(
            con, folder, marts=MARTS, macros=MACROS, formulas=statements(), sources=SOURCES,
            built_at=day(NOW) + timedelta(hours=12), version="test",
        )  # fmt: skip
