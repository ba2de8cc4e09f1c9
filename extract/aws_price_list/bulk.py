"""The bulk door: public files that need no credentials, one for each region and version.

Offer index, then region index, then the region's current version as CSV, of which an excerpt is kept.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from urllib.parse import urljoin, urlsplit

from extract.aws_price_list import excerpt, places
from extract.aws_price_list.offer_csv import VERSION
from extract.aws_price_list.rules import SOURCE_NAME
from extract.base import Context
from warehouse.documents import Document, Look
from warehouse.errors import LayoutChanged, SourceError

OFFER = "AmazonEC2"
PROGRESS_STEP_BYTES = 64 << 20
_VERSIONED = re.compile(r"/(?P<version>\d{14})/")


def regions(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the global partition that the region index lists."""
    return places.regions_among(list(_region_index(ctx, places.GLOBAL)), ctx)


def fetch(ctx: Context, scope: str) -> Look:
    """Return a look at the current file of a region; a version that was landed before is not fetched again."""
    places.check_region(scope)
    partition = places.partition_of(scope)
    listed = _region_index(ctx, partition)
    if scope not in listed:
        hint = f"The index lists {', '.join(sorted(listed)) or 'no region'}"
        raise SourceError("not a region of the price list", source=SOURCE_NAME, field="region", value=scope, hint=hint)
    entry = mapping(listed[scope], f"regions.{scope}")
    url = csv_url(base_url(ctx, partition), text(entry, "currentVersionUrl"))
    document, notes = landed_or_cut(ctx, scope, url)
    now = ctx.now()
    return Look(
        source=SOURCE_NAME,
        scope=scope,
        observed_at=now,
        complete=True,
        documents=(document.seen_again(now),),
        notes=notes,
    )


def landed_or_cut(ctx: Context, scope: str, url: str) -> tuple[Document, tuple[str, ...]]:
    """Return the document of a versioned file: the one landed before, or a new excerpt; with notes on it."""
    found = ctx.landed(url)
    if found is not None:
        return found, ()
    return cut(ctx, scope, url)


def cut(ctx: Context, scope: str, url: str) -> tuple[Document, tuple[str, ...]]:
    """Return the excerpt of a bulk file, begun again where the stream breaks off."""
    # Imported here: the shell must not wait for an HTTP client where no price is fetched.
    from extract.http import read_stream

    reported = 0

    def progress(size: int) -> None:
        nonlocal reported
        if size - reported >= PROGRESS_STEP_BYTES:
            reported = size
            ctx.progress(f"{SOURCE_NAME} {scope}: {size >> 20} MiB read")

    def consume(blocks: Iterator[bytes]) -> excerpt.Excerpt:
        nonlocal reported
        reported = 0
        return excerpt.cut(blocks, url=url, progress=progress)

    kept = read_stream(lambda: ctx.web.stream(url), consume)
    stated, expected = kept.head.preamble.get(VERSION, ""), version_of(url)
    notes = () if stated == expected else (f"{url} says it is version {stated!r}: it will be fetched again",)
    document = Document(
        source=SOURCE_NAME,
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


def base_url(ctx: Context, partition: places.Partition) -> str:
    """Return where a partition's bulk files are."""
    return places.bulk_url(ctx.settings, partition)


def offer_entry(ctx: Context, partition: places.Partition) -> Mapping[str, object]:
    """Return the offer index's entry of EC2, which says where everything else is."""
    index = index_at(ctx, f"{base_url(ctx, partition)}/offers/v1.0/{partition.name}/index.json")
    return mapping(mapping(index.get("offers"), "offers").get(OFFER), f"offers.{OFFER}")


def _region_index(ctx: Context, partition: places.Partition) -> Mapping[str, object]:
    path = text(offer_entry(ctx, partition), "currentRegionIndexUrl")
    return mapping(index_at(ctx, within(base_url(ctx, partition), path)).get("regions"), "regions")


def index_at(ctx: Context, url: str) -> Mapping[str, object]:
    """Return a JSON index; raise LayoutChanged where it is something else."""
    answer = ctx.web.get(url)
    try:
        index: object = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        start = answer.body[:80].decode("utf-8", "replace")
        raise _refusal(f"{url} is not JSON: {error}", "body", start) from error
    return mapping(index, url)


def csv_url(base: str, path: str) -> str:
    """Return the address of the CSV beside a JSON file of the index."""
    if not path.endswith(".json"):
        raise _refusal("expected the path of a .json file", "currentVersionUrl", path)
    return within(base, path.removesuffix(".json") + ".csv")


def within(base: str, path: str) -> str:
    """Return a path of an index as an address; raise where it leads to another host."""
    url = urljoin(base, path)
    if urlsplit(url)[:2] != urlsplit(base)[:2]:
        raise _refusal("the index leads to another host", "url", path)
    return url


def version_of(url: str) -> str:
    """Return the version that an address names; empty where it names none, as its content may change then."""
    found = _VERSIONED.search(url)
    return found["version"] if found else ""


def mapping(value: object, field: str) -> Mapping[str, object]:
    """Return an object of an index; raise LayoutChanged where it is something else."""
    if not isinstance(value, dict):
        raise _refusal("expected an object", field, value)
    return value


def text(entry: Mapping[str, object], name: str) -> str:
    """Return a text of an index; raise LayoutChanged where it is missing."""
    value = entry.get(name)
    if not isinstance(value, str) or not value:
        raise _refusal("expected text", name, value)
    return value


def _refusal(message: str, field: str, value: object) -> LayoutChanged:
    hint = f"The source {SOURCE_NAME} has to be taught the new layout"
    return LayoutChanged(message, source=SOURCE_NAME, field=field, value=value, hint=hint)


def published(version: str) -> datetime:
    """Return the moment of publication that a version's name states; raise ValueError where it is no version."""
    return datetime.strptime(f"{version}+0000", "%Y%m%d%H%M%S%z")
