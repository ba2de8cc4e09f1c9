"""Spot prices of every accelerator type in every zone: EC2's own history of 90 days, and a public archive of the past.

ec2.DescribeSpotPriceHistory, https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html ,
needs credentials; data under the AWS Service Terms, https://aws.amazon.com/service-terms/ . Past months, by `backfill`,
from the AWS Spot Price History of Eric Pauley (CC-BY-4.0), https://doi.org/10.5281/zenodo.14198917 .

Settings: `regions` ("all" that the account has, or a list; by default those of `places.own_regions`), `instance_types`
(names, with * and ? if need be; all accelerators by default), `since` (date from which the history is queried),
`archive_url` (folder of the archive).

A fetch of a region is two queries. "current" has StartTime = the moment of the fetch, for which EC2 documents that it
returns "the last price change before the start time, which is the effective price as of the start time": each offer in
force, once. "history" has the changes since the last complete fetch, or of 90 days.

Quirks:

1. The token after the last page is empty, not absent; pages may be short or empty although more follow.
2. EC2 repeats unchanged prices about daily: a record is an observation. Repeats within a document are counted and left
   out; the first record of a page may repeat the last of another page, which changes nothing.
3. Of Linux there are two product descriptions, the plain one and "(Amazon VPC)": the plain one is queried, the other
   only where there is none. Red Hat, SUSE and Windows cost a surcharge and are never queried.
4. Names of zones differ between accounts: the id is kept, and the name only where a capture has no id.
5. Filters take * and ?, InstanceTypes does not (https://docs.aws.amazon.com/AWSEC2/latest/CommandLineReference/
   ApiReference-cmd-DescribeSpotPriceHistory.html). So accelerators are queried by the beginnings of their names, and a
   type that is new tomorrow comes by itself.
6. A name that does not exist gives an empty list, as does a region without spot accelerators: that is noted and no
   error here; the batch gate refuses it where the region had prices. Names in `instance_types` are checked for their
   form, and make a fetch incomplete: of other types it says nothing.
7. A zone without a record has no spot, which is not a price of zero: a complete fetch says that such an offer is gone.
8. Prices of Local Zones come with those of their parent region, and stay under it: their names do not give the Region
   Code of the price list (zone us-east-1-atl-2a, region us-east-1-atl-1).
9. The archive moves the price in force to the first moment of each month. A month is one file for all regions; 2022 and
   2023 are a file each, of the regions that every account has. 2026-03 to 2026-06 are missing from it. Its version of
   2026-09 is read, or a newer one to which its address of all versions leads (read about on 2026-10-06). Of a zone
   whose id its collector does not know it writes none: such lines are in no region, and counted.
"""

import functools
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from extract.aws import SPOT as NAME
from extract.aws import places
from extract.aws.bulk import NOT_FOUND, read_stream, reported
from extract.aws.client import PAGE_SIZE, Call, regions
from extract.base import Context, Parsed, Source, past_fetch, url_in
from warehouse.documents import Document, ScopeFetch, Whole
from warehouse.errors import LayoutChanged, SettingsError, SourceError, count
from warehouse.reference.instance_types import ACCELERATOR_TYPE

HISTORY = timedelta(days=90)
LIVELY = timedelta(days=2)
"""EC2 repeats every price about daily: an offer with a record of the last two days has a price in force."""
_TYPE = re.compile(r"[a-z0-9*?-]+(\.[a-z0-9*?-]+)?")

ARCHIVE_URL = "https://zenodo.org/records/23082767/files"
"""The version of 2026-10-01, which ends with September 2026; the DOI of all versions is 10.5281/zenodo.14198917."""
NEWEST_URL = "https://zenodo.org/records/14198917/latest"
"""It redirects to the record of the newest version, which has the months of the one before unchanged, and one more."""
FIRST_MONTH = (2022, 1)
YEARLY = (2022, 2023)
GAP = "2026-03 to 2026-06 are missing from the archive itself"
FILE_NAMES = ("{year:04}-{month:02}.tsv.zst", "{year:04}/{month:02}.tsv.zst")
YEAR_NAME = "{year:04}.tsv.zst"
BLOCK_BYTES = 1 << 22
EXCERPT_LIMIT_BYTES = 256 << 20
"""For the lines that are kept of a month, of all regions: some ten times as much as there are."""
_ZONE = re.compile(rb"([a-z]{2,5}\d)-[a-z0-9-]*(?:az|wlz)\d+|")
_WANTED = re.compile(
    rb"^([^\t\n]*)\t" + ACCELERATOR_TYPE.pattern.encode() + rb"[^\t\n]*\tLinux/UNIX(?: \(Amazon VPC\))?\t.*\n",
    re.MULTILINE,
)
FIELD_COUNT_LESS_ONE = 4


def parse(document: Document) -> Parsed:
    """Return the prices in a page of the API, a saved answer of the AWS CLI, or an excerpt of the archive."""
    # Imported here: the shell must not wait for polars.
    from extract.aws import spot_records

    return spot_records.parse(document)


# --- EC2's own history: two queries a region, every page as it came


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """The documents of one query, and the offers (zone, type) in it with the time of their last record."""

    documents: tuple[Document, ...]
    last_seen: Mapping[tuple[str, str], datetime]


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a fetch of one region: the prices in force, and the changes since the fetch before."""
    from extract.aws.spot_records import PRODUCTS

    call = Call(source=NAME, scope=scope, operation="ec2.DescribeSpotPriceHistory", result="SpotPriceHistory")
    chosen = _instance_types(ctx.settings)
    at = ctx.now().astimezone(UTC).replace(microsecond=0)
    start, known_until = _window(ctx, scope, at)
    client = call.client()
    current, product = _Answer(documents=(), last_seen={}), PRODUCTS[0]
    for product in PRODUCTS:
        current = _answer(ctx, client, call, chosen, product, {"query": "current", "StartTime": at.isoformat()})
        if current.last_seen:
            break
    window = {"query": "history", "StartTime": start.isoformat(), "EndTime": at.isoformat()}
    if known_until is not None:
        window["known_until"] = known_until.isoformat()
    history = _answer(ctx, client, call, chosen, product if current.last_seen else PRODUCTS[0], window)
    lively = {offer for offer, seen in history.last_seen.items() if at - LIVELY <= seen <= at}
    if lively and not current.last_seen:
        hint = "Try again later"
        message = f"{scope}: the history has prices of the last days, and none is in force"
        raise SourceError(message, source=NAME, field=call.result, value=len(lively), hint=hint)
    missing = sorted(lively - current.last_seen.keys())
    return ScopeFetch(
        source=NAME,
        scope=scope,
        observed_at=at,
        complete=chosen is None and not missing,
        documents=(*current.documents, *history.documents),
        notes=tuple(_notes(current, chosen, missing)),
    )


def _notes(current: _Answer, chosen: tuple[str, ...] | None, missing: list[tuple[str, str]]) -> list[str]:
    notes = []
    if not current.last_seen:
        notes.append(f"no spot price of {', '.join(chosen or ('any accelerator',))} here")
    if missing:
        named = ", ".join(f"{kind} in {zone}" for zone, kind in missing[:5])
        notes.append(f"{len(missing)} offers of the last days are not among the prices in force: {named}")
    return notes


def _answer(
    ctx: Context, client: Any, call: Call, chosen: tuple[str, ...] | None, product: str, parameters: Mapping[str, str]
) -> _Answer:
    from extract.aws.spot_records import ACCELERATORS

    request: dict[str, object] = {"ProductDescriptions": [product], "MaxResults": PAGE_SIZE}
    request |= {
        name: datetime.fromisoformat(parameters[name]) for name in ("StartTime", "EndTime") if name in parameters
    }
    types = chosen or ACCELERATORS
    if any("*" in name or "?" in name for name in types):
        request["Filters"] = [{"Name": "instance-type", "Values": list(types)}]
    else:
        request["InstanceTypes"] = list(types)
    stated = {**parameters, "ProductDescription": product, "InstanceTypes": ",".join(types)}
    documents: list[Document] = []
    last_seen: dict[tuple[str, str], datetime] = {}
    for page, document in call.documents(ctx, client, request, stated):
        documents.append(document)
        for record in page[call.result]:
            offer = (record.get("AvailabilityZone", ""), record.get("InstanceType", ""))
            seen = record.get("Timestamp") or datetime.min.replace(tzinfo=UTC)
            last_seen[offer] = max(seen, last_seen.get(offer, seen))
    return _Answer(documents=tuple(documents), last_seen=last_seen)


def _window(ctx: Context, scope: str, at: datetime) -> tuple[datetime, datetime | None]:
    """Return the start of the history to query, and the fetch up to which all is known; None where there is none."""
    oldest = at - HISTORY
    if "since" in ctx.settings:
        return max(_moment(ctx.settings["since"]), oldest), None
    last = ctx.last_observed(scope)
    return max(last or oldest, oldest), last


def _moment(value: object) -> datetime:
    """Return a date or time of the settings, which is UTC unless it says otherwise."""
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError as error:
        hint = 'Expected is a date such as "2026-10-01"'
        raise SettingsError("not a date", source=NAME, field="since", value=value, hint=hint) from error
    return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)


def _instance_types(settings: Mapping[str, object]) -> tuple[str, ...] | None:
    """Return the types to ask for; None for all. A wrong name would give an empty list and no error (trap 23)."""
    chosen = places.names_in(settings, "instance_types", source=NAME)
    for name in chosen or ():
        if not _TYPE.fullmatch(name):
            hint = 'Expected is a name such as "p5.48xlarge", or "p5.*"; one name to each entry'
            raise SettingsError("not an instance type", source=NAME, field="instance_types", value=name, hint=hint)
    return chosen


# --- past prices: the public archive by Eric Pauley, one file for each month since 2022, for all regions at once
#
# A file is `YYYY-MM.tsv.zst`, as on Zenodo, or `YYYY/MM.tsv.zst`, as in the repository that made it: about 100 MB, 13
# million lines of zone id, type, product, price and time, without a header. It is read once in a run, for all regions.


@dataclass(frozen=True, kw_only=True)
class Month:
    """What was cut from a file: lines, compressed, by how the zone ids of their region begin, None without a zone."""

    excerpts: Mapping[bytes | None, bytes]
    whole: Whole


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield a fetch of each month of a region between two dates, oldest first; of some years one of each.

    A month that the archive does not have is a fetch without documents and a note. Raises Unavailable where a file
    cannot be reached or breaks off, LayoutChanged where it is no such file.
    """
    prefix = places.zone_prefix(scope).encode()
    if not prefix:
        raise SourceError("not a region", source=NAME, field="region", value=scope, hint="Name one such as us-east-1")
    schemes = ("https://", "http://", "file:/")
    default = ARCHIVE_URL if "archive_url" in ctx.settings else _newest(ctx)
    base = url_in(ctx.settings, "archive_url", default, source=NAME, schemes=schemes).rstrip("/")
    whole_years: set[int] = set()
    for year, month in _months(since, until or ctx.now()):
        at = datetime(year, month, 1, tzinfo=UTC)
        end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        if year in whole_years:
            continue
        documents, notes = _documents(ctx, scope, prefix, base, at, FILE_NAMES)
        if year in YEARLY and not documents:
            found = _documents(ctx, scope, prefix, base, at, (YEAR_NAME,))
            if found[0]:
                whole_years.add(year)
                (documents, notes), end = found, datetime(year + 1, 1, 1, tzinfo=UTC)
        # What the file says is true of moments within its month, the last of which is its end.
        yield past_fetch(NAME, scope, min(end, ctx.now()), documents, notes)


def _newest(ctx: Context) -> str:
    """Return the folder of the archive's newest version; the one known here where the web does not say."""
    ask = getattr(ctx.web, "first_bytes", None)
    with suppress(SourceError):
        location = ask(NEWEST_URL, limit_bytes=1).location if ask else ""
        if found := re.search(r"/records/\d+$", location):
            return f"https://zenodo.org{found[0]}/files"
    return ARCHIVE_URL


def _documents(
    ctx: Context, scope: str, prefix: bytes, base: str, at: datetime, names: Iterable[str]
) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    for name in names:
        url = f"{base}/{name.format(year=at.year, month=at.month)}"
        key = re.sub(r"(?<=zenodo\.org/records)/[0-9]+", "", url) + f"#{scope}"
        if landed := ctx.landed(key) or ctx.landed(f"{url}#{scope}"):
            return (landed,), ()
        try:
            month = ctx.memo.once(url, functools.partial(_cut, ctx, url))
        except FileNotFoundError:
            continue
        except SourceError as error:
            if error.field == "status" and error.value == NOT_FOUND:
                continue
            raise
        n_lost = zlib.decompress(month.excerpts[None]).count(b"\n") if None in month.excerpts else 0
        notes = (f"{url} has {count(n_lost, 'line')} without a zone, which is in no region",) if n_lost else ()
        packed = month.excerpts.get(prefix)
        if packed is None:
            return (), (f"{url} has no spot price of an accelerator in {scope}", *notes)
        document = Document(
            source=NAME,
            scope=scope,
            url=url,
            body=zlib.decompress(packed),
            fetched_at=ctx.now(),
            version_key=key,
            content_type="text/tab-separated-values",
            published_at=at,
            whole=month.whole,
        )
        return (document,), notes
    gap = f"; {GAP}" if (2026, 3) <= (at.year, at.month) <= (2026, 6) else ""
    return (), (f"the archive at {base} has no {at:%Y-%m}{gap}",)


def _cut(ctx: Context, url: str) -> Month:
    if url.startswith("file:"):
        with Path(url2pathname(urlsplit(url).path)).open("rb") as file:
            return cut(iter(lambda: file.read(BLOCK_BYTES), b""), url)
    return read_stream(ctx.web, url, lambda blocks: cut(reported(blocks, ctx, f"{NAME} {url}"), url))


def cut(blocks: Iterator[bytes], url: str) -> Month:
    """Return the lines of accelerators on Linux, by region; raise LayoutChanged where it is no such file or damaged."""
    import pyarrow as pa
    from blake3 import blake3

    whole, size, kept_size = blake3(), 0, 0
    packers: dict[bytes | None, Any] = {}
    packed: dict[bytes | None, list[bytes]] = {}
    rest = b""
    try:
        stream = pa.CompressedInputStream(pa.PythonFile(_Reader(blocks), mode="r"), "zstd")
        while block := stream.read(BLOCK_BYTES):
            whole.update(block)
            size += len(block)
            lines, _, rest = (rest + block).rpartition(b"\n")
            if len(rest) > BLOCK_BYTES:
                raise _refusal(f"a line of more than {BLOCK_BYTES} bytes", url)
            for prefix, kept in _lines_by_region(lines + b"\n" if lines else b"", url).items():
                packer = packers.setdefault(prefix, zlib.compressobj(6))
                packed.setdefault(prefix, []).append(packer.compress(b"".join(kept)))
                kept_size += sum(map(len, kept))
            if kept_size > EXCERPT_LIMIT_BYTES:
                raise _refusal(f"the lines of accelerators exceed {EXCERPT_LIMIT_BYTES} bytes", url)
    except OSError as error:
        raise _refusal(f"the compressed file is damaged: {error}", url) from error
    if rest or not size:
        raise _refusal("the file ends within a line" if rest else "the file is empty", url)
    return Month(
        excerpts={name: b"".join((*packed[name], packer.flush())) for name, packer in packers.items()},
        whole=Whole(size=size, digest=whole.hexdigest(), algorithm="blake3"),
    )


def _lines_by_region(lines: bytes, url: str) -> dict[bytes | None, list[bytes]]:
    """Return the lines that are kept, by how their zone ids begin; raise where they are no lines of the archive."""
    if lines.count(b"\t") != FIELD_COUNT_LESS_ONE * lines.count(b"\n"):
        raise _refusal(f"{url}: expected five fields separated by tabs", lines[:80].decode("utf-8", "replace"))
    found: dict[bytes | None, list[bytes]] = {}
    for line in _WANTED.finditer(lines):
        zone = _ZONE.fullmatch(line[1])
        if zone is None:
            raise _refusal(f"{url}: expected a zone id", line[1].decode("utf-8", "replace"))
        found.setdefault(zone[1], []).append(line[0])
    return found


class _Reader(io.RawIOBase):
    """Blocks as a file that pyarrow reads."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self._rest = self._rest or next(self._blocks, b"")
        block, self._rest = self._rest[:size], self._rest[size:]
        return block


def _months(since: datetime | None, until: datetime) -> Iterator[tuple[int, int]]:
    year, month = max((since.year, since.month), FIRST_MONTH) if since else FIRST_MONTH
    while (year, month) <= (until.year, until.month):
        yield year, month
        year, month = year + month // 12, month % 12 + 1


def _refusal(message: str, value: str) -> LayoutChanged:
    hint = "Fetch the file again, or leave its month out"
    return LayoutChanged(message, source=NAME, field="archive", value=value, hint=hint)


SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="AWS EC2 spot price history, by zone",
    url="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html",
    max_age=timedelta(days=1),
    scopes=functools.partial(regions, source=NAME),
    fetch=fetch,
    parse=parse,
    backfill=backfill,
    settings=("regions", "instance_types", "since", "archive_url"),
    credentials="`ec2:DescribeSpotPriceHistory`",
)
