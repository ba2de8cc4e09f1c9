"""Providers side by side: what each asks for a chip, beside AWS at the same terms, by purchase option."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

import polars as pl

from reports import wording
from reports.currency import Rate
from reports.pages.facts import of_option
from reports.tables.sheet import Footnote, Form, Sheet, document_link, sheet, small

Row = Mapping[str, Any]
"""A row of the frame of providers' prices, by column."""

CAPACITY = {
    "single": "single chip",
    "several": "2 to 7 chips",
    "node": "node of 8+",
    "cluster": "fabric cluster",
    "rack": "rack",
    "fraction": "part of a chip",
}
TERMS = {
    "under_a_year": "under a year",
    "one_year": "1 year",
    "two_years": "2 years",
    "three_years": "3 years",
    "longer": "4 years or more",
}
WITHOUT_TERMS = "on_demand", "spot"
AWS_ITSELF = "reference"
NO_SIZE = "number not stated"

ONLY_MEDIAN = "only the median over its offers is told"
NO_MEDIAN = {
    "floor": "of a floor there is none: nobody says what others pay",
    "p25": "the marketplace tells its 25th percentile only",
}
NO_CAPACITY = "the provider does not say how many chips have to be taken"
NO_TERM = "the length of the commitment is not stated"
NO_AWS = "no price of AWS's is known for this chip, form, commitment and capacity"
OTHER_DATE = "AWS's price was confirmed more than 30 days before or after"
NOTE = (
    "Cheapest: of the regions, sizes and hosts of one tier, within the limit of age; of a marketplace "
    "the 25th percentile of its machines, as the very cheapest may be one bad machine. From: the least that anybody "
    "pays, which nobody may be offered. Against AWS: its cheapest list price for the same chip, form, length of "
    "commitment and capacity. A chip of unstated form (H100, not H100 SXM) is not compared where there are several. "
    "In brackets: providers, those shown of those known. Every row: <code>select * from int.provider_price</code>."
)


def options_shown(prices: pl.DataFrame) -> list[str]:
    """Return the purchase options with a table: on-demand and Reserved only where AWS is not the only one."""
    of_aws_tables = pl.col("purchase_option").is_in(["on_demand", "reserved"])
    present = set(prices.filter((pl.col("service_provider_name") != "AWS") | ~of_aws_tables)["purchase_option"])
    return [option for option in wording.OPTIONS if option in present]


def by_provider(
    prices: pl.DataFrame, option: str, sparks: Mapping[int, str] = MappingProxyType({}), rate: Rate | None = None
) -> Sheet:
    """Return the table of one purchase option: the chips most sold, and of each the cheapest seen on the same terms.

    `sparks` are sparklines by offer, shown where a row has one; `rate` is that of a currency to show beside US dollars.
    """
    of_this = prices.filter(pl.col("purchase_option") == option)
    shown = of_option(prices, option)
    rows = list(shown.iter_rows(named=True))
    places = wording.places_of(row[name] for row in rows for name in ("cheapest_price_usd", "median_price_usd"))
    frame = pl.DataFrame(
        {
            "chip": [f"{_sold(row)} ({_share(row, shown)})" for row in rows],
            "provider": [_provider(row) for row in rows],
            "price": [_price(row, places, rate) for row in rows],
            "distance": [_distance(row, places) for row in rows],
            "terms": [TERMS.get(row["commitment_class"], wording.UNKNOWN) for row in rows],
            "median": [
                _greyed(row, wording.amount(row["median_price_usd"], places))
                + small(rate.amount(row["median_price_usd"], places) if rate else None)
                for row in rows
            ],
            "offers": [f"{row['n_offers'] or 0:,}" + small(_stock(row)) for row in rows],
            "machine": [_machine(row) for row in rows],
            "confirmed": [confirmed(row) for row in rows],
            "spark": [sparks.get(row["offer_id"]) or wording.UNKNOWN for row in rows],
            "document": [document_link(row["document_sha256"]) + small(row["source"]) for row in rows],
        }
    )
    form = Form(
        heads={
            "provider": "Provider,<br>tier",
            "price": "Cheapest seen<br>USD per<br>chip-hour",
            "distance": "Against<br>AWS",
            **({} if option in WITHOUT_TERMS else {"terms": "Commitment"}),
            "median": "Median<br>USD per<br>chip-hour",
            "offers": "Offers,<br>stock",
            "machine": "Machine,<br>region",
            "confirmed": "Last confirmed,<br>age",
            **({"spark": "Last 90<br>days"} if any(row["offer_id"] in sparks for row in rows) else {}),
            "document": "Document,<br>source",
        },
        stub="provider",
        group="chip",
        right=("price", "distance", "median", "offers"),
        marked=("provider", "price", "distance", "median", "offers", "machine", "confirmed", "spark", "document"),
    )
    words = wording.option(option)
    return sheet(
        frame,
        form,
        id=f"providers-{option.replace('_', '-')}",
        title=f"{words[0].upper()}{words[1:]} by provider: {_finding(rows, places)}",
        subtitle=_scope(of_this, shown),
        footnotes=_footnotes(rows, with_terms=option not in WITHOUT_TERMS),
        note=NOTE,
    )


def confirmed(row: Row) -> str:
    """Return when a price was last confirmed and how old that is, as our own HTML: greyed where it is not current."""
    date, age = wording.day(row["last_observed_at"]), f"{wording.days(row['age_days'])} days"
    if row["is_current"]:
        return date + small(age)
    state = "stale" if row["kind"] == "live" else "archived"
    return f'<span class="past">{date} <small>{state}, {age}</small></span>'


def _provider(row: Row) -> str:
    """Return who sells it; below it the tier, the network, the form of the chip, and whose machine the cheapest is."""
    host = row["host_provider_name"]
    form = None if row["has_forms"] else row["form_factor"]
    more = (row["tier"], row["fabric"], form, f"machine of {host}" if host else None)
    return escape(row["service_provider_name"] or wording.UNKNOWN) + small(", ".join(each for each in more if each))


def _price(row: Row, places: int, rate: Rate | None) -> str:
    """Return the cheapest price, marked where it is a floor or a percentile, with the amount as it was charged."""
    price = row["cheapest_price_usd"]
    if price is None:
        return wording.UNKNOWN
    text = _greyed(row, ("from " if row["is_floor"] else "") + wording.amount(price, places))
    kinds = {"p25": "25th percentile"}
    native = None
    if row["pricing_currency"] != "USD":
        amount = wording.amount(row["price_per_accelerator_hour"], places)
        native = f"{amount} {row['pricing_currency']}, rate of {row['fx_rate_date']}"
    # Where it is charged in that currency, the amount that is charged stands there.
    other = rate.amount(price, places) if rate and rate.currency != row["pricing_currency"] else None
    return text + small(other) + small(kinds.get(row["statistic"])) + small(native)


def _distance(row: Row, places: int) -> str:
    """Return how far from AWS a price is, and below it what it was compared with."""
    if row["service_provider_name"] == "AWS":
        return AWS_ITSELF
    if row["distance_to_aws"] is None:
        return wording.UNKNOWN
    option = wording.OPTIONS.get(row["aws_purchase_option"], row["aws_purchase_option"])
    parts = [
        f"AWS {wording.amount(row['aws_price_usd'], places)}",
        f"{row['aws_instance_type']}, {option}" if row["aws_purchase_option"] != row["purchase_option"] else None,
        None if row["aws_is_current"] else wording.day(row["aws_last_observed_at"]),
    ]
    return wording.percent(row["distance_to_aws"]) + small(", ".join(part for part in parts if part))


def _machine(row: Row) -> str:
    """Return the machine or, where the chip itself is sold, what is said of its place."""
    name, region = row["instance_type"], row["region_id"]
    if name is None and region is None:
        return wording.UNKNOWN
    return f'<span class="machine">{escape(name or region)}</span>{small(region if name else None)}'


def _stock(row: Row) -> str | None:
    """Return how much there is of it, and what is said of the cheapest, where the provider tells."""
    counts = (("n_machines", "machine"), ("n_accelerators", "chip"))
    told = [wording.count(row[name], one) for name, one in counts if row[name] is not None]
    return ", ".join([*told, *([row["stock_status"]] if row["stock_status"] else [])]) or None


def _greyed(row: Row, text: str) -> str:
    return text if row["is_current"] or text == wording.UNKNOWN else f'<span class="past">{text}</span>'


def _finding(rows: Sequence[Row], places: int) -> str:
    """Return what a table finds: the cheapest seen of the chip most sold, compared with AWS where that can be."""
    real = [row for row in rows if row["price_rank"] is not None]
    if not real:
        return "only medians, floors and prices beyond the limit of age"
    of_chip = [row for row in real if row["accelerator_name"] == real[0]["accelerator_name"]]
    best = min(of_chip, key=lambda row: (row["price_rank"], not row["has_forms"], row["form_factor"] != "SXM"))
    price = wording.amount(best["cheapest_price_usd"], places)
    dated = "" if best["is_current"] else f", last confirmed {wording.day(best['last_observed_at'])}"
    text = f"{_sold(best)} at {price} USD per chip-hour, {best['service_provider_name']}"
    ratio = best["distance_to_aws"]
    if ratio is not None:
        text += f", {abs(ratio) * 100:,.1f} % {'below' if ratio < 0 else 'above'} AWS" if ratio else ", as at AWS"
    return text + dated


def _scope(of_this: pl.DataFrame, shown: pl.DataFrame) -> str:
    """Return what a table holds, of when, and what it leaves out."""
    since = wording.day(of_this["since_at"].item(0))
    n_chips, left = shown["accelerator_name"].n_unique(), of_this.height - shown.height
    n_current = shown["is_current"].sum()
    text = (
        f"List prices. {wording.count(n_chips, 'chip')} that most providers sell; of each, on the same terms, the "
        f"cheapest seen since {since}, and AWS. {n_current:,} of {wording.count(shown.height, 'row')} current"
    )
    return text + (f"; {wording.count(left, 'more row')} left out." if left else ".")


def _sold(row: Row) -> str:
    """Return a chip with what has to be bought at once."""
    form = f" {row['form_factor'] or 'of unstated form'}" if row["has_forms"] else ""
    return f"{row['accelerator_name']}{form}, {CAPACITY.get(row['capacity_class'], NO_SIZE)}"


def _share(row: Row, shown: pl.DataFrame) -> str:
    alike = shown.filter(
        pl.col("accelerator_name") == row["accelerator_name"],
        pl.col("capacity_class").eq_missing(pl.lit(row["capacity_class"], pl.String)),
        pl.lit(not row["has_forms"]) | pl.col("form_factor").eq_missing(pl.lit(row["form_factor"], pl.String)),
    )
    n = alike["service_provider_name"].n_unique()
    return f"{n:,}" if n == row["n_alike"] else f"{n:,} of {row['n_alike']:,}"


def _footnotes(rows: Sequence[Row], *, with_terms: bool) -> list[Footnote]:
    """Return why each dash is one."""
    reasons: list[tuple[str, Callable[[Row], str | None]]] = [
        ("price", lambda row: ONLY_MEDIAN if row["cheapest_price_usd"] is None else None),
        ("distance", _no_distance),
        ("median", lambda row: NO_MEDIAN.get(row["statistic"]) if row["median_price_usd"] is None else None),
    ]
    nowhere = "the source names neither machine nor region"
    reasons.append(("machine", lambda row: nowhere if _machine(row) == wording.UNKNOWN else None))
    if with_terms:
        reasons.append(("terms", lambda row: NO_TERM if row["commitment_class"] not in TERMS else None))
    found: dict[tuple[str, str], list[int]] = {}
    for column, reason in reasons:
        for index, row in enumerate(rows):
            if (text := reason(row)) is not None:
                found.setdefault((column, text), []).append(index)
    return [Footnote(text=text, column=column, rows=indexes) for (column, text), indexes in found.items()]


def _no_distance(row: Row) -> str | None:
    if row["service_provider_name"] == "AWS" or row["distance_to_aws"] is not None:
        return None
    if row["cheapest_price_usd"] is None:
        return ONLY_MEDIAN
    if row["aws_price_usd"] is not None:
        return OTHER_DATE
    return NO_CAPACITY if row["capacity_class"] not in CAPACITY else NO_AWS
