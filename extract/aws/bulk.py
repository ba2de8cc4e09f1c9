"""AWS's public bulk files: indexes in JSON that lead to versioned CSVs, of which an excerpt is kept.

`source` is the source that asks: errors and documents name it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from extract.base import Context
from extract.web import strict_json
from warehouse.documents import Document, Whole
from warehouse.errors import LayoutChanged

PROGRESS_STEP_BYTES = 64 << 20
PUBLISHED, VERSION = "Publication Date", "Version"
"""What the preamble of a file calls its date and its version."""
_VERSIONED = re.compile(r"/(?P<version>\d{14})/")


@dataclass(frozen=True, kw_only=True)
class Head:
    """What stands before the lines of a file: the preamble, the header, and how many bytes both take."""

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


class Cut(Protocol):
    """Cuts a source's excerpt out of a streamed file, and tells the bytes read so far."""

    def __call__(self, blocks: Iterable[bytes], *, url: str, progress: Callable[[int], None]) -> Excerpt: ...


# --- files


def landed_or_cut(ctx: Context, scope: str, url: str, *, source: str, cut: Cut) -> tuple[Document, tuple[str, ...]]:
    """Return the document of a versioned file: the one landed before, or a new excerpt; with notes on it."""
    found = ctx.landed(url)
    if found is not None:
        # Landed perhaps for another scope: a Local Zone without a file of its own reads that of its region.
        return replace(found, scope=scope), ()
    return _fetched(ctx, scope, url, source=source, cut=cut)


def _fetched(ctx: Context, scope: str, url: str, *, source: str, cut: Cut) -> tuple[Document, tuple[str, ...]]:
    """Return the excerpt of a bulk file, begun again where the stream breaks off."""
    # Imported here: the shell must not wait for an HTTP client where no price is fetched.
    from extract.web.http import read_stream

    reported = 0

    def progress(size: int) -> None:
        nonlocal reported
        if size - reported >= PROGRESS_STEP_BYTES:
            reported = size
            ctx.progress(f"{source} {scope}: {size >> 20} MiB read")

    def consume(blocks: Iterator[bytes]) -> Excerpt:
        nonlocal reported
        reported = 0
        return cut(blocks, url=url, progress=progress)

    kept = read_stream(lambda: ctx.web.stream(url), consume)
    stated, expected = kept.head.preamble.get(VERSION, ""), version_of(url)
    notes = () if stated == expected else (f"{url} says it is version {stated!r}: it will be fetched again",)
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


def version_of(url: str) -> str:
    """Return the version that an address names; empty where it names none, as its content may change then."""
    found = _VERSIONED.search(url)
    return found["version"] if found else ""


# --- indexes


def offers(ctx: Context, base: str, partition: str, *, source: str) -> Mapping[str, object]:
    """Return the offers of a partition's index, which say where everything else is."""
    index = index_at(ctx, f"{base}/offers/v1.0/{partition}/index.json", source=source)
    return mapping(index.get("offers"), "offers", source=source)


def index_at(ctx: Context, url: str, *, source: str) -> Mapping[str, object]:
    """Return a JSON index; raise LayoutChanged where it is something else."""
    answer = ctx.web.get(url)
    try:
        index: object = strict_json.loads(answer.body)
    except ValueError as error:
        start = answer.body[:80].decode("utf-8", "replace")
        raise refusal(f"{url} is not JSON: {error}", "body", start, source=source) from error
    return mapping(index, url, source=source)


def csv_url(base: str, path: str, *, field: str, source: str) -> str:
    """Return the address of the CSV beside a JSON file that a field of the index names."""
    if not path.endswith(".json"):
        raise refusal("expected the path of a .json file", field, path, source=source)
    return within(base, path.removesuffix(".json") + ".csv", source=source)


def within(base: str, path: str, *, source: str) -> str:
    """Return a path of an index as an address; raise LayoutChanged where it leads to another host."""
    url = urljoin(base, path)
    if urlsplit(url)[:2] != urlsplit(base)[:2]:
        raise refusal("the index leads to another host", "url", path, source=source)
    return url


# --- what is in JSON, or refused


def mapping(value: object, field: str, *, source: str) -> Mapping[str, object]:
    """Return an object; raise LayoutChanged where it is something else."""
    if not isinstance(value, dict):
        raise refusal("expected an object", field, value, source=source)
    return value


def text(entry: Mapping[str, object], name: str, *, source: str) -> str:
    """Return a text; raise LayoutChanged where it is missing, empty or something else, as a bare number is."""
    value = entry.get(name)
    if not isinstance(value, str) or not value:
        raise refusal("expected text", name, value, source=source)
    return value


def refusal(message: str, field: str, value: object, *, source: str) -> LayoutChanged:
    """Return the error for a document that is not as it should be."""
    hint = f"The source {source} has to be updated for the new layout"
    return LayoutChanged(message, source=source, field=field, value=value, hint=hint)
