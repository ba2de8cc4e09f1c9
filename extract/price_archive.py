"""The archive of prices: what providers asked on past days, as compact rows of our own, each with its address.

What: AWS's Reserved Instances and Savings Plans, spot by zone, Capacity Block rates, and price pages of other
providers. A price that a provider publishes is a fact; these are no documents of the providers. Every file of
`extract/archive/prices/` has one origin, and a row in `extract/archive/origins.csv` says where it is from, when it was
read there, what kind of evidence it is, and what the terms of its source say. Counts and limits:
docs/offline-archive.md.

Quirks:

1. It has no present: `fetch` raises, and outside of an offline directory its prices are never called current.
2. A file holds many moments: each row has its own, and a fetch of the file is as of its newest one.
3. A file that grows by a row is another document of the same scope: what it said before is known already.
4. A fetch is never complete: what a file lacks was not asked for, and nothing is ever gone.
"""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib.resources.abc import Traversable

from extract.base import Context, Parsed, Source, no_scope, past_fetch, past_only
from extract.offline_archive import ARCHIVE, MARK
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import LayoutChanged
from warehouse.schema.tables import OBSERVATION

NAME = "price_archive"
MOMENT = "observed_at_utc"
STAMP = "%Y-%m-%dT%H:%M:%SZ"
EVIDENCE = ("evidence_kind", "source_url", "accessed_on", "terms", "terms_url")
"""What origins.csv says of a file, and the log keeps with its document."""


def origins() -> dict[str, dict[str, str]]:
    """Return the rows of origins.csv by the name of their file."""
    table = (ARCHIVE / "origins.csv").read_text(encoding="utf-8")
    return {row["origin"]: row for row in csv.DictReader(io.StringIO(table))}


def newest() -> datetime:
    """Return the newest moment of all files: the day that the archive is "as of"."""
    return max(_newest(_file(origin).read_bytes()) for origin in origins())


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield the fetch of one file, where its newest moment lies between two dates. Raises SourceError."""
    known = origins()
    if scope not in known:
        raise no_scope(NAME, scope, known)
    body = _file(scope).read_bytes()
    at = _newest(body)
    if (since and at < since) or (until and at > until):
        return
    document = Document(
        source=NAME,
        scope=scope,
        url=f"{MARK}/prices/{scope}.csv",
        body=body,
        fetched_at=ctx.now(),
        content_type="text/csv",
        parameters={name: known[scope][name] for name in EVIDENCE},
    )
    yield past_fetch(NAME, scope, at, (document,))


def parse(document: Document) -> Parsed:
    """Return the rows of a file, each with its own moment. Raises LayoutChanged."""
    import polars as pl

    names = document.body.partition(b"\n")[0].decode("utf-8", "replace").strip().split(",")
    if {*names} - {MOMENT, *OBSERVATION} or MOMENT not in names:  # polars would unpack what is packed
        raise _refusal(f"expected {MOMENT} and columns of an observation", ", ".join(names))
    try:
        table = pl.read_csv(document.body, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise _refusal("not a CSV", str(error).splitlines()[0]) from error
    term = "commitment_term_hours"
    empty = pl.lit(None, pl.String)
    columns = [(pl.col(name) if name in table.columns else empty.alias(name)) for name in OBSERVATION]
    rows = table.select(
        *columns, pl.col(MOMENT), pl.col(MOMENT).str.to_datetime(STAMP, strict=False).alias("observed_at")
    )
    return Parsed(rows=rows.with_columns(pl.col(term).cast(pl.Int64, strict=False)))


def _file(origin: str) -> Traversable:
    return ARCHIVE / "prices" / f"{origin}.csv"


@cache
def _newest(body: bytes) -> datetime:
    """Return the newest moment of a file. The moments are of one form, so that the last text is the newest."""
    last = max(row[MOMENT] for row in csv.DictReader(io.StringIO(body.decode())))
    return datetime.strptime(last, STAMP).replace(tzinfo=UTC)


def _refusal(message: str, value: object) -> LayoutChanged:
    return LayoutChanged(message, source=NAME, field="columns", value=value, hint="docs/offline-archive.md has them")


SOURCE = Source(
    name=NAME,
    provider="several",
    title="Prices of the past, from the package: commitments, spot, Capacity Blocks, other providers",
    url="https://github.com/chipledger/chipledger/tree/main/extract/archive",
    max_age=None,
    scopes=lambda ctx: tuple(sorted(origins())),
    fetch=past_only(NAME, "Read it with `chipledger run --offline`"),
    parse=parse,
    backfill=backfill,
    kind="archive",
)
