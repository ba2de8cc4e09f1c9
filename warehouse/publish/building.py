"""What a published file holds, made in its order from the log: its copy, what follows from it, marts, macros, words."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

import duckdb

from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake
from warehouse.log import db
from warehouse.log.db import LAST_OF_CHAIN, create_macros, create_views, insert_rows, quote, sql
from warehouse.log.events import naive
from warehouse.publish import incremental_days, incremental_offers
from warehouse.reference import accelerators, prepared
from warehouse.schema.columns import columns
from warehouse.schema.dictionary import DEPRECATED, describe
from warehouse.schema.tables import MOVED, SCHEMAS, STORED_TABLES, ddl, table_named


class Model(Protocol):
    """What publishing needs of a mart: its name, what a row is, its SELECT, and whether to keep its rows.

    `incremental_day` is as in warehouse.publish.incremental_days, `by_offer` and `dependents` as in
    warehouse.publish.incremental_offers: None where the mart is made
    anew each time.
    """

    @property
    def name(self) -> str: ...
    @property
    def schema(self) -> str: ...
    @property
    def row(self) -> str: ...
    @property
    def is_table(self) -> bool: ...
    @property
    def sql(self) -> str: ...
    @property
    def example(self) -> str | None: ...
    @property
    def incremental_day(self) -> str | None: ...
    @property
    def by_offer(self) -> incremental_offers.ByOffer | None: ...
    @property
    def dependents(self) -> str | None: ...


class ComputedTable(Protocol):
    """What publishing needs of a mart that Python computes: name, what a row is, columns, and rows from the file."""

    @property
    def name(self) -> str: ...
    @property
    def row(self) -> str: ...
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def rows(self) -> Callable[[duckdb.DuckDBPyConnection], list[tuple[object, ...]]]: ...


class Macro(Protocol):
    """What publishing needs of a mart that takes parameters: name, what a row is, parameters with examples, SELECT."""

    @property
    def name(self) -> str: ...
    @property
    def row(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, str]: ...
    @property
    def sql(self) -> str: ...


SourceRow = tuple[str, str, str, str, int, int | None, str]
"""A row of core.source: source, provider, title, kind, precedence, max_age_hours (None: never current), url."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What a published file has next to the log.

    `formulas` makes the scalar macros that marts and macros use, in the database in use; `computed` are made last, from
    all that the file has then. Prices older than `ranked_days`, of marketplaces `marketplace_days`, are never ranked.
    """

    marts: Sequence[Model]
    public: Sequence[Model]
    aliases: Mapping[str, str]
    macros: Sequence[Macro]
    computed: Sequence[ComputedTable]
    formulas: Callable[[duckdb.DuckDBPyConnection], None]
    sources: Iterable[SourceRow]
    ranked_days: int = 90
    marketplace_days: int = 30

    @property
    def sql_sha256(self) -> str:
        """Return the hash of the SELECTs that marts and what they rest on are made by."""
        marts = (*self.marts, *self.public)
        selects = [
            (mart.schema, mart.name, mart.sql, mart.is_table, mart.incremental_day, mart.by_offer, mart.dependents)
            for mart in marts
        ]
        core = [sql(f"{name}.sql") for name in (*OF_OFFERS, *OF_PRICES)]
        return hashlib.sha256(repr((selects, db.views(), db.macros(), core)).encode()).hexdigest()


OF_OFFERS = ("current_instance_type", "offer_unit")
OF_PRICES = ("first_look", "silent_import", "usd_rate", "current_price")
"""SELECTs of core, those before and after the intervals of prices."""


def build(
    con: duckdb.DuckDBPyConnection,
    part: Path,
    *,
    before: Path,
    contents: Contents,
    built_at: datetime,
    version: str,
    snapshot_id: int | None,
) -> None:
    """Make a published file from the log that the connection has open, of a lake from one snapshot.

    What did not change since the file `before` is copied from there, where there is one.
    """
    build = con.execute("select current_database()").fetchone()
    if build is None:
        raise ChipledgerError("the writer's file has no name", source="build.duckdb")
    # A part file that a crash leaves is thrown away, so nothing has to bring it back.
    con.execute(f"attach {quote(str(part))} as published (recovery_mode no_wal_writes)")
    try:
        with (
            incremental_days.attached(con, before) as has_before,
            incremental_offers.shadow(con),
            ducklake.transaction(con),
        ):
            con.execute("use published")
            for schema in SCHEMAS:
                con.execute(f"create schema {schema}")
            con.execute(
                "create table meta.build as select ?::TIMESTAMP as built_at, ? as version, ? as sql_sha256, "
                "0 as n_incremental_builds, ?::INTEGER as ranked_days, ?::INTEGER as marketplace_days",
                [naive(built_at), version, contents.sql_sha256, contents.ranked_days, contents.marketplace_days],
            )
            _copy_log(con, build[0], snapshot_id)
            _make_references(con, contents, before.parent)
            db.keep(con)
            is_alike = has_before and incremental_days.is_alike(con)
            offers = incremental_offers.begin(con) if is_alike else None
            _make_intervals(con, offers)
            _make_marts(con, contents.marts, offers, is_before_alike=is_alike)
            for macro in contents.macros:
                con.execute(f"create macro mart.{macro.name}({', '.join(macro.parameters)}) as table {macro.sql}")
            for table in contents.computed:
                shape = ", ".join(f"{name} {columns()[name].type}" for name in table.columns)
                con.execute(f"create table int.{table.name} ({shape})")
                insert_rows(con, f"int.{table.name}", table.rows(con))
            _make_public(con, contents)
            describe(con, contents.marts, contents.computed, contents.public, contents.macros)
    finally:
        con.execute(f"use {build[0]}")
        con.execute("detach published")


def _make_references(con: duckdb.DuckDBPyConnection, contents: Contents, data_dir: Path) -> None:
    """Make what is read from the package, and what offers are in its words."""
    insert_rows(con, "core.source", list(contents.sources))
    prepared.load(con, data_dir)
    contents.formulas(con)
    _refuse_unknown_sources(con)
    create_macros(con)
    _read_labels(con)
    db.keep(con)
    con.execute(f"create view ref.current_instance_type as {sql('current_instance_type.sql')}")
    con.execute(f"create table core.offer_unit as {sql('offer_unit.sql')}")


def _make_intervals(con: duckdb.DuckDBPyConnection, offers: incremental_offers.Offers | None) -> None:
    """Make the intervals of all prices, and what follows from them directly."""
    incremental_offers.create(
        con, "core.sku_price", incremental_offers.SKU_PRICE_SELECT, incremental_offers.SKU_PRICE, offers
    )
    for name in OF_PRICES:
        con.execute(f"create view core.{name} as {sql(f'{name}.sql')}")


def _make_marts(
    con: duckdb.DuckDBPyConnection,
    marts: Sequence[Model],
    offers: incremental_offers.Offers | None,
    *,
    is_before_alike: bool,
) -> None:
    con.execute(
        "create table meta.model (name VARCHAR, row_meaning VARCHAR, is_table BOOLEAN, sql VARCHAR, example VARCHAR)"
    )
    con.execute("create table meta.incremental_day (name VARCHAR, first_day DATE)")
    for model in marts:
        db.keep(con)
        if not model.is_table:
            con.execute(f"create view {model.schema}.{model.name} as {model.sql}")
        elif model.by_offer:
            incremental_offers.create(
                con, f"int.{model.name}", model.sql, model.by_offer, offers, dependents=model.dependents
            )
        else:
            incremental_days.create(con, model, is_before_alike=is_before_alike)
        _note(con, model.name if model.schema == "int" else f"{model.schema}.{model.name}", model)


def _note(con: duckdb.DuckDBPyConnection, name: str, model: Model) -> None:
    """Write down how a mart is made, where readers find it."""
    values = [name, model.row, model.is_table, model.sql, model.example]
    con.execute("insert into meta.model values (?, ?, ?, ?, ?)", values)


def _make_public(con: duckdb.DuckDBPyConnection, contents: Contents) -> None:
    """Make the tables that users read, and the names that they knew before as views, for one release."""
    for model in contents.public:
        db.keep(con)
        con.execute(f"create {'table' if model.is_table else 'view'} mart.{model.name} as {model.sql}")
        _note(con, f"mart.{model.name}", model)
    made = {f"{model.schema}.{model.name}" for model in contents.marts}
    made |= {f"int.{table.name}" for table in contents.computed}
    for old, new in (*MOVED.items(), *contents.aliases.items()):
        if new in made or old in MOVED:
            con.execute(f"create view {old} as from {new}")
            con.execute(f"comment on view {old} is {quote(f'{DEPRECATED}: query {new}')}")


def _copy_log(con: duckdb.DuckDBPyConnection, build: str, snapshot_id: int | None) -> None:
    """Copy the log in the order of its numbers, and make its views.

    Of a lake, which others write meanwhile, it is the log of one snapshot.
    """
    at = "" if snapshot_id is None else f" at (version => {snapshot_id})"
    order = {"price_closed": "end_fetch_no, offer_no", "sighting": "fetch_no, offer_no"}
    for table in STORED_TABLES:
        keys = order.get(table.name, "all")
        name = MOVED.get(table.qualified, table.qualified)
        last = f" {LAST_OF_CHAIN}" if table.name == "price_open" else ""
        con.execute(f"create table {name} as from {build}.{table.qualified}{at}{last} order by {keys}")
    create_views(con)


def _read_labels(con: duckdb.DuckDBPyConnection) -> None:
    """Make ref.accelerator_label: what we read today in the words that providers have for their chips."""
    table = table_named("ref.accelerator_label")
    con.execute(ddl(table))
    found = con.execute(
        "select distinct service_provider_name, accelerator_label from core.offer "
        "where accelerator_label is not null order by all"
    ).fetchall()
    nothing = (None,) * (len(table.columns) - 2)
    insert_rows(
        con,
        table.qualified,
        [(provider, label, *(accelerators.resolve(label, provider) or nothing)) for provider, label in found],
    )


def _refuse_unknown_sources(con: duckdb.DuckDBPyConnection) -> None:
    """Raise where a price comes from a source that nothing says how far to believe."""
    row = con.execute(
        "select distinct source from core.price_event where source not in (select source from core.source)"
    ).fetchone()
    if row:
        raise ChipledgerError(
            "prices of a source that is not registered",
            source="core.price_event",
            field="source",
            value=str(row[0]),
            hint="Register it in extract/__init__.py, or rebuild without it",
        )
