"""A fresh state from the outside: after the first run every link of every page leads to a page and a part."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

NAVIGATION = ("Prices", "Tokens", "Explorer", "Drift", "This week", "Methods")


class Page(HTMLParser):
    """The links and ids of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [values["href"] or ""] if values.get("href") and tag in ("a", "link") else []
        self.ids |= {values["id"] or ""} if values.get("id") else set()


def dead(reports: Path) -> list[tuple[str, str]]:
    """Return page and link of each link that leads nowhere."""
    pages = {path.resolve(): Page(path) for path in reports.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for link in page.links:
            to = urlsplit(link)
            target = (path.parent / to.path).resolve() if to.path else path
            if to.scheme:
                continue
            if not target.is_file() or (to.fragment and to.fragment not in pages[target].ids):
                found.append((path.name, link))
    return found


def test_every_link_of_a_first_run_leads_somewhere(offline_run: Path) -> None:
    reports = offline_run / "reports"
    assert len(list(reports.rglob("*.html"))) > 9
    assert dead(reports) == []


def test_the_crawler_finds_a_dead_link(tmp_path: Path) -> None:
    """A missing page and a missing part; neither a good one nor one that leads away."""
    (tmp_path / "a.html").write_text('<a href="b.html#x"></a><a href="https://example.org"></a><a href="#y"></a>')
    (tmp_path / "b.html").write_text('<p id="x"></p><a href="c.html"></a>')
    assert sorted(dead(tmp_path)) == [("a.html", "#y"), ("b.html", "c.html")]


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
