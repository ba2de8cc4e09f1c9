"""The overview, `index.html`: the news, what it rests on, and the way to every page."""

from collections.abc import Sequence
from html import escape

from reports import archive_page, news, page, wording
from reports.archive_page import Told
from reports.facts import Facts
from reports.frame import frame, section
from reports.site import Page

DATA = (
    ("feed.atom", "Changes of prices, as an Atom feed"),
    ("latest.json", "Present prices and the newest changes, to be read by machines"),
    ("latest.schema.json", "What each field of latest.json means"),
)


def render(found: Facts, pages: Sequence[Page], weeks: Sequence[Told]) -> str:
    """Return the page; the same facts, pages and weeks give the same bytes."""
    return frame(
        title="Accelerator prices",
        headline=news.headline(found),
        place="index.html",
        built_at=found.built_at,
        version=found.version,
        kind="Overview",
        nav=(("basis", "What it rests on"), ("pages", "Pages"), ("data", "Data")),
        main="\n".join((page.basis(found, sources="sources.html"), _pages(found, pages, weeks), _data())),
    )


def _pages(found: Facts, pages: Sequence[Page], weeks: Sequence[Told]) -> str:
    day = wording.day(found.built_at)
    cards = [
        ("latest.html", f"Newest day, {day}", "What changed, where prices stand, and what is not known.", ""),
        *([_week(weeks[0])] if weeks else []),
        *((each.path, each.title, each.about, "") for each in pages),
        (archive_page.PLACE, "Archive", "Every day and week, at the address where it stays.", ""),
    ]
    items = "".join(
        f'<li><a href="{escape(path)}">{escape(title)}</a> {escape(about)}{more}</li>\n'
        for path, title, about, more in cards
    )
    return section("pages", "Pages", [f'<ul class="cards">\n{items}</ul>'])


def _week(newest: Told) -> tuple[str, str, str, str]:
    return newest.path, f"Newest week, {newest.name}", newest.headline, ' <a href="weekly/index.html">All weeks</a>'


def _data() -> str:
    items = "".join(f'<li><a href="{path}">{path}</a> {words}</li>\n' for path, words in DATA)
    return section(
        "data",
        "Data",
        [
            f'<ul class="told">\n{items}</ul>',
            "<p>All of it stands in <code>prices.duckdb</code>, beside the folder of these pages: "
            '<code>chipledger query "select * from int.provider_price"</code>.</p>',
        ],
    )
