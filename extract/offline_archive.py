"""The offline archive: past list prices of AWS, shipped in the package as documents in AWS's own formats.

What: on-demand prices (Linux, shared tenancy) of accelerator types in a few regions at 25 moments from 2022-06-22 to
2026-09-10. The documents are rendered by tools/make_archive.py from tables of public facts, each with its address;
they are no documents of AWS. Url, terms and limits of the sources: docs/offline-archive.md.

Quirks:

1. It has no present: `fetch` raises, and its prices are never called current.
2. It goes the way of the live price list: the same backfill and the same parser over `ArchiveWeb`.
3. Its SKUs are placeholders (NOTAWS...), as the facts come without: `parse` gives NULL for both codes.
4. A version stands for the moment at which AWS was asked, which is its `observed_at`. Only 20260910195514 is a version
   of AWS too, and here it has a few types only; so addresses and version keys carry the mark `archive:`.
5. What a version lacks was not asked for, or not listed: a fetch of it is never complete, and nothing is ever gone.
6. Bare metal stands under tenancy Dedicated, as its source requested it, and is ignored: price_archive has the Shared.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType
from urllib.parse import urlsplit

from extract.base import Context, Landed, Parsed, Source, past_only
from extract.web.interface import Response
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import SourceError

NAME = "offline_archive"
ARCHIVE = resources.files("extract") / "archive"
MARK = "archive:"
BLOCK_BYTES = 1 << 16
REGION_INDEX = "/offers/v1.0/aws/AmazonEC2/current/region_index.json"
VERSION_FILE = "/offers/v1.0/aws/AmazonEC2/{at:%Y%m%d%H%M%S}/{region}/index.csv"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class ArchiveWeb:
    """The web, as far as it lies in the package: an address leads to a file by its path, whatever its host."""

    def get(self, url: str, *, accept: str = "application/json", headers: Mapping[str, str] = NO_HEADERS) -> Response:
        """Return a document whole. Raises SourceError, as for a 404, where the archive has none."""
        body = self._read(url)
        kind = "text/csv" if urlsplit(url).path.endswith(".csv") else "application/json"
        return Response(url=url, body=body, status=200, content_type=kind)

    def post(
        self, url: str, *, json: object, accept: str = "application/json", headers: Mapping[str, str] = NO_HEADERS
    ) -> Response:
        """Raise SourceError: nothing answers in an archive."""
        raise SourceError("the offline archive answers no questions", source=url, field="method", value="POST")

    @contextmanager
    def stream(self, url: str) -> Iterator[Iterator[bytes]]:
        """Give a document in blocks. Raises SourceError, as for a 404, where the archive has none."""
        body = self._read(url)
        yield (body[start : start + BLOCK_BYTES] for start in range(0, len(body), BLOCK_BYTES))

    def has(self, url: str) -> bool:
        """Return whether the archive has a document."""
        return self._file(url) is not None

    def _read(self, url: str) -> bytes:
        file = self._file(url)
        if file is None:
            hint = "docs/offline-archive.md says what it holds"
            raise SourceError("HTTP 404: not in the offline archive", source=url, field="status", value=404, hint=hint)
        body = file.read_bytes()
        return gzip.decompress(body) if file.name.endswith(".gz") else body

    def _file(self, url: str) -> Traversable | None:
        """Return the file of an address, as it is or compressed; None where there is none."""
        *folders, name = urlsplit(url).path.lstrip("/").split("/")
        if folders[:1] != ["offers"] or {"", ".", ".."}.intersection((*folders, name)):
            return None
        folder = ARCHIVE.joinpath(*folders)
        return next((file for file in (folder / name, folder / f"{name}.gz") if file.is_file()), None)


def regions(ctx: Context) -> tuple[str, ...]:
    """Return the regions that the archive has prices of."""
    index = json.loads(ArchiveWeb().get(REGION_INDEX).body)
    return tuple(sorted(index["regions"]))


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield the fetches of one region between two dates, oldest first, as those of this source."""
    from extract.aws import price_list

    # No settings: an address meant for the live price list does not concern the archive.
    web = ArchiveWeb()
    offline = replace(ctx, web=web, landed=_landed(ctx.landed, web), settings={})
    for fetched in price_list.backfill(offline, scope, since, until):
        if not fetched.documents and not web.has(VERSION_FILE.format(at=fetched.observed_at, region=scope)):
            continue  # nobody looked at this region then
        documents = tuple(_marked(document) for document in fetched.documents)
        yield replace(fetched, source=NAME, scope=scope, complete=False, archived=True, documents=documents)


def parse(document: Document) -> Parsed:
    """Return what a document says, without the placeholders that stand for its SKUs. Raises LayoutChanged."""
    import polars as pl

    from extract.aws import price_list

    parsed = price_list.SOURCE.parse(document)
    unknown = pl.lit(None, pl.String)
    return replace(parsed, rows=parsed.rows.with_columns(sku_id=unknown, sku_price_id=unknown))


def _marked(document: Document) -> Document:
    """Return a document under addresses that nobody takes for AWS's."""
    key = MARK + document.version_key if document.version_key else ""
    return replace(document, source=NAME, url=MARK + urlsplit(document.url).path, version_key=key)


def _landed(landed: Landed, web: ArchiveWeb) -> Landed:
    """Return the search among landed documents, for those of the archive and no document of AWS.

    It raises SourceError for what the archive lacks, so that nothing that reaches a network is loaded to ask for it.
    """

    def find(version_key: str) -> Document | None:
        document = landed(MARK + version_key)
        if document is None and not web.has(version_key):
            raise SourceError("not in the archive", source=version_key, field="status", value=404)
        return None if document is None else replace(document, version_key=version_key)

    return find


SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="AWS on-demand prices of the past, from the package",
    url="https://github.com/aws/karpenter-provider-aws",
    max_age=None,
    scopes=regions,
    fetch=past_only(NAME, "Read it as past prices (backfill), or fetch aws_price_list for the present ones"),
    parse=parse,
    backfill=backfill,
    kind="archive",
)
