"""Histories published twice, as a file that is amended day by day and one made from nothing, compared."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
from few_marts import needed
from log_days import put as put_log
from looks import Row, day, row

from warehouse.log.events import naive
from warehouse.log.parsed import ParsedFetch

SOURCES = [
    ("aws_price_list", "AWS", "The price list", "live", 10, 72, "https://x.test"),
    ("aws_spot", "AWS", "Spot", "live", 10, 24, "https://x.test"),
    ("nebius", "Nebius", "A page", "live", 20, 72, "https://x.test"),
    ("market", "Vast", "A marketplace", "live", 20, 48, "https://x.test"),
    ("offline_archive", "AWS", "The archive", "archive", 50, None, "https://x.test"),
    ("import:a", "Nebius", "Somebody's history", "import", 60, None, "https://x.test"),
    ("import:changes", "Nebius", "Changes alone", "import", 61, None, "https://x.test"),
]
MARTS, _ = needed(
    "price_index",
    "aws_purchase_options",
    "provider_price",
    "spot_region_price",
    "option_price_history",
)
put = partial(put_log, marts=MARTS, sources=SOURCES)


def chip(label: str, price: str, **others: object) -> Row:
    """Return one row of a chip by a provider's name of it; `others` replace or add columns."""
    named: Row = {
        "service_provider_name": "Nebius", "accelerator_label": f"NVIDIA {label}", "accelerator_count": "1",
        "capacity_unit": "GPU", "region_id": None,
    }  # fmt: skip
    return row(None, price, **(named | others))


def dated(each: ParsedFetch, *days: float) -> ParsedFetch:
    """Return a look whose rows say when their prices began, as a history's rows do."""
    times = [naive(day(at)) for at in days]
    rows = each.rows.with_columns(
        observed_at=pl.Series(times, dtype=pl.Datetime("us")),
        observed_at_utc=pl.Series([f"{at:%Y-%m-%d}" for at in times]),
    )
    return replace(each, rows=rows)


def differences(one: Path, other: Path) -> dict[str, list[Any]]:
    """Return, by table and view, rows that one of two files has more of than the other.

    Where number and hashes of its rows are the same there are none: to look at each row takes five times as long.
    """
    with duckdb.connect() as con:
        con.execute(f"attach '{one}' as one (read_only)")
        con.execute(f"attach '{other}' as other (read_only)")
        names = con.execute(
            "select distinct schema_name || '.' || table_name from duckdb_columns() "
            "where database_name in ('one', 'other') and schema_name in ('core', 'ref', 'int', 'mart', 'focus')"
        ).fetchall()
        digest = "select count(*), sum(hash(t)::HUGEINT), bit_xor(hash(t)) from {}.{} as t"
        found = {
            name: con.execute(
                f"(from one.{name} except all from other.{name}) union all "
                f"(from other.{name} except all from one.{name}) order by all limit 4"
            ).fetchall()
            for (name,) in names
            if len(
                set(con.execute(" union all ".join(digest.format(file, name) for file in ("one", "other"))).fetchall())
            )
            > 1
        }
    return {table: rows for table, rows in found.items() if rows}


def n_amended(file: Path) -> int:
    """Return how often a file was amended since it was made from nothing."""
    with duckdb.connect(str(file), read_only=True) as con:
        (found,) = con.execute("select n_incremental_builds from meta.build").fetchone() or (0,)
    return int(found)
