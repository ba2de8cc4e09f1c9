"""The bulk door: public files that need no credentials, one for each region, kind of plan and version.

Offer index, then the Savings Plan index of EC2 and of SageMaker, then the region's CSV of each, of which an excerpt is
kept. The offer index names the Savings Plan index; a region index lists its regions with the address of a version.
"""

from collections.abc import Mapping

from extract.aws import bulk
from extract.aws.places import GLOBAL, PSEUDO_REGIONS, Partition
from extract.aws.savings_plans import excerpt, places
from extract.aws.savings_plans.rates import SOURCE_NAME, listed, mapping, text
from extract.base import Context
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import SourceError

EC2_OFFER, ML_OFFER = "AmazonEC2", "AmazonSageMaker"
INDEX = "currentSavingsPlanIndexUrl"


def regions(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the global partition that have EC2's Savings Plans."""
    index = _region_index(ctx, _offers(ctx, GLOBAL), EC2_OFFER, GLOBAL)
    return tuple(sorted(set(index) - PSEUDO_REGIONS))


def fetch(ctx: Context, scope: str) -> ScopeFetch:
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
            base = places.bulk_url(ctx.settings, partition)
            url = bulk.csv_url(base, index[place], field="versionUrl", source=SOURCE_NAME)
            document, remarks = bulk.landed_or_cut(ctx, scope, url, source=SOURCE_NAME, cut=excerpt.cut)
            documents.append(document)
            notes += remarks
    now = ctx.now()
    seen = tuple(document.seen_again(now) for document in documents)
    return ScopeFetch(
        source=SOURCE_NAME, scope=scope, observed_at=now, complete=True, documents=seen, notes=tuple(notes)
    )


def _place(scope: str, index: Mapping[str, str]) -> str | None:
    """Return whose file holds a scope's rates: its own, or that of the region which it is a zone of."""
    parents = [name for name in index if scope == name or scope.startswith(f"{name}-")]
    return max(parents, key=len, default=None)


# --- indexes


def _offers(ctx: Context, partition: Partition) -> Mapping[str, object]:
    base = places.bulk_url(ctx.settings, partition)
    return bulk.offers(ctx, base, partition.name, source=SOURCE_NAME)


def _region_index(ctx: Context, offers: Mapping[str, object], offer: str, partition: Partition) -> Mapping[str, str]:
    """Return the path of each region's file."""
    path = text(mapping(offers.get(offer), f"offers.{offer}"), INDEX)
    url = bulk.within(places.bulk_url(ctx.settings, partition), path, source=SOURCE_NAME)
    index = bulk.index_at(ctx, url, source=SOURCE_NAME)
    entries = [mapping(each, "regions") for each in listed(index.get("regions"), "regions")]
    return {text(entry, "regionCode"): text(entry, "versionUrl") for entry in entries}
