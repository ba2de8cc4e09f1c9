"""The weekly page: from the published file to `weekly/<week>.html`, which stays, and `weekly/index.html`, their list.

A week is Monday to Sunday, UTC, written as ISO 8601 has it: 2025-W26.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from reports.files import put
from reports.weekly_calendar import KNOWN_THEN, Week

if TYPE_CHECKING:
    from reports.weekly_facts import WeekFacts

FOLDER = "weekly"


def page_name(week: Week, *, known_then: bool) -> str:
    """Return the name of a week's page in its folder."""
    return f"{week}{KNOWN_THEN if known_then else ''}.html"


def read(file: Path, week: Week | None = None, *, known_then: bool = False, shown_in: str = "USD") -> "WeekFacts":
    """Return the facts of a week of a published file; without one, of the last that was over when it was built.

    `shown_in` is the currency in which prices are shown beside US dollars.

    Raises SettingsError for a week that had not begun.
    """
    # What these import costs half a second, which a command that writes no page must not pay.
    from reports import weekly_facts

    return weekly_facts.read(file, week, known_then=known_then, shown_in=shown_in)


def write(found: "WeekFacts", folder: Path) -> Path:
    """Write the page of a week's facts into a folder, list it there, and return its path.

    A week made again is a new edition: where it says something else than before, the old page stays beside it, and the
    new one names it. Each page appears whole or not at all.
    """
    from reports import weekly_archive, weekly_page

    target = folder / FOLDER / page_name(found.week, known_then=found.known_then)
    earlier = weekly_archive.earlier_editions(target)
    text = weekly_page.render(found, earlier)
    if weekly_archive.differs(target, text):
        earlier = weekly_archive.keep_edition(target, earlier)
        text = weekly_page.render(found, earlier)
    put(target, text)
    put(target.with_name("index.html"), weekly_archive.index(target.parent))
    return target
