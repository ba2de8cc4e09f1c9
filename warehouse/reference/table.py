"""The one reader of reference tables: CSV files of the package, or of a user; errors name what is wrong where.

`read` turns cells into values by the fields of a record, and refuses what is none. What else a table must be, its
`Model` declares; `pandera_model` makes a pandera model of it. Files of users are always checked, those of
the package by the tests and by `make references`: they are not checked again each time they are read.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, get_type_hints

from warehouse.errors import ChipledgerError
from warehouse.schema.columns import columns

if TYPE_CHECKING:
    import pandera.polars as pa
    import polars as pl

DATA = resources.files("warehouse") / "data"
MAX_COLUMNS = 1000
Values = dict[str, Any]
Broken = Iterable[tuple[int, str, str]]
"""What a rule over all rows finds: row (from 0), field, reason."""


class Table(Protocol):
    """A CSV to be read: one of the package's, or a user's."""

    @property
    def name(self) -> str:
        """What errors call it."""

    def read_text(self, encoding: str) -> str:
        """Return its text, line ends as they are or as \\n. Raises UnicodeDecodeError."""


class Rule(NamedTuple):
    """What a row must be: the field that errors name, the reason where the row is not, a condition in SQL.

    A condition that gives NULL holds. `{field}` in a reason is replaced by that value of the row.
    """

    field: str
    reason: str
    condition: str


@dataclass(frozen=True, kw_only=True)
class Model:
    """What a table must be beyond the types of its fields.

    `file` is the package's own table, if it has one; `key` names the field that errors of a whole line name; `fields`
    have types, in the order of the header where that is `exact`. Else `required` columns must be there, and others may
    be, ignored unless the table is `closed`. Numbers are above 0, of `may_be_zero` fields 0 or more; values are of the
    vocabulary of their column, but those of `free` fields. `unique` fields together occur once. `rows` are rules
    over all rows that SQL cannot say. `help` says where the table is explained.
    """

    key: str
    fields: Mapping[str, Any]
    file: str = ""
    help: str = "warehouse/data/README.md"
    exact: bool = True
    closed: bool = False
    required: Sequence[str] = ()
    may_be_zero: Sequence[str] = ()
    free: Sequence[str] = ()
    unique: Sequence[str] = ()
    repeated: str = "a second row of the same key"
    rules: Sequence[Rule] = ()
    rows: Callable[[list[Values]], Broken] | None = None

    def read(self, table: Table | None = None) -> list[Values]:
        """Return the rows of a table of a user, checked, or of the package's own; errors as of `read`."""
        return read(table or DATA / self.file, self, check=table is not None)


class Line(NamedTuple):
    """One line of a file: its number, its cells by column, and what refuses one of them."""

    number: int
    cells: Mapping[str, str]
    table: str
    help: str

    def error(self, field: str, reason: str) -> ChipledgerError:
        """Return the refusal of one cell."""
        return ChipledgerError(
            f"line {self.number}: {reason}",
            source=self.table,
            field=field,
            value=self.cells.get(field, ""),
            hint=f"Correct the table; {self.help} explains it",
        )


def fields_of(record: type) -> dict[str, Any]:
    """Return the fields of a NamedTuple with their types."""
    return get_type_hints(record)


def read(table: Table, model: Model, *, check: bool = True) -> list[Values]:
    """Return the rows of a table, values by field; None where a cell is empty or a column is not there.

    Raises ChipledgerError, naming file, line, field and value, where one is not usable.
    """
    found = list(lines(table, model))
    if not found:
        raise Line(1, {}, table.name, model.help).error(model.key, "the table is empty")
    readers = {name: _reader(name, type_) for name, type_ in model.fields.items()}
    rows = [_values(line, readers) for line in found]
    if check and (broken := first_broken(rows, model)):
        raise found[broken[0]].error(*broken[1:])
    return rows


def lines(table: Table, model: Model) -> Iterator[Line]:
    """Yield each line. Raises ChipledgerError where the file is no CSV in UTF-8, or the header or a line is wrong."""
    number = 1

    def refusal(field: str, value: str, reason: str) -> ChipledgerError:
        return Line(number, {field: value}, table.name, model.help).error(field, reason)

    try:
        reader = csv.reader(io.StringIO(table.read_text(encoding="utf-8-sig"), newline=""), strict=True)
        header = next(reader, [])
        header = [name.strip() for name in header] if model.closed else header
        for wrong, reason in _wrong_columns(header, model):
            raise refusal("header", wrong, reason)
        for cells in reader:
            number = reader.line_num
            if cells and len(cells) != len(header):
                raise refusal(model.key, "", "more or fewer cells than columns")
            if cells:
                texts = cells if model.exact else map(str.strip, cells)
                yield Line(number, dict(zip(header, texts, strict=True)), table.name, model.help)
    except csv.Error as error:
        raise refusal("line", "", f"not CSV: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise refusal("file", table.name, f"not UTF-8 text: {error}") from error


def _wrong_columns(header: list[str], model: Model) -> Iterator[tuple[str, str]]:
    """Yield the columns of a header that are wrong, with the reason."""
    known = [*model.fields]
    if len(header) > MAX_COLUMNS:
        yield str(len(header)), f"more than {MAX_COLUMNS} columns"
    if repeated := sorted({name for name in header if header.count(name) > 1}):
        yield ", ".join(repeated), "repeated columns"
    if model.exact and header != known:
        wrong = ", ".join(sorted({*header} ^ {*known})) or "order"
        yield wrong, f"columns unknown, absent or out of order; expected {','.join(known)}"
    if model.closed and (unknown := [name for name in header if name not in known]):
        yield ", ".join(unknown), f"unknown columns; known are {', '.join(known)}"
    if absent := [name for name in model.required if name not in header]:
        yield ", ".join(absent), "columns are absent"
    if misspelt := [name for name in header if name not in known and name.strip().lower() in known]:
        # Ignored, a column called High would make one figure of a range.
        yield ", ".join(misspelt), "columns are spelt otherwise; names are in lower case"


def _values(line: Line, readers: Mapping[str, Callable[[str], Any]]) -> Values:
    values = {}
    for name, reader in readers.items():
        cell = line.cells.get(name)
        try:
            values[name] = reader(cell) if cell else reader("")
        except ValueError as error:
            raise line.error(name, str(error)) from None
    return values


@cache
def _reader(name: str, type_: Any) -> Callable[[str], Any]:
    """Return what makes a value of a cell, or raises ValueError with the reason."""
    is_optional = type_ != (type_ := _without_none(type_))
    one = {str: _text, int: _whole, Decimal: _decimal(name), date: _day, bool: _truth}
    if type_ in (tuple[str, ...], tuple[Decimal, ...]):
        return lambda cell: tuple(one[type_.__args__[0]](item) for item in _items(cell))
    read_one = one[type_]
    return (lambda cell: read_one(cell) if cell else None) if is_optional else read_one


def _without_none(type_: Any) -> Any:
    options = [each for each in getattr(type_, "__args__", ()) if each is not type(None)]
    return options[0] if type(None) in getattr(type_, "__args__", ()) else type_


def _text(cell: str) -> str:
    if not cell.strip():
        raise ValueError("empty")
    return cell


def _whole(cell: str) -> int:
    if not (cell.isascii() and cell.isdigit()):
        raise ValueError("not a whole number" if cell else "empty")
    return int(cell)


def _decimal(name: str) -> Callable[[str], Decimal]:
    """Return what reads an exact number; of a column declared DECIMAL it must fit without rounding."""
    declared = columns()[name].type if name in columns() else ""
    digits, decimals = map(int, declared[8:-1].split(",")) if declared.startswith("DECIMAL") else (0, 0)

    def read_one(cell: str) -> Decimal:
        try:
            number = Decimal(cell)
        except InvalidOperation:
            raise ValueError("not a number" if cell else "empty") from None
        if not number.is_finite():
            raise ValueError("not a number")
        if digits and (number != round(number, decimals) or abs(number) >= 10 ** (digits - decimals)):
            raise ValueError(f"does not fit {declared}")
        return number

    return read_one


def _day(cell: str) -> date:
    try:
        return date.fromisoformat(cell)
    except ValueError:
        raise ValueError("not a date such as 2026-11-21") from None


def _truth(cell: str) -> bool:
    if cell not in ("true", "false"):
        raise ValueError("not one of true, false")
    return cell == "true"


def _items(cell: str) -> list[str]:
    items = cell.split(";") if cell else []
    if len({*items}) < len(items) or any(not item or item != item.strip() for item in items):
        raise ValueError("an item is empty, padded or repeated")
    return items


def first_broken(rows: Sequence[Values], model: Model) -> tuple[int, str, str] | None:
    """Return the first row that a model refuses, with field and reason; None where it refuses none."""
    import pandera.polars as pa
    import polars as pl

    types = {name: _type(type_) for name, type_ in model.fields.items()}
    frame = pl.DataFrame([[row[name] for name in types] for row in rows], schema=types, orient="row", strict=False)
    try:
        pandera_model(model).validate(frame, lazy=True)
    except pa.errors.SchemaErrors as errors:
        cases = errors.failure_cases.select("index", "column", "check").rows()
        index, column, check = min(cases, key=lambda case: case[0])
        field, _, reason = check.partition("|") if column is None else (column, "", check)
        return index, field, reason.format(**rows[index])
    return min(model.rows(list(rows)), key=lambda found: found[0], default=None) if model.rows else None


def pandera_model(model: Model) -> "pa.DataFrameSchema":
    """Return the pandera model of a table, over its typed values. Pandera takes a second to import."""
    import pandera.polars as pa
    import polars as pl

    checks = [
        pa.Check(partial(_holds, pl.sql_expr(rule.condition)), name=rule.field, error=f"{rule.field}|{rule.reason}")
        for rule in model.rules
    ]
    if model.unique:
        once = pl.struct(model.unique).is_first_distinct()
        checks.append(pa.Check(partial(_holds, once), error=f"{model.key}|{model.repeated}"))
    return pa.DataFrameSchema(
        {
            name: pa.Column(_type(type_), _checks(name, _type(type_), model), nullable=True)
            for name, type_ in model.fields.items()
        },
        checks=checks,
    )


def _type(type_: Any) -> Any:
    """Return the polars type of a field."""
    import polars as pl

    types = {str: pl.String, int: pl.Int64, Decimal: pl.Float64, date: pl.Date, bool: pl.Boolean}
    options = [each for each in getattr(type_, "__args__", ()) if each in types]
    one = types[options[0] if options else type_]
    return pl.List(one) if getattr(type_, "__origin__", None) is tuple else one


def _checks(name: str, type_: Any, model: Model) -> "list[pa.Check]":
    """Return what the values of one field must be: of its vocabulary, of the form of an address, in range."""
    import pandera.polars as pa
    import polars as pl

    declared = columns().get(name)
    if type_ in (pl.Int64, pl.Float64):
        if declared and declared.unit == "share":
            return [pa.Check.in_range(0, 1, error="not from 0 to 1")]
        return [pa.Check.ge(0, error="below 0") if name in model.may_be_zero else pa.Check.gt(0, error="not above 0")]
    if type_ != pl.String or name in model.free:
        return []
    if name == "source_url":
        return [pa.Check.str_startswith("https://", error="no public address to check the fact at")]
    if declared and declared.allowed:
        return [pa.Check.isin(declared.allowed, error=f"not one of {', '.join(declared.allowed)}")]
    return []


def _holds(condition: "pl.Expr", data: Any) -> "pl.LazyFrame":
    frame: pl.LazyFrame = data.lazyframe
    return frame.select(condition.fill_null(value=True))
