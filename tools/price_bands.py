"""Makes warehouse/data/price_band.csv: the range of a chip's price per chip-hour, by purchase option, of past prices.

    python tools/price_bands.py --shared ../shared

The range goes from a sixth of the median to eight times it. The median is that of the providers' own medians: none
counts for more than one, however many regions and sizes it lists. Marketplaces, and prices that their collectors doubt,
are left out, and so is what bench/false_alarms.py tests the limits on. `JUDGED` has wide limits from before, which are
a judgement: they stand where a chip has no past prices (no `n_prices`), and widen those that fewer than three providers
give. Interruptible and committed prices have limits of their own where three providers give them.
"""

import argparse
import csv
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402
import polars as pl  # noqa: E402

from bench import past_prices  # noqa: E402
from warehouse.reference import instance_types  # noqa: E402
from warehouse.reference.accelerators import resolve  # noqa: E402
from warehouse.schema.vocabulary import MARKETPLACES  # noqa: E402

TABLE = ROOT / "warehouse" / "data" / "price_band.csv"
LOW, HIGH = 6, 8
MIN_PROVIDERS = 3
COLUMNS = (
    *("accelerator_name", "purchase_option", "limit_low", "limit_high", "median_price", "n_prices", "n_providers"),
    *("first_observed_on", "last_observed_on", "source_url", "accessed_on"),
)
JUDGED = """
A10 0.05 6; A100 0.1 12; A100-40GB 0.1 12; A100-80GB 0.1 12; A10G 0.05 10; A16 0.02 4; A30 0.05 6; A40 0.05 6;
A800 0.1 12; B200 0.5 40; B300 1.5 40; GB200 1 40; GB300 1.5 40; GH200 0.3 25; GTX-1050 0.01 2; GTX-1050-Ti 0.01 2;
Gaudi1 0.05 8; Gaudi2 0.1 12; Gaudi3 0.2 20; H100 0.2 25; H20 0.2 15; H200 0.3 25; Inferentia1 0.01 3;
Inferentia2 0.05 8; K80 0.02 3; L4 0.05 16; L40 0.08 8; L40S 0.1 12; M60 0.02 5; MI250 0.1 10; MI300X 0.3 20;
MI325X 0.4 20; MI350X 0.5 25; MI355X 0.5 25; P100 0.02 5; P4 0.02 4; P40 0.02 5; RTX-2000-Ada 0.02 3;
RTX-2060-SUPER 0.01 2; RTX-2080-Ti 0.01 2; RTX-3060 0.01 2; RTX-3060-Ti 0.01 2; RTX-3070 0.01 2; RTX-3070-Ti 0.01 2;
RTX-3080 0.01 3; RTX-3080-Ti 0.02 3; RTX-3090 0.03 4; RTX-3090-Ti 0.03 4; RTX-4000 0.02 3; RTX-4000-Ada 0.03 4;
RTX-4060 0.01 2; RTX-4070 0.02 3; RTX-4070-Ti 0.02 3; RTX-4070-Ti-SUPER 0.02 3; RTX-4080 0.03 4; RTX-4090 0.06 8;
RTX-5000 0.03 4; RTX-5000-Ada 0.05 5; RTX-5060-Ti 0.01 2; RTX-5070 0.02 3; RTX-5070-Ti 0.02 3; RTX-5080 0.03 4;
RTX-5090 0.08 10; RTX-5880-Ada 0.05 6; RTX-6000 0.05 6; RTX-6000-Ada 0.1 8; RTX-A2000 0.01 3; RTX-A4000 0.02 4;
RTX-A4500 0.02 4; RTX-A5000 0.02 5; RTX-A6000 0.05 8; RTX-PRO-4000 0.03 5; RTX-PRO-4500 0.05 8; RTX-PRO-5000 0.1 8;
RTX-PRO-6000 0.2 15; Radeon-Pro-V520 0.02 4; T4 0.02 10; T4G 0.02 6; TPU-v5e 0.05 8; TPU-v5p 0.2 20; TPU-v6e 0.1 15;
TPU-v7 0.5 40; Trainium1 0.05 10; Trainium2 0.1 20; Trainium3 0.2 30; U30 0.02 4; V100 0.02 12; VU47P 0.05 8;
VU9P 0.05 6
"""
"""Limits of on-demand prices in US dollars per chip-hour: wide on purpose, so that a price war stays inside."""

ACCESSED_ON = date(2026, 11, 23)

BANDS = """
with provider as (
    select accelerator_name, purchase_option, service_provider_name, median(price) as price, count(*) as n_prices,
        min(observed_at)::date as first_on, max(observed_at)::date as last_on, list(distinct url) as urls
    from price group by all
)
select accelerator_name, purchase_option, round(median(price), 4), sum(n_prices)::bigint, count(*), min(first_on),
    max(last_on), array_to_string(list_sort(list_distinct(flatten(list(urls)))), ' ')
from provider group by all order by all
"""


def prices(shared: Path) -> pl.DataFrame:
    """Return the price per chip-hour of each row that the limits are made of."""
    others = past_prices.other_providers(shared).filter(
        (pl.col("part") == "tuning")
        & pl.col("flag").is_null()
        & ~pl.col("service_provider_name").str.to_lowercase().is_in(MARKETPLACES)
        & ~pl.col("tier").fill_null("").str.to_lowercase().str.contains("marketplace")
    )
    rows = pl.concat([others, past_prices.clouds(shared)], how="diagonal")
    types = {each.instance_type: each for each in instance_types.read_table()}
    found = []
    for row in rows.iter_rows(named=True):
        amount = row["unit_price"]
        if not amount or not Decimal(amount):
            continue
        if row["service_provider_name"] == "AWS":
            machine = types.get(row["instance_type"])
            chip, count = (machine.accelerator_name, machine.accelerator_count) if machine else (None, None)
        else:
            read = resolve(row["accelerator_label"], row["service_provider_name"]) if row["accelerator_label"] else None
            chip = read.accelerator_name if read else None
            share = read.accelerator_share if read else None
            count = Decimal(row["accelerator_count"]) * share if share and row["accelerator_count"] else None
        if chip and count:
            origin = row["origin"]
            found.append(
                {
                    "service_provider_name": row["service_provider_name"],
                    "accelerator_name": chip,
                    "purchase_option": row["purchase_option"],
                    "price": float(Decimal(amount) / count),
                    "observed_at": row["observed_at"],
                    "url": past_prices.SOURCES.get(origin, f"https://github.com/{origin}"),
                }
            )
    return pl.DataFrame(found)


def bands(shared: Path) -> list[list[str]]:
    """Return the rows of the table, with its header."""
    judged = {
        chip: (float(low), float(high))
        for chip, low, high in (each.split() for each in JUDGED.replace("\n", " ").split(";"))
    }
    with duckdb.connect() as con:
        con.register("price", prices(shared).to_arrow())
        found = con.execute(BANDS).fetchall()
    rows = []
    for chip, option, median, n_prices, n_providers, first, last, urls in found:
        low, high = median / LOW, median * HIGH
        if n_providers < MIN_PROVIDERS and option != "on_demand":
            continue
        if n_providers < MIN_PROVIDERS and chip in judged:
            low, high = min(low, judged[chip][0]), max(2 * median, judged[chip][1])
        limits = [f"{float(f'{limit:.3g}'):g}" for limit in (low, high)]
        counted = [f"{median:g}", str(n_prices), str(n_providers), str(first), str(last), urls]
        rows.append([chip, option, *limits, *counted, str(ACCESSED_ON)])
    made = {row[0] for row in rows if row[1] == "on_demand"}
    rows += [
        [chip, "on_demand", f"{low:g}", f"{high:g}", "", "", "", "", "", "", str(ACCESSED_ON)]
        for chip, (low, high) in judged.items()
        if chip not in made
    ]
    return [list(COLUMNS), *sorted(rows)]


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    rows = bands(parser.parse_args().shared)
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
