"""The bulk door: public files that need no credentials, one for each region and version.

Offer index, then region index, then the region's current version as CSV, of which an excerpt is kept.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import partial

from extract.aws import bulk
from extract.aws.places import GLOBAL, Partition
from extract.aws.price_list import excerpt, places
from extract.aws.price_list.rules import SOURCE_NAME
from extract.base import Context
from warehouse.documents import ScopeFetch
from warehouse.errors import SourceError

OFFER = "AmazonEC2"

csv_url = partial(bulk.csv_url, source=SOURCE_NAME)
index_at = partial(bulk.index_at, source=SOURCE_NAME)
landed_or_cut = partial(bulk.landed_or_cut, source=SOURCE_NAME, cut=excerpt.cut)
mapping = partial(bulk.mapping, source=SOURCE_NAME)
text = partial(bulk.text, source=SOURCE_NAME)
within = partial(bulk.within, source=SOURCE_NAME)


def regions(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the global partition that the region index lists."""
    return places.regions_among(list(_region_index(ctx, GLOBAL)), ctx)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a look at the current file of a region; a version that was landed before is not fetched again."""
    places.check_region(scope)
    partition = places.partition_of(scope)
    listed = _region_index(ctx, partition)
    if scope not in listed:
        hint = f"The index lists {', '.join(sorted(listed)) or 'no region'}"
        raise SourceError("not a region of the price list", source=SOURCE_NAME, field="region", value=scope, hint=hint)
    entry = mapping(listed[scope], f"regions.{scope}")
    path = text(entry, "currentVersionUrl")
    url = csv_url(base_url(ctx, partition), path, field="currentVersionUrl")
    document, notes = landed_or_cut(ctx, scope, url)
    now = ctx.now()
    return ScopeFetch(
        source=SOURCE_NAME,
        scope=scope,
        observed_at=now,
        complete=True,
        documents=(document.seen_again(now),),
        notes=notes,
    )


def base_url(ctx: Context, partition: Partition) -> str:
    """Return where a partition's bulk files are."""
    return places.bulk_url(ctx.settings, partition)


def offer_entry(ctx: Context, partition: Partition) -> Mapping[str, object]:
    """Return the offer index's entry of EC2, which says where everything else is."""
    listed = bulk.offers(ctx, base_url(ctx, partition), partition.name, source=SOURCE_NAME)
    return mapping(listed.get(OFFER), f"offers.{OFFER}")


def _region_index(ctx: Context, partition: Partition) -> Mapping[str, object]:
    path = text(offer_entry(ctx, partition), "currentRegionIndexUrl")
    return mapping(index_at(ctx, within(base_url(ctx, partition), path)).get("regions"), "regions")


def published(version: str) -> datetime:
    """Return the moment of publication that a version's name states; raise ValueError where it is no version."""
    return datetime.strptime(f"{version}+0000", "%Y%m%d%H%M%S%z")
