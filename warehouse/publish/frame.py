"""The frame of published files: the reference tables, empty other tables, views, macros and words: what no log changes.

A frame is made once for each version and choice of marts, and kept in the folder of compiled modules; where Python
keeps none, in the cache of the data directory. Its name has three hashes: of the package's files, of what contents
bring, and of the frame itself. One that has another content than its name says is not used, and made again.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from importlib.metadata import version
from importlib.resources.abc import Traversable
from pathlib import Path

import duckdb
from blake3 import blake3

from warehouse import disk
from warehouse.log import db
from warehouse.log.db import insert_rows, quote, sql
from warehouse.publish import chains
from warehouse.reference import prepared
from warehouse.schema.columns import columns
from warehouse.schema.dictionary import DEPRECATED, ComputedTable, Macro, Model, describe
from warehouse.schema.tables import MOVED, SCHEMAS, STORED_TABLES, ddl, table_named

OF_PRICES = ("market", "market_offer", "first_look", "silent_import", "usd_rate", "usd_rate_of_day", "current_price")
"""SELECTs of core that follow from the intervals of prices."""
FOLDER = "cache"
ENDINGS = (".csv", ".py", ".sql", ".toml")
"""Of the package's files on which a frame depends, next to the SELECTs of marts."""
LABEL = table_named("ref.accelerator_label")
BUILD = (
    "built_at TIMESTAMP, version VARCHAR, sql_sha256 VARCHAR, n_incremental_builds INTEGER, ranked_days INTEGER, "
    "marketplace_days INTEGER, history_id VARCHAR, changed_from TIMESTAMP"
)
MODEL = "name VARCHAR, row_meaning VARCHAR, is_table BOOLEAN, sql VARCHAR, example VARCHAR"
CHAIN_BEFORE = (
    "index_level VARCHAR, service_provider_name VARCHAR, accelerator_name VARCHAR, purchase_option VARCHAR, "
    "chain_number BIGINT, index_log DECIMAL(38, 15)"
)
"""Where the chains of int.price_index stood before its first day: nowhere, except while a file is amended."""

SourceRow = tuple[str, str, str, str, int, int | None, str]
"""A row of core.source: source, provider, title, kind, precedence, max_age_hours (None: never current), url."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What a published file has next to the log.

    `formulas` are the statements that make the scalar macros that marts and macros use, once the reference tables are
    there; `computed` are made last, from all that the file has then. Prices older than `ranked_days`, of marketplaces
    `marketplace_days`, are never ranked.
    `code` names a state of the code where the version does not: a file that another state made is not amended.
    """

    marts: Sequence[Model]
    sources: Iterable[SourceRow]
    public: Sequence[Model] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    macros: Sequence[Macro] = ()
    computed: Sequence[ComputedTable] = ()
    formulas: Sequence[str] = ()
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
        return hashlib.sha256(f"{self.code} {_package()} {self.own_sha256}".encode()).hexdigest()

    @property
    def own_sha256(self) -> str:
        """Return the hash of what these contents bring to a frame."""
        marts = [
            (mart.schema, mart.name, mart.row, mart.example, mart.sql, mart.is_table, mart.amended)
            for mart in (*self.marts, *self.public)
        ]
        macros = [(macro.name, macro.row, *macro.parameters.items(), macro.sql) for macro in self.macros]
        computed = [(table.name, table.row, *table.columns) for table in self.computed]
        own = marts, macros, computed, dict(self.aliases), list(self.formulas)
        return hashlib.sha256(repr(own).encode()).hexdigest()


def copy(contents: Contents, part: Path) -> None:
    """Write the frame of some contents as a new file: a copy of the one that is kept, or one that is made and kept.

    One is made of the frame of no contents, which has no more than the log's tables and the reference tables.
    """
    name, base = (f"frame-{_package()}-{each}" for each in (contents.own_sha256[:16], "base"))
    if not _copy(name, part):
        if not _copy(base, part):
            _change(part, _make_base)
            _keep(base, part)
        _change(part, lambda con: _make_rest(con, contents))
        _keep(name, part)


def _folder(data_dir: Path) -> Path:
    compiled = Path(__file__).with_name("__pycache__")
    is_kept = os.access(compiled, os.W_OK) and not sys.dont_write_bytecode
    return compiled if is_kept else data_dir / FOLDER


def _copy(name: str, part: Path) -> bool:
    """Write the frame that is kept by a name as a new file; return whether there is one that is what its name says."""
    for file in sorted(_folder(part.parent).glob(f"{name}-*.duckdb")):
        try:
            body = file.read_bytes()
        except OSError:  # another process took its place
            continue
        if file.stem.rpartition("-")[2] == blake3(body).hexdigest():
            part.write_bytes(body)
            return True
        with suppress(OSError):
            file.unlink()
    return False


def _keep(name: str, part: Path) -> None:
    """Keep a frame by a name, where that is possible: without it takes longer, and nothing else."""
    body, folder = part.read_bytes(), _folder(part.parent)
    with suppress(OSError, disk.DiskFault):
        with disk.replacing(folder / f"{name}-{blake3(body).hexdigest()}.duckdb") as new:
            new.write_bytes(body)
        for other in folder.glob("frame-*"):  # of another version, or what a killed process left
            if not other.name.startswith(f"frame-{_package()}-"):
                other.unlink(missing_ok=True)


@cache
def _package() -> str:
    """Return the hash of the versions and of the files of this package that a frame is made by."""
    digest = hashlib.sha256(f"{version('chipledger')} {duckdb.__version__}".encode())

    def add(folder: Traversable) -> None:
        for each in sorted(folder.iterdir(), key=lambda each: each.name):
            if each.is_dir():
                add(each)
            elif each.name.endswith(ENDINGS):
                digest.update(each.name.encode() + each.read_bytes())

    for name in ("data", "log", "publish", "reference", "schema", "sql"):
        add(resources.files("warehouse") / name)
    return digest.hexdigest()[:16]


@contextmanager
def attached(con: duckdb.DuckDBPyConnection, part: Path) -> Iterator[str]:
    """Attach a file that is being made as `published`; yield the name of the log's database, in use before and after.

    No transaction may be open. What a crash leaves is thrown away, so that there is no journal. Small blocks, as many
    tables are small; the format of DuckDB 1.5 is the first that packs doubles into them.
    """
    ((log,),) = con.execute("select current_database()").fetchall()
    options = "recovery_mode no_wal_writes, block_size 65536, storage_version 'v1.5.0'"
    con.execute(f"attach {quote(str(part))} as published ({options})")
    try:
        # A checkpoint that a commit begins may lose what the other connection commits meanwhile (DuckDB 1.5.5).
        con.execute("use published; set checkpoint_threshold = '1TB'")
        yield log
    except BaseException:
        with suppress(duckdb.Error):  # none is open
            con.rollback()
        raise
    finally:
        con.execute(f"use {log}; reset checkpoint_threshold")
        con.execute("detach published")


def _change(file: Path, change: Callable[[duckdb.DuckDBPyConnection], None]) -> None:
    with duckdb.connect() as con, attached(con, file):
        con.execute("set force_compression = 'auto'; begin")  # the same file, however a process is set
        change(con)
        con.commit()


def _make_base(con: duckdb.DuckDBPyConnection) -> None:
    for schema in SCHEMAS:
        con.execute(f"create schema {schema}")
    for name, shape in (("build", BUILD), ("model", MODEL), ("chain_before", CHAIN_BEFORE)):
        con.execute(f"create table meta.{name} ({shape})")
    con.execute("create macro meta.built_at() as null::TIMESTAMP")
    _make_log(con)
    prepared.create(con)
    db.create_macros(con)
    con.execute(ddl(LABEL))
    con.execute(f"create view ref.current_instance_type as {sql('current_instance_type.sql')}")
    _table(con, "core.offer_unit", sql("offer_unit.sql"))
    _make_chains(con)
    for name in OF_PRICES:
        con.execute(f"create view core.{name} as {sql(f'{name}.sql')}")


def _table(con: duckdb.DuckDBPyConnection, name: str, select: str) -> None:
    con.execute(f"create table {name} as {select} with no data")


def _make_log(con: duckdb.DuckDBPyConnection) -> None:
    for name in ("log.closed_link", "log.last_link", "core.first_move_kind"):
        con.execute(ddl(table_named(name)))
    for name, links in chains.LINKS.items():
        con.execute(f"create view {name} as {links}")
    for table in STORED_TABLES:
        copy = table._replace(schema="ref") if table.qualified in MOVED else table
        if copy.qualified not in chains.LINKS:
            con.execute(ddl(copy, "url"))  # as many as documents, and much alike
    db.create_views(con)


def _make_chains(con: duckdb.DuckDBPyConnection) -> None:
    for name in ("fetch_cover", "scope_cover"):
        _table(con, f"core.{name}", sql(f"chain/{name}.sql"))
    con.execute("create or replace view log.fetch_cover as from core.fetch_cover")
    for name in ("sku_price_replaced", "price_history_replaced"):
        con.execute(ddl(table_named(f"core.{name}")))
    chains.create_links(con, "chain_link")
    con.execute(f"create view log.chain_price as {sql('chain/chain_price.sql')}")
    _make_prices(con, "core.sku_price", chains.SKU_PRICE)
    chains.create_links(con, "sku_price")


def _make_prices(con: duckdb.DuckDBPyConnection, name: str, select: str) -> None:
    """Make the view of prices, and the table of those that no chain gives."""
    other = f"core.{name.partition('.')[2]}_other"
    _table(con, other, select)
    con.execute(f"create view {name} as {chains.view(name, con.sql(f'from {other}').columns)}")


def _make_rest(con: duckdb.DuckDBPyConnection, contents: Contents) -> None:
    """Make formulas, marts, macros, what Python computes, public tables, the names that they had before, and words."""
    for statement in contents.formulas:
        con.execute(statement)
    for model in contents.marts:
        _make_mart(con, model)
        if model.qualified == "int.price_history":
            chains.create_links(con, "price_link")
    for macro in contents.macros:
        con.execute(f"create macro mart.{macro.name}({', '.join(macro.parameters)}) as table {macro.sql}")
    for table in contents.computed:
        shape = ", ".join(f"{name} {columns()[name].type}" for name in table.columns)
        con.execute(f"create table int.{table.name} ({shape})")
    for model in contents.public:
        _make_mart(con, model)
    made = {model.qualified for model in contents.marts} | {f"int.{table.name}" for table in contents.computed}
    for old, new in (*MOVED.items(), *contents.aliases.items()):
        if new in made or old in MOVED:
            con.execute(f"create view {old} as from {new}")
            con.execute(f"comment on view {old} is {quote(f'{DEPRECATED}: query {new}')}")
    insert_rows(con, "meta.model", [_row(model) for model in (*contents.marts, *contents.public)])
    describe(con, contents.marts, contents.computed, contents.public, contents.macros)
    for table in contents.computed:
        table.prepare(con)


def _make_mart(con: duckdb.DuckDBPyConnection, model: Model) -> None:
    if model.qualified in chains.CHAINS:
        _make_prices(con, model.qualified, model.sql)
    elif model.is_table:
        has_rows = model.name in chains.OF_REFERENCES
        con.execute(f"create table {model.qualified} as {model.sql}{'' if has_rows else ' with no data'}")
    else:
        con.execute(f"create view {model.qualified} as {model.sql}")


def _row(model: Model) -> Sequence[object]:
    is_table = model.is_table and model.qualified not in chains.CHAINS
    return model.qualified.removeprefix("int."), model.row, is_table, model.sql, model.example
