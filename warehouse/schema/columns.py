"""The columns of the warehouse, as `columns.csv` declares them: one line a column, sorted by name.

A column means the same in every table. Names are FOCUS 1.4 columns (and those of the SkuPrice dataset of the 1.5 draft)
in snake_case where the meaning is FOCUS's. `allowed` lists the values of a closed vocabulary, separated by "; ";
`{allowed}` in a meaning is replaced by them. `of` is empty for the published file; `focus` marks columns of FOCUS
SkuPrice in FOCUS's own spelling, `private` those of the private file, which go before others of the same name there.
`warehouse.schema.tables` says which tables have which columns.
"""

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Column(NamedTuple):
    """One column: its name, DuckDB type, unit (empty where it has none), meaning, and allowed values (empty: any)."""

    name: str
    type: str
    unit: str
    meaning: str
    allowed: tuple[str, ...] = ()

    @property
    def comment(self) -> str:
        """Return the text of the column's COMMENT: the meaning and, in brackets, the unit."""
        return f"{self.meaning} [{self.unit}]" if self.unit else self.meaning


def columns() -> dict[str, Column]:
    """Return the columns of the published file by name, but those of FOCUS SkuPrice."""
    return _declared()[""]


def focus_columns() -> dict[str, Column]:
    """Return the columns of FOCUS SkuPrice by name, in FOCUS's order."""
    return _declared()["focus"]


def private_columns() -> dict[str, Column]:
    """Return all columns of the private file by name."""
    return columns() | _declared()["private"]


def allowed(name: str) -> tuple[str, ...]:
    """Return the values that a column of a closed vocabulary may have."""
    return columns()[name].allowed


@cache
def _declared() -> dict[str, dict[str, Column]]:
    found: dict[str, dict[str, Column]] = {"": {}, "focus": {}, "private": {}}
    text = (files("warehouse.schema") / "columns.csv").read_text(encoding="utf-8")
    rows = csv.reader(text.splitlines(), strict=True)
    next(rows)
    for name, type_, unit, meaning, values, of in rows:
        listed = tuple(values.split("; ")) if values else ()
        meant = meaning.replace("{allowed}", ", ".join(listed)) if listed else meaning
        found[of][name] = Column(name, type_, unit, meant, listed)
    return found
