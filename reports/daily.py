"""The daily page: from the published file to `index.html`, the newest, and `daily/<date>.html`, the one that stays."""

from pathlib import Path

from reports import wording
from reports.files import put


def write(file: Path, folder: Path) -> Path:
    """Write the page of a published file into a folder and return the path of the newest page.

    A day has one page: a later run of that day replaces it. Each page appears whole or not at all; the feeds beside
    them are written with them.
    """
    # What these import costs half a second, which a command that writes no page must not pay.
    from reports import facts, feed, page

    found = facts.read(file)
    newest = "index.html"
    for place in (f"daily/{wording.day(found.built_at)}.html", newest):
        put(folder / place, page.render(found, place))
    feed.write(file, folder)
    return folder / newest
