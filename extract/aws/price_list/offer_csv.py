"""The bulk price list as CSV: five lines of preamble, a header, one line for each price.

Columns are found by name: their order and number differ between regions and change over the years, because a file
has a column only where some product in it has the attribute.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from extract.aws.bulk import Head
from extract.aws.price_list.rules import SOURCE_NAME, Price, Product
from warehouse.errors import LayoutChanged

MAX_HEAD_LINES = 20
"""Preamble and header are six lines today."""

ALWAYS = (
    "SKU",
    "OfferTermCode",
    "RateCode",
    "TermType",
    "Unit",
    "PricePerUnit",
    "Currency",
    "Instance Type",
    "Instance Family",
    "Tenancy",
    "Operating System",
    "License Model",
    "operation",
    "Pre Installed S/W",
)

SINCE: Mapping[str, datetime] = {
    "CapacityStatus": datetime(2020, 1, 1, tzinfo=UTC),
    "Region Code": datetime(2023, 1, 1, tzinfo=UTC),
    "MarketOption": datetime(2025, 1, 1, tzinfo=UTC),
}
"""Columns that every newer file has. An older one may lack them, and what they tell apart did not exist then:
Capacity Reservations (2018), Capacity Blocks (2023-10-31). The dates err on the late side; the columns came earlier.
"""

RESERVED = ("LeaseContractLength", "PurchaseOption")
"""Absent where a region sells no reservations, as in Local Zones; needed where a row is a reservation's."""
CONVERTIBLE_SINCE = datetime(2017, 1, 1, tzinfo=UTC)
"""Convertible reservations came on 2016-09-29; a file without OfferingClass from before knows standard ones only."""


def read_head(start: bytes, *, url: str) -> Head | None:
    """Return preamble and header; None where the bytes end before the header's end; raise LayoutChanged."""
    if start.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"<", b"{"):
        raise _refusal("expected an offer CSV, found a document of another kind", url, "body", _text(start[:80], url))
    preamble: dict[str, str] = {}
    position = 0
    for _ in range(MAX_HEAD_LINES):
        end = start.find(b"\n", position) + 1
        if end == 0:
            return None
        line = _text(start[position:end], url)
        try:
            (fields,) = list(csv.reader([line])) or [[]]
        except csv.Error as error:
            raise _refusal(f"not CSV: {error}", url, "header", line[:80]) from error
        position = end
        if len(fields) > 2:
            head = Head(preamble=preamble, header=tuple(fields), size=position)
            _check_header(head, url)
            return head
        if len(fields) == 2:
            preamble[fields[0].lstrip("\ufeff")] = fields[1]
    raise _refusal("no header", url, "header", _text(start[:80], url))


def _check_header(head: Head, url: str) -> None:
    """Raise LayoutChanged where a column is missing that a file of this age has, or occurs twice."""
    published = head.published_at or datetime.max.replace(tzinfo=UTC)
    expected = [*ALWAYS, *(name for name, since in SINCE.items() if published >= since)]
    missing = [name for name in expected if name not in head.header]
    if missing:
        found = ", ".join(name for name in head.header if name)
        raise _refusal(
            f"columns expected and not found: {', '.join(missing)}; found: {found}", url, "header", ", ".join(missing)
        )
    twice = sorted(name for name in {*expected, *RESERVED} if head.header.count(name) > 1)
    if twice:
        raise _refusal("columns occur twice", url, "header", ", ".join(twice))


class Columns:
    """Reads a line's fields by name, from one header."""

    def __init__(self, header: Sequence[str]) -> None:
        self._at = {name: position for position, name in enumerate(header)}
        self.width = len(header)

    def get(self, fields: Sequence[str], name: str) -> str | None:
        """Return a field; None where the file has no such column."""
        at = self._at.get(name)
        return None if at is None else fields[at]

    def product(self, fields: Sequence[str]) -> Product:
        """Return the product of a line."""

        def cell(name: str) -> str | None:
            return self.get(fields, name) or None

        return Product(
            sku=fields[self._at["SKU"]],
            instance_type=cell("Instance Type"),
            family=cell("Instance Family"),
            gpu=cell("GPU"),
            operating_system=cell("Operating System"),
            tenancy=cell("Tenancy"),
            operation=cell("operation"),
            capacity_status=cell("CapacityStatus"),
            market_option=cell("MarketOption"),
            software=cell("Pre Installed S/W"),
            license=cell("License Model"),
            region=self.get(fields, "Region Code"),
            location_type=cell("Location Type"),
        )


def prices(body: bytes, *, url: str) -> Iterator[Price]:
    """Yield every price of a file or of an excerpt of one; raise LayoutChanged, also for a file that was cut short."""
    head = read_head(body, url=url)
    if head is None or not body.endswith(b"\n"):
        raise _refusal("the file is cut short: its last line has no end", url, "body", _text(body[-80:], url))
    columns = Columns(head.header)
    standard_only = (head.published_at or datetime.max.replace(tzinfo=UTC)) < CONVERTIBLE_SINCE
    lines = io.TextIOWrapper(io.BytesIO(memoryview(body)[head.size :]), encoding="utf-8", newline="")
    reader = csv.reader(lines, strict=True)
    try:
        for fields in reader:
            if len(fields) != columns.width:
                message = f"a line has {len(fields)} fields, the header {columns.width}"
                raise _refusal(message, url, f"line {reader.line_num}", ",".join(fields)[:80])
            yield _price(columns, fields, standard_only=standard_only, url=url)
    except (csv.Error, UnicodeDecodeError) as error:
        raise _refusal(f"not CSV: {error}", url, f"line {reader.line_num}", str(error)) from error


def _price(columns: Columns, fields: Sequence[str], *, standard_only: bool, url: str) -> Price:
    get = columns.get
    term_type = get(fields, "TermType") or ""
    offering_class = get(fields, "OfferingClass")
    if term_type == "Reserved":
        missing = [name for name in RESERVED if get(fields, name) is None]
        if missing:
            raise _refusal("a reservation in a file without its columns", url, "header", ", ".join(missing))
        if offering_class is None and standard_only:
            offering_class = "standard"
    return Price(
        product=columns.product(fields),
        term_type=term_type,
        term_code=get(fields, "OfferTermCode") or "",
        rate_code=get(fields, "RateCode") or "",
        unit=get(fields, "Unit") or "",
        amount=get(fields, "PricePerUnit") or "",
        currency=get(fields, "Currency") or "",
        lease=get(fields, "LeaseContractLength") or None,
        payment=get(fields, "PurchaseOption") or None,
        offering_class=offering_class or None,
    )


def _text(raw: bytes, url: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refusal(f"not UTF-8: {error.reason}", url, "body", repr(raw[:80])) from error


def _refusal(message: str, url: str, field: str, value: str) -> LayoutChanged:
    hint = f"The source {SOURCE_NAME} has to be updated for the new layout" if field == "header" else f"Check {url}"
    return LayoutChanged(message, source=SOURCE_NAME, field=field, value=value, hint=hint)
