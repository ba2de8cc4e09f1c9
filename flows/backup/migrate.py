"""Moving a whole history from one warehouse into another: file to lake, lake to file, and proof that both say the same.

Nothing is taken away: the source stays as it is, and the settings say from then on which of them is used.
"""

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import duckdb

from flows.collect import ingest, publisher, steps
from flows.config.settings import RankingSettings, Settings
from warehouse import disk
from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake, transfer
from warehouse.lake.place import Place
from warehouse.lake.transfer import POSITION, Landed
from warehouse.landing import packs
from warehouse.landing.folder import Landing
from warehouse.log import content, db
from warehouse.log.content import TableHash

SCRATCH = ".migrate"


@dataclass(kw_only=True)
class Moved:
    """What was moved: hashes of the log's tables, what was copied of the landing, the published file, and seconds."""

    log: dict[str, TableHash]
    published: dict[str, TableHash] = field(default_factory=dict)
    landed: Landed | None = None
    file: Path | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    n_bytes: int | None = None

    def lines(self) -> Iterator[str]:
        """Yield what was done, for people."""
        for name, table in self.log.items():
            yield f"{table.sha256}  {table.n_rows:>9}  {name}"
        yield f"{content.whole(self.log)}  all tables of the log, in both"
        yield f"{content.whole(self.published)}  all tables published, of both"
        if self.landed:
            yield (
                f"{self.landed.n_documents} documents of {self.landed.n_bytes / 1e6:.1f} MB and {self.landed.n_lines} "
                "lines of the journal copied, every hash as it was"
            )
            if self.landed.missing:
                yield (
                    f"{len(self.landed.missing)} documents are missing or damaged in the source, and missing in the "
                    f"target, such as {self.landed.missing[0]}"
                )
        if self.n_bytes is not None:
            yield f"the target's rows take {self.n_bytes / 1e6:.2f} MB"
        yield ", ".join(f"{what} {seconds:.1f} s" for what, seconds in self.seconds.items())
        yield f"file: {self.file}"


def migrate(
    source: Settings, target: Settings, *, clock: steps.Clock = steps.utc_now, progress: steps.Progress = print
) -> Moved:
    """Copy the log and the landing of one deployment into another, empty one, and compare them. Raises ChipledgerError.

    Whoever else writes the source has to stop: that nobody did is looked at in the end.
    """
    places = source.place(), target.place()
    _refuse_same(*places)
    now = clock()
    with (
        disk.faults(target.data_dir),
        db.open_log(places[0], wait_seconds=source.wait_seconds) as old,
        db.open_log(places[1], wait_seconds=target.wait_seconds) as new,
    ):
        landings = source.landing(), target.landing()
        if not places[0].is_shared:
            packs.unpack(landings[0])
        is_elsewhere = str(landings[0].place) != str(landings[1].place)
        _refuse_unloaded(old, landings[0])
        transfer.refuse_full(new, places[1].url)
        if is_elsewhere:
            transfer.refuse_landed(landings[1])
        watch = _Watch()
        landed = None
        if is_elsewhere:
            progress("copying what was landed")
            landed = transfer.copy_landing(*landings)
            watch.note("landing")
        progress("copying the log")
        transfer.copy_tables(old, new, ends=landed.ends if landed else None)
        watch.note("log")
        progress("comparing the logs")
        log = _compared(old, new, without=(POSITION,) if landed else ())
        watch.note("comparison")
        progress("publishing both")
        published, file = _published(old, new, places, now, target.ranking)
        watch.note("publishing")
        _refuse_unloaded(old, landings[0])
        if ducklake.of(new) is None:
            new.execute("checkpoint")
        return Moved(
            log=log,
            published=published,
            landed=landed,
            file=file,
            seconds=watch.seconds,
            n_bytes=_size(new) if ducklake.of(new) else (places[1].data_dir / db.FILE_NAME).stat().st_size,
        )


class _Watch:
    """Seconds of each part of some work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.monotonic()

    def note(self, what: str) -> None:
        now = time.monotonic()
        self.seconds[what], self._last = now - self._last, now


def _refuse_same(source: Place, target: Place) -> None:
    is_one_file = not source.is_shared and not target.is_shared
    if source == target or (is_one_file and source.data_dir.resolve() == target.data_dir.resolve()):
        raise ChipledgerError(
            "the target is the source",
            source="migrate",
            field="to",
            value=target.url,
            hint="Name another warehouse with --to, or another data directory with --into",
        )


def _refuse_unloaded(con: duckdb.DuckDBPyConnection, landing: Landing) -> None:
    """Raise where something was landed and not loaded: the positions in the copy would be of another journal."""
    loaded = ingest.loaded_positions(con)
    for part in landing.parts():
        if landing.is_beyond(loaded.get(part, 0), part):
            raise ChipledgerError(
                "something was landed that is not loaded yet, or somebody writes",
                source=str(landing.place),
                field="part",
                value=part or "journal.jsonl",
                hint="End all runs, then `chipledger build`, then migrate",
            )


def _compared(
    old: duckdb.DuckDBPyConnection, new: duckdb.DuckDBPyConnection, *, without: tuple[str, ...]
) -> dict[str, TableHash]:
    was, now = transfer.hashes(old, without=without), transfer.hashes(new, without=without)
    _refuse_differing(was, now, "log")
    return now


def _refuse_differing(was: Mapping[str, TableHash], now: Mapping[str, TableHash], what: str) -> None:
    differing = content.differing(was, now)
    if differing:
        raise ChipledgerError(
            f"the {what} in the target is not that of the source",
            source="migrate",
            field="table",
            value=", ".join(differing),
            hint="End all runs, empty the target, and migrate again",
        )


def _published(
    old: duckdb.DuckDBPyConnection,
    new: duckdb.DuckDBPyConnection,
    places: tuple[Place, Place],
    now: datetime,
    ranking: RankingSettings,
) -> tuple[dict[str, TableHash], Path]:
    """Publish both logs with one clock, the source's beside, and return what both say, and the target's file."""
    with ExitStack() as after:
        scratch = places[1].data_dir / SCRATCH
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        after.callback(shutil.rmtree, scratch, ignore_errors=True)
        for con in (old, new):
            # Several threads would add up doubles in another order each time, to other last digits.
            row = con.execute("select current_setting('threads')").fetchone()
            con.execute("set threads = 1")
            after.callback(con.execute, f"set threads = {row[0] if row else 1}")
        was = _hashes(publisher.publish_log(old, scratch, now, ranking=ranking))
        file = publisher.publish_log(new, places[1].data_dir, now, ranking=ranking)
        found = _hashes(file)
    _refuse_differing(was, found, "published file")
    return found, file


def _hashes(file: Path) -> dict[str, TableHash]:
    with duckdb.connect(str(file), read_only=True) as con:
        con.execute("set timezone = 'UTC'")
        return content.tables(con)


def _size(con: duckdb.DuckDBPyConnection) -> int:
    row = con.execute(f"select sum(file_size_bytes) from ducklake_table_info('{ducklake.NAME}')").fetchone()
    return int(row[0] or 0) if row else 0
