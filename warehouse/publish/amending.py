"""Amend a published file: a copy of it learns what the log has learnt since, and all else stays as it is.

An offer of whose rows more may differ than how long its last price has held is *touched*: its rows are deleted, and
inserted by the same SELECTs as in a file from nothing. Of every other offer a fetch that confirms the last price
changes the end of the last row alone: that row is made from the offer's *tail*, its last interval. The SELECTs run in
an *excerpt*: a database of views, which shows them the whole history of touched offers and the tails of the others.
Levels and index are made from the first day on that may differ. All other marts are made anew, in their tables.

A file that cannot be amended is made from nothing: see FromNothing.
"""

import logging
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path

import duckdb

from warehouse.lake import ducklake
from warehouse.log import db
from warehouse.log.db import insert_rows
from warehouse.log.events import naive
from warehouse.publish import building
from warehouse.publish.building import ByOffer, Made, Model
from warehouse.reference import prepared, throughput
from warehouse.schema.tables import FACT_TABLES, SCHEMAS

LOG = logging.getLogger(__name__)
SQL = files("warehouse") / "sql" / "amend"

MIN_EVENTS = 100_000
"""Of a smaller log, making all rows takes as long as finding out which to make."""
MAX_TOUCHED_SHARE = 0.3
"""The share of offers above which all are made."""

TABLES = tomllib.loads((files("warehouse.publish") / "amending.toml").read_text(encoding="utf-8"))
"""What is read, compared and shown of which table."""
DATED = ("core.quarantine", "core.withdrawal", *(table.qualified for table in FACT_TABLES if table != throughput.CORE))
"""Tables to which rows are added, too, known by their moment."""


class FromNothing(Exception):
    """Why a published file cannot be amended, and is made from nothing."""


def amend(con: duckdb.DuckDBPyConnection, part: Path, made: Made, *, before: Path) -> bool:
    """Make `part` of the published file `before` and of the log that the connection has open; return whether it is.

    Where it is not, there is no part, and the file is to be made from nothing. An open published file may be copied:
    nobody ever writes into one. No transaction may be open.
    """
    if not before.exists():
        return False
    shutil.copyfile(before, part)
    try:
        with ExitStack() as stack:
            try:
                log = stack.enter_context(building.attached(con, part))
            except duckdb.Error as error:
                raise FromNothing(str(error).splitlines()[0]) from error
            stack.enter_context(_excerpt(con))
            stack.enter_context(ducklake.transaction(con))
            _Amendment(con, made, log, before.parent).carry_out()
    except FromNothing as reason:
        LOG.info("the published file is made from nothing: %s", reason)
        part.unlink(missing_ok=True)
        return False
    return True


class _Amendment:
    """One file being amended: the database in use. Temporary tables hold what is new, touched and as it was:

    new_...          rows that the log has learnt
    old_...          rows as they were, of touched offers and of the tails of others
    offer_tail       where an untouched offer's last interval begins
    plain_offer      untouched offers that a fetch did no more than confirm
    touched_offer    offers whose rows are made again
    made_row         what a SELECT gave: all of touched offers, and the tails of others
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, made: Made, log: str, data_dir: Path) -> None:
        self.con = con
        self.made = made
        self.contents = made.contents
        self.log = log
        self.data_dir = data_dir

    def carry_out(self) -> None:
        """Amend the file. Raises FromNothing, before or after a part of it was changed."""
        self._refuse_other()
        for name, select in (
            ("old_build", "from meta.build"),
            ("old_source", "from core.source"),
            ("old_instance_type", "from ref.current_instance_type"),
            ("old_silent_import", "from core.silent_import"),
            ("offer_tail", _sql("tail")),
            ("known_until", _sql("known_until")),
            ("old_throughput", f"from {throughput.CORE.qualified}"),
        ):
            self._temp(name, select)
        self._append_log()
        self.con.execute(
            "update meta.build set built_at = ?, n_incremental_builds = n_incremental_builds + 1, changed_from = "
            "least((select min(observed_at) from new_scope_fetch), (select min(observed_at) from new_quarantine))",
            [naive(self.made.built_at)],
        )
        self._renew_references()
        self._temp("new_market", _sql("new_market"))
        self._temp("touched_offer", _sql("touched"))
        self._refuse_many()
        self._temp("plain_offer", _sql("plain"))
        db.keep(self.con)
        self._show()
        self._amend("core.sku_price", building.SKU_PRICE, ByOffer(**TABLES["sku_price"]), None)
        for mart in self.contents.marts:
            db.keep(self.con)
            if not mart.is_table or (mart.name == "throughput" and not self.is_measured_anew):
                continue
            if mart.by_offer:
                self._amend(f"int.{mart.name}", mart.sql, mart.by_offer, mart.amended)
                if mart.name == "price_history":
                    self._temp("differing_price", _sql("differing"))
            elif mart.name == "option_price_history":
                self._amend_options(mart)
            elif mart.name == "price_level":
                self._amend_levels(mart)
            elif mart.name == "price_index":
                self._amend_index(mart)
            else:
                self._renew(f"{mart.schema}.{mart.name}", mart.sql)
        for each in self.contents.computed:
            self.con.execute(f"delete from int.{each.name}")
            insert_rows(self.con, f"int.{each.name}", each.rows(self.con))
        for model in self.contents.public:
            if model.is_table:
                self._renew(f"mart.{model.name}", model.sql)

    def _refuse_other(self) -> None:
        """Raise where the file has another version, SELECTs or limits of age: any of its rows may differ then."""
        contents = self.contents
        try:
            found = self.con.execute(
                "select count(*) from meta.build where version = ? and sql_sha256 = ? and ranked_days = ? "
                "and marketplace_days = ?",
                [self.made.version, contents.sql_sha256, contents.ranked_days, contents.marketplace_days],
            ).fetchone()
            n_events = self.con.execute("select count(*) from core.price_event").fetchone()
        except duckdb.Error as error:
            raise FromNothing(str(error).splitlines()[0]) from error
        if found != (1,):
            raise FromNothing("another version, other SELECTs or limits of age made the last one")
        if n_events and n_events[0] < MIN_EVENTS:
            raise FromNothing("the log is small")

    def _append_log(self) -> None:
        """Add what the log has learnt, and keep it as new_...; raise where it lacks what the file has."""
        con = self.con
        history = f"(select max(history_id) from {self._theirs('meta.history')})"
        if con.execute(f"select 1 from meta.build where history_id is not distinct from {history}").fetchone() is None:
            raise FromNothing("the log is another one")
        for table, new in TABLES["numbered"].items():
            self._append(table, new)
        for table in DATED:
            self._append(
                table, f"recorded_at > (select coalesce(max(recorded_at), TIMESTAMP '-infinity') from {table})"
            )
        if con.execute("from new_withdrawal limit 1").fetchone():
            raise FromNothing("fetches were withdrawn, which confirm nothing any more")
        self._renew("log.price_open", f"from {self._theirs('log.price_open')} {db.LAST_OF_CHAIN}")
        self._temp("new_price", _sql("new_price"))

    def _append(self, table: str, new: str) -> None:
        name, theirs = f"new_{table.partition('.')[2]}", self._theirs(table)
        self._temp(name, f"from {theirs} where {new}")
        counts = self.con.execute(
            f"select (select count(*) from {theirs}), (select count(*) from {table}) + (select count(*) from {name})"
        ).fetchone()
        if counts is None or counts[0] != counts[1]:
            raise FromNothing(f"the log is not the one that the last one was made of: {table}")
        self.con.execute(f"insert into {table} by name from {name}")

    def _theirs(self, table: str) -> str:
        """Return how the SELECTs here name a table of the log."""
        return f"{self.log}.{table}{self.made.at}"

    def _renew_references(self) -> None:
        """Renew what is made of the package and of the log's words. Raises FromNothing where all rows rest on it."""
        con = self.con
        con.execute("delete from core.source")
        insert_rows(con, "core.source", list(self.contents.sources))
        building.refuse_unknown_sources(con, "new_price")
        if con.execute("(from old_source except from core.source) limit 1").fetchone():
            raise FromNothing("a source is believed otherwise")
        for one, other in (
            (f"from {self._theirs('core.instance_type')}", "from ref.instance_type"),
            ("from ref.current_instance_type", "from old_instance_type"),
        ):
            if self._differ(one, other):
                raise FromNothing("an instance type has other chips")
        con.execute(f"delete from {throughput.CORE.qualified}")
        con.execute(f"insert into {throughput.CORE.qualified} by name from {self._theirs(throughput.CORE.qualified)}")
        prepared.complete(con, self.data_dir)
        # Of those rows and of the package int.throughput is made.
        self.is_measured_anew = self._differ(f"from {throughput.CORE.qualified}", "from old_throughput")
        building.read_labels(con)
        con.execute(
            f"insert into core.offer_unit by name select u.* from ({db.sql('offer_unit.sql')}) as u "
            "semi join new_offer as n on u.offer_id = n.offer_id"
        )

    def _refuse_many(self) -> None:
        """Raise where so many offers were touched that it is not worth to leave the others."""
        found = self.con.execute(
            "select (select count(*) from touched_offer) <= ? * (select count(*) from core.offer)", [MAX_TOUCHED_SHARE]
        ).fetchone()
        if found != (True,):
            raise FromNothing("too many offers were touched")

    def _show(self) -> None:
        """Let the excerpt show what the file has, of the offers in `shown_offer`."""
        con = self.con
        made = {f"{mart.schema}.{mart.name}" for mart in self.contents.marts}
        con.execute("create or replace temp table shown_offer (offer_id BIGINT, since TIMESTAMP)")
        db.keep(con)
        for name in TABLES["full"]:
            con.execute(f"create view excerpt.{name} as from published.{name}")
        for name, at in TABLES["restricted"].items():
            if name in made or name.startswith("core."):
                con.execute(
                    f"create view excerpt.{name} as select x.* from published.{name} as x "
                    f"inner join temp.shown_offer as s on x.offer_id = s.offer_id and x.{at} >= s.since"
                )
        con.execute("use excerpt")
        db.create_macros(con, of_events=True)
        con.execute("use published")
        db.keep(con)

    def _amend(self, table: str, select: str, how: ByOffer, dependents: str | None) -> None:
        """Make rows of touched offers again, and of the others how long the last one has held."""
        con, name = self.con, table.partition(".")[2]
        # Offers that depend on touched ones are made again, too; `dependent_offer` has also those shown meanwhile.
        self._temp("dependent_offer", dependents or "select offer_id, true as is_anew from touched_offer limit 0")
        con.execute(
            "insert into touched_offer select distinct offer_id from dependent_offer "
            "anti join touched_offer using (offer_id) where is_anew"
        )
        self._refuse_many()
        while True:
            self._make(table, select, how)
            if not how.renewed or not self._touch_what_differs(table, how):
                break
        self._temp(
            f"old_{name}",
            f"select b.* from {table} as b left join touched_offer as x on b.offer_id = x.offer_id "
            "left join offer_tail as t on b.offer_id = t.offer_id "
            f"where x.offer_id is not null or b.{how.at} >= {how.since}",
        )
        con.execute(f"delete from {table} where offer_id in (from touched_offer)")
        con.execute(f"insert into {table} by name from made_row semi join touched_offer using (offer_id)")
        if how.renewed:
            keys = " and ".join(f"b.{each} = m.{each}" for each in ("offer_id", how.at, *how.key))
            differs = " or ".join(f"b.{each} is distinct from m.{each}" for each in how.renewed)
            con.execute(
                f"update {table} as b set {', '.join(f'{each} = m.{each}' for each in how.renewed)} "
                f"from (from made_row anti join touched_offer using (offer_id)) as m where {keys} and ({differs})"
            )

    def _make(self, table: str, select: str, how: ByOffer) -> None:
        """Make rows, in the temporary table `made_row`: all of touched offers, and the tails of the others."""
        tails = (
            " union all select offer_id, shown_since as since from offer_tail anti join touched_offer using (offer_id) "
            "anti join plain_offer using (offer_id)"
            if how.renewed
            else ""
        )
        self._temp(
            "shown_offer",
            "select offer_id, TIMESTAMP '-infinity' as since from (select offer_id from touched_offer union "
            f"select offer_id from dependent_offer) as whole{tails}",
        )
        self._excerpted("made_row", select)
        if how.renewed:
            # What comes before its last interval is shown for what follows from it alone.
            self.con.execute(
                "delete from made_row using offer_tail as t where made_row.offer_id = t.offer_id "
                f"and made_row.{how.at} < {how.since} and made_row.offer_id not in (from touched_offer)"
            )
            since = how.since.replace("t.", "p.")
            self.con.execute(
                f"insert into made_row by name select t.* replace ({how.confirmed}) from {table} as t "
                f"inner join plain_offer as p on t.offer_id = p.offer_id and t.{how.at} >= {since} "
                "anti join touched_offer as x on t.offer_id = x.offer_id"
            )

    def _touch_what_differs(self, table: str, how: ByOffer) -> bool:
        """Add offers to the touched whose tails give other rows than before; return whether there are any."""
        columns = ", ".join(("offer_id", how.at, *how.key, *how.same))
        here = f"select {columns} from made_row anti join touched_offer using (offer_id)"
        there = (
            f"select {columns} from {table} inner join offer_tail as t using (offer_id) "
            f"anti join touched_offer using (offer_id) where {how.at} >= {how.since}"
        )
        found = self.con.execute(
            f"insert into touched_offer select distinct offer_id from "
            f"(({here} except {there}) union all ({there} except {here})) as rows_that_differ"
        ).fetchone()
        self._refuse_many()
        return found is not None and found[0] > 0

    def _differ(self, one: str, other: str) -> bool:
        """Return whether two SELECTs give other rows."""
        differing = f"({one} except {other}) union all ({other} except {one}) limit 1"
        return self.con.execute(differing).fetchone() is not None

    def _amend_options(self, mart: Model) -> None:
        """Make the cheapest prices from the first day on that may differ, of what was held a day before or since."""
        self._temp("option_day", f"{mart.amended}")
        day = "(select first_day from option_day)"
        self._temp(
            "held_price",
            f"select * replace (greatest(valid_from, {day} - 1) as valid_from) "
            f"from int.price_history where coalesce(valid_to >= {day} - 1, true)",
        )
        self._temp("made_row", mart.sql.replace("int.price_history", "held_price"))
        self.con.execute(f"delete from int.option_price_history where valid_from >= {day}")
        self.con.execute(f"insert into int.option_price_history by name from made_row where valid_from >= {day}")

    def _amend_levels(self, mart: Model) -> None:
        """Make the levels of each chip and option from the first day on that may differ."""
        self._temp("level_day", f"{mart.amended}")
        self._view(
            "int.price_index_item",
            "select i.* replace (greatest(i.index_date, d.first_day) as index_date, "
            "i.is_link_start and i.index_date >= d.first_day as is_link_start) "
            "from published.int.price_index_item as i inner join temp.level_day as d "
            "on i.accelerator_name = d.accelerator_name and i.purchase_option = d.purchase_option "
            "and i.held_to_date >= d.first_day",
        )
        self._excerpted("made_row", mart.sql)
        self.con.execute(
            "delete from int.price_level as l using level_day as d where l.accelerator_name = d.accelerator_name "
            "and l.purchase_option = d.purchase_option and l.index_date >= d.first_day"
        )
        self.con.execute("insert into int.price_level by name from made_row")

    def _amend_index(self, mart: Model) -> None:
        """Make the index from the first day on that may differ."""
        con = self.con
        named = "select distinct service_provider_name from int.price_level where purchase_option = 'spot'"
        self._temp("administered", f"from int.administered_spot semi join ({named}) using (service_provider_name)")
        self._temp("index_day", _sql("index_day"))
        con.execute(f"insert into meta.chain_before by name {mart.amended}")
        db.keep(con)
        day = "(select min(since) from temp.index_day)"
        self._view("int.price_level", f"from published.int.price_level where index_date >= {day}")
        self._view("int.price_index_item", f"from published.int.price_index_item where held_to_date >= {day} - 1")
        self._view("int.administered_spot", "from temp.administered")
        self._excerpted("made_row", mart.sql)
        first = "(select min(first_day) from index_day)"
        con.execute(f"delete from int.price_index where index_date >= {first}")
        con.execute(f"insert into int.price_index by name from made_row where index_date >= {first}")
        con.execute("delete from meta.chain_before")

    def _renew(self, table: str, select: str) -> None:
        """Make all rows of a table anew."""
        self.con.execute(f"delete from {table}")
        self.con.execute(f"insert into {table} by name {select}")

    def _view(self, name: str, select: str) -> None:
        """Let the excerpt show something else by a name."""
        db.keep(self.con)
        self.con.execute(f"create or replace view excerpt.{name} as {select}")
        db.keep(self.con)

    def _excerpted(self, table: str, select: str) -> None:
        """Make a temporary table by a SELECT on the excerpt."""
        self.con.execute("use excerpt")
        self._temp(table, select)
        self.con.execute("use published")

    def _temp(self, name: str, select: str) -> None:
        self.con.execute(f"create or replace temp table {name} as {select}")


@contextmanager
def _excerpt(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Attach an empty database as `excerpt`; at the end it is gone, with all temporary tables made meanwhile."""
    used = con.execute("select current_database()").fetchone()
    temporary = "select table_name from duckdb_tables() where temporary"
    there = set(con.execute(temporary).fetchall())
    con.execute("attach ':memory:' as excerpt")
    try:
        for schema in SCHEMAS:
            con.execute(f"create schema excerpt.{schema}")
        yield
    finally:
        if used:
            con.execute(f"use {used[0]}")
        con.execute("detach excerpt")
        for (table,) in set(con.execute(temporary).fetchall()) - there:
            con.execute(f"drop table temp.{table}")


def _sql(name: str) -> str:
    return (SQL / f"{name}.sql").read_text()
