"""The ECB's reference rates: read to the digit, refused where anything is odd, and what they make of a price in euros.

The rates are real: of 2026-09-24 and 2026-07-10 from the daily XML, of 2025-04-23 to 25 from the CSV of the archive;
currencies are left out.
"""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from few_marts import LEAST_MARTS, formulas_of
from log_rows import add_documents
from looks import look, row
from published import query

from extract.base import Context
from extract.ecb_rates import ARCHIVE_URL, SOURCE, URL
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.errors import LayoutChanged, SettingsError
from warehouse.log import db
from warehouse.log.load import load
from warehouse.log.parsed import no_rows
from warehouse.publish import published_file

NOW = datetime(2026, 11, 21, 6, tzinfo=UTC)
DAILY = b"""<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>European Central Bank</gesmes:name>
\t</gesmes:Sender>
\t<Cube>
\t\t<Cube time='2026-09-24'>
\t\t\t<Cube currency='USD' rate='1.1367'/>
\t\t\t<Cube currency='JPY' rate='180.57'/>
\t\t\t<Cube currency='GBP' rate='0.85986'/>
\t\t\t<Cube currency='CNY' rate='7.6302'/>
\t\t\t<Cube currency='IDR' rate='20384.10'/>
\t\t</Cube>
\t</Cube>
</gesmes:Envelope>
"""
FRIDAY = DAILY.replace(b"2026-09-24", b"2026-07-10").replace(b"1.1367", b"1.1430").replace(b"0.85986", b"0.85155")
CSV = b"""Date,USD,JPY,BGN,CYP,GBP,CNY,
2025-04-25,1.1357,162.8,1.9558,N/A,0.8531,8.2773,
2025-04-24,1.1376,162.16,1.9558,N/A,0.855,8.2925,
2025-04-23,1.1415,161.98,1.9558,N/A,0.85698,8.3196,
"""


def document(body: bytes) -> Document:
    return Document(source="ecb_rates", scope="euro", url=URL, body=body, fetched_at=NOW)


def rates(body: bytes) -> pl.DataFrame:
    return SOURCE.parse(document(body)).facts["fx_rate"]


def zipped(body: bytes = CSV, *names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names or ("eurofxref-hist.csv",):
            archive.writestr(name, body)
    return packed.getvalue()


class OnePage:
    """A web with one answer, which remembers what was asked."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.asked: list[str] = []

    def get(self, url: str, *, accept: str = "application/json", headers: Mapping[str, str] = {}) -> Response:
        self.asked.append(url)
        return Response(url=url, body=self.body, status=200, content_type="text/xml")


def context(web: OnePage, **settings: object) -> Context:
    return Context(web=web, settings=settings, now=lambda: NOW)  # type: ignore[arg-type]


def test_the_daily_rates_are_read_to_the_digit() -> None:
    """Units of each currency for one euro on the day that the file states; no price."""
    parsed = SOURCE.parse(document(DAILY))

    assert parsed.facts["fx_rate"].rows() == [
        ("CNY", date(2026, 9, 24), Decimal("7.6302")),
        ("GBP", date(2026, 9, 24), Decimal("0.85986")),
        ("IDR", date(2026, 9, 24), Decimal("20384.10")),
        ("JPY", date(2026, 9, 24), Decimal("180.57")),
        ("USD", date(2026, 9, 24), Decimal("1.1367")),
    ]
    assert parsed.rows.schema.names() == no_rows().drop("document_sha256", strict=False).schema.names()
    assert parsed.rows.is_empty()


@pytest.mark.parametrize("body", [CSV, zipped(), CSV.replace(b",\n", b"\n"), CSV.replace(b"\n", b"\r\n")])
def test_the_archive_is_read_with_and_without_its_last_comma(body: bytes) -> None:
    """A currency without a rate on a day has none: no row, and counted."""
    parsed = SOURCE.parse(document(body))
    found = parsed.facts["fx_rate"]

    assert found.height == 15
    assert found.filter(pl.col("pricing_currency") == "USD").select("rate_date", "units_per_eur").rows() == [
        (date(2025, 4, 23), Decimal("1.1415")),
        (date(2025, 4, 24), Decimal("1.1376")),
        (date(2025, 4, 25), Decimal("1.1357")),
    ]
    assert "CYP" not in found["pricing_currency"]
    assert parsed.ignored == {"no rate of a currency on a day": 3}


def test_ninety_days_have_the_form_of_one() -> None:
    """eurofxref-hist-90d.xml: the same file with more days in it."""
    one = DAILY[DAILY.index(b"\t\t<Cube time") : DAILY.index(b"\t</Cube>\n</g")]
    two = DAILY.replace(one, one + one.replace(b"09-24", b"09-23").replace(b"1.1367", b"1.1402"))

    assert rates(two).filter(pl.col("pricing_currency") == "USD")["units_per_eur"].to_list() == [
        Decimal("1.1402"),
        Decimal("1.1367"),
    ]


def changed(old: bytes, new: bytes, body: bytes = DAILY) -> bytes:
    assert old in body
    return body.replace(old, new)


ENTITY = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>"""
ODD = {
    "nothing": b"",
    "a page": b"<!DOCTYPE html><html><body>Maintenance</body></html>",
    "JSON": b'{"rates": {}}',
    "cut short": DAILY[:500],
    "cut at the end": DAILY.rstrip()[:-2],
    "two documents": DAILY + DAILY,
    "entities": changed(b'<?xml version="1.0" encoding="UTF-8"?>', ENTITY),
    "an external entity": changed(b"?>", b'?><!DOCTYPE x SYSTEM "file:///etc/hostname">'),
    "another sender": changed(b"European Central Bank", b"Central Bank of Europe"),
    "another subject": changed(b"Reference rates", b"Forward rates"),
    "no sender": changed(b"<gesmes:name>European Central Bank</gesmes:name>", b""),
    "another namespace": changed(b"eurofxref", b"eurofxref2"),
    "another element": changed(b"<Cube currency='JPY' rate='180.57'/>", b"<Rate currency='JPY' rate='180.57'/>"),
    "one level deeper": changed(b"<Cube time", b"<Cube><Cube time").replace(b"\t\t</Cube>", b"\t\t</Cube></Cube>"),
    "another attribute": changed(b"rate='180.57'", b"rate='180.57' multiplier='100'"),
    "a renamed attribute": changed(b"rate='", b"value='"),
    "text": changed(b"<Cube currency='JPY' rate='180.57'/>", b"<Cube currency='JPY' rate='180.57'>per 100</Cube>"),
    "no dollar": changed(b"currency='USD'", b"currency='USN'"),
    "no day": changed(b" time='2026-09-24'", b""),
    "no such day": changed(b"2026-09-24", b"2026-09-31"),
    "another form of a day": changed(b"2026-09-24", b"24 September 2026"),
    "a day without dashes": changed(b"2026-09-24", b"20260924"),
    "a day to come": changed(b"2026-09-24", b"2026-11-23"),
    "no rates": DAILY[: DAILY.index(b"\t\t<Cube time")] + b"</Cube></gesmes:Envelope>",
    "a day without rates": changed(b"\t</Cube>\n</g", b"<Cube time='2026-09-23'></Cube>\t</Cube>\n</g"),
    "a currency twice": changed(b"'JPY'", b"'GBP'"),
    "the euro": changed(b"'JPY'", b"'EUR'"),
    "no currency": changed(b"'JPY'", b"'jpy'"),
    "zero": changed(b"180.57", b"0.00"),
    "negative": changed(b"180.57", b"-180.57"),
    "a comma": changed(b"180.57", b"180,57"),
    "an exponent": changed(b"180.57", b"1.8e2"),
    "not a number": changed(b"180.57", b"NaN"),
    "no rate": changed(b"180.57", b"N/A"),
    "too many digits": changed(b"180.57", b"180.12345678901"),
    "dollars out by a factor": changed(b"1.1367", b"113.67"),
    "pounds out by a factor": changed(b"0.85986", b"85.986"),
    "yuan out by a factor": changed(b"7.6302", b"76.302"),
    "dollars in the place of pounds": changed(b"0.85986", b"1.1367"),
    "pounds in the place of dollars": changed(b"1.1367", b"0.65986"),
    "another currency in the place of yuan": changed(b"7.6302", b"4.2"),
    "CSV: no archive": b"PK\x03\x04 and then nothing",
    "CSV: another file": zipped(CSV, "eurofxref.csv"),
    "CSV: two files": zipped(CSV, "eurofxref-hist.csv", "more.csv"),
    "CSV: no header": zipped(CSV.partition(b"\n")[2]),
    "CSV: a renamed dollar": changed(b"USD", b"USX", CSV),
    "CSV: a column twice": changed(b"JPY", b"USD", CSV),
    "CSV: a cell less": changed(b"162.8,", b"", CSV),
    "CSV: a cell more": changed(b"162.8,", b"162.8,1,", CSV),
    "CSV: cut short": CSV.rstrip()[:-1],
    "CSV: something after the last comma": changed(b"8.2773,", b"8.2773,7", CSV),
    "CSV: an empty cell": changed(b"162.8", b"", CSV),
    "CSV: a dollar without a rate": changed(b"1.1376", b"N/A", CSV),
    "CSV: a day twice": changed(b"2025-04-24", b"2025-04-25", CSV),
    "CSV: another form of a day": changed(b"2025-04-25", b"25 April 2025", CSV),
    "CSV: no days": CSV.partition(b"\n")[0] + b"\n",
    "CSV: not ASCII": changed(b"162.8", "162,8\N{NO-BREAK SPACE}".encode(), CSV),
}


@pytest.mark.parametrize("name", ODD)
def test_anything_odd_is_refused(name: str) -> None:
    """A wrong rate would be a wrong price in dollars, everywhere at once: none is better."""
    with pytest.raises(LayoutChanged) as raised:
        SOURCE.parse(document(ODD[name]))

    assert raised.value.source == "ecb_rates"
    assert raised.value.field


def test_a_swelling_archive_is_refused() -> None:
    """A member beyond all bounds is not unpacked whole."""
    with pytest.raises(LayoutChanged, match="holds more than"):
        SOURCE.parse(document(zipped(b"Date," + b"0" * (40 << 20))))


def test_a_look_is_of_the_moment_and_complete() -> None:
    """One document as received, from the daily address or the one chosen."""
    web = OnePage(DAILY)

    one = SOURCE.fetch(context(web), "euro")
    SOURCE.fetch(context(web, url="https://mirror.test/90d.xml"), "euro")

    assert (one.observed_at, one.complete, one.archived) == (NOW, True, False)
    assert [each.body for each in one.documents] == [DAILY]
    assert web.asked == [URL, "https://mirror.test/90d.xml"]
    assert SOURCE.scopes(context(web)) == ("euro",)
    with pytest.raises(SettingsError):
        SOURCE.fetch(context(web, url="file:///etc/passwd"), "euro")


def test_past_days_are_those_asked_for_as_received() -> None:
    """The excerpt, with the size and hash of the whole, and with what holds on its first day."""
    since, until = datetime(2025, 4, 24, tzinfo=UTC), datetime(2025, 4, 24, 23, 59, tzinfo=UTC)
    web = OnePage(zipped())
    assert SOURCE.backfill is not None

    (one,) = SOURCE.backfill(context(web), "euro", since, until)
    (all_days,) = SOURCE.backfill(context(web), "euro", None, None)

    assert one.documents[0].body.splitlines() == [CSV.splitlines()[0], *CSV.splitlines()[2:]]
    assert one.documents[0].whole is not None
    assert one.documents[0].whole.size == len(CSV)
    assert (one.complete, one.archived) == (False, True)
    assert one.observed_at == datetime(2025, 4, 25, tzinfo=UTC)
    assert all_days.documents[0].body == CSV
    assert web.asked == [ARCHIVE_URL, ARCHIVE_URL]
    assert list(SOURCE.backfill(context(web), "euro", datetime(2026, 1, 1, tzinfo=UTC), None)) == []
    (sunday,) = SOURCE.backfill(context(web), "euro", datetime(2025, 4, 27, tzinfo=UTC), None)
    assert sunday.documents[0].body == CSV  # a price of that day is read by Friday's rate
    with pytest.raises(LayoutChanged):
        list(SOURCE.backfill(context(OnePage(DAILY)), "euro", since, until))


EUROS = row("p5.48xlarge", "64", pricing_currency="EUR")
"""Eight H100: 8 euros a chip-hour."""
SUNDAY = date(2026, 7, 12)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a published file with rates of two days, and with one price a scope, each last seen at noon of a day."""
    prices = {
        "friday": (date(2026, 7, 10), EUROS), "sunday": (SUNDAY, EUROS), "tenth": (date(2026, 7, 20), EUROS),
        "eleventh": (date(2026, 7, 21), EUROS), "before": (date(2026, 7, 9), EUROS),
        "usd": (date(2026, 7, 21), row("p5.48xlarge", "64")),
        "china": (date(2026, 9, 24), row("p5.48xlarge", "64", pricing_currency="CNY")),
        "london": (date(2026, 9, 24), row("p5.48xlarge", "64", pricing_currency="GBP")),
    }  # fmt: skip
    start = date(2026, 1, 1)
    looks = [
        look((day - start).days + 0.5, one | {"region_id": scope}, scope=scope) for scope, (day, one) in prices.items()
    ]
    facts = pl.concat([rates(FRIDAY), rates(DAILY)]).with_columns(document_sha256=pl.lit("rates"))
    at = look(0, source="ecb_rates", scope="euro", document="rates")
    looks.append(replace(at, facts={"fx_rate": facts}, rows=no_rows()))
    sources = [
        ("aws_price_list", "AWS", "Prices", "live", 10, 72, "https://x.test"),
        ("ecb_rates", "ECB", "Rates", "live", 95, 240, "https://x.test"),
    ]
    folder = tmp_path_factory.mktemp("rates")
    built_at = max(each.observed_at for each in looks) + timedelta(hours=1)
    with db.writer(folder) as con:
        add_documents(con, *looks)
        load(con, looks, recorded_at=built_at)
        return published_file.publish(
            con,
            folder,
            marts=LEAST_MARTS,
            formulas=formulas_of(LEAST_MARTS),
            sources=sources,
            built_at=built_at,
            version="test",
        )


def dollars(file: Path) -> dict[object, tuple[object, ...]]:
    found = query(
        file,
        "select region_id, round(price_per_accelerator_hour_usd, 9), fx_rate_date, "
        "round(price_per_accelerator_hour, 9) from int.accelerator_hour_price",
    )
    return {region: rest for region, *rest in map(tuple, found)}  # type: ignore[misc]


def test_a_price_in_euros_gets_dollars_of_the_last_rate(file: Path) -> None:
    """8 euros x 1.1430; on a weekend by Friday's rate; ten days after it still, and from the eleventh on not at all.

    A price that was last seen before any rate has none; dollars need none.
    """
    found = dollars(file)
    friday = date(2026, 7, 10)
    assert {name: found[name] for name in found if name not in ("china", "london")} == {
        "friday": [9.144, friday, 8.0],
        "sunday": [9.144, friday, 8.0],
        "tenth": [9.144, friday, 8.0],
        "eleventh": [None, None, 8.0],
        "before": [None, None, 8.0],
        "usd": [8.0, None, 8.0],
    }


def test_yuan_and_pounds_go_by_way_of_the_euro(file: Path) -> None:
    """Units of both for one euro: 1.1367 / 7.6302 dollars for a yuan, 1.1367 / 0.85986 for a pound."""
    found = dollars(file)
    assert found["china"][0] == pytest.approx(8 * 1.1367 / 7.6302)
    assert found["london"][0] == pytest.approx(8 * 1.1367 / 0.85986)
