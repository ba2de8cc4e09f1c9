"""AWS's public bulk files: indexes in JSON that lead to versioned CSVs, of which an excerpt is kept."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

from extract.aws import places
from extract.aws.places import Partition, bulk_url
from extract.aws.reading import BLANK, Layout
from extract.base import Context
from extract.web.interface import BrokenOff, Web
from warehouse.documents import Document, ScopeFetch, Whole
from warehouse.errors import LayoutChanged

Result = TypeVar("Result")

NOT_FOUND = 404
PROGRESS_STEP_BYTES = 64 << 20
MAX_HEAD_LINES = 20
"""Preamble and header are six lines today."""
MAX_HEAD_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 20
"""A line is below 1 KB; a megabyte without a line end is no list of prices."""
EXCERPT_LIMIT_BYTES = 64 << 20
"""Several times the excerpt of the largest region; a file in which every line seems to matter must not fill memory."""
PUBLISHED, VERSION = "Publication Date", "Version"
"""What the preamble of a file calls its date and its version."""
_VERSIONED = re.compile(r"/(?P<version>\d{14})/")


@dataclass(frozen=True, kw_only=True)
class Head:
    """What comes before the lines of a file: the preamble, the header, and how many bytes both take."""

    preamble: Mapping[str, str]
    header: tuple[str, ...]
    size: int

    @property
    def published_at(self) -> datetime | None:
        """Return the date of publication; None where the preamble has none."""
        try:
            at = datetime.fromisoformat(self.preamble.get(PUBLISHED, ""))
        except ValueError:
            return None
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """The head and the lines that matter, as received, and what they were cut from."""

    head: Head
    body: bytes
    whole: Whole


Cut = Callable[[Iterable[bytes], str], Excerpt]
"""Cuts a source's excerpt out of a streamed file, whose address errors name."""
ReadHead = Callable[[bytes], Head | None]
"""Returns a file's head; None where the bytes end before the header's end. Raises LayoutChanged."""
Select = Callable[[bytes, int, int], Iterator[bytes]]
"""Yields the lines that matter between two places of a block, which holds whole lines there."""


# --- files


@dataclass(frozen=True, kw_only=True)
class Files:
    """The bulk files of a partition, as one source reads them; raises LayoutChanged where they are something else."""

    ctx: Context
    layout: Layout
    partition: Partition

    @property
    def base(self) -> str:
        """Return the address of the files."""
        return bulk_url(self.ctx.settings, self.partition, source=self.layout.source)

    def index(self, path: str) -> Mapping[str, object]:
        """Return a JSON index, which is read once in a run."""
        url = self._within(path)
        body = self.ctx.memo.once(url, lambda: self.ctx.web.get(url).body)
        return self.layout.mapping(self.layout.json(body, url), url)

    def offer(self, name: str) -> Mapping[str, object]:
        """Return an entry of the offer index, which says where everything else of the offer is."""
        index = self.index(f"{self.base}/offers/v1.0/{self.partition.name}/index.json")
        return self.layout.mapping(self.layout.mapping(index.get("offers"), "offers").get(name), f"offers.{name}")

    def csv_url(self, path: str, *, field: str) -> str:
        """Return the address of the CSV of a JSON file that a field of the index names."""
        if not path.endswith(".json"):
            raise self.layout.refusal("expected the path of a .json file", path, field)
        return self._within(path.removesuffix(".json") + ".csv")

    def _within(self, path: str) -> str:
        url = urljoin(self.base, path)
        if urlsplit(url)[:2] != urlsplit(self.base)[:2]:
            raise self.layout.refusal("the index leads to another host", path, "url")
        return url


def landed_or_cut(ctx: Context, scope: str, url: str, *, source: str, cut: Cut) -> tuple[Document, tuple[str, ...]]:
    """Return a versioned file as landed before, or cut anew, again where the stream breaks off; with notes on it."""
    found = ctx.landed(url)
    if found is not None:
        # Landed perhaps for another scope: a Local Zone without a file of its own reads that of its region.
        return replace(found, scope=scope), ()
    kept = read_stream(ctx.web, url, lambda blocks: cut(reported(blocks, ctx, f"{source} {scope}"), url))
    version = kept.head.preamble.get(VERSION, "")
    notes = () if version == version_of(url) else (f"{url} says it is version {version!r}: it will be fetched again",)
    document = Document(
        source=source,
        scope=scope,
        url=url,
        body=kept.body,
        fetched_at=ctx.now(),
        content_type="text/csv",
        version_key="" if notes else url,
        published_at=kept.head.published_at,
        whole=kept.whole,
    )
    return document, notes


def read_stream(web: Web, url: str, consume: Callable[[Iterator[bytes]], Result]) -> Result:
    """Return what `consume` makes of a whole stream; one that breaks off is begun again from its first byte."""

    def once() -> Result:
        if broken:
            raise broken.pop()
        with web.stream(url) as blocks:
            return consume(blocks)

    broken: list[BrokenOff] = []
    try:
        return once()
    except BrokenOff as error:
        # An HTTP client takes long to import, and the archive of the package needs none.
        from extract.web.http import STREAM_RETRIES

        broken.append(error)
        return STREAM_RETRIES.run(once, on=BrokenOff)


def reported(blocks: Iterable[bytes], ctx: Context, what: str) -> Iterator[bytes]:
    """Yield the blocks of a large file, and report as they come how much of it was read."""
    size = last = 0
    for block in blocks:
        size += len(block)
        if size - last >= PROGRESS_STEP_BYTES:
            last = size
            ctx.progress(f"{what}: {size >> 20} MiB read")
        yield block


@dataclass(frozen=True, kw_only=True)
class EitherAccess:
    """How one source reads a list of prices that both AWS's API and the public files have.

    `api` gives what the API has of a region, `urls` the addresses of its current files.
    """

    source: str
    api: Callable[[Context, str], ScopeFetch]
    urls: Callable[[Context, str], Iterable[str]]
    cut: Cut

    def fetch(self, ctx: Context, scope: str) -> ScopeFetch:
        """Return a fetch of one region through the API or the bulk files; raise SourceError."""
        places.check_region(scope, source=self.source)
        found = places.either_access(ctx, self.source, lambda: self.api(ctx, scope), lambda: self._files(ctx, scope))
        return replace(found, notes=(*places.note_of_rights(self.source), *found.notes))

    def downloads(self, ctx: Context, scope: str) -> list[str]:
        """Return the addresses of a region's files, unless the API is used or these versions were landed before."""
        is_api = places.uses_api(ctx.settings, source=self.source)
        return [] if is_api else [url for url in self.urls(ctx, scope) if ctx.landed(url) is None]

    def _files(self, ctx: Context, scope: str) -> ScopeFetch:
        """Return the current files of a region; a version that was landed before is not fetched again."""
        documents: tuple[Document, ...] = ()
        notes: tuple[str, ...] = ()
        for url in self.urls(ctx, scope):
            document, remarks = landed_or_cut(ctx, scope, url, source=self.source, cut=self.cut)
            documents += (document.seen_again(ctx.now()),)
            notes += remarks
        at, of = ctx.now(), self.source
        return ScopeFetch(source=of, scope=scope, observed_at=at, complete=True, documents=documents, notes=notes)


def version_of(url: str) -> str:
    """Return the version that an address names; empty where it names none, as its content may change then."""
    found = _VERSIONED.search(url)
    return found["version"] if found else ""


# --- excerpts


def excerpt_of(
    blocks: Iterable[bytes],
    *,
    url: str,
    layout: Layout,
    read_head: ReadHead,
    select: Callable[[Head, bytes], Select],
) -> Excerpt:
    """Return the excerpt of a streamed file; `select` makes the selection of lines from the head and its bytes.

    Raises LayoutChanged. A last line without an end is kept, for `parse` to refuse the document.
    """
    # Imported here: `chipledger --help` must not wait for it.
    from blake3 import blake3

    digest = blake3()
    size = kept_size = 0

    def counted() -> Iterator[bytes]:
        nonlocal size
        for block in blocks:
            digest.update(block)
            size += len(block)
            yield block

    def keep(lines: Iterable[bytes]) -> None:
        nonlocal kept_size
        for line in lines:
            kept.append(line)
            kept_size += len(line)
            if kept_size > EXCERPT_LIMIT_BYTES:
                message = f"the lines that matter exceed {EXCERPT_LIMIT_BYTES} bytes"
                hint = f"It is another file than expected: {url}"
                raise LayoutChanged(message, source=layout.source, field="size", value=kept_size, hint=hint)

    stream = counted()
    start, head = _head(stream, url, layout, read_head)
    kept: list[bytes] = [start[: head.size]]
    lines = select(head, start[: head.size])
    tail = start[head.size :]
    for block in stream:
        first, last = block.find(b"\n") + 1, block.rfind(b"\n") + 1
        if not last:
            tail += block
            if len(tail) > MAX_LINE_BYTES:
                raise layout.refusal(f"a line is longer than {MAX_LINE_BYTES} bytes", url)
            continue
        # The rest of a block is searched where it lies: only the line across two blocks is put together.
        tail += block[:first]
        keep(lines(tail, 0, len(tail)))
        keep(lines(block, first, last))
        tail = block[last:]
    end = tail.rfind(b"\n") + 1
    keep(lines(tail, 0, end))
    keep([tail[end:]])
    whole = Whole(size=size, digest=digest.hexdigest(), algorithm="blake3")
    return Excerpt(head=head, body=b"".join(kept), whole=whole)


def _head(stream: Iterator[bytes], url: str, layout: Layout, read_head: ReadHead) -> tuple[bytes, Head]:
    start = b""
    for block in stream:
        start += block
        head = read_head(start)
        if head is not None:
            return start, head
        if len(start) > MAX_HEAD_BYTES:
            break
    raise layout.refusal(f"expected a preamble and a header: {url}", start, "header")


def marked_lines(block: bytes, start: int, end: int, markers: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines between two places of a block that hold one of the markers, each once, in their order."""
    found = sorted(at for marker in markers for at in _positions(block, marker, start, end))
    line_end = start
    for at in found:
        if at < line_end:
            continue  # marked twice in one line
        line_start = block.rfind(b"\n", start, at) + 1 or start
        line_end = block.find(b"\n", at, end) + 1
        yield block[line_start:line_end]


def _positions(block: bytes, marker: bytes, start: int, end: int) -> Iterator[int]:
    # Imported here, as BLAKE3: it searches in a third of the time of bytes.find.
    from stringzilla import find

    at = find(block, marker, start, end)
    while at >= 0:
        yield at
        at = find(block, marker, at + len(marker), end)


# --- CSV


def read_head(start: bytes, *, layout: Layout, is_header: Callable[[Sequence[str]], bool]) -> Head | None:
    """Return preamble and header; None where the bytes end before the header's end; raise LayoutChanged."""
    if start.lstrip(BLANK)[:1] in (b"<", b"{"):
        raise layout.refusal("expected a CSV of prices, found a document of another kind", start)
    preamble: dict[str, str] = {}
    position = 0
    for _ in range(MAX_HEAD_LINES):
        end = start.find(b"\n", position) + 1
        if end == 0:
            return None
        line = start[position:end].decode("utf-8", "replace").lstrip("\ufeff")
        position = end
        try:
            name, *others = next(csv.reader([line]), [""]) or [""]
        except csv.Error as error:
            raise layout.refusal(f"not CSV: {error}", line[:80], "header") from error
        if is_header((name, *others)):
            return Head(preamble=preamble, header=(name, *others), size=position)
        preamble[name] = ",".join(others)
    raise layout.refusal("no header", start, "header")


def rows_of(body: bytes, head: Head | None, layout: Layout) -> Iterator[Mapping[str, str]]:
    """Yield the lines of a file or of an excerpt of one, by column; raise LayoutChanged, also where it is cut short."""
    if head is None or not body.endswith(b"\n"):
        raise layout.refusal("the file is cut short: its last line has no end", body[-80:])
    lines = io.TextIOWrapper(io.BytesIO(memoryview(body)[head.size :]), encoding="utf-8", newline="")
    reader = csv.reader(lines, strict=True)
    try:
        for values in reader:
            if len(values) != len(head.header):
                message = f"a line has {len(values)} fields, the header {len(head.header)}"
                raise layout.refusal(message, ",".join(values)[:80], f"line {reader.line_num}")
            yield dict(zip(head.header, values, strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise layout.refusal(f"not CSV: {error}", str(error), f"line {reader.line_num}") from error
