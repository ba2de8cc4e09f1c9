"""The archive: every published day and week at the address where it stays, with its editions.

A week's page carries a hash of what it says (`chipledger:content`), which leaves out when it was made. Where the same
week says something else later, the earlier page stays as `<week>.edition-1.html`, and so on.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import unescape
from importlib.metadata import version
from pathlib import Path

from markupsafe import Markup
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from reports import wording
from reports.files import put
from reports.pages.frame import alone, frame, root
from reports.templating import render as rendered
from reports.weekly.calendar import FOLDER, KNOWN_THEN

PLACE = f"{FOLDER}/index.html"
MOVED = {"archive.html": PLACE}
"""Addresses of versions before, and where the page is now."""
HEADLINE = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
PROVISIONAL = '<meta name="chipledger:provisional" content="true">'
OF_TODAY = "#tokens-table"
"""Of a week that is over the table that goes with the file's own day, and says which: it makes no new edition."""
AS_OF = re.compile(r'as of <time datetime="[^"]+">[^<]+</time>')
HEAD_BYTES = 65_536
"""Of a page, enough to hold its headline, which stands after style and policy: an archive is read every day."""
DAYS_OPEN = 31
"""Days that are listed open; those before are folded by year."""


@dataclass(frozen=True)
class Published:
    """A page of the archive: its path below the reports, what it is of, and its headline."""

    path: str
    name: str
    headline: str


@dataclass(frozen=True)
class Edition:
    """An earlier edition of a week's page: its number, file name, and headline."""

    number: int
    name: str
    headline: str


def write(folder: Path) -> None:
    """Write the list of a folder's weeks and days, and what leads there from addresses of before."""
    move(folder)
    put(folder / PLACE, render(folder))
    for place, target in MOVED.items():
        put(folder / place, _leading(place, target))


def move(folder: Path) -> None:
    """Move the pages of weeks that a version before wrote, each with a page in its place that leads to it."""
    for old in sorted((folder / "weekly").glob("*.html")):
        new = folder / FOLDER / old.name
        if old.stem != "index" and not new.exists():
            put(new, old.read_bytes().decode())
        put(old, _leading(f"weekly/{old.name}", f"{FOLDER}/{old.name}"))


def _leading(place: str, target: str) -> str:
    return rendered("moved.html.j2", place=root(place) + target, title=target, **alone())


def weeks(folder: Path) -> list[Published]:
    """Return the pages of weeks and their earlier editions, the newest week first, editions after their week's page."""
    found = []
    for path in (folder / FOLDER).glob("????-W??*.html"):
        stem, _, edition = path.stem.partition(".edition-")
        known = ", as known then" if stem.endswith(KNOWN_THEN) else ""
        name = f"{stem.removesuffix(KNOWN_THEN)}{known}" + (f", edition {edition}" if edition else "")
        order = stem[:8], not known, int(edition or 1_000_000)
        found.append((order, Published(f"{FOLDER}/{path.name}", name, headline(path))))
    return [page for _, page in sorted(found, key=lambda each: each[0], reverse=True)]


def days(folder: Path) -> list[Published]:
    """Return the pages of days, the newest first."""
    paths = sorted((folder / "daily").glob("????-??-??.html"), reverse=True)
    return [Published(f"daily/{path.name}", path.stem, headline(path)) for path in paths]


def headline(path: Path) -> str:
    """Return the headline of a page; empty where its head has none."""
    with path.open("rb") as file:
        return _headline(file.read(HEAD_BYTES).decode("utf-8", errors="ignore"))


def render(folder: Path) -> str:
    """Return the page; the same pages in the folder give the same bytes."""
    of_days, of_weeks = days(folder), weeks(folder)
    n_weeks = sum(".edition-" not in page.path and "then" not in page.name for page in of_weeks)
    older = of_days[DAYS_OPEN:]
    return frame(
        "archive.html.j2",
        headline=f"{wording.count(len(of_days), 'day')} and {wording.count(n_weeks, 'week')} are here",
        place=PLACE,
        build=(None, version("chipledger")),
        weeks=of_weeks,
        days=of_days[:DAYS_OPEN],
        years=[
            (year, [page for page in older if page.name.startswith(year)])
            for year in sorted({page.name[:4] for page in older}, reverse=True)
        ],
    )


def earlier_editions(target: Path) -> list[Edition]:
    """Return the editions of a week's page that were published before it, the first one first."""
    paths = target.parent.glob(f"{target.stem}.edition-*.html")
    found = (Edition(int(path.stem.rpartition("-")[2]), path.name, headline(path)) for path in paths)
    return sorted(found, key=lambda edition: edition.number)


def differs(target: Path, text: str) -> bool:
    """Return whether a page is there that was final and says something else."""
    if not target.exists():
        return False
    old = target.read_text(encoding="utf-8")
    return PROVISIONAL not in old and _content_of(old) != _content_of(text)


def differs_in_date_only(target: Path, text: str) -> bool:
    """Return whether a page is there with the same bytes but for when it was made, which may stay as it is."""
    return target.exists() and AS_OF.sub("", target.read_text(encoding="utf-8")) == AS_OF.sub("", text)


def _content_of(page: str) -> str:
    """Return what a page says, without white space; pages of versions with another mark-up are compared, too."""
    return "".join((_headline(page) + _text(page[page.find("<main") : page.find("</main>")], without=OF_TODAY)).split())


def content(headline: str, parts: Iterable[Markup]) -> str:
    """Return a hash of what a page says: its text, whatever its mark-up and charts."""
    text = headline + "".join(_text(part) for part in parts)
    return hashlib.sha256("".join(text.split()).encode()).hexdigest()[:32]


def _text(html: str, *, without: str = "") -> str:
    tree = HTMLParser(html)
    for found in tree.css(without) if without else ():
        found.decompose()
    tree.strip_tags(["svg", "figure"], recursive=True)
    return tree.body.text() if tree.body else ""


def keep_edition(target: Path, earlier: list[Edition]) -> list[Edition]:
    """Keep the page that is there as the next edition; return all earlier ones with it."""
    number = max((edition.number for edition in earlier), default=0) + 1
    # A link, not a move: the permanent address is never without a page.
    target.with_name(f"{target.stem}.edition-{number}.html").hardlink_to(target)
    return earlier_editions(target)


def _headline(text: str) -> str:
    found = HEADLINE.search(text)
    return unescape(found[1]) if found else ""
