"""Answers as files: CSV that no spreadsheet runs, Parquet in UTC, and files that appear whole or not at all."""

import csv
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from flows.shared import folders
from flows.shared.output import as_json, plain
from warehouse.errors import ChipledgerError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

FETCHED_AT_ONCE = 10_000
"""Rows that are held in memory while a CSV file is written."""

FORMULA = r"(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])"
RISKY = re.compile(rf"^(?=[\x00-\x1f\x7f])|^{FORMULA}|(?<=[;|\t\r\n]){FORMULA}")
"""Where a cell begins that a spreadsheet may take for a formula: OWASP's list for CSV injection, full-width signs and
control characters included (https://owasp.org/www-community/attacks/CSV_Injection), and blanks before them. A cell may
begin within a text, too: where a spreadsheet splits lines at semicolons, as in half of Europe, or at tabs or bars."""


def cell(value: object) -> object:
    """Return a value as CSV has it: as in JSON, an unknown one empty, lists as JSON text.

    A text that a spreadsheet could run gets an apostrophe before it, which spreadsheets read as "this is text"; so does
    what follows a separator in it. A semicolon in JSON text is written as JSON's escape of it.
    """
    if isinstance(value, (str, datetime)):
        return _text(value)
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    if isinstance(value, Decimal | date):
        return plain(value)
    if isinstance(value, Mapping | list | tuple):
        return as_json(value).replace(";", "\\u003b").replace("|", "\\u007c")
    return _text(str(value))


@lru_cache(maxsize=10_000)
def _text(value: str | datetime) -> str:
    # Millions of rows say the same few texts and moments.
    return RISKY.sub("'", str(plain(value)))


class _Lines:
    """What csv.writer writes to: it quotes the characters of its line ending, and both of them may begin a line."""

    def __init__(self, to: TextIO) -> None:
        self.to = to

    def write(self, line: str) -> int:
        return self.to.write(line.removesuffix("\r\n") + "\n")


def write_csv(names: Sequence[str], rows: Iterable[Sequence[object]], to: TextIO) -> int:
    """Write a header and rows, and return the number of rows."""
    lines = csv.writer(_Lines(to), lineterminator="\r\n")
    lines.writerow(cell(name) for name in names)
    n_rows = 0
    for row in rows:
        lines.writerow([cell(value) for value in row])
        n_rows += 1
    return n_rows


def too_many(most: int) -> ChipledgerError:
    """Return the error of an answer that is held in memory and too long for that."""
    hint = "Ask for less, or write it as CSV or Parquet with --output"
    return ChipledgerError(
        f"the answer has more than {most} rows", source="limits", field="rows", value=most, hint=hint
    )


def distinct(names: Sequence[str]) -> list[str]:
    """Return names of columns, each once: what is there again gets a number, as in a table that DuckDB makes."""
    found: dict[str, None] = {}
    for name in names:
        numbered = (f"{name}_{n}" for n in count(1))
        found[name if name not in found else next(each for each in numbered if each not in {*names, *found})] = None
    return [*found]


def save_csv(con: "duckdb.DuckDBPyConnection", sql: str, path: Path) -> int:
    """Write the answer to a question as CSV in UTF-8, and return the number of rows."""
    names, rows = cursor(con, sql)
    with path.open("w", encoding="utf-8", newline="") as file:
        return write_csv(names, rows, file)


def save_parquet(
    con: "duckdb.DuckDBPyConnection", sql: str, path: Path, comments: Mapping[str, str] | None = None
) -> int:
    """Write the answer to a question as Parquet, and return the number of rows.

    Times are marked as UTC, which the file's own are; `comments` go into the columns' metadata.
    Raises ChipledgerError for a column that Parquet cannot hold.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = con.execute(sql).to_arrow_table()
    table = table.rename_columns(distinct(table.column_names))
    fields = [_field(field, (comments or {}).get(field.name, "")) for field in table.schema]
    try:
        table = table.cast(pa.schema(fields))
        pq.write_table(table, path, compression="zstd")
    except pa.ArrowException as error:
        hint = "Cast the column in the question, such as interval_column::VARCHAR"
        raise ChipledgerError(
            "Parquet cannot hold this answer", source="export", field="type", value=str(error), hint=hint
        ) from error
    return int(table.num_rows)


def _field(field: "pa.Field", comment: str) -> "pa.Field":
    import pyarrow as pa

    if pa.types.is_timestamp(field.type) and field.type.tz is None:
        field = field.with_type(pa.timestamp(field.type.unit, tz="UTC"))
    return field.with_metadata({"comment": comment}) if comment else field


def cursor(con: "duckdb.DuckDBPyConnection", sql: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Return the names of the columns of an answer, and its rows, which are fetched piece by piece."""
    answer = con.execute(sql)
    names = [column[0] for column in answer.description or ()]

    def rows() -> Iterator[tuple[Any, ...]]:
        while part := answer.fetchmany(FETCHED_AT_ONCE):
            yield from part

    return names, rows()


def refuse_existing(targets: Iterable[Path], *, force: bool) -> None:
    """Raise ChipledgerError where one of the files is there already; with `force` only for what is no file."""
    for target in targets:
        if target.is_dir() or (not force and os.path.lexists(target)):
            hint = "Name another, or remove the folder" if target.is_dir() else "Name another, or give --force"
            raise ChipledgerError("it is there already", source="export", field="file", value=str(target), hint=hint)


def inside(folder: Path, *names: str) -> Path:
    """Return the path of a file in a folder. Raises ChipledgerError where names or links lead out of it."""
    target = folder.joinpath(*names)
    if not target.parent.resolve().is_relative_to(folder.resolve()) or target.name in ("", ".", ".."):
        hint = "Is a link in its way?"
        raise ChipledgerError("outside of the folder", source=str(folder), field="file", value=str(target), hint=hint)
    return target


def part_of(target: Path, process: int) -> Path:
    """Return the file beside its place that a process fills."""
    return target.with_name(f".{target.name}.{process}.part")


def put(target: Path, write: Callable[[Path], int], *, force: bool, private: bool = False) -> int:
    """Let `write` fill a file beside its place, put it there whole, and return what `write` did.

    What stands in the place is replaced with `force` only, a link itself and not what it leads to.
    """
    refuse_existing([target], force=force)
    part = part_of(target, os.getpid())
    try:
        with nullcontext() if private else folders.as_user():
            target.parent.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
            # Made anew, so that a link of that name is not followed; what is private is so from its first byte.
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
            n_rows = write(part)
            part.replace(target)
    except OSError as error:
        raise ChipledgerError(
            "it cannot be written", source="export", field="file", value=str(target), hint=error.strerror or ""
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return n_rows
