"""A published file made from nothing: a copy of its frame, filled in its order from the log."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake
from warehouse.log import db
from warehouse.log.db import LAST_OF_CHAIN, insert_rows, sql
from warehouse.log.events import naive
from warehouse.publish import chains, frame
from warehouse.publish.frame import LABEL, Contents
from warehouse.reference import accelerators, throughput
from warehouse.schema.dictionary import Model
from warehouse.schema.tables import MOVED, STORED_TABLES


@dataclass(frozen=True, kw_only=True)
class Made:
    """What one published file is made of: contents, moment, version, and the snapshot of a lake that is its log."""

    contents: Contents
    built_at: datetime
    version: str
    snapshot_id: int | None

    @property
    def at(self) -> str:
        """Return what follows a table of the log in a SELECT: the snapshot of a lake, which others write meanwhile."""
        return "" if self.snapshot_id is None else f" at (version => {self.snapshot_id})"

    def last_prices(self, log: str) -> str:
        """Return the SELECT of the rows of log.price_open that count, of a lake the last of each chain."""
        return f"from {log}.log.price_open{self.at} {'' if self.snapshot_id is None else LAST_OF_CHAIN}"


def build(con: duckdb.DuckDBPyConnection, part: Path, made: Made) -> None:
    """Make a published file from nothing, from the log that the connection has open."""
    contents = made.contents
    frame.copy(contents, part)
    with frame.attached(con, part) as log, chains.excerpt(con), ducklake.transaction(con):
        con.execute(
            "insert into meta.build select ?::TIMESTAMP, ?, ?, 0, ?::INTEGER, ?::INTEGER, "
            f"(select max(history_id) from {log}.meta.history{made.at}), null",
            [naive(made.built_at), made.version, contents.sql_sha256, contents.ranked_days, contents.marketplace_days],
        )
        db.create_moment(con)
        _copy_log(con, log, made.at)
        insert_rows(con, "core.source", contents.source_rows)
        read_labels(con)
        db.keep(con)
        for name in ("offer_unit", "chain/fetch_cover", "chain/scope_cover"):
            con.execute(f"insert into core.{name.rpartition('/')[2]} by name {sql(f'{name}.sql')}")
        chains.append(con, "log.price_open", made.last_prices(log))
        refuse_unknown_sources(con, "core.price_event")
        chains.show(con)
        chains.put(con, "core.sku_price", chains.SKU_PRICE)
        for mart in contents.marts:
            _fill(con, mart)
        for table in contents.computed:
            insert_rows(con, f"int.{table.name}", table.rows(con))
        for mart in contents.public:
            _fill(con, mart)


def _fill(con: duckdb.DuckDBPyConnection, mart: Model) -> None:
    db.keep(con)
    if mart.qualified == "int.price_history":
        chains.put(con, mart.qualified, mart.sql)
    elif mart.qualified == "int.price_move":
        chains.temp(con, "exact_row", mart.sql)
        chains.temp(con, "remade_offer", f"select offer_id, offer_no, {chains.EVER} from core.offer")
        chains.put_moves(con, chains.temp)
    elif mart.qualified == "int.price_level":
        first_days = "select accelerator_name, purchase_option, min(index_date) as first_day from int.index_spell"
        chains.temp(con, "level_day", f"{first_days} group by all")
        chains.make_levels(con, mart.sql)
        con.execute(f"insert into int.price_level by name {chains.LEVELS}")
    elif mart.is_table:
        if mart.name in chains.OF_REFERENCES:
            if not con.execute(
                f"from {throughput.CORE.qualified} where source <> ? limit 1", [throughput.CATALOGUE]
            ).fetchall():
                return  # of shipped runs alone it is as the frame has it
            con.execute(f"delete from {mart.qualified}")
        con.execute(f"insert into {mart.qualified} by name {mart.sql}")


def _copy_log(con: duckdb.DuckDBPyConnection, log: str, at: str) -> None:
    """Copy the log in the order of its numbers, and make core.throughput of it and of the frame's rows."""
    con.execute(
        f"create temp table shipped as from {throughput.CORE.qualified}; delete from {throughput.CORE.qualified}"
    )
    order = {"price_closed": "end_fetch_no, offer_no", "sighting": "fetch_no, offer_no"}
    for table in STORED_TABLES:
        copy = table._replace(schema="ref") if table.qualified in MOVED else table
        if table.name != "price_open":  # which rests on the covers of scopes
            keys = order.get(table.name, "all")
            chains.append(con, copy.qualified, f"from {log}.{table.qualified}{at} order by {keys}")
    throughput.complete(con, "shipped")


def read_labels(con: duckdb.DuckDBPyConnection) -> None:
    """Fill ref.accelerator_label: what we read today in the words that providers have for their chips."""
    found = con.execute(
        "select distinct service_provider_name, accelerator_label from core.offer "
        "where accelerator_label is not null order by all"
    ).fetchall()
    nothing = (None,) * (len(LABEL.columns) - 2)
    con.execute(f"delete from {LABEL.qualified}")
    insert_rows(
        con,
        LABEL.qualified,
        [(provider, label, *(accelerators.resolve(label, provider) or nothing)) for provider, label in found],
    )


def refuse_unknown_sources(con: duckdb.DuckDBPyConnection, events: str) -> None:
    """Raise where one of some price events comes from a source that nothing says how far to believe."""
    row = con.execute(
        f"select distinct source from {events} where source not in (select source from core.source)"
    ).fetchone()
    if row:
        raise ChipledgerError(
            "prices of a source that is not registered",
            source="core.price_event",
            field="source",
            value=str(row[0]),
            hint="Register it in extract/__init__.py, or rebuild without it",
        )
