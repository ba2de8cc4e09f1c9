"""Past spot prices: the public archive by Eric Pauley, one file for each month since 2022, for all regions at once.

A file is `YYYY-MM.tsv.zst`, as on Zenodo, or `YYYY/MM.tsv.zst`, as in the repository that made it: about 100 MB, 13
million lines of zone id, type, product, price and time, without a header. It is read as it streams by; of it are kept,
unchanged, the lines of one region's accelerators on Linux. Regions are asked for one after the other, so a file is read
once for all of them, and what was cut from the last files is remembered.
"""

import hashlib
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from extract.aws import SPOT as NAME
from extract.base import Context
from warehouse.documents import Document, ScopeFetch, Whole
from warehouse.errors import LayoutChanged, SettingsError, SourceError
from warehouse.reference.instance_types import ACCELERATOR_TYPE

ARCHIVE_URL = "https://zenodo.org/records/18821638/files"
"""The version of 2026-03-01, which ends with February 2026; the DOI of all versions is 10.5281/zenodo.14198917."""
FIRST_MONTH = (2022, 1)
FILE_NAMES = ("{year:04}-{month:02}.tsv.zst", "{year:04}/{month:02}.tsv.zst")
BLOCK_BYTES = 1 << 22
PROGRESS_STEP_BYTES = 512 << 20
EXCERPT_LIMIT_BYTES = 256 << 20
"""For the lines that are kept of a month, of all regions: some ten times as much as there are."""
MAX_MONTHS_KEPT = 60
"""Months whose excerpts are remembered, compressed: about 2 MB each."""
NOT_FOUND = 404
_ZONE = re.compile(rb"([a-z]{2,5}\d)-[a-z0-9-]*az\d+")
_WANTED = re.compile(
    rb"^([^\t\n]*)\t" + ACCELERATOR_TYPE.pattern.encode() + rb"[^\t\n]*\tLinux/UNIX(?: \(Amazon VPC\))?\t.*\n",
    re.MULTILINE,
)
FIELD_COUNT_LESS_ONE = 4
_WORDS = {
    "north": "n",
    "south": "s",
    "east": "e",
    "west": "w",
    "central": "c",
    "northeast": "ne",
    "northwest": "nw",
    "southeast": "se",
    "southwest": "sw",
    "gov": "g",
}


@dataclass(frozen=True, kw_only=True)
class Month:
    """What was cut from a file: lines, compressed, by how the zone ids of their region begin; and what it was whole."""

    excerpts: Mapping[bytes, bytes]
    whole: Whole


_kept: dict[str, Month] = {}
_lock = Lock()


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield a look at each month of a region between two dates, oldest first.

    A month that the archive does not have is a look without documents and a note. Raises Unavailable where a file
    cannot be reached or breaks off, LayoutChanged where it is no such file.
    """
    prefix = zone_prefix(scope)
    base = _base(ctx.settings)
    for year, month in _months(since, until or ctx.now()):
        at = datetime(year, month, 1, tzinfo=UTC)
        end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        documents, notes = _documents(ctx, scope, prefix, base, at)
        # What the file says is true of moments within its month, the last of which is its end.
        yield ScopeFetch(
            source=NAME,
            scope=scope,
            observed_at=min(end, ctx.now()),
            complete=False,
            archived=True,
            documents=documents,
            notes=notes,
        )


def zone_prefix(region: str) -> bytes:
    """Return how the zone ids of a region begin: us-east-1 has use1-az1, ap-southeast-2 has apse2-az1."""
    country, *rest = region.split("-")
    words, number = rest[:-1], "".join(rest[-1:])
    if not words or not number.isdecimal() or not set(words) <= _WORDS.keys():
        hint = "Expected is the name of a region, such as us-east-1"
        raise SourceError("not a region", source=NAME, field="region", value=region, hint=hint)
    return f"{country}{''.join(_WORDS[word] for word in words)}{number}".encode()


def _documents(
    ctx: Context, scope: str, prefix: bytes, base: str, at: datetime
) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    for name in FILE_NAMES:
        url = f"{base}/{name.format(year=at.year, month=at.month)}"
        key = f"{url}#{scope}"
        landed = ctx.landed(key)
        if landed is not None:
            return (landed,), ()
        try:
            month = _cut_once(ctx, url)
        except FileNotFoundError:
            continue
        except SourceError as error:
            if error.field == "status" and error.value == NOT_FOUND:
                continue
            raise
        packed = month.excerpts.get(prefix)
        if packed is None:
            return (), (f"{url} has no spot price of an accelerator in {scope}",)
        document = Document(
            source=NAME,
            scope=scope,
            url=url,
            body=zlib.decompress(packed),
            fetched_at=ctx.now(),
            version_key=key,
            content_type="text/tab-separated-values",
            published_at=at,
            whole=month.whole,
        )
        return (document,), ()
    return (), (f"the archive at {base} has no {at:%Y-%m}",)


def _cut_once(ctx: Context, url: str) -> Month:
    with _lock:
        if url not in _kept:
            month = _cut(ctx, url)
            while len(_kept) >= MAX_MONTHS_KEPT:
                _kept.pop(next(iter(_kept)))
            _kept[url] = month
        return _kept[url]


def _cut(ctx: Context, url: str) -> Month:
    if url.startswith("file:"):
        path = Path(url2pathname(urlsplit(url).path))
        with path.open("rb") as file:
            return cut(iter(lambda: file.read(BLOCK_BYTES), b""), url=url, progress=ctx)
    from extract.web.http import read_stream

    return read_stream(lambda: ctx.web.stream(url), lambda blocks: cut(blocks, url=url, progress=ctx))


def cut(blocks: Iterator[bytes], *, url: str, progress: Context) -> Month:
    """Return the lines of accelerators on Linux, by region; raise LayoutChanged where it is no such file or damaged."""
    import pyarrow as pa

    whole, size, kept_size, reported = hashlib.sha256(), 0, 0, 0
    packers: dict[bytes, Any] = {}
    packed: dict[bytes, list[bytes]] = {}
    rest = b""
    try:
        stream = pa.CompressedInputStream(pa.PythonFile(_Reader(blocks), mode="r"), "zstd")
        while block := stream.read(BLOCK_BYTES):
            whole.update(block)
            size += len(block)
            lines, _, rest = (rest + block).rpartition(b"\n")
            if len(rest) > BLOCK_BYTES:
                raise _refusal(f"a line of more than {BLOCK_BYTES} bytes", url)
            for prefix, kept in _lines_by_region(lines + b"\n" if lines else b"", url).items():
                packer = packers.setdefault(prefix, zlib.compressobj(6))
                packed.setdefault(prefix, []).append(packer.compress(b"".join(kept)))
                kept_size += sum(map(len, kept))
            if kept_size > EXCERPT_LIMIT_BYTES:
                raise _refusal(f"the lines of accelerators exceed {EXCERPT_LIMIT_BYTES} bytes", url)
            if size - reported >= PROGRESS_STEP_BYTES:
                reported = size
                progress.progress(f"{NAME}: {size >> 20} MB of {url} read")
    except OSError as error:
        raise _refusal(f"the compressed file is damaged: {error}", url) from error
    if rest or not size:
        raise _refusal("the file ends within a line" if rest else "the file is empty", url)
    return Month(
        excerpts={name: b"".join((*packed[name], packer.flush())) for name, packer in packers.items()},
        whole=Whole(size=size, sha256=whole.hexdigest()),
    )


def _lines_by_region(lines: bytes, url: str) -> dict[bytes, list[bytes]]:
    """Return the lines that are kept, by how their zone ids begin; raise where they are no lines of the archive."""
    if lines.count(b"\t") != FIELD_COUNT_LESS_ONE * lines.count(b"\n"):
        raise _refusal(f"{url}: expected five fields separated by tabs", lines[:80].decode("utf-8", "replace"))
    found: dict[bytes, list[bytes]] = {}
    for line in _WANTED.finditer(lines):
        zone = _ZONE.fullmatch(line[1])
        if zone is None:
            raise _refusal(f"{url}: expected a zone id", line[1].decode("utf-8", "replace"))
        found.setdefault(zone[1], []).append(line[0])
    return found


class _Reader(io.RawIOBase):
    """Blocks as a file that pyarrow reads."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self._rest) < size:
            block = next(self._blocks, b"")
            if not block:
                break
            self._rest += block
        size = len(self._rest) if size < 0 else size
        block, self._rest = self._rest[:size], self._rest[size:]
        return block


def _months(since: datetime | None, until: datetime) -> Iterator[tuple[int, int]]:
    year, month = max((since.year, since.month), FIRST_MONTH) if since else FIRST_MONTH
    while (year, month) <= (until.year, until.month):
        yield year, month
        year, month = year + month // 12, month % 12 + 1


def _base(settings: Mapping[str, object]) -> str:
    url = settings.get("archive_url") or ARCHIVE_URL
    if not isinstance(url, str) or not url.startswith(("https://", "http://", "file:/")):
        hint = 'Expected is an address, or a folder as "file:///srv/spot"'
        raise SettingsError("not an address", source=NAME, field="archive_url", value=url, hint=hint)
    return url.rstrip("/")


def _refusal(message: str, value: str) -> LayoutChanged:
    hint = "Fetch the file again, or leave its month out"
    return LayoutChanged(message, source=NAME, field="archive", value=value, hint=hint)
