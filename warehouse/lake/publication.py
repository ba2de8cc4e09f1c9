"""Published files of a shared warehouse: put beside its rows under their hash, and fetched by the readers.

`meta.publication` in the lake says which file was published when, from which snapshot: its newest row is the pointer.
`published/newest.json` repeats that row beside the files, so that a reader needs the right to read them, and no
catalogue. A reader keeps the file in its own data directory, as if it had been made there.
"""

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from warehouse import disk
from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake
from warehouse.lake.place import Place
from warehouse.landing.storage import Bucket, Folder

LOG = logging.getLogger(__name__)

TABLE = (
    "create table if not exists meta.publication "
    "(published_at TIMESTAMP, sha256 VARCHAR, size_bytes BIGINT, snapshot_id BIGINT, version VARCHAR)"
)
FOLDER, NEWEST = "published", "newest.json"
HERE = "published.json"
"""In a reader's data directory: which publication its file is."""
FILE_NAME = "prices.duckdb"


@dataclass(frozen=True, kw_only=True)
class Publication:
    """One published file: when it was built (naive UTC), its hash and size, the lake's snapshot it was built from."""

    published_at: datetime
    sha256: str
    size_bytes: int
    snapshot_id: int
    version: str

    @property
    def name(self) -> str:
        """Return the file's name among the published files."""
        return f"{self.sha256}.duckdb"

    @property
    def pointer(self) -> bytes:
        """Return it as what points to it has it."""
        return json.dumps(asdict(self) | {"published_at": self.published_at.isoformat()}).encode()


def put(con: duckdb.DuckDBPyConnection, file: Path, *, built_at: datetime, snapshot_id: int, version: str) -> None:
    """Put a file that was built from a snapshot of the lake where readers find it, and point to it.

    The caller holds the lock `publish`; `built_at` is naive UTC. Raises ChipledgerError.
    """
    shared = ducklake.of(con)
    if shared is None:
        raise ValueError("a file of one writer is published by its name alone")
    made = Publication(
        published_at=built_at,
        sha256=_sha256(file),
        size_bytes=file.stat().st_size,
        snapshot_id=snapshot_id,
        version=version,
    )
    _write(shared.place, file, made.name)
    row = [made.published_at, made.sha256, made.size_bytes, made.snapshot_id, made.version]
    ducklake.transacted(con, lambda: con.execute("insert into meta.publication values (?, ?, ?, ?, ?)", row))
    with _faults(shared.place, NEWEST):
        _store(shared.place).put(NEWEST, made.pointer)
    Folder(shared.place.data_dir).put(HERE, made.pointer)


def listed(con: duckdb.DuckDBPyConnection) -> list[Publication]:
    """Return the publications of a lake, oldest first."""
    names = ", ".join(Publication.__dataclass_fields__)
    rows = con.execute(f"select {names} from meta.publication order by published_at, snapshot_id").fetchall()
    return [Publication(**dict(zip(Publication.__dataclass_fields__, row, strict=True))) for row in rows]


def current(place: Place) -> Path:
    """Make the reader's file that of the newest publication, and return it.

    Where the publications cannot be reached, the file that is there answers, and a warning tells of which day it is.
    Raises ChipledgerError where there is none.
    """
    file, here = place.data_dir / FILE_NAME, noted(place.data_dir)
    try:
        newest = pointed(place)
        if newest is None:
            raise ChipledgerError(
                "nothing is published there yet", source=f"{place.data_path}{FOLDER}", hint="`chipledger run` publishes"
            )
        if here != newest or not file.exists():
            _fetch(place, newest, file)
            Folder(place.data_dir).put(HERE, newest.pointer)
    except (ChipledgerError, OSError) as error:
        if not file.exists():
            raise
        when = f"{here.published_at:%Y-%m-%d %H:%M} UTC" if here else "an unknown day"
        LOG.warning("answered from the copy of %s, which may be old: %s", when, error)
    return file


def as_of(place: Place, moment: datetime) -> tuple[Path, Publication]:
    """Return the file in force at a moment (naive UTC), fetched, and its publication. Raises ChipledgerError."""
    with ducklake.connected(place) as con:
        found = [each for each in listed(con) if each.published_at <= moment]
    if not found:
        raise ChipledgerError(
            "nothing was published by then",
            source="meta.publication",
            field="as_of",
            value=f"{moment:%Y-%m-%d %H:%M}",
            hint="Older publications may have expired; core.price_known_at answers for any day from the newest file",
        )
    chosen = found[-1]
    file = place.data_dir / FOLDER / chosen.name
    if not file.exists():
        _fetch(place, chosen, file)
    return file, chosen


def remove(place: Place, publications: list[Publication]) -> None:
    """Remove the files of publications; what is not there any more is no fault."""
    for each in publications:
        if place.is_on_s3:
            with _faults(place, each.name):
                bucket = _bucket(place)
                bucket.client.delete_object(Bucket=bucket.bucket, Key=bucket.key(each.name))
        else:
            (_folder(place) / each.name).unlink(missing_ok=True)


def _fetch(place: Place, publication: Publication, target: Path) -> None:
    """Copy a published file, checked by its hash, into a reader's directory: whole or not at all."""
    with disk.replacing(target) as part:
        with _faults(place, publication.name):
            if place.is_on_s3:
                bucket = _bucket(place)
                bucket.client.download_file(bucket.bucket, bucket.key(publication.name), str(part))
            else:
                shutil.copyfile(_folder(place) / publication.name, part)
        if part.stat().st_size != publication.size_bytes or _sha256(part) != publication.sha256:
            raise ChipledgerError(
                "a published file is not what was published",
                source=f"{place.data_path}{FOLDER}/{publication.name}",
                field="sha256",
                value=publication.sha256,
                hint="`chipledger build` publishes anew",
            )
        part.chmod(0o444)
        target.with_name(f"{target.name}.wal").unlink(missing_ok=True)


def _write(place: Place, file: Path, name: str) -> None:
    with _faults(place, name):
        if place.is_on_s3:
            bucket = _bucket(place)
            bucket.client.upload_file(
                str(file), bucket.bucket, bucket.key(name), ExtraArgs={"ChecksumAlgorithm": "SHA256"}
            )
            return
        with disk.replacing(_folder(place) / name) as part:
            shutil.copyfile(file, part)
            part.chmod(0o444)


@contextmanager
def _faults(place: Place, name: str) -> Iterator[None]:
    """Turn what boto3's transfers raise into an error that names the object and no secret."""
    if not place.is_on_s3:
        yield
        return
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (Boto3Error, BotoCoreError, ClientError) as error:
        code = error.response.get("Error", {}).get("Code") if isinstance(error, ClientError) else type(error).__name__
        raise ChipledgerError(
            "a published file cannot be moved",
            source=f"{place.data_path}{FOLDER}/{name}",
            field="S3",
            value=code,
            hint="docs/warehouse-shared.md has the rights that readers and writers need",
        ) from error


def _bucket(place: Place) -> Bucket:
    return Bucket(f"{place.data_path}{FOLDER}/", endpoint=place.s3_endpoint)


def _folder(place: Place) -> Path:
    return Path(place.data_path) / FOLDER


def _store(place: Place) -> Bucket | Folder:
    return _bucket(place) if place.is_on_s3 else Folder(_folder(place))


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _pointed(store: Bucket | Folder, name: str) -> Publication | None:
    """Return what a pointer says; None where there is none, or none that can be read."""
    with suppress(FileNotFoundError, ValueError, TypeError, KeyError):
        content: dict[str, Any] = json.loads(store.read(name))
        moment = datetime.fromisoformat(content.pop("published_at"))
        return Publication(published_at=moment, **content)
    return None


def pointed(place: Place) -> Publication | None:
    """Return the publication that the pointer beside the files names; None where there is none. Raises DiskFault."""
    return _pointed(_store(place), NEWEST)


def noted(data_dir: Path) -> Publication | None:
    """Return which publication the file of a reader's data directory is; None where nothing says so."""
    return _pointed(Folder(data_dir), HERE)
