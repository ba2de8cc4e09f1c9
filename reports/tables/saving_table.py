"""What plans, Reserved Instances, spot and Capacity Blocks save against on demand, beside what a text says of it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from pathlib import Path

import duckdb
import polars as pl

from reports import wording
from reports.pages import evidence_page, front_words
from reports.queries import Row, ask
from reports.tables.sheet import Form, Sheet, sheet, small, to_html

CHIPS = ("H100", "H200", "B200", "Trainium1", "Trainium3")
"""The chips of the table: those of the text, and their like."""
WAYS = {
    "on_demand": "On demand",
    "savings_plan_1y": "1-year Savings Plan",
    "savings_plan_3y": "3-year Savings Plan",
    "reserved_1y": "1-year Reserved",
    "reserved_3y": "3-year Reserved",
    "spot_lowest": "Spot, lowest zone",
    "spot_highest": "Spot, highest zone",
    "capacity_block": "Capacity Block",
}
SPOT = ("spot_lowest", "spot_highest")


def render(con: duckdb.DuckDBPyConnection) -> str:
    """Return the table and what it leaves open, as HTML."""
    cells: dict[str, dict[str, Row]] = {}
    for row in ask(con, "option_saving", chips=list(CHIPS)):
        cells.setdefault(row["accelerator_name"], {})[row["way_to_buy"]] = row
    if not cells:
        return "<p>No price is known.</p>"
    (built_at,) = con.execute("select built_at from meta.build").fetchall()[0]
    unseen = [chip for chip in CHIPS if chip in cells and _is_unknown(cells[chip])]
    note = f'<p class="unseen">{escape(front_words.unseen(ask(con, "front_unseen")[0], unseen))}</p>' if unseen else ""
    return to_html(table(cells, ask(con, "claimed_saving"), built_at)) + note


def offers(file: Path) -> list[int]:
    """Return the offers of the table."""
    with duckdb.connect(str(file), read_only=True) as con:
        found = {row["offer_id"] for row in ask(con, "option_saving", chips=list(CHIPS))}
    return sorted(found - {None})


def table(cells: Mapping[str, Mapping[str, Row]], claims: Sequence[Row], built_at: datetime) -> Sheet:
    """Return the table: a row for each way to buy, a column for each chip, and one for what the text says of it."""
    said = {(row["subject"], row["claimed_way"]): row for row in claims}
    heads = {"way": "Way to buy"}
    for chip in (chip for chip in CHIPS if chip in cells):
        if any(subject == chip for subject, _ in said):
            heads[f"{chip} said"] = f"{chip}:<br>the text"
        heads[chip] = chip
    shown = [way for way in WAYS if any(way in of_chip for of_chip in cells.values())]
    rows = [
        {
            name: WAYS[way]
            if name == "way"
            else _said(said.get((name.removesuffix(" said"), "spot" if way in SPOT else way)))
            if name.endswith(" said")
            else _cell(cells[name].get(way))
            for name in heads
        }
        for way in shown
    ]
    priced = [row for of_chip in cells.values() for row in of_chip.values() if row["last_observed_at"]]
    days = [row["last_observed_at"] for row in priced]
    seen = f"seen {front_words.date(min(days))} to {front_words.date(max(days))}" if days else "none seen"
    return sheet(
        pl.DataFrame(rows, schema=dict.fromkeys(heads, pl.String)),
        Form(heads=heads, stub="way", marked=[name for name in heads if name != "way"]),
        id="savings",
        title="What plans and spot save against on demand at AWS",
        subtitle=f"US dollars per chip-hour and saving against on demand of the same machine, {seen}, as of "
        f"{front_words.date(built_at)}. Plans in the region of the on-demand price, the lowest of each term, upfront "
        "fee spread over it; spot in all US zones.",
        note="Each price leads to its document. The same in SQL: <code>from int.option_saving</code>.",
    )


def _is_unknown(of_chip: Mapping[str, Row]) -> bool:
    return all(row["unknown_reason"] == "unknown" for row in of_chip.values())


def _said(row: Row | None) -> str:
    if row is None:
        return '<span class="no">not stated</span>'
    hedge = f"{row['hedge']} " if row["hedge"] else ""
    return (
        f'<a href="#c-{escape(row["claim_id"])}"><q>{escape(hedge + row["claimed"])}</q></a>'
        f"{small(row['claim_conditions'])}{small(row['standing_today'].replace('_', ' '))}"
    )


def _cell(row: Row | None) -> str:
    price = None if row is None else row["price_per_accelerator_hour_usd"]
    if row is None or price is None:
        return f'<span class="no">{escape((row or {}).get("unknown_reason") or wording.UNKNOWN)}</span>'
    link = f"{evidence_page.PLACE}#offer-{row['offer_id']}"
    text = f'<a href="{link}" data-offer-id="{row["offer_id"]}">{wording.amount(price, 2)}</a>'
    terms = front_words.terms(row) if row["purchase_option"] in ("reserved", "savings_plan") else ""
    evidence = evidence_page.KINDS.get(row["evidence_kind"] or "", "evidence unknown")
    where = row["availability_zone_id"] or row["region_id"]
    lines = [_saving(row), terms, where, _mean(row), f"{front_words.date(row['last_observed_at'])}, {evidence}"]
    return text + "".join(small(line) for line in lines)


def _saving(row: Row) -> str:
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
    return "30-day mean unknown" if mean is None else f"30-day mean {wording.amount(mean, 2)}"
