"""A page for each chip and each provider at an address that stays: `chips/<chip>.html`, `providers/<provider>.html`.

The date of a page is that of its newest price, so a page of which nothing changed stays as it is.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import duckdb
import polars as pl
from markupsafe import Markup

from reports import currency, wording
from reports.charts import site_charts
from reports.files import put
from reports.pages import cost_page, guard
from reports.pages.frame import frame
from reports.queries import Published, Row, ask
from reports.queries import frame as read_frame
from reports.tables import change_tables, price_tables, source_tables
from reports.tables.table import Column, Number, Table, small

MAX_CHANGES = 15
MAX_NAME = 64
PRICE = "price_per_accelerator_hour_usd"
SHOWN_CHANGES = ("list_change", "gone_offer", "returned_offer")
CITED = re.compile(r"<code class=\"hash\">\w*</code>")
"""Of a page, what alone may differ where its prices are the same."""

TWO_YEARS = timedelta(days=731)
LINES = "from int.front_line order by all"

Paths = Mapping[str, Mapping[str, str]]
"""Addresses of pages below the reports, by folder and name."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Pages of chips or of providers: their folder, the column that names them, and what one is called."""

    folder: str
    column: str
    word: str


CHIP = Kind(folder="chips", column="accelerator_name", word="Chip")
PROVIDER = Kind(folder="providers", column="service_provider_name", word="Provider")


def addresses(names: Iterable[str], folder: str) -> dict[str, str]:
    """Return the path of each name's page below the reports: chips/rtx-4090.html; of two alike, one has a hash."""
    found: dict[str, str] = {}
    for name in sorted({*names}):
        slug = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
        if not slug or f"{folder}/{slug}.html" in found.values():
            slug = f"{slug}-{hashlib.sha256(name.encode()).hexdigest()[:8]}".strip("-")
        found[name] = f"{folder}/{slug}.html"
    return found


class Market:
    """What a published file says of all chips and providers, read once; times are naive and UTC."""

    def __init__(self, published: Published, standing: duckdb.DuckDBPyConnection | None, shown_in: str) -> None:
        self.built_at, self.version = published.build
        con, query = published.con, published.query
        self.rate = currency.rate(con, shown_in, self.built_at)
        self.prices: Sequence[Row] = ask(standing or con, "provider_price")
        self.paths = {
            kind.folder: addresses((row[kind.column] for row in self.prices if row[kind.column]), kind.folder)
            for kind in (CHIP, PROVIDER)
        }
        self.cells = cost_page.by(query("from int.front_cell"), CHIP.column)
        self.lines = cost_page.by(query(LINES), CHIP.column)
        since = self.built_at - TWO_YEARS
        self.changes = read_frame(con, "market_change", since=since, kinds=SHOWN_CHANGES, n=MAX_CHANGES)
        drifts = ask(con, "chart_drift", chips=[*self.lines], option="on_demand", since=since, until=self.built_at)
        self.drifts = cost_page.by(drifts, CHIP.column)
        self.stock = query("from int.obtainable order by all")
        self.plans: Sequence[Row] = ask(con, "market_plan")
        self.costs = cost_page.by(published.ask("cost_model"), CHIP.column)
        shas = {row["document_sha256"] for row in (*self.prices, *self.plans)} | {*self.changes["document_sha256"]}
        documents = ask(con, "document", shas=sorted(filter(None, shas)))
        self.documents = {row["document_sha256"]: row for row in documents}
        self.prices, self.plans = (
            [{**row, "has_document": row["document_sha256"] in self.documents} for row in each]
            for each in (self.prices, self.plans)
        )


def write(
    published: Published,
    folder: Path,
    *,
    data_sha256: str,
    shown_in: str = "USD",
    standing: duckdb.DuckDBPyConnection | None = None,
    regions: str = "",
) -> Paths:
    """Write the page of each chip and provider that has a price; return their paths by folder and name.

    A page that would say the same stays as it is, with the hash of the file that it was written from.
    """
    market = Market(published, standing, shown_in)
    for kind in (CHIP, PROVIDER):
        prices = cost_page.by(market.prices, kind.column)
        for name, path in market.paths[kind.folder].items():
            make = partial(render, market, kind, name, prices[name], data_sha256=data_sha256, regions=regions)
            target = folder / path
            text = guard.page(name, make, partial(guard.instead, name, path))
            if not (target.exists() and CITED.sub("", target.read_text(encoding="utf-8")) == CITED.sub("", text)):
                put(target, text)
    return market.paths


def render(
    market: Market, kind: Kind, name: str, prices: Sequence[Row], *, data_sha256: str = "", regions: str = ""
) -> str:
    """Return the page of a chip or provider; the same prices give the same text but for the hash of the file."""
    is_chip = kind is CHIP
    other = PROVIDER if is_chip else CHIP
    newest = max(row["last_observed_at"] for row in prices)
    nth = pl.col(f"nth_of_{kind.word.lower()}")
    changes = market.changes.filter((pl.col(kind.column) == name) & (nth <= MAX_CHANGES)).sort(nth)
    plans = [row for row in market.plans if row[kind.column] == name]
    ranked = [row for row in plans if row["price_rank"] is not None]
    others = market.paths[other.folder]
    standing = partial(
        price_tables.standing,
        of_chip=is_chip,
        built_at=newest,
        rate=market.rate,
        address=lambda each: f"../{others[each]}",
    )
    names = ("form_factor", PROVIDER.column) if is_chip else (CHIP.column, "form_factor")
    alive = {tuple(row[each] for each in names) for row in prices if row["is_ranked"]}
    young = [row for row in prices if tuple(row[each] for each in names) in alive]
    old = [row for row in prices if tuple(row[each] for each in names) not in alive]
    count = partial(wording.count, one=other.word.lower())
    n_young, n_old = (len({row[other.column] for row in each}) for each in (young, old))
    parts = [
        (
            "prices",
            "Prices",
            standing(young, id="standing", title=f"{count(n_young)} with a price that can be ranked")
            if young
            else "No price can be ranked.",
        ),
        *([("history", "History", _history(market, name))] if is_chip and market.lines.get(name) else []),
        *([("tokens", "Cost per token", _tokens(market.costs.get(name, [])))] if is_chip else []),
        ("plans", "Commitments", _plans(ranked, len(plans), is_chip)),
        ("stock", "Availability", _stock([row for row in market.stock if row[kind.column] == name], prices, is_chip)),
        ("changes", "Changes", _changes(changes, f"n_of_{kind.word.lower()}")),
    ]
    shown = {row["document_sha256"] for row in (*prices, *ranked)} | {*changes["document_sha256"]}
    documents = [market.documents[sha] for sha in sorted(filter(None, shown)) if sha in market.documents]
    return frame(
        "market.html.j2",
        title=name,
        kind=kind.word,
        headline=_headline(name, prices, market.cells.get(name, [])) if is_chip else _sells(name, prices),
        place=market.paths[kind.folder][name],
        build=(newest, market.version),
        nav=[(anchor, title) for anchor, title, _ in parts],
        notes=[text for text in (regions, market.rate.words() if market.rate else "") if text],
        parts=parts,
        old=(
            f'Prices of {count(n_old)} that are not ranked: too old, "from" prices, confidential computing',
            standing(old, id="old", title="Not ranked"),
        )
        if old
        else None,
        documents=source_tables.documents(pl.DataFrame(documents, infer_schema_length=None)) if documents else None,
        cited=(wording.date(newest), "file SHA-256", data_sha256),
        query="from mart.provider_price where {} = '{}'".format(kind.column, name.replace("'", "''")),
    )


def _headline(name: str, prices: Sequence[Row], cells: Sequence[Row]) -> str:
    """Return what a chip costs on demand at AWS and at the cheapest other, or its last known price."""
    found = {row["cell"]: row for row in cells if row[PRICE] is not None}
    seller = wording.short(found.get("elsewhere", {}).get("service_provider_name"), most=MAX_NAME)
    others = " elsewhere" * ("aws_on_demand" in found)
    ways = {"aws_on_demand": "on demand at AWS", "elsewhere": f"at {seller}, the cheapest seen{others}"}
    parts = [f"{wording.price(found[cell][PRICE])} {words}" for cell, words in ways.items() if cell in found]
    if parts:
        return f"{wording.chip(found.get('aws_on_demand') or found['elsewhere'])}: {' and '.join(parts)}, USD an hour"
    last = max(prices, key=lambda row: row["last_observed_at"])
    option, usd = wording.option(last["purchase_option"]), wording.price(last["price_usd"])
    if last["is_ranked"]:
        return f"{name}: no list price on demand is known; {usd} USD an hour {option}"
    seller, day = last["service_provider_name"], wording.date(last["last_observed_at"])
    least = "from " if last["is_floor"] else ""
    return f"{name}: no price can be ranked; the last was {least}{usd} USD at {seller}, {day}"


def _sells(name: str, prices: Sequence[Row]) -> str:
    young = {row["accelerator_name"] for row in prices if row["is_ranked"]}
    old = {row["accelerator_name"] for row in prices} - young
    words = f"{name}: {wording.count(len(young), 'chip')} with a price that can be ranked"
    return f'{words}, {len(old):,} with none but old or "from" prices' if old else words


def _history(market: Market, name: str) -> Markup | str:
    lines, drifts = market.lines[name], market.drifts.get(name, [])
    chip = next((wording.chip(row) for row in market.cells[name] if row["cell"] == "aws_on_demand"), name)
    charts = site_charts.front(lines, chip, market.built_at) + site_charts.index(drifts, name, market.built_at)
    return charts or "No price is known at two times yet."


def _tokens(costs: Sequence[Row]) -> Table | str:
    """Return what a million tokens of each model costs on a chip, or why that is not known in one line."""
    found = [row for row in costs if row["usd_per_million_output_tokens"]]
    if not found:
        reasons = {*map(cost_page.why, costs)}
        return f"Unknown: {min(reasons)}." if reasons else "No run of it was measured."
    models, ways = {row["model_name"]: row for row in found}, {*map(cost_page.way_of, found)}
    shown = [row for row in costs if row["model_name"] in models and cost_page.way_of(row) in ways]
    return Table(
        id="costs",
        title=f"{wording.count(len(models), 'model')}, at one operating point each",
        subtitle="USD per million output tokens at full load, all of the machine charged to them, and per chip-hour",
        rows=[*models.values()],
        columns=[
            Column("Model", lambda row: row["model_name"] + small(_point(row))),
            *cost_page.ways(shown, "model_name"),
        ],
    )


def _point(row: Row) -> str:
    speed = f"{row['interactivity']:g} tok/s for a user" if row["interactivity"] is not None else row["task"]
    return wording.listed(row["scenario"], row["precision"], speed)


def _plans(shown: Sequence[Row], n_known: int, is_chip: bool) -> Table | str:
    """Return the best commitment of each seller, option, term and way to pay, beside the price on demand."""
    if not n_known:
        return "No commitment is known whose machine has a price on demand, too."
    if not shown:
        return f"{wording.count(n_known, 'commitment')} known, none of which can be ranked: see the explorer."
    places = wording.places_of(row["price_per_accelerator_hour_usd"] for row in shown)
    return Table(
        id="commitments",
        title=f"{wording.count(len(shown), 'way')} to commit",
        subtitle="The cheapest kind, machine and region of each, upfront fees spread over the term",
        rows=shown,
        group="service_provider_name" if is_chip else "accelerator_name",
        columns=[
            Column("Commitment", lambda row: wording.option_of(row) + small(row["commitment_discount_type"])),
            Number(
                "USD per chip-hour",
                lambda row: price_tables.linked(wording.amount(row["price_per_accelerator_hour_usd"], places), row),
            ),
            Number("on demand", lambda row: wording.amount(row["on_demand_price_usd"], places)),
            Number(
                "pays from use of", lambda row: wording.share(row["breakeven_share_on_demand"]), why="no list price"
            ),
            Column("Machine, region", lambda row: (row["instance_type"] or "") + small(row["region_id"])),
            Column("Seen", lambda row: wording.date(row["last_observed_at"])),
        ],
    )


def _stock(stock: Sequence[Row], prices: Sequence[Row], is_chip: bool) -> Table | str:
    """Return who was seen to have it, under which option and when; or that nobody says."""
    other = PROVIDER if is_chip else CHIP
    units = (("n_machines", "machine"), ("n_accelerators", "chip"))
    counts = {}
    for row in prices:
        parts = [wording.count(row[name], unit) for name, unit in units if row[name] is not None]
        counts[row[other.column], row["purchase_option"]] = wording.listed(*parts, row["stock_status"])
    if not stock:
        return "Unknown: no source of these prices says what is in stock."
    return Table(
        id="availability",
        title="Where it was in stock" if is_chip else "What was in stock",
        rows=sorted(stock, key=lambda row: (row["last_obtainable_at"] is None, row[other.column] or "")),
        columns=[
            Column(other.word, other.column),
            Column("Option", lambda row: wording.option(row["purchase_option"])),
            Column("Last in stock", lambda row: wording.date(row["last_obtainable_at"]), why="never seen in stock"),
            Column("Last checked", lambda row: wording.date(row["last_asked_at"])),
            Column("Stated", lambda row: counts.get((row[other.column], row["purchase_option"]), "")),
        ],
    )


def _changes(found: pl.DataFrame, counted: str) -> Table | str:
    if not found.height:
        return "No change of a list price is known of the last two years."
    total = found[counted][0]
    return change_tables.changes(
        found,
        {},
        id="moves",
        title=f"The newest of {wording.count(total, 'change')}" if total > MAX_CHANGES else "All known",
        subtitle="Of two years, newest first; spot, marketplaces and new offers left out",
        total=total,
    )
