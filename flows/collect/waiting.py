"""What waits in the quarantine: which rows a person chose, and the decision on each of them."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from flows.collect.steps import Run
from flows.config.settings import Settings
from flows.shared import query
from warehouse import disk
from warehouse.errors import ChipledgerError, SettingsError, WriterBusy
from warehouse.log import db
from warehouse.log.events import naive

OF_FILE = "This is what the published file has: {}"
ALLOWED = "Name ids, --source, --older-than or --all"


def listed(settings: Settings, published: Callable[[], Path], *, everything: bool) -> tuple[list[dict[str, Any]], str]:
    """Return the rows of the log, and "": it has them also where nothing was published.

    Where no log can be opened for writing here, they are those of the published file, and the second says why.
    """
    place, why = settings.place(), "there is no log here"
    if place.is_shared or (place.data_dir / db.FILE_NAME).exists():
        try:
            with disk.faults(place.data_dir), db.open_log(place, wait_seconds=settings.wait_seconds) as con:
                return query.refused(con, everything=everything), ""
        except (WriterBusy, disk.DiskFault) as error:
            why = error.message
    with duckdb.connect(str(published()), read_only=True) as con:
        return query.refused(con, everything=everything), OF_FILE.format(why)


def chosen(
    rows: list[dict[str, Any]], sources: Collection[str], older_than: int | None, now: datetime
) -> list[dict[str, Any]]:
    """Return the rows of these sources (none: of all), seen more than so many days before `now` (None: ever)."""
    latest = None if older_than is None else naive(now) - timedelta(days=older_than)
    return [
        row
        for row in rows
        if (not sources or row["source"] in sources) and (latest is None or row["observed_at"] < latest)
    ]


def decide(
    run: Run,
    decision: str,
    ids: Collection[int],
    *,
    sources: Collection[str] = (),
    older_than: int | None = None,
    everything: bool = False,
) -> int:
    """Decide the rows named by ids, or all open ones of sources and an age, and return how many they are.

    Of rows named by ids the first that cannot be decided raises ChipledgerError; of others it is a note of the run.
    A decision may settle more than its row: what is settled by then is left out.
    """
    is_by_rule = bool(sources) or older_than is not None or everything
    if not (ids or is_by_rule):
        raise SettingsError("nothing was chosen", source="quarantine", field="quarantine_id", hint=ALLOWED)
    for quarantine_id in ids:
        run.decide(quarantine_id, decision)
    refused = query.refused(run.con, everything=False) if is_by_rule else []
    wanted = chosen(refused, sources, older_than, run.started_at)
    for row in wanted:
        if row["quarantine_id"] not in {each["quarantine_id"] for each in query.refused(run.con, everything=False)}:
            continue
        try:
            run.decide(row["quarantine_id"], decision)
        except ChipledgerError as error:
            run.summary.notes.append(f"{row['quarantine_id']} is left open: {error.message}")
    n_chosen = len(ids) + len(wanted)
    run.summary.notes.append(f"{n_chosen:,} chosen: {decision}")
    return n_chosen
