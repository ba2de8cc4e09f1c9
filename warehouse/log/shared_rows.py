"""Rows that fetches at several scopes bring alike: offers, and documents. Each is in the log once, with its number.

Where one process writes, they are appended as everything is. Where several do, in a short transaction of their own
under one lock, so that no two add the same one; where none is new, as on most days, no lock is acquired.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import duckdb

from warehouse.documents import WHOLE_HASHES, Whole
from warehouse.errors import ChipledgerError
from warehouse.frames import shown
from warehouse.lake import ducklake
from warehouse.log.db import insert_rows
from warehouse.schema import tables

DOCUMENT = (
    *("document_sha256", "source", "scope", "url", "parameters", "version_key", "fetched_at", "published_at"),
    *("size_bytes", "whole_size_bytes"),
    *(f"whole_{name}" for name in WHOLE_HASHES),
)


def append_offers(con: duckdb.DuckDBPyConnection, *, recorded_at: datetime) -> None:
    """Append the offers of `observed_row` that the log does not hold. Raises ChipledgerError where two share an id.

    `added_offer` has the numbers of those that the caller's transaction may not see. `recorded_at` is naive UTC; the
    caller holds a transaction.
    """
    shared = _of_several(con)
    identity = ", ".join(tables.IDENTITY)
    new = (
        f"select r.offer_id, {identity}, min(sku_id) as sku_id, min(sku_price_id) as sku_price_id, "
        "?::TIMESTAMP as recorded_at, ((select coalesce(max(offer_no), 0) from core.offer) "
        "+ row_number() over (order by r.offer_id))::INTEGER as offer_no from {rows} as r "
        "semi join (select offer_id from {rows} anti join core.offer using (offer_id)) as n on r.offer_id = n.offer_id "
        f"group by r.offer_id, {identity}"
    )
    con.execute("create or replace temp table added_offer (offer_id BIGINT, offer_no INTEGER)")
    if shared is None:
        con.execute(f"insert into core.offer by name {new.format(rows='observed_row')}", [recorded_at])
        _refuse_shared_ids(con, "observed_row")
        return
    _refuse_shared_ids(con, "observed_row")
    import polars as pl

    rows = pl.DataFrame(con.sql(new.format(rows="observed_row"), params=[recorded_at]))
    if len(rows):
        with shared.shared_rows() as other, shown(other, "new_offer", rows):
            other.execute(f"insert into core.offer by name {new.format(rows='new_offer')}", [recorded_at])
            _refuse_shared_ids(other, "new_offer")
            added = other.execute(
                "select o.offer_id, o.offer_no from core.offer as o semi join new_offer as n on o.offer_id = n.offer_id"
            ).fetchall()
        insert_rows(con, "added_offer", added)


def free_number(con: duckdb.DuckDBPyConnection, n_numbers: int) -> int:
    """Return the first of so many numbers of fetches that nobody else gives; the caller holds a transaction."""
    shared = _of_several(con)
    if shared is not None:
        return shared.reserve(n_numbers)
    (last,) = con.execute("select coalesce(max(fetch_no), 0) from log.scope_fetch").fetchone() or (0,)
    return int(last) + 1


def name_documents(con: duckdb.DuckDBPyConnection, hashes: Iterable[str | None]) -> None:
    """Make `named_document`: the number of the document of each hash (document_sha256, document_no).

    Of a hash that nothing was recorded of, the log keeps the hash alone. The caller holds no transaction.
    """
    wanted = sorted({each for each in hashes if each is not None})
    con.execute("create or replace temp table wanted_document (document_sha256 VARCHAR)")
    insert_rows(con, "wanted_document", [(each,) for each in wanted])
    _find_documents(con)
    (n_named,) = con.execute("select count(*) from named_document").fetchone() or (0,)
    if n_named == len(wanted):
        return
    import polars as pl

    with _shared_rows(con) as other, shown(other, "wanted_hash", pl.DataFrame({"document_sha256": wanted})):
        other.execute(
            "insert into log.document by name select ((select coalesce(max(document_no), 0) from log.document) "
            "+ row_number() over (order by w.document_sha256))::INTEGER as document_no, w.document_sha256 "
            "from wanted_hash as w anti join log.document as d on w.document_sha256 = d.document_sha256"
        )
    _find_documents(con)


def _find_documents(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "create or replace temp table named_document as select d.document_sha256, min(d.document_no) as document_no "
        "from log.document as d semi join wanted_document as w on d.document_sha256 = w.document_sha256 group by all"
    )


@contextmanager
def _shared_rows(con: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection for rows that several writers may add; of a file the same one, in a transaction."""
    shared = ducklake.of(con)
    if shared is None:
        with ducklake.transaction(con):
            yield con
        return
    shared.renew()
    with shared.shared_rows() as other:
        yield other


def append_documents(
    con: duckdb.DuckDBPyConnection, fetches: Iterable[Mapping[str, Any]], *, recorded_at: datetime
) -> None:
    """Append the documents of journalled fetches that the log does not hold; `recorded_at` is naive UTC.

    A document is one where its bytes and its address are: the first of several counts. The caller holds no
    transaction.
    """
    rows: dict[tuple[object, object], list[object]] = {}
    for fetch in fetches:
        for document in fetch["documents"]:
            rows.setdefault((document["sha256"], document["url"]), [*_document(fetch, document), recorded_at])
    if not _absent(con, rows):
        return
    with _shared_rows(con) as other:
        (last,) = other.execute("select coalesce(max(document_no), 0) from log.document").fetchone() or (0,)
        new = [[last + place, *row] for place, row in enumerate(_absent(other, rows), start=1)]
        insert_rows(other, f"log.document (document_no, {', '.join(DOCUMENT)}, recorded_at)", new)


def _document(fetch: Mapping[str, Any], document: Mapping[str, Any]) -> list[object]:
    """Return a document of a journalled fetch as a row of the columns DOCUMENT."""
    whole = Whole.of(document["whole"])
    return [
        document["sha256"],
        fetch["source"],
        fetch["scope"],
        document["url"],
        json.dumps(document["parameters"], sort_keys=True) if document["parameters"] else None,
        document["version_key"] or None,
        _moment(document["fetched_at"]),
        _moment(document["published_at"]) if document["published_at"] else None,
        document["size"],
        whole.size if whole else None,
        *(whole.digest if whole and whole.algorithm == name else None for name in WHOLE_HASHES),
    ]


def _moment(text: str) -> datetime:
    """Return a moment of the journal as naive UTC."""
    return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)


def _absent(con: duckdb.DuckDBPyConnection, rows: Mapping[tuple[object, object], list[object]]) -> list[list[object]]:
    known = set(
        con.execute(
            "select document_sha256, url from core.document "
            "where document_sha256 in (select unnest(from_json(?, '[\"VARCHAR\"]')))",
            [json.dumps(sorted({str(sha256) for sha256, _ in rows}))],
        ).fetchall()
    )
    return [row for key, row in rows.items() if key not in known]


def _of_several(con: duckdb.DuckDBPyConnection) -> ducklake.Lake | None:
    """Return the lake where other transactions run at the same time; a catalogue in SQLite has one at a time."""
    shared = ducklake.of(con)
    return shared if shared is not None and shared.place.is_postgres else None


def _refuse_shared_ids(con: duckdb.DuckDBPyConnection, rows: str) -> None:
    """Raise where one id has two offers: with 52 bits that is a matter of luck, so it is checked."""
    found = f"select offer_id, hash({', '.join(tables.IDENTITY)}) as identity_hash from"
    clash = con.execute(
        f"select r.offer_id from ({found} {rows}) as r inner join ({found} core.offer) as o using (offer_id) "
        "where r.identity_hash <> o.identity_hash limit 1"
    ).fetchone()
    if clash:
        raise ChipledgerError("two offers have one id", source="core.offer", field="offer_id", value=str(clash[0]))
