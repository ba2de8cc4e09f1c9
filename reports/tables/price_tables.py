"""What providers ask for chips: one row a provider or chip, one column a way to buy; options are never mixed."""

from collections.abc import Callable, Sequence
from datetime import datetime

from reports import wording
from reports.currency import Rate
from reports.queries import Row
from reports.tables.table import Column, Number, Table, element, link, small, span
from reports.templating import macro

TERMS = wording.words_of("term")
WAYS = (
    ("on demand", "", "on_demand", None),
    ("spot", "", "spot", None),
    ("Capacity Block", "", "capacity_block", None),
    *(
        (words, head, option, term)
        for option, head in (("reserved", "Reserved"), ("savings_plan", "Savings Plan"))
        for term, words in (*TERMS.items(), (None, "term not stated"))
    ),
)
"""Columns: head, what stands above it, purchase option, commitment class."""
MAX_ROWS = 60
NOTE = (
    "Cheapest seen of the regions, sizes and hosts of each; of a marketplace the 25th percentile of its machines. "
    "From: the least that anybody pays, which you may not be offered. Grey: not ranked, too old or a from. To AWS: "
    "against its cheapest list price for the same chip, form, commitment and capacity, if known. Empty: none seen."
)

_bar = macro("cells.html.j2", "bar")


def cells(rows: Sequence[Row], *names: str) -> dict[tuple[str | None, ...], dict[tuple[str, str | None], Row]]:
    """Return rows of reports/sql/provider_price.sql by some of their columns, and by way to buy, in their order."""
    found: dict[tuple[str | None, ...], dict[tuple[str, str | None], Row]] = {}
    for row in rows:
        has_term = row["purchase_option"] in ("reserved", "savings_plan")
        way = row["purchase_option"], row["commitment_class"] if has_term else None
        found.setdefault(tuple(row[name] for name in names), {}).setdefault(way, row)
    return found


def standing(
    rows: Sequence[Row],
    *,
    id: str,
    title: str,
    of_chip: bool,
    built_at: datetime,
    rate: Rate | None = None,
    address: Callable[[str], str] | None = None,
) -> Table:
    """Return the table of one chip by provider, or of one provider by chip; of more than 60 rows the first.

    `rows` are of reports/sql/provider_price.sql; `rate` is that of a currency to show beside US dollars; `address` is
    where the page of the chip or provider of a row is.
    """
    names = ("form_factor", "service_provider_name") if of_chip else ("accelerator_name", "form_factor")
    found: list[Row] = [{"key": key, "cells": each} for key, each in cells(rows, *names).items()]
    shown = found[:MAX_ROWS]
    prices = [row["price_usd"] for each in shown for row in each["cells"].values()]
    places = wording.places_of(prices)
    known = {way for each in shown for way in each["cells"]}
    top = max((row["price_usd"] for each in shown if (row := each["cells"].get(("on_demand", None)))), default=0)

    def named(row: Row) -> str:
        name = row["key"][1] if of_chip else row["key"][0]
        form = None if of_chip else row["key"][1]
        shown = wording.short(name, most=40)
        return element("b", link(shown, address(name)) if address else shown) + small(form)

    def column(head: str, spanner: str, option: str, term: str | None) -> Column:
        def cell(row: Row) -> str:
            price = row["cells"].get((option, term))
            if price is None:
                return ""
            share = price["price_usd"] / top if top and option == "on_demand" and price["is_ranked"] else 0
            return _price(price, places, built_at, rate, of_chip) + (_bar(f"{100 * share:.0f}") if share else "")

        return Number(head, cell, spanner=spanner)

    bold = " Bold: the cheapest of a form, option and term." if of_chip else ""
    ways = [column(*way) for way in WAYS if way[2:] in known]
    return Table(
        id=id,
        title=title,
        subtitle="USD per chip-hour, list prices, and when each was last seen",
        rows=shown,
        group=(lambda row: row["key"][0] or "form not stated")
        if of_chip and len({each["key"][0] for each in shown}) > 1
        else None,
        columns=[Column("Provider" if of_chip else "Chip", named), *ways],
        note=NOTE + bold + (f" {len(found) - MAX_ROWS:,} more are in the explorer." if len(found) > MAX_ROWS else ""),
    )


def linked(number: str, row: Row) -> str:
    """Return a price as a link to its document in the list at the end of the page, where that is known."""
    if not row.get("has_document", row["document_sha256"]):
        return number
    return link(number, f"#d-{row['document_sha256'][:12]}", offer=row["offer_id"])


def _price(row: Row, places: int, built_at: datetime, rate: Rate | None, marks: bool) -> str:
    """Return a price as a link to its document, with when it was seen, and what it is if not a plain price."""
    number = ("from " if row["is_floor"] else "") + wording.amount(row["price_usd"], places)
    shown = linked(number, row)
    is_own = row["service_provider_name"] == "AWS" or row["distance_to_aws"] is None
    notes = wording.listed(
        row["tier"],
        None if is_own else f"{wording.signed(row['distance_to_aws'])} to AWS",
        "25th percentile" if row["statistic"] == "p25" else "median" if row["is_median"] else None,
        wording.near(row["last_observed_at"], built_at),
    )
    core = row["price_per_neuron_core_hour"]
    native = f"{wording.amount(core, places)} per NeuronCore" if core else None
    if row["pricing_currency"] != "USD":
        amount = wording.amount(row["price_per_accelerator_hour"], places)
        native = f"{amount} {row['pricing_currency']}, rate of {row['fx_rate_date']}"
    other = rate.amount(row["price_usd"], places) if rate and rate.currency != row["pricing_currency"] else None
    is_least = marks and row["price_rank"] == 1 and row["commitment_class"]
    kind = "least" if is_least else "" if row["is_ranked"] else "no"
    return (span(shown, kind) if kind else shown) + small(other) + small(native) + small(notes)
