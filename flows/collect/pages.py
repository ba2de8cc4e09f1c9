"""Writing the static site of a data directory, as its settings have it."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from flows.config.settings import Settings
from flows.shared import Clock, query

if TYPE_CHECKING:
    from flows.collect.summary import Summary

OF_ALL = "Charts, changes and gaps are of all regions."


def write(settings: Settings, file: Path, *, draw: bool | None = None) -> Path:
    """Write all pages of a published file and return the path of the overview. Raises ChipledgerError.

    `draw` says whether charts are drawn; None: where a price is current, which none of the archive is.
    """
    from reports.pages import site

    with duckdb.connect(str(file), read_only=True) as con:
        query.refuse_older(con, file)
    chosen, regions = settings.site, settings.decision.regions
    write_site = partial(
        site.write,
        file,
        settings.data_dir / "reports",
        local=chosen.claims,
        draw=draw if chosen.charts else False,
        shown_in=settings.reporting_currency,
        chips=chosen.chips,
    )
    if not regions:
        return write_site()
    from flows.decisions import regions as allowed

    with allowed.opened(file, regions) as standing:
        notes = [*allowed.lines(allowed.as_dict(regions, allowed.left_out(standing, regions))), OF_ALL]
        return write_site(standing=standing, regions=" ".join(notes))


def noted(settings: Settings, summary: "Summary", *, clock: Clock) -> Path:
    """Write the week, which the pages list, and all pages of a summary's file; return the front page's path.

    The summary learns what failed. Raises ValueError where nothing was published.
    """
    from flows.mail import weekly_steps
    from reports.pages import guard

    if summary.file is None:
        raise ValueError("nothing was published")
    summary.week_faults = weekly_steps.after_run(settings, summary.file, clock=clock)
    with guard.noted() as faults:
        summary.report = page = write(settings, summary.file)
    summary.page_faults, summary.chips = tuple(faults), settings.site.chips
    return page
