"""The daily page: from the published file to `index.html`, the newest, and `daily/<date>.html`, the one that stays."""

import os
from pathlib import Path

from reports import wording


def write(file: Path, folder: Path) -> Path:
    """Write the page of a published file into a folder and return the path of the newest page.

    A day has one page: a later run of that day replaces it. Each page appears whole or not at all; the feeds beside
    them are written with them.
    """
    # What these import costs half a second, which a command that writes no page must not pay.
    from reports import facts, feed, page

    found = facts.read(file)
    text = page.render(found)
    newest = folder / "index.html"
    for target in (folder / "daily" / f"{wording.day(found.built_at)}.html", newest):
        _put(target, text)
    feed.write(file, folder)
    return newest


def _put(target: Path, text: str) -> None:
    """Write beside the target, flush, and rename into place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
