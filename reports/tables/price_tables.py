"""Prices of the day: AWS's per chip-hour and NeuronCore-hour, providers side by side, and those too old to rank.

Purchase options are never mixed: each has a column or a table of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import polars as pl

from reports import wording
from reports.currency import Rate
from reports.queries import Row
from reports.tables.table import Column, Number, Table, document, document_link, left_out, small, span
from reports.templating import macro

USD = "price_per_accelerator_hour_usd"
AwsRow = Mapping[str, Row]
"""The prices of one chip in one region, by cell."""

CELLS = {"on_demand": "On-demand", "reserved_1": "1-yr Reserved", "reserved_3": "3-yr Reserved"}
AWS_NOTE = (
    "Cheapest seen: a current price before an older one, then the lowest. Reserved: the payment of the lowest "
    "effective price, an upfront fee spread over the term."
)
NO_PRICE_TERM = "the price list was read and has no such term for this type"
ON_DEMAND_ONLY = "the source of this row tells on-demand prices only"
NO_ON_DEMAND = "no on-demand price of this type is known"
NO_RATE = "priced in another currency, without a reference rate of the ten days before: {} per chip-hour on demand"

MAX_CHIPS = {"on_demand": 12}
MAX_ROWS = {"on_demand": 3}
FEWER = 6, 2
"""Chips, and rows of a chip on the same terms, in the tables of the other purchase options."""
MAX_OLD = 20
"""Rows of the table of prices beyond the limit of age; the rest is counted and left to a query."""
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
ONLY_MEDIAN = "only the median over its offers is known"
NO_MEDIAN = {
    "floor": "of a floor there is none: nobody says what others pay",
    "p25": "the marketplace tells its 25th percentile only",
}
NO_CAPACITY = "the provider does not say how many chips have to be bought"
NO_TERM = "the length of the commitment is not stated"
NO_AWS = "no price of AWS's is known for this chip, form, commitment and capacity"
OTHER_DATE = "AWS's price was confirmed more than 30 days before or after"
NOTE = (
    "Cheapest: of the regions, sizes and hosts of one tier, within the limit of age; of a marketplace "
    "the 25th percentile of its machines, as the very cheapest may be one bad machine. From: the least that anybody "
    "pays, which nobody may be offered. Against AWS: its cheapest list price for the same chip, form, length of "
    "commitment and capacity. A chip of unstated form (H100, not H100 SXM) is not compared where there are several. "
    "In brackets: providers, those shown of those known. Every row: `select * from int.provider_price`."
)

links = macro("cells.html.j2", "links")


# --- AWS


def by_chip(prices: pl.DataFrame, rate: Rate | None = None) -> Table:
    """Return the summary of AWS: one row for each chip, in the region where it is the cheapest seen."""
    regions = _regions(prices)
    best = _best(regions)
    n_regions = Number("Regions\npriced", lambda row: len(regions[_chip(row)]))
    return _aws_table(
        "aws-chips",
        f"AWS: {_range(best, _places(best, USD))}",
        "List prices, Linux; the region and type where the chip is the cheapest seen on demand. "
        f"{wording.count(len(best), 'chip')}, dearest first; {_dates(best)}.",
        best,
        rate,
        CHIP,
        [REGION, n_regions],
    )


def by_region(prices: pl.DataFrame, rate: Rate | None = None) -> Table:
    """Return every chip in every region of AWS: the cheapest type seen on demand, and that type under Reserved."""
    rows = [row for rows in _regions(prices).values() for row in rows]
    title = f"AWS: {wording.count(len(rows), 'price')} of chips by region"
    about = f"List prices, Linux; in each region the type with the cheapest chip seen on demand; {_dates(rows)}."
    return replace(_aws_table("aws-regions", title, about, rows, rate, REGION, []), group=_chip)


def neuron(prices: pl.DataFrame, rate: Rate | None = None) -> Table | None:
    """Return Neuron chips per NeuronCore-hour, each in the region where it is the cheapest seen; None without any."""
    best = _best(_regions(prices.filter(pl.col("price_per_neuron_core_hour").is_not_null())))
    title = "AWS: Neuron chips per NeuronCore-hour"
    about = "The same types as above; the price of a chip-hour divided by the NeuronCores of the chip."
    made = _aws_table("aws-neuron", title, about, best, rate, CHIP, [REGION], column="price_per_neuron_core_hour")
    return replace(made, note="") if best else None


def _aws_table(
    id: str,
    title: str,
    subtitle: str,
    rows: Sequence[AwsRow],
    rate: Rate | None,
    stub: Column,
    more: Sequence[Column],
    *,
    column: str = USD,
) -> Table:
    prices = _prices(column, "chip-hour" if column == USD else "core-hour", _places(rows, column), rate)
    columns = [stub, *prices, Column("Instance type", lambda row: _first(row)["instance_type"]), *more, *_EVIDENCE]
    return Table(id=id, title=title, subtitle=subtitle, rows=rows, columns=columns, note=AWS_NOTE)


def _best(regions: Mapping[str, Sequence[AwsRow]]) -> list[AwsRow]:
    return [min(rows, key=_rank) for rows in regions.values()]


def aws_confirmed(row: AwsRow) -> str:
    """Return when the oldest of the prices of a row was last confirmed, and what that makes of it."""
    oldest = min(row.values(), key=lambda price: price["last_observed_at"])
    date = wording.day(oldest["last_observed_at"])
    if oldest["kind"] == "live" and oldest["is_current"]:
        return date
    state = f"stale, {wording.days(oldest['age_days'])} days" if oldest["kind"] == "live" else "archived"
    return span(date, "past", aside=state)


def _regions(prices: pl.DataFrame) -> dict[str, list[AwsRow]]:
    """Return the prices of each chip, by region in their order."""
    rows: dict[tuple[str, str], dict[str, Row]] = {}
    for price in prices.iter_rows(named=True):
        rows.setdefault((price["accelerator_name"], price["region_id"] or ""), {})[price["cell"]] = price
    found: dict[str, list[AwsRow]] = {}
    for (chip, _), row in sorted(rows.items()):
        found.setdefault(chip, []).append(row)
    return found


def _prices(column: str, unit: str, places: int, rate: Rate | None) -> list[Column]:
    """Return a column of prices for each way to buy at AWS, with why each dash is one."""

    def cell(row: AwsRow, name: str) -> str:
        price = row.get(name)
        if price is None or price[column] is None:
            return wording.UNKNOWN
        terms = [price["purchase_payment_model"], price["offering_class"]]
        other = small(rate.amount(price[column], places)) if rate else ""
        return (
            wording.amount(price[column], places)
            + other
            + small(wording.listed(*(t for t in terms if t != "standard")))
        )

    def why(row: AwsRow, name: str) -> str | None:
        if name not in row:
            known = NO_PRICE_TERM if _first(row)["kind"] == "live" else ON_DEMAND_ONLY
            return NO_ON_DEMAND if name == "on_demand" else known
        if row[name][column] is not None:
            return None
        first = _first(row)
        return NO_RATE.format(f"{wording.amount(first['price_per_accelerator_hour'], 2)} {first['pricing_currency']}")

    def option(name: str, head: str) -> Column:
        why_not = partial(why, name=name)
        return Number(f"{head}\nUSD per\n{unit}", partial(cell, name=name), why=why_not)

    return [option(name, head) for name, head in CELLS.items()]


def _documents(row: AwsRow) -> str:
    documents = dict.fromkeys(row[name]["document_sha256"] for name in CELLS if name in row)
    shown = [document_link(sha) for sha in documents]
    return links(shown) if len(shown) > 1 else shown[0]


_EVIDENCE = (Column("Last\nconfirmed", aws_confirmed), Column("Document", _documents))


def _first(row: AwsRow) -> Row:
    """Return the first price of a row, on demand where there is one."""
    return next(row[name] for name in CELLS if name in row)


def _chip(row: AwsRow) -> str:
    return str(_first(row)["accelerator_name"])


def _region(row: AwsRow) -> str | None:
    return _first(row)["region_id"] or None


CHIP, REGION = Column("Chip", _chip), Column("Region", _region)


def _rank(row: AwsRow) -> int:
    """Return the rank of a row's region for its chip: 1 is where it is cheapest."""
    return int(_first(row)["region_rank"])


def _places(rows: Sequence[AwsRow], column: str) -> int:
    return wording.places_of(price[column] for row in rows for price in row.values())


def _range(best: Sequence[AwsRow], places: int) -> str:
    """Return from where to where the cheapest prices seen reach."""
    prices = [row["on_demand"][USD] for row in best if "on_demand" in row]
    known = [price for price in prices if price is not None]
    if not known:
        return "no on-demand price in USD is known"
    low, high = (wording.amount(price, places) for price in (min(known), max(known)))
    return f"{low} to {high} USD per chip-hour on demand, last known"


def _dates(rows: Sequence[AwsRow]) -> str:
    """Return how many rows are current, and how old the others are."""
    first = [_first(row) for row in rows]
    past = [row["last_observed_at"] for row in first if not row["is_current"]]
    if not past:
        return "all current"
    dates = " to ".join(dict.fromkeys((wording.day(min(past)), wording.day(max(past)))))
    return f"{len(first) - len(past):,} current, {len(past):,} last confirmed {dates}"


# --- providers


def options_shown(prices: pl.DataFrame) -> list[str]:
    """Return the purchase options with a table: on-demand and Reserved only where AWS is not the only one."""
    of_aws_tables = pl.col("purchase_option").is_in(["on_demand", "reserved"])
    present = set(prices.filter((pl.col("service_provider_name") != "AWS") | ~of_aws_tables)["purchase_option"])
    return [option for option in wording.OPTIONS if option in present]


def of_option(prices: pl.DataFrame, option: str) -> pl.DataFrame:
    """Return the rows of one purchase option that a table shows: the chips most sold, of each the cheapest seen on the
    same terms, and AWS.
    """
    return prices.filter(
        pl.col("purchase_option") == option,
        pl.col("chip_rank") <= MAX_CHIPS.get(option, FEWER[0]),
        pl.col("row_rank").is_null() | (pl.col("row_rank") <= MAX_ROWS.get(option, FEWER[1])),
    )


def by_provider(
    prices: pl.DataFrame, option: str, sparks: Mapping[int, str] = MappingProxyType({}), rate: Rate | None = None
) -> Table:
    """Return the table of one purchase option: the chips most sold, and of each the cheapest seen on the same terms.

    `sparks` are sparklines by offer, shown where a row has one; `rate` is that of a currency to show beside US dollars.
    """
    of_this = prices.filter(pl.col("purchase_option") == option)
    shown = of_option(prices, option)
    rows = shown.rows(named=True)
    places = wording.places_of(row[name] for row in rows for name in ("cheapest_price_usd", "median_price_usd"))

    def median(row: Row) -> str:
        amount = wording.amount(row["median_price_usd"], places)
        return _greyed(row, amount) + small(rate.amount(row["median_price_usd"], places) if rate else None)

    terms = Column("Commitment", lambda row: TERMS.get(row["commitment_class"]), why=NO_TERM)
    spark = Column("Last 90\ndays", lambda row: sparks.get(row["offer_id"]))
    name = wording.option(option)
    return Table(
        id=f"providers-{option.replace('_', '-')}",
        title=f"{name[0].upper()}{name[1:]} by provider: {_finding(rows, places)}",
        subtitle=_scope(of_this, shown),
        rows=rows,
        group=lambda row: f"{_sold(row)} ({_share(row, shown)})",
        columns=[
            Column("Provider,\ntier", _provider),
            Number(
                "Cheapest seen\nUSD per\nchip-hour",
                lambda row: _price(row, places, rate),
                why=lambda row: ONLY_MEDIAN if row["cheapest_price_usd"] is None else None,
            ),
            Number("Against\nAWS", lambda row: _distance(row, places), why=_no_distance),
            *([] if option in WITHOUT_TERMS else [terms]),
            Number(
                "Median\nUSD per\nchip-hour",
                median,
                why=lambda row: NO_MEDIAN.get(row["statistic"]) if row["median_price_usd"] is None else None,
            ),
            Number("Offers,\nstock", lambda row: f"{row['n_offers'] or 0:,}" + small(_stock(row))),
            Column("Machine,\nregion", _machine, why="the source names neither machine nor region"),
            Column("Last confirmed,\nage", confirmed),
            *([spark] if any(row["offer_id"] in sparks for row in rows) else []),
            Column("Document,\nsource", document),
        ],
        note=NOTE,
    )


def confirmed(row: Row) -> str:
    """Return when a price was last confirmed and how old that is, greyed where it is not current."""
    date, age = wording.day(row["last_observed_at"]), f"{wording.days(row['age_days'])} days"
    if row["is_current"]:
        return date + small(age)
    return span(date, "past", aside=f"{'stale' if row['kind'] == 'live' else 'archived'}, {age}")


def _provider(row: Row) -> str:
    """Return who sells it; below it the tier, the network, the form of the chip, and whose machine the cheapest is."""
    host = row["host_provider_name"]
    form = None if row["has_forms"] else row["form_factor"]
    notes = wording.listed(row["tier"], row["fabric"], form, f"machine of {host}" if host else None)
    return (row["service_provider_name"] or wording.UNKNOWN) + small(notes)


def _price(row: Row, places: int, rate: Rate | None) -> str | None:
    """Return the cheapest price, marked where it is a floor or a percentile, with the amount as it was charged."""
    price = row["cheapest_price_usd"]
    if price is None:
        return None
    text = _greyed(row, ("from " if row["is_floor"] else "") + wording.amount(price, places))
    native = None
    if row["pricing_currency"] != "USD":
        amount = wording.amount(row["price_per_accelerator_hour"], places)
        native = f"{amount} {row['pricing_currency']}, rate of {row['fx_rate_date']}"
    # Where it is charged in that currency, the amount that is charged is shown.
    other = rate.amount(price, places) if rate and rate.currency != row["pricing_currency"] else None
    return text + small(other) + small("25th percentile" if row["statistic"] == "p25" else None) + small(native)


def _distance(row: Row, places: int) -> str | None:
    """Return how far from AWS a price is, and below it what it was compared with."""
    if row["service_provider_name"] == "AWS":
        return AWS_ITSELF
    if row["distance_to_aws"] is None:
        return None
    option = wording.OPTIONS.get(row["aws_purchase_option"], row["aws_purchase_option"])
    notes = wording.listed(
        f"AWS {wording.amount(row['aws_price_usd'], places)}",
        f"{row['aws_instance_type']}, {option}" if row["aws_purchase_option"] != row["purchase_option"] else None,
        None if row["aws_is_current"] else wording.day(row["aws_last_observed_at"]),
    )
    return wording.percent(row["distance_to_aws"]) + small(notes)


def _no_distance(row: Row) -> str | None:
    """Return why a row has no distance to AWS."""
    if row["service_provider_name"] == "AWS" or row["distance_to_aws"] is not None:
        return None
    if row["cheapest_price_usd"] is None:
        return ONLY_MEDIAN
    if row["aws_price_usd"] is not None:
        return OTHER_DATE
    return NO_CAPACITY if row["capacity_class"] not in CAPACITY else NO_AWS


def _machine(row: Row) -> str | None:
    """Return the machine or, where the chip itself is sold, what is said of its place."""
    name, region = row["instance_type"], row["region_id"]
    if name is None and region is None:
        return None
    return span(name or region, "machine") + small(region if name else None)


def _stock(row: Row) -> str | None:
    """Return how much there is of it, and what is said of the cheapest, where the provider tells."""
    counts = (("n_machines", "machine"), ("n_accelerators", "chip"))
    parts = [wording.count(row[name], one) for name, one in counts if row[name] is not None]
    return wording.listed(*parts, row["stock_status"]) or None


def _greyed(row: Row, text: str) -> str:
    return text if row["is_current"] or text == wording.UNKNOWN else span(text, "past")


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
    text = (
        f"List prices. {wording.count(n_chips, 'chip')} that most providers sell; of each, on the same terms, the "
        f"cheapest seen since {since}, and AWS. {shown['is_current'].sum():,} of {wording.count(shown.height, 'row')} "
        "current"
    )
    return text + (f"; {wording.count(left, 'more row')} left out." if left else ".")


def _sold(row: Row) -> str:
    """Return a chip with what has to be bought at once."""
    form = f" {row['form_factor'] or 'of unstated form'}" if row["has_forms"] else ""
    return f"{row['accelerator_name']}{form}, {CAPACITY.get(row['capacity_class'], NO_SIZE)}"


def _share(row: Row, shown: pl.DataFrame) -> str:
    """Return how many of the providers that sell a chip in this form and size are shown."""
    alike = shown.filter(
        pl.col("accelerator_name") == row["accelerator_name"],
        pl.col("capacity_class").eq_missing(pl.lit(row["capacity_class"], pl.String)),
        pl.lit(not row["has_forms"]) | pl.col("form_factor").eq_missing(pl.lit(row["form_factor"], pl.String)),
    )
    n = alike["service_provider_name"].n_unique()
    return f"{n:,}" if n == row["n_alike"] else f"{n:,} of {row['n_alike']:,}"


# --- too old to be ranked


def old(prices: pl.DataFrame) -> tuple[str, Table]:
    """Return the old prices of other providers than AWS, newest first, and how many there are, in a line."""
    first = prices.row(0, named=True)
    limit = f"{first['ranked_days']} days (of marketplaces {first['marketplace_days']})"
    days = sorted(map(wording.day, prices["last_observed_at"]))
    dates = " to ".join(dict.fromkeys((days[0], days[-1])))
    rows = prices.head(MAX_OLD).rows(named=True)
    places = wording.places_of(row["cheapest_price_usd"] for row in rows)
    n_prices = wording.count(prices.height, "price")
    return f"{n_prices} older than {limit}, not ranked: last confirmed {dates}", Table(
        id="providers-old",
        title=f"Not ranked: {n_prices} of other providers beyond the limit of age",
        subtitle="Newest first; what each asks today is not known." + left_out(prices.height - MAX_OLD, "more row"),
        rows=rows,
        columns=[
            Column("Provider,\ntier", lambda row: row["service_provider_name"] + small(row["tier"])),
            Column("Chip", lambda row: wording.listed(row["accelerator_name"], row["form_factor"], by=" ")),
            Column(
                "Purchase option",
                lambda row: wording.option(row["purchase_option"]) + small(TERMS.get(row["commitment_class"])),
            ),
            Number("Last price\nUSD per\nchip-hour", lambda row: wording.amount(row["cheapest_price_usd"], places)),
            Column("Last\nconfirmed", lambda row: wording.day(row["last_observed_at"])),
            Column("Age", lambda row: f"{wording.days(row['age_days'])} days"),
            Column("Document,\nsource", document),
        ],
        note="Every row: `select * from int.provider_price where not is_ranked`.",
    )
