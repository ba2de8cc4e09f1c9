"""The archive: every day and week that was told, at the address where it stays, with its editions."""

import re
from dataclasses import dataclass
from html import escape, unescape
from importlib.metadata import version
from pathlib import Path

from reports.files import put
from reports.pages.frame import frame, section
from reports.weekly.calendar import KNOWN_THEN

PLACE = "archive.html"
HEADLINE = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
HEAD_BYTES = 65_536
"""Of a page, enough to hold its headline, which stands after style and policy: an archive is read every day."""
DAYS_OPEN = 31
"""Days that stand open; those before are folded by year."""


@dataclass(frozen=True)
class Told:
    """A page of the archive: its path below the reports, what it is of, and its headline."""

    path: str
    name: str
    headline: str


def write(folder: Path) -> None:
    """Write the archive of a folder of reports."""
    put(folder / PLACE, render(folder))


def weeks(folder: Path) -> list[Told]:
    """Return the pages of weeks and their earlier editions, the newest week first, editions after their week's page."""
    found = []
    for path in (folder / "weekly").glob("????-W??*.html"):
        stem, _, edition = path.stem.partition(".edition-")
        known = ", as known then" if stem.endswith(KNOWN_THEN) else ""
        name = f"{stem.removesuffix(KNOWN_THEN)}{known}" + (f", edition {edition}" if edition else "")
        order = stem[:8], not known, int(edition or 1_000_000)
        found.append((order, Told(f"weekly/{path.name}", name, headline(path))))
    return [told for _, told in sorted(found, key=lambda each: each[0], reverse=True)]


def days(folder: Path) -> list[Told]:
    """Return the pages of days, the newest first."""
    paths = sorted((folder / "daily").glob("????-??-??.html"), reverse=True)
    return [Told(f"daily/{path.name}", path.stem, headline(path)) for path in paths]


def headline(path: Path) -> str:
    """Return the headline of a page; empty where its head has none."""
    with path.open("rb") as file:
        text = file.read(HEAD_BYTES).decode("utf-8", errors="ignore")
    found = HEADLINE.search(text)
    return unescape(found[1]) if found else ""


def render(folder: Path) -> str:
    """Return the page; the same pages in the folder give the same bytes."""
    of_days, of_weeks = days(folder), weeks(folder)
    n_weeks = sum(".edition-" not in told.path and "then" not in told.name for told in of_weeks)
    words = (
        f"{len(of_days):,} {'day' if len(of_days) == 1 else 'days'} and "
        f"{n_weeks:,} {'week' if n_weeks == 1 else 'weeks'} are told here"
    )
    return frame(
        title="Archive",
        headline=words,
        place=PLACE,
        built_at=None,
        version=version("chipledger"),
        kind="Archive",
        nav=(("weeks", "Weeks"), ("days", "Days")),
        header=(
            "<p>Each page stays at its address and says what was published then. A week that is told otherwise later "
            "keeps its earlier editions.</p>"
        ),
        main="\n".join((_weeks(of_weeks), _days(of_days))),
    )


def _weeks(found: list[Told]) -> str:
    return section("weeks", "Weeks", [listed(found) if found else "<p>No week was told yet.</p>"])


def _days(found: list[Told]) -> str:
    if not found:
        return section("days", "Days", ["<p>No day was told yet.</p>"])
    parts = [listed(found[:DAYS_OPEN])]
    for year in sorted({told.name[:4] for told in found[DAYS_OPEN:]}, reverse=True):
        of_year = [told for told in found[DAYS_OPEN:] if told.name.startswith(year)]
        parts.append(f"<details><summary>{year}: {len(of_year):,} more</summary>{listed(of_year)}</details>")
    return section("days", "Days", parts)


def listed(found: list[Told]) -> str:
    """Return pages as a list of links, each with its headline."""
    items = "\n".join(
        f'<li><a href="{escape(told.path)}">{escape(told.name)}</a> {escape(told.headline)}</li>' for told in found
    )
    return f'<ul class="told">\n{items}\n</ul>'
