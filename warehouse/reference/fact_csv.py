"""Our own tables of facts as CSV files: read with errors that name line, field and value."""

import csv
import io
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Protocol

from warehouse.errors import ChipledgerError


class Table(Protocol):
    """A CSV to be read: one of the package's, or one that a person gave."""

    @property
    def name(self) -> str:
        """What errors call it."""

    def read_text(self, encoding: str) -> str:
        """Return its text, line ends as they are or as \\n. Raises UnicodeDecodeError."""


class Row:
    """One line of a table and how its cells are read; `key` names the column that errors of the whole line go under."""

    def __init__(self, path: Table, line: int, cells: Mapping[str, str], *, key: str, rules: str) -> None:
        self.path, self.line, self.cells, self.rules = path, line, cells, rules
        # A DictReader puts surplus cells under None, and None under names without a cell.
        if None in cells or None in cells.values():
            raise self.error(key, "more or fewer cells than columns")

    def text(self, field: str) -> str:
        if not self.cells[field].strip():
            raise self.error(field, "empty")
        return self.cells[field]

    def one_of(self, field: str, allowed: tuple[str, ...]) -> str:
        if self.cells[field] not in allowed:
            raise self.error(field, f"not one of {', '.join(allowed)}")
        return self.cells[field]

    def day(self, field: str) -> date:
        try:
            return date.fromisoformat(self.cells[field])
        except ValueError:
            raise self.error(field, "not a date such as 2026-11-21") from None

    def error(self, field: str, reason: str) -> ChipledgerError:
        """Return the refusal of one cell of this line."""
        return refusal(self.path, self.line, field, self.cells.get(field, ""), reason, rules=self.rules)


def rows(path: Table, columns: tuple[str, ...], *, key: str, rules: str) -> Iterator[Row]:
    """Yield each line. Raises ChipledgerError where the header or the CSV is wrong, or no line is.

    `key` is the column that errors of a whole line go under, `rules` the module that says what the cells must be.
    """
    reader = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline=""), strict=True)
    empty = True
    try:
        if tuple(reader.fieldnames or ()) != columns:
            strange = ", ".join(sorted(set(reader.fieldnames or ()) ^ set(columns))) or "order"
            raise refusal(path, 1, "header", strange, "columns unknown, absent or out of order", rules=rules)
        for cells in reader:
            empty = False
            yield Row(path, reader.line_num, cells, key=key, rules=rules)
    except csv.Error as error:
        raise refusal(path, reader.line_num, "line", "", f"not CSV: {error}", rules=rules) from error
    if empty:
        raise refusal(path, 1, key, "", "the table is empty", rules=rules)


def refusal(path: Table, line: int, field: str, value: str, reason: str, *, rules: str) -> ChipledgerError:
    """Return the error about one cell of a table."""
    return ChipledgerError(
        f"line {line}: {reason}",
        source=path.name,
        field=field,
        value=value,
        hint=f"Correct the table; its rules stand in {rules}",
    )
