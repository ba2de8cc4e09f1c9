"""What Prefect shows of a run beside its states: its page, the week's drift as a table, where the report is.

Text that came from elsewhere is escaped here, once; nothing of Prefect is imported.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import duckdb

from flows.collect.summary import Summary
from flows.config.settings import Settings
from flows.shared import query
from reports.wording import count

MAX_ERROR = 400
MAX_DRIFTS = 200

DRIFT = """
    select
        case index_level when 'all' then 'all chips' else accelerator_name end as chip,
        purchase_option,
        round(100 * drift, 2) as drift_percent,
        round(100 * level_change, 2) as level_percent,
        n_items_before as offers,
        n_moved as moved,
        n_new as new,
        n_gone as gone,
        is_thin as few_offers,
        is_provisional as provisional
    from mart.drift($since, $until)
    where
        drift is not null
        and (index_level = 'all' or (index_level = 'chip' and (drift <> 0 or n_new > 0 or n_gone > 0)))
    order by index_level = 'chip', abs(drift) desc, chip, purchase_option
    limit $most
"""
LAST_WEEK = "select (max(index_date) - 7)::DATE, max(index_date)::DATE from int.price_index where index_level = 'chip'"


def outcome(summary: Summary) -> str:
    """Return the outcome of a run in a sentence: how many fetches were fresh, and which scopes are stale."""
    stale = ", ".join(f"{result.source} {result.scope}" for result in summary.failed)
    if not summary.fresh:
        return f"nothing was fresh: {stale or 'no scope'}"
    fresh = len(summary.results) - len(summary.failed)
    parts = [f"{count(fresh, 'fetch', 'fetches')} fresh, {count(summary.n_events, 'change')}"]
    parts += [f"stale: {stale}"] if stale else []
    faults = [fault.partition(":")[0] for fault in summary.week_faults + summary.page_faults]
    parts += [f"could not be made: {', '.join(faults)}"] if faults else []
    return "; ".join(parts + ([f"private side not built: {summary.private_fault}"] if summary.private_fault else []))


def page(summary: Summary) -> Iterator[str]:
    """Yield the lines of the run's page in Markdown; text that came from elsewhere is escaped."""
    yield from (f"# chipledger run {summary.run_id}", "", escaped(outcome(summary)), "")
    file, report = (path and path.resolve() for path in (summary.file, summary.report))
    lines = replace(summary, file=file, report=report).lines()
    for line in takewhile(bool, lines):  # then come prices, which the report has
        yield f"- {escaped(line)}"
    if summary.failed:
        yield from ("", "## Without fresh prices", "", "| source | scope | error |", "| --- | --- | --- |")
        for result in summary.failed:
            yield f"| {escaped(result.source)} | {escaped(result.scope)} | {escaped(result.error or '')} |"


def drifts(file: Path) -> tuple[str, list[dict[str, Any]]]:
    """Return the last week of the drift index in a published file: what it is, and a row for each chip and option.

    All chips together come first, by purchase option. A chip is left out whose price could not be compared with itself,
    or that neither moved, came nor went; a file without an index has no rows.
    """
    with duckdb.connect(str(file), read_only=True) as con:
        since, until = con.execute(LAST_WEEK).fetchone() or (None, None)
        if until is None:
            return "The published file has no drift index yet", []
        rows = query.rows(con, DRIFT, {"since": since, "until": until, "most": MAX_DRIFTS})
    text = (
        f"Like-for-like drift of prices from {since} to {until}, in percent, by chip and purchase option: what was "
        "compared with itself. Level is what the mean of the list did, with all that came and went. Chips that neither "
        "moved, came nor went are left out"
    )
    return text, rows or [{"chip": "none", "purchase_option": "no price of that week could be compared with itself"}]


def address(settings: Settings, page: Path) -> tuple[str, str]:
    """Return the address of a page of the reports folder, and what it is: on the web if `site_url` of [mail] is set."""
    if not settings.mail.site_url:
        return page.resolve().as_uri(), "A file of the machine that ran it; `site_url` of [mail] makes it an address"
    return (
        f"{settings.mail.site_url}/{page.relative_to(settings.data_dir / 'reports').as_posix()}",
        "Where the reports folder is read",
    )


def escaped(text: str) -> str:
    """Return text on one line, shortened, with no secret and no character that means something in Markdown."""
    line = " ".join(without_secrets(text).split())
    short = line if len(line) <= MAX_ERROR else f"{line[: MAX_ERROR - 3]}..."
    return re.sub(r"([\\`*_{}\[\]<>|#~&!$])", r"\\\1", short)


def without_secrets(text: str) -> str:
    """Return text whose addresses have lost user, password and query, where signatures and keys are."""
    return re.sub(r"(https?://)(?:[^\s/@]*@)?([^\s?]*)(?:\?\S*)?", r"\1\2", text)
