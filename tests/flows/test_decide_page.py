"""The page of a decision: every number of it by query of the file, and as a browser shows and prints it."""

import re
from html import unescape
from itertools import product
from pathlib import Path

import pytest
from choice_file import choice_folder
from chromium import ALONE, executable
from click.testing import CliRunner
from cost_file import P5, lines
from playwright.sync_api import sync_playwright

from flows.cli import main

WORDS = ("decide", "--machine", P5, "--nodes", "16", "--use", "0.8", "--months", "12")
NEED = (
    f"[{{'accelerator_name': 'H100', 'form_factor': 'SXM', 'instance_type': '{P5}', 'accelerators': 128.0, "
    "'spare_units': 0, 'least_unit': 8.0, 'unit_accelerators': null::DOUBLE, 'network': null::VARCHAR, "
    "'hours': null::DOUBLE, 'hours_left': null::DOUBLE}]"
)
LADDER = (
    f"from mart.option_ladder({NEED}, {{'low': 0.8, 'likely': 0.8, 'high': 0.8}}, 12, false, null, null) "
    "where left_out is null"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return choice_folder(tmp_path_factory)


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    told = CliRunner().invoke(main.main, ["--data-dir", str(folder), *WORDS, "--html"])
    assert told.exit_code == 0, told.stderr
    return told.stdout


def tables(page: str) -> dict[str, list[dict[str, str]]]:
    """Return the rows of each table of the page, by its heading."""
    found = {}
    for heading, body in re.findall(r"<h\d>(.*?)</h\d>(.*?)(?=<h\d>|</main>|$)", page, flags=re.DOTALL):
        names = re.findall(r"<th [^>]*>(.*?)</th>", body)
        rows = re.findall(r"<tr>(<td.*?)</tr>", body, flags=re.DOTALL)
        cells = [[unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<td.*?</td>", row)] for row in rows]
        found[unescape(heading)] = [dict(zip(names, each, strict=True)) for each in cells]
    return found


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_every_price_rate_and_total_is_a_query_of_the_file(page: str, folder: Path) -> None:
    """Prices to four digits, dates, documents and links, totals to the dollar, and the market by SQL alone."""
    file, shown = folder / "prices.duckdb", tables(page)
    assert not re.findall(r"\b1 (?:offer|provider|month)s\b", page)
    asked = {str(row["offer_id"]): row for row in lines(file, LADDER)}
    read = shown["Prices, and where they were read"]
    assert len(read) == len(asked) > 2
    for row in read:
        of = asked[row["offer"]]
        assert number(row["USD/chip-h"]) == pytest.approx(of["price_usd"], rel=1e-3)
        assert row["seen"] == str(of["last_observed_at"].date())
        assert (row["document"], row["link"]) == (of["document_sha256"][:12], of["source_url"] or "-")
        (listed,) = lines(file, f"select 1 as n from core.offer where offer_id = {row['offer']}")
        assert listed == {"n": 1}
    totals = sorted(round(row["charged_usd"]) for row in asked.values())
    ladder = shown["Every way to buy it, the cheapest first, capital counted"]
    assert sorted(number(row["likely USD"]) for row in ladder) == totals
    (market,) = lines(
        file,
        "select quantile_cont(least, 0.25) as quarter, min(least) as lowest from (select min(charged_usd) as least "
        f"{LADDER} and purchase_option = 'on_demand' group by service_provider_name)",
    )
    beat = {row["on demand"]: number(row["USD"]) for row in shown["What to hold against an offer"]}
    assert beat["the number to beat: the lower quartile"] == round(market["quarter"])
    assert beat["the lowest"] == round(market["lowest"])
    cash = shown["Cash, USD"]
    assert sum(number(row["cheapest"]) for row in cash[:-1]) == pytest.approx(number(cash[-1]["cheapest"]), abs=12)


@pytest.mark.parametrize("one_of", [3, pytest.param(1, marks=pytest.mark.prove)])
def test_a_browser_shows_it_whole(page: str, tmp_path: Path, one_of: int) -> None:
    """At 1280 and 390 pixels nothing is wider than the window but tables in frames; paper has what is folded."""
    file = tmp_path / "decision.html"
    file.write_text(page)
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=ALONE)
        for scheme, width in [*product(("light", "dark"), (1280, 390))][::one_of]:
            window = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()  # type: ignore[arg-type]
            window.on("console", lambda message: said.append(message.text))
            window.goto(file.as_uri())
            assert window.evaluate("document.documentElement.scrollWidth") <= width
            assert width < 1280 or window.evaluate("document.documentElement.scrollHeight") <= 6000
            seen = "[...document.querySelectorAll('table')].filter(t => t.checkVisibility()).length"
            assert window.evaluate(seen) == window.locator("table").count() - 2
            paper = window.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (int(re.findall(r"\d+", paper)[0]) < 100) == (scheme == "dark")
            window.emulate_media(media="print")
            wide = "[...document.querySelectorAll('table')].map(t => t.scrollWidth - t.parentElement.clientWidth)"
            window.set_viewport_size({"width": 1047, "height": 718})
            assert max(window.evaluate(wide)) <= 0
            assert window.evaluate(seen) == window.locator("table").count()
            assert len(window.pdf(format="A4", landscape=True)) > 1000
        browser.close()
    assert said == []
