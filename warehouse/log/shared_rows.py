"""Rows that fetches at several scopes bring alike: offers, and documents. Each is in the log once.

Where one process writes, they are appended as everything is. Where several do, in a short transaction of their own
under one lock, so that no two add the same one; where none is new, as on most days, no lock is acquired.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from typing import Any

import duckdb

from warehouse.documents import WHOLE_HASHES, Whole
from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake
from warehouse.log.db import insert_rows
from warehouse.schema import tables

DOCUMENT = (
    "document_sha256",
    "source",
    "scope",
    "url",
    "parameters",
    "version_key",
    "fetched_at",
    "published_at",
    "size_bytes",
    "whole_size_bytes",
    *(f"whole_{name}" for name in WHOLE_HASHES),
)


def append_offers(con: duckdb.DuckDBPyConnection, *, recorded_at: datetime) -> None:
    """Append the offers of `observed_row` that the log does not hold. Raises ChipledgerError where two share an id.

    `recorded_at` is naive UTC; the caller holds a transaction.
    """
    shared = _of_several(con)
    identity = ", ".join(tables.IDENTITY)
    new = (
        f"select offer_id, {identity}, min(sku_id) as sku_id, min(sku_price_id) as sku_price_id, "
        "?::TIMESTAMP as recorded_at from {rows} as r "
        f"where not exists (select 1 from core.offer as o where o.offer_id = r.offer_id) group by offer_id, {identity}"
    )
    if shared is None:
        con.execute(f"insert into core.offer by name {new.format(rows='observed_row')}", [recorded_at])
        _refuse_shared_ids(con, "observed_row")
        return
    _refuse_shared_ids(con, "observed_row")
    rows = con.execute(new.format(rows="observed_row"), [recorded_at]).to_arrow_table()
    if rows.num_rows:
        with shared.shared_rows() as other:
            other.register("new_offer", rows)
            other.execute(f"insert into core.offer by name {new.format(rows='new_offer')}", [recorded_at])
            _refuse_shared_ids(other, "new_offer")


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
    new = _absent(con, rows)
    if not new:
        return
    shared = ducklake.of(con)
    if shared is not None:
        shared.renew()
    ways: AbstractContextManager[duckdb.DuckDBPyConnection] = shared.shared_rows() if shared else nullcontext(con)
    with ways as other:
        insert_rows(
            other, f"core.document ({', '.join(DOCUMENT)}, recorded_at)", _absent(other, rows) if shared else new
        )


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
            "select document_sha256, url from core.document where document_sha256 in (select unnest(?::VARCHAR[]))",
            [sorted({str(sha256) for sha256, _ in rows})],
        ).fetchall()
    )
    return [row for key, row in rows.items() if key not in known]


def _of_several(con: duckdb.DuckDBPyConnection) -> ducklake.Lake | None:
    """Return the lake where other transactions run at the same time; a catalogue in SQLite has one at a time."""
    shared = ducklake.of(con)
    return shared if shared is not None and shared.place.is_postgres else None


def _refuse_shared_ids(con: duckdb.DuckDBPyConnection, rows: str) -> None:
    """Raise where one id has two offers: with 52 bits that is a matter of luck, so it is checked."""
    same = " and ".join(f"o.{name} is not distinct from r.{name}" for name in tables.IDENTITY)
    clash = con.execute(
        f"select r.offer_id from {rows} as r inner join core.offer as o using (offer_id) where not ({same}) limit 1"
    ).fetchone()
    if clash:
        raise ChipledgerError("two offers have one id", source="core.offer", field="offer_id", value=str(clash[0]))
