"""Past prices from the bulk door: every version since 2015-12-09 still answers, one CSV for each region.

The version index names them: {"versions": {"20151209144527": {"offerVersionUrl": "/offers/.../index.json", ...}}}.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from extract.aws.bulk import version_of
from extract.aws.places import Partition
from extract.aws.price_list import bulk, places
from extract.aws.price_list.rules import SOURCE_NAME
from extract.base import Context
from warehouse.documents import ScopeFetch
from warehouse.errors import LayoutChanged, SourceError, Unavailable

NOT_FOUND = 404


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield a fetch of each version of a region's file from `since` to `until`, oldest first.

    A version that is not there or not readable is a hole: a fetch without documents and a note. What cannot be
    reached raises Unavailable; begun again, the versions landed so far are not fetched a second time.
    """
    places.check_region(scope)
    partition = places.partition_of(scope)
    urls, ill_formed = _versions(ctx, scope, partition)
    pending = (f"ill-formed entries of the version index: {', '.join(ill_formed)}",) if ill_formed else ()
    for at, url in urls.items():
        if (since is None or since <= at) and (until is None or at <= until):
            fetched = _version(ctx, scope, at, url)
            yield replace(fetched, notes=(*pending, *fetched.notes))
            pending = ()


def _versions(ctx: Context, scope: str, partition: Partition) -> tuple[dict[datetime, str], list[str]]:
    """Return the CSV of each version by its moment of publication, oldest first, and the entries that name none."""
    base = bulk.base_url(ctx, partition)
    index = bulk.index_at(ctx, bulk.within(base, bulk.text(bulk.offer_entry(ctx, partition), "versionIndexUrl")))
    urls: dict[datetime, str] = {}
    ill_formed = []
    for version, entry in sorted(bulk.mapping(index.get("versions"), "versions").items()):
        try:
            path = bulk.text(bulk.mapping(entry, version), "offerVersionUrl")
            folder, file = path.rsplit("/", 1)
            if version_of(path) != version:
                raise ValueError(path)
            urls[bulk.published(version)] = bulk.csv_url(base, f"{folder}/{scope}/{file}", field="offerVersionUrl")
        except (ValueError, LayoutChanged):
            ill_formed.append(version)
    if not urls:
        message = "the version index names no version that can be read"
        hint = "Compare it with the documented form"
        raise LayoutChanged(message, source=SOURCE_NAME, field="versions", value=", ".join(ill_formed), hint=hint)
    return dict(sorted(urls.items())), ill_formed


def _version(ctx: Context, scope: str, at: datetime, url: str) -> ScopeFetch:
    try:
        document, notes = bulk.landed_or_cut(ctx, scope, url)
    except Unavailable:
        raise
    except LayoutChanged as error:
        return _fetched(scope, at, notes=(f"{url}: {error}",))
    except SourceError as error:
        if error.field == "status" and error.value == NOT_FOUND:
            return _fetched(scope, at, notes=(f"{url} does not exist: no prices of this version in {scope}",))
        raise
    if notes or document.published_at != at:
        stated = document.published_at.isoformat() if document.published_at else "no date"
        return _fetched(scope, at, notes=(f"{url} states {stated} as its publication: left out", *notes))
    return ScopeFetch(
        source=SOURCE_NAME, scope=scope, observed_at=at, complete=False, archived=True, documents=(document,)
    )


def _fetched(scope: str, at: datetime, *, notes: tuple[str, ...]) -> ScopeFetch:
    return ScopeFetch(
        source=SOURCE_NAME, scope=scope, observed_at=at, complete=False, archived=True, documents=(), notes=notes
    )
