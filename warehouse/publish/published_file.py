"""The published file: amended by what the log has learnt, or built from nothing, verified, and renamed into place.

Readers may keep the old file open all the while; they see the old data until they open it again. The log's file is
never copied while it is open, and never opened a second time by the process that has it open: both drop DuckDB's lock.
"""

import os
import shutil
import tomllib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import datetime
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from warehouse import disk
from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake, publication
from warehouse.log.db import quote
from warehouse.log.events import naive
from warehouse.publish import amending, building
from warehouse.publish.frame import Contents

FILE_NAME = "prices.duckdb"
REPLACED = "replaced"
"""Folder of the data directory for what was replaced; each name ends in its day, after which it is removed."""


def publish(
    con: duckdb.DuckDBPyConnection,
    data_dir: Path,
    *,
    built_at: datetime,
    version: str,
    from_nothing: bool = False,
    new_history: bool = False,
    snapshot_id: int | None = None,
    **contents: Any,
) -> Path:
    """Build `prices.duckdb` in `data_dir` from the log in `con` and return its path.

    Of a lake it is put where all its readers find it, too, unless it is built in another folder than the lake's own
    data directory, for inspection; one process publishes at a time. `snapshot_id`: not of its newest snapshot.
    `contents` are those of frame.Contents. `from_nothing`: the last file is not amended; nor is one of another
    version, or of another `code` where two states of it have one version. `new_history`: the last file may be of
    another history, or have more recorded events; then it is kept in the folder `replaced`.
    The file appears whole or not at all; where a check fails, ChipledgerError says which, and the old file stays.
    """
    amended: Mapping[str, int] | None = None
    n_rows: Mapping[str, int] = {}

    def build(part: Path) -> None:
        what = Contents(**contents)
        made = building.Made(contents=what, built_at=built_at, version=version, snapshot_id=snapshot_id)
        nonlocal amended, n_rows
        amended = None if from_nothing else amending.amend(con, part, made, before=data_dir / FILE_NAME)
        n_rows = amended or building.build(con, part, made)

    def verify(part: Path) -> None:
        # What was amended is of the history of the file before, and has all of its events.
        other = None if amended else other_history(part, data_dir / FILE_NAME)
        if other and not new_history:
            raise other
        _verify(part, n_rows)
        if other:
            set_aside(data_dir / FILE_NAME, naive(built_at))

    shared = ducklake.of(con)
    if shared is None:
        return make_whole(data_dir / FILE_NAME, build=build, verify=verify)
    is_own = data_dir == shared.place.data_dir
    with shared.lock("publish") if is_own else nullcontext():
        shared.renew()
        snapshot_id = snapshot_id or ducklake.snapshot(con)
        file = make_whole(data_dir / FILE_NAME, build=build, verify=verify)
        if is_own:
            publication.put(con, file, built_at=naive(built_at), snapshot_id=snapshot_id, version=version)
    return file


def other_history(
    new: Path, standing: Path, *, unless: str = "chipledger build --new-history"
) -> ChipledgerError | None:
    """Return why a new file must not replace the one that stands: another history, or fewer recorded events.

    None where it may. Events count as they were recorded, retracted ones too, so that they are never fewer. A standing
    file of an earlier version has no id; one that cannot be opened, or is none of ours, says nothing. `unless` is the
    command by which it is replaced all the same. Raises DiskFault.
    """
    if (before := _recorded(standing)) is None or (after := _recorded(new)) is None:
        return None
    is_another = before.history_id is not None and before.history_id != after.history_id
    if not is_another and before.n_events <= after.n_events:
        return None
    return ChipledgerError(
        f"not published: {'another history' if is_another else 'fewer recorded events'} than the standing file has",
        source=str(standing),
        field="history_id" if is_another else "recorded events",
        value=f"{after} would replace {before}",
        hint="See that landing/ and build.duckdb are what they were (a disk that is not mounted, an empty volume), or "
        f"`chipledger data restore` a backup. Where this is meant, `{unless}` keeps the old file in {REPLACED}/",
    )


class _Recorded(NamedTuple):
    """What a published file says of the history in it; an earlier version gave no id."""

    history_id: str | None
    n_events: int

    def __str__(self) -> str:
        name = f"history {self.history_id[:12]}" if self.history_id else "a history without id"
        return f"{name} with {self.n_events:,} events"


def _recorded(file: Path) -> _Recorded | None:
    if not file.is_file():
        return None
    with duckdb.connect() as con:
        try:
            con.execute(f"attach {quote(str(file))} as recorded (read_only); use recorded")
            ids = "from meta.build union all by name select null::VARCHAR as history_id"
            events = "(select fetch_no from log.begun_link union all select fetch_no from log.price_other)"
            numbered = con.execute("from duckdb_views() where view_name = 'begun_link'").fetchall()
            counted = f"(select count(*) from {events if numbered else 'core.price_event'})"
            return _Recorded(*con.execute(f"select max(history_id), {counted} from ({ids})").fetchall()[0])
        except duckdb.Error as error:
            if disk.is_fault(error):
                raise
            return None


def set_aside(file: Path, now: datetime) -> Path:
    """Give a file a second name in the folder `replaced` next to it, where it stays when it is replaced; return it."""
    folder = file.parent / REPLACED
    folder.mkdir(exist_ok=True)
    stem = f"{file.stem}-{now:%Y%m%dT%H%M%SZ}"
    names = (folder / f"{stem}{f'.{number}' * (number > 1)}{file.suffix}" for number in count(1))
    target = next(name for name in names if not name.exists())
    try:
        os.link(file, target)
    except OSError:  # a disk that has no links
        shutil.copy2(file, target)
    return target


def make_whole(
    target: Path, *, build: Callable[[Path], None], verify: Callable[[Path], None], mode: int = 0o444
) -> Path:
    """Build a file next to its target, verify it, flush it and rename it, so that it appears whole or not at all.

    The caller holds the writer's lock. Whatever is raised leaves the old file as it was.
    """
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    for left in target.parent.glob(f"{target.name}.*.part*"):  # by killed runs; nobody else writes now
        left.unlink(missing_ok=True)
    try:
        build(part)
        verify(part)
        _put_in_place(part, target, mode)
    finally:
        part.unlink(missing_ok=True)
    return target


def differing(one: Path, other: Path) -> list[str]:
    """Return the tables whose rows are not the same in two published files; nothing of how it was built."""
    with duckdb.connect() as con:
        con.execute(f"attach {quote(str(one))} as one (read_only)")
        con.execute(f"attach {quote(str(other))} as other (read_only)")
        names = con.execute(
            "select distinct schema_name || '.' || table_name as name from duckdb_tables() "
            "where database_name in ('one', 'other') and schema_name <> 'meta' order by name"
        ).fetchall()
        return [name for (name,) in names if _digest(con, f"one.{name}") != _digest(con, f"other.{name}")]


def _digest(con: duckdb.DuckDBPyConnection, table: str) -> tuple[object, ...] | None:
    try:
        return con.execute(f"select count(*), sum(hash(t)::HUGEINT), bit_xor(hash(t)) from {table} as t").fetchone()
    except duckdb.CatalogException:
        return None


_CHECKED = tomllib.loads((files("warehouse.publish") / "checks.toml").read_text(encoding="utf-8"))
CHECKS = tuple(_CHECKED["checks"].items())
"""What must hold of every published file: each is a name and a SELECT that must give no row."""


def _verify(part: Path, n_rows: Mapping[str, int]) -> None:
    """Open the finished file anew, as a reader would, count its rows, run every check, and read every table.

    `n_rows` are those of its tables when it was made. Of an amended file what may differ from the one before is
    checked. Views are bound where a frame is made.
    """
    with duckdb.connect(str(part), read_only=True) as con:
        ((since,),) = con.execute("select changed_from from meta.build").fetchall()
        if since:
            con.execute("set threads = 1")
        found = building.count_rows(con)
        lost = [f"{name} has {found.get(name, 0)} of {n} rows" for name, n in n_rows.items() if found.get(name) != n]
        if lost:
            raise ChipledgerError(
                "not published: the file is not what was written",
                source=part.name,
                field="rows",
                value=", ".join(lost),
                hint="The last published file stays in place; run the same command again",
            )

        def check(name: str, query: str) -> None:
            for table, at in _CHECKED["changed"].items() if since else ():
                query = query.replace(f"from {table}", f"from (from {table} where {at} >= '{since}')")
            with con.cursor() as own:
                row = own.execute(f"{query} limit 1").fetchone()
            if row:
                raise ChipledgerError(
                    f"not published: {name}",
                    source=part.name,
                    field="check",
                    value=str(row[0]),
                    hint="The last published file stays in place; `chipledger data rebuild` makes the log anew",
                )

        def read(table: str) -> None:
            with con.cursor() as own:
                own.execute(f"from {table if '.' in table else f'int.{table}'} limit 1").fetchall()

        tables = con.execute("select name from meta.model where is_table").fetchall()
        with ThreadPoolExecutor(2) as pool:
            checked = [pool.submit(check, *each) for each in CHECKS]
            checked += [pool.submit(read, table) for (table,) in tables]
            for each in checked:
                each.result()


def _put_in_place(part: Path, target: Path, mode: int) -> None:
    part.chmod(mode)
    disk.flush(part)
    # A .wal left next to the target would be replayed into the new file.
    target.with_name(target.name + ".wal").unlink(missing_ok=True)
    part.replace(target)
    disk.flush(target.parent)
