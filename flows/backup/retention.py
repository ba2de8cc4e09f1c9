"""Keeping house: old documents are packed, never deleted; old pages of single days and replaced files are removed.

The daily run does it at its end, and does nothing on most days: the months that were packed are noted in
`landing/packs/until`, so that the journal is read through once a month and not once a day.
"""

import logging
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

from flows.config.settings import Settings
from warehouse.errors import ChipledgerError
from warehouse.landing.folder import Landing
from warehouse.landing.packs import is_named

LOG = logging.getLogger(__name__)

UNTIL = "until"
REPLACED = "replaced"
"""Folder of the data directory for what a rebuild or a restore replaced; each thing's name ends in its day."""


@dataclass(kw_only=True)
class Kept:
    """What was done: documents and packs, their bytes on disk before and after; damaged documents; what was removed."""

    n_documents: int = 0
    n_packs: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    n_lines_read: int = 0
    damaged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield what was done, for people; nothing where nothing was."""
        if self.n_documents:
            before, after = self.bytes_before / 1e6, self.bytes_after / 1e6
            yield f"{self.n_documents} old documents packed into {self.n_packs}: {before:.1f} MB became {after:.1f} MB"
        if self.damaged:
            yield f"{len(self.damaged)} old documents are damaged and stay as they are, such as {self.damaged[0]}"
        if self.removed:
            yield f"{len(self.removed)} old pages and replaced files removed"


def keep_house(settings: Settings, now: datetime, *, thoroughly: bool = False) -> Kept:
    """Do what [retention] says; the caller holds the writer's lock. Raises SettingsError.

    Documents that lie outside of the data directory, where others may write them, stay as they are.

    `thoroughly`: also look again at months that were packed before, where a document may have come in since.
    """
    chosen = settings.retention
    kept = Kept()
    landing = settings.landing()
    is_ours = not settings.place().is_shared and not settings.warehouse.landing
    if is_ours:
        landing.remove_parts()
    if chosen.compact_after_days and is_ours:
        month = f"{now - timedelta(days=chosen.compact_after_days):%Y-%m}"
        if thoroughly or month > packed_until(landing):
            compact(landing, month, kept)
    if chosen.daily_pages_days:
        day = f"{now - timedelta(days=chosen.daily_pages_days):%Y-%m-%d}"
        pages = settings.data_dir.glob("reports/daily/[0-9]*-[0-9]*-[0-9]*.html")
        kept.removed += [_removed(page) for page in sorted(pages) if page.stem < day]
    if chosen.replaced_days:
        day = f"{now - timedelta(days=chosen.replaced_days):%Y%m%d}"
        for old in sorted((settings.data_dir / REPLACED).glob("*")):
            made = re.search(r"(\d{8})T\d{6}Z(\.\w+)*$", old.name)
            if made and made[1] < day:
                kept.removed.append(_removed(old))
    return kept


def after_run(settings: Settings, now: datetime) -> list[str]:
    """Keep house after a run and return what to note of it; whatever fails is a warning, as the run was good."""
    try:
        return list(keep_house(settings, now).lines())
    except (ChipledgerError, OSError) as error:
        LOG.warning("retention: %s", error)
        return [f"retention: {error}"]


def packed_until(landing: Landing) -> str:
    """Return the first month that was not packed yet, such as 2026-05; empty where none was."""
    noted = landing.packs.path / UNTIL
    return noted.read_text(encoding="ascii").strip() if noted.exists() else ""


def compact(landing: Landing, month: str, kept: Kept) -> None:
    """Pack the documents that were last seen before a month, by source and month; then remove their single files.

    A document is removed from its own file only after its pack was written, flushed and read back. What the journal
    does not name (the user's own files) stays where it is.
    """
    singles = dict(landing.single_files())
    last_seen: dict[str, tuple[str, str, str]] = {}
    for entry in landing.entries():
        kept.n_lines_read += 1
        if entry.kind == "look":
            for document in entry.content["documents"]:
                at = document["fetched_at"]
                last_seen[document["sha256"]] = max(
                    last_seen.get(document["sha256"], ("", "", "")), (at[:7], entry.content["source"], at)
                )
    old = sorted((seen, sha256) for sha256, seen in last_seen.items() if seen[0] < month and sha256 in singles)

    def bodies(found: list[str]) -> Iterator[tuple[str, bytes]]:
        for sha256 in found:
            try:
                yield sha256, landing.body(sha256)
            except ChipledgerError:
                kept.damaged.append(sha256)

    for (its_month, source), group in groupby(old, key=lambda each: each[0][:2]):
        hashes = [sha256 for _, sha256 in group]
        fresh = [sha256 for sha256 in hashes if sha256 not in landing.packs]
        for pack, packed in landing.packs.write(its_month, source, bodies(fresh)):
            kept.n_packs += 1
            kept.bytes_after += pack.stat().st_size
            _forget_singles(packed, singles, kept)
        # A run killed between the two steps left these in both places.
        _forget_singles([sha256 for sha256 in hashes if _is_packed_well(landing, sha256, fresh)], singles, kept)
    _note(landing, month)


def _is_packed_well(landing: Landing, sha256: str, fresh: list[str]) -> bool:
    body = landing.packs.body(sha256) if sha256 not in fresh else None
    return body is not None and is_named(sha256, body)


def _forget_singles(hashes: list[str], singles: dict[str, Path], kept: Kept) -> None:
    for sha256 in hashes:
        file = singles[sha256]
        kept.n_documents += 1
        kept.bytes_before += file.stat().st_size
        file.unlink()


def _note(landing: Landing, month: str) -> None:
    landing.packs.path.mkdir(parents=True, exist_ok=True)
    noted = landing.packs.path / UNTIL
    part = noted.with_suffix(".part")
    part.write_text(f"{max(month, packed_until(landing))}\n", encoding="ascii")
    part.replace(noted)


def _removed(path: Path) -> str:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    return path.name
