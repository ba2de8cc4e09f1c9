"""Moving a log, and what was landed, from one warehouse into another that is empty; both are compared afterwards."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

import duckdb

from warehouse.errors import ChipledgerError, count
from warehouse.lake import ducklake
from warehouse.landing.folder import Landing
from warehouse.log import content
from warehouse.log.content import TableHash
from warehouse.log.db import insert_rows

MADE = {"core.instance_type", "meta.migration", "meta.made", "meta.publication", "meta.reserved"}
"""Tables that each warehouse makes for itself."""
READ_AS = {"log.price_open": "log.open_link"}
"""Tables of which a lake holds rows that no longer count, and the views that leave them out."""
POSITION = "core.journal_position"
LINES = 1000
"""Lines of the journal that are written at once."""


@dataclass(frozen=True, kw_only=True)
class Landed:
    """What was copied of a landing: documents and their bytes, lines of the journal, and documents that are not there.

    `ends` are the positions after the last line of each part, in the target.
    """

    n_documents: int
    n_bytes: int
    n_lines: int
    missing: tuple[str, ...]
    ends: Mapping[str, int]


def tables(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of the tables that a move copies, in order."""
    rows = con.execute(
        "select schema_name || '.' || table_name from duckdb_tables() "
        "where database_name = current_database() and schema_name in ('core', 'log', 'meta') order by all"
    ).fetchall()
    return [name for (name,) in rows if name not in MADE]


def refuse_full(con: duckdb.DuckDBPyConnection, where: str) -> None:
    """Raise ChipledgerError where a log holds a row of its own."""
    for name in tables(con):
        ((n_rows,),) = con.execute(f"select count(*) from {name}").fetchall()
        if n_rows:
            message = "the target holds something already"
            hint = "Name an empty one: nothing is ever mixed or written over"
            raise ChipledgerError(message, source=where, field=name, value=count(n_rows, "row"), hint=hint)


def refuse_landed(landing: Landing) -> None:
    """Raise ChipledgerError where a landing holds a journal."""
    if landing.parts():
        raise ChipledgerError(
            "the target's landing holds a journal already",
            source=str(landing.place),
            field="warehouse.landing",
            value=f"{len(landing.parts())} parts",
            hint="Name an empty place, or the source's own to share it",
        )


def copy_tables(
    source: duckdb.DuckDBPyConnection, target: duckdb.DuckDBPyConnection, *, ends: Mapping[str, int] | None
) -> None:
    """Copy all rows of a log into an empty one, in one transaction. Raises ChipledgerError.

    `ends` are the journal's positions in the target; None where both read the same journal.
    """
    names = tables(source)
    if names != tables(target):
        differing = sorted({*names} ^ {*tables(target)})
        raise ChipledgerError("the two logs have other tables", source="migrate", field="table", value=differing[0])

    def copied() -> None:
        for name in names:
            if name == POSITION and ends is not None:
                ((at,),) = source.execute(f"select max(recorded_at) from {POSITION}").fetchall()
                insert_rows(target, POSITION, [(end, at, part) for part, end in ends.items()])
                continue
            target.register("moved", source.execute(f"from {READ_AS.get(name, name)}").to_arrow_reader(1 << 16))
            try:
                target.execute(f"insert into {name} by name select * from moved")
            finally:
                target.unregister("moved")

    ducklake.transacted(target, copied)


def hashes(con: duckdb.DuckDBPyConnection, *, without: tuple[str, ...] = ()) -> dict[str, TableHash]:
    """Return the hash of each table that a move copies."""
    found = content.tables(con, ("core", "log", "meta"))
    return {name: found[READ_AS.get(name, name)] for name in tables(con) if name not in without}


def copy_landing(source: Landing, target: Landing) -> Landed:
    """Copy the journal, line by line, and every document it names, each checked by its hash. Raises ChipledgerError.

    What the journal does not name is the user's own, and stays.
    """
    known: dict[str, None] = {}
    for entry in source.entries():
        if entry.kind == "look":
            known |= dict.fromkeys(document["sha256"] for document in entry.content["documents"])
    missing: list[str] = []
    n_bytes = 0
    for sha256 in known:
        try:
            body = source.body(sha256)
        except ChipledgerError:
            missing.append(sha256)
            continue
        n_bytes += len(body)
        target.store_body(sha256, body)
    n_lines, ends = 0, {}
    for part in source.parts():
        lines = (line.rstrip(b"\n") for line, _ in source.journal_parts.lines(part, 0))
        while batch := list(islice(lines, LINES)):
            target.journal_parts.append(part, b"\n".join(batch))
            n_lines += len(batch)
        ends[part] = _compared(source, target, part)
    return Landed(
        n_documents=len(known) - len(missing), n_bytes=n_bytes, n_lines=n_lines, missing=tuple(missing), ends=ends
    )


def _compared(source: Landing, target: Landing, part: str) -> int:
    """Return the position after a part's last line in the target; raise ChipledgerError where the lines differ."""
    end, digests = 0, (hashlib.sha256(), hashlib.sha256())
    for landing, digest in zip((source, target), digests, strict=True):
        for line, end in landing.journal_parts.lines(part, 0):  # noqa: B007 - its last value is returned
            digest.update(line.rstrip(b"\n") + b"\n")
    if digests[0].digest() != digests[1].digest():
        message = "the journal was written to while it was copied, or not copied whole"
        hint = "End all runs, empty the target, and migrate again"
        raise ChipledgerError(message, source=str(target.place), field="part", value=part, hint=hint)
    return end
