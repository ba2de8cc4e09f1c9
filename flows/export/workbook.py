"""The main marts as an Excel workbook: one sheet each, and notes with units, sources and ages.

Numbers are numbers, times and days are dates (UTC), codes of offers are text, as Excel keeps fifteen digits. A text is
a text: nothing from outside becomes a formula or a link.
"""

import math
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from flows.shared.output import as_json, plain
from flows.shared.query import columns as names_of
from flows.shared.tabular import cursor
from warehouse.errors import ChipledgerError

if TYPE_CHECKING:
    from xlsxwriter import Workbook
    from xlsxwriter.worksheet import Worksheet

SHEETS = names_of("""
accelerator_hour_price, provider_price, aws_purchase_options, commitment_option, price_change, spot_region_price,
list_price_move, token_cost, training_cost, claim_audit, source_health
""")
"""The marts of the workbook; each is a sheet of its own name."""

PARTS = {"token_cost": ("where utilisation = 0.5", "at half utilisation; the others are in an export as Parquet")}
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
OPTIONS = {
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "nan_inf_to_errors": False,
    "constant_memory": True,
}
"""Rows go to the file as they come; no text is read as anything else."""


def write(
    con: duckdb.DuckDBPyConnection,
    path: Path,
    *,
    private: duckdb.DuckDBPyConnection | None = None,
    private_tables: Sequence[str] = (),
) -> int:
    """Write the workbook of an open published file, and return the number of rows in its sheets."""
    import xlsxwriter

    book = xlsxwriter.Workbook(str(path), OPTIONS)
    styles = {
        "header": book.add_format({"bold": True, "bottom": 1}),
        "moment": book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        "day": book.add_format({"num_format": "yyyy-mm-dd"}),
    }
    counts: dict[str, int] = {}
    notes = book.add_worksheet("notes")
    for name in SHEETS:
        part, _ = PARTS.get(name, ("", ""))
        counts[name] = _sheet(book, con, f'from int."{name}" {part}', name, styles)
    for name in private_tables if private is not None else ():
        sheet = f"private {name}"[:31]
        assert private is not None  # noqa: S101
        counts[sheet] = _sheet(book, private, f'from main."{name}"', sheet, styles)
    _notes(notes, con, counts, styles)
    book.close()
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
