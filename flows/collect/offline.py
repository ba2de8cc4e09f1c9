"""The archive in the package has a directory and a clock of its own.

`run --offline` writes into `<data_dir>/offline`, and everything there is judged as of the archive's newest day. A log
that has fetches of the archive and of no live source is such a directory, wherever it lies; imports may be beside them.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

from extract import offline_archive, price_archive
from extract.base import IMPORTED, Source
from flows.shared import Clock
from warehouse.errors import ChipledgerError
from warehouse.log.events import naive

ARCHIVES = [offline_archive.NAME, price_archive.NAME]
"""The sources that are in the package."""
MAX_AGE = timedelta(days=90)
"""How long a price of the archive counts as current, in its own directory alone."""
NEWEST = """
select max(observed_at)
from (
    select observed_at from core.scope_run where list_contains(?, source) and status = 'ok'
    union all
    select valid_from from core.price_event where starts_with(source, ?) and valid_from <= ?
    union all
    select observed_at from core.sighting where starts_with(source, ?) and observed_at <= ?
)
"""


def as_of(con: duckdb.DuckDBPyConnection, now: datetime) -> datetime | None:
    """Return the moment against which ages in a log of the archive alone are judged; None for any other log.

    It is that of the archive's newest fetch, or of a newer observation that was imported and is not in the future.
    """
    if _has_live(con) or not _has_archive(con):
        return None
    imported, latest = IMPORTED, naive(now)
    row = con.execute(NEWEST, [ARCHIVES, imported, latest, imported, latest]).fetchone()
    return row[0].replace(tzinfo=UTC) if row and row[0] else None


def clock(con: duckdb.DuckDBPyConnection) -> Clock:
    """Return the clock of a run over the archive: its newest moment, or just after what the log learnt last."""
    row = con.execute("select max(recorded_at) from core.journal_position").fetchone()
    moment = price_archive.newest()
    if row and row[0]:
        moment = max(moment, row[0].replace(tzinfo=UTC) + timedelta(microseconds=1))
    return lambda: moment


def refuse_mixing(con: duckdb.DuckDBPyConnection, sources: Iterable[Source], folder: Path) -> None:
    """Raise ChipledgerError where live prices would come beside those of the archive alone, or the other way round.

    A log that has the older archive only was written before there was a directory for it: live prices may follow there.
    """
    kinds = {source.name in ARCHIVES for source in sources}
    if False in kinds and _has_archive(con, [price_archive.NAME]) and not _has_live(con):
        hint = "Name another with --data-dir, or move this one away"
        message = "this data directory holds the archive of the package, and live prices never mix with it"
        raise ChipledgerError(message, source=str(folder), field="data_dir", value=folder.name, hint=hint)
    if True in kinds and _has_live(con):
        hint = "`chipledger run --offline` keeps the archive in a directory of its own, offline/"
        message = "this data directory holds live prices, and the archive of the package never mixes with them"
        raise ChipledgerError(message, source=str(folder), field="data_dir", value=folder.name, hint=hint)


def _has_archive(con: duckdb.DuckDBPyConnection, names: Sequence[str] = ARCHIVES) -> bool:
    sql = "select 1 from log.scope_fetch where status is not null and list_contains(?, source) limit 1"
    return con.execute(sql, [list(names)]).fetchone() is not None


def _has_live(con: duckdb.DuckDBPyConnection) -> bool:
    others = "not list_contains(?, source) and not starts_with(source, ?)"
    sql = f"select 1 from log.scope_fetch where status is not null and {others} limit 1"
    return con.execute(sql, [ARCHIVES, IMPORTED]).fetchone() is not None
