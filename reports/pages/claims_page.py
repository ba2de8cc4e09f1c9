"""The page "What is written, and what holds": each audited number with its verdict then and today, and the sums.

It judges numbers, not their authors. It is meant for the reader's own machine: whoever publishes it says so.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from markupsafe import Markup

from reports import wording
from reports.pages import evidence_page, front_page, guard
from reports.pages.frame import frame
from reports.queries import Published, Row
from reports.tables.table import Column, Number, Table, link, small, span
from reports.templating import macro
from reports.templating import render as rendered

PLACE = "claims.html"
SEPARATOR = "; "
MEANINGS = wording.words_of("verdict")
"""How a claim may stand, what failed first, and what that means."""
CHIPS = ("H100", "H200", "B200", "Trainium1", "Trainium3")
"""The chips of the table of savings: those of the text, and their like."""
WAYS = wording.words_of("saving")
SPOT = ("spot_lowest", "spot_highest")

_claim = macro("claim_cells.html.j2", "claim")
_arithmetic = macro("claim_cells.html.j2", "arithmetic")
_stated = macro("claim_cells.html.j2", "stated")


def render(published: Published) -> str:
    """Return the page of a published file; the same file gives the same bytes."""
    rows, pairs = published.ask("claim"), published.ask("claim_pair")
    return frame(
        "claims.html.j2",
        headline=headline(rows),
        place=PLACE,
        build=published.build,
        counts=counts(rows) if rows else None,
        plans=guard.part("The table of savings", lambda: _savings(published)),
        claims=every(rows) if rows else None,
        pairs=disagreements(pairs) if pairs else None,
    )


def headline(rows: Sequence[Row]) -> str:
    """Return how many of the numbers hold today, and how the others fail, in a sentence."""
    if not rows:
        return "No published number was audited"
    today = Counter(row["standing_today"] for row in rows)
    failed = [f"{today[name]:,} {_spaced(name)}" for name in list(MEANINGS)[:3] if today[name]]
    holding = f"{today['consistent']:,} of {wording.count(len(rows), 'published number')} hold today"
    return f"{holding}; {wording.few(failed)}" if failed else holding


def counts(rows: Sequence[Row]) -> Table:
    """Return how the claims stand, on their dates and today, with the kinds of claims of each verdict."""
    then, today = (Counter(row[column] for row in rows) for column in ("standing", "standing_today"))

    def kinds(row: Row) -> str:
        counted = Counter(each["claim_kind"] for each in rows if each["standing_today"] == row["name"])
        return span(wording.listed(*(f"{n} {kind}" for kind, n in counted.most_common())) or "none", "long")

    return Table(
        id="verdicts",
        title=f"{wording.count(len(rows), 'number')} of {wording.count(len({row['article'] for row in rows}), 'text')}",
        subtitle="By verdict.",
        rows=[{"name": name} for name in MEANINGS if then[name] or today[name]],
        columns=[
            Column("Verdict", lambda row: _spaced(row["name"]) + small(MEANINGS[row["name"]])),
            Number("On its\ndate", lambda row: then[row["name"]]),
            Number("Today", lambda row: today[row["name"]]),
            Column("Kinds of claims, today", kinds),
        ],
        note="Only “consistent” is sound: a number that follows from one that failed is never counted there.",
    )


def every(rows: Sequence[Row]) -> Table:
    """Return one row a claim: as its text has it, how it stood and stands, and its sums one click away."""
    ids = {row["claim_id"] for row in rows}

    def about(row: Row) -> str:
        conditions = (row["claim_id"], row["claim_conditions"], row["place"], row["claimed_as_of"] or "undated")
        return _claim(row, wording.listed(*conditions, by=SEPARATOR))

    def why(row: Row) -> str:
        names = ("readings", "bounds", "rests_on", "evidence_documents")
        return _arithmetic(row, ids, **{name: row[name].split(SEPARATOR) if row[name] else [] for name in names})

    return Table(
        id="audit",
        title="Every number, then and today",
        subtitle="As its text has it: with its hedge, conditions and date.",
        rows=rows,
        columns=[
            Column("Claim", about),
            Column("Text", lambda row: small(row["article_title"] or row["article"] or wording.UNKNOWN), pick=True),
            Column("Metric", lambda row: small(_spaced(row["metric"])), pick=True),
            Column("On its date", lambda row: _spaced(row["standing"]), pick=True),
            Column("Today", lambda row: _spaced(row["standing_today"]), pick=True),
            Column("Why", why),
        ],
    )


def disagreements(pairs: Sequence[Row]) -> Table:
    """Return the pairs of texts that say different things of one quantity, with both and the evidence's."""

    def side(row: Row, which: str) -> str:
        claim = link(f"{row[f'{which}claimed']} {row['unit']}", f"#c-{row[f'{which}claim_id']}")
        return claim + small(_spaced(row[f"{which}standing"]))

    def evidence(row: Row) -> str:
        value = row["recomputed_value"]
        return "nothing decides" if value is None else f"{wording.significant(value, 4)} {row['unit']}"

    return Table(
        id="pairs",
        title=f"{wording.count(len(pairs), 'pair')} of numbers that cannot both hold",
        subtitle="One quantity in two texts; what decides is the history or published figures.",
        rows=pairs,
        columns=[
            Column("Quantity", lambda row: span(row["subject"], "long") + small(row["quantity"])),
            Column("One text", lambda row: side(row, "")),
            Column("Another", lambda row: side(row, "other_")),
            Column("The evidence", evidence),
        ],
    )


def _spaced(name: str) -> str:
    return name.replace("_", " ")


# --- what plans, Reserved Instances, spot and Capacity Blocks save against on demand


def offers(published: Published) -> set[int | None]:
    """Return the offers of the table of savings."""
    return {row["offer_id"] for row in published.of_chips("option_saving", CHIPS)}


def _savings(published: Published) -> Markup:
    """Return the table of savings, and the chips that nobody is known to sell."""
    cells = front_page.by_chip(published.of_chips("option_saving", CHIPS), "way_to_buy")
    unseen = [
        chip
        for chip in CHIPS
        if chip in cells and all(row["unknown_reason"] == "unknown" for row in cells[chip].values())
    ]
    return rendered(
        "savings.html.j2",
        table=savings(cells, published.ask("claimed_saving"), published.build[0]) if cells else None,
        unseen=wording.unseen(published.ask("front_unseen")[0], unseen) if unseen else "",
    )


def savings(cells: Mapping[str, Mapping[str, Row]], claims: Sequence[Row], built_at: datetime) -> Table:
    """Return the table: a row for each way to buy, a column for each chip, and one for what the text says of it."""
    stated = {(row["subject"], row["claimed_way"]): _stated(row) for row in claims}

    def of_chip(chip: str) -> Iterator[Column]:
        if any(subject == chip for subject, _ in stated):
            yield Column(f"{chip}:\nthe text", lambda row: stated.get((chip, row["claimed"]), span("not stated", "no")))
        yield Column(chip, lambda row: _saving(cells[chip].get(row["way"])))

    columns = [Column("Way to buy", lambda row: WAYS[row["way"]])]
    columns += [column for chip in CHIPS if chip in cells for column in of_chip(chip)]
    priced = [row for of_chip in cells.values() for row in of_chip.values() if row["last_observed_at"]]
    days = [row["last_observed_at"] for row in priced]
    seen = f"seen {wording.date(min(days))} to {wording.date(max(days))}" if days else "none seen"
    return Table(
        id="savings",
        title="What plans and spot save against on demand at AWS",
        subtitle=f"US dollars per chip-hour and saving against on demand of the same machine, {seen}, as of "
        f"{wording.date(built_at)}. Plans in the region of the on-demand price, the lowest of each term, upfront "
        "fee spread over it; spot in all US zones.",
        rows=[
            {"way": way, "claimed": "spot" if way in SPOT else way}
            for way in WAYS
            if any(way in of_chip for of_chip in cells.values())
        ],
        columns=columns,
        note="Each price leads to its document. The same in SQL: `from int.option_saving`.",
    )


def _saving(row: Row | None) -> str:
    if row is None or row["price_per_accelerator_hour_usd"] is None:
        return span((row or {}).get("unknown_reason") or wording.UNKNOWN, "no")
    notes = [
        _share(row),
        wording.plan(row) if row["purchase_option"] in ("reserved", "savings_plan") else "",
        row["availability_zone_id"] or row["region_id"],
        _mean(row),
        f"{wording.date(row['last_observed_at'])}, "
        f"{evidence_page.KINDS.get(row['evidence_kind'] or '', 'evidence unknown')}",
    ]
    return front_page.price(row, 2) + Markup().join(map(small, notes))


def _share(row: Row) -> str:
    share = row["saved_share"]
    if row["way_to_buy"] == "on_demand":
        return ""
    if share is None:
        return "saving unknown"
    return f"{abs(share) * 100:.1f} % {'less' if share >= 0 else 'more'}"


def _mean(row: Row) -> str:
    if row["way_to_buy"] not in SPOT:
        return ""
    mean = row["mean_price_per_accelerator_hour_30d"]
    return "30-day mean unknown" if mean is None else f"30-day mean {wording.price(mean)}"
