"""The reference tables of a published file, made once a version and stored as Arrow in the folder of compiled modules.

Where Python keeps no compiled modules, they are in the cache of the data directory.
The name of the file has two hashes: of all that the tables are made from, and of the file itself. A file that has
another content than its name says is not used, and made again; one made from anything else is removed.
"""

import hashlib
import io
import os
import sys
from contextlib import suppress
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from warehouse.reference import accelerator_facts, claims, models, price_bands, source_terms, throughput
from warehouse.reference.table import Model, Rule, fields_of_columns
from warehouse.schema.tables import REFERENCE_TABLES, ddl, table_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

FOLDER = "cache"
MADE_FROM = (("warehouse.data", ".csv"), ("warehouse.schema", ".csv"), ("warehouse.reference", ".py"))
"""Packages, and the ending of the files in each, on which the prepared tables depend."""
PURCHASE_TERMS = Model(
    file="purchase_term.csv",
    key="purchase_option",
    fields=fields_of_columns(
        table_named("ref.purchase_term").columns,
        ("service_provider_name", "purchase_option", "source_url", "accessed_on"),
    ),
    may_be_zero=("lead_time_hours", "shortest_term_hours", "longest_term_hours"),
    rules=(
        Rule("shortest_term_hours", "longer than longest_term_hours", "shortest_term_hours <= longest_term_hours"),
        Rule(
            "source_url",
            "no public address to check the fact at",
            r"regexp_like(source_url, '^https://\S+( +https://\S+)*$')",
        ),
    ),
    unique=("service_provider_name", "purchase_option", "commitment_discount_type", "offering_class", "known_from"),
    repeated="a second row for the same option and known_from",
)
"""What each purchase option promises, one option a row; only the published file has this table."""
REGIONS = Model(
    file="region.csv",
    key="region_id",
    fields=fields_of_columns(table_named("ref.region").columns, {*table_named("ref.region").columns} - {"country"}),
    unique=("service_provider_name", "region_id"),
    repeated="a second row for the same region",
    rules=(Rule("country", "no ISO 3166-1 code of two letters", "regexp_like(country, '^[A-Z]{2}$')"),),
)
"""In which country and continent each region lies; a region may be a continent."""


def load(con: duckdb.DuckDBPyConnection, data_dir: Path, *, references: bool = True) -> None:
    """Make the reference tables in the database in use, if wanted, and complete core.throughput, from prepared rows."""
    for name, rows in tables(_folder(data_dir)).items():
        con.register("prepared", rows)
        if name == throughput.CORE.qualified:
            throughput.complete(con, "prepared")
        elif references:
            con.execute(f"create table {name} as from prepared")
        con.unregister("prepared")


def _folder(data_dir: Path) -> Path:
    compiled = Path(__file__).with_name("__pycache__")
    is_kept = os.access(compiled, os.W_OK) and not sys.dont_write_bytecode
    return compiled if is_kept else data_dir / FOLDER


def tables(folder: Path) -> "dict[str, pa.Table]":
    """Return the rows of the reference tables and the shipped rows of core.throughput, by qualified name.

    They are read from a file in a folder; where there is none that can be used, they are made and written there.
    """
    made_from = _made_from()
    for file in sorted(folder.glob(f"reference-*-{made_from}-*.arrow")):
        body = file.read_bytes()
        if file.stem.rpartition("-")[2] == hashlib.sha256(body).hexdigest():
            return _unpacked(body)
    body = _packed(made)
    name = f"reference-{version('chipledger')}-{made_from}-{hashlib.sha256(body).hexdigest()}.arrow"
    with suppress(OSError):  # without a cache it takes longer, and nothing else
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{name}.{os.getpid()}.part"
        part.write_bytes(body)
        part.replace(folder / name)
        for other in folder.glob("reference-*"):  # of another version, or what a killed process left
            if other.name != name:
                other.unlink(missing_ok=True)
    return made()


@cache
def _made_from() -> str:
    digest = hashlib.sha256(version("chipledger").encode())
    for package, ending in MADE_FROM:
        for file in sorted(resources.files(package).iterdir(), key=lambda each: each.name):
            if file.name.endswith(ending):
                digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def made() -> "dict[str, pa.Table]":
    """Return the tables, made from the package's data."""
    import pyarrow as pa

    facts = accelerator_facts.read_table()
    rows: tuple[Sequence[Sequence[object]], ...] = (
        facts,
        accelerator_facts.wide(facts),
        list(models.core_rows(models.read_table())),
        [tuple(row.values()) for row in PURCHASE_TERMS.read()],
        price_bands.read_table(),
        source_terms.read_table(),
        [tuple(row.values()) for row in REGIONS.read()],
        [claims.core_row(claim) for claim in claims.shipped()],
        throughput.catalogue_rows(),
    )
    found = {}
    with duckdb.connect() as con:
        for table, each in zip((*REFERENCE_TABLES, throughput.CORE), rows, strict=True):
            con.execute(f"create schema if not exists {table.schema}")
            con.execute(ddl(table))
            # As texts, which DuckDB reads from Arrow five times as fast as from JSON.
            texts = ([None if cell is None else str(cell) for cell in column] for column in zip(*each, strict=True))
            arrays = (pa.array(column, pa.string()) for column in texts)
            con.register("texts", pa.table(dict(zip(table.columns, arrays, strict=True))))
            con.execute(f"insert into {table.qualified} by name from texts")
            found[table.qualified] = con.execute(f"from {table.qualified}").to_arrow_table()
    return found


@cache
def _packed(make: "Callable[[], dict[str, pa.Table]]") -> bytes:
    """Return the tables that `make` returns as Arrow streams, one after the other, each with its name."""
    import pyarrow as pa

    target, options = io.BytesIO(), pa.ipc.IpcWriteOptions(compression="zstd")
    for name, table in make().items():
        schema = table.schema.with_metadata({"name": name})
        with pa.ipc.new_stream(target, schema, options=options) as stream:
            stream.write_table(table.cast(schema))
    return target.getvalue()


def _unpacked(body: bytes) -> "dict[str, pa.Table]":
    import pyarrow as pa

    source, found = pa.BufferReader(body), {}
    while source.tell() < len(body):
        table = pa.ipc.open_stream(source).read_all()
        found[table.schema.metadata[b"name"].decode()] = table
    return found
