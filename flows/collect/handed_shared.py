"""What a run and those who collect for it hand each other on a shared warehouse: rows of meta.collection, and locks.

Looks are not handed over: whoever collects a scope lands and loads it, and tells what became of it. A group of scopes
is begun at most once; its lock falls with the process that has it, on whichever machine it ran.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import Any

import duckdb

from flows.collect import steps
from flows.collect.fan_out import Collected, Known, Scope
from flows.collect.handed import BEGUN, TAKEN_BACK, Handed, error_of
from flows.config.settings import Settings
from warehouse.lake import ducklake as lake
from warehouse.lake.ducklake import Lake, transacted
from warehouse.landing.folder import stamp, unstamp
from warehouse.log import db
from warehouse.log.db import insert_rows
from warehouse.log.events import naive
from warehouse.log.load import LookResult

COLUMNS = "meta.collection (run_id, group_number, source, scope, seconds, told, recorded_at)"


class HandedShared:
    """What is handed over of one run, through one connection to the warehouse."""

    def __init__(self, con: duckdb.DuckDBPyConnection, lake: Lake, run_id: str) -> None:
        self.con, self.lake, self.run_id = con, lake, run_id
        self._seen: set[tuple[int, Scope]] = set()

    # --- what the run does

    def ask(self, number: int, known: Mapping[Scope, Known]) -> None:
        """Do nothing: whoever collects on a shared warehouse asks it himself."""

    def taken(self, number: int) -> list[Collected]:
        """Return what was told of a group since this was asked last."""
        rows = self.con.execute(
            "select source, scope, seconds, told from meta.collection where run_id = ? and group_number = ? "
            "and source is not null order by recorded_at, source, scope",
            [self.run_id, number],
        ).fetchall()
        found = []
        for source, scope, seconds, told in rows:
            if (number, (source, scope)) not in self._seen:
                self._seen.add((number, (source, scope)))
                found.append(_collected(source, scope, seconds, json.loads(told)))
        return found

    def is_begun(self, number: int) -> bool:
        """Return whether somebody began a group."""
        return self._word(number) == BEGUN

    def is_over(self, number: int) -> bool:
        """Return whether a group was begun and nobody is at it any more, be it done or its process dead."""
        if not self.is_begun(number):
            return False
        with self.lake.try_lock(self._lock(number)) as is_held:
            return is_held

    def take_back(self, number: int) -> bool:
        """Have a group begun by nobody from now on; return False where somebody has begun it."""
        with self.lake.try_lock(self._lock(number)) as is_held:
            if not is_held or self._word(number):
                return False
            self._append(number, None, TAKEN_BACK)
            return True

    def remove(self) -> None:
        """Do nothing: the rows stay, as how long scopes took is asked again."""

    # --- what those who collect do

    @contextmanager
    def begun(self, number: int, scopes: Sequence[Scope]) -> Iterator[dict[Scope, Known] | None]:
        """Hold a group and yield its scopes; None where it is not to be begun."""
        with self.lake.try_lock(self._lock(number)) as is_held:
            if not is_held or self._word(number):
                yield None
                return
            self._append(number, None, BEGUN)
            yield {scope: Known() for scope in scopes}

    def give(self, number: int, collected: Collected) -> None:
        """Say what became of a scope."""
        error = collected.error
        told = {
            "results": [{**asdict(each), "observed_at": stamp(each.observed_at)} for each in collected.results],
            "notes": collected.notes,
            "error": error.as_dict() if error else None,
        }
        self._append(number, collected, json.dumps(told, ensure_ascii=False))

    # --- within

    def _lock(self, number: int) -> str:
        return f"group {number} of {self.run_id}"

    def _word(self, number: int) -> str:
        row = self.con.execute(
            "select any_value(told) from meta.collection where run_id = ? and group_number = ? and source is null",
            [self.run_id, number],
        ).fetchone()
        return str(row[0]) if row and row[0] else ""

    def _append(self, number: int, collected: Collected | None, told: str) -> None:
        of_scope = (collected.source, collected.scope, collected.seconds) if collected else (None, None, None)
        row = (self.run_id, number, *of_scope, told, naive(datetime.now(UTC)))
        transacted(self.con, partial(insert_rows, self.con, COLUMNS, [row]))


def of_run(one: steps.Run) -> HandedShared | Handed:
    """Return what a run hands over with."""
    if one.lake is None:
        return Handed(one.settings.data_dir, one.landing, one.summary.run_id)
    return HandedShared(one.con, one.lake, one.summary.run_id)


@contextmanager
def opened(settings: Settings, run_id: str) -> Iterator[HandedShared | Handed]:
    """Yield what one who collects for a run hands over with."""
    place = settings.place()
    if not place.is_shared:
        yield Handed(settings.data_dir, settings.landing(), run_id)
        return
    with db.open_log(place) as con:
        shared = lake.of(con)
        if shared is None:
            raise ValueError("a shared warehouse without a lake")
        yield HandedShared(con, shared, run_id)


def _collected(source: str, scope: str, seconds: float | None, told: Mapping[str, Any]) -> Collected:
    return Collected(
        source=source,
        scope=scope,
        seconds=seconds,
        results=tuple(LookResult(**{**each, "observed_at": unstamp(each["observed_at"])}) for each in told["results"]),
        notes=tuple(told["notes"]),
        error=error_of(told["error"]),
    )
