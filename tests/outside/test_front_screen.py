"""The front page on one screen: at 1280 px wide all of it is within 900 px, which a screen of 1024 leaves a browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import ALONE, executable
from playwright.sync_api import Browser, sync_playwright

WIDTH, HEIGHT = 1280, 900
ENDS = """() => {
  const end = name => Math.max(0, ...[...document.querySelectorAll(name)].map(e => e.getBoundingClientRect().bottom));
  const page = document.documentElement;
  return {trust: end(".trust"), table: end("#chips"), chart: end("figure.lines"), bill: end(".bill"),
          footer: end("footer"), width: page.scrollWidth, height: page.scrollHeight};
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return one Chromium for all tests, each of which has a context of its own."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable(), args=[*ALONE, "--disable-gpu"])
        yield started
        started.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_one_screen(browser: Browser, offline_run: Path, scheme: str) -> None:
    """News, line of trust, table, chart and bill in this order, and the footer; nothing scrolls either way."""
    with browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme, offline=True) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto((offline_run / "reports" / "index.html").as_uri())
        ends = page.evaluate(ENDS)
    assert 60 < ends["trust"] < ends["table"] < min(ends["chart"], ends["bill"])
    assert max(ends["chart"], ends["bill"]) < ends["footer"] <= HEIGHT
    assert (ends["width"], ends["height"]) == (WIDTH, HEIGHT)


MAX_HEIGHT, MAX_BYTES, DESK, PHONE = 6000, 300_000, 1280, 360


def kinds(reports: Path) -> list[Path]:
    """Return every page but those that lead elsewhere; of chips and providers the two largest."""
    pages = [path for path in reports.rglob("*.html") if 'http-equiv="refresh"' not in path.read_text()[:1000]]
    alike = [path for path in pages if path.parent.name in ("chips", "providers")]
    large = sorted(alike, key=lambda path: -path.stat().st_size)[:2]
    return sorted({*pages} - {*alike} | {*large})


@pytest.mark.parametrize("width", [DESK, pytest.param(PHONE, marks=pytest.mark.prove)])
def test_no_page_is_long_and_none_scrolls_sideways(browser: Browser, offline_run: Path, width: int) -> None:
    """6,000 px at a desk at most, the explorer too; at 360 px as wide as the phone (in short: test_browser)."""
    pages = kinds(offline_run / "reports")
    assert len(pages) > 15
    assert [path.name for path in pages if path.stat().st_size > MAX_BYTES] == ["explore.html"]
    found = {}
    with browser.new_context(offline=True, viewport={"width": width, "height": HEIGHT}) as context:
        page = context.new_page()
        for path in pages:
            page.goto(path.as_uri())
            found[path.name] = page.evaluate(
                "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
            )
    assert {name: wide for name, (wide, _) in found.items() if wide > width} == {}
    assert {name: high for name, (_, high) in found.items() if width == DESK and high > MAX_HEIGHT} == {}


def test_what_an_address_leads_to_is_shown_though_it_is_folded(browser: Browser, offline_run: Path) -> None:
    """A price of the front page leads to its line of evidence, which lies in the part of its chip."""
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.goto((offline_run / "reports" / "index.html").as_uri())
        page.locator("#chips tbody tr").nth(1).locator("td a").first.click()
        page.locator(":target").wait_for(state="visible")
        assert "/evidence.html#offer-" in page.url


@pytest.mark.parametrize(("width", "is_column"), [(DESK, True), (390, False)])
def test_the_age_is_in_sight_once(browser: Browser, offline_run: Path, width: int, is_column: bool) -> None:
    """At a desk in a column of its own, on a phone under the name of the chip; both say that it is of the oldest."""
    with browser.new_context(viewport={"width": width, "height": HEIGHT}, offline=True) as context:
        page = context.new_page()
        page.goto((offline_run / "reports" / "index.html").as_uri())
        column = page.locator("#chips thead th", has_text="oldest").last
        line = page.locator("#chips .age").first
        assert (column.is_visible(), line.is_visible()) == (is_column, not is_column)
        assert "oldest price " in (line.text_content() or "")


def test_ten_seconds_answer_the_four_first_questions(browser: Browser, offline_run: Path) -> None:
    """H100 at AWS and elsewhere, what moved last, the cheapest token of gpt-oss-120b, and as of when: each in sight."""
    with browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, offline=True) as context:
        page = context.new_page()
        page.goto((offline_run / "reports" / "index.html").as_uri())
        news, models = page.locator("h1").inner_text(), page.locator(".models").inner_text()
        ages = page.locator("#chips tbody tr td:last-child").all_inner_texts()
        seen = page.locator(".models").bounding_box()
    assert re.match(
        r"An H100 SXM costs \d+\.\d\d USD an hour at AWS, .* and \d+\.\d\d at \w+; in 90 days \w+ raised", news
    )
    assert re.search(r"gpt-oss-120b [\d.]+ on \w+", models)
    assert seen
    assert seen["y"] + seen["height"] < HEIGHT
    assert all(age.isdigit() for age in ages)
