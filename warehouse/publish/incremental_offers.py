"""Incremental build by offer: rows of offers without a change are copied from the published file before.

As in `incremental_days`, changes are found by comparing what rows follow from, there and here; an offer with one is
*touched*. Of the others, a fetch that confirms the last price changes the end of the last row alone: that row is made
from the offer's *tail*, its last interval, by the same SELECT as all else. The SELECT runs in a *shadow* database of
views, which shows it the whole history of touched offers and the tails of the others. Where a tail gives other rows
than before, its offer is made anew.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files

import duckdb

from warehouse.log import db
from warehouse.schema.tables import SCHEMAS

MIN_EVENTS = 100_000
"""Of a smaller log, making all rows takes as long as finding out which to make."""
MIN_EVENTS_PER_OFFER = 3
"""Events of an offer, on average, below which its tail is most of its history: at 1.3 an incremental build
takes a tenth longer than making all anew, at 4.6 a fifth less.
"""
MAX_TOUCHED_SHARE = 0.3
"""The share of offers above which all are made."""
MAX_INCREMENTAL_BUILDS = 6
"""Incremental builds before one from nothing again: sorted, and owing nothing to any before it."""
SQL = files("warehouse") / "sql" / "incremental"

FULL_TABLES = (
    "meta.build",
    "core.source",
    "core.offer",
    "core.offer_unit",
    "core.scope_run",
    "core.quarantine",
    "core.sighting",
    "ref.current_instance_type",
    "core.first_look",
    "core.silent_import",
)
"""Tables that the shadow database shows whole."""
RESTRICTED_TABLES = {
    "core.price_event": "valid_from",
    "core.sku_price": "valid_from",
    "int.price_history": "valid_from",
    "int.price_change": "observed_at",
}
"""Tables of which it shows the queried offers alone, from a moment on, by the column of that moment."""

WORK = ("touched_offer", "offer_tail", "dependent_offer", "shown_offer", "made_row", "different_offer")
"""Temporary tables, gone when the file is made."""


@dataclass(frozen=True, kw_only=True)
class ByOffer:
    """How a table's rows follow from those of single offers.

    `at` orders an offer's rows; with `offer_id` and `key` it tells them apart. `renewed` columns of the last rows
    change as time goes by; `same` are those by which a row is known to have changed otherwise. Without `renewed` an
    untouched offer's rows are copied as they are.
    """

    at: str = "valid_from"
    key: Sequence[str] = ()
    same: Sequence[str] = ()
    renewed: Sequence[str] = ()


SKU_PRICE = ByOffer(
    key=("source",),
    same=("scope", "valid_to", "unit_price", "upfront_price", "document_sha256", "recorded_at"),
    renewed=("last_observed_at",),
)
SKU_PRICE_SELECT = "select * from core.price_known_at(TIMESTAMP '9999-01-01')"


class Offers:
    """The offers that were touched, in the temporary table `touched_offer`; tails of the others, in `offer_tail`."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        self._shown: set[str] = set()

    def are_few(self) -> bool:
        """Return whether so few offers were touched that it is worth to leave the others."""
        found = self.con.execute(
            "select (select count(*) from touched_offer) <= ? * (select count(*) from core.offer)", [MAX_TOUCHED_SHARE]
        ).fetchone()
        return found == (True,)

    def create(self, table: str, select: str, how: ByOffer, dependents: str | None) -> None:
        """Make a table of the database in use: rows of touched offers anew, those of the others copied."""
        self._add_dependents(dependents)
        if not self.are_few():
            self.con.execute(f"create table {table} as {select}")
            return
        self._show()
        while True:
            self._make(select, how)
            if not how.renewed or not self._touch_what_differs(table, how):
                break
        renewed = ", ".join(f"if(m.offer_id is null, b.{name}, m.{name}) as {name}" for name in how.renewed)
        reused = f"select b.* {f'replace ({renewed})' if renewed else ''} from before.{table} as b"
        if renewed:
            keys = " and ".join(f"b.{name} = m.{name}" for name in ("offer_id", how.at, *how.key))
            reused += f" left join made_row as m on {keys}"
        self.con.execute(
            f"create table {table} as {reused} anti join touched_offer as t on b.offer_id = t.offer_id "
            "union all by name (from made_row semi join touched_offer using (offer_id))"
        )

    def _add_dependents(self, dependents: str | None) -> None:
        """Add dependent offers to the touched ones; `dependent_offer` has also those that must be visible meanwhile."""
        self.con.execute(
            "create or replace temp table dependent_offer as "
            f"{dependents or 'select offer_id, true as is_anew from touched_offer limit 0'}"
        )
        self.con.execute(
            "insert into touched_offer select distinct offer_id from dependent_offer "
            "anti join touched_offer using (offer_id) where is_anew"
        )

    def _show(self) -> None:
        """Let the shadow database show what the file has by now."""
        there = {
            f"{schema}.{name}"
            for schema, name in self.con.execute(
                "select schema_name, table_name from duckdb_tables() where database_name = 'published' union all "
                "select schema_name, view_name from duckdb_views() where database_name = 'published' and not internal"
            ).fetchall()
        }
        new = [name for name in (*FULL_TABLES, *RESTRICTED_TABLES) if name in there - self._shown]
        db.keep(self.con)
        for name in new:
            if name in RESTRICTED_TABLES:
                self.con.execute(
                    f"create view shadow.{name} as select x.* from published.{name} as x "
                    "inner join temp.shown_offer as s "
                    f"on x.offer_id = s.offer_id and x.{RESTRICTED_TABLES[name]} >= s.since"
                )
            else:
                self.con.execute(f"create view shadow.{name} as from published.{name}")
        if not self._shown:
            self.con.execute("use shadow")
            db.create_macros(self.con, of_events=True)
            self.con.execute("use published")
        db.keep(self.con)
        self._shown.update(new)

    def _make(self, select: str, how: ByOffer) -> None:
        """Make rows, in the temporary table `made_row`: all of touched offers, and the tails of the others."""
        tails = (
            " union all select offer_id, shown_since as since from offer_tail anti join touched_offer using (offer_id)"
            if how.renewed
            else ""
        )
        self.con.execute(
            "create or replace temp table shown_offer as select offer_id, TIMESTAMP '-infinity' as since from ("
            f"from touched_offer union select offer_id from dependent_offer) as whole{tails}"
        )
        self.con.execute("use shadow")
        self.con.execute(f"create or replace temp table made_row as {select}")
        self.con.execute("use published")
        if how.renewed:
            # What comes before its last interval is shown for what follows from it alone.
            self.con.execute(
                "delete from made_row using offer_tail as t where made_row.offer_id = t.offer_id "
                f"and made_row.{how.at} < {_since(how)} and made_row.offer_id not in (from touched_offer)"
            )

    def _touch_what_differs(self, table: str, how: ByOffer) -> bool:
        """Add offers to the touched whose tails give other rows than before; return whether there are any."""
        columns = ", ".join(("offer_id", how.at, *how.key, *how.same))
        here = f"select {columns} from made_row anti join touched_offer using (offer_id)"
        there = (
            f"select {columns} from before.{table} inner join offer_tail as t using (offer_id) "
            f"anti join touched_offer using (offer_id) where {how.at} >= {_since(how)}"
        )
        found = self.con.execute(
            f"create or replace temp table different_offer as select distinct offer_id from "
            f"(({here} except {there}) union all ({there} except {here})) as rows_that_differ"
        ).fetchone()
        self.con.execute("insert into touched_offer from different_offer")
        return found is not None and found[0] > 0


def _since(how: ByOffer) -> str:
    return "t.since" if how.at == "valid_from" else "t.since::DATE"


@contextmanager
def shadow(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Attach an empty database as `shadow`; restore the database in use at the end. No transaction may be open."""
    used = con.execute("select current_database()").fetchone()
    con.execute("attach ':memory:' as shadow")
    try:
        # Views of it are made before what they show is known.
        con.execute("create or replace temp table shown_offer (offer_id VARCHAR, since TIMESTAMP)")
        for schema in SCHEMAS:
            con.execute(f"create schema shadow.{schema}")
        yield
    finally:
        if used:
            con.execute(f"use {used[0]}")
        con.execute("detach shadow")
        for table in WORK:
            con.execute(f"drop table if exists temp.{table}")


def begin(con: duckdb.DuckDBPyConnection) -> Offers | None:
    """Find the offers that were touched since the file `before`; None where all are to be made.

    The database in use has the log, its references and core.offer_unit.
    """
    row = con.execute(
        "select n_incremental_builds + 1, (select count(*) from before.core.price_event), "
        "(select count(*) from before.core.offer) from before.meta.build"
    ).fetchone()
    if row is None or row[0] > MAX_INCREMENTAL_BUILDS or row[1] < max(MIN_EVENTS, MIN_EVENTS_PER_OFFER * row[2]):
        return None
    if con.execute(_sql("unlike")).fetchone():
        return None
    con.execute(f"create temp table offer_tail as {_sql('tail')}")
    con.execute(f"create temp table touched_offer as {_sql('touched')}")
    offers = Offers(con)
    if not offers.are_few():
        return None
    con.execute("update meta.build set n_incremental_builds = ?", [row[0]])
    return offers


def create(
    con: duckdb.DuckDBPyConnection,
    table: str,
    select: str,
    how: ByOffer,
    offers: Offers | None,
    *,
    dependents: str | None = None,
) -> None:
    """Make a table of the database in use, copying what is not touched where single offers are known.

    `dependents` is the SELECT of offers (offer_id, is_anew) that depend on the touched ones: made anew with them, or
    visible while those are made.
    """
    if offers is None:
        con.execute(f"create table {table} as {select}")
    else:
        offers.create(table, select, how, dependents)


def _sql(name: str) -> str:
    return (SQL / f"{name}.sql").read_text()
