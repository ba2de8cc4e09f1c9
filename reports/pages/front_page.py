"""The front page, `index.html`: what each chip costs, each way to buy it; every price leads to its evidence.

`providers.html`, of the same facts, has what each provider asks for them on demand.

Picking and ranking happen in transform/sql/front_*.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from reports import wording
from reports.charts import site_charts, sparkline
from reports.pages import cost_page, guard
from reports.pages.frame import frame
from reports.pages.market_pages import LINES, MAX_NAME, PRICE, Paths
from reports.queries import Published, Row
from reports.tables.table import Column, Number, Table, element, link, small, span, to_html
from reports.templating import macro
from reports.templating import render as rendered

PLACE = "index.html"
PROVIDERS = "providers.html"
MIN_SELLERS = 3
"""Providers other than AWS that must sell a chip for a column of the page of providers, where any chip has as many."""
AWS = {"aws_on_demand": "on demand", "aws_1y": "best 1-year", "aws_3y": "best 3-year", "aws_spot": "spot, by zone"}
OPTIONS = (*AWS, "elsewhere")
TOKENS = {"on_demand": "on demand", "one_year": "1-year", "spot": "spot"}
NOWHERE = {"unknown", "not collected yet", "not seen", "not sold", "AWS only"}
"""Why a cell has no price where none was ever seen."""
MAX_MODELS = 4
"""Models of which the cheapest cost is shown in a line."""
NO_CELL = {PRICE: None, "unknown_reason": "unknown", "accelerator_name": None, "form_factor": None}
CHIPS = ("H100", "H200", "B200", "B300", "MI300X", "A100-80GB", "L40S", "Trainium2", "Trainium3")
"""The chips of the front page, in their order, where the settings name no others; one without a price says so."""

DRIFTS = """
from int.drift_report where index_level = 'chip' and purchase_option = 'on_demand' and window_days = 90
"""


@dataclass(frozen=True, kw_only=True)
class Front:
    """The front page's facts: times are naive and UTC.

    `chips` are those shown, in order. `cells` are the prices by chip and cell, `drifts` the 90 days of each chip,
    `tokens` what tokens cost on it by kind of option, at the `point`; `sellers` what each other provider asks for it.
    `models` are the cheapest costs of each model on demand, `bill` what each plan would change.
    `chip` is the first with a price at AWS and elsewhere, or any: the one that the headline, chart and bill speak of.
    """

    built_at: datetime
    version: str
    chips: Sequence[str]
    chip: str | None
    cells: Mapping[str, Mapping[str, Row]]
    drifts: Mapping[str, Row]
    tokens: Mapping[str, Mapping[str, Row]]
    point: Row | None
    bill: Sequence[Row]
    moves: Sequence[Row]
    lines: Sequence[Row]
    sellers: Mapping[str, Mapping[str, Row]]
    trust: Row
    unseen: Row
    models: Sequence[Row]

    @property
    def offers(self) -> set[int | None]:
        """Return the offers that the page shows."""
        rows = [*self.models[:MAX_MODELS]]
        rows += [row for of_chip in (self.tokens, self.sellers) for each in of_chip.values() for row in each.values()]
        cells = [cell for of_chip in self.cells.values() for cell in of_chip.values()]
        return {row["offer_id"] for row in (*rows, *cells)} | {cell["highest_offer_id"] for cell in cells}


def read(published: Published, chips: Sequence[str] = CHIPS) -> Front:
    """Return the facts of a published file."""
    built_at, version = published.build
    ask, of_chips = published.ask, published.of_chips
    cells = by_chip(of_chips("front_cell", chips), "cell")
    chip = _chief(chips, cells)
    models = cost_page.by(ask("cost_model"), "model_name")
    return Front(
        built_at=built_at,
        version=version,
        chips=[name for name in chips if name in cells],
        chip=chip,
        cells=cells,
        drifts={row["accelerator_name"]: row for row in published.query(DRIFTS)},
        tokens=by_chip(ask("front_token", chips=[*chips]), "option_kind"),
        point=next(iter(published.query("from int.headline_point")), None),
        bill=of_chips("front_bill", [chip]),
        moves=published.query("from int.front_move order by news_rank"),
        lines=[row for row in published.query(LINES) if row["accelerator_name"] == chip],
        sellers=by_chip(of_chips("front_provider", chips), "service_provider_name"),
        trust={**ask("front_trust")[0], "n_refused": len(ask("refused"))},
        unseen=ask("front_unseen")[0],
        models=[best[0] for rows in models.values() if (best := cost_page.on_demand(rows))],
    )


def by_chip(rows: Iterable[Row], column: str) -> dict[str, dict[str, Row]]:
    """Return rows by chip, and by what is in a column."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row["accelerator_name"], {})[row[column]] = row
    return found


def _chief(chips: Sequence[str], cells: Mapping[str, Mapping[str, Row]]) -> str | None:
    """Return the first chip with a price at AWS and elsewhere, or else with any."""

    wanted = (("aws_on_demand", "elsewhere"), ("aws_on_demand",), ("elsewhere",))
    found = (
        chip
        for names in wanted
        for chip in chips
        if all(cells.get(chip, {}).get(name, {}).get(PRICE) is not None for name in names)
    )
    return next(found, None)


def render(front: Front, *, trouble: str, links: Sequence[tuple[str, str]], paths: Paths) -> str:
    """Return the page; the same facts give the same bytes.

    `trouble` is what was not read and limits the headline; `links` are other pages: path, name; `paths` those of each
    chip and provider, by folder and name.
    """
    chip = wording.chip(front.cells[front.chip].get("aws_on_demand", NO_CELL)) if front.chip else ""
    return frame(
        "front.html.j2",
        headline=f"{headline(front)}{trouble}.",
        place=PLACE,
        build=(front.built_at, front.version),
        trust=front.trust,
        chips=guard.part("The table of chips", lambda: to_html(table(front, paths["chips"]))),
        chart=guard.part("The chart", lambda: site_charts.front(front.lines, chip, front.built_at)),
        bill=guard.part("The bill", lambda: rendered("front_bill.html.j2", bill=front.bill, chip=chip)),
        models=[(row["model_name"], _evidence_of(row), row["accelerator_name"]) for row in front.models[:MAX_MODELS]],
        day=f"{front.built_at:%Y-%m-%d}",
        links=links,
    )


def table(front: Front, paths: Mapping[str, str]) -> Table:
    """Return the table of chips: one line each, purchase options side by side; those without any price in the note."""
    reasons = {chip: {cell["unknown_reason"] for cell in front.cells[chip].values()} for chip in front.chips}
    absent = [chip for chip in front.chips if reasons[chip] <= NOWHERE]
    shown = [chip for chip in front.chips if chip not in absent]
    places = wording.places_of(
        cell[PRICE] for chip in shown for name, cell in front.cells[chip].items() if name in OPTIONS
    )

    def column(head: str, cell: Callable[[str], str], spanner: str = "") -> Column:
        return Number(head, lambda row: cell(row["chip"]), spanner=spanner)

    def option(name: str, head: str, spanner: str) -> Column:
        return column(head, lambda chip: _cell(front.cells[chip], name, places, front.built_at), spanner)

    def token(kind: str, head: str) -> Column:
        return column(head, lambda chip: _token(front.tokens.get(chip, {}).get(kind)), "USD per million tokens")

    def named(row: Row) -> str:
        name, cells = row["chip"], front.cells[row["chip"]]
        age = _age(cells)
        oldest = "" if age is None else span(f"oldest price {wording.count(age, 'day')}", "age")
        return element("b", _linked(name, paths)) + small(_machine(cells)) + oldest

    n_priced = sum(any(cell[PRICE] is not None for cell in front.cells[chip].values()) for chip in front.chips)
    rest = len(front.chips) - n_priced
    lacking = f", {wording.count(rest, 'chip')} without any" if rest else ""
    return Table(
        id="chips",
        title=f"{wording.count(n_priced, 'chip')} with prices{lacking}, as of {wording.date(front.built_at)}",
        subtitle=_scope(front),
        rows=[{"chip": chip} for chip in shown],
        columns=[
            Column("Chip", named),
            *(option(name, head, "AWS") for name, head in AWS.items()),
            option("elsewhere", "cheapest seen", "Elsewhere"),
            column("change", lambda chip: _change(front.drifts.get(chip), front.built_at), "90 days"),
            *(token(kind, head) for kind, head in TOKENS.items()),
            Number("oldest,\ndays", lambda row: _age(front.cells[row["chip"]]), why="no price can be ranked"),
        ],
        note=wording.unseen(front.unseen, absent) if absent else "",
    )


def _linked(name: str, paths: Mapping[str, str]) -> str:
    return link(name, paths[name]) if name in paths else name


def render_providers(front: Front, paths: Paths) -> str:
    """Return the page; the same facts give the same bytes."""
    return frame(
        "plain.html.j2",
        title="Providers",
        headline="What each provider charges for a chip on demand",
        place=PROVIDERS,
        build=(front.built_at, front.version),
        parts=[
            guard.part("The table of providers", lambda: to_html(providers(front, paths["providers"]))),
            *(macro("parts.html.j2", "pages")(name, of) for name, of in paths.items()),
        ],
    )


def providers(front: Front, paths: Mapping[str, str]) -> Table:
    """Return what each provider asks on demand for the chips that several sell; AWS first, then those of most chips."""
    n_sellers = {chip: len(front.sellers.get(chip, ())) for chip in front.chips}
    least = min(MIN_SELLERS, max(n_sellers.values(), default=0))
    chips = [chip for chip, n in n_sellers.items() if n >= least]
    rows: dict[str, dict[str, Row]] = {}
    for chip in chips:
        own = front.cells[chip].get("aws_on_demand", NO_CELL)
        for name, row in {"AWS": {**own, "is_ranked": True}, **front.sellers.get(chip, {})}.items():
            rows.setdefault(name, {})[chip] = row
    kept = [name for name, cells in rows.items() if len(cells) > 1 or any(row["is_ranked"] for row in cells.values())]
    places = wording.places_of(row[PRICE] for name in kept for row in rows[name].values())

    def shown(row: Row | None) -> str | None:
        if row is None:
            return None
        if row[PRICE] is None:
            return span(row["unknown_reason"], "no")
        number = price(row, places)
        old = span(number, "no", title="too old to be ranked")
        seen = wording.listed(row["tier"], wording.near(row["last_observed_at"], front.built_at))
        return (number if row["is_ranked"] else old) + small(seen)

    def column(chip: str) -> Column:
        own = front.cells[chip].get("aws_on_demand", NO_CELL)
        form = own["form_factor"] or "of the same form"
        return Number(
            wording.chip(own),
            lambda row: shown(row.get(chip)),
            why=lambda row: f"whether it is {form} is not stated" if row.get(chip, {}).get("is_form_unknown") else None,
        )

    return Table(
        id="providers",
        title=f"On demand at AWS and {wording.count(sum(name != 'AWS' for name in kept), 'other')}",
        subtitle="USD per chip-hour, the cheapest of each and when it was seen; grey: too old to rank",
        rows=[
            {"name": name, **rows[name]}
            for name in sorted(kept, key=lambda name: (name != "AWS", -len(rows[name]), name))
        ],
        columns=[Column("Provider", lambda row: element("b", _linked(row["name"], paths))), *map(column, chips)],
        note=f"{wording.UNKNOWN}: no price on demand was seen in a year, of the form of the column where it has one.",
    )


def _scope(front: Front) -> str:
    regions = {cells["aws_on_demand"]["region_id"] for cells in front.cells.values() if "aws_on_demand" in cells}
    away = sorted(regions - {"us-east-1", None})
    where = f"us-east-1 at AWS (else {', '.join(away)})" if away else "us-east-1 at AWS"
    return f"USD per chip-hour, Linux, {where}, spot in all US zones; upfront fees spread over the term.{_point(front)}"


def _point(front: Front) -> str:
    point = front.point
    if point is None:
        return ""
    speed = f", {point['interactivity']:.0f} tok/s per user" if point["interactivity"] else ""
    words = " ".join(str(point[name]) for name in ("model_name", "precision") if point[name])
    return f" Tokens: {words}, {point['scenario']}{speed}, output, at full load."


def _machine(cells: Mapping[str, Row]) -> str:
    own = cells.get("aws_on_demand", NO_CELL)
    return "not at AWS" if own["unknown_reason"] == "not sold" else own.get("instance_type") or "at AWS"


def _cell(cells: Mapping[str, Row], name: str, places: int, built_at: datetime) -> str:
    cell, block = cells.get(name, NO_CELL), cells.get("aws_block", NO_CELL)
    if cell[PRICE] is None:
        text: str = span(cell["unknown_reason"] or "unknown", "no")
        if name != "aws_on_demand" or block[PRICE] is None:
            return text
        return text + element("small", "Block " + price(block, places))
    text = price(cell, places)
    if name == "aws_spot":
        if cell["highest_price_usd"] is not None and cell["highest_offer_id"] != cell["offer_id"]:
            text += wording.UNKNOWN + price(cell, places, value="highest_price_usd", offer="highest_offer_id")
        places_seen = wording.count(cell["n_places"] or 0, "zone" if cell["is_by_zone"] else "region")
        day = wording.near(cell["last_observed_at"], built_at)
        return text + small(f"{places_seen}, {'' if cell['n_means'] else 'last seen '}{day}")
    if name in ("aws_1y", "aws_3y"):
        return text + small(wording.plan(cell))
    if name == "elsewhere":
        seller = wording.listed(cell["service_provider_name"], cell["form_factor"], cell["tier"])
        return text + small(wording.short(seller, most=20))
    return text + (small(cell["region_id"]) if cell["region_id"] != "us-east-1" else "")


def price(cell: Row, places: int, *, value: str = PRICE, offer: str = "offer_id") -> str:
    """Return a price as a link to its evidence, with the offer that it is."""
    return _evidence(cell[offer], wording.amount(cell[value], places))


def _evidence(offer: int | None, number: str, title: str = "") -> str:
    return number if offer is None else link(number, f"evidence.html#offer-{offer}", title=title, offer=offer)


def _age(cells: Mapping[str, Row]) -> int | None:
    """Return the age of the oldest price of a row in whole days."""
    ages = (cells[name]["age_days"] for name in OPTIONS if name in cells)
    return max((round(age) for age in ages if age is not None), default=None)


def _change(drift: Row | None, built_at: datetime) -> str:
    if drift is None or drift["drift"] is None:
        reason = (drift or {}).get("unknown_reason") or "no price known"
        text = "new" if reason.startswith("no price known on") else "not comparable" if drift else "not known"
        return span(text, "no", title=reason)
    kind = "fall" if drift["drift"] < -1e-9 else "rise" if drift["drift"] > 1e-9 else "same"
    offers = wording.count(drift["n_matched"] or 0, "offer")
    return span(wording.signed(drift["drift"]), kind, title=offers) + sparkline.of_drift(drift, built_at)


def _evidence_of(row: Row) -> str:
    about = wording.listed(row["service_provider_name"], row["cost_basis"])
    return _evidence(row["offer_id"], wording.significant(row["usd_per_million_output_tokens"]), about)


WHY = wording.words_of("why")
"""Why there is no cost per token, in few words; the cell's title has the whole reason."""


def _token(row: Row | None) -> str:
    """Return a cost per token as a link to the price that it rests on, or why there is none."""
    if row is None or row["usd_per_million_output_tokens"] is None:
        reason = (row or {}).get("cost_basis") or "unknown"
        text = next((short for begin, short in WHY.items() if reason.startswith(begin)), "unknown")
        return span(text, "no", title=reason)
    number = wording.significant(row["usd_per_million_output_tokens"])
    is_spot = row["option_kind"] == "spot"
    seller, region = row["service_provider_name"], row["region_id"] or ""
    if seller == "AWS":
        seller = None if region.startswith("us-" if is_spot else "us-east-1") else region
    cost = _evidence(row["offer_id"], number, row["cost_basis"] or "")
    if is_spot and row["price_kind"] == "price":
        cost = span(cost, "no", title=row["offer_terms"] or "")
    return cost + small(wording.listed(seller, cost_page.SEEN.get((row["option_kind"], row["price_kind"]))))


def headline(front: Front) -> str:
    """Return the one line of news: what the first chip costs each way, and who moved on-demand prices."""
    if front.chip is None:
        return "No price is known yet that is young enough to be ranked"
    cells = front.cells[front.chip]
    seller = wording.short(cells.get("elsewhere", {}).get("service_provider_name"), most=MAX_NAME)
    ways = {"aws_on_demand": "at AWS", "aws_1y": "on a one-year plan", "elsewhere": f"at {seller}"}
    known = [(cells[name], way) for name, way in ways.items() if cells.get(name, {}).get(PRICE) is not None]
    parts = [f"{wording.price(cell[PRICE])}{'' if n else ' USD an hour'} {way}" for n, (cell, way) in enumerate(known)]
    article = "An" if front.chip[0] in "AHLM" else "A"
    return f"{article} {wording.chip(known[0][0])} costs {wording.few(parts)}; {_moved(front)}"


def _moved(front: Front) -> str:
    """Return whose on-demand prices moved in 90 days; of AWS always, where its price is known."""
    known = {row["service_provider_name"] for cells in front.cells.values() for row in cells.values()}
    moves = sorted(front.moves, key=lambda row: row["service_provider_name"] != "AWS")
    parts = [f"{wording.short(row['service_provider_name'], most=MAX_NAME)} {_ways(row)}" for row in moves[:2]]
    if not parts:
        return "no on-demand price was seen to move in 90 days"
    if moves[0]["service_provider_name"] != "AWS" and "AWS" in known:
        return f"in 90 days {parts[0]}, AWS moved none"
    return f"in 90 days {', '.join(parts)}"


def _ways(row: Row) -> str:
    """Return how many on-demand prices a provider raised and lowered."""
    rises, falls = row["n_rises"], row["n_falls"]
    if falls and not rises:
        return f"lowered {wording.count(falls, 'on-demand price')}"
    raised = f"raised {wording.count(rises or 0, 'on-demand price')}"
    return f"{raised} and lowered {falls:,}" if falls else raised
