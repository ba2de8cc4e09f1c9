"""From accepted rows to the log: offers, prices, sightings. The caller holds the transaction.

Rows are staged in the temporary table `observed_row`; the SELECTs under `sql/load/` do the rest, each into a temporary
table of its file's name, so that every step can be inspected.

The log has each price as a link of the chain of its offer and source: a row of `log.price_open` until another takes its
place, then one of `log.price_closed`. What fits no chain, as it is late or contradicts another price, is an event in
`log.price_other`, and what holds of its offer follows from all of its events by `sql/log/price_point.sql`.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import duckdb

from warehouse.frames import shown
from warehouse.lake import ducklake
from warehouse.log.db import point_macros, sql
from warehouse.log.shared_rows import append_offers, free_number

if TYPE_CHECKING:
    import polars as pl

STEPS = ("old_point", "confirmation", "fresh_point", "held_point", "new_event", "new_sighting", "new_number")


def stage_rows(con: duckdb.DuckDBPyConnection, rows: "pl.DataFrame") -> None:
    """Put typed rows into `observed_row`, numbered and with the ids of their offers.

    Beside `tables.OBSERVATION` they have `source`, `scope`, `observed_at`, `document_sha256`, `is_archived`,
    `fetch_number`, and `refusal_number`: set where a gate refused the amounts, so that only the id is wanted. The log's
    last word on each offer is in `offer_state`, in `touched_point` that on observed ones which need more thought;
    `repeated_row` has the numbers of rows that repeat it.
    """
    with shown(con, "accepted_row", rows.with_row_index("row_number")):
        con.execute(f"create or replace temp table observed_row as {sql('load/observed_row.sql')}")
    for name in ("offer_state", "repeated_row"):
        con.execute(f"create or replace temp table {name} as {sql(f'load/{name}.sql')}")
    _touch(
        con,
        "select distinct r.offer_id, r.source, true as is_whole from observed_row as r inner join offer_state as s "
        "on r.offer_id = s.offer_id and r.source = s.source where not s.is_plain",
    )
    for name, text in point_macros("touched_event", "touched_standing", "touched_point").items():
        con.execute(f"create or replace temp macro {name}(moment) as table {text}")


def _touch(con: duckdb.DuckDBPyConnection, offers: str) -> None:
    """Make `touched_event`, the events of the offers that a SELECT gives, from which `touched_point` computes.

    The SELECT gives offer_id, source, and whether all events are wanted (is_whole) or the last of the chain alone.
    What follows from few offers is computed from their events alone, by the same text as from the whole log.
    """
    con.execute(f"create or replace temp table touched as {offers}")
    con.execute(f"create or replace temp table touched_event as {sql('load/last_event.sql')}")
    if con.execute("select 1 from touched where is_whole limit 1").fetchone():
        wanted = (
            "from event as e semi join (select o.offer_no from core.offer as o semi join touched as t "
            "on o.offer_id = t.offer_id and t.is_whole) as w on e.offer_no = w.offer_no"
        )
        events = sql("log/price_event.sql").replace("from event as e", wanted)
        con.execute(
            f"insert into touched_event select e.* from ({events}) as e "
            "semi join touched as t on e.offer_id = t.offer_id and e.source = t.source and t.is_whole"
        )


def start_fetches(con: duckdb.DuckDBPyConnection) -> None:
    """Make `new_run`, `new_fetch` and `new_refusal`, empty: all fetches, those that count, and what a gate refused."""
    shape = "(fetch_number BIGINT, source VARCHAR, scope VARCHAR, observed_at TIMESTAMP, document_sha256 VARCHAR"
    con.execute(f"create or replace temp table new_run {shape})")
    con.execute(f"create or replace temp table new_fetch {shape}, complete BOOLEAN)")
    con.execute("create or replace temp table new_refusal (offer_id BIGINT, source VARCHAR, observed_at TIMESTAMP)")


def append_events(con: duckdb.DuckDBPyConnection, *, recorded_at: datetime) -> dict[tuple[str, str], int]:
    """Append what `observed_row` and `new_fetch` add to the log; return the number of events by source and scope.

    `new_fetch` holds the fetches that count, `new_run` all of them (fetch_number, source, scope, observed_at,
    document_sha256; `complete` of those that count), `new_refusal` what a gate refused. Afterwards `new_number` has the
    number of each. `recorded_at` is naive UTC. Raises ChipledgerError where two offers share an id.
    """
    append_offers(con, recorded_at=recorded_at)
    _touch(con, sql("load/absent_offer.sql"))
    con.execute(f"create or replace temp table new_observation as {sql('load/absence.sql')}")
    con.execute(f"create or replace temp table fresh_offer as {sql('load/fresh_offer.sql')}")
    con.execute(
        "insert into new_observation by name select r.offer_id, r.source, r.scope, r.observed_at, r.unit_price, "
        "r.upfront_price, r.document_sha256 from observed_row as r semi join fresh_offer using (offer_id, source)"
    )
    _touch(con, sql("load/changed_offer.sql"))
    since = con.execute("select coalesce(min(observed_at), TIMESTAMP '9999-01-01') from new_observation").fetchone()
    con.execute(f"create or replace temp table later_fetch as {sql('load/later_fetch.sql')}", since)
    for name in STEPS:
        con.execute(f"create or replace temp table {name} as {sql(f'load/{name}.sql')}")
    _append_prices(con, recorded_at)
    rows = con.execute("select source, scope, count(*) from new_event group by all").fetchall()
    return {(source, scope): count for source, scope, count in rows}


def _append_prices(con: duckdb.DuckDBPyConnection, recorded_at: datetime) -> None:
    """Give numbers, and append the new moments, links, other events and sightings."""
    (n_numbers,) = con.execute("select count(*) from new_number").fetchone() or (0,)
    first = free_number(con, n_numbers)
    con.execute("alter table new_number add column fetch_no INTEGER")
    if con.execute("select 1 from new_number where document_no is null and document_sha256 is not null").fetchone():
        # Of an earlier fetch: one that confirms, or that showed a price which waited.
        con.execute(
            "update new_number as n set document_no = d.document_no from (select document_sha256, min(document_no) as "
            "document_no from log.document group by all) as d "
            "where n.document_no is null and n.document_sha256 = d.document_sha256"
        )
    con.execute("update new_number set fetch_no = place + ?", [first - 1])
    con.execute(
        "insert into log.scope_fetch by name select fetch_no, source, scope, observed_at, document_no, "
        "?::TIMESTAMP as recorded_at from new_number where fetch_number is null order by fetch_no",
        [recorded_at],
    )
    con.execute(f"create or replace temp table new_link as {sql('load/new_link.sql')}", {"recorded_at": recorded_at})
    con.execute(
        "insert into log.price_closed by name select offer_no, fetch_no_before as fetch_no, fetch_no as end_fetch_no, "
        "unit_price_before as unit_price, upfront_price_before as upfront_price from new_link "
        "where is_chain and fetch_no_before is not null order by end_fetch_no, offer_no"
    )
    con.execute(
        "create or replace temp table new_open as select offer_no, source, scope, fetch_no, valid_from, "
        "?::TIMESTAMP as recorded_at, unit_price, upfront_price from new_link where is_chain and is_last",
        [recorded_at],
    )
    if ducklake.of(con) is not None:
        # Of the rows of a chain the last counts (log.open_link); `maintain` removes the others.
        con.execute("insert into log.price_open by name from new_open order by source, scope, offer_no")
    else:
        _replace_open(con)
    con.execute(
        "insert into log.price_other by name select offer_no, fetch_no, unit_price, upfront_price from new_link "
        "where not is_chain order by fetch_no, offer_no"
    )
    con.execute(
        "insert into log.sighting by name select coalesce(o.offer_no, a.offer_no) as offer_no, n.fetch_no "
        "from new_sighting as s left join core.offer as o on s.offer_id = o.offer_id "
        "left join added_offer as a on s.offer_id = a.offer_id "
        "inner join (select source, scope, observed_at, document_sha256, min(fetch_no) as fetch_no from new_number "
        "group by all) as n on s.source = n.source and s.scope = n.scope and s.observed_at = n.observed_at "
        "and s.document_sha256 is not distinct from n.document_sha256 order by n.fetch_no, offer_no"
    )


def _replace_open(con: duckdb.DuckDBPyConnection) -> None:
    """Put the new last links of chains in place of those before them."""
    con.execute(
        "update log.price_open as p set fetch_no = n.fetch_no, valid_from = n.valid_from, recorded_at = n.recorded_at, "
        "unit_price = n.unit_price, upfront_price = n.upfront_price from new_open as n "
        "where p.offer_no = n.offer_no and p.source = n.source"
    )
    con.execute(
        "insert into log.price_open by name select n.* from new_open as n anti join log.price_open as p "
        "on n.offer_no = p.offer_no and n.source = p.source order by n.source, n.scope, n.offer_no"
    )


def plain_amount(value: object) -> str | None:
    """Return an amount as plain text without needless zeros, so that equal amounts are equal texts."""
    if value is None:
        return None
    text = value if isinstance(value, str) else format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def naive(moment: datetime) -> datetime:
    """Return an aware moment as DuckDB's TIMESTAMP holds it: UTC without a zone."""
    return moment.astimezone(UTC).replace(tzinfo=None)
