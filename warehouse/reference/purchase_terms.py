"""What each purchase option promises: the dated table `data/purchase_term.csv`, one option a row.

`data/README.md` says how it is filled.
"""

from datetime import date
from typing import NamedTuple

from warehouse.reference.table import Model, Rule, Table, fields_of


class PurchaseTerm(NamedTuple):
    """What one purchase option promises, in the order of the columns of `ref.purchase_term`."""

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


MODEL = Model(
    file="purchase_term.csv",
    key="purchase_option",
    fields=fields_of(PurchaseTerm),
    may_be_zero=("lead_time_hours", "shortest_term_hours", "longest_term_hours"),
    rules=(
        Rule(
            "shortest_term_hours",
            "longer than longest_term_hours",
            "shortest_term_hours <= longest_term_hours",
        ),
        Rule(
            "source_url",
            "no public address to check the fact at",
            r"regexp_like(source_url, '^https://\S+( +https://\S+)*$')",
        ),
    ),
    unique=("service_provider_name", "purchase_option", "commitment_discount_type", "offering_class", "known_from"),
    repeated="a second row for the same option and known_from",
)


def read_table(table: Table | None = None) -> list[PurchaseTerm]:
    """Return the rows of a table, by default the package's. Raises ChipledgerError where one is not usable."""
    return [PurchaseTerm(**row) for row in MODEL.read(table)]
