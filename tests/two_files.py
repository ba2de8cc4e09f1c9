"""Files published of one log, one that may take over from the file before and one made from nothing, compared."""

from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from few_marts import needed
from log_days import put as put_log

SOURCES = [
    ("aws_price_list", "AWS", "The price list", "live", 10, 72, "https://x.test"),
    ("aws_spot", "AWS", "Spot", "live", 10, 24, "https://x.test"),
    ("nebius", "Nebius", "A page", "live", 20, 72, "https://x.test"),
    ("market", "Vast", "A marketplace", "live", 20, 48, "https://x.test"),
    ("offline_archive", "AWS", "The archive", "archive", 50, None, "https://x.test"),
    ("import:a", "Nebius", "Somebody's history", "import", 60, None, "https://x.test"),
    ("import:changes", "Nebius", "Changes alone", "import", 61, None, "https://x.test"),
]
MARTS, _ = needed("price_index", "aws_purchase_options", "provider_price", "list_price_move", "spot_region_price")
put = partial(put_log, marts=MARTS, sources=SOURCES)
TABLES = (
    "core.price_event", "core.sku_price", "core.offer_unit", "mart.price_history", "mart.price_move", "mart.repricing",
    "mart.price_change", "mart.accelerator_hour_price", "mart.price_index_item", "mart.price_level", "mart.price_index",
    "mart.source_health", "mart.provider_price", "mart.list_price_move", "mart.aws_purchase_options",
    "mart.spot_zone_price", "mart.spot_region_price",
)  # fmt: skip


def differences(one: Path, other: Path) -> dict[str, list[Any]]:
    """Return, by table, rows that one of two files has more of than the other."""
    with duckdb.connect() as con:
        con.execute(f"attach '{one}' as one (read_only)")
        con.execute(f"attach '{other}' as other (read_only)")
        found = {
            table: con.execute(
                f"(from one.{table} except all from other.{table}) union all "
                f"(from other.{table} except all from one.{table}) order by all limit 4"
            ).fetchall()
            for table in TABLES
        }
    return {table: rows for table, rows in found.items() if rows}


def n_taken_over(file: Path) -> int:
    with duckdb.connect(str(file), read_only=True) as con:
        (found,) = con.execute("select n_taken_over from meta.build").fetchone() or (0,)
    return int(found)
