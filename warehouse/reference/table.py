"""The one reader of reference tables: CSV files of the package, or of a user; errors name what is wrong where.

Cells become values by the types of a model's fields. What else a table must be, its `Model` declares;
`pandera_model` makes a pandera model of it. Files of users are always checked, those of the package by the tests and by
`make references`: they are not checked again each time they are read.
"""

import csv
import io
from collections import namedtuple
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args, get_origin

from warehouse.errors import ChipledgerError
from warehouse.schema.columns import private_columns as columns

if TYPE_CHECKING:
    import pandera.polars as pa
    import polars as pl

DATA = resources.files("warehouse") / "data"
MAX_COLUMNS = 1000
Values = dict[str, Any]
Record = TypeVar("Record")
TYPES = {"VARCHAR": str, "DATE": date, "BOOLEAN": bool, "INTEGER": int, "BIGINT": int}
"""Types of fields by the types of their columns; every other column is an exact number."""
Broken = Iterable[tuple[int, str, str]]
"""What a rule over all rows finds: row (from 0), field, reason."""


@dataclass(frozen=True)
class UserFile:
    """A user's file as it was read, under its own name: whoever so reads it, reads what was measured."""

    name: str
    body: bytes

    def read_text(self, encoding: str) -> str:
        """Return the text, all line ends as \\n. Raises UnicodeDecodeError."""
        return io.TextIOWrapper(io.BytesIO(self.body), encoding=encoding).read()


Table = Traversable | UserFile
"""A CSV to be read: one of the package's, or a user's. Errors call it by its name."""


class Rule(NamedTuple):
    """What a row must be: the field that errors name, the reason where the row is not, a condition in SQL.

    A condition that gives NULL holds. `{field}` in a reason is replaced by that value of the row.
    """

    field: str
    reason: str
    condition: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """What a table must be beyond the types of its fields.

    `file` is the package's own table, if it has one; `key` names the field that errors of a whole line name; `fields`
    have types, in the order of the header where that is `exact`. Else `required` columns must be there, and others may
    be, ignored unless the table is `closed`. Numbers are above 0, of `may_be_zero` fields 0 or more, of
    `may_be_negative` fields any; values are of the vocabulary of their column, but those of `free` fields. `unique`
    fields together occur once. `rows` are rules over all rows that SQL cannot say. A cell of `ditto`, where there is
    one, repeats the cell above it. `meanings` say what to write in a field, `advice` what to do, `help` where to read
    of it. What is refused raises `refusal`.
    """

    key: str
    fields: Mapping[str, Any]
    file: str = ""
    ditto: str = ""
    help: str = "warehouse/data/README.md"
    advice: str = "Correct the table"
    meanings: Mapping[str, str] = field(default_factory=dict)
    exact: bool = True
    closed: bool = False
    required: Sequence[str] = ()
    may_be_zero: Sequence[str] = ()
    may_be_negative: Sequence[str] = ()
    free: Sequence[str] = ()
    unique: Sequence[str] = ()
    repeated: str = "a second row of the same key"
    rules: Sequence[Rule] = ()
    rows: Callable[[list[Values]], Broken] | None = None
    refusal: type[ChipledgerError] = ChipledgerError

    def read(self, table: Table | None = None) -> list[Values]:
        """Return the rows of a table of a user, checked, or of the package's own: values by field.

        None where a cell is empty or a column is not there. Raises ChipledgerError, naming file, line, field and value,
        where one is not usable.
        """
        file = table or DATA / self.file
        found = list(lines(file, self))
        if not found:
            raise Line("line 1", {}, file.name, self).error(self.key, "the table is empty")
        rows = [values(line) for line in found]
        if table and (refused := first_refusal(found, rows)):
            raise refused[1]
        return rows


class Line(NamedTuple):
    """One line of a file, or one run in it: where it is, its cells by column, and what refuses one of them."""

    place: str
    cells: Mapping[str, Any]
    source: str
    model: Model

    def error(self, field: str, reason: str) -> ChipledgerError:
        """Return the refusal of one cell."""
        meaning = self.model.meanings.get(field)
        return self.model.refusal(
            f"{self.place}: {reason}" if self.place else reason,
            source=self.source,
            field=field,
            value=self.cells.get(field, ""),
            hint=f"{field} is {meaning}" if meaning else f"{self.model.advice}; {self.model.help} explains it",
        )


def record(columns: Sequence[str]) -> Any:
    """Return a type of named tuples with these columns; what each holds, warehouse/schema/columns.csv says."""
    return namedtuple("Row", columns)


def fields_of_columns(names: Iterable[str], required: Collection[str]) -> dict[str, Any]:
    """Return fields with the types that warehouse/schema/columns.csv declares; those not required may be empty."""
    types = {name: TYPES.get(columns()[name].type, Decimal) for name in names}
    return {name: type_ if name in required else type_ | None for name, type_ in types.items()}


def reader(record: Callable[..., Record], model: Model) -> Callable[..., list[Record]]:
    """Return what reads a table, by default the package's own, as records. It raises as `Model.read`."""

    def read_table(table: Table | None = None) -> list[Record]:
        return [record(**row) for row in model.read(table)]

    return read_table


def lines(table: Table, model: Model) -> Iterator[Line]:
    """Yield each line. Raises ChipledgerError where the file is no CSV in UTF-8, or the header or a line is wrong."""
    number, above = 1, list[str]()

    def refusal(field: str, value: str, reason: str) -> ChipledgerError:
        return Line(f"line {number}", {field: value}, table.name, model).error(field, reason)

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
                if model.ditto:
                    cells = above = [
                        over if cell == model.ditto else cell
                        for cell, over in zip(cells, above or [""] * len(cells), strict=True)
                    ]
                texts = cells if model.exact else map(str.strip, cells)
                yield Line(f"line {number}", dict(zip(header, texts, strict=True)), table.name, model)
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


def values(line: Line) -> Values:
    """Return the values of a line's cells, text as yet, by field. Raises ChipledgerError for one of another type."""
    found = {}
    for name, type_ in line.model.fields.items():
        try:
            found[name] = _reader(name, type_)(line.cells.get(name) or "")
        except ValueError as error:
            raise line.error(name, str(error)) from None
    return found


@cache
def _reader(name: str, type_: Any) -> Callable[[str], Any]:
    """Return what makes a value of a cell, or raises ValueError with the reason."""
    is_optional = type_ != (type_ := _without_none(type_))
    one = {str: _text, int: _whole, Decimal: _decimal(name), date: _day, bool: _truth}
    if type_ in (tuple[str, ...], tuple[Decimal, ...]):
        return lambda cell: tuple(one[get_args(type_)[0]](item) for item in _items(cell))
    read_one = one[type_]
    return (lambda cell: read_one(cell) if cell else None) if is_optional else read_one


def _without_none(type_: Any) -> Any:
    return get_args(type_)[0] if type(None) in get_args(type_) else type_


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
        if digits and (abs(number) >= 10 ** (digits - decimals) or number != round(number, decimals)):
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


def first_refusal(found: Sequence[Line], rows: Sequence[Values]) -> tuple[int, ChipledgerError] | None:
    """Return the place of the first row that the model of its lines refuses, and why; None where all hold."""
    model = found[0].model
    broken = _first_broken(rows, model)
    if broken is None and model.rows:
        broken = min(model.rows(list(rows)), key=lambda each: each[0], default=None)
    return (broken[0], found[broken[0]].error(*broken[1:])) if broken else None


def _first_broken(rows: Sequence[Values], model: Model) -> tuple[int, str, str] | None:
    import pandera.polars as pa
    import polars as pl

    schema, rules = pandera_model(model)
    types = {name: _type(type_) for name, type_ in model.fields.items()}
    # As float: polars refuses a Decimal of more than 38 digits, such as 1e400.
    cells = [[float(row[name]) if isinstance(row[name], Decimal) else row[name] for name in types] for row in rows]
    frame = pl.DataFrame(cells, schema=types, orient="row", strict=False)
    try:
        schema.validate(frame, lazy=True)
    except pa.errors.SchemaErrors:
        numbers = (pl.when(~holds).then(number) for number, (_, _, holds) in enumerate(rules))
        index, number = frame.select(pl.coalesce(numbers).alias("rule")).with_row_index().drop_nulls().row(0)
        name, reason, _ = rules[number]
        return index, name, reason.format(**rows[index])
    return None


@cache
def pandera_model(model: Model) -> "tuple[pa.DataFrameSchema, list[tuple[str, str, pl.Expr]]]":
    """Return the pandera model of a table, over its typed values, and its rules: field, reason, what must hold.

    The rules are one check: one by one they take ten times as long. Pandera takes a second to import.
    """
    import pandera.polars as pa
    import polars as pl

    rules = [rule for name, type_ in model.fields.items() for rule in _rules(name, type_, model)]
    rules += [(rule.field, rule.reason, pl.sql_expr(rule.condition)) for rule in model.rules]
    if model.unique:
        rules.append((model.key, model.repeated, pl.struct(model.unique).is_first_distinct()))
    rules = [(name, reason, holds.fill_null(value=True)) for name, reason, holds in rules]
    all_hold = pl.all_horizontal(pl.lit(value=True), *(holds for *_, holds in rules))
    schema = pa.DataFrameSchema(
        {name: pa.Column(_type(type_), nullable=True) for name, type_ in model.fields.items()},
        checks=[pa.Check(lambda data: data.lazyframe.select(all_hold), name="rules")],
    )
    return schema, rules


def _type(type_: Any) -> Any:
    import polars as pl

    types = {str: pl.String, int: pl.Int64, Decimal: pl.Float64, date: pl.Date, bool: pl.Boolean}
    if get_origin(type_) is tuple:
        return pl.List(types[get_args(type_)[0]])
    return types[_without_none(type_)]


def _rules(name: str, type_: Any, model: Model) -> "Iterator[tuple[str, str, pl.Expr]]":
    """Yield what the values of one field must be: there, of its vocabulary, of the form of an address, in range."""
    import polars as pl

    column, declared, kind = pl.col(name), columns().get(name), _type(type_)
    if _without_none(type_) == type_ and not isinstance(kind, pl.List):
        yield name, "empty", column.is_not_null()
    if kind in (pl.Int64, pl.Float64):
        if declared and declared.unit == "share":
            yield name, "not from 0 to 1", column.is_between(0, 1)
        elif name in model.may_be_zero:
            yield name, "below 0", column >= 0
        elif name not in model.may_be_negative:
            yield name, "not above 0", column > 0
    elif kind == pl.String and name not in model.free:
        if name == "source_url":
            yield name, "no public address to check the fact at", column.str.starts_with("https://")
        elif declared and declared.allowed:
            yield name, f"not one of {', '.join(declared.allowed)}", column.is_in(declared.allowed)
