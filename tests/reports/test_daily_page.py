"""The daily page of real published files: complete, honest, safe, the same each time, and light."""

import html
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import paging
import pytest
from few_marts import published_with

from flows.collect.collector import FetchResult
from flows.collect.steps import open_run
from flows.config.settings import Settings
from reports import wording
from reports.pages import daily_page, frame
from reports.queries import opened
from reports.tables import change_tables
from warehouse.errors import SourceError

MOST_BYTES = 300_000
VOID = {"meta", "link", "br"}


class Outline(HTMLParser):
    """Reads a page: its text, headings, ids, links, attributes that load, and whether every element is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.headings: list[str] = []
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if tag == "a" and name == "href":
                self.links.append(value or "")
            if name in ("src", "srcset", "data", "poster") or (name == "href" and tag != "a"):
                self.loads.append(value or "")
            assert not name.startswith("on"), f"{tag} runs a script: {name}"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "pre"} & set(self.open):
            self.texts.append(data)


@pytest.fixture(params=["offline", "live"])
def page(request: pytest.FixtureRequest) -> str:
    """Return the text of each page."""
    return request.getfixturevalue(f"{request.param}_page").read_text(encoding="utf-8")


def query(file: Path, sql: str) -> list[tuple]:
    with duckdb.connect(str(file), read_only=True) as con:
        return con.execute(sql).fetchall()


def section(page: str, anchor: str) -> str:
    start = page.index(f'<section aria-labelledby="{anchor}">')
    return Outline(page[start : page.index("</section>", start)]).text


def basis(page: str) -> str:
    """Return what a page says before its first part."""
    return Outline(page[page.index("<main") : page.index("<section")] + "</main>").text


# --- every page


def test_the_page_is_whole_and_accessible(page: str) -> None:
    read = Outline(page)
    assert read.open == []
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert re.search(r"<title>Accelerator prices, 2026-(11-21|10-15)", page)
    assert [heading for heading in read.headings if heading == "h1"] == ["h1"]
    assert len(read.ids) == len(set(read.ids))
    assert page.count("<table") == page.count("<caption")
    assert {link[1:] for link in read.links if link.startswith("#")} <= set(read.ids)


def test_the_page_asks_nobody_for_anything(page: str) -> None:
    read = Outline(page)
    assert read.loads == ["data:,", "feed.atom"]
    assert page.count("<script>") == page.count(frame.script()) == 1
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_parts_stand_in_their_order(page: str) -> None:
    anchors = ["changes", "gaps", "method"]
    places = [page.index(f'<h2 id="{anchor}">') for anchor in anchors]
    assert places == sorted(places)
    assert page.index("<h1>") < places[0]


def test_the_page_is_light(page: str) -> None:
    assert len(page.encode()) < MOST_BYTES


@pytest.mark.prove
def test_the_same_file_gives_the_same_bytes(offline: Path, offline_page: Path, tmp_path: Path) -> None:
    """Even in another process, with another hash seed and in another time zone."""
    code = "import sys; from pathlib import Path; from reports.pages import site; site.write(*map(Path, sys.argv[1:]))"
    shutil.copytree(offline_page.parent / "weeks", tmp_path / "weeks")  # which the archive and the front page list
    environment = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "PATH": ""}
    subprocess.run([sys.executable, "-c", code, offline, tmp_path], check=True, env=environment, timeout=60)
    for page in offline_page.parent.rglob("*.*"):
        assert page.read_bytes() == (tmp_path / page.relative_to(offline_page.parent)).read_bytes(), page.name


def test_a_day_keeps_its_page(offline_page: Path) -> None:
    """At two addresses the same is said, with links that lead to the same pages."""
    newest = offline_page.read_text(encoding="utf-8")
    kept = (offline_page.parent / "daily/2026-10-15.html").read_text(encoding="utf-8")

    assert Outline(kept).text == Outline(newest).text
    assert [link.removeprefix("../") for link in Outline(kept).links] == Outline(newest).links


# --- numbers


def test_every_change_of_the_page_is_the_marts(live: Path, live_page: Path) -> None:
    moved = query(
        live,
        "select instance_type, region_id, unit_price_before, unit_price_after, change_ratio from int.price_change "
        "where change_kind = 'list_change' and observed_at = TIMESTAMP '2026-11-21 09:00:00'",
    )
    text = section(live_page.read_text(encoding="utf-8"), "changes")
    assert len(moved) == 2
    for name, region, before, after, ratio in moved:
        assert f"{name} ▼ {wording.percent(ratio)} list price {before:,.2f} {after:,.2f} {region} on-demand" in text


def test_every_document_of_a_price_is_listed_with_its_whole_hash(live: Path, live_page: Path) -> None:
    """And no other: the offers of the last known changes are read for every page, and shown on few."""
    read = Outline(live_page.read_text(encoding="utf-8"))
    linked = {link[3:] for link in read.links if link.startswith("#d-")}
    assert linked == {id[2:] for id in read.ids if re.fullmatch(r"d-\w{12}", id)}
    hashes = {sha for (sha,) in query(live, "select document_sha256 from core.document")}
    page = live_page.read_text(encoding="utf-8")
    assert linked
    assert all(any(sha.startswith(short) and f">{sha}<" in page for sha in hashes) for short in linked)


def test_the_documents_of_changes_that_a_table_leaves_out_are_not_listed(
    live: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of the last known changes, which are read for every page, and shown where nothing is recent."""
    monkeypatch.setattr(change_tables, "MAX_CHANGES", 1)
    with opened(live) as published:
        (page,) = daily_page.render(daily_page.read(published), ["latest.html"])
    linked, listed = ({*re.findall(rf'{what}d-(\w{{12}})"', page)} for what in ('href="#', 'id="'))
    assert listed == linked != set()


# --- what the page claims


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.prove)])
def test_a_file_without_any_price_has_a_page(tmp_path: Path, whole: bool) -> None:
    """At length a file with all marts, and among all pages of its site."""
    with (
        nullcontext() if whole else published_with("mart.price_change", "provider_price"),
        open_run(Settings(data_dir=tmp_path), clock=lambda: datetime(2026, 11, 21, tzinfo=UTC)) as one,
    ):
        file = one.publisher.publish()
        if whole:
            page = one.publisher.report().with_name("latest.html").read_text(encoding="utf-8")
        else:
            (page,) = daily_page.render(paging.of(file, daily_page.read), ["latest.html"])
    assert "<h1>No price is known: nothing was read yet.</h1>" in page
    assert Outline(page).open == []


def test_a_file_of_failures_names_them(tmp_path: Path) -> None:
    """Nothing is published where all failed at first, but a later build has to show it."""
    with (
        published_with("provider_price"),
        open_run(Settings(data_dir=tmp_path), clock=lambda: datetime(2026, 11, 21, tzinfo=UTC)) as one,
    ):
        for scope in ("us-east-1", "us-west-2"):
            error = SourceError("no answer", source="aws_price_list")
            one.land(FetchResult(source="aws_price_list", scope=scope, error=error))
        one.load()
        file = one.publisher.publish()
    (page,) = daily_page.render(paging.of(file, daily_page.read), ["latest.html"])
    assert "aws_price_list us-east-1 is missing: it was never read. no answer" in basis(page)


def test_the_archive_is_judged_as_of_its_own_day(offline: Path, offline_page: Path) -> None:
    """What it confirmed in the ninety days before is current, all else archived, and both are counted."""
    with duckdb.connect(str(offline), read_only=True) as con:
        query = "select count(*) filter (is_current), count(*) filter (not is_current) from int.accelerator_hour_price"
        current, past = con.execute(query).fetchall()[0]
    page = offline_page.read_text(encoding="utf-8")
    assert f": {current:,} current, 0 stale, {past:,} archived (" in basis(page)
    assert daily_page.headline(paging.of(offline, daily_page.read)) in html.unescape(page)


def test_stale_and_failed_places_are_named_before_any_conclusion(live_page: Path) -> None:
    text = basis(live_page.read_text(encoding="utf-8"))
    assert "aws_price_list us-gov-west-1 is stale: last read 2026-11-11, 10 days ago" in text
    assert "aws_price_list eu-west-1 was not read by the last run: its prices are of 2026-11-20" in text
    assert "Accelerator unknown, so without a price per chip: trn9.48xlarge" in text
    assert "2 refused rows" in text


def test_a_first_look_at_old_prices_is_no_change_since_the_last_run(live: Path) -> None:
    found = paging.of(live, daily_page.read)
    assert set(daily_page.since_run(found["change"])["observed_at"].dt.strftime("%Y-%m-%d")) == {"2026-11-21"}


def test_text_from_outside_runs_nowhere(live_page: Path) -> None:
    """The stand-in put a script into an amount and into an error; both are shown as text on the page of sources."""
    page = live_page.with_name("sources.html").read_text(encoding="utf-8")
    assert page.count("<script") == live_page.read_text(encoding="utf-8").count("<script") == 1
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 2


def test_what_is_not_known_is_counted_and_named(live_page: Path, offline_page: Path) -> None:
    text = section(live_page.read_text(encoding="utf-8"), "gaps")
    assert "13 offers are of a chip that we do not know, so without a price per chip-hour." in text
    assert "3 offers have no price in US dollars." in text
    assert "1 name or instance type with an unknown accelerator" in text
    assert "trn9.48xlarge AWS 13" in text
    assert "Every priced machine has a known accelerator." in section(offline_page.read_text(encoding="utf-8"), "gaps")


def test_no_cell_is_blank(page: str) -> None:
    """What is unknown is a dash with its reason; it is never blank, and never 0."""
    assert re.findall(r"<td[^>]*>\s*</td>", page) == []
    assert ">None<" not in page
    assert re.findall(r'<td class="gt_right"[^>]*>0\.00</td>\s*<td[^>]*><a href="#d-', page) == []
