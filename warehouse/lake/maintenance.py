"""Keeping a lake small: little files become large ones, and what no publication needs any more goes after some days."""

from datetime import UTC, datetime, timedelta

import duckdb

from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake, publication

ENDED = (
    "delete from log.price_open as p using log.price_open as l "
    "where p.offer_no = l.offer_no and p.source = l.source and p.valid_from < l.valid_from"
)
"""Removes the open prices in whose place others stand."""
FORGET = "delete from meta.publication where published_at = ? and snapshot_id = ?"
GRACE = timedelta(days=1)
"""Files that nothing names any more stay for so long: a question that began before may still read them."""


def maintain(con: duckdb.DuckDBPyConnection, *, days: int, now: datetime) -> list[str]:
    """Merge small files, and let what is older than so many days expire; return what was done, for people.

    The newest publication stays, and so do the snapshots that publications were built from. Writers go on meanwhile;
    nobody publishes. `now` is aware. Raises ChipledgerError.
    """
    shared = ducklake.of(con)
    if shared is None:
        raise ChipledgerError("a file needs no maintenance", source="settings", field="warehouse.url", value="duckdb:")
    oldest = (now.astimezone(UTC) - timedelta(days=days)).replace(tzinfo=None)
    with shared.lock("publish"):
        shared.renew()
        before = _n_files(con)
        ducklake.transacted(con, lambda: con.execute(ENDED))
        flushed = con.execute(f"call ducklake_flush_inlined_data('{ducklake.NAME}')").fetchall()
        con.execute(f"call ducklake_merge_adjacent_files('{ducklake.NAME}')").fetchall()
        kept = publication.listed(con)
        gone = [each for each in kept[:-1] if each.published_at < oldest]
        kept = [each for each in kept if each not in gone]
        if gone:
            named = {each.sha256 for each in kept}
            # Forgotten last: what could not be removed is tried again.
            publication.remove(shared.place, [each for each in gone if each.sha256 not in named])
            ids = [[each.published_at, each.snapshot_id] for each in gone]
            ducklake.transacted(con, lambda: con.executemany(FORGET, ids))
        expired = _expire(con, {each.snapshot_id for each in kept}, oldest)
        deleted = con.execute(
            f"call ducklake_cleanup_old_files('{ducklake.NAME}', older_than => ?::TIMESTAMPTZ)", [now - GRACE]
        ).fetchall()
        n_rows = sum(row[-1] for row in flushed)
        return [
            f"files of rows: {before:,}, now {_n_files(con):,}; rows that the catalogue held: {n_rows:,}",
            f"expired snapshots: {expired:,}; publications: {len(gone):,}; old files deleted: {len(deleted):,}",
        ]


def _expire(con: duckdb.DuckDBPyConnection, kept: set[int], oldest: datetime) -> int:
    newest = ducklake.snapshot(con)
    rows = con.execute(
        f"select snapshot_id from {ducklake.NAME}.snapshots() where snapshot_time::TIMESTAMP < ? order by all", [oldest]
    ).fetchall()
    old = [number for (number,) in rows if number not in kept and number != newest]
    if old:
        # Numbers of our own: a CALL takes no bound list.
        numbers = ", ".join(str(number) for number in old)
        con.execute(f"call ducklake_expire_snapshots('{ducklake.NAME}', versions => [{numbers}])").fetchall()
    return len(old)


def _n_files(con: duckdb.DuckDBPyConnection) -> int:
    ((n_files,),) = con.execute(f"select sum(file_count) from ducklake_table_info('{ducklake.NAME}')").fetchall()
    return int(n_files or 0)
