"""Exports of the published file: every mart as Parquet or CSV, FOCUS SkuPrice, and what other tools read.

prices.duckdb alone is read; what is private is written only on request, and readable by its owner alone.

In a workbook numbers are numbers, times and days are dates (UTC), codes of offers are text, as Excel keeps fifteen
digits. A text is a text: nothing from outside becomes a formula or a link.
"""

import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from flows.shared import tabular
from flows.shared.output import as_json, plain
from flows.shared.query import PRIVATE, RELATIONS, columns, refuse_older
from flows.shared.tabular import cursor
from transform.models import PUBLIC
from warehouse.errors import ChipledgerError, SettingsError, did_you_mean
from warehouse.log.db import quote
from warehouse.schema.columns import columns as all_columns

if TYPE_CHECKING:
    from xlsxwriter import Workbook
    from xlsxwriter.worksheet import Worksheet

FOCUS = (
    'from focus.sku_price order by "ServiceProviderName", "SkuPriceId", "PricingRegionId", "AvailabilityZone", '
    '"SkuPriceEffectiveStart", "ChargeCategory", "PricingCurrency"'
)
MARTS = (
    "select case when schema_name = 'mart' then '' else schema_name || '.' end || name as name, "
    "schema_name || '.' || name as made, "
    f"schema_name = 'mart' as is_public from {RELATIONS} "
    "where schema_name in ('int', 'mart', 'focus', 'ref') and parameters is null order by all"
)
"""Tables that can be exported, by the name that a user enters: the public ones by their own, others with schema."""
PRIVATE_TABLES = f"select table_name from duckdb_tables() where database_name = '{PRIVATE}' order by 1"

ALWAYS = {
    "unique": ("price_now.offer_id",),
    "not_null": columns("""
        price_now.offer_id, price_now.purchase_option, price_now.age_days, price_history.offer_id,
        price_history.valid_from, price_history.last_observed_at, price_change.offer_id, price_change.observed_at,
        price_index.index_date, provider_price.purchase_option, commitment.offer_id, spot_zone.offer_id,
        token_cost.model_name, source_health.source, source_health.status
    """),
}
"""What holds of columns of public tables in every file, as dbt's tests."""

SHEETS = columns("""
accelerator_hour_price, provider_price, aws_purchase_options, commitment_option, price_change, spot_region_price,
token_cost, training_cost, claim_audit, source_health
""")
"""The marts of the workbook; each is a sheet of its own name."""

PARTS = {
    "token_cost": ("where utilisation = 0.5", "at half utilisation; the others are in an export as Parquet"),
    "price_change": (
        "order by observed_at desc, offer_id limit 200000",
        "the newest 200,000; all are in an export as Parquet",
    ),
}
"""Marts of which a part is enough, as a SELECT's end, and a note."""

ROWS_OF_A_SHEET = 1_048_576
"""Excel's limit, the header's row included (https://support.microsoft.com/office/1672b34d-7043-467e-8e27-269d656771c3)."""
TEXT_OF_A_CELL = 32_767
"""Excel's limit, from the same page."""
FIRST_YEAR = 1900
NOTES = (
    "Read-only copy of chipledger's published file. Times are UTC. An empty cell is unknown, never 0.",
    "Purchase options are never to be averaged together: compare within one purchase_option and commitment.",
    "is_current and age_days were counted when the file was built; a price that is not current is an old one.",
    "Codes of offers are text; amounts are numbers in the unit of their column below.",
)
OPTIONS = dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers", "nan_inf_to_errors"), False)
OPTIONS |= {"constant_memory": True}
"""Rows go to the file as they come; no text is read as anything else."""


@dataclass(frozen=True)
class Written:
    """One file that an export wrote, its rows, and what was left out of it and why."""

    file: Path
    rows: int
    left_out: dict[str, int]


def marts(
    file: Path, folder: Path, *, form: str, names: Sequence[str] = (), with_private: bool = False, force: bool = False
) -> list[Written]:
    """Write the public tables, or those named, into a folder. Raises ChipledgerError before anything is written."""
    with duckdb.connect(str(file), read_only=True) as con:
        refuse_older(con, file)
        found = con.execute(MARTS).fetchall()
        known = {name: made for name, made, _ in found}
        public = [name for name, _, is_public in found if is_public]
        for name in {*names} - {*known}:
            hint = did_you_mean(name, known, "`chipledger query --list --all` lists all")
            raise SettingsError("no such mart", source=str(file), field="mart", value=name, hint=hint)
        targets = {name: tabular.inside(folder, f"{name}.{form}") for name in dict.fromkeys(names or public)}
        hidden = {
            f"{PRIVATE}.main.{name}": tabular.inside(folder, PRIVATE, f"{name}.{form}")
            for name in attach_private(con, file, with_private=with_private)
        }
        tabular.refuse_existing([*targets.values(), *hidden.values()], force=force)
        tables = {known[name]: path for name, path in targets.items()} | hidden
        return [_table(con, table, path, form, force) for table, path in tables.items()]


def focus(file: Path, target: Path, *, force: bool = False) -> list[Written]:
    """Write focus.sku_price as CSV: FOCUS SkuPrice as of the 1.5 draft, our own columns beginning with x_."""
    with duckdb.connect(str(file), read_only=True) as con:
        return [Written(target, tabular.put(target, lambda to: tabular.save_csv(con, FOCUS, to), force=force), {})]


def dbt(file: Path, target: Path, *, force: bool = False) -> list[Written]:
    """Write the public tables as dbt's sources, with descriptions, units and tests of what always holds.

    Properties of sources: https://docs.getdbt.com/reference/source-properties. YAML, in JSON's spelling of scalars.
    """
    with duckdb.connect(str(file), read_only=True) as con:
        found = con.execute(
            "select t.name, t.comment, d.column_name, d.data_type, concat_ws(' ', d.meaning, '[' || d.unit || ']') "
            f"from {RELATIONS} as t inner join mart.data_dictionary as d "
            "on t.schema_name = d.table_schema and t.name = d.table_name "
            "where t.schema_name = 'mart' and list_contains($public, t.name) order by list_position($public, t.name)",
            {"public": [mart.name for mart in PUBLIC]},
        ).fetchall()
    lines = ["version: 2", "sources:", "  - name: chipledger", "    schema: mart", "    tables:"]
    before = None
    for table, row_meaning, column, type_, meaning in found:
        if table != before:
            lines += [f"      - name: {table}", f"        description: {json.dumps(row_meaning)}", "        columns:"]
        before = table
        lines += [f"          - name: {column}", f"            data_type: {json.dumps(type_)}"]
        lines += [f"            description: {json.dumps(meaning)}", *_tests(table, column)]

    def save(part: Path) -> int:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return len(found)

    return [Written(target, tabular.put(target, save, force=force), {})]


def _tests(table: str, column: str) -> list[str]:
    tests = [f"              - {test}" for test, where in ALWAYS.items() if f"{table}.{column}" in where]
    if values := all_columns()[column].allowed:
        tests.append(f"              - accepted_values: {json.dumps({'arguments': {'values': values}})}")
    return ["            data_tests:", *tests] if tests else []


def workbook(file: Path, target: Path, *, with_private: bool = False, force: bool = False) -> list[Written]:
    """Write an Excel workbook of the main marts."""
    with duckdb.connect(str(file), read_only=True) as con:
        private = attach_private(con, file, with_private=with_private)
        n_rows = tabular.put(target, lambda to: _write_workbook(con, to, private), force=force, private=with_private)
    return [Written(target, n_rows, {})]


def _table(con: duckdb.DuckDBPyConnection, table: str, target: Path, form: str, force: bool) -> Written:
    *of, schema, name = table.split(".")

    def save(part: Path) -> int:
        sql = f'from {".".join((*of, schema))}."{name}" order by all'
        if form == "csv":
            return tabular.save_csv(con, sql, part)
        comments = con.execute(
            "select column_name, comment from duckdb_columns() where database_name = coalesce(?, current_database()) "
            "and schema_name = ? and table_name = ? and comment is not null",
            [of[0] if of else None, schema, name],
        ).fetchall()
        return tabular.save_parquet(con, sql, part, dict(comments))

    return Written(target, tabular.put(target, save, force=force, private=bool(of)), {})


def attach_private(con: duckdb.DuckDBPyConnection, file: Path, *, with_private: bool) -> list[str]:
    """Attach the private file where it is requested, and return the names of its tables."""
    if not with_private:
        return []
    private = file.with_name("private.duckdb")
    if not private.exists():
        hint = "Name your files in [private] and publish again, or leave out --with-private"
        raise ChipledgerError("there is no private file", source=str(private), hint=hint)
    con.execute(f"attach {quote(str(private))} as {PRIVATE} (read_only)")
    return [name for (name,) in con.execute(PRIVATE_TABLES).fetchall()]


def _write_workbook(con: duckdb.DuckDBPyConnection, path: Path, private: Sequence[str]) -> int:
    """Write the workbook of an open published file, and return the number of rows in its sheets."""
    import xlsxwriter

    whole = io.BytesIO()  # not the file: an archive that is cut short has a traceback of its own
    book = xlsxwriter.Workbook(whole, OPTIONS)
    styles = {
        "header": book.add_format({"bold": True, "bottom": 1}),
        "moment": book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        "day": book.add_format({"num_format": "yyyy-mm-dd"}),
    }
    counts: dict[str, int] = {}
    notes = book.add_worksheet("notes")
    for name in SHEETS:
        part, _ = PARTS.get(name, ("", ""))
        counts[name] = _sheet(book, con, f'from (from int."{name}" {part}) order by all', name, styles)
    for name in private:
        sheet = f"private {name}"[:31]
        counts[sheet] = _sheet(book, con, f'from {PRIVATE}.main."{name}" order by all', sheet, styles)
    _notes(notes, con, counts, styles)
    try:
        book.close()
    except xlsxwriter.exceptions.FileCreateError as error:  # no space for its temporary files
        raise error.args[0] from error
    path.write_bytes(whole.getvalue())
    return sum(counts.values())


def _sheet(book: "Workbook", con: duckdb.DuckDBPyConnection, sql: str, name: str, styles: dict[str, Any]) -> int:
    sheet = book.add_worksheet(name)
    names, rows = cursor(con, sql)
    _header(sheet, 0, names, styles)
    sheet.freeze_panes(1, 0)
    are_ids = [column.endswith("_id") for column in names]
    n_rows = 0
    for n_rows, row in enumerate(rows, start=1):
        if n_rows >= ROWS_OF_A_SHEET:
            raise ChipledgerError(
                "more rows than a sheet can hold", source="export", field="sheet", value=name, hint="Export Parquet"
            )
        for column, value in enumerate(row):
            put_cell(sheet, n_rows, column, str(value) if are_ids[column] and value is not None else value, styles)
    if n_rows:
        sheet.autofilter(0, 0, n_rows, len(names) - 1)
    return n_rows


def _header(sheet: "Worksheet", at: int, names: Sequence[str], styles: dict[str, Any]) -> None:
    for column, name in enumerate(names):
        sheet.write_string(at, column, name, styles["header"])
        if at == 0:
            sheet.set_column(column, column, min(max(len(name), 10), 40))


def put_cell(sheet: "Worksheet", row: int, column: int, value: object, styles: dict[str, Any]) -> None:
    """Write one value as what it is; nothing where it is unknown or no number."""
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float | Decimal):
        number = float(value)
        if math.isfinite(number):
            sheet.write_number(row, column, number)
    elif isinstance(value, datetime) and value.year >= FIRST_YEAR:
        sheet.write_datetime(row, column, value.replace(tzinfo=None), styles["moment"])
    elif isinstance(value, date) and value.year >= FIRST_YEAR:
        sheet.write_datetime(row, column, value, styles["day"])
    else:
        text = as_json(value) if isinstance(value, dict | list | tuple) else str(plain(value))
        if len(text) > TEXT_OF_A_CELL:
            end = f" … cut from {len(text)} characters"
            text = text[: TEXT_OF_A_CELL - len(end)] + end
        sheet.write_string(row, column, text)


def _notes(sheet: "Worksheet", con: duckdb.DuckDBPyConnection, counts: dict[str, int], styles: dict[str, Any]) -> None:
    """Say when the file was built, what each sheet and column is and in which unit, and where the prices come from."""
    row = 0

    def line(*values: object, header: bool = False) -> None:
        nonlocal row
        if header:
            row += 1  # an empty line before each table
            _header(sheet, row, [str(value) for value in values], styles)
        else:
            for column, value in enumerate(values):
                put_cell(sheet, row, column, value, styles)
        row += 1

    sheet.set_column(0, 4, 28)
    built_at, version = con.execute("select built_at, version from meta.build").fetchall()[0]
    line("built_at", built_at)
    line("version", version)
    for note in NOTES:
        line(note)
    meanings = dict(con.execute("select name, row_meaning from meta.model").fetchall())
    line("sheet", "rows", "what a row is", header=True)
    for name, count in counts.items():
        _, note = PARTS.get(name, ("", ""))
        line(name, count, meanings.get(name), note or None)
    line("sheet", "column", "unit", "meaning", header=True)
    for values in con.execute(
        "select table_name, column_name, unit, meaning from mart.data_dictionary "
        "where table_schema = 'int' and list_contains(?, table_name)",
        [list(SHEETS)],
    ).fetchall():
        line(*values)
    line("source", "provider", "title", "kind", "address", header=True)
    for values in con.execute(
        "select source, service_provider_name, title, kind, url from core.source order by all"
    ).fetchall():
        line(*values)
