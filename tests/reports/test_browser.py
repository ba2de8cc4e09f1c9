"""All pages in a real browser: quiet, readable by everybody, at home on a phone, and deaf to hostile words."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from hostile_site import WEEK, WEEK_BEFORE
from playwright.sync_api import Browser, Page

PHONE, DESK = 360, 1200
PAGES = (
    "index.html", "drift.html", "evidence.html", "latest.html", "daily/2026-01-21.html", f"weeks/{WEEK}.html",
    WEEK_BEFORE, "weeks/index.html", "cost.html",
    "claims.html", "sources.html", "methods.html", "tables.html", "tables-checks.html",
    "providers.html", "disagreement.html", "explore.html", "chips/l4.html", "providers/aws.html",
)  # fmt: skip
ALIKE = ("tables-checks.html", "providers/aws.html")  # made as tables.html and chips/l4.html are
TELLING = ("index.html", f"weeks/{WEEK}.html", "cost.html", "evidence.html", "explore.html", "chips/l4.html")
"""Pages of all kinds of tables, charts and forms; the others are looked at in the long proofs."""
OF_ACCESS = [pytest.param(n, marks=() if n in TELLING else pytest.mark.prove) for n in PAGES if "daily/" not in n]
HOSTILE_SHOWN = {
    "latest.html": 25, f"weeks/{WEEK}.html": 10, "weeks/index.html": 1, "cost.html": 5,
    "sources.html": 5, "index.html": 1,
}  # fmt: skip
"""Where hostile words have a place, and how often at least they stand there as text."""
ON_A_PHONE = [pytest.param(n, marks=() if n in TELLING or n in HOSTILE_SHOWN else pytest.mark.prove) for n in PAGES]
WORDS = '<script>alert(1)</script>"><img src=x onerror=alert(1)>=cmd()'

FEW = """() => {
  for (const [all, most] of [["tbody", 2], ["dl.formulas", 2], ["ul", 3], ["section:has(> details)", 4]])
    for (const each of document.querySelectorAll(all)) [...each.children].slice(most).forEach(child => child.remove());
  const frames = [...document.querySelectorAll(".frame")], heads = frames.map(f => f.querySelector("thead").innerText);
  frames.forEach((each, n) => heads.indexOf(heads[n]) < n && each.remove());
}"""
"""Leaves of what is alike the first few: axe-core looks at every element for some milliseconds."""

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def reports(hostile_reports: Path) -> Path:
    return hostile_reports


@pytest.fixture(scope="module")
def heard() -> list[str]:
    """Return what pages say, ask or want: nothing, ever."""
    return []


@pytest.fixture(scope="module")
def windows(browser: Browser, reports: Path, heard: list[str]) -> Callable[[int, bool], Page]:
    """Return what gives the page of a width, with script or without, which all tests share."""
    made: dict[tuple[int, bool], Page] = {}

    def window(width: int, script: bool) -> Page:
        if (width, script) not in made:
            page = browser.new_context(
                viewport={"width": width, "height": 900}, java_script_enabled=script, offline=True
            ).new_page()
            page.set_default_timeout(5000)
            page.on("request", lambda request: heard.append(request.url) if _is_away(request.url, reports) else None)
            page.on("console", lambda message: heard.append(message.text))
            page.on("pageerror", lambda error: heard.append(str(error)))
            page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
            made[width, script] = page
        return made[width, script]

    return window


@pytest.fixture
def opened(windows: Callable[[int, bool], Page], reports: Path, heard: list[str]) -> Iterator[Open]:
    """Return what opens a page; at the end nothing was asked of anybody, and nothing failed."""

    def open_page(name: str, *, width: int = DESK, dark: bool = False, script: bool = True) -> Page:
        page = windows(width, script)
        page.emulate_media(color_scheme="dark" if dark else "light", media="screen")
        page.goto((reports / name).as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        return page

    heard.clear()
    yield open_page
    assert heard == []


def _is_away(url: str, reports: Path) -> bool:
    return not url.startswith((reports.as_uri(), "data:"))


def column(page: Page, table: str, number: int) -> list[str]:
    """Return the visible cells of a column of a table, groups left out, without small print and footnotes."""
    return page.eval_on_selector_all(
        f"#{table} tbody tr:not(.gt_group_heading_row):not([hidden])",
        f"rows => rows.map(row => row.cells[{number}].innerText.split('\\n')[0].trim())"
        ".map(text => text.replace(/^\\u2013\\d+$/, '\\u2013'))",
    )


def test_every_page_is_there(reports: Path) -> None:
    there = {path.relative_to(reports).as_posix() for path in reports.rglob("*.html")}
    assert {path for path in there if not path.startswith(("chips/", "providers/", "archive"))} | set(PAGES) == set(
        PAGES
    )
    assert set(PAGES) <= there


@pytest.mark.parametrize("name", ON_A_PHONE)
def test_a_phone_does_not_scroll_sideways(opened: Open, name: str) -> None:
    """Wide tables scroll inside their frame, names of any length wrap, and what they try to run does not run."""
    page = opened(name, width=PHONE)
    seen: dict[str, Any] = page.evaluate(
        "({ scroll: document.documentElement.scrollWidth, scripts: document.scripts.length, "
        "images: document.images.length, held: [...document.querySelectorAll('.frame')]"
        ".every(each => each.getBoundingClientRect().right <= innerWidth), text: document.body.textContent, "
        "over: (document.querySelectorAll('details').forEach(each => each.open = true), "
        "[...document.querySelectorAll('.gt_stub')].filter(each => each.scrollWidth > each.clientWidth + 1)"
        ".map(each => each.innerText)) })"
    )

    assert seen["scroll"] == PHONE
    assert seen["held"]
    assert seen["over"] == []  # of the heads of rows: what sticks out lies over the next cell
    assert (seen["scripts"], seen["images"]) == (2 if name == "explore.html" else 1, 0)
    assert seen["text"].count(WORDS) >= HOSTILE_SHOWN.get(name, 0)


def test_long_cells_wrap_at_a_desk_before_their_table_scrolls(opened: Open) -> None:
    page = opened("claims.html")
    page.eval_on_selector("#audit tbody td", "cell => { cell.textContent = 'arithmetic holds, '.repeat(20); }")
    assert page.eval_on_selector("#audit", "frame => frame.scrollWidth <= frame.clientWidth")


@pytest.mark.parametrize("name", OF_ACCESS)
def test_no_page_has_a_serious_fault_of_access(opened: Open, name: str) -> None:
    """WCAG 2.2 A and AA by axe-core, and contrast in the dark, too; of what is alike the first few, at length all."""
    page = opened(name)
    if name not in ALIKE:
        page.evaluate(FEW)
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}
    faults = Axe().run(page, options=rules).response["violations"]
    page.emulate_media(color_scheme="dark")
    faults += page.evaluate("axe.run({ runOnly: { type: 'rule', values: ['color-contrast'] } })")["violations"]
    serious = [
        (fault["id"], fault["nodes"][0]["html"]) for fault in faults if fault["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_dark_and_light_follow_the_reader(opened: Open) -> None:
    papers = [
        opened("index.html", dark=dark).evaluate("getComputedStyle(document.body).backgroundColor")
        for dark in (False, True)
    ]
    assert papers == ["rgb(255, 255, 255)", "rgb(20, 22, 26)"]


@pytest.mark.parametrize("name", ["cost.html", f"weeks/{WEEK}.html"])
def test_a_page_is_whole_without_script(opened: Open, name: str) -> None:
    """The same words in the same tables; what only a script can do is not there to be clicked in vain."""
    plain, lively = opened(name, script=False), opened(name)
    tools = "button, input, select"

    assert plain.locator(tools).count() == 0
    assert lively.locator(tools).count() > 10
    lively.evaluate("document.querySelectorAll('.filter').forEach(each => each.remove())")
    assert plain.locator("main table").count() == lively.locator("main table").count() > 3
    assert plain.locator("main").inner_text().split() == lively.locator("main").inner_text().split()


def test_a_table_sorts_by_its_numbers_with_what_is_unknown_last(opened: Open) -> None:
    """Up, down, and as it was; by keyboard; the head says how it stands."""
    page = opened("latest.html")
    before = column(page, "recent", 1)
    head = page.locator("#recent thead th").nth(1)
    head.locator("button").focus()
    page.keyboard.press("Enter")
    up, said_up = column(page, "recent", 1), head.get_attribute("aria-sort")
    page.keyboard.press("Enter")
    down, said_down = column(page, "recent", 1), head.get_attribute("aria-sort")
    page.keyboard.press("Enter")

    def read(texts: list[str]) -> list[float | None]:
        """Return the change that each cell begins with: an arrow, a sign and a number; None for a dash."""
        found = [re.match(r"\S ([+\N{MINUS SIGN}][\d.]+)", text) for text in texts]
        return [each and float(each[1].replace("\N{MINUS SIGN}", "-")) for each in found]

    numbers = [each for each in read(before) if each is not None]
    dashes = [None] * (len(before) - len(numbers))
    assert len(numbers) > 1
    assert dashes
    assert read(up) == [*sorted(numbers), *dashes]
    assert read(down) == [*sorted(numbers, reverse=True), *dashes]
    assert column(page, "recent", 1) == before
    assert (said_up, said_down, head.get_attribute("aria-sort")) == ("ascending", "descending", None)


def test_rows_sort_within_their_group(opened: Open) -> None:
    """Words as people sort them; a group keeps its heading and its rows."""
    page = opened("sources.html")
    groups = "rows => rows.map(row => row.matches('.gt_group_heading_row') ? row.innerText : 'row')"
    before, names = page.eval_on_selector_all("#summary tbody tr", groups), column(page, "summary", 0)
    page.locator("#summary thead th button").first.dblclick()

    assert page.eval_on_selector_all("#summary tbody tr", groups) == before
    assert len([heading for heading in before if heading != "row"]) == 3
    read, *never, archive = column(page, "summary", 0)
    assert [read, archive] == [names[0], names[-1]]
    assert never == sorted(names[1:-1], reverse=True) != names[1:-1]


def test_a_filter_leaves_the_rows_with_its_words(opened: Open) -> None:
    """It counts what is left, hides a group without rows, and takes nothing for good."""
    page = opened("cost.html")
    table = "t-training"
    bar = page.locator(f".filter:has(+ #{table})")
    every, headings = column(page, table, 0), page.locator(f"#{table} .gt_group_heading_row:visible")
    n_headings = headings.count()
    bar.get_by_role("searchbox").fill("nothing like it")
    none, no_headings = column(page, table, 0), headings.count()
    bar.get_by_role("searchbox").fill("ON-demand h100")
    some, status = column(page, table, 0), bar.get_by_role("status").inner_text()
    bar.get_by_role("searchbox").fill("")

    assert (none, no_headings) == ([], 0)
    assert set(some) == {"H100 SXM"}
    assert status == f"{len(some)} of {len(every)} rows"
    assert (column(page, table, 0), headings.count()) == (every, n_headings)


def test_one_value_of_a_column_can_be_picked(opened: Open) -> None:
    page = opened("claims.html")
    before = set(column(page, "audit", 4))
    box = page.locator(".filter:has(+ #audit)").get_by_role("combobox").nth(3)
    box.select_option("inconsistent")

    assert len(before) > 3
    assert set(column(page, "audit", 4)) == {"inconsistent"}


def test_what_can_be_picked_is_what_the_column_says(opened: Open) -> None:
    """Also where a cell is small print alone."""
    page = opened("claims.html")
    boxes = page.get_by_role("combobox").all()
    chosen = [box.locator("option").all_inner_texts()[1:] for box in boxes]

    assert len(boxes) > 2
    assert all(len(values) > 1 and "" not in values for values in chosen)


def test_the_keyboard_reaches_the_content_first(opened: Open) -> None:
    page = opened("latest.html")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_page_prints_on_paper_with_every_table_open(opened: Open, tmp_path: Path) -> None:
    """Heads are repeated on each sheet, which buttons in them prevent; words are whole."""
    page = opened("latest.html")
    page.emulate_media(media="print")

    shown = "all => [...new Set(all.map(each => getComputedStyle(each).display))]"
    assert page.locator("thead button").evaluate_all(shown) == ["contents"]
    assert page.evaluate("getComputedStyle(document.querySelector('td')).overflowWrap") == "break-word"

    assert page.locator("nav:visible, .filter:visible").count() == 0
    assert page.evaluate(
        "[...document.querySelectorAll('.frame')].every(each => getComputedStyle(each).overflowX === 'visible')"
    )
    page.evaluate(FEW)  # paper takes seconds for what is alike
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF-")
