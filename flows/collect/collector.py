"""Fetch scopes of sources for one run, in threads or processes.

What a fetch needs of the log: the last good fetch of a scope, which is read when the run begins, and versions already
landed, which are looked up by their keys.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import duckdb

from extract import SOURCES, source_named
from extract.base import Context, Memo, Parsed, Source, failing_alone, past_fetches
from extract.offline_archive import ArchiveWeb
from extract.web import answer_dates
from flows.collect.offline import ARCHIVES
from flows.config.settings import Settings, read
from flows.shared import Clock, Progress, query
from warehouse.documents import WHOLE_HASHES, Document, ScopeFetch, Whole
from warehouse.errors import ChipledgerError, CredentialsMissing, LayoutChanged, SourceError, count
from warehouse.lake import ducklake
from warehouse.landing.folder import Landing
from warehouse.reference.source_terms import terms_of
from warehouse.schema.tables import IDENTITY

if TYPE_CHECKING:
    import polars as pl

    from extract.web.interface import Web

LOG = logging.getLogger(__name__)
MAX_MOVED = 2.0
"""All prices together: beyond it is another unit or currency."""
MIN_ANNOUNCED_BYTES = 50_000_000
BYTES_A_MINUTE = 60 * 100e6 / 8
WHOLE_SOURCE = "all"
"""The scope of a failure to list a source's scopes."""

Scope = tuple[str, str]
"""The name of a source, and one of its scopes."""
Fetch = Callable[[str, str], tuple[ScopeFetch, ...]]
"""Fetches one scope of a source, by their names. Raises SourceError."""


def utc_now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class FetchResult:
    """The result of fetching one scope: its documents as fetches, or the error that explains why there are none."""

    source: str
    scope: str
    fetches: tuple[ScopeFetch, ...] = ()
    error: SourceError | None = None


Plan = tuple[list[tuple[Source, str]], list[FetchResult], list[str]]
"""Scopes to fetch, sources whose scopes could not be listed, and notes on sources without credentials."""


@dataclass(frozen=True, kw_only=True)
class LogState:
    """What a fetch needs of the log.

    `con` is asked for a document when a fetch wants it; without one, as in another process, `versions` are rows of
    log.document by source and version key. `last_observed`: each scope's last complete, else good fetch, aware UTC.
    """

    con: duckdb.DuckDBPyConnection | None = None
    versions: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    last_observed: Mapping[Scope, datetime] = field(default_factory=dict)

    @staticmethod
    def read(con: duckdb.DuckDBPyConnection) -> "LogState":
        last = con.execute(
            "select source, scope, coalesce(max(observed_at) filter (complete), max(observed_at)) "
            "from log.scope_fetch where status = 'ok' group by all"
        ).fetchall()
        found = {(source, scope): moment.replace(tzinfo=UTC) for source, scope, moment in last}
        has_versions = con.execute("select 1 from log.document where version_key is not null limit 1").fetchone()
        return LogState(con=con if has_versions else None, last_observed=found)

    def version(self, source: str, key: str) -> Mapping[str, Any] | None:
        """Return the last document of a version, times naive UTC; safe in any thread."""
        if self.con is None:
            return self.versions.get((source, key))
        found = self._documents("version_key = ? order by document_no desc limit 1", source, key)
        return found[0] if found else None

    def of(self, source: str, scope: str) -> "LogState":
        """Return the part of the state that concerns one scope, for another process."""
        found = self._documents("scope = ? and version_key is not null order by document_no", source, scope)
        return LogState(
            versions={(source, row["version_key"]): row for row in found},
            last_observed={key: at for key, at in self.last_observed.items() if key == (source, scope)},
        )

    def _documents(self, which: str, *parameters: str) -> list[dict[str, Any]]:
        if self.con is None:
            return []
        # A connection of its own: the run's may be at work in another thread.
        with self.con.cursor() as apart:
            if ducklake.of(self.con) is not None:
                apart.execute(f"use {ducklake.NAME}")
            return query.rows(apart, f"from log.document where source = ? and {which}", list(parameters))


Done = TypeVar("Done")
POLL_S = 0.5


@contextmanager
def threads(n: int) -> Iterator[ThreadPoolExecutor]:
    """Give a pool of threads; left by an error or a signal, nothing in it begins any more or is waited for."""
    pool = ThreadPoolExecutor(max_workers=n)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def ended(futures: Iterable[Future[Done]]) -> Iterator[Future[Done]]:
    """Yield futures as they end.

    Where Polars is loaded, SIGINT ends no wait that has no limit: it has the system go on with it (SA_RESTART).
    """
    left = {*futures}
    while left:
        done, left = wait(left, timeout=POLL_S, return_when=FIRST_COMPLETED)
        yield from done


@dataclass
class Collector:
    """Plans and fetches the scopes of one run; `fetch` may be called from several threads."""

    settings: Settings
    landing: Landing
    state: LogState
    clock: Clock
    progress: Progress
    _memo: Memo = field(default_factory=Memo)
    _polite: "Web | None" = None
    _polite_lock: threading.Lock = field(default_factory=threading.Lock)

    def sources(self, names: Iterable[str] = (), *, offline: bool = False) -> tuple[Source, ...]:
        """Return the named sources, or all that are enabled; offline only those of the archive in the package."""
        wanted = [source_named(name) for name in names] or [source for source in SOURCES if self.settings.is_on(source)]
        return tuple(source for source in wanted if (source.name in ARCHIVES if offline else source.kind != "archive"))

    def plan(self, sources: Iterable[Source], scopes: Iterable[str] = ()) -> Plan:
        """Return the scopes to fetch: those named, or all that each source lists.

        Of several sources those that list a named scope fetch it, or all where none does. A source without credentials
        is no failure: the run names the missing credentials and continues without it.
        """
        sources, chosen = tuple(sources), tuple(scopes)
        listed: dict[Source, tuple[str, ...]] = {}
        failures: list[FetchResult] = []
        notes: list[str] = []
        for source in sources:
            is_alone = bool(chosen) and len(sources) == 1
            try:
                with failing_alone(source.name, WHOLE_SOURCE):
                    listed[source] = chosen if is_alone else source.scopes(self.context(source))
            except CredentialsMissing as error:
                reason = f"{error.message}. {error.hint}; see docs/settings.md"
                notes.append(f"{source.name} is left out ({source.title}): {reason}")
            except SourceError as error:
                failures.append(FetchResult(source=source.name, scope=WHOLE_SOURCE, error=error))
        unlisted = set(chosen).difference(*listed.values())
        planned = [
            (source, scope)
            for source, its in listed.items()
            for scope in chosen or its
            if scope in its or scope in unlisted
        ]
        return planned, failures, notes

    def announcement(self, planned: Iterable[tuple[Source, str]]) -> str:
        """Return how many megabytes (as servers state) of large files are about to be read, for what; "" for none."""
        planned = [(source, scope) for source, scope in planned if source.downloads]
        if not planned:
            return ""
        from extract.web.http import HttpWeb

        def files(one: tuple[Source, str]) -> list[tuple[str, int | None]]:
            source, scope = one
            with suppress(SourceError), failing_alone(source.name, scope):
                urls = source.downloads(self.context(source), scope) if source.downloads else ()
                return [(scope, HttpWeb().size(url)) for url in urls]
            return []

        with threads(self.settings.workers) as pool:
            found = [file for done in ended([pool.submit(files, one) for one in planned]) for file in done.result()]
        n_bytes = sum(size or 0 for _, size in found)
        n_unknown = sum(size is None for _, size in found)
        if n_bytes < MIN_ANNOUNCED_BYTES and not n_unknown:
            return ""
        minutes = max(1, round(n_bytes / BYTES_A_MINUTE))
        unknown = f" and {n_unknown} of unknown size" if n_unknown else ""
        return (
            f"AWS's public files: {len(found)} to read, {n_bytes / 1e6:,.0f} MB{unknown}, about {minutes} min at "
            f"100 Mbit/s, for {', '.join(sorted({scope for scope, _ in found}))}"
        )

    def fetch(self, source: Source, scope: str) -> tuple[ScopeFetch, ...]:
        """Return the fetches of one scope. Raises SourceError."""
        ctx = self.context(source)
        if source.kind == "archive":
            return tuple(past_fetches(source, ctx, scope, None, None))
        with failing_alone(source.name, scope), answer_dates.measured() as ahead_s:
            fetched = source.fetch(ctx, scope)
        return (replace(fetched, clock_ahead_s=median(ahead_s)) if ahead_s else fetched,)

    def fetch_named(self, source: str, scope: str) -> tuple[ScopeFetch, ...]:
        """Return the fetches of one scope of a source, by its name. Raises SourceError."""
        return self.fetch(source_named(source), scope)

    def fetch_in_threads(self, planned: Iterable[tuple[Source, str]], land: Callable[[FetchResult], None]) -> None:
        """Fetch scopes in threads and call `land` in this thread with each result; a failure affects its scope only."""
        with threads(self.settings.workers) as pool:
            futures = {pool.submit(self.fetch, source, scope): (source.name, scope) for source, scope in planned}
            for done in ended(futures):
                source, scope = futures[done]
                try:
                    land(FetchResult(source=source, scope=scope, fetches=done.result()))
                except SourceError as error:
                    land(FetchResult(source=source, scope=scope, error=error))

    def portable_fetch(self, source: str, scope: str) -> Fetch:
        """Return a fetch of one scope for another process.

        It carries the state of that scope. Settings and secrets are never sent: the process reads its own.
        """
        return partial(_fetch_in_process, self.settings.data_dir, self.state.of(source, scope))

    def context(self, source: Source) -> Context:
        """Return what a source may use while it fetches."""
        return Context(
            web=self._web(source),
            settings=self.settings.source(source.name),
            now=self.clock,
            landed=lambda key: self._landed_document(source.name, key),
            last_observed=lambda scope: self.state.last_observed.get((source.name, scope)),
            known_prices=lambda: self.known_prices(source),
            # It raises LayoutChanged where the gates would refuse: another address may have the prices.
            check=lambda parsed: compare(check(parsed), self.known_prices(source)),
            regions=self._regions,
            memo=self._memo,
            progress=self.progress,
        )

    @cached_property
    def _regions(self) -> tuple[str, ...]:
        """Return the regions of AWS's prices, else those of decisions: countries and continents with AWS's in them."""
        named = self.settings.source("aws_price_list").get("regions")
        if isinstance(named, list | tuple):
            return tuple(named)
        from warehouse.reference.prepared import REGIONS

        places = {*self.settings.decision.regions}
        rows = [row for row in REGIONS.read() if row["service_provider_name"] == "AWS"] if places else []
        return (*places, *(row["region_id"] for row in rows if places & {row["country"], row["continent"]}))

    def known_prices(self, source: Source) -> "pl.DataFrame | None":
        """Return the last prices of a source in the published file; None where there is no file that can be read.

        What the source did not show in the 30 days before its newest price is not expected of it any more.
        """
        import polars as pl

        columns = ", ".join(f"o.{name}" for name in IDENTITY)
        sql = f"""
            select {columns}, h.unit_price from int.price_history as h inner join core.offer as o using (offer_id)
            where h.valid_to is null and h.unit_price is not null and h.source = ?
            qualify h.last_observed_at >= max(h.last_observed_at) over () - interval 30 days
        """
        file = self.settings.data_dir / "prices.duckdb"
        with suppress(duckdb.Error), duckdb.connect(str(file), read_only=True) as con:  # none, or of another version
            return pl.DataFrame(con.sql(sql, params=[source.name]))
        return None

    def _web(self, source: Source) -> "Web":
        """Return the web for a source; polite sources share one, which has the rules and pauses of each host.

        Sources in the package have that package's archive alone, and nothing is loaded that reaches a network.
        """
        if source.name in ARCHIVES:
            return ArchiveWeb()
        from extract.web.http import HttpWeb

        if not source.polite:
            return HttpWeb()
        from extract.web.polite import PoliteWeb

        with self._polite_lock:
            if self._polite is None:
                apis = [source for source in SOURCES if (terms := terms_of(source.name)) and terms.is_documented_api]
                urls = [(str(self.settings.source(api.name).get("url") or api.url), *api.other_urls) for api in apis]
                self._polite = PoliteWeb(HttpWeb(), documented=frozenset(urlsplit(url).netloc for url in chain(*urls)))
            return self._polite

    def _landed_document(self, source: str, key: str) -> Document | None:
        row = self.state.version(source, key)
        if row is None:
            return None
        try:
            body = self.landing.body(row["document_sha256"])
        except ChipledgerError as error:
            LOG.warning("%s", error)  # fetched again, it replaces the damaged body
            return None
        published = row["published_at"]
        digests = [(name, row[f"whole_{name}"]) for name in WHOLE_HASHES if row[f"whole_{name}"]]
        wholes = [Whole(size=row["whole_size_bytes"], digest=digest, algorithm=name) for name, digest in digests]
        return Document(
            source=source,
            scope=row["scope"],
            url=row["url"],
            body=body,
            fetched_at=row["fetched_at"].replace(tzinfo=UTC),
            version_key=key,
            published_at=published.replace(tzinfo=UTC) if published else None,
            whole=wholes[0] if wholes else None,
        )


def check(parsed: Parsed) -> "pl.DataFrame":
    """Return the rows that the row gate accepts; raise LayoutChanged where it refuses a fifth."""
    from warehouse.log.gates import row_gate

    accepted, refusals = row_gate(parsed.rows)
    if refusals and len(refusals) * 5 >= len(parsed.rows):
        first = refusals[0]
        message = f"{len(refusals)} of {count(len(parsed.rows), 'row')} refused, the first: {first.reason}"
        raise LayoutChanged(message, field=first.field, value=first.value)
    return accepted


def compare(rows: "pl.DataFrame", before: "pl.DataFrame | None") -> str:
    """Return how prices stand to those known before, "" without any; raise LayoutChanged where a factor moved all."""
    if before is None or before.is_empty() or not len(rows):
        return ""
    was = before.filter(before["unit_price"] > 0).select(*IDENTITY, was="unit_price")  # 0 is what is paid upfront
    joined = rows.join(was, on=IDENTITY, nulls_equal=True)
    ratios = (joined["unit_price"].cast(float) / joined["was"].cast(float)).to_list()
    if not ratios:
        return f"none of {count(len(before), 'known price')} is there"
    n_moved, middle = sum(abs(ratio - 1) > 1e-9 for ratio in ratios), median(ratios)
    against = f"{len(ratios)} of {len(before)} known, {n_moved} moved, their median x {middle:.3g}"
    if not 1 / MAX_MOVED <= middle <= MAX_MOVED:
        raise LayoutChanged(f"all prices moved together: {against}", field="unit_price", value=f"{middle:.3g}")
    return against


def _fetch_in_process(data_dir: Path, state: LogState, source: str, scope: str) -> tuple[ScopeFetch, ...]:
    chosen = read(data_dir=data_dir)
    return Collector(chosen, chosen.landing(), state, utc_now, LOG.info).fetch_named(source, scope)
