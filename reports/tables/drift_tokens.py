"""The drift of costs per token on the page of drift: each chip and purchase option, and what moved it in 90 days."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from math import exp

import polars as pl
from great_tables import GT, html

from reports import wording
from reports.pages import front_words
from reports.pages.frame import section
from reports.queries import Row
from reports.tables.sheet import Sheet, to_html

ANCHOR = "drift-tokens"
WINDOWS = (7, 30, 90, 365)
EFFECTS = {
    "price_effect": "prices",
    "new_provider_effect": "newly seen<br>providers",
    "evidence_effect": "software",
    "new_chip_effect": "new chips",
}
HEADS = {
    "chip": "Chip",
    **{f"d{days}": f"{days} days" for days in WINDOWS},
    "usd": "USD now",
    **EFFECTS,
}

Key = tuple[str, str, str]
"""Purchase option, commitment class, chip."""


def part(rows: Sequence[Row]) -> str:
    """Return the section: the front page's model on demand open, its other options and other models folded."""
    tables, folded = [], []
    for number, ((model, is_headline), group) in enumerate(
        groupby(rows, lambda row: (row["model_name"], row["is_headline"] and row["purchase_option"] == "on_demand"))
    ):
        own = [*group]
        told = _told(own)
        if not told:
            continue
        made = to_html(table(f"{ANCHOR}-{number}", own[0], told))
        named = f"{escape(str(model))}: {wording.count(len(told), 'series', 'series')}"
        if is_headline:
            tables.append(made)
        else:
            folded.append(f"<details><summary>{named}</summary>{made}</details>")
    if folded:
        tables.append(f"<details><summary>Other purchase options and models</summary>{''.join(folded)}</details>")
    if not tables:
        tables.append("<p>No cost per token was known both now and when a window began.</p>")
    first = (
        "<p>The best cost at one operating point, at full load, by the prices and runs known on each day. The parts of "
        "90 days multiply to the change. A provider whose offer was newly seen is a part of its own: no price "
        "fell. The table is <code>int.token_drift</code>.</p>"
    )
    return section(ANCHOR, "Cost per million output tokens", [first, *tables])


def _told(rows: Sequence[Row]) -> dict[Key, dict[int, Row]]:
    """Return the series with a change over any window, by window."""
    found: dict[Key, dict[int, Row]] = {}
    for row in rows:
        key = row["purchase_option"], row["commitment_class"] or "", row["accelerator_name"]
        found.setdefault(key, {})[row["window_days"]] = row
    return {key: each for key, each in found.items() if any(row["drift"] is not None for row in each.values())}


def table(name: str, point: Row, told: Mapping[Key, Mapping[int, Row]]) -> Sheet:
    """Return the table of one point: a line for each chip, in a group for each purchase option."""
    lines = []
    for (option, term, chip), windows in told.items():
        quarter = windows.get(90, {})
        words = {"one_year": ", 1 year", "three_years": ", 3 years"}.get(term, "")
        lines.append(
            {
                "option": f"{wording.OPTIONS.get(option, option)}{words}",
                "chip": escape(chip),
                **{f"d{days}": _cell(windows.get(days)) for days in WINDOWS},
                "usd": wording.significant(next(iter(windows.values()))["usd_after"]),
                **{effect: _share(quarter.get(effect)) for effect in EFFECTS},
            }
        )
    columns = {"option": pl.String, **dict.fromkeys(HEADS, pl.String)}
    speed = f", {point['interactivity']:.0f} tok/s per user" if point["interactivity"] else ""
    at = " ".join(str(point[part]) for part in ("model_name", "precision", "scenario") if point[part])
    first = next(iter(told.values()))
    span = f"90 days from {first[90]['window_begins_on']} to {first[90]['window_ends_on']}" if 90 in first else ""
    gt = (
        GT(pl.DataFrame(lines, schema=columns, orient="row"), id=name, rowname_col="chip", groupname_col="option")
        .tab_header(title=f"{at}{speed}", subtitle=span)
        .tab_stubhead(html(HEADS["chip"]))
        .cols_label({key: html(head) for key, head in HEADS.items() if key != "chip"})
        .tab_spanner("of the 90 days", columns=list(EFFECTS))
        .cols_align("right")
        .fmt(str, columns=list(HEADS))
    )
    return Sheet(id=name, gt=gt)


def _cell(row: Row | None) -> str:
    if row is None or row["drift"] is None:
        reason = (row or {}).get("unknown_reason") or "unknown"
        return f'<span class="no" title="{escape(reason)}">{wording.UNKNOWN}</span>'
    kind = "fall" if row["drift"] < -1e-9 else "rise" if row["drift"] > 1e-9 else "same"
    title = f"{row['window_begins_on']} to {row['window_ends_on']}"
    return f'<span class="{kind}" title="{title}">{front_words.change(row["drift"])}</span>'


def _share(effect: float | None) -> str:
    return wording.UNKNOWN if effect is None else front_words.change(exp(effect) - 1)
