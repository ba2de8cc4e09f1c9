"""What `chipledger doctor` finds of a warehouse that several machines share; nothing is made there, nor migrated."""

import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import duckdb

from flows.collect import ingest
from flows.config.settings import Settings
from flows.doctor.data_files import OLD, published, read_back, shape
from flows.doctor.row import Row, fail, ok, warn
from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake, publication
from warehouse.lake.place import Place
from warehouse.landing.folder import Landing
from warehouse.landing.journal import lock_of
from warehouse.landing.storage import Bucket, is_bucket

RIGHTS = "docs/warehouse-shared.md has the rights that readers and writers need"


def checks(settings: Settings, now: datetime, *, offline: bool = False) -> list[Row]:
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
            yield _publication(place, publication.listed(con), now)
            if is_bucket(settings.landing_place()) or Path(settings.landing_place()).is_dir():
                landing = settings.landing()
                yield from _parts(con, landing)
                yield from _documents(con, landing)
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
    found = f"{len(listed)}, the newest of {_when(newest)} by version {newest.version}"
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
    for part in sorted({*landing.parts(), *positions}):
        try:
            is_beyond = landing.is_beyond(positions.get(part, 0), part)
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


def _documents(con: duckdb.DuckDBPyConnection, landing: Landing) -> Iterator[Row]:
    """Read a sample of the log's documents back: the newest, and as many of all others."""
    rows = con.execute(
        "select document_sha256 from core.document group by all order by max(recorded_at), document_sha256"
    ).fetchall()
    n_read, faults = read_back(landing, [sha256 for (sha256,) in rows])
    if faults:
        found = f"{len(faults)} of {n_read} documents checked: {faults[0]}"
        yield fail("landing", found, "Restore them from a backup: prices must lead back to their documents")
    elif rows:
        yield ok("landing", f"{len(rows):,} documents, {n_read} of them read back by their hashes")


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
    copy = f"of {_when(here)}" if here else "of an unknown publication"
    try:
        newest = publication.pointed(place)
    except (ChipledgerError, OSError) as error:
        yield warn("copy here", f"{copy}, and the newest is not known: {error}", RIGHTS)
        return
    if newest is not None and newest != here:
        yield warn("copy here", f"{copy}; the newest is of {_when(newest)}", "The next query fetches it")
    else:
        yield ok("copy here", f"{copy}, the newest; {whole['found']}")


def _when(one: publication.Publication) -> str:
    return f"{one.published_at:%Y-%m-%d %H:%M} UTC"
