"""One run over one data directory, from the sources to the published file; it needs no Prefect.

A run on a file holds the writer's lock from its beginning to its end; on a shared warehouse it is one of several
writers. Fetching may use many threads or processes; landing, loading and publishing use the thread that made the run.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property, partial

import duckdb

from extract.base import Source
from flows.backup import retention
from flows.collect import fetch_times, ingest
from flows.collect import offline as archive
from flows.collect.collector import Collector, FetchResult, LogState, utc_now
from flows.collect.publisher import Publisher
from flows.collect.summary import Summary
from flows.config.settings import Settings
from flows.shared import Clock, Progress, redact
from flows.shared.output import echo
from reports.queries import fit_threads
from warehouse import disk
from warehouse.documents import ScopeFetch
from warehouse.errors import count
from warehouse.lake import ducklake
from warehouse.landing import packs
from warehouse.landing.folder import Landing, stamp
from warehouse.landing.journal import own_part
from warehouse.log import db, withdraw
from warehouse.log.events import naive
from warehouse.log.parsed import ScopeResult
from warehouse.log.quarantine import find
from warehouse.publish.published_file import FILE_NAME

LOG = logging.getLogger(__name__)
__all__ = ["Run", "open_run", "run", "utc_now"]
LOADED = "select source, scope, observed_at, document_sha256 from core.scope_run where status = 'ok'"


class Run:
    """One run over one data directory; made by `open_run`, which holds the lock.

    `collector` fetches (in threads, unless `fetch` is replaced), `publisher` publishes; what they give is landed and
    loaded here.
    """

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
        self.is_large = False
        self.n_planned, self.n_landed, self.since = 0, 0, time.monotonic()
        # What a killed run left is loaded first: it was fetched, and is not fetched again.
        self.load()
        self.collector = Collector(settings, landing, LogState.read(con), clock, progress)
        self.publisher = Publisher(settings, con, clock, self.summary)
        self.fetch = partial(self.collector.fetch_in_threads, land=self.land)

    def plan(self, sources: Iterable[Source], scopes: Iterable[str] = ()) -> list[tuple[Source, str]]:
        """Return the scopes to fetch; a source whose scopes cannot be listed is recorded as failed."""
        sources = tuple(sources)
        archive.refuse_mixing(self.con, sources, self.settings.data_dir)
        planned, failures, notes = self.collector.plan(sources, scopes)
        self.n_planned += len(planned) + len(failures)
        self.summary.notes += notes
        for failure in failures:
            self.land(failure)
        text = self.collector.announcement(planned)
        self.is_large = bool(text)
        if text:
            more = "`--regions` chooses others, or all; with the right pricing:GetProducts it is a few MB"
            echo(f"{text}. {more}", err=True)
        return planned

    def collect(self, source_names: Iterable[str] = (), scopes: Iterable[str] = (), *, offline: bool = False) -> None:
        """Fetch scopes by `fetch`, and land the results; a failure affects its scope only."""
        planned = self.plan(self.collector.sources(source_names, offline=offline), scopes)
        if self.is_large and self.lake is None and not (self.settings.data_dir / FILE_NAME).exists():
            # Nobody waits an hour for the first price: what comes without large files is published before them.
            small = [(source, scope) for source, scope in planned if source.downloads is None]
            planned = [each for each in planned if each not in small]
            self.fetch(small)
            self.load()
            if self.summary.fresh:
                echo(f"first prices: {self.publisher.publish()}; AWS's public files come next", err=True)
        self.fetch(planned)
        self.done("fetch", f"{self.n_landed} of {count(self.n_planned, 'scope')}")

    def done(self, step: str, what: str) -> None:
        """Say what a step of the run did, and how long it took."""
        now = time.monotonic()
        self.progress(f"{step}: {what}, {now - self.since:.1f} s")
        self.since = now

    def land(self, result: FetchResult) -> None:
        """Store the documents of a fetch and write it to the journal; what was loaded before is left out."""
        at, run_id = self.started_at, self.summary.run_id
        if result.error is not None:
            message = redact.hide(str(result.error))
            LOG.info("%s", message)
            self.progress(f"{self._counted()}: {result.source} {result.scope} failed")
            words = {"run_id": run_id, "source": result.source, "scope": result.scope, "observed_at": stamp(at)}
            self.landing.record("failure", at, **words, error=message)
            return
        for fetch in result.fetches:
            self.summary.notes += [f"{fetch.source} {fetch.scope}: {note}" for note in fetch.notes]
            if not fetch.documents:
                continue
            if self._is_loaded(fetch):
                self.summary.results.append(
                    ScopeResult(source=fetch.source, scope=fetch.scope, observed_at=fetch.observed_at, status="known")
                )
                continue
            refused = fetch_times.fault(self.con, fetch, self.clock())
            self.landing.record_fetch(fetch, run_id=run_id, recorded_at=at, refused=refused)
        self.progress(f"{self._counted()}: {result.source} {result.scope}")

    def load(self) -> None:
        """Load the entries of the journal that were not loaded before."""
        results, notes = ingest.catch_up(
            self.con, self.landing, try_lock=self.lake.try_lock if self.lake is not None else None
        )
        self.summary.results += results
        self.summary.notes += notes

    def decide(self, quarantine_id: int, decision: str) -> None:
        """Decide one open row of the quarantine: checked first, then written to the journal, then carried out."""
        row = find(self.con, quarantine_id)
        # Until the end, so that of two persons the second is refused, and the journal has the first one alone.
        with ducklake.scopes_held(self.con, [(row.source, row.scope)]):
            ingest.rehearse(self.con, quarantine_id, decision, now=self.clock())
            at = self.after_all()
            words = {"quarantine_id": quarantine_id, "decision": decision, "decided_by": self.settings.operator}
            self.landing.record("decision", at, **words)
            self._carry_out(at)

    def withdraw(self, fetches: Sequence[withdraw.Fetch], reason: str) -> None:
        """Take fetches back: written to the journal, then carried out."""
        at, words = self.after_all(), {"reason": reason, "withdrawn_by": self.settings.operator}
        self.landing.record("withdrawal", at, fetches=[one.entry for one in fetches], **words)
        self._carry_out(at)

    def after_all(self) -> datetime:
        """Return the present, or a moment after all that was learnt: a machine whose clock is ahead may be among us."""
        tables = ("log.scope_fetch", "core.quarantine", "core.withdrawal")
        moments = " union all ".join(f"select recorded_at from {table}" for table in tables)
        last = f"select greatest(?, max(recorded_at) + interval 1 microsecond) from ({moments})"
        at: datetime = self.con.execute(last, [naive(self.clock())]).fetchall()[0][0]
        return at.replace(tzinfo=UTC)

    def _carry_out(self, at: datetime) -> None:
        """Load what a person decided at a moment, and count the changes that this stored."""
        self.load()
        sql = "select count(*) from core.price_event where recorded_at = ?"
        self.summary.n_decided_events += self.con.execute(sql, [naive(at)]).fetchall()[0][0]

    def finish(self, *, report: bool = True) -> Summary:
        """Publish and report where anything is fresh; return the summary. Otherwise the last file stays in place."""
        self.load()
        self.done("load", next(self.summary.lines()))
        if self.summary.fresh:
            self.done("publish", str(self.publisher.publish()))
            if report:
                # First, as the pages list those of single days.
                self.summary.notes += retention.after_run(self.settings, self.started_at)
                self.done("report", str(self.publisher.report()))
        self.summary.finished_at = self.clock()
        return self.summary

    def _counted(self) -> str:
        self.n_landed += 1
        return f"fetched {self.n_landed} of {self.n_planned}"

    def _is_loaded(self, fetch: ScopeFetch) -> bool:
        last = self.collector.state.last_observed.get((fetch.source, fetch.scope))
        if last is None or fetch.observed_at > last:
            return False
        key = (fetch.source, fetch.scope, naive(fetch.observed_at), fetch.documents[0].sha256)
        if fetch.observed_at == last:
            return key in self._last_fetches
        this = "source = ? and scope = ? and observed_at = ? and document_sha256 = ?"
        return bool(self.con.execute(f"{LOADED} and {this}", key).fetchall())

    @cached_property
    def _last_fetches(self) -> set[tuple[object, ...]]:
        """Return the last good fetches of all scopes, by what makes a fetch known: one query for all."""
        last = "select source, scope, max(observed_at) from log.scope_fetch where status = 'ok' group by all"
        return set(self.con.execute(f"{LOADED} and (source, scope, observed_at) in ({last})").fetchall())


@contextmanager
def open_run(
    settings: Settings,
    *,
    clock: Clock | None = None,
    is_offline: bool = False,
    progress: Progress = lambda message: None,
) -> Iterator[Run]:
    """Open the log and yield a run. Raises WriterBusy where another process writes its file, DiskFault for disks.

    Its clock is the archive's own where it reads the archive of the package, else the present. Packs of documents that
    an earlier version made are unpacked first. On a shared warehouse a run writes its own part of the journal.
    """
    place = settings.place()
    with disk.faults(settings.data_dir), db.open_log(place, wait_seconds=settings.wait_seconds) as con:
        shared = ducklake.of(con)
        clock = clock or (archive.clock(con) if is_offline else utc_now)
        if shared is None:
            fit_threads(con)
            landing = settings.landing()
            unpacked = packs.unpack(landing)
            run = Run(settings, con, landing, clock, progress)
            run.summary.notes += unpacked
            yield run
            return
        journal = settings.landing().journal
        with own_part(journal, ingest.loaded_positions(con), shared.try_lock) as part:
            yield Run(settings, con, settings.landing(part=part), clock, progress)


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
                f'this command fetches in threads, though run.task_runner is "{settings.run.task_runner}": the daily '
                "flow uses it (`python flows/daily.py`, or the deployment that `chipledger deploy` makes)"
            )
        one.collect(source_names, scopes, offline=offline)
        return one.finish()
