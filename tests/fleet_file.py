"""A made-up fleet on real prices: p5 nodes on a plan that ends next month, a neocloud's H100, trn1 for batch.

Prices on demand are those of the shared observations; the rates of the Savings Plans and of spot are made
up, as no capture has them.
"""

import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from looks import START, ParsedFetch, day, row
from purchase import plan, putting, seen, spot

from flows.config.settings import Settings
from flows.private.names import Names

NOW = datetime(2026, 5, 20, tzinfo=UTC)
PLAN_RATE = "40"

NAMES = Names(
    {name.lower(): name for name in ("AWS", "CoreWeave", "RunPod")},
    {"AWS": {"p5.48xlarge": "p5.48xlarge"}, "CoreWeave": {"gb200-4x": "gb200-4x"}},
)
"""Names without a published file."""

FLEET = """\
provider,offer,region,option,nodes,share_of_use,commitment_end,label,term,tier
aws,p5.48xlarge,us-east-1,savings plan,6,0.9,2026-06-20,training,1yr,
RunPod,H100 SXM,,on_demand,32,1,,serving,,secure
AWS,trn1.32xlarge,us-east-1,on-demand,4,0.25,,batch,,
Oracle,H100 SXM,,on_demand,8,1,,elsewhere,,
"""
PRICES = """\
[[rate]]
rule = "p5 plan"
provider = "aws"
offer = "p5.48xlarge"
option = "savings_plan"
contract_id = "PPA-7731"
usd_per_hour = 33.75
valid_from = 2025-06-20

[[discount]]
provider = "AWS"
percent = 12
contract_id = "EDP-0042"
valid_from = 2026-01-01
valid_to = 2026-12-31

[[rate]]
provider = "Lambda"
offer = "H100 SXM"
option = "on_demand"
contract_id = "LAM-1"
usd_per_chip_hour = 1.95
valid_from = 2026-06-01
"""


def observed(file: Path, **wanted: str) -> Iterator[tuple[float, str]]:
    """Yield the day, counted from the start of 2026, and the price of the rows of a CSV of observations that fit."""
    with file.open(newline="") as lines:
        for line in csv.DictReader(lines):
            if all(line[name] == value for name, value in wanted.items()):
                moment = datetime.fromisoformat(line["observed_at_utc"])
                yield (moment - START).total_seconds() / 86400, line["usd_per_hour"]


def h100(price: str, **others: object) -> dict[str, object]:
    """Return RunPod's price of one H100 SXM of its secure cloud."""
    return row(
        None, price, accelerator_label="H100 SXM", accelerator_count="1", capacity_unit="GPU", region_id=None,
        **({"tier": "secure", "service_provider_name": "RunPod"} | others),
    )  # fmt: skip


def looks(shared: Path) -> list[ParsedFetch]:
    """Return what was seen of the fleet's machines, up to `NOW`, in order of time; of RunPod's price the move alone."""
    p5 = dict(observed(
        shared / "data/aws_on_demand_observations.csv", instance_type="p5.48xlarge", region="us-east-1"
    ))  # fmt: skip
    ((_, trn1),) = observed(
        shared / "data/aws_on_demand_observations.csv", instance_type="trn1.32xlarge", region="us-east-1"
    )
    runpod = {
        at: price
        for at, price in observed(
            shared / "data/neocloud_history.csv", provider="runpod", gpu="H100-SXM", tier_raw="secure",
            source="nixj9/gpu-market-intel", pricing="on_demand",
        )
        if 138 < at < 139.1
    }  # fmt: skip
    now = (NOW - START).days
    p5[now], runpod[now] = p5[max(p5)], runpod[max(runpod)]
    found = [
        *(seen(at, "aws_price_list", row("p5.48xlarge", price), row("trn1.32xlarge", trn1))
          for at, price in p5.items()),
        *(seen(at, "aws_price_list", h100(price), h100("2.69", tier="community"), scope="runpod")
          for at, price in runpod.items()),
        seen(now, "aws_savings_plans", plan("p5.48xlarge", PLAN_RATE), plan("p5.48xlarge", "26", years=3)),
        seen(now, "aws_spot", spot("p5.48xlarge", "use1-az1", "20")),
        seen(now, "aws_price_list", h100("4.29", service_provider_name="Nebius"),
             h100("3.99", service_provider_name="Nebius", minimum_quantity="8"), scope="nebius"),
        seen(now, "aws_price_list", h100("3", service_provider_name="OVHcloud"),
             h100("2.8", service_provider_name="OVHcloud", pricing_currency="EUR"), scope="ovh"),
    ]  # fmt: skip
    return sorted(found, key=lambda look: look.observed_at)


def publish_fleet(folder: Path, shared: Path) -> Path:
    """Publish the prices into a folder, with few marts, and return the file."""
    with putting(folder, asked=("commitment_option", "price_change", "provider_price")) as put:
        return put(*looks(shared), at=(NOW - day(0)).days)


def settings(data_dir: Path, folder: Path, *, fleet: str | None = FLEET, prices: str | None = PRICES) -> Settings:
    """Write private files into a folder and return settings that name them."""
    private = {}
    for name, file, text in (("fleet", "fleet.csv", fleet), ("prices", "prices.toml", prices)):
        if text is not None:
            (folder / file).write_text(text, encoding="utf-8")
            private[name] = str(folder / file)
    return Settings(data_dir=data_dir, private=private)
