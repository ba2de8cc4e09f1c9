"""Euro reference rates of the European Central Bank: what turns a price in euros into US dollars. No prices.

The daily XML of https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/ ; past days,
by `backfill`, from the CSV in eurofxref-hist.zip beside it (since 1999-01-04). Free to use where the ECB is named and
what was calculated is told, https://www.ecb.europa.eu/services/using-our-site/disclaimer/html/index.en.html ; "for
information purposes only".

Settings: `url` (the XML; eurofxref-hist-90d.xml beside it has the same form with 90 days), `archive_url` (the ZIP).

Quirks:

1. Rates are units of a currency for one euro, so dollars for a yuan are a quotient of two of them (core.usd_rate).
2. One is published at about 16:00 CET of each TARGET working day: on weekends and holidays the file still has the last
   working day's. A rate is of the day that the file states, never of the day it was read.
3. A currency that joined the euro or was suspended stands in the CSV as N/A, and in the XML not at all: no rate, and
   neither the last one. The set of currencies changes (BGN left in 2026), the dollar is always there.
4. The CSV ends its lines with a comma, so that its last column has neither name nor values.
5. The archive is kept from the first to the last day asked for, as received; the size and hash of the whole CSV stand
   beside it. It is revised in rare cases, so it has no version, and a rate learnt later counts.
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
from xml.parsers import expat

from extract.base import Context, Parsed, Source
from warehouse.documents import Document, ScopeFetch, Whole
from warehouse.errors import LayoutChanged, SettingsError

NAME = "ecb_rates"
URL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"
ARCHIVE_URL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist.zip"
ARCHIVE_MEMBER = "eurofxref-hist.csv"
ARCHIVE_LIMIT_BYTES = 32 << 20
"""Twenty times the CSV of 27 years; what swells beyond it is another file."""
SCOPE = "euro"
DOLLAR = "USD"
DOLLARS_PER_EURO = (Decimal("0.5"), Decimal(2))
"""Since 1999 it was 0.8252 to 1.5990; beyond this it is another number, such as one that is out by a factor."""
NO_RATE = "N/A"
UNREADABLE = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ValueError,
    LookupError,
)
"""What the reader of ZIP raises for archives that are cut, patched together or of another kind."""

_GESMES = "http://www.gesmes.org/xml/2002-08-01"
_EUROFXREF = "http://www.ecb.int/vocabulary/2002-08-01/eurofxref"
_CUBE = f"{_EUROFXREF} Cube"
_ENVELOPE = (f"{_GESMES} Envelope",)
_PATHS = {
    _ENVELOPE: (),
    (*_ENVELOPE, f"{_GESMES} subject"): (),
    (*_ENVELOPE, f"{_GESMES} Sender"): (),
    (*_ENVELOPE, f"{_GESMES} Sender", f"{_GESMES} name"): (),
    (*_ENVELOPE, _CUBE): (),
    (*_ENVELOPE, _CUBE, _CUBE): ("time",),
    (*_ENVELOPE, _CUBE, _CUBE, _CUBE): ("currency", "rate"),
}
"""Every element that the XML may have, by the names from the root on, with its attributes."""

Rates = dict[date, dict[str, Decimal]]


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the one table."""
    return (SCOPE,)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a look at the rates of the last working day; raise Unavailable or SourceError."""
    answer = ctx.web.get(_address(ctx, "url", URL), accept="application/xml, text/xml")
    document = Document(
        source=NAME,
        scope=scope,
        url=answer.url,
        body=answer.body,
        fetched_at=ctx.now(),
        status=answer.status,
        content_type=answer.content_type,
    )
    return ScopeFetch(source=NAME, scope=scope, observed_at=document.fetched_at, complete=True, documents=(document,))


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield the rates of all working days between two dates, as one look at the archive.

    Raises Unavailable, SourceError, or LayoutChanged where it is no such archive.
    """
    answer = ctx.web.get(_address(ctx, "archive_url", ARCHIVE_URL), accept="application/zip")
    whole = _unpacked(answer.body)
    head, *lines = whole.splitlines(keepends=True)
    kept = [line for line in lines if _is_between(line, since, until)]
    if not kept:
        return
    document = Document(
        source=NAME,
        scope=scope,
        url=answer.url,
        body=b"".join((head, *kept)),
        fetched_at=ctx.now(),
        status=answer.status,
        content_type="text/csv",
        whole=Whole(size=len(whole), digest=hashlib.sha256(whole).hexdigest(), algorithm="sha256"),
    )
    # What was asked for before has the same end, so that it is not loaded twice.
    last: date = parse(document).facts["fx_rate"]["rate_date"].to_list()[-1]
    end = datetime.combine(last, time(), tzinfo=UTC) + timedelta(days=1)
    yield ScopeFetch(
        source=NAME, scope=scope, observed_at=min(end, ctx.now()), complete=False, archived=True, documents=(document,)
    )


def parse(document: Document) -> Parsed:
    """Return the rates of the XML, of the CSV or of the ZIP as facts, and no prices; raise LayoutChanged."""
    import polars as pl

    from warehouse.schema.tables import OBSERVATION

    body = _unpacked(document.body) if document.body.startswith(b"PK") else document.body
    rates, n_missing = _csv_rates(body) if body.startswith(b"Date,") else (_Envelope(body).rates, 0)
    _check(rates, latest=document.fetched_at.astimezone(UTC).date() + timedelta(days=1))
    rows = [(currency, day, rate) for day, found in rates.items() for currency, rate in found.items()]
    columns: dict[str, pl.DataType | type[pl.DataType]] = {
        "pricing_currency": pl.String,
        "rate_date": pl.Date,
        "units_per_eur": pl.Decimal(18, 10),
    }
    facts = pl.DataFrame(rows, schema=columns, orient="row").sort("rate_date", "pricing_currency")
    nothing = {name: pl.Int64 if name == "commitment_term_hours" else pl.String for name in OBSERVATION}
    ignored = {"no rate of a currency on a day": n_missing} if n_missing else {}
    return Parsed(rows=pl.DataFrame(schema=nothing), ignored=ignored, facts={"fx_rate": facts})


class _Envelope:
    """Reads the rates of the XML: no element, attribute or text but those that it always had."""

    def __init__(self, body: bytes) -> None:
        self.rates: Rates = {}
        self._path: tuple[str, ...] = ()
        self._text = ""
        self._day = date.min
        self._header: dict[str, str] = {}
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        try:
            parser.Parse(body, True)
        except (expat.ExpatError, ValueError, LookupError) as error:  # the latter two: of its encoding
            start = body[:80].decode("utf-8", "replace")
            raise _refusal(f"expected the XML of the reference rates: {error}", "body", start) from error
        expected = {"subject": "Reference rates", "name": "European Central Bank"}
        if self._header != expected:
            raise _refusal("expected the reference rates of the European Central Bank", "Sender", self._header)

    def _doctype(self, name: str, system_id: str | None, public_id: str | None, has_internal_subset: bool) -> None:
        raise _refusal("a DTD, which the rates never had", "DOCTYPE", name)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._path = (*self._path, name)
        expected = _PATHS.get(self._path)
        if expected is None:
            raise _refusal("an element that the rates never had", "element", name)
        if tuple(sorted(attributes)) != expected:
            raise _refusal(f"expected the attributes {', '.join(expected) or 'none'}", name, dict(attributes))
        if "time" in attributes:
            self._day = _new_day(self.rates, attributes["time"])
        elif "rate" in attributes:
            _add(self.rates, self._day, attributes["currency"], attributes["rate"])
        self._text = ""

    def _end(self, name: str) -> None:
        text, self._text = self._text.strip(), ""
        if name.startswith(f"{_GESMES} ") and text:
            self._header[name.rpartition(" ")[2]] = text
        elif text:
            raise _refusal("text where the rates never had one", name, text)
        self._path = self._path[:-1]

    def _characters(self, text: str) -> None:
        self._text += text


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
    """Raise where there is no rate at all, a day without the dollar, one that has not been, or no dollar we know."""
    if not rates:
        raise _refusal("expected the rates of a day, found none", "time", 0)
    least, most = DOLLARS_PER_EURO
    for day, found in rates.items():
        if day > latest:
            raise _refusal("rates of a day that has not been", "time", str(day))
        if DOLLAR not in found:
            raise _refusal(f"expected a rate of {DOLLAR} at {day}", "currency", ", ".join(found))
        if not least <= found[DOLLAR] <= most:
            raise _refusal(f"expected {least} to {most} dollars for a euro at {day}", "rate", str(found[DOLLAR]))


def _unpacked(body: bytes) -> bytes:
    """Return the CSV of the archive."""
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


def _is_between(line: bytes, since: datetime | None, until: datetime | None) -> bool:
    day = line[:10].decode("ascii", "replace")
    return (since is None or day >= since.date().isoformat()) and (until is None or day <= until.date().isoformat())


def _address(ctx: Context, setting: str, default: str) -> str:
    url = ctx.settings.get(setting) or default
    if not isinstance(url, str) or not url.startswith(("https://", "http://")):
        raise SettingsError("expected an http address", source=NAME, field=setting, value=url)
    return url


def _refusal(message: str, field: str, value: object) -> LayoutChanged:
    return LayoutChanged(message, source=NAME, field=field, value=value, hint="Check the landed document")


SOURCE = Source(
    name=NAME,
    provider="ECB",
    title="Euro foreign exchange reference rates of the European Central Bank",
    url="https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html",
    terms_url="https://www.ecb.europa.eu/services/using-our-site/disclaimer/html/index.en.html",
    max_age=timedelta(days=10),
    scopes=scopes,
    fetch=fetch,
    parse=parse,
    backfill=backfill,
    settings=("url", "archive_url"),
    polite=True,
)
