"""Spot records of any age as observations: a page of the API (XML), an answer saved by the AWS CLI (JSON), or lines of
the archive (TSV), recognised by their content.
"""

import fnmatch
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import polars as pl

from extract.aws import SPOT as NAME
from extract.aws import places
from extract.aws.reading import BLANK, REGION, Layout, plain_number
from extract.base import Parsed
from warehouse.documents import Document
from warehouse.reference.instance_types import ACCELERATOR_TYPE
from warehouse.schema.tables import OBSERVATION

PRODUCTS = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
LAYOUT = Layout(NAME)
ACCELERATORS = ("cg*", "dl*", "f*", "g*", "inf*", "p*", "trn*", "vt*")
"""How names of accelerator types begin; other types among them are left out."""
ROOT, SET = "DescribeSpotPriceHistoryResponse", "spotPriceHistorySet"
CHUNK = {
    "AvailabilityZoneId": "zone_id",
    "AvailabilityZone": "zone",
    "InstanceType": "type",
    "ProductDescription": "product",
    "SpotPrice": "price",
    "Timestamp": "at_text",
}
"""A record's fields, as the service model names them, and our columns."""
FIELDS = tuple(CHUNK)
OPTIONAL = FIELDS[:2]
"""They may be absent, one of them at a time."""
ARCHIVED = tuple(name for name in FIELDS if name != "AvailabilityZone")
"""The fields of a line of the archive, in order."""
OFFER = ("zone_id", "zone", "type")

Record = dict[str, str | None]


def parse(document: Document) -> Parsed:
    """Return the prices of a document: of a "current" query those in force at its StartTime, else each change.

    Raises LayoutChanged where the document has another form, or is about another region than its scope.
    """
    ignored: Counter[str] = Counter()
    frame = pl.DataFrame(list(_records(document)), schema=dict.fromkeys(FIELDS, pl.String)).rename(CHUNK)
    frame, unknown = _accelerators(frame, ignored)
    frame = _timed(_one_product(frame, ignored))
    query = document.parameters.get("query")
    if query == "current":
        kept = _in_force(frame, datetime.fromisoformat(document.parameters["StartTime"]), ignored)
    else:
        kept = _changes(frame, ignored, keep_last=query is None)
        if known_until := document.parameters.get("known_until"):  # what the fetch before could not have had
            n_found, later = kept.height, pl.col("at") > _naive(datetime.fromisoformat(known_until))
            kept = kept.filter(pl.col("at").is_null() | later)
            ignored["known_before"] += n_found - kept.height
    rows = _rows(kept, document)
    return Parsed(rows=rows, ignored=dict(sorted((name, n) for name, n in ignored.items() if n)), unknown=unknown)


# --- records of each form


def _records(document: Document) -> Iterator[Record]:
    start = document.body.lstrip(BLANK)[:1]
    if start == b"<":
        return _xml(document.body)
    if start not in (b"{", b"["):
        return _lines(document.body)
    content = LAYOUT.answer(document.body, "SpotPriceHistory", numbers=str)
    return map(_record, LAYOUT.listed(content.get("SpotPriceHistory"), "SpotPriceHistory"))


def _xml(body: bytes) -> Iterator[Record]:
    root = LAYOUT.xml(body)
    records = root.find(SET)
    if root.tag != ROOT or records is None:
        raise LAYOUT.refusal(f"expected {ROOT} with {SET}", body)
    for item in records:
        yield _record({name: LAYOUT.child(item, f"{name[0].lower()}{name[1:]}") for name in FIELDS})


def _lines(body: bytes) -> Iterator[Record]:
    try:
        lines = body.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise LAYOUT.refusal(f"not text: {error}", body) from error
    for line in lines or [""]:
        values = line.split("\t")
        if len(values) != len(ARCHIVED):
            raise LAYOUT.refusal(f"expected five fields separated by tabs, found {len(values)}", line.encode())
        yield _record(dict(zip(ARCHIVED, values, strict=True)))


def _record(record: Mapping[str, object]) -> Record:
    """Return a record; an amount or time that is missing is "", which the row gate refuses."""
    texts = {name: LAYOUT.optional(record, name) for name in FIELDS}
    if not texts["InstanceType"] or not texts["ProductDescription"] or not any(texts[name] for name in OPTIONAL):
        raise LAYOUT.refusal("a record without instance type, product or zone", json.dumps(record).encode())
    return {name: text if name in OPTIONAL else text or "" for name, text in texts.items()}


# --- which of them count


def _accelerators(frame: pl.DataFrame, ignored: Counter[str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the records of accelerators, and types that were queried by name and are like none."""
    names = frame["type"].unique().to_list()
    ours = [name for name in names if ACCELERATOR_TYPE.match(name)]
    strange = {name for pattern in ACCELERATORS for name in fnmatch.filter(names, pattern)} - {*ours}
    kept = frame.filter(pl.col("type").is_in(ours))
    ignored["not_accelerator"] += frame.height - kept.height
    return kept, tuple(f"instance type {name!r}" for name in sorted(strange))


def _one_product(frame: pl.DataFrame, ignored: Counter[str]) -> pl.DataFrame:
    """Return the records of Linux; of an offer with both descriptions, those of the plain one."""
    linux = frame.filter(pl.col("product").is_in(PRODUCTS))
    ignored["other_product"] += frame.height - linux.height
    plain = linux.filter(pl.col("product") == PRODUCTS[0])
    twins = linux.filter(pl.col("product") != PRODUCTS[0])
    lonely = twins.join(plain, on=OFFER, how="anti", nulls_equal=True)
    ignored["vpc_twin"] += twins.height - lonely.height
    return pl.concat([plain, lonely])


def _timed(frame: pl.DataFrame) -> pl.DataFrame:
    """Return records with their time as naive UTC (NULL where the text is none) and their price as plain text."""
    text = pl.col("at_text").str.replace("Z$", "+00:00").str.replace(r"^([\d-]{10}) ", "${1}T")
    prices = frame["price"].unique().to_list()
    at = text.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z", strict=False, time_unit="us").dt.replace_time_zone(None)
    return frame.with_columns(
        pl.when(at.dt.year().is_between(1, 9999)).then(at).alias("at"),  # a zone may lead out of the calendar
        pl.col("price").replace_strict(prices, [plain_number(each) for each in prices], return_dtype=pl.String),
    )


def _changes(frame: pl.DataFrame, ignored: Counter[str], *, keep_last: bool) -> pl.DataFrame:
    """Return the records whose price differs from the one before in the document, and each last one by `keep_last`."""
    ordered = frame.unique(maintain_order=True).sort("zone_id", "zone", "type", "at", nulls_last=True)
    before, after = (pl.col("price").shift(step).over(OFFER) for step in (1, -1))
    wanted = pl.col("at").is_null() | before.is_null() | (pl.col("price") != before)
    kept = ordered.filter(wanted | after.is_null() if keep_last else wanted)
    ignored["repeated_price"] += frame.height - kept.height
    return kept


def _in_force(frame: pl.DataFrame, at: datetime, ignored: Counter[str]) -> pl.DataFrame:
    """Return each offer's newest record, as a price in force at the moment of the query."""
    unread = frame.filter(pl.col("at").is_null())
    then = frame.filter(pl.col("at") <= _naive(at))
    newest = then.filter(pl.col("at") == pl.col("at").max().over(OFFER)).unique(maintain_order=True)
    ignored["later_or_earlier"] += frame.height - unread.height - newest.height
    stamped = newest.with_columns(at=pl.lit(_naive(at), pl.Datetime("us")), at_text=pl.lit(at.isoformat()))
    return pl.concat([stamped.unique(maintain_order=True), unread])


def _naive(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(tzinfo=None)


# --- observations


def _rows(frame: pl.DataFrame, document: Document) -> pl.DataFrame:
    if 0 < frame["zone_id"].null_count() < frame.height:
        # Those would become other offers.
        raise LAYOUT.refusal("records with the id of their zone among others without", "", "AvailabilityZoneId")
    by_id = {places.zone_prefix(code): code for code in places.region_names()}
    of_id = pl.col("zone_id").str.extract(r"^(\w+)-").replace_strict(by_id, default=None, return_dtype=pl.String)
    found = pl.coalesce(pl.col("zone").str.extract(REGION), of_id)
    for zone, its in frame.select("zone", found.alias("its")).unique().rows():
        if document.scope and its != document.scope and (zone or its):
            raise LAYOUT.refusal(f"a record of another region than {document.scope}", zone or its, "AvailabilityZone")
    region = pl.lit(document.scope) if document.scope else found
    columns = {
        "service_provider_name": pl.lit("AWS"),
        "instance_type": pl.col("type"),
        "capacity_unit": pl.lit("instance"),
        "region_id": region,
        "availability_zone_id": pl.col("zone_id"),
        "availability_zone": pl.when(pl.col("zone_id").is_null()).then("zone"),
        "purchase_option": pl.lit("spot"),
        "commitment_term_hours": pl.lit(None, pl.Int64),
        "statistic": pl.lit("price"),
        "pricing_currency": region.str.extract("^([a-z]+)").replace_strict({"cn": "CNY", "eusc": "EUR"}, default="USD"),
        "unit_price_type": pl.lit("List"),
        "unit_price": pl.col("price"),
    }
    rows = frame.select(
        *(columns.get(name, pl.lit(None, pl.String)).alias(name) for name in OBSERVATION),
        pl.col("at").alias("observed_at"),
        pl.col("at_text").alias("observed_at_utc"),
    )
    return rows.sort("instance_type", "availability_zone_id", "availability_zone", "observed_at", nulls_last=True)
