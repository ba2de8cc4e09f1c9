"""Past prices out of SkyPilot's public catalogues: every version of a table of one provider's machines, since 2023.

Where: https://github.com/skypilot-org/skypilot-catalog , folders `catalogs/v<number>/<provider>/vms.csv`, written every
seven hours or so by SkyPilot's fetchers from the providers' interfaces, and committed where something changed.
Apache-2.0. It is read with git, a program of the machine: a clone with the folders of all commits and no files, and
each version of a table by itself. The clone stays in the folder that CHIPLEDGER_CACHE_DIR names, else it is thrown away
at the end. A scope is one provider's table. Settings: `enabled`, `url` (https:// or file:///). Formats read in November
2026, of versions from 2024 on.

1. It has no present: `fetch` raises, its prices are never called current, and `chipledger backfill skypilot_catalog`
   reads it. A version is dated by its commit's committer, in UTC, some minutes after the provider was asked.
2. Several formats are kept up side by side (v7 and v8): of those that one commit changes the newest counts, and once
   there is a newer one the older are followed no more, as they say the same in other words.
3. A price is of the whole machine. It is dollars without saying so; Seeweb bills in euros and its figures come
   unchanged. Sums of binary fractions (0.36979999999999996) are rounded to the ten decimals that are kept, where that
   takes away less than 1e-12; any other amount of more decimals is left for the row gate to refuse.
4. SpotPrice is absent as "", 0, 0.00, 99999999 (Prime Intellect) or as the price itself, which is what fetchers write
   where there is none (RunPod, Verda): counted, no price.
5. `GpuInfo` is text of three kinds: JSON, JSON with ' for ", a bare name. Its SizeInMiB is of one chip, or of all of
   them (Vast, Prime Intellect), or in GB (RunPod and Shadeform until 2026), or 0 for unknown. It follows in the label
   where the chip's name has no memory.
6. Machines are mislabelled: Denvr's A100 of 40 GB is A100_80G_SXM4 at Spheron, GpuInfo and all, and an SXM4 is a
   PCIE. A machine whose name, label and GpuInfo do not agree in count, memory or form is left out and counted, as is an
   A100 of 80 GB that Spheron has from Sesterce, whose own name has no 80G. Where it is more than a tenth of them, the
   version is refused.
7. Vast: since 2025 the price is the median of the asks for machines of one shape over all regions, rounded to a cent,
   in each region that has one at or below it; SpotPrice is the highest bid of several, and no price. Versions before
   list single asks, which make no price here.
8. RunPod and Lambda: the regions are SkyPilot's own list, the price the same in all of them; `conditions` says so.
   Cudo: the price is SkyPilot's sum for chips, vCPUs and memory; disk and address are extra.
9. Shadeform, Spheron and Prime Intellect resell: host_provider_name is whose machine it is.
10. On 2026-05-07 a copy of Lambda's table had a header and nothing else, for three hours. Such a version is an error.
"""

from collections.abc import Iterator
from datetime import datetime

from extract.base import Context, Source
from extract.catalogues.skypilot_catalog.catalog import CATALOGUES, NAME, parse
from extract.catalogues.skypilot_catalog.history import URL, History, Version
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import SourceError

OFF_BECAUSE = (
    "its repository has no licence file, so nothing allows publishing its rows again, and git clones hundreds of "
    "megabytes of it; "
    "read it with `chipledger backfill skypilot_catalog --scope lambda`"
)


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the providers whose tables are read."""
    return tuple(CATALOGUES)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Raise SourceError: what others saw some hours ago is no present price."""
    raise SourceError(
        "the catalogues are read as past prices only",
        source=NAME,
        field="scope",
        value=scope,
        hint=f"chipledger backfill {NAME} --scope {scope}",
    )


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield a look at each version of a provider's table between two dates, oldest first.

    A version that was landed before is not read again, so that a backfill that broke off goes on where it stopped.
    Raises SourceError for a provider without a table, or without git; Unavailable where git cannot reach it.
    """
    if scope not in CATALOGUES:
        hint = f"The catalogues are {', '.join(CATALOGUES)}"
        raise SourceError("no such catalogue", source=NAME, field="scope", value=scope, hint=hint)
    history = History.of(ctx)
    for version in history.versions(scope):
        if (since is None or since <= version.at) and (until is None or version.at <= until):
            document = ctx.landed(version.key) or _read(ctx, history, scope, version)
            yield ScopeFetch(
                source=NAME, scope=scope, observed_at=version.at, complete=False, archived=True, documents=(document,)
            )


def _read(ctx: Context, history: History, scope: str, version: Version) -> Document:
    return Document(
        source=NAME,
        scope=scope,
        url=f"{history.url}/blob/{version.commit}/{version.path}",
        body=history.read(version),
        fetched_at=ctx.now(),
        content_type="text/csv",
        version_key=version.key,
        published_at=version.at,
    )


SOURCE = Source(
    name=NAME,
    provider="several",
    title="SkyPilot's catalogues of the past, by provider",
    url=URL,
    terms_url=URL,
    max_age=None,
    scopes=scopes,
    fetch=fetch,
    parse=parse,
    backfill=backfill,
    kind="archive",
    settings=("url",),
    off_because=OFF_BECAUSE,
)
