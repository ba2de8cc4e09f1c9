"""Facts next to prices: appended as they come, and only where they differ from the last ones. The caller holds the
transaction.
"""

from collections.abc import Mapping
from datetime import datetime

import duckdb
import polars as pl

from warehouse.schema.tables import FACT_TABLES

STAMPS = ("source", "observed_at", "document_sha256", "recorded_at")


def append_facts(
    con: duckdb.DuckDBPyConnection,
    facts: Mapping[str, pl.DataFrame],
    *,
    source: str,
    observed_at: datetime,
    recorded_at: datetime,
) -> None:
    """Append the facts of one fetch, by table. Frames lack only `source`, `observed_at` and `recorded_at`.

    Times are naive UTC. Raises KeyError for a table that is not one of `schemas.FACT_TABLES`.
    """
    tables = {table.name: table for table in FACT_TABLES}
    for name, frame in facts.items():
        table, keys = tables[name], tables[name].key
        stated = [column for column in table.columns if column not in (*STAMPS, *keys)]
        con.register("new_fact", frame.to_arrow())
        same_key = " and ".join(f"n.{key} is not distinct from l.{key}" for key in keys)
        same = " and ".join(f"n.{column} is not distinct from l.{column}" for column in stated) or "true"
        con.execute(
            f"insert into {table.qualified} by name "
            f"with new as (select * from (from {table.qualified} limit 0) union all by name select * from new_fact), "
            f"last as (select * from {table.qualified} where source = $source qualify row_number() over "
            f"(partition by {', '.join(keys)} order by observed_at desc, recorded_at desc) = 1) "
            f"select distinct n.* replace ($source as source, $observed_at::TIMESTAMP as observed_at, "
            f"$recorded_at::TIMESTAMP as recorded_at) from new as n "
            f"where not exists (select 1 from last as l where {same_key} and {same})",
            {"source": source, "observed_at": observed_at, "recorded_at": recorded_at},
        )
        con.unregister("new_fact")
