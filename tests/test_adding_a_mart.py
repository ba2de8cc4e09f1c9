"""docs/adding-a-mart.md, tried: its SELECT, its column, its line and its section work on a published file."""

import csv
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import duckdb
import paging
import pytest
from doc_blocks import blocks

from reports import wording
from reports.pages import cost_page
from reports.pages.frame import frame
from reports.queries import Published, Row
from reports.tables.table import Column, Number, Table
from transform import models

PAGE = Path(__file__).parent.parent / "docs" / "adding-a-mart.md"


def only(heading: str, language: str) -> str:
    """Return the one block of a language under a heading."""
    (found,) = blocks(PAGE, heading, language=language)
    return found


@pytest.fixture
def con(offline_run: Path, tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A copy of an offline run's file that has the mart."""
    file = tmp_path / "prices.duckdb"
    shutil.copy(offline_run / "prices.duckdb", file)
    file.chmod(0o600)
    with duckdb.connect(str(file)) as opened:
        opened.execute(f"create view int.chip_floor as {only('1. The SELECT: `transform/sql/chip_floor.sql`', '')}")
        yield opened


def test_the_query_answers(con: duckdb.DuckDBPyConnection) -> None:
    """The documented query returns its rows, the cheapest first."""
    (line,) = [line for line in only("5. Try it", "sh").splitlines() if "chipledger query" in line]
    rows = con.execute(line.split('"')[1]).fetchall()
    assert len(rows) == 5
    assert [row[3] for row in rows] == sorted(row[3] for row in rows)


def test_every_column_is_declared(con: duckdb.DuckDBPyConnection) -> None:
    """One column is new, with the type that the SELECT has; the others are declared already."""
    (declared,) = csv.reader([only("2. New columns: `warehouse/schema/columns.csv`", "csv")])
    columns = {row[0]: row[1] for row in con.execute("describe int.chip_floor").fetchall()}
    known = {name for (name,) in con.execute("select distinct column_name from mart.data_dictionary").fetchall()}
    assert set(columns) - known == {declared[0]}
    assert columns[declared[0]] == declared[1]
    assert declared[3]


def test_the_line_is_a_mart() -> None:
    """It is a mart of the name of the file, in the columns of the list."""
    line = only("3. The list of marts: `transform/marts.csv`", "csv")
    head = (PAGE.parents[1] / "transform" / "marts.csv").read_text().splitlines()[0]
    (row,) = csv.DictReader([head, line], strict=True)
    mart = models._mart(row)
    assert (mart.qualified, mart.is_table) == ("int.chip_floor", False)


def test_the_section_is_on_the_page(con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The documented lines, in the order in which Python needs them, put the table at the end of the page of costs."""
    read, sections, table = blocks(PAGE, "4. A section of a page", language="python")
    names = {"Column": Column, "Number": Number, "Row": Row, "Sequence": Sequence, "Table": Table, "wording": wording}
    names["published"] = Published(con)
    for block in (read, table, sections):
        exec(block, names)  # noqa: S102 (lines of our own document)
    monkeypatch.setattr(cost_page, "frame", partial(frame, sections=names["sections"]))
    (file,) = con.execute("select path from duckdb_databases() where path is not null").fetchone() or ("",)
    con.close()
    page = paging.of(Path(file), cost_page.render)
    assert '<a href="#floors">Lowest prices</a>' in page
    assert page.index('id="floor-table"') > page.index('id="floors"') > page.index('id="method"')
