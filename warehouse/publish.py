"""The published file: built fresh from the log, verified, and renamed into place.

Readers may keep the old file open all the while; they see the old data until they open it again. An open DuckDB file
is never copied, and never opened a second time by the process that has it open: both drop DuckDB's lock.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

import duckdb

from warehouse import (
    accelerator_facts,
    accelerators,
    claims,
    lake,
    models,
    publication,
    purchase_terms,
    settled,
    throughput,
)
from warehouse.columns import COLUMNS
from warehouse.db import create_macros, insert_rows, quote, sql
from warehouse.dictionary import describe
from warehouse.errors import ChipledgerError
from warehouse.events import naive
from warehouse.schemas import DERIVED_TABLES, REFERENCE_TABLES, TABLES, columns_of

FILE_NAME = "prices.duckdb"


class Model(Protocol):
    """What publishing needs of a mart: its name, what a row is, its SELECT, and whether to keep its rows.

    `settled` is as in warehouse.settled: None where the mart is made anew each time.
    """

    @property
    def name(self) -> str: ...
    @property
    def row(self) -> str: ...
    @property
    def is_table(self) -> bool: ...
    @property
    def sql(self) -> str: ...
    @property
    def settled(self) -> str | None: ...


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


def publish(
    con: duckdb.DuckDBPyConnection,
    data_dir: Path,
    *,
    marts: Sequence[Model],
    macros: Sequence[Macro] = (),
    computed: Sequence[ComputedTable] = (),
    formulas: Callable[[duckdb.DuckDBPyConnection], None] = lambda con: None,
    sources: Iterable[SourceRow],
    built_at: datetime,
    version: str,
) -> Path:
    """Build `prices.duckdb` in `data_dir` from the log in `con` and return its path.

    Of a lake it is put where all its readers find it, too, unless it is built in another folder than the lake's own
    data directory, to be looked at; one process publishes at a time.
    `formulas` makes the scalar macros that marts and macros use, in the database in use; `computed` are made last, from
    all that stands there then.
    The file appears whole or not at all; where a check fails, ChipledgerError says which, and the old file stays.
    """

    def build(part: Path) -> None:
        _build(
            con,
            part,
            before=data_dir / FILE_NAME,
            marts=marts,
            macros=macros,
            computed=computed,
            formulas=formulas,
            sources=sources,
            built_at=built_at,
            version=version,
            snapshot_id=snapshot_id,
        )

    shared, snapshot_id = lake.of(con), None
    if shared is not None and data_dir != shared.place.data_dir:
        snapshot_id = lake.snapshot(con)
    if shared is None or snapshot_id is not None:
        return make_whole(data_dir / FILE_NAME, build=build, verify=_verify)
    with shared.lock("publish"):
        shared.renew()
        snapshot_id = lake.snapshot(con)
        file = make_whole(data_dir / FILE_NAME, build=build, verify=_verify)
        publication.put(con, file, built_at=naive(built_at), snapshot_id=snapshot_id, version=version)
    return file


def make_whole(
    target: Path, *, build: Callable[[Path], None], verify: Callable[[Path], None], mode: int = 0o444
) -> Path:
    """Build a file beside its place, verify it, flush it and rename it, so that it appears whole or not at all.

    The caller holds the writer's lock. Whatever is raised leaves the old file as it was.
    """
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    _remove_parts(target)
    try:
        build(part)
        verify(part)
        _put_in_place(part, target, mode)
    finally:
        part.unlink(missing_ok=True)
    return target


def _build(
    con: duckdb.DuckDBPyConnection,
    part: Path,
    *,
    before: Path,
    marts: Sequence[Model],
    macros: Sequence[Macro],
    computed: Sequence[ComputedTable],
    formulas: Callable[[duckdb.DuckDBPyConnection], None],
    sources: Iterable[SourceRow],
    built_at: datetime,
    version: str,
    snapshot_id: int | None,
) -> None:
    build = con.execute("select current_database()").fetchone()
    if build is None:
        raise ChipledgerError("the writer's file has no name", source="build.duckdb")
    # A part file that a crash leaves is thrown away, so nothing has to bring it back.
    con.execute(f"attach {quote(str(part))} as published (recovery_mode no_wal_writes)")
    try:
        with settled.attached(con, before) as has_before, lake.transaction(con):
            con.execute("use published")
            for schema in ("core", "meta", "mart"):
                con.execute(f"create schema {schema}")
            con.execute(
                "create table meta.build as select ?::TIMESTAMP as built_at, ? as version",
                [naive(built_at), version],
            )
            _build_core(con, build[0], snapshot_id, formulas=formulas, sources=sources)
            _build_marts(con, marts, has_before=has_before)
            for macro in macros:
                con.execute(f"create macro mart.{macro.name}({', '.join(macro.parameters)}) as table {macro.sql}")
            for table in computed:
                columns = ", ".join(f"{name} {COLUMNS[name].type}" for name in table.columns)
                con.execute(f"create table mart.{table.name} ({columns})")
                insert_rows(con, f"mart.{table.name}", table.rows(con))
            describe(con, (*marts, *computed), macros)
    finally:
        con.execute(f"use {build[0]}")
        con.execute("detach published")


def _build_core(
    con: duckdb.DuckDBPyConnection,
    build: str,
    snapshot_id: int | None,
    *,
    formulas: Callable[[duckdb.DuckDBPyConnection], None],
    sources: Iterable[SourceRow],
) -> None:
    """Copy the log and make what follows from it directly: references, intervals, units, rates."""
    _copy_log(con, build, snapshot_id)
    insert_rows(con, "core.source", list(sources))
    _load_reference(con)
    formulas(con)
    _refuse_unknown_sources(con)
    create_macros(con)
    _read_labels(con)
    _keep(con)
    con.execute("create table core.sku_price as select * from core.price_known_at(TIMESTAMP '9999-01-01')")
    con.execute(f"create view core.current_instance_type as {sql('current_instance_type.sql')}")
    con.execute(f"create table core.offer_unit as {sql('offer_unit.sql')}")
    con.execute(f"create view core.usd_rate as {sql('usd_rate.sql')}")
    con.execute(f"create view core.current_price as {sql('current_price.sql')}")


def _build_marts(con: duckdb.DuckDBPyConnection, marts: Sequence[Model], *, has_before: bool) -> None:
    con.execute("create table meta.model (name VARCHAR, row_meaning VARCHAR, is_table BOOLEAN, sql VARCHAR)")
    con.execute("create table meta.settled (name VARCHAR, first_day DATE)")
    is_before_alike = has_before and settled.is_alike(con, marts)
    for model in marts:
        _keep(con)
        if model.is_table:
            settled.create(con, model, is_before_alike=is_before_alike)
        else:
            con.execute(f"create view mart.{model.name} as {model.sql}")
        con.execute("insert into meta.model values (?, ?, ?, ?)", [model.name, model.row, model.is_table, model.sql])


def _keep(con: duckdb.DuckDBPyConnection) -> None:
    """Commit what is built so far: only of committed rows does DuckDB know how many there are, and plan for them."""
    con.commit()
    con.begin()


def _copy_log(con: duckdb.DuckDBPyConnection, build: str, snapshot_id: int | None) -> None:
    """Copy the log, sorted so that it compresses and that one offer's history lies together.

    Of a lake, which others write meanwhile, it is the log of one snapshot.
    """
    at = "" if snapshot_id is None else f" at (version => {snapshot_id})"
    order = {"price_event": "offer_id, valid_from, recorded_at", "sighting": "observed_at, offer_id"}
    for table in TABLES:
        keys = order.get(table.name, "all")
        con.execute(f"create table {table.qualified} as from {build}.{table.qualified}{at} order by {keys}")


def _load_reference(con: duckdb.DuckDBPyConnection) -> None:
    """Make the tables that are read from the package's own data."""
    facts = accelerator_facts.read_table()
    read: tuple[Sequence[Sequence[object]], ...] = (
        facts,
        accelerator_facts.wide(facts),
        list(models.core_rows(models.read_table())),
        purchase_terms.read_table(),
        [claims.core_row(claim) for claim in claims.shipped()],
    )
    for table, rows in zip(REFERENCE_TABLES, read, strict=True):
        columns = ", ".join(f"{column.name} {column.type}" for column in columns_of(table))
        con.execute(f"create table {table.qualified} ({columns})")
        insert_rows(con, table.qualified, rows)
    throughput.complete(con)


def _read_labels(con: duckdb.DuckDBPyConnection) -> None:
    """Make core.accelerator_label: what we read today in the words that providers have for their chips."""
    (table,) = (table for table in DERIVED_TABLES if table.name == "accelerator_label")
    columns = ", ".join(f"{column.name} {column.type}" for column in columns_of(table))
    con.execute(f"create table {table.qualified} ({columns})")
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


CHECKS = (
    (
        "intervals of one offer and source overlap",
        "select offer_id from core.sku_price "
        "qualify valid_from < lag(coalesce(valid_to, TIMESTAMP '9999-01-01')) over "
        "(partition by offer_id, source order by valid_from)",
    ),
    (
        "an offer has two open intervals from one source",
        "select offer_id from core.sku_price where valid_to is null group by offer_id, source having count(*) > 1",
    ),
    ("an interval ends before it begins", "select offer_id from core.sku_price where valid_to <= valid_from"),
    (
        "an interval was last confirmed outside itself",
        "select offer_id from core.sku_price where last_observed_at < valid_from or last_observed_at >= valid_to",
    ),
    (
        "a spliced price was last confirmed outside itself",
        "select offer_id from mart.price_history where last_observed_at < valid_from or last_observed_at >= valid_to",
    ),
    (
        "a price event has no document",
        "select e.document_sha256 from core.price_event as e anti join core.document as d using (document_sha256)",
    ),
    (
        "a price event has no offer",
        "select e.offer_id from core.price_event as e anti join core.offer as o using (offer_id)",
    ),
    (
        "a price per chip-hour is not positive",
        "select offer_id from mart.accelerator_hour_price where price_per_accelerator_hour <= 0",
    ),
    (
        "FOCUS SkuPrice: a record is not unique",
        'select "SkuPriceId" from mart.focus_sku_price group by "ServiceProviderName", "SkuPriceId", "ContractId", '
        '"SkuPriceEffectiveStart", "PricingCurrency", "UnitPriceType", "PricingRegionId" having count(*) > 1',
    ),
)
"""What must hold of every published file: each is a name and a SELECT that must give no row."""


def _verify(part: Path) -> None:
    """Open the finished file anew, as a reader would, and run every check and every model."""
    with duckdb.connect(str(part), read_only=True) as con:
        for name, query in CHECKS:
            row = con.execute(f"{query} limit 1").fetchone()
            if row:
                raise ChipledgerError(
                    f"not published: {name}",
                    source=part.name,
                    field="check",
                    value=str(row[0]),
                    hint="The last published file stands; `chipledger rebuild` makes the log anew",
                )
        for (name,) in con.execute("select name from meta.model").fetchall():
            con.execute(f"select * from mart.{name} limit 1").fetchall()


def _put_in_place(part: Path, target: Path, mode: int) -> None:
    part.chmod(mode)
    _flush(part)
    # A .wal left beside the target would be replayed into the new file.
    target.with_name(target.name + ".wal").unlink(missing_ok=True)
    part.replace(target)
    _flush(target.parent)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_parts(target: Path) -> None:
    """Remove what killed runs left; the caller holds the writer's lock, so nobody is writing them."""
    for left in target.parent.glob(f"{target.name}.*.part*"):
        left.unlink(missing_ok=True)
