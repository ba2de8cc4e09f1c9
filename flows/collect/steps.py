"""The steps of a run as plain functions and one value, so that they run and are tested without Prefect.

A run holds the writer's lock from its beginning to its end, or is one of several on a shared warehouse. Fetching may go
on in many threads; landing, loading and publishing happen in the thread that made the run.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from extract import SOURCES, observations, source_named
from extract.base import Context, Source, failing_alone, past_looks
from flows.backup import retention
from flows.collect import ingest, offline, pages
from flows.collect.offline import ARCHIVES
from flows.collect.source_table import source_rows
from flows.collect.summary import Summary
from flows.config.settings import RankingSettings, Settings
from flows.shared import query, redact, user_file
from transform.audit import tables as audit_tables
from transform.models import ALIASES, MACROS, MARTS, PUBLIC, create_formulas
from warehouse import disk
from warehouse.documents import Document, Look, Whole
from warehouse.errors import ChipledgerError, CredentialsMissing, SourceError
from warehouse.lake import ducklake
from warehouse.landing.folder import Landing
from warehouse.landing.journal import own_part
from warehouse.log import db
from warehouse.log.events import naive
from warehouse.log.load import LookResult
from warehouse.publish.published_file import publish

if TYPE_CHECKING:
    from extract.web.interface import Web

LOG = logging.getLogger(__name__)
WHOLE_SOURCE = "all"
"""The scope of a failure to list a source's scopes."""

Clock = Callable[[], datetime]
Progress = Callable[[str], None]


def utc_now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """What fetching one scope gave: looks, or an error that says why there are none."""

    source: str
    scope: str
    looks: tuple[Look, ...] = ()
    error: SourceError | None = None


class Run:
    """One run over one data directory; made by `open_run`, which holds the lock."""

    def __init__(
        self, settings: Settings, con: duckdb.DuckDBPyConnection, landing: Landing, clock: Clock, progress: Progress
    ) -> None:
        self.settings = settings
        self.con = con
        self.clock = clock
        self.progress = progress
        self.lake = ducklake.of(con)
        self.landing = landing
        self.landing.remove_parts()
        self.started_at = clock()
        self.summary = Summary(run_id=self.started_at.strftime("%Y%m%dT%H%M%S.%fZ"), started_at=self.started_at)
        # What a killed run left comes first: it was fetched, and is not fetched again.
        self.load()
        # Read now, in this thread: fetches look them up from theirs.
        self._landed = self._landed_versions()
        self._last_good = self._last_good_looks()
        self._polite: Web | None = None
        self._polite_lock = threading.Lock()

    def sources(self, names: Iterable[str] = (), *, offline: bool = False) -> tuple[Source, ...]:
        """Return the sources of this run: those named, or all that are enabled and fit (offline: the archive)."""
        wanted = [source_named(name) for name in names] or [source for source in SOURCES if self.settings.is_on(source)]
        fitting = [source for source in wanted if (source.name in ARCHIVES if offline else source.kind != "archive")]
        return tuple(fitting)

    def plan(self, sources: Iterable[Source], scopes: Iterable[str] = ()) -> list[tuple[Source, str]]:
        """Return the scopes to fetch; a source whose scopes cannot be listed is recorded as failed.

        One that lacks credentials is no failure: the run says what they would add, and goes on without it.
        """
        sources = tuple(sources)
        offline.refuse_mixing(self.con, sources, self.settings.data_dir)
        chosen = tuple(scopes)
        planned: list[tuple[Source, str]] = []
        for source in sources:
            try:
                with failing_alone(source.name, WHOLE_SOURCE):
                    listed = chosen or source.scopes(self._context(source))
            except CredentialsMissing as error:
                told = f"{error.message}. {error.hint}; docs/settings.md has the whole policy"
                self.summary.notes.append(f"{source.name} is left out ({source.title}): {told}")
                continue
            except SourceError as error:
                self.land(Fetched(source=source.name, scope=WHOLE_SOURCE, error=error))
                continue
            planned += [(source, scope) for scope in listed]
        return planned

    def fetch(self, source: Source, scope: str) -> tuple[Look, ...]:
        """Return the looks at one scope. Raises SourceError. Safe to call from several threads."""
        ctx = self._context(source)
        if source.kind == "archive":
            return tuple(past_looks(source, ctx, scope, None, None))
        with failing_alone(source.name, scope):
            return (source.fetch(ctx, scope),)

    def fetch_all(self, planned: list[tuple[Source, str]]) -> None:
        """Fetch scopes side by side and land what comes; one that fails fails alone."""
        with ThreadPoolExecutor(max_workers=self.settings.workers) as pool:
            futures = {pool.submit(self.fetch, source, scope): (source, scope) for source, scope in planned}
            for done in as_completed(futures):
                source, scope = futures[done]
                try:
                    fetched = Fetched(source=source.name, scope=scope, looks=done.result())
                except SourceError as error:
                    fetched = Fetched(source=source.name, scope=scope, error=error)
                self.land(fetched)

    def land(self, fetched: Fetched) -> None:
        """Keep the documents of what was fetched and write it to the journal; looks loaded before are left out."""
        if fetched.error is not None:
            told = redact.hide(str(fetched.error))
            LOG.warning("%s", told)
            self.progress(f"{fetched.source} {fetched.scope}: failed")
            self.landing.record_failure(
                source=fetched.source,
                scope=fetched.scope,
                observed_at=self.started_at,
                error=told,
                run_id=self.summary.run_id,
                recorded_at=self.started_at,
            )
            return
        for look in fetched.looks:
            self.summary.notes += [f"{look.source} {look.scope}: {note}" for note in look.notes]
            if not look.documents:
                continue
            if self._is_loaded(look):
                self.summary.results.append(
                    LookResult(source=look.source, scope=look.scope, observed_at=look.observed_at, status="known")
                )
                continue
            self.landing.record_look(look, run_id=self.summary.run_id, recorded_at=self.started_at)
        self.progress(f"{fetched.source} {fetched.scope}: {len(fetched.looks)} looked at")

    def load(self) -> None:
        """Load what the journal holds beyond what was loaded before."""
        results, notes = ingest.catch_up(
            self.con, self.landing, try_lock=self.lake.try_lock if self.lake is not None else None
        )
        self.summary.results += results
        self.summary.notes += notes

    def publish(self) -> Path:
        """Build, verify and put in place the published file; return its path."""
        self.summary.file = publish_log(self.con, self.settings.data_dir, self.clock(), ranking=self.settings.ranking)
        self._build_private()
        return self.summary.file

    def _build_private(self) -> None:
        """Build the private file, if the settings name one; a fault of it stops nothing, and is told by the summary.

        What is told is stored and sent: it names file, place and field, and no value.
        """
        if not self.settings.private.is_set and not (self.settings.data_dir / "private.duckdb").exists():
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
            LOG.warning("private side not built: %s", self.summary.private_fault)

    def decide(self, quarantine_id: int, decision: str) -> None:
        """Settle one open row of the quarantine: checked first, then written to the journal, then carried out."""
        ingest.rehearse(self.con, quarantine_id, decision)
        self.landing.record_decision(
            quarantine_id=quarantine_id, decision=decision, decided_by="a person", recorded_at=self.clock()
        )
        self.load()

    def land_import(self, file: Path) -> None:
        """Keep a CSV of observations and write it to the journal, as a look at the past."""
        now = self.clock()
        name, body = user_file.name(file), user_file.read(file)
        document = Document(source=observations.NAME, scope=name, url=name, body=body, fetched_at=now)
        observations.parse(document)
        look = Look(
            source=observations.NAME, scope=name, observed_at=now, complete=False, documents=(document,), archived=True
        )
        self.landing.record_look(look, run_id=self.summary.run_id, recorded_at=now)

    def backfill(
        self, source: Source, scopes: Iterable[str], *, since: datetime | None, until: datetime | None
    ) -> None:
        """Land the past looks of scopes, one after the other as they come, so that a break loses none."""
        for scope in scopes:
            try:
                self.backfill_scope(source, scope, since=since, until=until)
            except SourceError as error:
                if source.backfill is None:
                    raise
                self.land(Fetched(source=source.name, scope=scope, error=error))

    def backfill_scope(self, source: Source, scope: str, *, since: datetime | None, until: datetime | None) -> int:
        """Land the past looks of one scope as they come; return how many. Raises SourceError where it breaks off."""
        offline.refuse_mixing(self.con, [source], self.settings.data_dir)
        count = 0
        for look in past_looks(source, self._context(source), scope, _day(since), _day(until, ends=True)):
            self.land(Fetched(source=source.name, scope=scope, looks=(look,)))
            self.progress(f"{source.name} {scope}: {look.observed_at:%Y-%m-%d}")
            count += 1
        if not count:
            self.summary.notes.append(f"{source.name} {scope}: the archive has nothing of it in that time")
        return count

    def report(self) -> Path:
        """Write the week and the pages of the published file; return the front page's path."""
        return pages.noted(self.settings, self.summary, clock=self.clock)

    def finish(self, *, report: bool = True) -> Summary:
        """Publish and report where anything is fresh; return the summary. Nothing fresh leaves the last file alone."""
        self.load()
        if self.summary.fresh:
            self.publish()
            if report:
                self.report()
                self.summary.notes += retention.after_run(self.settings, self.started_at)
        self.summary.finished_at = self.clock()
        return self.summary

    def _web(self, source: Source) -> "Web":
        """Return the web for a source; the polite ones share one, which knows the rules and pauses of each host."""
        from extract.web.http import HttpWeb

        if not source.polite:
            return HttpWeb()
        from extract.web.polite import PoliteWeb

        with self._polite_lock:
            self._polite = self._polite or PoliteWeb(HttpWeb())
            return self._polite

    def _context(self, source: Source) -> Context:
        return Context(
            web=self._web(source),
            settings=self.settings.source(source.name),
            now=self.clock,
            landed=lambda key: self._landed_document(source.name, key),
            last_observed=lambda scope: self._last_good.get((source.name, scope)),
            progress=self.progress,
        )

    def _landed_versions(self) -> dict[tuple[str, str], dict[str, Any]]:
        found = query.rows(self.con, "from core.document where version_key is not null")
        return {(row["source"], row["version_key"]): row for row in found}

    def _last_good_looks(self) -> dict[tuple[str, str], datetime]:
        rows = self.con.execute(
            "select source, scope, max(observed_at) from core.scope_run where status = 'ok' group by all"
        ).fetchall()
        return {(source, scope): moment.replace(tzinfo=UTC) for source, scope, moment in rows}

    def _landed_document(self, source: str, key: str) -> Document | None:
        row = self._landed.get((source, key))
        if row is None:
            return None
        try:
            body = self.landing.body(row["document_sha256"])
        except ChipledgerError as error:
            # Fetched again, it mends the damaged body.
            LOG.warning("%s", error)
            return None
        published = row["published_at"]
        return Document(
            source=source,
            scope=row["scope"],
            url=row["url"],
            body=body,
            fetched_at=row["fetched_at"].replace(tzinfo=UTC),
            version_key=key,
            published_at=published.replace(tzinfo=UTC) if published else None,
            whole=Whole(size=row["whole_size_bytes"], sha256=row["whole_sha256"]) if row["whole_sha256"] else None,
        )

    def _is_loaded(self, look: Look) -> bool:
        row = self.con.execute(
            "select 1 from core.scope_run where source = ? and scope = ? and observed_at = ? and status = 'ok' "
            "and document_sha256 = ?",
            [look.source, look.scope, naive(look.observed_at), look.documents[0].sha256],
        ).fetchone()
        return row is not None


def publish_log(con: duckdb.DuckDBPyConnection, folder: Path, built_at: datetime, *, ranking: RankingSettings) -> Path:
    """Build, verify and put in place the published file of a log, with all marts; return its path.

    `ranking` says up to which age a price is ranked. Of the archive alone it is as of the archive's own day.
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
        # Asked only when the log is copied: of that copy.
        sources=(row for asked in (con,) for row in source_rows(asked, SOURCES, archive_max_age=max_age)),
        built_at=as_of or built_at,
        version=version("chipledger"),
        ranked_days=ranking.max_age_days,
        marketplace_days=ranking.marketplace_max_age_days,
    )


@contextmanager
def open_run(
    settings: Settings,
    *,
    clock: Clock | None = None,
    is_offline: bool = False,
    progress: Progress = lambda message: None,
) -> Iterator[Run]:
    """Open the log and yield a run. Raises WriterBusy where another process writes its file, DiskFault for disks.

    Its clock is the archive's own where it reads the archive of the package, else the present.

    Of a file, a run holds the writer's lock. On a shared warehouse it has a part of the journal for itself.
    """
    place = settings.place()
    with disk.faults(settings.data_dir), db.open_log(place, wait_seconds=settings.wait_seconds) as con:
        shared = ducklake.of(con)
        clock = clock or (offline.clock(con) if is_offline else utc_now)
        if shared is None:
            yield Run(settings, con, settings.landing(), clock, progress)
            return
        journal = settings.landing().journal_parts
        with own_part(journal, ingest.loaded_positions(con), shared.try_lock) as part:
            yield Run(settings, con, settings.landing(part=part), clock, progress)


def _day(moment: datetime | None, *, ends: bool = False) -> datetime | None:
    """Return the first or last moment of a day given without a zone, in UTC."""
    if moment is None:
        return None
    day = moment.replace(tzinfo=UTC)
    return day + timedelta(days=1) - timedelta(microseconds=1) if ends else day


def run(
    settings: Settings,
    *,
    offline: bool = False,
    source_names: Iterable[str] = (),
    scopes: Iterable[str] = (),
    clock: Clock | None = None,
    progress: Progress = lambda message: None,
) -> Summary:
    """Do the whole daily job once: collect, load, publish, report."""
    with open_run(settings, clock=clock, is_offline=offline, progress=progress) as one:
        if settings.run.task_runner != "threads":
            one.summary.notes.append(
                f'this command collects in threads; run.task_runner = "{settings.run.task_runner}" is for the daily '
                "flow: run the deployment that `chipledger deploy` makes, or `python flows/daily.py`"
            )
        one.fetch_all(one.plan(one.sources(source_names, offline=offline), scopes))
        return one.finish()
