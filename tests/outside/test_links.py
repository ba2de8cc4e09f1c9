"""A fresh state from the outside: after the first run every link of every page leads to a page and a part."""

import re
from pathlib import Path

from page_links import dead

NAVIGATION = ("Prices", "Tokens", "Explorer", "Drift", "This week", "Methods")


def test_every_link_of_a_first_run_leads_somewhere(offline_run: Path) -> None:
    reports = offline_run / "reports"
    assert len(list(reports.rglob("*.html"))) > 9
    assert dead(reports) == []


def test_the_crawler_finds_a_dead_link(tmp_path: Path) -> None:
    """A missing page and part, a page outside and a script; neither a good one nor one that leads to an address."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out.html").write_text("")
    (tmp_path / "in/a.html").write_text('<a href="b.html#x"></a><a href="https://example.org"></a><a href="#y"></a>')
    (tmp_path / "in/b.html").write_text('<p id="x"></p><a href="c.html"></a><a href="../out.html"></a><a href="x:y">')
    wrong = [("a.html", "#y"), ("b.html", "../out.html"), ("b.html", "c.html"), ("b.html", "x:y")]
    assert sorted(dead(tmp_path / "in")) == wrong


def test_the_navigation_of_every_page(offline_run: Path) -> None:
    """The same six pages from everywhere, each of which is there."""
    for path in (offline_run / "reports").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        if path.name == "archive.html" and 'http-equiv="refresh"' in text:
            continue  # it leads on by itself
        nav = re.search(r'<nav class="site".*?</nav>', text, re.DOTALL)
        assert nav, path.name
        assert tuple(re.findall(r"<a [^>]*>([^<]+)</a>", nav[0])) == NAVIGATION, path.name


def test_the_front_page_is_one_screen_of_answers(offline_run: Path) -> None:
    """No tiles, one table, one chart, no script needed, light."""
    page = (offline_run / "reports" / "index.html").read_text(encoding="utf-8")
    assert page.count("<table") == 1
    assert 'class="tiles"' not in page
    assert len(page.encode()) < 80_000
