"""The front page on one screen: at 1280 px wide all of it is within 900 px, which a screen of 1024 leaves a browser."""

from pathlib import Path

import pytest
from chromium import ALONE, executable
from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1280, 900
ENDS = """() => {
  const end = name => Math.max(0, ...[...document.querySelectorAll(name)].map(e => e.getBoundingClientRect().bottom));
  const page = document.documentElement;
  return {trust: end(".trust"), table: end("#chips"), chart: end("figure.lines"), bill: end(".bill"),
          footer: end("footer"), width: page.scrollWidth, height: page.scrollHeight};
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_one_screen(offline_run: Path, scheme: str) -> None:
    """News, line of trust, table, chart and bill in this order, and the footer; nothing scrolls either way."""
    path = executable()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*ALONE, "--disable-gpu"])
        page = browser.new_context(
            viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme, offline=True
        ).new_page()  # type: ignore[arg-type]
        page.goto((offline_run / "reports" / "index.html").as_uri())
        ends = page.evaluate(ENDS)
        browser.close()
    assert 60 < ends["trust"] < ends["table"] < min(ends["chart"], ends["bill"])
    assert max(ends["chart"], ends["bill"]) < ends["footer"] <= HEIGHT
    assert (ends["width"], ends["height"]) == (WIDTH, HEIGHT)
