"""From accepted rows to the log: offers, price events, sightings. The caller holds the transaction.

Rows are staged in the temporary table `observed_row`; the SELECTs under `sql/load/` do the rest, each into a temporary
table of its file's name, so that every step can be inspected.
"""

from datetime import UTC, datetime

import duckdb
import polars as pl

from warehouse.log.db import sql
from warehouse.log.shared_rows import append_offers

STEPS = ("old_point", "confirmation", "fresh_point", "held_point", "new_event")


def stage_rows(con: duckdb.DuckDBPyConnection, rows: pl.DataFrame) -> None:
    """Put typed rows into `observed_row`, numbered and with the ids of their offers.

    Beside `schemas.OBSERVATION` they have `source`, `scope`, `observed_at`, `document_sha256`, `is_archived`,
    `fetch_number`, and `refusal_number`: set where a gate refused the amounts, so that only the id is wanted.
    """
    con.register("accepted_row", rows.with_row_index("row_number").to_arrow())
    con.execute(f"create or replace temp table observed_row as {sql('load/observed_row.sql')}")
    con.unregister("accepted_row")
    _read_state(con)


def _read_state(con: duckdb.DuckDBPyConnection) -> None:
    """Make `offer_state` and `last_price`: the log's last state of each offer, and its last price of those observed."""
    con.execute(f"create or replace temp table offer_state as {sql('load/offer_state.sql')}")
    _touch(
        con,
        "select distinct r.offer_id, r.source from observed_row as r inner join offer_state as s "
        "on r.offer_id = s.offer_id and r.source = s.source where not s.is_plain",
    )
    con.execute(f"create or replace temp table last_price as {sql('load/last_price.sql')}")


def _touch(con: duckdb.DuckDBPyConnection, offers: str) -> None:
    """Make `touched_event`, the events of the offers (offer_id, source) that a SELECT gives, and `touched_point` of it.

    What follows from few offers is computed from their events alone, by the same text as from the whole log.
    """
    con.execute(f"create or replace temp table touched as {offers}")
    con.execute(
        "create or replace temp table touched_event as select e.* from core.price_event as e "
        "semi join touched as t on e.offer_id = t.offer_id and e.source = t.source"
    )
    point = sql("price_point.sql").replace("core.price_event", "touched_event")
    con.execute(f"create or replace temp macro touched_point(moment) as table {point}")


def start_fetches(con: duckdb.DuckDBPyConnection) -> None:
    """Make `new_fetch` and `new_refusal`, empty: the fetches that count, and what a gate refused of them."""
    con.execute(
        "create or replace temp table new_fetch "
        "(fetch_number BIGINT, source VARCHAR, scope VARCHAR, observed_at TIMESTAMP, complete BOOLEAN, "
        "document_sha256 VARCHAR)"
    )
    con.execute("create or replace temp table new_refusal (offer_id BIGINT, source VARCHAR, observed_at TIMESTAMP)")


def append_events(con: duckdb.DuckDBPyConnection, *, recorded_at: datetime) -> dict[tuple[str, str], int]:
    """Append what `observed_row` and `new_fetch` add to the log; return the number of events by source and scope.

    `new_fetch` holds the fetches that count (fetch_number, source, scope, observed_at, complete, document_sha256),
    `new_refusal` what a gate refused of them. `recorded_at` is naive UTC. Raises ChipledgerError where two offers share
    an id.
    """
    append_offers(con, recorded_at=recorded_at)
    con.execute(
        "create or replace temp table new_observation as select offer_id, source, scope, observed_at, unit_price, "
        "upfront_price, document_sha256 from observed_row"
    )
    _touch(con, sql("load/absent_offer.sql"))
    con.execute(f"insert into new_observation {sql('load/absence.sql')}")
    con.execute(f"delete from new_observation where (offer_id, source) in ({sql('load/nothing_new.sql')})")
    _touch(con, "select distinct offer_id, source from new_observation")
    for name in STEPS:
        con.execute(f"create or replace temp table {name} as {sql(f'load/{name}.sql')}")
    con.execute(
        "insert into core.price_event by name select *, ?::TIMESTAMP as recorded_at, "
        "null::TIMESTAMP as retracts_recorded_at from new_event order by offer_id, valid_from",
        [recorded_at],
    )
    con.execute(
        "insert into core.sighting by name select distinct r.offer_id, r.source, r.observed_at, r.document_sha256, "
        "?::TIMESTAMP as recorded_at from observed_row as r "
        "anti join new_fetch as l on r.source = l.source and r.scope = l.scope and r.observed_at = l.observed_at "
        "and l.complete "
        "anti join core.sighting as s on r.offer_id = s.offer_id and r.source = s.source "
        "and r.observed_at = s.observed_at and r.document_sha256 = s.document_sha256",
        [recorded_at],
    )
    rows = con.execute("select source, scope, count(*) from new_event group by all").fetchall()
    return {(source, scope): count for source, scope, count in rows}


def plain_amount(value: object) -> str | None:
    """Return an amount as plain text without needless zeros, so that equal amounts are equal texts."""
    if value is None:
        return None
    text = value if isinstance(value, str) else format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def naive(moment: datetime) -> datetime:
    """Return an aware moment as DuckDB's TIMESTAMP holds it: UTC without a zone."""
    return moment.astimezone(UTC).replace(tzinfo=None)
