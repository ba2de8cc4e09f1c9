"""Rebuilding the log from the landing folder alone, into a file beside, compared with the one in use, then swapped in.

Both logs are published with the same clock and the same marts, so that what differs is what the logs say. The log in
use stays until the new one is proven equal, or a person accepts the difference; then it is set aside, not deleted.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import duckdb

from flows.backup import retention
from flows.collect import ingest, publisher, steps
from flows.config.settings import RankingSettings, Settings
from warehouse import disk
from warehouse.errors import ChipledgerError
from warehouse.landing import packs
from warehouse.landing.folder import Landing
from warehouse.log import content, db
from warehouse.log.content import TableHash
from warehouse.publish.published_file import FILE_NAME

NEW = "rebuilt.duckdb"


@dataclass(kw_only=True)
class Rebuilt:
    """What a rebuild gave: hashes of all tables of the new log and of the one in use, as published, and what was done.

    `before` is empty where there was no log in use; `unreadable` says why where it could not be opened.
    """

    after: dict[str, TableHash]
    before: dict[str, TableHash] = field(default_factory=dict)
    unreadable: str = ""
    notes: list[str] = field(default_factory=list)
    n_fetches: int = 0
    is_in_use: bool = False
    set_aside: Path | None = None

    @property
    def differing(self) -> list[str]:
        """Return the tables whose content differs; none where there was nothing to compare with."""
        return content.differing(self.before, self.after) if self.before else []

    def lines(self) -> Iterator[str]:
        """Yield the outcome for people: the hash of each table, and what differs."""
        for name, table in self.after.items():
            mark = "  DIFFERS" if name in self.differing else ""
            yield f"{table.sha256}  {table.n_rows:>9}  {name}{mark}"
        yield f"{content.whole(self.after)}  all tables, rebuilt from {self.n_fetches} fetches"
        if self.before:
            yield f"{content.whole(self.before)}  all tables, as they were"
        elif self.unreadable:
            yield f"the log that was in use cannot be read: {self.unreadable}"
        else:
            yield "there was no log to compare with"
        for name in self.differing:
            was, now = self.before.get(name), self.after.get(name)
            yield f"{name}: {was.n_rows if was else 'no'} rows before, {now.n_rows if now else 'no'} rows now"
        for note in self.notes:
            yield f"note: {note}"
        if self.is_in_use:
            yield f"equal, and in use; the old log lies in {self.set_aside}" if self.set_aside else "in use"
        else:
            yield "the log in use stays; `chipledger data rebuild --accept` takes the new one"


def rebuild(
    settings: Settings,
    *,
    accept: bool = False,
    clock: Callable[[], datetime] = steps.utc_now,
    progress: steps.Progress = lambda message: None,
) -> Rebuilt:
    """Make the log anew and put it into use where it equals the old one, or with `accept`. Raises ChipledgerError."""
    data_dir, ranking = settings.data_dir, settings.ranking
    now = clock()
    with (
        disk.faults(data_dir),
        db.locked(data_dir, wait_seconds=settings.wait_seconds),
        _folder(data_dir / ".rebuild") as scratch,
    ):
        landing = Landing(data_dir / "landing")
        unpacked = packs.unpack(landing)
        if not landing.parts():
            raise ChipledgerError(
                "there is no journal to rebuild from",
                source=str(landing.journal),
                hint="`chipledger data restore` brings the landing folder back from a backup",
            )
        progress("reading all landed documents")
        with _opened(scratch / NEW) as con:
            results, notes = ingest.catch_up(con, landing)
            progress("publishing the new log")
            new = publisher.publish_log(con, scratch, now, ranking=ranking)
            con.execute("checkpoint")  # all of it in the one file that is moved
        made = Rebuilt(after=_hashes(new), notes=[*unpacked, *notes], n_fetches=len(results))
        in_use = data_dir / db.FILE_NAME
        if in_use.exists():
            progress("publishing the log in use")
            try:
                made.before = _published(in_use, landing, scratch / "before", now, ranking)
            except (ChipledgerError, duckdb.Error) as error:
                made.unreadable = str(error).splitlines()[0]
        if made.differing and not accept:
            return made
        if in_use.exists():
            made.set_aside = _set_aside(in_use, now)
        (scratch / NEW).replace(in_use)
        # A .wal left beside the published file would be replayed into the new one.
        (data_dir / f"{FILE_NAME}.wal").unlink(missing_ok=True)
        new.replace(data_dir / FILE_NAME)
        made.is_in_use = True
    return made


def _published(
    log: Path, landing: Landing, folder: Path, now: datetime, ranking: RankingSettings
) -> dict[str, TableHash]:
    """Return the hashes of what the log in use says, with what was landed and not yet loaded."""
    folder.mkdir()
    with _opened(log) as con:
        with suppress(ChipledgerError):  # of a journal that was cut: what the log says by itself is compared
            ingest.catch_up(con, landing)
        return _hashes(publisher.publish_log(con, folder, now, ranking=ranking))


@contextmanager
def _opened(log: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a log for one thread: several would add up doubles in another order each time, to other last digits."""
    with db.open_build(log) as con:
        con.execute("set threads = 1")
        yield con


def _hashes(file: Path) -> dict[str, TableHash]:
    with duckdb.connect(str(file), read_only=True) as con:
        con.execute("set timezone = 'UTC'")
        return content.tables(con)


def _set_aside(log: Path, now: datetime) -> Path:
    """Move the log, and what DuckDB left beside it, out of the way; return its new path."""
    target = log.parent / retention.REPLACED / f"{log.stem}-{now:%Y%m%dT%H%M%SZ}{log.suffix}"
    target.parent.mkdir(exist_ok=True)
    log.replace(target)
    # A .wal left beside the new log would be replayed into it.
    wal = log.with_name(f"{log.name}.wal")
    if wal.exists():
        wal.replace(target.with_name(f"{target.name}.wal"))
    return target


@contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder that is gone afterwards; what a killed rebuild left in it goes first."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
