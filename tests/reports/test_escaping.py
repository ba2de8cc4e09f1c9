"""What comes from outside is text: in every page, in the mail and in the feed, and in whatever template comes next."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from hostile_site import WEEK
from selectolax.lexbor import LexborHTMLParser
from weekly_file import with_frames

import flows
import reports
from reports import templating
from reports.tables import table
from reports.weekly import facts, mail

EVIL = "<script>alert(2)</script>&\"'><img src=x onerror=alert(2)>"
ESCAPED = "&lt;script&gt;alert"
PRODUCT = [Path(package.__path__[0]) for package in (reports, flows)]
WITHOUT_OUTSIDE_TEXT = {
    "methods.html", "tables.html", "tables-checks.html", "claims.html", "archive.html", "disagreement.html",
}  # fmt: skip
"""Pages of our own formulas, SQL and claims; those of claims are tried with hostile ones in test_claims_page.py, those
of disagreement, where this site has one source alone, in tests/outside/test_disagreement.py."""
MARKED = {
    "reports/templating.py": 3,
    "reports/tables/table.py": 5,
    "reports/pages/frame.py": 4,
    "reports/pages/daily_page.py": 1,
    "reports/pages/explorer.py": 2,
}
"""Where product code calls text HTML: templates' output, great-tables' heads, escaped heads of rows, our own files."""


def harmful(page: str, scripts: int) -> list[str]:
    """Return what a page has that only text from outside can have brought."""
    tree = LexborHTMLParser(page)
    found = [node.html or "" for node in tree.css("script")][scripts:]
    found += [node.html or "" for node in tree.css("img") if not str(node.attributes.get("src")).startswith("cid:")]
    nodes = tree.root.traverse() if tree.root else ()
    return found + [node.html or "" for node in nodes if any(name.startswith("on") for name in node.attributes)]


def test_what_is_looked_for_is_found() -> None:
    """The search itself can fail."""
    assert len(harmful(f"<p>{EVIL}</p>", 0)) == 3


def test_every_page_shows_words_from_outside_as_text(hostile_reports: Path) -> None:
    """Names, regions, chips, errors and refused values are hostile; no page acts on them, each shows some."""
    found = {path.name: path.read_text(encoding="utf-8") for path in hostile_reports.rglob("*.html")}

    assert len(found) > 12
    assert {name: bad for name, page in found.items() if (bad := harmful(page, 1 + (name == "explore.html")))} == {}
    assert {name for name, page in found.items() if ESCAPED not in page} <= WITHOUT_OUTSIDE_TEXT | {"explore.html"}
    assert "\\u003cscript\\u003e" in found["explore.html"]


def test_the_feed_shows_words_from_outside_as_text(hostile_reports: Path) -> None:
    feed = (hostile_reports / "feed.atom").read_text(encoding="utf-8")

    assert ESCAPED in feed
    assert {each.tag.rpartition("}")[2] for each in ElementTree.fromstring(feed).iter()} <= {  # noqa: S314 (our own)
        "feed", "id", "title", "updated", "generator", "author", "name", "link", "entry", "category", "content",
    }  # fmt: skip


def test_the_mail_shows_words_from_outside_as_text(hostile_reports: Path) -> None:
    """Providers and chips of its tables, sentences, faults and addresses."""
    week = facts.read(hostile_reports.with_name("prices.duckdb"), WEEK)
    evil = week["biggest"].with_columns(
        pl.lit(EVIL).alias("service_provider_name"), pl.lit(EVIL).alias("accelerator_name"), pl.lit(EVIL).alias("tier")
    )
    found = replace(with_frames(week, biggest=evil), faults={"cheapest": EVIL})
    made = mail.letter(found, page_url=f"https://x.test/{EVIL}", draw=False)

    assert harmful(made.html, 0) == []
    assert made.html.count(ESCAPED) > 3


@pytest.mark.parametrize("name", ["small", "span", "link", "outside", "element", "arrow"])
def test_every_cell_escapes_its_texts(name: str) -> None:
    """In text and in attributes."""
    values = {"small": (EVIL,), "span": (EVIL,) * 5, "link": (EVIL,) * 4, "outside": (EVIL, f"https://{EVIL}"),
              "element": ("b", EVIL, EVIL), "arrow": (EVIL,) * 3}[name]  # fmt: skip
    made = getattr(table, name)(*values)

    assert harmful(made, 0) == []
    assert ESCAPED in made


def test_an_address_that_is_none_of_the_web_is_no_link() -> None:
    assert table.outside("x", "javascript:alert(1)") == "x"


def test_no_template_and_no_module_takes_text_for_html() -> None:
    """No template switches escaping off; Markup is made in few places, and nothing is escaped by hand."""
    texts = {
        str(path.relative_to(folder.parent)): path.read_text(encoding="utf-8")
        for folder in PRODUCT
        for path in folder.rglob("*.*")
        if path.suffix in (".py", ".j2")
    }
    assert templating._environment().autoescape is True
    templates = {name: text for name, text in texts.items() if name.endswith(".j2")}
    assert [name for name, text in templates.items() if re.search(r"\|\s*safe|autoescape", text)] == []
    assert {name for name, text in texts.items() if re.search(r"html import .*\bescape\b|html\.escape", text)} == set()
    marked = {name: n for name, text in texts.items() if (n := len(re.findall(r"\bMarkup\((?!\))", text)))}
    assert marked == MARKED


def test_a_name_without_a_value_is_an_error() -> None:
    """A template that names what its page does not give fails, rather than showing nothing."""
    with pytest.raises(Exception, match="undefined"):
        templating.render("evidence.html.j2")
