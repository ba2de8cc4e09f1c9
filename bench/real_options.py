"""Every way to buy seven AWS machines in two regions, from published data at hand: prices with date and source.

    python bench/real_options.py --shared ../shared

Data of four public origins is loaded into a warehouse in a temporary folder, and int.aws_purchase_options of it is
printed. What the files cannot say is left out or left blank, and said below the table: see `NOTES`.
"""

import argparse
import csv
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402

from extract.aws import capacity_block_rates as rates  # noqa: E402
from flows.collect import importer, steps  # noqa: E402
from flows.collect.collector import FetchResult  # noqa: E402
from flows.config.settings import Settings  # noqa: E402
from warehouse.documents import Document, ScopeFetch  # noqa: E402

TYPES = (
    "p5.48xlarge", "p5en.48xlarge", "p4d.24xlarge", "trn1.32xlarge", "trn2.48xlarge", "inf2.48xlarge",
    "p6-b200.48xlarge",
)  # fmt: skip
REGIONS = ("us-east-1", "us-east-2")
HEADER = (
    "observed_at_utc", "provider", "region", "instance_type", "pricing", "term", "payment", "usd_per_hour", "source",
)  # fmt: skip
NOTES = (
    "On-demand and Reserved: the files hold changes, so the date is that of the source's first look at this price, not "
    "of its last confirmation.",
    "Reserved: the data is of the standard class; the import format has no column for it, so the class is unknown.",
    "Spot of trn and inf types: seen in one or two named zones; the import format has no zone, so the price stands for "
    "the region. Where zones differ, none is imported.",
    "Capacity Block offers: a rate only where start and end are known; the other offers, whose minutes are unknown, "
    "and the answers without an offer, for which the import format has no column, are left out.",
    "aws_spot_p_family_2026_us.csv is left out: its source gives no date, only a season.",
)
"""What the data does not say, or the import format cannot hold."""
QUESTION = """
with wanted as (
    select t.instance_type, r.region_id
    from (select unnest(?) as instance_type) as t cross join (select unnest(?) as region_id) as r
)
select
    w.instance_type as type, w.region_id as region, o.purchase_option as option, o.commitment_discount_type as plan,
    o.commitment_term_hours as term_hours, o.purchase_payment_model as payment, o.offering_class, o.conditions,
    o.price_per_accelerator_hour, o.effective_hourly_price, o.last_observed_at, o.source, o.is_current,
    coalesce(o.unknown_reason, case when o.purchase_option is null then ? end) as unknown_reason
from wanted as w
left join int.aws_purchase_options as o using (instance_type, region_id)
order by list_position(?, w.instance_type), region, option, plan, conditions nulls first
"""
NEVER_SEEN = "no source at hand has shown this type in this region"

Row = dict[str, object]


# --- from the published files to what `chipledger import` reads


def reserved_and_on_demand(file: Path) -> Iterator[Row]:
    """Yield the observations of the multi-region file; an empty price, not listed any more, stays empty."""
    pricing = {
        "onDemand": {"pricing": "on_demand"},
        "yrTerm1Standard.noUpfront": {"pricing": "reserved", "term": "1yr", "payment": "No Upfront"},
    }
    for row in _read(file):
        common: Row = {"observed_at_utc": row["committed_at_utc"], "source": f"tsaol/aws-gpu@{row['commit']}"}
        kept = {name: row[name] for name in ("region", "instance_type", "usd_per_hour")}
        yield common | kept | pricing[row["term"]]


def spot(file: Path) -> Iterator[Row]:
    """Yield one price for each type and region whose zones agree."""
    zones: dict[tuple[str, ...], set[Decimal]] = {}
    for row in _read(file):
        if row["spot_usd_per_hour"]:
            key = (row["observed_at_utc"], row["region"], row["instance_type"])
            zones.setdefault(key, set()).add(Decimal(row["spot_usd_per_hour"]))
    for (at, region, instance_type), prices in zones.items():
        if len(prices) == 1:
            place = {"observed_at_utc": at, "region": region, "instance_type": instance_type}
            yield place | {"pricing": "spot", "usd_per_hour": prices.pop()}


def capacity_blocks(file: Path) -> Iterator[Row]:
    """Yield the rate of each offer whose fee is one number and whose start and end are known to the minute."""
    for row in _read(file):
        if row["start_utc"] and row["end_utc"] and row["upfront_fee_usd_low"] == row["upfront_fee_usd_high"]:
            length = datetime.fromisoformat(row["end_utc"]) - datetime.fromisoformat(row["start_utc"])
            hours = Decimal(length // timedelta(minutes=1)) / 60
            rate = Decimal(row["upfront_fee_usd_low"]) / (int(row["instance_count"]) * hours)
            kept = {name: row[name] for name in ("observed_at_utc", "region", "instance_type")}
            yield kept | {"pricing": "capacity_block", "usd_per_hour": round(rate, 10)}


def published_rates(file: Path, now: datetime) -> ScopeFetch:
    """Return the table of published rates as a past look, of the moment that it states itself."""
    body = file.read_bytes()
    seen_at = datetime.fromisoformat(json.loads(body)["metadata"]["last_updated"])
    document = Document(
        source=rates.SOURCE.name, scope="published", url=file.name, body=body, fetched_at=now, published_at=seen_at
    )
    return ScopeFetch(
        source=rates.SOURCE.name,
        scope="published",
        observed_at=seen_at,
        complete=False,
        archived=True,
        documents=(document,),
    )


def _read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _write(file: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    with file.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, HEADER, restval="")
        writer.writeheader()
        writer.writerows({"provider": "aws"} | dict(row) for row in rows)
    return file


# --- the warehouse and the table


def build(shared: Path, folder: Path) -> Path:
    """Load all of it into a warehouse in a folder; return the published file."""
    data, samples = shared / "data", shared / "data" / "aws_samples"
    made = folder / "observations"
    made.mkdir()
    spot_file, blocks_file = "trainium_spot_observed_20261003.csv", "capacity_block_offers_observed_20261003.csv"
    multi_region = "aws_multi_region_2025_2026.csv"
    imports = (
        data / "aws_on_demand_observations.csv",
        _write(made / multi_region, reserved_and_on_demand(data / multi_region)),
        _write(made / spot_file, spot(samples / spot_file)),
        _write(made / blocks_file, capacity_blocks(samples / blocks_file)),
    )
    with steps.open_run(Settings(data_dir=folder / "warehouse")) as run:
        for file in imports:
            importer.land(run, importer.landed(file, run.clock()))
        look = published_rates(samples / "capacity_block_published_rates_20260722.json", run.started_at)
        run.land(FetchResult(source=look.source, scope=look.scope, fetches=(look,)))
        run.load()
        return run.publisher.publish()


def table(file: Path) -> list[Row]:
    """Return every way to buy the machines of `TYPES` in `REGIONS`; of a type never seen there, a reason alone."""
    with duckdb.connect(str(file), read_only=True) as con:
        cursor = con.execute(QUESTION, [list(TYPES), list(REGIONS), NEVER_SEEN, list(TYPES)])
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def refused(file: Path) -> list[tuple[str, str, int]]:
    """Return how many rows were refused, by source and reason."""
    with duckdb.connect(str(file), read_only=True) as con:
        return con.execute("select source, reason, count(*) from core.quarantine group by all order by all").fetchall()


def markdown(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Yield the lines of the table."""
    titles = ("type", "region", "option", "term", "payment", "$/chip-h", "effective $/h", "date", "source", "current",
              "why none")  # fmt: skip
    yield f"| {' | '.join(titles)} |"
    yield f"|{'---|' * len(titles)}"
    for row in rows:
        option = " ".join(str(row[name]) for name in ("plan", "option") if row[name])
        option += f" ({row['conditions']})" if row["conditions"] else ""
        hours, at, priced = row["term_hours"], row["last_observed_at"], row["effective_hourly_price"] is not None
        term = f"{hours // 8760} y" if isinstance(hours, int) and hours % 8760 == 0 else f"{hours} h" if hours else ""
        cells = (
            row["type"], row["region"], option, term, row["payment"], _number(row["price_per_accelerator_hour"]),
            _number(row["effective_hourly_price"]), at.date() if isinstance(at, datetime) else None, row["source"],
            ("yes" if row["is_current"] else "no") if priced else None, row["unknown_reason"],
        )  # fmt: skip
        yield f"| {' | '.join('' if cell is None else str(cell) for cell in cells)} |"


def _number(value: object) -> str | None:
    return None if value is None else f"{float(str(value)):.10g}"


def main() -> int:
    """Print the table and what it leaves out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder of reference data")
    args = parser.parse_args()
    if not (args.shared / "data").is_dir():
        print(f"no reference data in {args.shared}: name its folder with --shared", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        file = build(args.shared, Path(folder))
        print("\n".join(markdown(table(file))), end="\n\n")
        print("\n".join(f"- {note}" for note in NOTES))
        print("\n".join(f"- refused, {source}: {count} x {reason}" for source, reason, count in refused(file)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
