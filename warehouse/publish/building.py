"""What a published file holds, made in its order from the log: its copy, what follows from it, marts, macros, words."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

import duckdb

from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake
from warehouse.log import db
from warehouse.log.db import LAST_OF_CHAIN, create_macros, create_views, insert_rows, quote, sql
from warehouse.log.events import naive
from warehouse.publish import chains
from warehouse.reference import accelerators, prepared
from warehouse.schema.columns import columns
from warehouse.schema.dictionary import DEPRECATED, ComputedTable, Macro, Model, describe
from warehouse.schema.tables import MOVED, SCHEMAS, STORED_TABLES, ddl, table_named

SourceRow = tuple[str, str, str, str, int, int | None, str]
"""A row of core.source: source, provider, title, kind, precedence, max_age_hours (None: never current), url."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What a published file has next to the log.

    `formulas` makes the scalar macros that marts and macros use, in the database in use; `computed` are made last, from
    all that the file has then. Prices older than `ranked_days`, of marketplaces `marketplace_days`, are never ranked.
    `code` names a state of the code where the version does not: a file that another state made is not amended.
    """

    marts: Sequence[Model]
    sources: Iterable[SourceRow]
    public: Sequence[Model] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    macros: Sequence[Macro] = ()
    computed: Sequence[ComputedTable] = ()
    formulas: Callable[[duckdb.DuckDBPyConnection], None] = lambda con: None
    ranked_days: int = 90
    marketplace_days: int = 30
    code: str = ""

    @cached_property
    def source_rows(self) -> list[SourceRow]:
        """Return the sources, which are read once though a file may be made twice."""
        return list(self.sources)

    @property
    def sql_sha256(self) -> str:
        """Return the hash of all that a file is made by."""
        marts = [
            (mart.schema, mart.name, mart.row, mart.sql, mart.is_table, mart.amended)
            for mart in (*self.marts, *self.public)
        ]
        macros = [(macro.name, macro.row, *macro.parameters, macro.sql) for macro in self.macros]
        computed = [(table.name, table.row, *table.columns) for table in self.computed]
        core = [sql(f"{name}.sql") for name in (*OF_OFFERS, *OF_PRICES, *chains.FILES)]
        made_by = (self.code, marts, macros, computed, self.aliases, db.views(), db.macros(), core, chains.LINKS)
        return hashlib.sha256(repr(made_by).encode()).hexdigest()


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


OF_OFFERS = ("current_instance_type", "offer_unit")
OF_PRICES = ("market_offer", "first_look", "silent_import", "usd_rate", "current_price")
"""SELECTs of core, those before and after the intervals of prices."""


@contextmanager
def attached(con: duckdb.DuckDBPyConnection, part: Path) -> Iterator[str]:
    """Attach a file that is being made as `published`; yield the name of the log's database, in use before and after.

    No transaction may be open. What a crash leaves is thrown away: no log. Small blocks, as many tables are small; the
    format of DuckDB 1.5 is the first that packs doubles into them.
    """
    ((log,),) = con.execute("select current_database()").fetchall()
    options = "recovery_mode no_wal_writes, block_size 65536, storage_version 'v1.5.0'"
    con.execute(f"attach {quote(str(part))} as published ({options})")
    try:
        con.execute("use published")
        yield log
    finally:
        con.execute(f"use {log}")
        con.execute("detach published")


def build(con: duckdb.DuckDBPyConnection, part: Path, made: Made, *, data_dir: Path) -> None:
    """Make a published file from nothing, from the log that the connection has open.

    The cache in `data_dir` has the reference tables.
    """
    contents = made.contents
    with attached(con, part) as log, chains.excerpt(con), ducklake.transaction(con):
        for schema in SCHEMAS:
            con.execute(f"create schema {schema}")
        con.execute(
            "create table meta.build as select ?::TIMESTAMP as built_at, ? as version, ? as sql_sha256, "
            "0 as n_incremental_builds, ?::INTEGER as ranked_days, ?::INTEGER as marketplace_days, "
            f"(select max(history_id) from {log}.meta.history{made.at}) as history_id, null::TIMESTAMP as changed_from",
            [naive(made.built_at), made.version, contents.sql_sha256, contents.ranked_days, contents.marketplace_days],
        )
        db.create_moment(con)
        _copy_log(con, log, made.at)
        _make_references(con, contents, data_dir)
        db.keep(con)
        chains.make_covers(con)
        chains.show(con)
        chains.put(con, "core.sku_price", chains.SKU_PRICE)
        con.execute(f"create view log.sku_price as {sql('chain/sku_price.sql')}")
        for name in OF_PRICES:
            con.execute(f"create view core.{name} as {sql(f'{name}.sql')}")
        _make_marts(con, contents.marts)
        for macro in contents.macros:
            con.execute(f"create macro mart.{macro.name}({', '.join(macro.parameters)}) as table {macro.sql}")
        for table in contents.computed:
            shape = ", ".join(f"{name} {columns()[name].type}" for name in table.columns)
            con.execute(f"create table int.{table.name} ({shape})")
            insert_rows(con, f"int.{table.name}", table.rows(con))
        _make_public(con, contents)
        models = [
            (each.qualified.removeprefix("int."), each.row, is_table, each.sql, each.example)
            for each in (*contents.marts, *contents.public)
            for is_table in [each.is_table and each.qualified not in chains.CHAINS]
        ]
        insert_rows(con, "meta.model", models)
        describe(con, contents.marts, contents.computed, contents.public, contents.macros)


def _make_references(con: duckdb.DuckDBPyConnection, contents: Contents, data_dir: Path) -> None:
    """Make what is read from the package, and what offers are in its words."""
    insert_rows(con, "core.source", contents.source_rows)
    prepared.load(con, data_dir)
    contents.formulas(con)
    refuse_unknown_sources(con, "core.price_event")
    create_macros(con)
    con.execute(ddl(LABEL))
    read_labels(con)
    db.keep(con)
    con.execute(f"create view ref.current_instance_type as {sql('current_instance_type.sql')}")
    con.execute(f"create table core.offer_unit as {sql('offer_unit.sql')}")


CHAIN_BEFORE = """
create table meta.chain_before (
    index_level VARCHAR, service_provider_name VARCHAR, accelerator_name VARCHAR, purchase_option VARCHAR,
    chain_number BIGINT, index_log DECIMAL(38, 15)
)
"""
"""Where the chains of int.price_index stood before its first day: nowhere, except while a file is amended."""


def _make_marts(con: duckdb.DuckDBPyConnection, marts: Sequence[Model]) -> None:
    con.execute(
        "create table meta.model (name VARCHAR, row_meaning VARCHAR, is_table BOOLEAN, sql VARCHAR, example VARCHAR)"
    )
    con.execute(CHAIN_BEFORE)
    for model in marts:
        db.keep(con)
        if model.qualified == "int.price_history":
            chains.show(con)
            chains.put(con, model.qualified, model.sql)
            con.execute(f"create view log.price_link as {sql('chain/price_link.sql')}")
        elif model.qualified == "int.price_move":
            chains.temp(con, "exact_row", model.sql)
            chains.temp(con, "remade_offer", f"select offer_id, offer_no, {chains.EVER} from core.offer")
            chains.put_moves(con, chains.temp)
        else:
            con.execute(f"create {'table' if model.is_table else 'view'} {model.schema}.{model.name} as {model.sql}")


def _make_public(con: duckdb.DuckDBPyConnection, contents: Contents) -> None:
    """Make the tables that users read, and the names that they knew before as views, for one release."""
    for model in contents.public:
        db.keep(con)
        con.execute(f"create {'table' if model.is_table else 'view'} mart.{model.name} as {model.sql}")
    made = {model.qualified for model in contents.marts} | {f"int.{table.name}" for table in contents.computed}
    for old, new in (*MOVED.items(), *contents.aliases.items()):
        if new in made or old in MOVED:
            con.execute(f"create view {old} as from {new}")
            con.execute(f"comment on view {old} is {quote(f'{DEPRECATED}: query {new}')}")


def _copy_log(con: duckdb.DuckDBPyConnection, log: str, at: str) -> None:
    """Copy the log in the order of its numbers, and make its views."""
    order = {"price_closed": "end_fetch_no, offer_no", "sighting": "fetch_no, offer_no"}
    for name in ("log.closed_link", "core.first_move_kind"):
        con.execute(ddl(table_named(name)))
    for name, links in chains.LINKS.items():
        con.execute(f"create view {name} as {links}")
    for table in STORED_TABLES:
        keys = order.get(table.name, "all")
        copy = table._replace(schema="ref") if table.qualified in MOVED else table
        last = f" {LAST_OF_CHAIN}" if table.name == "price_open" else ""
        if copy.qualified not in chains.LINKS:
            con.execute(ddl(copy, "url"))  # as many as documents, and much alike
        chains.append(con, copy.qualified, f"from {log}.{table.qualified}{at}{last} order by {keys}")
    create_views(con)


LABEL = table_named("ref.accelerator_label")


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
