"""What bench/scale.py measures: making a log, publishing it, loading a day, and publishing that.

A market is that of bench/growth_log.py; above MOST prices its regions are repeated under other names, as those of other
accounts would be, so that the rows of a scope stay as many as they are.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from bench import growth_log
from flows.collect import publisher
from flows.config.settings import Settings
from warehouse.lake.place import Place
from warehouse.log import db
from warehouse.log.load import load

MOST = 100_000
"""Prices of one market; more are markets beside it."""
DAY = "day.parquet"
MADE = re.compile(
    r"\s*(create(?: or replace)?(?: temp)? (?:table|view|macro)|insert into|attach|copy) (\S+?)[\s(;]", re.I
)


class Statements:
    """Seconds of DuckDB's statements by their name: those that make something by what, others by their start."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.longest = ("", 0.0)
        self._one_at_a_time = threading.Lock()

    def add(self, query: object, seconds: float) -> None:
        """Count one statement."""
        text = str(query)
        found = MADE.match(text)
        name = f"{found[1].lower()} {found[2]}" if found else " ".join(text.split())[:60]
        with self._one_at_a_time:
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
            if seconds > self.longest[1]:
                self.longest = (name, seconds)


class Timed:
    """A connection of DuckDB whose statements are timed; all else is the connection's own."""

    def __init__(self, con: duckdb.DuckDBPyConnection, statements: Statements) -> None:
        self._con, self._statements = con, statements

    def __getattr__(self, name: str) -> Any:
        return getattr(self._con, name)

    def __enter__(self) -> "Timed":
        return self

    def __exit__(self, *raised: object) -> None:
        self._con.close()

    def cursor(self) -> "Timed":
        """Return another connection to the same database, timed too."""
        return Timed(self._con.cursor(), self._statements)

    def commit(self) -> None:
        """Commit; on a lake this is where rows reach the catalogue."""
        self._asked("commit", self._con.commit)

    def execute(self, query: object, parameters: object = None) -> Any:
        """Execute and time a statement; rows that are fetched afterwards may take more."""
        return self._asked(query, lambda: self._con.execute(query, parameters))

    def executemany(self, query: object, parameters: object = None) -> Any:
        """Execute and time a statement for many rows."""
        return self._asked(query, lambda: self._con.executemany(query, parameters))

    def _asked(self, query: object, ask: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        try:
            return ask()
        finally:
            self._statements.add(query, time.perf_counter() - began)


@contextmanager
def timed_statements(threads: int | None = None) -> Iterator[Statements]:
    """Time every statement of the connections that are made meanwhile, which have so many threads, or all cores."""
    statements, connect = Statements(), duckdb.connect

    def timed(*given: Any, **named: Any) -> Any:
        con = connect(*given, **named)
        if threads:
            con.execute(f"set threads = {threads}")
        return Timed(con, statements)

    duckdb.connect = timed
    try:
        yield statements
    finally:
        duckdb.connect = connect


def market(n_prices: int) -> growth_log.Market:
    """Return so many offers; above MOST in regions, or as machines of neoclouds, of several names."""
    found = growth_log.market(min(n_prices, MOST))
    copies = []
    for number in range(-(-n_prices // MOST)):
        is_aws = pl.col("service_provider_name") == "AWS"
        renamed = [
            pl.when(is_aws).then(pl.col(name) + f"-{number}").otherwise(pl.col(name)).alias(name)
            for name in ("scope", "region_id", "availability_zone")
        ]
        cloud = pl.when(is_aws).then("instance_type").otherwise(pl.col("instance_type") + f"-{number}")
        copies.append(found.offers.with_columns(*renamed, instance_type=cloud) if number else found.offers)
    return growth_log.Market(pl.concat(copies).head(n_prices), found.dice)


def make(place: Place, folder: Path, *, n_prices: int, days: int) -> dict[str, object]:
    """Make the log that so many daily runs would have left, and the prices of the day after them, as a file."""
    first = growth_log.LAST_DAY - timedelta(days=days)
    today = market(n_prices)
    # Made-up prices lie outside the ranges of their chips: the gate of first sight would let them wait.
    looks = [replace(look, trusted=True) for look in today.looks(first)]
    with db.open_log(place) as con:
        growth_log.add_documents(con, looks, first, 1)
        checked(load(con, looks, recorded_at=first), n_prices)
        if days > 1:
            growth_log.add_documents(con, looks, first + timedelta(days=1), days - 1, with_looks=True)
            growth_log.add_moves(con, first, days)
        growth_log.last_prices(con, today)
        told = n_events(con)
    n_changed = today.turn()
    moved = today.offers.with_columns(price=(pl.col("price") * pl.Series(today.factor)).round(4))
    moved.write_parquet(folder / DAY)
    return {"n_events": told, "n_changed": n_changed, "n_scopes": len(looks)}


def load_day(place: Place, folder: Path, *, n_changed: int, around: Callable[[], Any]) -> dict[str, object]:
    """Load the day after; only what goes on within `around` counts. Raises ValueError where not all was loaded."""
    today = growth_log.Market(pl.read_parquet(folder / DAY), growth_log.random.Random(0))
    with db.open_log(place) as con:
        now = next_day(con)
        looks = today.looks(now)
        growth_log.add_documents(con, looks, now, 1)
        with around():
            results = load(con, looks, recorded_at=now)
        found = checked(results, n_changed)
        return {"n_events": n_events(con), "n_new": found, "n_rows": len(today.offers)}


def publish(place: Place, around: Callable[[], Any]) -> dict[str, object]:
    """Publish the log with all marts; of a lake, where its readers find it, too."""
    with db.open_log(place) as con:
        now = next_day(con) - timedelta(days=1) + timedelta(minutes=10)
        with around():
            publisher.publish_log(con, place.data_dir, now, settings=Settings(data_dir=place.data_dir))
        return {"n_events": n_events(con)}


def next_day(con: duckdb.DuckDBPyConnection) -> datetime:
    """Return the moment a day after the last look."""
    (last,) = con.execute("select max(observed_at) from log.scope_fetch").fetchone() or (None,)
    if last is None:
        raise ValueError("a log without looks")
    return last.replace(tzinfo=UTC) + timedelta(days=1)


def n_events(con: duckdb.DuckDBPyConnection) -> int:
    """Return how many events the log has."""
    (found,) = con.execute("select count(*) from core.price_event").fetchone() or (0,)
    return int(found)


def checked(results: list[Any], n_expected: int) -> int:
    """Return the number of events, and raise ValueError unless all looks were good and gave about as many as expected.

    A price may move by less than its last digit.
    """
    found = sum(result.n_events for result in results)
    bad = [result for result in results if result.status != "ok"]
    if bad or abs(found - n_expected) > max(2, n_expected // 100):
        raise ValueError(f"{n_expected} events expected, {found} found; {len(bad)} looks not good: {bad[:1]}")
    return found
