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

from datetime import date
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from warehouse.reference.fact_csv import Row, rows
from warehouse.schema.columns import OFFERING_CLASSES, PURCHASE_OPTIONS

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
    seen: set[tuple[object, ...]] = set()
    terms = []
    for row in rows(path, PurchaseTerm._fields, key="purchase_option", rules="warehouse/reference/purchase_terms.py"):
        term = _term(row)
        key = (*term[:4], term.known_from)
        if key in seen:
            raise row.error("purchase_option", "a second row for the same option and known_from")
        seen.add(key)
        terms.append(term)
    return terms


def _term(row: Row) -> PurchaseTerm:
    addresses = row.cells["source_url"].split()
    if not addresses or not all(address.startswith("https://") for address in addresses):
        raise row.error("source_url", "no public address to check the fact at")
    shortest, longest = _hours(row, "shortest_term_hours"), _hours(row, "longest_term_hours")
    if shortest is not None and longest is not None and shortest > longest:
        raise row.error("shortest_term_hours", "longer than longest_term_hours")
    return PurchaseTerm(
        service_provider_name=row.text("service_provider_name"),
        purchase_option=row.one_of("purchase_option", PURCHASE_OPTIONS),
        commitment_discount_type=row.cells["commitment_discount_type"] or None,
        offering_class=row.one_of("offering_class", OFFERING_CLASSES) if row.cells["offering_class"] else None,
        capacity_guaranteed=_truth(row, "capacity_guaranteed"),
        is_interruptible=_truth(row, "is_interruptible"),
        lead_time_hours=_hours(row, "lead_time_hours"),
        shortest_term_hours=shortest,
        longest_term_hours=longest,
        is_cancellable=_truth(row, "is_cancellable"),
        can_be_resold=_truth(row, "can_be_resold"),
        note=row.cells["note"] or None,
        known_from=row.day("known_from") if row.cells["known_from"] else None,
        source_url=row.cells["source_url"],
        accessed_on=row.day("accessed_on"),
    )


def _truth(row: Row, field: str) -> bool | None:
    if row.cells[field] not in TRUTH:
        raise row.error(field, "neither true, false nor empty")
    return TRUTH[row.cells[field]]


def _hours(row: Row, field: str) -> int | None:
    text = row.cells[field]
    if text and not (text.isascii() and text.isdigit()):
        raise row.error(field, "not a whole number of hours")
    return int(text) if text else None
