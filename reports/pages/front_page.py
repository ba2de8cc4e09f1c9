"""The front page, `index.html`: what each chip costs, each way to buy it; every price leads to its evidence."""

import itertools
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from html import escape

import polars as pl
from great_tables import GT, html

from reports import wording
from reports.charts import front_chart, sparkline
from reports.pages import front_words, guard
from reports.pages.frame import frame
from reports.pages.front_facts import Front
from reports.pages.front_words import PRICE
from reports.queries import Row
from reports.tables import sheet
from reports.tables.sheet import Sheet, small

PLACE = "index.html"
TOKENS = {"token_on_demand": "on_demand", "token_1y": "one_year", "token_spot": "spot"}
OPTIONS = ("aws_on_demand", "aws_1y", "aws_3y", "aws_spot", "elsewhere")
HEADS = {
    "chip": "Chip",
    "aws_on_demand": "on demand",
    "aws_1y": "best 1-year",
    "aws_3y": "best 3-year",
    "aws_spot": "spot, by zone",
    "elsewhere": "cheapest seen",
    "change": "change",
    "token_on_demand": "on demand",
    "token_1y": "1-year",
    "token_spot": "spot",
    "age": "age,<br>days",
}


def render(front: Front, *, trouble: str = "", links: Sequence[tuple[str, str]] = ()) -> str:
    """Return the page; the same facts give the same bytes.

    `trouble` is what was not read and limits the headline; `links` are other pages: path, words.
    """
    others = " \N{MIDDLE DOT} ".join(f'<a href="{escape(path)}">{escape(words)}</a>' for path, words in links)
    day = f"{front.built_at:%Y-%m-%d}"
    return frame(
        title="What AI accelerators cost",
        headline=f"{front_words.headline(front)}{trouble}.",
        place=PLACE,
        built_at=front.built_at,
        version=front.version,
        header=(
            f'<p class="trust"><a href="sources.html">{escape(front_words.trust(front))}</a> '
            f'<a href="sources.html#checked">{escape(front_words.checked(front))}</a></p>'
        ),
        main="\n".join(
            (
                guard.part("The table of chips", lambda: sheet.to_html(table(front))),
                '<div class="two">',
                guard.part("The chart", lambda: _chart(front)),
                guard.part("The bill", lambda: _bill(front)),
                "</div>",
            )
        ),
        footer=(
            f"Cite: chipledger, accelerator prices as of {day}. "
            f'<a href="evidence.html">Every price with its document and SQL</a>. {others}'
        ),
        kind="front",
    )


def table(front: Front) -> Sheet:
    """Return the table of chips: one line each, purchase options side by side and never mixed."""
    shown = [chip for chip in front.chips if front.priced(chip) or chip in front.cells]
    places = wording.places_of(
        cell[PRICE] for chip in shown for name, cell in front.cells[chip].items() if name in OPTIONS
    )
    frame = pl.DataFrame(
        [_line(front, chip, places) for chip in shown], schema=dict.fromkeys(HEADS, pl.String), orient="row"
    )
    gt = (
        GT(frame, id="chips", rowname_col="chip")
        .tab_header(title=_title(front, shown), subtitle=_scope(front))
        .tab_stubhead(html(HEADS["chip"]))
        .cols_label({name: html(head) for name, head in HEADS.items() if name != "chip"})
        .tab_spanner("AWS", columns=["aws_on_demand", "aws_1y", "aws_3y", "aws_spot"])
        .tab_spanner("Elsewhere", columns=["elsewhere"])
        .tab_spanner("90 days", columns=["change"])
        .tab_spanner("USD per million tokens", columns=list(TOKENS))
        .cols_align("right")
        .fmt(str, columns=list(HEADS))
    )
    if absent := [chip for chip in shown if _is_unknown(front.cells[chip])]:
        gt = gt.tab_source_note(html(f'<span class="no">{escape(front_words.unseen(front.unseen, absent))}</span>'))
    return Sheet(id="chips", gt=gt)


def _is_unknown(cells: Mapping[str, Row]) -> bool:
    return all(cell["unknown_reason"] == "unknown" for cell in cells.values())


def _title(front: Front, shown: Sequence[str]) -> str:
    n_priced = sum(front.priced(chip) for chip in shown)
    rest = len(shown) - n_priced
    lacking = f", {wording.count(rest, 'chip')} without any" if rest else ""
    return f"{wording.count(n_priced, 'chip')} with prices{lacking}, as of {front_words.date(front.built_at)}"


def _scope(front: Front) -> str:
    regions = {
        cell["region_id"]
        for cells in front.cells.values()
        for name, cell in cells.items()
        if name == "aws_on_demand" and cell["region_id"]
    }
    away = sorted(regions - {"us-east-1"})
    where = f"us-east-1 at AWS (else {', '.join(away)})" if away else "us-east-1 at AWS"
    return f"USD per chip-hour, Linux, {where}, spot in all US zones; upfront fees spread over the term.{_point(front)}"


def _point(front: Front) -> str:
    """Return what the costs per token are of."""
    point = front.point
    if point is None:
        return ""
    speed = f", {point['interactivity']:.0f} tok/s per user" if point["interactivity"] else ""
    words = " ".join(str(point[name]) for name in ("model_name", "precision") if point[name])
    return f" Tokens: {words}, {point['scenario']}{speed}, output, at full load."


def _line(front: Front, chip: str, places: int) -> dict[str, str]:
    cells = front.cells[chip]
    if _is_unknown(cells):
        unknown = dict.fromkeys((*OPTIONS, "change", *TOKENS, "age"), '<span class="no">unknown</span>')
        return {"chip": _chip(chip, "no price seen"), **unknown}
    drift = front.drifts.get(chip)
    ages = [cells[name]["age_days"] for name in OPTIONS if name in cells and cells[name]["age_days"] is not None]
    return {
        "chip": _chip(chip, _machine(cells)),
        **{name: _cell(cells.get(name), name, places, cells, front.built_at) for name in OPTIONS},
        "change": _change(drift, front.built_at),
        **{name: _token(front.tokens.get(chip, {}).get(kind)) for name, kind in TOKENS.items()},
        "age": f"{max(ages):.0f}" if ages else '<span class="no">unknown</span>',
    }


def _chip(chip: str, machine: str) -> str:
    return f"<b>{escape(chip)}</b>{small(machine)}"


def _machine(cells: Mapping[str, Row]) -> str:
    own = cells.get("aws_on_demand")
    if own is None or own["unknown_reason"] == "not sold":
        return "not at AWS"
    return own["instance_type"] or "at AWS"


def _cell(cell: Row | None, name: str, places: int, cells: Mapping[str, Row], built_at: datetime) -> str:
    if cell is None or cell[PRICE] is None:
        reason = (cell or {}).get("unknown_reason") or "unknown"
        block = cells.get("aws_block")
        if name == "aws_on_demand" and block and block[PRICE] is not None:
            return f'<span class="no">{escape(reason)}</span><small>Block {price(block, places)}</small>'
        return f'<span class="no">{escape(reason)}</span>'
    text = price(cell, places)
    if name == "aws_spot":
        if cell["highest_price_usd"] is not None and cell["highest_offer_id"] != cell["offer_id"]:
            text += f"\N{EN DASH}{price(cell, places, value='highest_price_usd', offer='highest_offer_id')}"
        unit = "zone" if cell["is_by_zone"] else "region"
        day = front_words.near(cell["last_observed_at"], built_at)
        seen = "" if cell["n_means"] else "last seen "
        return text + small(f"{wording.count(cell['n_places'] or 0, unit)}, {seen}{day}")
    if name in ("aws_1y", "aws_3y"):
        return text + small(front_words.terms(cell))
    if name == "elsewhere":
        tier = [str(cell["tier"])] if cell["tier"] and "_" not in cell["tier"] and len(cell["tier"]) < 10 else []
        return text + small(", ".join([wording.short(cell["service_provider_name"], most=18), *tier]))
    return text + (small(cell["region_id"]) if cell["region_id"] != "us-east-1" else "")


def price(cell: Row, places: int, *, value: str = PRICE, offer: str = "offer_id") -> str:
    """Return a price as a link to its evidence, with the offer that it is."""
    number = wording.amount(cell[value], places)
    if cell[offer] is None:
        return number
    return f'<a href="evidence.html#offer-{cell[offer]}" data-offer-id="{cell[offer]}">{number}</a>'


def _change(drift: Row | None, built_at: datetime) -> str:
    if drift is None or drift["drift"] is None:
        reason = (drift or {}).get("unknown_reason") or "no price known"
        words = "new" if reason.startswith("no price known on") else "not comparable" if drift else "not known"
        return f'<span class="no" title="{escape(reason)}">{words}</span>'
    kind = "fall" if drift["drift"] < -1e-9 else "rise" if drift["drift"] > 1e-9 else "same"
    offers = wording.count(drift["n_matched"] or 0, "offer")
    return f'<span class="{kind}" title="{offers}">{front_words.change(drift["drift"])}</span>{spark(drift, built_at)}'


WHY = (
    ("unknown: no run of the model", "no run"),
    ("unknown: no run is as fast", "too slow"),
    ("unknown: at most", "at most"),
    ("unknown: the last price", "old price"),
    ("unknown: no price", "no price"),
    ("unknown: no offer", "not this size"),
    ("unknown: the run", "weak run"),
)
"""Why there is no cost per token, in few words; the cell's title has the whole reason."""


def _token(row: Row | None) -> str:
    """Return a cost per token as a link to the price that it rests on, or why there is none."""
    if row is None or row["usd_per_million_output_tokens"] is None:
        reason = (row or {}).get("cost_basis") or "unknown"
        words = next((short for begin, short in WHY if reason.startswith(begin)), "unknown")
        return f'<span class="no" title="{escape(reason)}">{words}</span>'
    number = wording.significant(row["usd_per_million_output_tokens"])
    seen = {"mean_30d": "30-day mean", "mean_7d": "7-day mean"}.get(row["price_kind"] or "", "")
    note = small(seen) if seen else small(row["service_provider_name"]) if row["service_provider_name"] != "AWS" else ""
    title = f' title="{escape(row["cost_basis"] or "")}"'
    if row["offer_id"] is None:
        return number + note
    link = f'<a href="evidence.html#offer-{row["offer_id"]}" data-offer-id="{row["offer_id"]}"{title}>{number}</a>'
    if row["option_kind"] == "spot" and row["price_kind"] == "price":
        return f'<span class="no" title="{escape(row["offer_terms"] or "")}">{link}</span>{small("last seen")}'
    return link + note


def spark(drift: Row, built_at: datetime) -> str:
    """Return the sparkline of a row of int.drift_report; empty where nothing matches."""
    levels = [round(level, 6) for level in drift["sparkline"] or () if level is not None]
    points = [*zip(drift["spark_days"] or (), levels, strict=False), (0, 1.0)]
    if len(points) < 2:
        return ""
    spans = [
        (built_at - timedelta(days=days), built_at - timedelta(days=after), level)
        for (days, level), (after, _) in itertools.pairwise(points)
    ]
    spans.append((built_at, built_at, 1.0))
    return sparkline.draw(spans, since=built_at - timedelta(days=90), until=built_at)


def _chart(front: Front) -> str:
    return front_chart.figure(front.lines, front.chip, front.built_at) if front.chip else ""


def _bill(front: Front) -> str:
    told = front_words.bill(front)
    if not told:
        return ""
    items = "".join(f"<li>{escape(each)}</li>" for each in told)
    return (
        '<section class="bill" aria-labelledby="bill"><h2 id="bill">What would change your bill</h2>'
        f'<ul>{items}</ul><p class="sub">At list prices, by <a href="tables.html">int.front_bill</a>. For a plan of '
        "yours: <code>chipledger fleet</code>.</p></section>"
    )
