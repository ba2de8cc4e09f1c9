"""The daily page in a real browser: it renders from a file, and on a phone it does not scroll sideways."""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from market_file import publish_market

from reports import daily

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ALONE = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip
PHONE = 360
LEAST_CONTRAST = 4.5
"""WCAG 2.2, 1.4.3, for text of common size."""

MEASURE = """
const frame = document.querySelector("iframe"), page = frame.contentDocument, view = frame.contentWindow;
const found = [], rgb = text => text.match(/[\\d.]+/g).map(Number);
const light = text => rgb(text).slice(0, 3).map(n => n / 255)
  .map(n => n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4)
  .reduce((sum, n, i) => sum + n * [.2126, .7152, .0722][i], 0);
const behind = each => {
  for (let up = each; up; up = up.parentElement) {
    const colour = view.getComputedStyle(up).backgroundColor;
    if ((rgb(colour)[3] ?? 1) === 1) return colour;
  }
  return "rgb(255, 255, 255)";
};
let worst = 99;
for (const each of page.querySelectorAll("body *")) {
  if (![...each.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
  const [a, b] = [light(view.getComputedStyle(each).color), light(behind(each))].sort((x, y) => y - x);
  worst = Math.min(worst, (a + 0.05) / (b + 0.05));
}
const frames = [...page.querySelectorAll(".frame")];
document.title = JSON.stringify({
  heading: page.querySelector("h1").textContent, width: view.innerWidth,
  scroll: page.documentElement.scrollWidth, tables: page.querySelectorAll("table").length,
  scrolling: frames.filter(each => each.scrollWidth > each.clientWidth).length,
  held: frames.every(each => each.getBoundingClientRect().right <= view.innerWidth),
  contrast: Math.floor(worst * 100) / 100, paper: view.getComputedStyle(page.body).backgroundColor,
});
"""


@pytest.fixture(scope="module")
def browser() -> str:
    """Return the path of Chromium; on CI it must be there."""
    if BROWSER is None:
        message = "no Chromium"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    return BROWSER


def run(browser: str, tmp_path: Path, *arguments: str) -> str:
    profile = tmp_path / "profile"
    command = [browser, *ALONE, f"--user-data-dir={profile}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def measure(browser: str, page: Path, tmp_path: Path, *, width: int, dark: bool = False) -> dict[str, object]:
    """Return what a page looks like in a frame of a given width, as headless Chromium has no windows below 500."""
    outer = tmp_path / "outer.html"
    outer.write_text(
        f'<body style="margin:0"><iframe src="{page.as_uri()}" width="{width}" height="800" style="border:0"></iframe>'
        f'<script>addEventListener("load", () => {{{MEASURE}}})</script>',
        encoding="utf-8",
    )
    scheme = "--blink-settings=preferredColorScheme=" + ("0" if dark else "1")
    dom = run(browser, tmp_path, scheme, "--allow-file-access-from-files", "--dump-dom", outer.as_uri())
    title = re.search(r"<title>(.*?)</title>", dom)
    assert title, dom[-2000:]
    return json.loads(html.unescape(title[1]))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, 1280])
@pytest.mark.parametrize("name", ["offline", "live"])
def test_the_page_renders_and_does_not_scroll_sideways(
    browser: str, request: pytest.FixtureRequest, tmp_path: Path, name: str, width: int, dark: bool
) -> None:
    """Wide tables scroll inside their frame; text has enough contrast in both schemes."""
    page: Path = request.getfixturevalue(f"{name}_page")
    seen = measure(browser, page, tmp_path, width=width, dark=dark)

    assert seen["heading"] == html.unescape(re.search("<h1>(.*?)</h1>", page.read_text(encoding="utf-8"))[1])
    assert seen["tables"] >= 5
    assert (seen["width"], seen["scroll"]) == (width, width)
    assert seen["held"]
    assert seen["scrolling"] > 0 or width > PHONE
    assert seen["contrast"] >= LEAST_CONTRAST
    assert seen["paper"] == ("rgb(20, 22, 26)" if dark else "rgb(255, 255, 255)")


def test_a_market_of_long_names_does_not_scroll_sideways(browser: str, tmp_path: Path) -> None:
    """Tiers, hosts and machines of any length wrap, and what they try to run does not run."""
    page = daily.write(publish_market(tmp_path), tmp_path)
    seen = measure(browser, page, tmp_path, width=PHONE)

    assert (seen["width"], seen["scroll"]) == (PHONE, PHONE)
    assert seen["held"]
    assert seen["contrast"] >= LEAST_CONTRAST


def test_the_page_prints_with_every_table_open(browser: str, live_page: Path, tmp_path: Path) -> None:
    paper = tmp_path / "page.pdf"
    run(browser, tmp_path, f"--print-to-pdf={paper}", live_page.as_uri())

    assert paper.read_bytes().startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())) > 3
