"""Documents put into a log by tests that load looks without a landing."""

from collections.abc import Sequence

import duckdb

from warehouse.log.db import insert_rows
from warehouse.log.events import naive
from warehouse.log.parsed import ParsedFetch


def add_documents(con: duckdb.DuckDBPyConnection, *looks: ParsedFetch, urls: Sequence[str | None] = ()) -> None:
    """Record the documents of looks, from addresses in their order; those without one have no size either."""
    ((last,),) = con.execute("select coalesce(max(document_no), 0) from log.document").fetchall()
    rows = [
        (last + 1 + place, each.document_sha256, each.source, each.scope, urls[place] if urls else None,
         naive(each.observed_at), 100 if urls else None, naive(each.observed_at))
        for place, each in enumerate(looks)
    ]  # fmt: skip
    insert_rows(
        con,
        "log.document (document_no, document_sha256, source, scope, url, fetched_at, size_bytes, recorded_at)",
        rows,
    )
