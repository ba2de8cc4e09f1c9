"""What `chipledger doctor` checks: files, credentials, network, clock, servers; none of it writes a price."""

import importlib.metadata
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

import extract
from flows.collect import fetch_times, ingest, truth
from flows.config.settings import Settings
from flows.doctor import services
from flows.doctor.row import Row, fail, ok, warn
from flows.private import fleet
from flows.shared import Clock, Progress
from reports import wording
from warehouse import disk
from warehouse.errors import ChipledgerError, WriterBusy
from warehouse.lake import ducklake, publication
from warehouse.lake.place import Place
from warehouse.landing.folder import Landing
from warehouse.landing.journal import CUT, Files, lock_of
from warehouse.landing.storage import Bucket, is_bucket
from warehouse.log import db


def all_checks(
    settings: Settings,
    *,
    offline: bool = False,
    environ: Mapping[str, str] | None = None,
    clock: Clock = lambda: datetime.now(UTC),
    progress: Progress = lambda message: None,
) -> list[Row]:
    """Return the results of all checks; `offline` leaves out those that need the network, and warns."""
    environ = os.environ if environ is None else environ
    progress("checking files")
    rows = [
        ok("versions", f"Python {sys.version.split()[0]}, DuckDB {duckdb.__version__}"),
        *data_files(settings, clock()),
        *shared_warehouse(settings, clock(), offline=offline),
        *fleet.doctor(settings),
        *services.alerts(settings),
        *services.heartbeat(settings),
    ]
    if offline:
        left_out = "network, clock, AWS credentials, mail server, Prefect: not checked"
        return [*rows, warn("network", left_out, "Leave out --offline to check them")]
    rows += services.hosts(settings, clock=clock, progress=progress)
    progress("checking what credentials allow")
    rows += services.aws(settings)
    progress("checking the mail server and Prefect")
    return rows + services.mails(settings) + services.prefect(environ)


MIN_FREE_BYTES, SCARCE_BYTES = 1 << 30, 5 << 30
"""A run needs about 1 GB for a moment; below the second number a history has not long to grow."""
RIGHTS = "docs/warehouse-shared.md has the rights that readers and writers need"
SAMPLE = 40
"""Documents that are read back: the newest half of them, and as many of all others."""
OLD = timedelta(days=2)
TABLES = """
select concat('"', replace(schema_name, '"', '""'), '"."', replace(table_name, '"', '""'), '"')
from duckdb_tables() where not internal
"""
DOCUMENTS = """
select document_sha256 from core.document group by all order by max(recorded_at), document_sha256
"""
"""The documents of a log, the newest last."""
HEALTH = """
select
    h.source,
    count(*) as n_scopes,
    count(*) filter (where h.last_good_at between $now::TIMESTAMP - to_hours(s.max_age_hours) and $now) as n_fresh,
    count(*) filter (where h.last_good_at is null) as n_never,
    min(h.last_good_at) as oldest,
    any_value(h.error) filter (where h.error <> '') as error
from int.source_health as h
inner join core.source as s on h.source = s.source
where h.kind in ('live', 'off') and s.max_age_hours is not null
group by h.source
"""


def data_files(settings: Settings, now: datetime) -> list[Row]:
    """Return what the data directory is like; none of it is changed. Of a shared warehouse there are more checks."""
    folder, landing = settings.data_dir, settings.landing_place()
    file, rows = folder / "prices.duckdb", [_data_dir(folder), _space(folder)]
    if not settings.place().is_shared:
        rows += [published(file, now), *_writer(folder, landing, now), *_landing(landing)]
    if file.exists():
        try:
            rows += [*_freshness(settings, file, now), *truth.doctor(file)]
        except duckdb.Error as error:
            fault = str(error).splitlines()[0]
            rows.append(warn("freshness, truth checks", fault, "`chipledger build` makes the file anew"))
    return rows


def _data_dir(path: Path) -> Row:
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return fail("data directory", f"{path}: {error.strerror}", "Give another with --data-dir, or its rights")
    return ok("data directory", str(path.resolve()))


def _space(path: Path) -> Row:
    free = shutil.disk_usage(path if path.exists() else Path()).free
    found = f"{free / 1e9:.1f} GB free"
    if free < MIN_FREE_BYTES:
        return fail("disk", found, "A run needs about 1 GB: make room, or move the data directory")
    return warn("disk", found, "Make room before it is below 1 GB") if free < SCARCE_BYTES else ok("disk", found)


def published(file: Path, now: datetime) -> Row:
    """Read every block of the file: DuckDB checks the sum of each."""
    if not file.exists():
        return warn("published file", "none yet", "`chipledger run` makes it")
    try:
        with duckdb.connect(str(file), read_only=True) as con:
            build = con.execute("select built_at, version from meta.build").fetchone()
            tables = con.execute(TABLES).fetchall()
            rows = sum(con.execute(f"select count(hash(t)) from {name} as t").fetchall()[0][0] for (name,) in tables)
    except duckdb.Error as error:
        return fail("published file", str(error).splitlines()[0], "`chipledger build` makes it anew")
    if build is None:
        return fail("published file", "it does not say when it was built", "`chipledger build` makes it anew")
    built_at, version = build
    found = f"built {built_at:%Y-%m-%d %H:%M} UTC by version {version}, {wording.count(rows, 'row')} read"
    if version != importlib.metadata.version("chipledger"):
        return warn("published file", found, "`chipledger build` makes it anew with this version")
    if now.replace(tzinfo=None) - built_at > OLD:
        return warn("published file", found, "No run has published since: see docs/scheduling.md")
    return ok("published file", found)


def _writer(folder: Path, landing: Path | str, now: datetime) -> list[Row]:
    """Say whether the writer's file opens, whether its shape is this version's, and whether it is of the future."""
    file = folder / db.FILE_NAME
    if not file.exists():
        return []
    try:
        # Under the writer's lock, for the moment that this takes: a file that is open elsewhere cannot be opened.
        with disk.faults(folder), db.locked(folder), duckdb.connect(str(file), read_only=True) as con:
            row, is_current = shape("writer's file", con)
            if not is_current:
                return [row]
            sql = "select coalesce(max(position), 0) from core.journal_position where part = ''"
            ((position,),) = con.execute(sql).fetchall()
            rows = [row, *_future(con, now)]
    except WriterBusy as error:
        return [warn("writer's file", f"not checked: {error}", "Check again when the run is over")]
    except ChipledgerError as error:
        return [fail("writer's file", f"{error.message}: {error.source}", error.hint)]
    except duckdb.Error as error:
        return [
            fail("writer's file", str(error).splitlines()[0], "`chipledger data rebuild` makes it anew from landing/")
        ]
    return [*rows, *_unloaded(landing, position)] if isinstance(landing, Path) else rows


def _future(con: duckdb.DuckDBPyConnection, now: datetime) -> Iterator[Row]:
    """Name the fetches of a log that are later than now."""
    if later := fetch_times.of_the_future(con, now):
        yield fail("times of fetches", *later)


def shape(check: str, con: duckdb.DuckDBPyConnection) -> tuple[Row, bool]:
    """Say which shape a log has, and whether it is this version's. Raises ChipledgerError where no run can use it."""
    lacking = db.lacking(con)
    ((done,),) = con.execute("select coalesce(max(name), 'none') from meta.migration").fetchall()
    found = f"shape {done.removesuffix('.sql')}"
    if lacking:
        return ok(check, f"{found}: the next run brings it to {lacking[-1].name.removesuffix('.sql')}"), False
    return ok(check, found), True


def _unloaded(landing: Path, position: int) -> list[Row]:
    journal = landing / "journal.jsonl"
    size = journal.stat().st_size if journal.exists() else 0
    if size < position:
        return [fail("journal", f"{size:,} bytes, of which {position:,} were loaded", CUT)]
    if size > position:
        return [warn("journal", f"{size - position:,} bytes are not loaded", "`chipledger build` loads them")]
    return []


def _landing(path: Path | str) -> list[Row]:
    """Say whether every line of the journal can be read, and whether a sample of its documents is what it was."""
    if not isinstance(path, Path) or not Files(path).parts():
        return []
    landing, documents, n_entries = Landing(path), dict[str, None](), 0
    try:
        for entry in landing.entries():
            n_entries += 1
            for document in entry.content.get("documents", ()):
                documents.pop(document["sha256"], None)
                documents[document["sha256"]] = None
    except ChipledgerError as error:
        return [fail("landing", str(error), "`chipledger data restore` a backup")]
    advice = "`chipledger data restore` a backup: prices must lead back to their documents"
    return [read_back(landing, list(documents), f"{wording.count(n_entries, 'line')}, ", advice)]


def read_back(landing: Landing, hashes: list[str], counted: str, advice: str) -> Row:
    """Say whether a sample of documents, oldest first, is what it was: the newest, and as many of all others."""
    older = hashes[: -SAMPLE // 2]
    sample = hashes[-SAMPLE // 2 :] + random.Random(len(hashes)).sample(older, min(len(older), SAMPLE // 2))  # noqa: S311
    faults = [fault for fault in (_fault(landing, sha256) for sha256 in sample) if fault]
    if faults:
        checked = wording.count(len(sample), "document")
        return fail("landing", f"{len(faults)} of {checked} checked: {faults[0]}", advice)
    return ok("landing", f"{counted}{wording.count(len(hashes), 'document')}, {len(sample)} of them read back by hash")


def _fault(landing: Landing, sha256: str) -> str:
    try:
        landing.body(sha256)
    except ChipledgerError as error:
        return str(error)
    return ""


def _freshness(settings: Settings, file: Path, now: datetime) -> list[Row]:
    """Say of each source that is on how many of its scopes have prices that still count as current."""
    with duckdb.connect(str(file), read_only=True) as con:
        found = con.execute(HEALTH, {"now": now.replace(tzinfo=None)}).fetchall()
    by_source = {row[0]: row[1:] for row in found}
    rows: list[Row] = []
    never: list[str] = []
    for source in extract.SOURCES:
        if source.kind != "live" or source.max_age is None or not settings.is_on(source):
            continue
        check, again = f"prices of {source.name}", f"`chipledger collect --source {source.name}`"
        if source.name not in by_source:
            never.append(source.name)
            continue
        n_scopes, n_fresh, n_never, oldest, fault = by_source[source.name]
        named = {"fresh": n_fresh, "stale": n_scopes - n_fresh - n_never, "never read": n_never}
        counts = ", ".join(f"{count} {name}" for name, count in named.items() if count)
        age = f"{counts}; oldest of {oldest:%Y-%m-%d %H:%M} UTC" if oldest else counts
        is_fresh = n_fresh == n_scopes
        rows.append(ok(check, age) if is_fresh else warn(check, f"{age}{f'; {fault}' if fault else ''}", again))
    if never:
        advice = "`chipledger run` reads them; what needs credentials is left out without"
        rows.append(warn("prices never read", ", ".join(never), advice))
    return rows


def shared_warehouse(settings: Settings, now: datetime, *, offline: bool = False) -> list[Row]:
    """Return what a shared warehouse is like; none where it is a file. `offline` asks no server."""
    place, landing = settings.place(), settings.landing_place()
    if not place.is_shared:
        return [_bucket("landing bucket", landing, settings)] if is_bucket(landing) and not offline else []
    if offline and (place.is_postgres or place.is_on_s3 or is_bucket(landing)):
        return [warn("shared warehouse", "not checked", "Leave out --offline to check it")]
    return [
        *_rows(settings, place, now),
        _reached("shared rows", place.data_path, settings),
        _reached("shared landing", landing, settings),
        *_copy(place, now),
    ]


def _rows(settings: Settings, place: Place, now: datetime) -> Iterator[Row]:
    """Say whether the catalogue answers, what shape the log has, what is published, and what is not loaded."""
    if not place.is_postgres and not Path(place.catalogue).exists():
        yield warn("catalogue", f"{place.catalogue}: not there yet", "`chipledger run` makes it")
        return
    try:
        with ducklake.connected(place, make=False) as con:
            found = con.execute("select extension_version from duckdb_extensions() where extension_name = 'ducklake'")
            version = found.fetchone()
            yield ok("catalogue", f"answers; DuckLake {version[0] if version else 'of an unknown version'}")
            row, is_current = shape("log", con)
            yield row
            if not is_current:
                return
            yield from _future(con, now)
            yield _publication(place, publication.listed(con), now)
            if is_bucket(settings.landing_place()) or Path(settings.landing_place()).is_dir():
                landing = settings.landing()
                yield from _parts(con, landing)
                if hashes := [sha256 for (sha256,) in con.execute(DOCUMENTS).fetchall()]:
                    advice = "Restore them from a backup: prices must lead back to their documents"
                    yield read_back(landing, hashes, "", advice)
    except ChipledgerError as error:
        value = f": {error.value}" if error.value else ""
        advice = f"{error.hint}. " if error.hint else ""
        yield fail("catalogue", f"{error.message}{value}", f"{advice}A reader alone needs only the published files")
    except duckdb.Error as error:
        yield fail("catalogue", str(error).splitlines()[0], RIGHTS)


def _publication(place: Place, listed: list[publication.Publication], now: datetime) -> Row:
    if not listed:
        return warn("publication", "none yet", "`chipledger run` publishes")
    newest = listed[-1]
    found = f"{len(listed)}, the newest of {wording.minute(newest.published_at)} by version {newest.version}"
    if publication.pointed(place) != newest:
        return warn("publication", f"{found}; readers are pointed to another", "`chipledger build` publishes anew")
    if now.replace(tzinfo=None) - newest.published_at > OLD:
        return warn("publication", found, "No run has published since: see docs/scheduling.md")
    return ok("publication", found)


def _parts(con: duckdb.DuckDBPyConnection, landing: Landing) -> Iterator[Row]:
    """Name the parts of the journal that hold what is not loaded, and that no process writes: their writer died."""
    shared = ducklake.of(con)
    positions = ingest.loaded_positions(con)
    left, written, cut = list[str](), 0, list[str]()
    for part in sorted({*landing.journal.parts(), *positions}):
        try:
            is_beyond = landing.journal.is_beyond(part, positions.get(part, 0))
        except ChipledgerError as error:
            cut.append(f"{error.source}: {error.message}")
            continue
        if not is_beyond or shared is None:
            continue
        with shared.try_lock(lock_of(part)) as is_free:
            if is_free:
                left.append(part or "without a name")
            else:
                written += 1
    if cut:
        yield fail("journal parts", "; ".join(cut), "Restore them from a backup of the landing place")
    if left:
        found = f"not loaded, and nobody writes them: {', '.join(left)}"
        yield warn("journal parts", found, "`chipledger build` loads them")
    if not cut and not left:
        running = f", {written} being written" if written else ""
        yield ok("journal parts", f"{len(positions)} loaded{running}")


def _reached(check: str, place: Path | str, settings: Settings) -> Row:
    """Say whether a folder or bucket can be read and written to; nothing is left there."""
    if is_bucket(place):
        return _bucket(check, place, settings)
    folder = Path(place)
    try:
        next(folder.iterdir(), None)
    except FileNotFoundError:
        return warn(check, f"{folder}: not there yet", "`chipledger run` makes it; a shared disk must be mounted first")
    except OSError as error:
        return fail(check, f"{folder}: {error.strerror}", RIGHTS)
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ok(check, f"{folder}: read and written to")
    except OSError as error:
        return _only_read(check, f"{folder}: {error.strerror}")


def _bucket(check: str, place: Path | str, settings: Settings) -> Row:
    try:
        bucket = Bucket(str(place), endpoint=settings.warehouse.s3_endpoint)
        bucket.refuse_unreadable()
    except (ChipledgerError, FileNotFoundError) as error:
        return fail(check, str(error), RIGHTS)
    try:
        bucket.refuse_unwritable()
    except (ChipledgerError, FileNotFoundError) as error:
        return _only_read(check, str(error))
    return ok(check, f"{bucket.place}: listed and written to")


def _only_read(check: str, fault: str) -> Row:
    return warn(check, f"can be read, not written to: {fault}", f"Enough for a reader. {RIGHTS}")


def _copy(place: Place, now: datetime) -> Iterator[Row]:
    """Say which publication the file here is, how old it is, and whether every block of it can be read."""
    file = place.data_dir / publication.FILE_NAME
    here = publication.noted(place.data_dir)
    if not file.exists():
        yield warn("copy here", "none yet", "The first query fetches it")
        return
    whole = published(file, now)
    if whole["result"] == "fail":
        yield fail("copy here", str(whole["found"]), f"Remove {file}: the next query fetches it")
        return
    copy = f"of {wording.minute(here.published_at)}" if here else "of an unknown publication"
    try:
        newest = publication.pointed(place)
    except (ChipledgerError, OSError) as error:
        yield warn("copy here", f"{copy}, and the newest is not known: {error}", RIGHTS)
        return
    if newest is not None and newest != here:
        found = f"{copy}; the newest is of {wording.minute(newest.published_at)}"
        yield warn("copy here", found, "The next query fetches it")
    else:
        yield ok("copy here", f"{copy}, the newest; {whole['found']}")
