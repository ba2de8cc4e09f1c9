"""The explorer in Chromium, with 10,000 prices and with fewer: load, filters, order, address, CSV, access."""

import csv
import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import duckdb
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from reports.pages import explorer
from reports.pages.frame import frame
from reports.queries import Published, ask, select

N, FEW = 10_000, 1000
EVIL = "</script><img src=x onerror=alert(1)>"
CHIPS = ("H100", "H200", "B200", "MI300X", "L40S")


def price(n: int) -> dict[str, object]:
    """Return one of many prices: 1.01, 1.02 and so on; every fifth is of an H100, every tenth too old."""
    return {
        "accelerator_name": CHIPS[n % 5],
        "form_factor": "SXM" if n % 2 else None,
        "service_provider_name": f"Provider {n % 40}" if n % 41 else EVIL,
        "purchase_option": "spot" if n % 3 else "on_demand",
        "commitment_term_hours": None,
        "region_name": f"region-{n % 60}",
        "instance_type": f"type.{n % 300}xlarge",
        "terms": " =1+1" if n == 0 else "No Upfront",
        "statistic": "floor" if n == 5 else "price",
        "price_per_accelerator_hour_usd": 1.035 if n == 3 else (101 + n) / 100,  # 1.035: a half goes up
        "accelerator_count": 8.0,
        "seen_on": date(2026, 11, 1 + n % 20),
        "is_ranked": bool(n % 10),
        "change_ratio": (-4e-6 if n == 7 else -0.1) if n % 7 == 0 else None,
        "changed_on": date(2026, 10, 1) if n % 7 == 0 else None,
        "document_sha256": f"{n % 500:064x}",
        "source_url": f"https://prices.example.com/{n % 500}" if n % 2 else "javascript:alert(1)",
        "n_offers": N,
    }


def written(folder: Path, n_prices: int) -> Path:
    data = explorer.packed([price(n) for n in range(n_prices)], "2026-11-20")
    assert len(data) <= 1_000_000
    assert "<" not in data
    path = folder / explorer.PLACE
    path.write_text(explorer.page(data, f"{n_prices:,} prices", (None, "0")), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of the first few of them: Chromium takes a second for all."""
    return written(tmp_path_factory.mktemp("explorer"), FEW)


@pytest.fixture
def page(browser: Browser, place: Path) -> Iterator[Page]:
    """Return a window; at the end nothing was asked of anybody, and nothing failed."""
    heard: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 900}, offline=True, accept_downloads=True) as context:
        made = context.new_page()
        made.on("console", lambda message: heard.append(message.text))
        made.on("pageerror", lambda error: heard.append(str(error)))
        made.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
        yield made
    assert heard == []


def show(page: Page, place: Path, choice: str = "") -> Page:
    page.goto("about:blank")
    page.goto(place.as_uri() + choice)
    page.locator("#prices tbody tr").first.wait_for()
    return page


def shown(page: Page) -> tuple[str, list[str]]:
    """Return how many prices the page says it shows, and those of its first rows."""
    prices = page.locator("#prices tbody tr td:nth-child(5)").all_inner_texts()
    return page.locator("#picks [role=status]").inner_text(), prices[:3]


def test_it_loads_with_what_can_be_ranked_cheapest_first(page: Page, tmp_path: Path) -> None:
    """On demand alone, as options are not mixed; words from outside are text, only an address of the web is a link."""
    show(page, place := written(tmp_path, N))
    assert shown(page) == ("3,000 of 10,000 prices", ["1.04", "1.07", "1.10"])
    took = page.evaluate("performance.now()")
    assert took < 20_000
    assert page.locator("img").count() == 0
    page.set_viewport_size({"width": 900, "height": 900})
    for named in ("region", "xlarge", "Upfront"):
        words = page.locator("#prices tbody td span.whole", has_text=named)
        assert words.count() == 50
        assert words.evaluate_all("all => all.every(each => each.getClientRects().length === 1)")
    links = page.locator("#prices tbody a").evaluate_all("all => all.map(each => each.protocol)")
    assert links
    assert set(links) == {"https:"}
    assert not re.search("import |@import|url\\(", re.sub(r"(?s)<script.*?</script>", "", place.read_text()))


def test_filters_sort_and_address_are_one(page: Page, place: Path) -> None:
    """What is picked stands in the address; the address, opened again, shows the same."""
    show(page, place)
    page.get_by_label("Chip", exact=True).select_option("H100")
    page.get_by_label("Option", exact=True).select_option("spot")
    page.get_by_label("Age", exact=True).select_option("any")
    first = shown(page)
    wanted = [n for n in range(FEW) if n % 5 == 0 and n % 3]
    assert first == (f"{len(wanted):,} of 1,000 prices", ["from 1.06", "1.11", "1.21"])
    page.get_by_role("searchbox").fill("region-3")
    page.get_by_role("button", name="USD per chip-hour: Activate to invert").press("Enter")
    page.wait_for_url("**dir=desc")
    found = shown(page)
    address = page.url
    assert address.split("#")[1] == "q=region-3&chip=H100&option=spot&age=any&sort=price&dir=desc"
    show(page, place, "#" + address.split("#")[1])
    assert shown(page) == found
    assert float(found[1][0]) > float(found[1][-1])
    for way, least in (("asc", "10.0"), ("desc", "<0.1")):  # offers without a change are last, whichever way
        show(page, place, f"#option=all&age=any&sort=change&dir={way}")
        change = page.locator("#prices tbody td:nth-child(6) span").first
        assert change.inner_text() == f"\N{MINUS SIGN}{least}\N{NO-BREAK SPACE}%"
        assert change.get_attribute("class") == "fall"
    page.evaluate("location.hash = 'chip=B200&age=7&option=all'")
    page.get_by_text(re.compile("^100 of 1,000 prices")).wait_for()
    assert page.get_by_label("Age", exact=True).input_value() == "7"


def test_the_csv_is_the_view(page: Page, place: Path, tmp_path: Path) -> None:
    """All its rows in its order, with hash, address and what a price is; what could run as a formula is a text."""
    show(page, place, "#chip=H100&age=any&option=all")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV of this view").click()
    download.value.save_as(tmp_path / "view.csv")
    assert download.value.suggested_filename == "chipledger-2026-11-20.csv"
    rows = list(csv.DictReader((tmp_path / "view.csv").open(newline="", encoding="utf-8")))
    assert [row["usd_per_chip_hour"] for row in rows[:2]] == ["1.01", "1.06"]
    assert len(rows) == FEW // 5
    assert rows[0]["machine"] == "type.0xlarge, 8 chips"
    assert (rows[0]["terms"], rows[0]["provider"], rows[0]["is_ranked"]) == ("' =1+1", EVIL, "0")
    assert [row["statistic"] for row in rows[:2]] == ["price", "floor"]
    assert rows[1]["document_sha256"] == f"{5:064x}"
    assert rows[1]["source_url"] == "https://prices.example.com/5"


def test_a_row_says_which_of_several_offers_it_is(offline: Path) -> None:
    """The zone that has a name alone, the kind of a plan, the network; a correction is no change of the price."""
    with duckdb.connect(str(offline), read_only=True) as con:
        rows = ask(con, "explorer", n=N)
        con.execute(
            "create temp table corrected as select * replace ('correction' as change_kind) from int.price_change"
        )
        known = ask(con, "front_trust")[0]["n_prices"]
        unpriced = "from int.accelerator_hour_price where price_per_accelerator_hour_usd is null"
        count = len(con.execute(unpriced).fetchall())
        text = explorer.render(Published(con))
        assert f"<h1>{known - count - 1:,} of {known:,} prices: " in text  # the number of the front page, and the rest
        assert f"{count} prices not known in dollars a chip" in text
        assert "; 1 price that not everybody can have" in text
        query = select("explorer").replace("int.price_change", "corrected")
        assert con.execute(f"select count(change_ratio) from ({query})", {"n": N}).fetchone() == (0,)
    zones = {row["region_name"] for row in rows if row["instance_type"] == "trn2.3xlarge" and "spot" in row.values()}
    assert zones == {"ap-southeast-4c", "sa-east-1b", "sa-east-1c"}
    plans = {row["terms"].split(", ")[0] for row in rows if row["purchase_option"] == "savings_plan"}
    assert plans == {"Compute", "EC2Instance"}
    assert "InfiniBand" in {row["terms"] for row in rows}


def test_script_and_data_have_their_limits(tmp_path: Path) -> None:
    """The library is that of the wheel, with its licence, and 1 MB of script and style at the most."""
    text = written(tmp_path, N).read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data
    assert len(json.loads(data[1])["rows"]) == N
    assert len(text.encode()) - len(data[1].encode()) < 1_000_000
    assert "DataTables" in text
    assert "datatables.net/license" in text


@pytest.mark.prove
def test_no_serious_fault_of_access_and_no_sideways_scroll(page: Page, place: Path) -> None:
    show(page, place)
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}
    page.evaluate("[...document.querySelectorAll('#prices tbody tr')].slice(3).forEach(each => each.remove())")
    faults = Axe().run(page, options=rules).response["violations"]
    page.emulate_media(color_scheme="dark")
    faults += page.evaluate("axe.run({ runOnly: { type: 'rule', values: ['color-contrast'] } })")["violations"]
    assert [
        (each["id"], each["nodes"][0]["html"]) for each in faults if each["impact"] in ("serious", "critical")
    ] == []
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_it_says_that_it_needs_its_script(browser: Browser, place: Path) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(place.as_uri())
        assert "needs its script" in page.locator("main").inner_text()


def test_a_frame_without_a_script_of_its_own_has_the_usual_one() -> None:
    text = frame("plain.html.j2", title="T", headline="H", place="x.html", build=(None, ""), parts=[])
    assert "Sorts and filters" in text
    assert "DataTables" not in text
