"""Remove old pages of single days, and files that were replaced; documents are never removed."""

import logging
import re
import shutil
from datetime import datetime, timedelta
from pathlib import Path

from flows.config.settings import Settings
from warehouse.errors import ChipledgerError
from warehouse.publish.published_file import REPLACED

LOG = logging.getLogger(__name__)


def remove_old_files(settings: Settings, now: datetime) -> list[str]:
    """Remove what is older than [retention] allows; return the names. Raises SettingsError.

    The caller holds the writer's lock.
    """
    chosen = settings.retention
    removed = []
    if chosen.daily_pages_days:
        day = f"{now - timedelta(days=chosen.daily_pages_days):%Y-%m-%d}"
        pages = settings.data_dir.glob("reports/daily/[0-9]*-[0-9]*-[0-9]*.html")
        removed += [remove(page) for page in sorted(pages) if page.stem < day]
    if chosen.replaced_days:
        day = f"{now - timedelta(days=chosen.replaced_days):%Y%m%d}"
        for old in sorted((settings.data_dir / REPLACED).glob("*")):
            made = re.search(r"(\d{8})T\d{6}Z(\.\w+)*$", old.name)
            if made and made[1] < day:
                removed.append(remove(old))
    return removed


def after_run(settings: Settings, now: datetime) -> list[str]:
    """Remove old files after a run and return notes for its summary; a failure is a warning, as the run was good."""
    try:
        removed = remove_old_files(settings, now)
    except (ChipledgerError, OSError) as error:
        LOG.warning("retention: %s", error)
        return [f"retention: {error}"]
    return [f"old pages and replaced files removed: {len(removed):,}"] if removed else []


def remove(path: Path) -> str:
    """Remove a folder with all in it, or a file, where there is one; return the name."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    return path.name
