"""Collecting one scope anywhere: in a thread of the run, in another process, on another machine.

A log of one writer is opened by nobody else: whoever collects for its run is told what a fetch asks of the log, and
gives back looks, which the run lands and loads. On a shared warehouse whoever collects a scope lands and loads it too.
Nothing of Prefect is here.
"""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

import duckdb

from extract import source_named
from extract.base import Source
from flows.collect import steps
from flows.config.settings import Settings
from warehouse.documents import Look
from warehouse.errors import SourceError
from warehouse.lake.ducklake import Lake, transacted
from warehouse.log.db import insert_rows
from warehouse.log.events import naive
from warehouse.log.load import LookResult

Scope = tuple[str, str]
"""The name of a source, and one of its scopes."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the log says of one scope to who cannot open it.

    `last_observed`: of the last good look, aware; None where there was none. `landed`: rows of core.document by version
    key, their times naive UTC.
    """

    last_observed: datetime | None = None
    landed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


NOTHING = Known()


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What became of one scope: looks to land and load, or results where that is done; or an error; and how long.

    `seconds` are those of collecting alone, not of waiting for a turn.
    """

    source: str
    scope: str
    seconds: float | None = None
    looks: tuple[Look, ...] = ()
    results: tuple[LookResult, ...] = ()
    notes: tuple[str, ...] = ()
    error: SourceError | None = None

    @property
    def fetched(self) -> steps.Fetched:
        """What a run has to land."""
        return steps.Fetched(source=self.source, scope=self.scope, looks=self.looks, error=self.error)


class Elsewhere(steps.Run):
    """A run's way of fetching one scope where its log cannot be opened: it has no connection, and loads nothing."""

    def __init__(self, settings: Settings, source: str, scope: str, known: Known, clock: steps.Clock) -> None:
        self.settings = settings
        self.clock = clock
        self.progress = lambda message: None
        self.landing = settings.landing()
        self._landed = {(source, key): dict(row) for key, row in known.landed.items()}
        self._last_good = {(source, scope): known.last_observed} if known.last_observed else {}
        self._polite = None
        self._polite_lock = threading.Lock()


def known_to(one: steps.Run, source: str, scope: str) -> Known:
    """Return what the log of a run says of one scope."""
    rows = {key: row for (name, key), row in one._landed.items() if (name, row["scope"]) == (source, scope)}
    return Known(last_observed=one._last_good.get((source, scope)), landed=rows)


def collect_scope(
    settings: Settings,
    source_name: str,
    scope: str,
    *,
    run_id: str,
    known: Known = NOTHING,
    clock: steps.Clock = steps.utc_now,
) -> Collected:
    """Collect one scope for a run, and return its looks, or what became of them where it was landed and loaded.

    `known` is what the run's log says of the scope; a shared warehouse is asked itself. Raises SourceError.
    """
    source = source_named(source_name)
    began = time.monotonic()
    if not settings.place().is_shared:
        looks = Elsewhere(settings, source_name, scope, known, clock).fetch(source, scope)
        return Collected(source=source_name, scope=scope, seconds=time.monotonic() - began, looks=looks)
    with steps.open_run(settings, clock=clock) as one, shared_lake(one).scopes([(source_name, scope)]):
        one.summary.run_id = run_id
        one.land(steps.Fetched(source=source_name, scope=scope, looks=one.fetch(source, scope)))
        one.load()
        results, notes = tuple(one.summary.results), tuple(one.summary.notes)
    seconds = time.monotonic() - began
    return Collected(source=source_name, scope=scope, seconds=seconds, results=results, notes=notes)


def shared_lake(one: steps.Run) -> Lake:
    """Return the lake that a run on a shared warehouse writes."""
    if one.lake is None:
        raise ValueError("a file of one writer")
    return one.lake


def take(one: steps.Run, collected: Collected) -> None:
    """Let a run land what was collected for it; what was landed and loaded elsewhere is told by its summary alone."""
    if collected.error is not None or collected.looks:
        one.land(collected.fetched)
    one.summary.results += collected.results
    one.summary.notes += collected.notes


# --- who collects what


def is_sent(source: Source) -> bool:
    """Return whether scopes of a source may be collected by other processes than the run's own."""
    return not source.polite


def longest_first(planned: Iterable[Scope], seconds: Mapping[Scope, float]) -> list[Scope]:
    """Return scopes, the longest first; what was never timed comes before all, as it may be longer."""
    return sorted(planned, key=lambda each: -seconds.get(each, float("inf")))


def groups(planned: Iterable[Scope], seconds: Mapping[Scope, float], count: int) -> list[list[Scope]]:
    """Return at most `count` groups that take about equally long, each with its longest scope first.

    The longest scope goes to the group with least to do, and so on (Graham's LPT rule: at most 4/3 of the best). What
    was never timed counts as much as the longest that was.
    """
    ordered = longest_first(planned, seconds)
    unknown = max((seconds[each] for each in ordered if each in seconds), default=1.0)
    loads: list[tuple[float, list[Scope]]] = [(0.0, []) for _ in range(min(count, len(ordered)))]
    for each in ordered:
        place = min(range(len(loads)), key=lambda number: (loads[number][0], len(loads[number][1])))
        total, group = loads[place]
        loads[place] = (total + seconds.get(each, unknown), [*group, each])
    return [group for _, group in loads]


# --- how long scopes took


def last_seconds(con: duckdb.DuckDBPyConnection) -> dict[Scope, float]:
    """Return how long each scope took when it was last collected elsewhere than in the run's threads."""
    rows = con.execute(
        "select source, scope, arg_max(seconds, recorded_at) from meta.collection where seconds is not null "
        "group by all"
    ).fetchall()
    return {(source, scope): seconds for source, scope, seconds in rows}


def remember(
    con: duckdb.DuckDBPyConnection, run_id: str, collected: Sequence[Collected], recorded_at: datetime
) -> None:
    """Append how long scopes took; those that failed say nothing of it."""
    rows = [
        (run_id, each.source, each.scope, each.seconds, naive(recorded_at))
        for each in collected
        if each.error is None and each.seconds is not None
    ]
    columns = "meta.collection (run_id, source, scope, seconds, recorded_at)"
    transacted(con, partial(insert_rows, con, columns, rows))
