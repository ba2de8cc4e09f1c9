"""The bulk door: public files that need no credentials, one for each region, kind of plan and version.

Offer index, then the Savings Plan index of EC2 and of SageMaker, then the region's CSV of each, of which an excerpt is
kept. The offer index names the Savings Plan index; a region index lists its regions with the address of a version.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from extract.aws_price_list.bulk import PROGRESS_STEP_BYTES, version_of
from extract.aws_savings_plans import excerpt, places
from extract.aws_savings_plans.rates import SOURCE_NAME, VERSION, listed, mapping, refusal, text
from extract.base import Context
from warehouse.documents import Document, Look
from warehouse.errors import SourceError

EC2_OFFER, ML_OFFER = "AmazonEC2", "AmazonSageMaker"
INDEX = "currentSavingsPlanIndexUrl"


def regions(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the global partition that have EC2's Savings Plans."""
    index = _region_index(ctx, _offers(ctx, places.GLOBAL), EC2_OFFER, places.GLOBAL)
    return tuple(sorted(set(index) - places.PSEUDO_REGIONS))


def fetch(ctx: Context, scope: str) -> Look:
    """Return a look at the current files of a region; a version that was landed before is not fetched again."""
    places.check_region(scope)
    partition = places.partition_of(scope)
    offers = _offers(ctx, partition)
    documents: list[Document] = []
    notes: list[str] = []
    for offer in (EC2_OFFER, ML_OFFER):
        index = _region_index(ctx, offers, offer, partition)
        place = _place(scope, index)
        if place is None and offer == EC2_OFFER:
            hint = f"The index lists {', '.join(sorted(index)) or 'no region'}"
            raise SourceError("no Savings Plans there", source=SOURCE_NAME, field="region", value=scope, hint=hint)
        if place is not None:
            document, remarks = _landed_or_cut(ctx, scope, _csv_url(ctx, partition, index[place]))
            documents.append(document)
            notes += remarks
    now = ctx.now()
    seen = tuple(document.seen_again(now) for document in documents)
    return Look(
        source=SOURCE_NAME, scope=scope, observed_at=now, complete=True, documents=seen, notes=tuple(notes)
    )  # fmt: skip


def _place(scope: str, index: Mapping[str, str]) -> str | None:
    """Return whose file holds a scope's rates: its own, or that of the region which it is a zone of."""
    parents = [name for name in index if scope == name or scope.startswith(f"{name}-")]
    return max(parents, key=len, default=None)


def _landed_or_cut(ctx: Context, scope: str, url: str) -> tuple[Document, tuple[str, ...]]:
    """Return the excerpt of a versioned file: the one landed before, or a new one; with notes on it."""
    found = ctx.landed(url)
    return (replace(found, scope=scope), ()) if found is not None else _cut(ctx, scope, url)


def _cut(ctx: Context, scope: str, url: str) -> tuple[Document, tuple[str, ...]]:
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


# --- indexes


def _offers(ctx: Context, partition: places.Partition) -> Mapping[str, object]:
    index = _index_at(ctx, f"{places.bulk_url(ctx.settings, partition)}/offers/v1.0/{partition.name}/index.json")
    return mapping(index.get("offers"), "offers")


def _region_index(
    ctx: Context, offers: Mapping[str, object], offer: str, partition: places.Partition
) -> Mapping[str, str]:
    """Return the path of each region's file."""
    path = text(mapping(offers.get(offer), f"offers.{offer}"), INDEX)
    index = _index_at(ctx, _within(places.bulk_url(ctx.settings, partition), path))
    entries = [mapping(each, "regions") for each in listed(index.get("regions"), "regions")]
    return {text(entry, "regionCode"): text(entry, "versionUrl") for entry in entries}


def _index_at(ctx: Context, url: str) -> Mapping[str, object]:
    answer = ctx.web.get(url)
    try:
        index: object = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise refusal(f"{url} is not JSON: {error}", "body", answer.body[:80].decode("utf-8", "replace")) from error
    return mapping(index, url)


def _csv_url(ctx: Context, partition: places.Partition, path: str) -> str:
    """Return the address of the CSV beside a JSON file of the index."""
    if not path.endswith(".json"):
        raise refusal("expected the path of a .json file", "versionUrl", path)
    return _within(places.bulk_url(ctx.settings, partition), path.removesuffix(".json") + ".csv")


def _within(base: str, path: str) -> str:
    """Return a path of an index as an address; raise where it leads to another host."""
    url = urljoin(base, path)
    if urlsplit(url)[:2] != urlsplit(base)[:2]:
        raise refusal("the index leads to another host", "url", path)
    return url
