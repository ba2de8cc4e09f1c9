"""The archive of weekly pages: earlier editions of a week, and the list of all weeks.

A page carries a hash of what it says (`chipledger:content`), which leaves out when it was made. Where the same week
is told otherwise later, the page told first is kept as `<week>.edition-1.html`, and so on.
"""

import re
from dataclasses import dataclass
from html import escape, unescape
from importlib.metadata import version
from pathlib import Path

from reports.pages.frame import frame
from reports.weekly.calendar import KNOWN_THEN

CONTENT = re.compile(r'<meta name="chipledger:content" content="([0-9a-f]+)">')
PROVISIONAL = '<meta name="chipledger:provisional" content="true">'
HEADLINE = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
MADE = re.compile(r'<time datetime="([^"]+)">')


@dataclass(frozen=True)
class Edition:
    """An earlier edition of a week's page: its number, file name, when it was made, and its headline."""

    number: int
    name: str
    made_at: str
    headline: str


def earlier_editions(target: Path) -> list[Edition]:
    """Return the editions kept beside a page, the first one first."""
    found = []
    for path in target.parent.glob(f"{target.stem}.edition-*.html"):
        text = path.read_text(encoding="utf-8")
        number = int(path.stem.rpartition("-")[2])
        found.append(Edition(number, path.name, _first(MADE, text), unescape(_first(HEADLINE, text))))
    return sorted(found, key=lambda edition: edition.number)


def differs(target: Path, text: str) -> bool:
    """Return whether a page is there that was final and says something else."""
    if not target.exists():
        return False
    old = target.read_text(encoding="utf-8")
    return PROVISIONAL not in old and _first(CONTENT, old) != _first(CONTENT, text)


def keep_edition(target: Path, earlier: list[Edition]) -> list[Edition]:
    """Keep the page that is there as the next edition; return all earlier ones with it."""
    number = max((edition.number for edition in earlier), default=0) + 1
    kept = target.with_name(f"{target.stem}.edition-{number}.html")
    # A link, not a move: the permanent address is never without a page.
    kept.hardlink_to(target)
    return earlier_editions(target)


def index(folder: Path) -> str:
    """Return the page that lists the weeks of a folder, the newest first, and the days beside it."""
    rows = []
    for path in sorted(folder.glob("*-W??*.html"), reverse=True):
        if ".edition-" in path.name:
            continue
        text = path.read_text(encoding="utf-8")
        known = " (as known then)" if path.stem.endswith(KNOWN_THEN) else ""
        editions = len(earlier_editions(path))
        told = f", edition {editions + 1}" if editions else ""
        week = path.stem.removesuffix(KNOWN_THEN)
        rows.append(
            f'<li><a href="{escape(path.name)}">{escape(week)}{known}</a>{told}: '
            f"{escape(unescape(_first(HEADLINE, text)))}</li>"
        )
    days = [
        f'<li><a href="../daily/{escape(path.name)}">{escape(path.stem)}</a></li>'
        for path in sorted((folder.parent / "daily").glob("????-??-??.html"), reverse=True)
    ]
    listed = f"<h2>Days</h2>\n<ul>\n{chr(10).join(days)}\n</ul>" if days else ""
    return frame(
        title="Accelerator prices by week",
        headline="Weeks",
        place=f"{folder.name}/index.html",
        built_at=None,
        version=version("chipledger"),
        main=f"<ul>\n{chr(10).join(rows)}\n</ul>\n{listed}",
    )


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""
