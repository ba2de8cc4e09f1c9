"""The sections of a week, as values: the mail's text, its HTML and the page are made of the same ones.

A section that cannot be made says so in its place; the others are made all the same.
"""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from math import exp

import polars as pl

from reports import wording
from reports.queries import Row
from reports.weekly import news
from reports.weekly.facts import WeekFacts

MAX_CORRECTED = 3
WAYS = wording.words_of("week")
TOKEN_WAYS = {
    ("on_demand", "AWS"): "AWS on demand",
    ("one_year", "AWS"): "AWS 1 year",
    ("spot", "AWS"): "AWS spot",
    ("on_demand", "elsewhere"): "elsewhere on demand",
}
CAME_OR_WENT = {"new_offer": "new, from", "returned_offer": "back, from", "gone_offer": "gone, last from"}
LAST_SEEN = "last seen"
"""How a cost is marked that rests on the last price seen of a zone, which is no mean."""
COMMITMENTS = {"savings_plan": "plan", "reserved": "Reserved"}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell: what it says, small print below it, and whether it is a fall or a rise."""

    text: str
    notes: tuple[str, ...] = ()
    tone: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table; the first column names the row, the others are numbers.

    `labelled`: in plain text each number has its head before it, instead of a column.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    labelled: bool = False


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section under its title: sentences, a table, and a note on what its numbers are."""

    key: str = ""
    title: str = ""
    sentences: tuple[str, ...] = ()
    table: Table | None = None
    note: str = ""
    fault: str = ""

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to say."""
        return not (self.sentences or self.fault or (self.table and self.table.rows))


@dataclass(frozen=True, kw_only=True)
class Brief:
    """A week in short: the subject, the sections that have something to say, and why others could not be made."""

    subject: str
    sections: tuple[Section, ...]
    faults: tuple[str, ...]


Maker = Callable[[WeekFacts], Section]


def brief(found: WeekFacts) -> Brief:
    """Return a week in short."""
    made = [guarded(key, title, make, found) for key, (title, make) in SECTIONS.items()]
    try:
        subject = news.subject(found)
    except Exception as error:  # noqa: BLE001 (a mail without news still has its tables)
        subject = f"Prices of week {found.week}; the news could not be made"
        made.insert(0, Section(key="subject", title="Subject", fault=_why(error)))
    return Brief(
        subject=subject,
        sections=tuple(each for each in made if not each.is_empty),
        faults=tuple(f"{each.title}: {each.fault}" for each in made if each.fault),
    )


def guarded(key: str, title: str, make: Maker, found: WeekFacts) -> Section:
    """Return a section, or one that says why it could not be made."""
    try:
        return replace(make(found), key=key, title=title)
    except Exception as error:  # noqa: BLE001 (whatever it is, it costs this section and no other)
        return Section(key=key, title=title, fault=_why(error))


def _why(error: Exception) -> str:
    return news.brief(f"{type(error).__name__}: {error}", most=160)


def _moves(found: WeekFacts) -> Section:
    rows = found["biggest"].to_dicts()
    note = "List prices in USD per chip-hour, unless a row names another currency; a month has 730 hours."
    table = Table(
        heads=("Chip", "was", "now", "change", "8 chips, USD a month"), rows=tuple(_move(row) for row in rows)
    )
    return Section(table=table, note=note if rows else "")


def _who(row: Row) -> str:
    """Return whose price it is, and on which terms."""
    option = wording.option_of({**row, "offering_class": None}) if row["purchase_option"] != "on_demand" else ""
    currency = "" if row["pricing_currency"] == "USD" else news.currency(row)
    return wording.listed(row["service_provider_name"], row["tier"], option, currency)


def _also(found: WeekFacts) -> Section:
    rows = found["also"].to_dicts()
    left = rows and rows[0]["n_also"] > len(rows)
    note = "USD per chip-hour, unless a line names another currency."
    if left:
        note += " There are more under Details of the page."
    sentences = tuple(f"{news.chip_of(row)}, {news.brief(_who(row))}{_size(row)}: {_change(row)}." for row in rows)
    return Section(sentences=sentences, note=note if rows else "")


def _size(row: Row) -> str:
    """Return of how many chips a machine is whose price moved, where it is of several."""
    return f", {row['units']:g} chips" if (row["units"] or 1) > 1 else ""


def _change(row: Row) -> str:
    """Return both prices of a move, or that offers came or went with the lowest price of them."""
    if row["change_kind"] == "list_change":
        return " to ".join(news.amounts(row))
    offers = f", {wording.count(row['n_offers'], 'offer')}" if row["n_offers"] > 1 else ""
    return f"{CAME_OR_WENT[row['change_kind']]} {wording.price(row['price_after'])}{offers}"


def _move(row: Row) -> tuple[Cell, ...]:
    before, after = news.amounts(row)
    node = row["node_month_usd"]
    sign = "+" if node is not None and node > 0 else ""
    return (
        Cell(text=news.chip_of(row), notes=(news.brief(_who(row)),)),
        Cell(text=before),
        Cell(text=after),
        Cell(text=wording.percent(row["change_ratio"]), tone="fall" if row["change_ratio"] < 0 else "rise"),
        Cell(text=wording.UNKNOWN if node is None else sign + wording.amount(node, 0)),
    )


def _cheapest(found: WeekFacts) -> Section:
    by_chip: dict[str, dict[str, Row]] = {}
    cheapest = found["cheapest"]
    n_forms = dict(cheapest.group_by("accelerator_name").agg(pl.col("form_factor").n_unique()).iter_rows())
    for row in cheapest.iter_rows(named=True):
        is_unsaid = row["form_factor"] is None and n_forms[row["accelerator_name"]] > 1
        name = news.chip_of(row) + (" (form ?)" if is_unsaid else "")
        by_chip.setdefault(name, {})[row["way"]] = row
    ways = [way for way in WAYS if any(way in of_chip for of_chip in by_chip.values())]
    rows = tuple(
        (Cell(text=chip), *(_price(found, of_chip.get(way)) for way in ways)) for chip, of_chip in by_chip.items()
    )
    end = news.on(found.last_day if found.is_over else found.as_of, found)
    note = (
        f"USD per chip-hour, cheapest seen: confirmed in the {found.ranked_days} days to {end} "
        f"(marketplaces {found.marketplace_days}). Who was not read is not in it."
    )
    if any("(form ?)" in chip for chip in by_chip):
        note += " Form ?: the seller does not say whether it is SXM or PCIe."
    if found.rate:
        note += f" {found.rate.words()}"
    table = Table(heads=("Chip", *(WAYS[way] for way in ways)), rows=rows, labelled=True)
    return Section(table=table, note=note if rows else "")


def _price(found: WeekFacts, row: Row | None) -> Cell:
    if row is None:
        return Cell(text=wording.UNKNOWN)
    places = wording.places_of([row["price_usd"]])
    note = wording.listed(row["service_provider_name"], row["tier"])
    if row["way"] in ("one_year", "three_years"):
        note = wording.listed(COMMITMENTS.get(row["purchase_option"]), (row["purchase_payment_model"] or "").lower())
    elif row["way"] == "aws_on_demand":
        note = ""
    elif row["way"] == "spot":
        note = wording.listed(note, row["availability_zone_id"], by=" ")
    other = found.rate.amount(row["price_usd"], places) if found.rate else None
    return Cell(
        text=wording.amount(row["price_usd"], places),
        notes=tuple(news.brief(part, most=40) for part in (note, other) if part),
    )


def _tokens(found: WeekFacts) -> Section:
    point = found["token_point"].to_dicts()
    costs = [row for row in found["token_cost"].to_dicts() if (row["option_kind"], row["place"]) in TOKEN_WAYS]
    by_chip: dict[str, dict[tuple[str, str], Row]] = {}
    for row in costs:
        by_chip.setdefault(row["accelerator_name"], {})[row["option_kind"], row["place"]] = row
    rows = tuple(
        (Cell(text=news.brief(chip)), *(_token_cost(of_chip.get(way)) for way in TOKEN_WAYS))
        for chip, of_chip in by_chip.items()
    )
    split = found["token_split"].to_dicts()
    if not point or not (rows or split):
        return Section()
    at = point[0]
    speed = f", {at['interactivity']:,.0f} tokens a second for each user" if at["interactivity"] is not None else ""
    lengths = f", {at['input_length']:,.0f} tokens in and {at['output_length']:,.0f} out" if at["input_length"] else ""
    note = f"USD per million output tokens: {news.brief(at['model_name'])}{lengths}{speed}."
    if rows:
        note += f" Prices as of {news.on(found.built_at, found)}."
        note += _spot_note({row["price_kind"] for row in costs if row["option_kind"] == "spot"})
    return Section(
        sentences=tuple(_token_split(row, found) for row in split),
        table=Table(heads=("Chip", *TOKEN_WAYS.values()), rows=rows, labelled=True),
        note=note,
    )


def _spot_note(kinds: Set[str]) -> str:
    """Return what the costs on spot are of, by the kinds of their prices: means, or the last price seen."""
    means = " Spot is a mean of 7 or 30 days" if kinds - {"price"} else ""
    if "price" not in kinds:
        return f"{means}." if means else ""
    return f"{means}; {LAST_SEEN}: one price, no mean." if means else f" Spot, {LAST_SEEN}: one price, no mean."


def _token_split(row: Row, found: WeekFacts) -> str:
    """Return the lowest cost on demand on any chip, and what moved it in 90 days, in the parts of the page of drift."""
    chip = news.brief(row["accelerator_name"])
    start = (
        f"The lowest seen on demand, on any chip: {wording.significant(row['usd_after'])} "
        f"({chip}, {news.brief(row['service_provider_name'])})"
    )
    since = news.on(row["window_begins_on"], found)
    if row["drift"] is None:
        return f"{start}; none was known on {since}."
    parts = ", ".join(f"{name} {wording.percent(exp(row[effect]) - 1)}" for effect, name in wording.EFFECTS.items())
    return f"{start}; since {since} {wording.percent(row['drift'])}: {parts}."


def _token_cost(row: Row | None) -> Cell:
    if row is None or row["usd_per_million_output_tokens"] is None:
        return Cell(text=wording.UNKNOWN)
    who = "" if row["place"] == "AWS" else news.brief(row["service_provider_name"], most=40)
    seen = LAST_SEEN if row["option_kind"] == "spot" and row["price_kind"] == "price" else ""
    notes = tuple(note for note in (who, seen) if note)
    return Cell(text=wording.significant(row["usd_per_million_output_tokens"]), notes=notes)


def _corrected(found: WeekFacts) -> Section:
    rows = found["taken_back"].to_dicts()
    own = [row for row in rows if row["is_of_chips"]]
    shown = []
    for row in own[:MAX_CORRECTED]:
        places = wording.places_of_pairs([(row["wrong_price"], row["right_price"])])
        wrong, right = (wording.amount(row[name], places) for name in ("wrong_price", "right_price"))
        option = "" if row["purchase_option"] == "on_demand" else f", {wording.option(row['purchase_option'])}"
        what = f"{news.chip_of(row)} at {news.brief(row['service_provider_name'])}{option}"
        unit = news.currency(row)
        of = f" ({wording.count(row['n_offers'], 'offer')})" if row["n_offers"] > 1 else ""
        shown.append(
            f"{what}: {wrong} {unit} of {news.on(row['wrong_at'], found)} was a mistake; {right} again on "
            f"{news.on(row['back_at'], found)}{of}."
        )
    left = sum(row["n_offers"] for row in rows) - sum(row["n_offers"] for row in own[:MAX_CORRECTED])
    if left:
        shown.append(f"{wording.count(left, 'more price')} corrected within 7 days, which the page has.")
    note = "A price that is back within 7 days is a correction, and in no other number." if shown else ""
    withdrawn = found["withdrawn"].to_dicts()
    named = sorted(withdrawn, key=lambda row: row["accelerator_name"] not in found.chips)[:MAX_CORRECTED]
    withdrawals = [news.withdrawn(row, found.last_day) for row in named]
    if left := sum(row["n_offers"] for row in withdrawn) - sum(row["n_offers"] for row in named):
        withdrawals.append(f"{wording.count(left, 'more price')} withdrawn, which int.price_change has.")
    return Section(sentences=(*withdrawals, *shown), note=note)


def _of_sentences(make: Callable[[WeekFacts], Iterable[str]]) -> Maker:
    """Return what makes a section of sentences alone."""
    return lambda found: Section(sentences=tuple(make(found)))


def _of_fleet(name: str) -> Maker:
    return _of_sentences(lambda found: [f"{part[:1].upper()}{part[1:]}." for part in getattr(found.fleet, name, ())])


SECTIONS: dict[str, tuple[str, Maker]] = {
    "happened": ("What happened", _of_sentences(news.happened)),
    "moves": ("Biggest moves", _moves),
    "also": ("Also this week", _also),
    "fleet": ("Your fleet", _of_fleet("you")),
    "due": ("Commitments that end soon", _of_fleet("due")),
    "tokens": ("What a million tokens costs", _tokens),
    "cheapest": ("Cheapest now, by way to buy", _cheapest),
    "wrong": ("What we got wrong", _corrected),
    "unseen": ("What we could not see", _of_sentences(news.not_seen)),
}
"""The sections in their order; one with nothing to say is left out."""


def opening(found: WeekFacts) -> str:
    """Return the line at the top: which week, and whose chips."""
    first, last = found.week.since, found.last_day
    state = "" if found.is_over else f", so far (until {wording.minute(found.as_of)})"
    span = f"{wording.near(first, last)} to {wording.date(last)}".replace(wording.NBSP, " ")
    chips = ", ".join(news.line(chip) for chip in found.chips)
    return f"chipledger, week {found.week.number} of {found.week.year} ({span}){state}. Your chips: {chips}."


def closing(found: WeekFacts, *, in_mail: bool = False) -> str:
    """Return the line at the end: what a week is and what it was made of; in a mail, which has no header, when."""
    file = f"; file of {wording.minute(found.built_at)}" if in_mail else ""
    known = "was known when it ended" if found.known_then else "is known now"
    return (
        f"Week {found.week}, Monday to Sunday, UTC, from what {known}{file}. "
        "Spot and market prices move by themselves and are on the page."
    )


def preheader(made: Brief) -> str:
    """Return the second fact, which programs show beside the subject."""
    first: Sequence[str] = made.sections[0].sentences if made.sections else ()
    return first[0] if first else ""
