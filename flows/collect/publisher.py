"""Publish a log: the file of prices with all marts, the private file, and the pages."""

import logging
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import duckdb

from extract import SOURCES
from flows.collect import offline, pages
from flows.collect.collector import Clock
from flows.collect.source_table import source_rows
from flows.collect.summary import Summary
from flows.config.settings import RankingSettings, Settings
from transform.audit import tables as audit_tables
from transform.formula import create_formulas
from transform.models import ALIASES, MACROS, MARTS, PUBLIC
from warehouse.errors import ChipledgerError
from warehouse.publish.published_file import publish

LOG = logging.getLogger(__name__)


class Publisher:
    """Publishes the log of one run, and writes into the run's summary what was made and what failed."""

    def __init__(self, settings: Settings, con: duckdb.DuckDBPyConnection, clock: Clock, summary: Summary) -> None:
        self.settings = settings
        self.con = con
        self.clock = clock
        self.summary = summary

    def publish(self) -> Path:
        """Build, verify and replace the published file, then build the private one; return the path of the first."""
        self.summary.file = publish_log(self.con, self.settings.data_dir, self.clock(), ranking=self.settings.ranking)
        self._build_private()
        return self.summary.file

    def report(self) -> Path:
        """Write the week and the pages of the published file; return the front page's path."""
        return pages.noted(self.settings, self.summary, clock=self.clock)

    def _build_private(self) -> None:
        """Build the private file, if the settings name one; the summary shows its error, which stops nothing.

        The summary is stored and sent: it names file, place and field of an error, and no value.
        """
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
