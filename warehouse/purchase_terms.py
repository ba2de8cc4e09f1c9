"""What each purchase option promises: the dated table `data/purchase_term.csv`, one option a row, its errors named.

How the table is filled:

1. Facts come from the provider's own documentation, read on `accessed_on`; `source_url` holds every page that the row
   was read from, separated by spaces. What no page says is empty, never a guess: unknown, or no such notion.
2. A row is of a purchase option; of plans, of each kind of plan; of Reserved terms, of each offering class.
3. `capacity_guaranteed` is of what is sold at the listed price as it is: a regional Reserved term reserves nothing,
   and the `note` says what a zonal one at the same price does.
4. `is_cancellable` means at any time and without paying on. A window of days in which a mistake can be returned is
   none, and stands in the `note`.
5. A fact that changes gets a second row of the same option with its `known_from`; empty means always.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from datetime import date
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from warehouse.errors import ChipledgerError
from warehouse.schemas import OFFERING_CLASSES, PURCHASE_OPTIONS

TABLE = resources.files("warehouse") / "data" / "purchase_term.csv"
TRUTH = {"true": True, "false": False, "": None}


class PurchaseTerm(NamedTuple):
    """What one purchase option promises, in the order of the columns of `core.purchase_term`."""

    service_provider_name: str
    purchase_option: str
    commitment_discount_type: str | None
    offering_class: str | None
    capacity_guaranteed: bool | None
    is_interruptible: bool | None
    lead_time_hours: int | None
    shortest_term_hours: int | None
    longest_term_hours: int | None
    is_cancellable: bool | None
    can_be_resold: bool | None
    note: str | None
    known_from: date | None
    source_url: str
    accessed_on: date


def read_table(path: Traversable = TABLE) -> list[PurchaseTerm]:
    """Return the rows of a table. Raises ChipledgerError, naming line, field and value, where one is not usable."""
    reader = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline=""), strict=True)
    try:
        if tuple(reader.fieldnames or ()) != PurchaseTerm._fields:
            strange = sorted(set(reader.fieldnames or ()) ^ set(PurchaseTerm._fields))
            raise _error(path, 1, "header", ", ".join(strange) or "order", "columns unknown, absent or out of order")
        terms = list(_terms(path, reader))
    except csv.Error as error:
        raise _error(path, reader.line_num, "line", "", f"not CSV: {error}") from error
    if not terms:
        raise _error(path, 1, "purchase_option", "", "the table is empty")
    return terms


def _terms(path: Traversable, reader: "csv.DictReader[str]") -> Iterator[PurchaseTerm]:
    seen: set[tuple[object, ...]] = set()
    for cells in reader:
        row = _Row(path, reader.line_num, cells)
        term = row.term()
        key = (*term[:4], term.known_from)
        if key in seen:
            raise row.error("purchase_option", "a second row for the same option and known_from")
        seen.add(key)
        yield term


class _Row:
    """One line of the table and how its cells are read."""

    def __init__(self, path: Traversable, line: int, cells: Mapping[str, str]) -> None:
        self.path, self.line, self.cells = path, line, cells

    def term(self) -> PurchaseTerm:
        # A DictReader puts surplus cells under None, and None under names without a cell.
        if None in self.cells or None in self.cells.values():
            raise self.error("purchase_option", "more or fewer cells than columns")
        addresses = self.cells["source_url"].split()
        if not addresses or not all(address.startswith("https://") for address in addresses):
            raise self.error("source_url", "no public address to check the fact at")
        shortest, longest = self.hours("shortest_term_hours"), self.hours("longest_term_hours")
        if shortest is not None and longest is not None and shortest > longest:
            raise self.error("shortest_term_hours", "longer than longest_term_hours")
        return PurchaseTerm(
            service_provider_name=self.text("service_provider_name"),
            purchase_option=self.one_of("purchase_option", PURCHASE_OPTIONS),
            commitment_discount_type=self.cells["commitment_discount_type"] or None,
            offering_class=self.one_of("offering_class", OFFERING_CLASSES) if self.cells["offering_class"] else None,
            capacity_guaranteed=self.truth("capacity_guaranteed"),
            is_interruptible=self.truth("is_interruptible"),
            lead_time_hours=self.hours("lead_time_hours"),
            shortest_term_hours=shortest,
            longest_term_hours=longest,
            is_cancellable=self.truth("is_cancellable"),
            can_be_resold=self.truth("can_be_resold"),
            note=self.cells["note"] or None,
            known_from=self.day("known_from") if self.cells["known_from"] else None,
            source_url=self.cells["source_url"],
            accessed_on=self.day("accessed_on"),
        )

    def text(self, field: str) -> str:
        if not self.cells[field].strip():
            raise self.error(field, "empty")
        return self.cells[field]

    def one_of(self, field: str, allowed: tuple[str, ...]) -> str:
        if self.cells[field] not in allowed:
            raise self.error(field, f"not one of {', '.join(allowed)}")
        return self.cells[field]

    def truth(self, field: str) -> bool | None:
        if self.cells[field] not in TRUTH:
            raise self.error(field, "neither true, false nor empty")
        return TRUTH[self.cells[field]]

    def hours(self, field: str) -> int | None:
        text = self.cells[field]
        if text and not (text.isascii() and text.isdigit()):
            raise self.error(field, "not a whole number of hours")
        return int(text) if text else None

    def day(self, field: str) -> date:
        try:
            return date.fromisoformat(self.cells[field])
        except ValueError:
            raise self.error(field, "not a date such as 2026-11-21") from None

    def error(self, field: str, reason: str) -> ChipledgerError:
        return _error(self.path, self.line, field, self.cells.get(field, ""), reason)


def _error(path: Traversable, line: int, field: str, value: str, reason: str) -> ChipledgerError:
    return ChipledgerError(
        f"line {line}: {reason}",
        source=path.name,
        field=field,
        value=value,
        hint="Correct the table; its rules stand in warehouse/purchase_terms.py",
    )
