"""Publish a log: the file of prices with all marts, the private file, and the pages."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path

import duckdb

from extract import SOURCES
from extract.base import Source
from flows.collect import offline
from flows.collect.summary import Summary
from flows.config.settings import RankingSettings, Settings
from flows.shared import Clock, query
from transform.audit import tables as audit_tables
from transform.formula import create_formulas
from transform.models import ALIASES, MACROS, MARTS, PUBLIC
from warehouse.errors import ChipledgerError
from warehouse.publish.building import SourceRow
from warehouse.publish.published_file import publish

LOG = logging.getLogger(__name__)


@dataclass
class Publisher:
    """Publishes the log of one run, and writes into the run's summary what was made and what failed."""

    settings: Settings
    con: duckdb.DuckDBPyConnection
    clock: Clock
    summary: Summary

    def publish(self) -> Path:
        """Build, verify and replace the published file, then build the private one; return the path of the first."""
        self.summary.file = publish_log(self.con, self.settings.data_dir, self.clock(), ranking=self.settings.ranking)
        self._build_private()
        return self.summary.file

    def report(self) -> Path:
        """Write the week and the pages of the published file; return the front page's path."""
        return report(self.settings, self.summary, clock=self.clock)

    def _build_private(self) -> None:
        """Build the private file, if the settings name one; of its error the summary, which is sent, has no value."""
        if not self.settings.private and not (self.settings.data_dir / "private.duckdb").exists():
            return
        from flows.private import private_file

        try:
            self.summary.private_file = private_file.build(self.settings, self.clock())
        except ChipledgerError as error:
            field = f" (field {error.field})" if error.field else ""
            self.summary.private_fault = f"{error.source or 'settings'}: {error.message}{field}"
        except (duckdb.Error, OSError) as error:
            self.summary.private_fault = type(error).__name__
        if self.summary.private_fault:
            LOG.warning("private file not built: %s", self.summary.private_fault)


def publish_log(con: duckdb.DuckDBPyConnection, folder: Path, built_at: datetime, *, ranking: RankingSettings) -> Path:
    """Build, verify and replace the published file of a log, with all marts; return its path.

    `ranking` has the highest age of a ranked price. A log of the archive alone is published as of the archive's day.
    """
    as_of = offline.as_of(con, built_at)
    max_age = offline.MAX_AGE if as_of else None
    return publish(
        con,
        folder,
        marts=MARTS,
        formulas=create_formulas,
        public=PUBLIC,
        aliases=ALIASES,
        macros=MACROS,
        computed=audit_tables.TABLES,
        # A generator: read only when the log is copied, from that copy.
        sources=(row for log in (con,) for row in source_rows(log, SOURCES, archive_max_age=max_age)),
        built_at=as_of or built_at,
        version=version("chipledger"),
        ranked_days=ranking.max_age_days,
        marketplace_days=ranking.marketplace_max_age_days,
    )


IMPORT_PRECEDENCE = 900
"""Behind every registered source."""


def source_rows(
    con: duckdb.DuckDBPyConnection, sources: Iterable[Source], *, archive_max_age: timedelta | None = None
) -> list[SourceRow]:
    """Return the rows of core.source: the registered sources, and one for each origin that was imported.

    The precedence of a source is its place among `sources`, from 1; imports come last.
    `archive_max_age`: how long prices of the archive count as current; None: never.
    """
    rows: list[SourceRow] = [
        (
            source.name,
            source.provider,
            source.title,
            source.kind,
            precedence,
            int(max_age.total_seconds() // 3600) if max_age else None,
            source.url,
        )
        for precedence, source in enumerate(sources, start=1)
        for max_age in [archive_max_age if source.name in offline.ARCHIVES else source.max_age]
    ]
    imported = con.execute(
        "select distinct source from core.scope_run where source like 'import:%' order by source"
    ).fetchall()
    titles = {name: f"Imported observations of {name.removeprefix('import:')}" for (name,) in imported}
    rows += [(name, "several", title, "import", IMPORT_PRECEDENCE, None, "") for name, title in titles.items()]
    return rows


OF_ALL = "Charts, changes and gaps are of all regions."


def write_pages(settings: Settings, file: Path, *, draw: bool | None = None) -> Path:
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
        notes = [*allowed.lines(allowed.as_dict(standing, regions)), OF_ALL]
        return write_site(standing=standing, regions=" ".join(notes))


def report(settings: Settings, summary: Summary, *, clock: Clock) -> Path:
    """Write the week, which the pages list, and all pages of a summary's file; return the front page's path.

    The summary learns what failed. Raises ValueError where nothing was published.
    """
    from flows.mail import weekly_steps
    from reports.pages import guard

    if summary.file is None:
        raise ValueError("nothing was published")
    summary.week_faults = weekly_steps.after_run(settings, summary.file, clock=clock)
    with guard.noted() as faults:
        summary.report = page = write_pages(settings, summary.file)
    summary.page_faults, summary.chips = tuple(faults), settings.site.chips
    return page
