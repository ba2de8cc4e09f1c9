"""Prices in a currency of the reader's own: beside US dollars, at one rate with its date; none where it is unknown."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import market_file
import paging
import pytest
import weekly_file

from flows.collect import publisher
from flows.config import settings
from flows.config.settings import Settings
from reports import currency, wording
from reports.currency import Rate
from reports.pages import market_pages
from reports.weekly import mail
from reports.weekly import page as weekly_page
from reports.weekly.facts import WeekFacts
from warehouse.errors import SettingsError

AT = datetime(2026, 11, 21, 9, tzinfo=UTC).replace(tzinfo=None)
EURO = Rate(currency="EUR", wanted_at=AT, usd_per_unit=1.25, rate_date=date(2026, 11, 20))
UNKNOWN = Rate(currency="XAU", wanted_at=AT)
NO_RATE = "In XAU no price is shown: no reference rate of the ten days before 2026-11-21 is known."


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file in which a euro is 1.25 USD, of three days before, and AWS asks 10 USD a chip-hour."""
    return market_file.market(tmp_path_factory)


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> WeekFacts:
    return weekly_file.told(tmp_path_factory, "2026-W03")


def text(markup: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", markup).split())


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("GBP", (1.6, date(2026, 11, 20))),  # the newest of those up to the day, none of tomorrow
        ("JPY", (0.005, date(2026, 11, 11))),  # ten days old
        ("SEK", (None, None)),  # eleven
        ("XAU", (None, None)),  # never
    ],
)
def test_the_rate_is_the_days_own(wanted: str, expected: tuple[object, object]) -> None:
    """The newest of the ten days before, as prices in other currencies are read by."""
    with duckdb.connect() as con:
        con.execute("create schema core")
        con.execute(
            "create table core.usd_rate as select * from (values ('GBP', date '2026-11-19', 1.5), "
            "('GBP', date '2026-11-20', 1.6), ('GBP', date '2026-11-22', 1.9), ('JPY', date '2026-11-11', 0.005), "
            "('SEK', date '2026-11-10', 0.1)) as r (pricing_currency, rate_date, usd_per_currency_unit)"
        )
        found = currency.rate(con, wanted, AT)
        assert currency.rate(con, "USD", AT) is None
    assert found is not None
    assert (found.usd_per_unit and float(found.usd_per_unit), found.rate_date) == expected


def test_amounts() -> None:
    """10 USD are 8 EUR at 1.25; what is unknown stays so."""
    assert EURO.amount(10, 2) == "8.00 EUR"
    assert EURO.amount(None, 2) is None
    assert UNKNOWN.amount(10, 2) is None
    assert UNKNOWN.words() == NO_RATE
    assert EURO.words().endswith("reference rate of 2026-11-20: 1 EUR is 1.2500 USD.")
    assert replace(EURO, currency="KRW", usd_per_unit=0.00067854).words().endswith(": 1 KRW is 0.00067854 USD.")


def chip_page(market: Path, folder: Path, shown_in: str) -> str:
    paging.of(market, market_pages.write, folder / shown_in, data_sha256="0", shown_in=shown_in)
    return (folder / shown_in / "chips/h100.html").read_text(encoding="utf-8")


def test_the_page_of_a_chip(market: Path, tmp_path: Path) -> None:
    """AWS's 10 USD are 8 EUR; what is charged in euros stands once in its cell; the rate stands before the tables."""
    plain = text(chip_page(market, tmp_path, "EUR"))
    assert "1 EUR is 1.2500 USD." in plain
    assert "10.00 8.00 EUR" in plain
    # Beta's 44 EUR for eight, as they are charged
    assert plain.count("5.50 EUR, rate of") == 1
    assert "5.50 EUR 5.50 EUR" not in plain
    assert " EUR" not in text(chip_page(market, tmp_path, "USD")).replace("5.50 EUR, rate of", "")


def test_an_unknown_rate_is_said(market: Path, tmp_path: Path) -> None:
    """No amount is shown in that currency, and all others are as they were."""
    shown, without = (chip_page(market, tmp_path, currency) for currency in ("XAU", "USD"))
    (told,) = re.findall(r'<p class="sub">In XAU .*?</p>', shown)
    assert "no reference rate of the ten days before" in told
    assert text(shown.replace(told, "")) == text(without)


def test_the_week_and_its_mail(week: WeekFacts) -> None:
    """In page, text and HTML, beside each cheapest price; the text stays 72 columns wide."""
    price = week["cheapest"]["price_usd"][0]
    euro = EURO.amount(price, wording.places_of([price]))
    in_euro = replace(week, rate=EURO)
    letter = mail.letter(in_euro, draw=False)
    assert euro is not None
    for shown in (weekly_page.render(in_euro, [], draw=False).text, letter.html, letter.text):
        assert euro in " ".join(text(shown).split())
        assert "1 EUR is 1.2500 USD." in " ".join(text(shown).split())
    assert max(map(len, letter.text.splitlines())) <= 72
    assert NO_RATE in " ".join(mail.letter(replace(week, rate=UNKNOWN), draw=False).text.split())


def test_the_setting_reaches_the_pages(market: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By three capital letters; anything else is refused with what is allowed."""
    told: dict[str, object] = {}
    monkeypatch.setattr("reports.pages.site.write", lambda file, folder, **given: told.update(given) or folder)
    publisher.write_pages(Settings(data_dir=tmp_path, reporting_currency="EUR"), market)
    assert told["shown_in"] == "EUR"
    assert settings.read(environ={"CHIPLEDGER_REPORTING_CURRENCY": "CNY"}).reporting_currency == "CNY"
    with pytest.raises(SettingsError, match="reporting_currency"):
        settings.read(environ={"CHIPLEDGER_REPORTING_CURRENCY": "euro"})
