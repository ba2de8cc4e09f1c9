"""Exports of the published file: every mart as Parquet or CSV, FOCUS SkuPrice, and what other tools read.

prices.duckdb alone is read; what is private is written only on request, and readable by its owner alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from flows.export import skypilot
from flows.shared import tabular
from warehouse.errors import ChipledgerError

FORMATS = ("parquet", "csv")
KINDS = ("focus-sku-price", "skypilot", "xlsx")
PRIVATE = "private"
"""The folder for what is private, next to the marts."""

FOCUS = (
    'from focus.sku_price order by "ServiceProviderName", "SkuPriceId", "PricingRegionId", "AvailabilityZone", '
    '"SkuPriceEffectiveStart", "ChargeCategory", "PricingCurrency"'
)
MARTS = (
    "select case when schema_name = 'mart' then '' else schema_name || '.' end || name as name, "
    "schema_name || '.' || name as made, "
    "schema_name = 'mart' as is_public from ("
    "select schema_name, table_name as name, comment from duckdb_tables() where database_name = current_database() "
    "union all "
    "select schema_name, view_name, comment from duckdb_views() where database_name = current_database()) "
    "where schema_name in ('int', 'mart', 'focus', 'ref') and not starts_with(coalesce(comment, ''), 'Deprecated') "
    "order by all"
)
"""Tables that can be exported, by the name that a user enters: the public ones by their own, others with schema."""
PRIVATE_TABLES = "select table_name from duckdb_tables() where schema_name = 'main' order by 1"


@dataclass(frozen=True)
class Written:
    """One file that an export wrote, its rows, and what was left out of it and why."""

    file: Path
    rows: int
    left_out: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"file": str(self.file), "rows": self.rows, "left_out": self.left_out}


@contextmanager
def reading(file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a read-only connection. Raises ChipledgerError where a query fails."""
    try:
        with duckdb.connect(str(file), read_only=True) as con:
            yield con
    except duckdb.Error as error:
        raise ChipledgerError(
            str(error).splitlines()[0], source=str(file), hint="`chipledger build` publishes the file anew"
        ) from error


def marts(
    file: Path, folder: Path, *, form: str, names: Sequence[str] = (), with_private: bool = False, force: bool = False
) -> list[Written]:
    """Write the public tables, or those named, into a folder. Raises ChipledgerError before anything is written."""
    suffix = f".{form}"
    with reading(file) as con:
        found = con.execute(MARTS).fetchall()
        known = {name: made for name, made, _ in found}
        public = [name for name, _, is_public in found if is_public]
        for name in {*names} - {*known}:
            hint = f"Known: {', '.join(known)}"
            raise ChipledgerError("no such mart", source=str(file), field="mart", value=name, hint=hint)
        targets = {name: tabular.inside(folder, f"{name}{suffix}") for name in dict.fromkeys(names or public)}
        with _private(file, with_private=with_private) as (secret, secrets):
            hidden = {name: tabular.inside(folder, PRIVATE, f"{name}{suffix}") for name in secrets}
            tabular.refuse_existing([*targets.values(), *hidden.values()], force=force)
            written = [_table(con, known[name], path, form, force) for name, path in targets.items()]
            if secret is not None:
                written += [_table(secret, f"main.{name}", path, form, force) for name, path in hidden.items()]
    return written


def focus(file: Path, target: Path, *, force: bool = False) -> list[Written]:
    """Write focus.sku_price as CSV: FOCUS SkuPrice as of the 1.5 draft, our own columns beginning with x_."""
    with reading(file) as con:
        n_rows = tabular.put(target, lambda part: tabular.save_csv(con, FOCUS, part), force=force)
    return [Written(target, n_rows, {})]


def sky(file: Path, folder: Path, *, force: bool = False) -> list[Written]:
    """Write one catalogue per cloud, `<cloud>/vms.csv`, for SkyPilot. Raises ChipledgerError without current prices."""
    with reading(file) as con:
        catalogues = skypilot.catalogues(con)
    targets = {cloud: tabular.inside(folder, cloud, "vms.csv") for cloud in catalogues}
    tabular.refuse_existing(targets.values(), force=force)
    written = []
    for cloud, (machines, left_out) in catalogues.items():

        def save(part: Path, machines: Sequence[skypilot.Machine] = machines) -> int:
            with part.open("w", encoding="utf-8", newline="") as text:
                return tabular.write_csv(skypilot.Machine._fields, machines, text)

        written.append(Written(targets[cloud], tabular.put(targets[cloud], save, force=force), left_out))
    return written


def workbook(file: Path, target: Path, *, with_private: bool = False, force: bool = False) -> list[Written]:
    """Write an Excel workbook of the main marts."""
    from flows.export import workbook as book

    tabular.refuse_existing([target], force=force)
    with reading(file) as con, _private(file, with_private=with_private) as (secret, secrets):

        def save(part: Path) -> int:
            return book.write(con, part, private=secret, private_tables=secrets)

        n_rows = tabular.put(target, save, force=force, private=with_private)
    return [Written(target, n_rows, {})]


def _table(con: duckdb.DuckDBPyConnection, table: str, target: Path, form: str, force: bool) -> Written:
    schema, _, name = table.partition(".")
    private = schema == "main"

    def save(part: Path) -> int:
        sql = f'from {schema}."{name}"'
        if form == "csv":
            return tabular.save_csv(con, sql, part)
        comments = con.execute(
            "select column_name, comment from duckdb_columns() "
            "where schema_name = ? and table_name = ? and database_name = current_database() and comment is not null",
            [schema, name],
        ).fetchall()
        return tabular.save_parquet(con, sql, part, dict(comments))

    return Written(target, tabular.put(target, save, force=force, private=private), {})


@contextmanager
def _private(file: Path, *, with_private: bool) -> Iterator[tuple[duckdb.DuckDBPyConnection | None, list[str]]]:
    """Give a connection to the private file and the names of its tables; nothing without a request."""
    if not with_private:
        yield None, []
        return
    private = file.with_name("private.duckdb")
    if not private.exists():
        hint = "Name your files in [private], or leave out --with-private"
        raise ChipledgerError("there is no private file", source=str(private), hint=hint)
    with reading(private) as con:
        yield con, [name for (name,) in con.execute(PRIVATE_TABLES).fetchall()]
