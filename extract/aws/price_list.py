"""AWS's public price list of EC2: on-demand and Reserved prices of every type with an accelerator.

Linux, shared tenancy, no software, per region. https://aws.amazon.com/pricing/ ; data under the AWS Site Terms,
https://aws.amazon.com/terms/ . Both ways of access give the same prices: the Price List API (pricing.GetProducts, needs
credentials, about ten pages a region) and the public bulk files (300 MB a region, read as they stream by).

Settings: `access` (auto, api, bulk), `regions` ("all" or a list of Region Codes; China's are named), `bulk_url`.

Quirks:

1. A Capacity Block product is listed next to the on-demand one with every other attribute equal, at 0: they differ
   by MarketOption and operation. Any other 0 is passed on, for the row gate to refuse.
2. Unused reservations repeat the on-demand price, allocated ones cost 0: only CapacityStatus "Used" counts.
3. Columns and attributes come and go: found by name, absent where no product of the region has one, and absent from
   older files (`price_list_rows.SINCE`).
4. GPU is filled for Inferentia and some Trainium, empty for others, and may be "0.125". Accelerators are known by
   GPU, by Instance Family or by name; an Instance Family never seen before is reported, never taken for a CPU.
5. A Reserved term has one or two amounts, hourly and upfront, in either order, each with a rate code of its own.
6. Local Zones and Wavelength Zones have Region Codes and files of their own; location names change, codes do not.
7. China has its own endpoint, index, term codes and currency. GovCloud is served by the global endpoint.
8. EffectiveDate moves every month without a change of price, so it is not read.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from extract.aws import bulk, places, price_list_rows
from extract.aws.bulk import Excerpt, Files, Head
from extract.aws.client import Call
from extract.aws.price_list_rows import CAPACITY_BLOCK_OPERATION, LAYOUT, OPERATION, parse
from extract.base import Context, Source
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import LayoutChanged, SourceError, Unavailable

NAME = LAYOUT.source
SERVICE = "AmazonEC2"
PRODUCT_FAMILIES = ("Compute Instance", "Compute Instance (bare metal)")
FILTERS = {"operatingSystem": "Linux", "tenancy": "Shared", "capacitystatus": "Used", "preInstalledSw": "NA"}
"""They name no market option, so that Capacity Blocks stay visible in the landed pages; `parse` leaves them out."""
PAGE_SIZE = 100
MAX_PAGES = 250
"""A query has about ten; many times as many is a paging error, and would fill the memory."""
CREDENTIALS_HINT = (
    'Give credentials that may call pricing:GetProducts and pricing:GetAttributeValues, or set access = "bulk", '
    "which needs none"
)
NETWORK_HINT = "Check the network; only us-east-1, eu-central-1, ap-south-1 and cn-northwest-1 have this API"
SETTINGS_HINT = "Check the Region Code and the settings"
NOT_FOUND = 404

MARKERS = (f'"{OPERATION}"'.encode(), f'"{CAPACITY_BLOCK_OPERATION}"'.encode())
PRODUCT_COLUMNS = ("Instance Type", "Instance Family", "GPU", "Tenancy", "Operating System", "operation")
"""What `price_list_rows.matters` reads."""


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the settings, or all that the API or the region index lists."""
    wanted = places.names_in(ctx.settings, "regions", source=NAME)
    if wanted is not None:
        return wanted
    if places.access(ctx.settings, source=NAME) == "bulk":
        return places.regions_among(_region_index(_files(ctx, places.GLOBAL)), ctx, source=NAME)
    call = _call("regions", "pricing.GetAttributeValues", "AttributeValues", places.GLOBAL)
    pages = call.pages(call.client(), {"ServiceCode": SERVICE, "AttributeName": "regionCode"})
    listed = [value.get("Value", "") for page in pages for value in page[call.result]]
    return places.regions_among(listed, ctx, source=NAME)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a complete look at one region through the API or the bulk files; raise SourceError."""
    places.check_region(scope, source=NAME)
    if places.access(ctx.settings, source=NAME) == "bulk":
        documents, notes = _bulk_documents(ctx, scope)
    else:
        documents, notes = _api_documents(ctx, scope), ()
    return ScopeFetch(source=NAME, scope=scope, observed_at=ctx.now(), complete=True, documents=documents, notes=notes)


# --- API: GetProducts, one query for each region and product family, every page as it came


def _call(scope: str, operation: str, result: str, partition: places.Partition) -> Call:
    return Call(
        source=NAME,
        scope=scope,
        operation=operation,
        result=result,
        region=partition.api_region,
        max_pages=MAX_PAGES,
        hint=CREDENTIALS_HINT,
        network=NETWORK_HINT,
        settings=SETTINGS_HINT,
    )


def _api_documents(ctx: Context, scope: str) -> tuple[Document, ...]:
    call = _call(scope, "pricing.GetProducts", "PriceList", places.partition_of(scope))
    client = call.client()
    documents: list[Document] = []
    products = 0
    for family in PRODUCT_FAMILIES:
        terms = {"regionCode": scope, "productFamily": family, **FILTERS}
        filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in terms.items()]
        request = {"ServiceCode": SERVICE, "Filters": filters, "MaxResults": PAGE_SIZE}
        for page, document in call.documents(ctx, client, request, terms):
            products += len(page[call.result])
            documents.append(document)
    if not products:
        hint = "Check the Region Code; one without any machine is none"
        raise SourceError("no products in this region", source=NAME, field="region", value=scope, hint=hint)
    return tuple(documents)


# --- bulk files: offer index, then region index, then the region's current version as CSV


def _files(ctx: Context, partition: places.Partition) -> Files:
    return Files(ctx=ctx, layout=LAYOUT, partition=partition)


def _region_index(files: Files) -> dict[str, object]:
    index = files.index(LAYOUT.text(files.offer(SERVICE), "currentRegionIndexUrl"))
    return dict(LAYOUT.mapping(index.get("regions"), "regions"))


def _bulk_documents(ctx: Context, scope: str) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """Return the current file of a region; a version that was landed before is not fetched again."""
    files = _files(ctx, places.partition_of(scope))
    listed = _region_index(files)
    if scope not in listed:
        hint = f"The index lists {', '.join(sorted(listed)) or 'no region'}"
        raise SourceError("not a region of the price list", source=NAME, field="region", value=scope, hint=hint)
    path = LAYOUT.text(LAYOUT.mapping(listed[scope], f"regions.{scope}"), "currentVersionUrl")
    url = files.csv_url(path, field="currentVersionUrl")
    document, notes = bulk.landed_or_cut(ctx, scope, url, source=NAME, cut=cut)
    return (document.seen_again(ctx.now()),), notes


def cut(blocks: Iterable[bytes], *, url: str, progress: Callable[[int], None] = lambda size: None) -> Excerpt:
    """Return the excerpt of a streamed file; raise LayoutChanged.

    A region's file is 300 MB and more, of which accelerators are one line in a hundred. A line that can become a price
    has the operation RunInstances, which it shares with one line in ten: these are found by a search for the quoted
    bytes, and of them the first of each product is read as CSV. So every product of that operation is judged by the
    rules themselves, whatever its family is called, and the result is the same as that of reading every line.
    """
    return bulk.excerpt_of(
        blocks,
        url=url,
        layout=LAYOUT,
        read_head=price_list_rows.read_head,
        select=lambda head, start: _Selector(head, start).lines,
        progress=progress,
    )


class _Selector:
    """Selects lines; knows the columns, and remembers the product that it judged last."""

    def __init__(self, head: Head, start: bytes) -> None:
        names = self._header = list(head.header)
        # From the first of these columns on, the lines of one product are the same, where the price comes before.
        family = names.index("Product Family") if "Product Family" in names else len(names)
        together = all(names.index(name) > family for name in PRODUCT_COLUMNS if name in names)
        self._product_mark = b',"Compute Instance' if together else b""
        header = start.rstrip(b"\r\n").rpartition(b"\n")[2]
        self._quoted = all(each.startswith(b'"') for each in header.split(b","))
        self._product, self._matters = b"", False

    def lines(self, block: bytes, start: int, end: int) -> Iterator[bytes]:
        """Yield the lines of a block that matter, in the order of the file."""
        if self._quoted and block[start : start + 1] == b'"':
            return filter(self._keep, bulk.marked_lines(block, start, end, MARKERS))
        # Nothing to search for: every line is read.
        return filter(self._keep, io.BytesIO(block[start:end]))

    def _keep(self, line: bytes) -> bool:
        """Return whether a line matters; one that cannot be read does, so that `parse` refuses it by name."""
        mark = line.find(self._product_mark) if self._product_mark else -1
        if mark >= 0 and line[mark:] == self._product:
            return self._matters
        try:
            (fields,) = csv.reader([line.decode("utf-8")], strict=True)
            row = dict(zip(self._header, fields, strict=True))
        except (ValueError, csv.Error):
            return True
        matter = price_list_rows.matters(price_list_rows.csv_product(row))
        if mark >= 0:
            self._product, self._matters = line[mark:], matter
        return matter


# --- past prices: every version since 2015-12-09 still answers, one CSV for each region


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield a fetch of each version of a region's file from `since` to `until`, oldest first, whatever the access.

    A version that is not there or not readable is a hole: a fetch without documents and a note. What cannot be
    reached raises Unavailable; begun again, the versions landed so far are not fetched a second time.
    """
    places.check_region(scope, source=NAME)
    urls, ill_formed = _versions(_files(ctx, places.partition_of(scope)), scope)
    pending = (f"ill-formed entries of the version index: {', '.join(ill_formed)}",) if ill_formed else ()
    for at, url in urls.items():
        if (since is None or since <= at) and (until is None or at <= until):
            documents, notes = _version(ctx, scope, at, url)
            yield ScopeFetch(
                source=NAME,
                scope=scope,
                observed_at=at,
                complete=False,
                archived=True,
                documents=documents,
                notes=(*pending, *notes),
            )
            pending = ()


def _versions(files: Files, scope: str) -> tuple[dict[datetime, str], list[str]]:
    """Return the CSV of each version by its moment of publication, oldest first, and the entries that name none.

    The index is {"versions": {"20151209144527": {"offerVersionUrl": "/offers/.../index.json", ...}}}.
    """
    index = files.index(LAYOUT.text(files.offer(SERVICE), "versionIndexUrl"))
    urls: dict[datetime, str] = {}
    ill_formed = []
    for version, entry in sorted(LAYOUT.mapping(index.get("versions"), "versions").items()):
        try:
            path = LAYOUT.text(LAYOUT.mapping(entry, version), "offerVersionUrl")
            folder, file = path.rsplit("/", 1)
            if bulk.version_of(path) != version:
                raise ValueError(path)
            at = datetime.strptime(f"{version}+0000", "%Y%m%d%H%M%S%z")
            urls[at] = files.csv_url(f"{folder}/{scope}/{file}", field="offerVersionUrl")
        except (ValueError, LayoutChanged):
            ill_formed.append(version)
    if not urls:
        message = "the version index names no version that can be read"
        raise LAYOUT.refusal(message, ", ".join(ill_formed), "versions")
    return dict(sorted(urls.items())), ill_formed


def _version(ctx: Context, scope: str, at: datetime, url: str) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """Return the document of a version, or none and the reason."""
    try:
        document, notes = bulk.landed_or_cut(ctx, scope, url, source=NAME, cut=cut)
    except Unavailable:
        raise
    except LayoutChanged as error:
        return (), (f"{url}: {error}",)
    except SourceError as error:
        if error.field == "status" and error.value == NOT_FOUND:
            return (), (f"{url} does not exist: no prices of this version in {scope}",)
        raise
    if notes or document.published_at != at:
        stated = document.published_at.isoformat() if document.published_at else "no date"
        return (), (f"{url} states {stated} as its publication: left out", *notes)
    return (document,), ()


SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="AWS Price List of EC2, on-demand and Reserved",
    url="https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/price-changes.html",
    terms_url="https://aws.amazon.com/terms/",
    max_age=timedelta(days=3),
    scopes=scopes,
    fetch=fetch,
    parse=parse,
    backfill=backfill,
    settings=("access", "regions", "bulk_url"),
    credentials="none, or `pricing:GetProducts`",
)
