"""Prices beyond the limit of age: counted and shown apart with their dates, never ranked with others."""

from html import escape

import polars as pl

from reports import wording
from reports.pages.facts import MOST_OLD
from reports.tables.provider_tables import TERMS
from reports.tables.sheet import Form, document_link, sheet, small, to_html


def folded(prices: pl.DataFrame) -> str:
    """Return a folded table of the old prices of other providers than AWS, newest first; empty where there are none."""
    if not prices.height:
        return ""
    shown = list(prices.head(MOST_OLD).iter_rows(named=True))
    first = shown[0]
    limit = f"{first['ranked_days']} days (of marketplaces {first['marketplace_days']})"
    days = sorted(map(wording.day, prices["last_observed_at"]))
    dates = " to ".join(dict.fromkeys((days[0], days[-1])))
    words = f"{wording.count(prices.height, 'price')} older than {limit}, not ranked: last confirmed {dates}"
    places = wording.places_of(row["cheapest_price_usd"] for row in shown)
    frame = pl.DataFrame(
        {
            "provider": [escape(row["service_provider_name"]) + small(row["tier"]) for row in shown],
            "chip": [" ".join(filter(None, (row["accelerator_name"], row["form_factor"]))) for row in shown],
            "option": [
                wording.option(row["purchase_option"]) + small(TERMS.get(row["commitment_class"])) for row in shown
            ],
            "price": [wording.amount(row["cheapest_price_usd"], places) for row in shown],
            "confirmed": [wording.day(row["last_observed_at"]) for row in shown],
            "age": [f"{wording.days(row['age_days'])} days" for row in shown],
            "document": [document_link(row["document_sha256"]) + small(row["source"]) for row in shown],
        }
    )
    form = Form(
        heads={
            "provider": "Provider,<br>tier",
            "chip": "Chip",
            "option": "Purchase option",
            "price": "Last price<br>USD per<br>chip-hour",
            "confirmed": "Last<br>confirmed",
            "age": "Age",
            "document": "Document,<br>source",
        },
        stub="provider",
        right=("price",),
        marked=("provider", "option", "document"),
    )
    left = prices.height - len(shown)
    table = sheet(
        frame,
        form,
        id="providers-old",
        title=f"Not ranked: {wording.count(prices.height, 'price')} of other providers beyond the limit of age",
        subtitle="Newest first; what each asks today is not known."
        + (f" {wording.count(left, 'more row')} left out." if left else ""),
        note="Every row: <code>select * from int.provider_price where not is_ranked</code>.",
    )
    return f"<details><summary>{escape(words)}</summary>{to_html(table)}</details>"
