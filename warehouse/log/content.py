"""What a file holds, as hashes: two files of equal content have equal ones, however their bytes lie on disk."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import duckdb


@dataclass(frozen=True, kw_only=True)
class TableHash:
    """Rows of a table or view, and the SHA-256 over its rows in order, each as JSON with its column names."""

    n_rows: int
    sha256: str


SCHEMAS = ("core", "ref", "int", "mart", "focus")
CHAIN_TABLES = r"core\.(fetch_cover|\w+_(other|replaced|kind))"
"""By which views of prices read the chains of their log. Rebuilt, a log may have other chains that say the same."""


def tables(con: duckdb.DuckDBPyConnection, schemas: Iterable[str] = SCHEMAS) -> dict[str, TableHash]:
    """Return the hash of every table and view in schemas of the database in use, by qualified name."""
    names = con.execute(
        "select distinct schema_name, table_name from duckdb_columns() "
        "where database_name = current_database() and schema_name in (select unnest(?)) and "
        "not regexp_full_match(schema_name || '.' || table_name, ?) order by all",
        [list(schemas), CHAIN_TABLES],
    ).fetchall()
    return {f"{schema}.{name}": _table(con, f'{schema}."{name}"') for schema, name in names}


def whole(found: Mapping[str, TableHash]) -> str:
    """Return one hash over those of all tables."""
    lines = "".join(f"{name} {table.n_rows} {table.sha256}\n" for name, table in sorted(found.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def differing(one: Mapping[str, TableHash], other: Mapping[str, TableHash]) -> list[str]:
    """Return the names of tables that only one has, or whose content differs."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def _table(con: duckdb.DuckDBPyConnection, name: str) -> TableHash:
    # Rows have no order: their hashes are sorted and hashed. The number of an offer is another one in a rebuilt log.
    ((n_rows, sha256),) = con.execute(
        "select count(*), sha256(coalesce(string_agg(row_hash, '' order by row_hash), '')) from (select "
        f"sha256(to_json(t)::VARCHAR) as row_hash from (select columns(lambda c: c <> 'offer_no') from {name}) as t)"
    ).fetchall()
    return TableHash(n_rows=n_rows, sha256=sha256)
