"""Replicas of the log: rebuilt from the landing folder, or migrated into another warehouse, and compared.

Both logs are published with the same clock and the same marts, so that what differs is what the logs say. The log in
use stays until the new one is proven equal, or a person accepts the difference; then it is set aside, not deleted.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path

import duckdb

from flows.backup.snapshot import RECORDS, hashes, scratch_folder
from flows.collect import ingest, publisher, steps
from flows.config.settings import Settings
from flows.shared import Clock, Progress
from flows.shared.append_log import Lines
from warehouse import disk
from warehouse.errors import ChipledgerError, count
from warehouse.lake import ducklake
from warehouse.landing import packs
from warehouse.landing.folder import Landing
from warehouse.landing.journal import Files
from warehouse.log import content, db
from warehouse.log.content import TableHash
from warehouse.log.db import insert_rows
from warehouse.publish import published_file
from warehouse.publish.published_file import FILE_NAME, REPLACED

NEW = "rebuilt.duckdb"
SCRATCH = ".migrate"
MADE = {"core.instance_type", "meta.migration", "meta.made", "meta.publication", "meta.reserved"}
"""Tables that each warehouse makes for itself."""
READ_AS = {"log.price_open": "log.open_link"}
"""Tables of which a lake holds rows that no longer count, and the views that leave them out."""
POSITION = "core.journal_position"
LINES = 1000
"""Lines of the journal that are written at once."""
_one_thread = partial(db.few_threads, n_rows=0)
"""Several threads would add up doubles in another order each time, to other last digits."""


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
        """Yield the outcome for people: the hash of all tables, and what differs."""
        tables, rows = len(self.after), count(sum(table.n_rows for table in self.after.values()), "row")
        fetches = count(self.n_fetches, "fetch", "fetches")
        yield f"{count(tables, 'table')} of {rows}, rebuilt from {fetches}: {content.whole(self.after)}"
        if self.before:
            yield f"as they were: {content.whole(self.before)}"
        elif self.unreadable:
            yield f"the log that was in use cannot be read: {self.unreadable}"
        else:
            yield "there was no log to compare with"
        for name in self.differing:
            was, now = (count(log[name].n_rows if name in log else 0, "row") for log in (self.before, self.after))
            yield f"{name}: {was} before, {now} now"
        for note in self.notes:
            yield f"note: {note}"
        if self.is_in_use:
            yield f"equal, and in use; the old log lies in {self.set_aside}" if self.set_aside else "in use"
        else:
            yield "the log in use stays; `chipledger data rebuild --accept` takes the new one"


def rebuild(
    settings: Settings, *, accept: bool = False, clock: Clock = steps.utc_now, progress: Progress = lambda message: None
) -> Rebuilt:
    """Make the log anew and put it into use where it equals the old one, or with `accept`. Raises ChipledgerError."""
    data_dir, now = settings.data_dir, clock()
    place = data_dir / "landing"
    if not Files(place).parts():  # nothing is made: a backup is restored into an empty folder
        hint = "`chipledger data restore` brings the landing folder back from a backup"
        raise ChipledgerError("there is no journal to rebuild from", source=str(place), hint=hint)
    with (
        disk.faults(data_dir),
        db.locked(data_dir, wait_seconds=settings.wait_seconds),
        scratch_folder(data_dir / ".rebuild") as scratch,
    ):
        landing = Landing(place)
        unpacked = packs.unpack(landing)
        progress("reading all landed documents")
        with db.open_build(scratch / NEW) as con, _one_thread(con):
            results, notes = ingest.catch_up(con, landing)
            progress("publishing the new log")
            new = publisher.publish_log(con, scratch, now, settings=settings)
            con.execute("checkpoint")  # all of it in the one file that is moved
        made = Rebuilt(after=hashes(new), notes=[*unpacked, *notes], n_fetches=len(results))
        in_use = data_dir / db.FILE_NAME
        if in_use.exists():
            progress("publishing the log in use")
            try:
                made.before = _published(in_use, landing, scratch / "before", now, settings)
            except (ChipledgerError, duckdb.Error) as error:
                made.unreadable = str(error).splitlines()[0]
        if made.differing and not accept:
            return made
        published = data_dir / FILE_NAME
        if other := published_file.other_history(new, published, unless="chipledger data rebuild --accept"):
            if not accept:
                raise other
            published_file.set_aside(published, now)
        if in_use.exists():
            made.set_aside = _set_aside(in_use, now)
        (scratch / NEW).replace(in_use)
        # A .wal left beside the published file would be replayed into the new one.
        published.with_name(f"{FILE_NAME}.wal").unlink(missing_ok=True)
        new.replace(published)
        made.is_in_use = True
    return made


def _published(log: Path, landing: Landing, folder: Path, now: datetime, settings: Settings) -> dict[str, TableHash]:
    """Return the hashes of what the log in use says, with what was landed and not yet loaded."""
    folder.mkdir()
    with db.open_build(log) as con, _one_thread(con):
        with suppress(ChipledgerError):  # of a journal that was cut: what the log says by itself is compared
            ingest.catch_up(con, landing)
        return hashes(publisher.publish_log(con, folder, now, settings=settings))


def _set_aside(log: Path, now: datetime) -> Path:
    """Move the log, and what DuckDB left beside it, out of the way; return its new path."""
    target = log.parent / REPLACED / f"{log.stem}-{now:%Y%m%dT%H%M%SZ}{log.suffix}"
    target.parent.mkdir(exist_ok=True)
    log.replace(target)
    # A .wal left beside the new log would be replayed into it.
    wal = log.with_name(f"{log.name}.wal")
    if wal.exists():
        wal.replace(target.with_name(f"{target.name}.wal"))
    return target


@dataclass(frozen=True, kw_only=True)
class Landed:
    """What was copied of a landing: documents and their bytes, lines of the journal, and documents that are not there.

    `ends` are the positions after the last line of each part, in the target.
    """

    n_documents: int
    n_bytes: int
    n_lines: int
    missing: tuple[str, ...]
    ends: Mapping[str, int]


@dataclass(kw_only=True)
class Moved:
    """What was moved: hashes of the log's tables, what was copied of the landing, and the published file."""

    log: dict[str, TableHash]
    published: dict[str, TableHash]
    landed: Landed | None
    file: Path

    def lines(self) -> Iterator[str]:
        yield f"{content.whole(self.log)}  all tables of the log, in both"
        yield f"{content.whole(self.published)}  all tables published, of both"
        if self.landed:
            yield (
                f"{count(self.landed.n_documents, 'document')} of {self.landed.n_bytes / 1e6:.1f} MB and "
                f"{count(self.landed.n_lines, 'line')} of the journal copied, every hash as it was"
            )
            if self.landed.missing:
                yield (
                    f"{count(len(self.landed.missing), 'document')} missing or damaged in the source, and missing in "
                    f"the target, such as {self.landed.missing[0]}"
                )
        yield f"file: {self.file}"


def migrate(source: Settings, target: Settings, *, clock: Clock = steps.utc_now, progress: Progress = print) -> Moved:
    """Copy the log and the landing of one deployment into another, empty one, and compare them. Raises ChipledgerError.

    Whoever else writes the source has to stop: that nobody did is looked at in the end.
    """
    places = one, other = source.place(), target.place()
    is_one_file = not one.is_shared and not other.is_shared
    if one == other or (is_one_file and one.data_dir.resolve() == other.data_dir.resolve()):
        hint = "Name another warehouse with --to, or another data directory with --into"
        raise ChipledgerError("the target is the source", source="migrate", field="to", value=other.url, hint=hint)
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
        refuse_full(new, places[1].url)
        landed = None
        if is_elsewhere:
            refuse_landed(landings[1])
            progress("copying what was landed")
            landed = copy_landing(*landings)
        progress("copying the log")
        copy_tables(old, new, ends=landed.ends if landed else None)
        progress("comparing the logs")
        without = (POSITION,) if landed else ()
        log = log_hashes(new, without=without)
        _refuse_differing(log_hashes(old, without=without), log, "log")
        progress("publishing both")
        published, file = _published_both(old, new, now, target)
        _refuse_unloaded(old, landings[0])
        for name in RECORDS:
            moved, sent = (
                Lines(path=each.data_dir / name, needed=(), shared=each.shared_records()) for each in (target, source)
            )
            moved.take(sent)
        return Moved(log=log, published=published, landed=landed, file=file)


def _refuse_unloaded(con: duckdb.DuckDBPyConnection, landing: Landing) -> None:
    """Raise where something was landed and not loaded: the positions in the copy would be of another journal."""
    loaded = ingest.loaded_positions(con)
    for part in landing.journal.parts():
        if landing.journal.is_beyond(part, loaded.get(part, 0)):
            raise ChipledgerError(
                "something was landed that is not loaded yet, or somebody writes",
                source=str(landing.place),
                field="part",
                value=part or "journal.jsonl",
                hint="End all runs, then `chipledger build`, then migrate",
            )


def _refuse_differing(was: Mapping[str, TableHash], now: Mapping[str, TableHash], what: str) -> None:
    differing = content.differing(was, now)
    if differing:
        hint = "End all runs, empty the target, and migrate again"
        message = f"the {what} in the target is not that of the source"
        raise ChipledgerError(message, source="migrate", field="table", value=", ".join(differing), hint=hint)


def _published_both(
    old: duckdb.DuckDBPyConnection,
    new: duckdb.DuckDBPyConnection,
    now: datetime,
    target: Settings,
) -> tuple[dict[str, TableHash], Path]:
    """Publish both logs as of one moment in the scratch folder, then the target's; return its content and its file."""
    with scratch_folder(target.data_dir / SCRATCH) as scratch, _one_thread(old), _one_thread(new):
        was = hashes(publisher.publish_log(old, scratch, now, settings=target))
        (scratch / "target").mkdir()
        found = hashes(publisher.publish_log(new, scratch / "target", now, settings=target))
        _refuse_differing(was, found, "published file")
        return found, publisher.publish_log(new, target.data_dir, now, settings=target)


def _copied_tables(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of the tables that a move copies, in order."""
    rows = con.execute(
        "select schema_name || '.' || table_name from duckdb_tables() "
        "where database_name = current_database() and schema_name in ('core', 'log', 'meta') order by all"
    ).fetchall()
    return [name for (name,) in rows if name not in MADE]


def refuse_full(con: duckdb.DuckDBPyConnection, where: str) -> None:
    """Raise ChipledgerError where a log holds a row of its own."""
    for name in _copied_tables(con):
        ((n_rows,),) = con.execute(f"select count(*) from {name}").fetchall()
        if n_rows:
            message = "the target holds something already"
            hint = "Name an empty one: nothing is ever mixed or written over"
            raise ChipledgerError(message, source=where, field=name, value=count(n_rows, "row"), hint=hint)


def refuse_landed(landing: Landing) -> None:
    """Raise ChipledgerError where a landing holds a journal."""
    if landing.journal.parts():
        raise ChipledgerError(
            "the target's landing holds a journal already",
            source=str(landing.place),
            field="warehouse.landing",
            value=f"{len(landing.journal.parts())} parts",
            hint="Name an empty place, or the source's own to share it",
        )


def copy_tables(
    source: duckdb.DuckDBPyConnection, target: duckdb.DuckDBPyConnection, *, ends: Mapping[str, int] | None
) -> None:
    """Copy all rows of a log into an empty one, in one transaction. Raises ChipledgerError.

    `ends` are the journal's positions in the target; None where both read the same journal.
    """
    names = _copied_tables(source)
    if names != _copied_tables(target):
        differing = sorted({*names} ^ {*_copied_tables(target)})
        raise ChipledgerError("the two logs have other tables", source="migrate", field="table", value=differing[0])

    def copied() -> None:
        for name in names:
            if name == POSITION and ends is not None:
                ((at,),) = source.execute(f"select max(recorded_at) from {POSITION}").fetchall()
                insert_rows(target, POSITION, [(end, at, part) for part, end in ends.items()])
                continue
            target.register("moved", source.execute(f"from {READ_AS.get(name, name)}").to_arrow_reader(1 << 16))
            try:
                target.execute(f"insert into {name} by name select * from moved")
            finally:
                target.unregister("moved")

    ducklake.transacted(target, copied)


def log_hashes(con: duckdb.DuckDBPyConnection, *, without: tuple[str, ...] = ()) -> dict[str, TableHash]:
    """Return the hash of each table that a move copies."""
    found = content.tables(con, ("core", "log", "meta"))
    return {name: found[READ_AS.get(name, name)] for name in _copied_tables(con) if name not in without}


def copy_landing(source: Landing, target: Landing) -> Landed:
    """Copy the journal, line by line, and every document it names, each checked by its hash. Raises ChipledgerError.

    What the journal does not name is the user's own, and stays.
    """
    known: dict[str, None] = {}
    for entry in source.entries():
        if entry.kind == "look":
            known |= dict.fromkeys(document["sha256"] for document in entry.content["documents"])
    missing: list[str] = []
    n_bytes = 0
    for sha256 in known:
        try:
            body = source.body(sha256)
        except ChipledgerError:
            missing.append(sha256)
            continue
        n_bytes += len(body)
        target.store_body(sha256, body)
    n_lines, ends = 0, {}
    for part in source.journal.parts():
        lines = (line.rstrip(b"\n") for line, _ in source.journal.lines(part, 0))
        while batch := list(islice(lines, LINES)):
            target.journal.append(part, b"\n".join(batch))
            n_lines += len(batch)
        ends[part] = _compared(source, target, part)
    return Landed(
        n_documents=len(known) - len(missing), n_bytes=n_bytes, n_lines=n_lines, missing=tuple(missing), ends=ends
    )


def _compared(source: Landing, target: Landing, part: str) -> int:
    """Return the position after a part's last line in the target; raise ChipledgerError where the lines differ."""
    end, digests = 0, (hashlib.sha256(), hashlib.sha256())
    for landing, digest in zip((source, target), digests, strict=True):
        for line, end in landing.journal.lines(part, 0):  # noqa: B007 - its last value is returned
            digest.update(line.rstrip(b"\n") + b"\n")
    if digests[0].digest() != digests[1].digest():
        message = "the journal was written to while it was copied, or not copied whole"
        hint = "End all runs, empty the target, and migrate again"
        raise ChipledgerError(message, source=str(target.place), field="part", value=part, hint=hint)
    return end
