"""The drift report: change over 7, 30, 90 and 365 days by chip, provider and purchase option, like for like."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from html import escape
from itertools import groupby
from math import exp
from pathlib import Path

import duckdb
import polars as pl
from great_tables import GT, html

from reports import wording
from reports.pages import front_page, front_words, guard
from reports.pages.frame import frame, section
from reports.queries import Row, ask
from reports.tables import drift_tokens, sheet
from reports.tables.sheet import Sheet

PLACE = "drift.html"
WINDOWS = (7, 30, 90, 365)
HEADS = {
    "series": "Provider",
    "d7": "7 days",
    "d30": "30 days",
    "d90": "90 days",
    "d365": "365 days",
    "spark": "90 days",
    "mix": "mix effect<br>90 days",
    "n": "offers<br>compared",
}
MOST_ROWS = 400

Series = tuple[str, str, str, str]
Told = Mapping[Series, Mapping[int, Row]]


def render(file: Path) -> str:
    """Return the page of a published file; the same file gives the same bytes."""
    with duckdb.connect(str(file), read_only=True) as con:
        built_at, version = con.execute("select built_at, version from meta.build").fetchall()[0]
        rows = ask(con, "drift_row")
        tokens = ask(con, "token_drift")
    found = {key: {row["window_days"]: row for row in group} for key, group in groupby(rows, _key)}
    told = {key: windows for key, windows in found.items() if any(_known(row) for row in windows.values())}
    options = [option for option in wording.OPTIONS if any(key[2] == option for key in told)]
    parts = [
        section(
            f"drift-{option}",
            f"Price per chip-hour, {escape(wording.option(option))}",
            [guard.part(f"Drift {wording.option(option)}", partial(_option, told, option, built_at))],
        )
        for option in options
    ]
    silent = len(found) - len(told)
    day = front_words.date(built_at)
    return frame(
        title="Drift",
        headline=guard.part("The headline", lambda: headline(told)) if told else "No price can be compared yet",
        place=PLACE,
        built_at=built_at,
        version=version,
        kind="Drift",
        nav=[*((f"drift-{option}", wording.option(option)) for option in options), (drift_tokens.ANCHOR, "per token")],
        header=(
            f"<p>Each window ends on {day} and begins so many days before. A change compares each offer with itself, "
            "in its own currency; providers count equally, whatever they list. The mix effect is what the average did "
            "beyond that: offers that came and went, and their weights.</p>"
        ),
        main="\n".join((*parts, guard.part("Cost per token", lambda: drift_tokens.part(tokens))))
        + section(
            "how",
            "How it is computed",
            [
                "<p>Where prices are known on every day between, the change is that of the chained index, "
                "<code>mart.price_index</code>; else (marked *) it is that of the offers known on both days: "
                '<code>int.drift_report</code>, whose SQL is on <a href="tables.html">Tables</a>. A price counts where '
                "somebody confirmed it since the window began, and in the 90 days before that.</p>",
                f"<p>{wording.count(silent, 'series', 'series')} more without two prices to compare are in the table "
                "with their reason.</p>",
            ],
        ),
    )


def _option(told: Told, option: str, built_at: datetime) -> str:
    """Return the table of the chips, and folded below it that of each provider."""
    of_option = {key: windows for key, windows in told.items() if key[2] == option}
    chips = {key: windows for key, windows in of_option.items() if key[0] != "provider"}
    providers = {key: windows for key, windows in of_option.items() if key[0] == "provider"}
    first = sheet.to_html(table(chips, option, built_at, of_providers=False))
    if not providers:
        return first
    second = sheet.to_html(table(providers, option, built_at, of_providers=True))
    n = wording.count(len(providers), "series", "series")
    return f"{first}<details><summary>By provider: {n}</summary>{second}</details>"


def headline(told: Told) -> str:
    """Return how many chips rose and fell in 90 days on demand, and how many did not move."""
    rows = [
        windows[90]
        for (level, _, option, _), windows in told.items()
        if level == "chip" and option == "on_demand" and 90 in windows and windows[90]["drift"] is not None
    ]
    up = sum(row["drift"] > 0.0005 for row in rows)
    down = sum(row["drift"] < -0.0005 for row in rows)
    if not rows:
        return "No chip's price on demand can be compared over 90 days"
    return (
        f"On demand, {wording.count(up, 'chip')} rose in 90 days, {down:,} fell and {len(rows) - up - down:,} did not "
        "move, like for like"
    )


def table(told: Told, option: str, built_at: datetime, *, of_providers: bool) -> Sheet:
    """Return a table of one purchase option: the chips, or their providers in a group for each chip."""
    lines = [_line(key, windows, built_at) for key, windows in told.items()][:MOST_ROWS]
    heads = {**HEADS, "series": "Provider" if of_providers else "Chip"}
    columns = {"chip": pl.String, **dict.fromkeys(HEADS, pl.String)}
    name = f"drift-{'providers' if of_providers else 'chips'}-{option}".replace("_", "-")
    frame_of = pl.DataFrame(lines, schema=columns, orient="row")
    gt = GT(
        frame_of if of_providers else frame_of.drop("chip"),
        id=name,
        rowname_col="series",
        groupname_col="chip" if of_providers else None,
    )
    words = wording.OPTIONS[option]
    by = "by provider" if of_providers else "by chip"
    gt = (
        gt.tab_header(
            title=f"{words[0].upper()}{words[1:]}: change like for like, {by}",
            subtitle="Over each window; a dash: nothing to compare. * offers known on both days.",
        )
        .tab_stubhead(html(heads["series"]))
        .cols_label({key: html(head) for key, head in heads.items() if key != "series"})
        .cols_align("right")
        .fmt(str, columns=list(HEADS))
    )
    return Sheet(id=name, gt=gt)


def _key(row: Row) -> Series:
    return (
        row["index_level"],
        row["accelerator_name"] or "",
        row["purchase_option"] or "",
        row["service_provider_name"] or "",
    )


def _known(row: Row) -> bool:
    return row["drift"] is not None


def _line(key: Series, windows: Mapping[int, Row], built_at: datetime) -> dict[str, str]:
    level, chip, _, provider = key
    quarter = windows.get(90, {})
    names = {"all": "All chips, equal weights", "chip": chip}
    mix = quarter.get("mix_effect")
    compared = [row["n_matched"] for row in windows.values() if row["n_matched"]]
    return {
        "chip": chip or "All chips",
        "series": escape(names[level]) if level in names else escape(wording.short(provider, most=40)),
        **{f"d{days}": _cell(windows.get(days)) for days in WINDOWS},
        "spark": front_page.spark(quarter, built_at) if quarter else "",
        "mix": wording.UNKNOWN if mix is None else front_words.change(exp(mix) - 1),
        "n": f"{max(compared):,}" if compared else wording.UNKNOWN,
    }


def _cell(row: Row | None) -> str:
    if row is None or row["drift"] is None:
        reason = row["unknown_reason"] if row else "unknown"
        return f'<span class="no" title="{escape(reason or "unknown")}">{wording.UNKNOWN}</span>'
    kind = "fall" if row["drift"] < -1e-9 else "rise" if row["drift"] > 1e-9 else "same"
    mark = "*" if row["drift_method"] == "matched" else ""
    title = f"{row['window_begins_on']} to {row['window_ends_on']}, {row['n_matched'] or 0} offers"
    return f'<span class="{kind}" title="{escape(title)}">{front_words.change(row["drift"])}{mark}</span>'
