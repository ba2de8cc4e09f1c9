"""The weekly page: from the published file to `weeks/<week>.html`, which stays, and `weeks/index.html`, their list.

A week is Monday to Sunday, UTC, written as ISO 8601 has it: 2025-W26.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reports.files import put
from reports.weekly.calendar import Week, place

if TYPE_CHECKING:
    from reports.weekly.facts import WeekFacts

CHIPS = ("H100", "H200", "B200", "B300", "MI300X", "A100-80GB", "L40S", "Trainium2")
"""The reader's chips, unless a setting names others."""
MIN_CHANGE = 0.01
"""Smaller moves are counted, not shown, unless a setting says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """A page that was written, the facts of its week, and why parts of it could not be made."""

    found: "WeekFacts"
    page: Path
    faults: tuple[str, ...] = ()


def read(
    file: Path,
    week: Week | None = None,
    *,
    known_then: bool = False,
    chips: Sequence[str] = CHIPS,
    least: float = MIN_CHANGE,
    shown_in: str = "USD",
    now: datetime | None = None,
) -> "WeekFacts":
    """Return what `facts.read` returns. Raises SettingsError for a week that had not begun."""
    # What these import costs half a second, which a command that writes no page must not pay.
    import duckdb

    from reports.weekly import facts

    def of_file() -> "WeekFacts":
        return facts.read(file, week, known_then=known_then, chips=chips, least=least, shown_in=shown_in, now=now)

    try:
        return of_file()
    except duckdb.FatalException as error:
        # Seen once under load: an internal fault of DuckDB, after which a connection answers nothing more.
        logging.getLogger(__name__).warning("DuckDB failed, the week is read once more: %s", str(error).splitlines()[0])
        return of_file()


def write(found: "WeekFacts", folder: Path, *, draw: bool = True) -> "Written":
    """Write the page of a week's facts into a folder, and list it there.

    Without `draw` it has no charts, which take seconds. A week made again is a new edition: where it says something
    else than before, the old page stays next to it, and the new one names it. Each page appears whole or not at all.
    """
    from reports.pages import archive
    from reports.weekly import page as weekly_page

    target = folder / place(found.week, known_then=found.known_then)
    archive.move(folder)
    earlier = archive.earlier_editions(target)
    made = weekly_page.render(found, earlier, draw=draw)
    if archive.differs(target, made.text):
        earlier = archive.keep_edition(target, earlier)
        made = weekly_page.render(found, earlier, draw=draw)
    if not (found.is_over and archive.differs_in_date_only(target, made.text)):
        put(target, made.text)
    archive.write(target.parent.parent)
    return Written(found=found, page=target, faults=made.faults)
