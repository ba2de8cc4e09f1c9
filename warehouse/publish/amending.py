"""Amend a published file: a copy of it learns what the log has learnt since, and all else stays as it is.

An offer of whose rows more may differ than how long its last price has held is *touched*: its rows are deleted, and
inserted by the same SELECTs as in a file from nothing. Of every other offer a fetch that confirms the last price
changes the end of the last row alone: that row is made from the offer's *tail*, its last interval. The SELECTs run in
an *excerpt*: a database of views, which shows them the whole history of touched offers and the tails of the others.
Levels and index are made from the first day on that may differ; so are the marts of days, and of those with a row an
offer, of others than touched ones, what a day changes (amending.toml). All other marts are made anew, in their tables.

A file that cannot be amended is made from nothing: see FromNothing.
"""

import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import duckdb

from warehouse.lake import ducklake
from warehouse.log import db
from warehouse.log.db import insert_rows
from warehouse.log.events import naive
from warehouse.publish import building, chains, frame
from warehouse.publish.building import Fill, Made
from warehouse.publish.steps import Step
from warehouse.reference import throughput
from warehouse.schema.dictionary import Model
from warehouse.schema.tables import FACT_TABLES

LOG = logging.getLogger(__name__)

DATED = ("core.quarantine", "core.withdrawal", *(table.qualified for table in FACT_TABLES if table != throughput.CORE))
"""Tables to which rows are added, too, known by their moment."""
MEMORY, OF_A_PRICE = 100 * 2**20, 1000
"""Bytes that DuckDB may keep in memory while it amends a file: so many, and of each open price. Years take none."""
INDEX_KEY = ("index_level", "service_provider_name", "accelerator_name", "purchase_option", "index_date")
TOUCHED = f"select offer_id, {chains.EVER} from touched_offer"


class FromNothing(Exception):
    """Why a published file cannot be amended, and is made from nothing."""


def amend(con: duckdb.DuckDBPyConnection, part: Path, made: Made, *, before: Path) -> Mapping[str, int] | None:
    """Make `part` of the published file `before` and of the log that the connection has open; return its tables' rows.

    None: there is no part, and the file is to be made from nothing. An open published file may be copied:
    nobody ever writes into one. No transaction may be open. What needs more memory than that is made again without a
    limit; of a lake, which does not survive such an error, it is made without one.
    """
    if not before.exists():
        return None
    ((n_prices,),) = con.execute("select count(*) from log.price_open").fetchall()
    memory = None if ducklake.of(con) else MEMORY + OF_A_PRICE * n_prices
    try:
        try:
            with nullcontext() if memory is None else db.memory_limit(con, memory):
                return _amend(con, part, made, before, memory)
        except duckdb.OutOfMemoryException as error:
            LOG.info("the published file is amended with more memory: %s", str(error).splitlines()[0])
            return _amend(con, part, made, before)
    except FromNothing as reason:
        LOG.info("the published file is made from nothing: %s", reason)
        part.unlink(missing_ok=True)
        return None


def _amend(
    con: duckdb.DuckDBPyConnection, part: Path, made: Made, before: Path, memory: int | None = None
) -> Mapping[str, int]:
    shutil.copyfile(before, part)
    with ExitStack() as stack:
        try:
            log = stack.enter_context(frame.attached(con, part))
        except duckdb.Error as error:
            raise FromNothing(str(error).splitlines()[0]) from error
        stack.enter_context(chains.excerpt(con))
        con.execute(f"attach {db.quote(str(before))} as former (read_only)")
        stack.callback(con.execute, "detach former")
        amendment = _Amendment(con, made, log, memory)
        amendment.refuse_other()
        stack.enter_context(db.few_threads(con, amendment.count_new()))
        stack.enter_context(ducklake.transaction(con))
        amendment.carry_out()
        return building.count_rows(con)


@dataclass
class _Amendment:
    """One file being amended: the database in use. Temporary tables hold what is new, touched and as it was:

    new_...          rows that the log has learnt
    old_...          rows as they were (`former` is the file before)
    offer_tail       where an untouched offer's last interval begins
    plain_offer      untouched offers that a fetch did no more than confirm
    touched_offer    offers whose rows are made again
    made_row         what a SELECT gave: all of touched offers, and the tails of others
    """

    con: duckdb.DuckDBPyConnection
    made: Made
    log: str
    memory: int | None
    """Bytes that DuckDB may keep in memory meanwhile; None: no limit of ours."""
    left: int = 0
    """Bytes that the process had after freed memory went back to the system last."""

    def carry_out(self) -> None:
        """Amend the file. Raises FromNothing, before or after a part of it was changed."""
        self.con.execute("delete from log.last_link")
        for mart in self.made.contents.marts:
            if mart.is_table and mart.name not in self._amended:
                self.con.execute(f"delete from {mart.qualified}")
        # Their blocks are written again: the file need not hold both.
        self.con.commit()
        self.con.execute("checkpoint published")
        self.con.begin()
        self._append_log()
        self.con.execute(
            "update meta.build set built_at = ?, n_incremental_builds = n_incremental_builds + 1, changed_from = "
            "least((select min(observed_at) from new_scope_fetch), (select min(observed_at) from new_quarantine))",
            [naive(self.made.built_at)],
        )
        db.create_moment(self.con)
        self._renew_references()
        db.keep(self.con)
        runs = chains.TABLES["runs"]
        queue = building.queue_of(
            self.con,
            self.made.contents,
            self._amended,
            sharing=[*self._sharing],
            begin=lambda _: self._find_touched(),
            also={mart.name: f"{mart.amended or ''} {runs.get(mart.name, '')}" for mart in self.made.contents.marts},
        )
        building.carry_out(self.con, _after_checkpoint(queue), after=self._free_memory)

    @cached_property
    def _sharing(self) -> Mapping[str, Fill]:
        """Return what amends the marts that follow from touched offers, first what most others wait for."""
        return {
            "price_history": self._amend_prices,
            "price_move": self._amend_moves,
            **dict.fromkeys(chains.TABLES["offers"], self._amend_offers),
            "index_spell": self._amend_items,
            "price_level": self._amend_levels,
            "price_index": self._amend_index,
            **dict.fromkeys(chains.TABLES["days"], self._amend_days),
        }

    @cached_property
    def _amended(self) -> Mapping[str, Fill]:
        """Return what amends the marts that are not made anew."""
        of_runs = {name: partial(self._amend_runs, rows) for name, rows in chains.TABLES["runs"].items()}
        return {**self._sharing, **of_runs, "price_correction": _renew_corrections}

    def _free_memory(self, con: duckdb.DuckDBPyConnection) -> None:
        """Give freed memory back to the system where the process has twice the limit, and more than the last time.

        It takes time, and as much again to get the pages anew.
        """
        if self.memory is not None and db.resident_memory() > max(2.1 * self.memory, self.left + self.memory / 16):
            db.set_memory_limit(con, self.memory)
            self.left = db.resident_memory()

    def _find_touched(self) -> None:
        """Find what is touched, and make the prices of single sources again that no chain gives."""
        self._temp("new_market", db.sql("amend/new_market.sql"))
        db.keep(self.con)
        chains.show(self.con)
        self._temp("offer_tail", db.sql("amend/tail.sql"))
        self._temp("touched_offer", db.sql("amend/touched.sql"))
        chains.put(self.con, "core.sku_price", chains.SKU_PRICE)

    def refuse_other(self) -> None:
        """Raise where version, SELECTs, limits of age or log are others, or it is of later: any row may differ then."""
        contents, built_at = self.made.contents, naive(self.made.built_at)
        try:
            found = self.con.execute(
                "select count(*) from meta.build where version = ? and sql_sha256 = ? and ranked_days = ? and "
                "marketplace_days = ? and built_at <= ? and history_id is not distinct from "
                f"(select max(history_id) from {self._theirs('meta.history')})",
                [self.made.version, contents.sql_sha256, contents.ranked_days, contents.marketplace_days, built_at],
            ).fetchone()
        except duckdb.Error as error:
            raise FromNothing(str(error).splitlines()[0]) from error
        if found != (1,):
            raise FromNothing("another version, other SELECTs, limits or log, or a later clock, made the last one")

    def count_new(self) -> int:
        """Return how many links ended since: what a day changes is worth one thread, whatever the years before it."""
        theirs, known = self._theirs("log.price_closed"), "(select max(fetch_no) from log.scope_fetch)"
        return int(self.con.execute(f"select count(*) from {theirs} where end_fetch_no > {known}").fetchall()[0][0])

    def _append_log(self) -> None:
        """Add what the log has learnt, and keep it as new_...; raise where it lacks what the file has."""
        con = self.con
        # One writer's numbers grow; of several one may record a smaller number after a larger one.
        known = "not in (select fetch_no" if ducklake.of(con) else "> (select coalesce(max(fetch_no), 0)"
        self._append("log.scope_fetch", f"fetch_no {known} from log.scope_fetch)")
        for table, new in chains.TABLES["numbered"].items():
            self._append(table, new)
        for table in DATED:
            last = f"(select coalesce(max(recorded_at), TIMESTAMP '-infinity') from {table})"
            self._append(table, f"recorded_at > {last}")
        if con.execute("from new_withdrawal limit 1").fetchone():
            raise FromNothing("fetches were withdrawn, which confirm nothing any more")
        chains.add_covers(con)
        chains.append(con, "log.price_open", self.made.last_prices(self.log))
        lost = "from former.log.price_open anti join log.price_open using (offer_no, source)"
        if con.execute(f"{lost} limit 1").fetchone():
            raise FromNothing("the log is not the one that the last one was made of: log.price_open")
        self._temp("new_price", db.sql("amend/new_price.sql"))

    def _append(self, table: str, new: str) -> None:
        name, theirs = f"new_{table.partition('.')[2]}", self._theirs(table)
        self._temp(name, f"from {theirs} where {new}")
        known = f"(select count(*) from {table}) + (select count(*) from {name})"
        if self.con.execute(f"select count(*) = {known} from {theirs}").fetchone() != (True,):
            raise FromNothing(f"the log is not the one that the last one was made of: {table}")
        chains.append(self.con, table, f"from {name}")

    def _theirs(self, table: str) -> str:
        """Return how the SELECTs here name a table of the log."""
        return f"{self.log}.{table}{self.made.at}"

    def _renew_references(self) -> None:
        """Renew what is made of the package and of the log's words. Raises FromNothing where all rows rest on it."""
        con = self.con
        con.execute("delete from core.source")
        insert_rows(con, "core.source", self.made.contents.source_rows)
        building.refuse_unknown_sources(con, "new_price")
        if con.execute("(from former.core.source except from core.source) limit 1").fetchone():
            raise FromNothing("a source is believed otherwise")
        for one, other in (
            (f"from {self._theirs('core.instance_type')}", "from ref.instance_type"),
            ("from ref.current_instance_type", "from former.ref.current_instance_type"),
        ):
            if _differ(self.con, one, other):
                raise FromNothing("an instance type has other chips")
        own, runs = f"where source <> '{throughput.CATALOGUE}'", throughput.CORE.qualified
        has_new_runs = _differ(con, f"from {self._theirs(runs)}", f"from {runs} {own}")
        self.is_measured_anew = has_new_runs and self._renew_runs()
        building.read_labels(con)
        con.execute(
            f"insert into core.offer_unit by name select u.* from ({db.sql('offer_unit.sql')}) as u "
            "semi join new_offer as n on u.offer_id = n.offer_id"
        )

    def _renew_runs(self) -> bool:
        """Make core.throughput anew, of which int.throughput is made; return whether its rows are others."""
        table, former = throughput.CORE.qualified, f"former.{throughput.CORE.qualified}"
        _renew(self.con, table, f"from {self._theirs(table)}")
        throughput.complete(self.con, f"(from {former} where source = '{throughput.CATALOGUE}')")
        if self.con.execute(f"from {former} anti join {table} using (throughput_id) limit 1").fetchone():
            raise FromNothing("a document of benchmarks was added again with other words")
        return _differ(self.con, f"from {table}", f"from {former}")

    def _amend_runs(self, rows: str, mart: Model, con: duckdb.DuckDBPyConnection) -> None:
        """Make a mart of measured runs anew where they, or the rows that it is made of besides, are others."""
        if self.is_measured_anew or (rows and _differ(con, rows, rows.replace("int.", "former.int."))):
            _renew(con, mart.qualified, mart.sql)

    def _amend_prices(self, mart: Model, con: duckdb.DuckDBPyConnection) -> None:
        """Make the prices again that no chain gives, and find from when on which prices may differ."""
        chains.put(con, mart.qualified, mart.sql)
        self._temp("differing_price", db.sql("amend/differing.sql"))

    def _amend_moves(self, mart: Model, con: duckdb.DuckDBPyConnection) -> None:
        """Make the moves of touched offers again, and of those that are judged beside what differs."""
        self._touch(db.sql("amend/anew.sql"))
        chains.show_offers(con, db.sql("amend/shown_move.sql"))
        chains.excerpted(con, "remade_offer", str(mart.amended))
        chains.show_offers(con, "select offer_id, shown_since as since from remade_offer")
        self._temp("first_look_price", db.sql("amend/first_look_price.sql"))
        first = db.sql("first_look.sql").replace("core.sku_price", "temp.first_look_price")
        chains.show_as(con, "core.first_look", first.replace("core.scope_run", "published.log.run"))
        # Read four times, and of few offers.
        has_wanted = con.execute("from wanted_offer limit 1").fetchall()
        wanted = "union all by name (from int.price_history semi join wanted_offer using (offer_id))" * bool(has_wanted)
        chains.excerpted(con, "shown_price", f"{db.sql('amend/shown_price.sql')} {wanted}")
        judged = mart.sql.replace("int.price_history", "temp.shown_price")
        judged = judged.replace("from core.offer", "from temp.remade_offer where since is not null", 1)
        later = "semi join temp.remade_offer as r on m.offer_id = r.offer_id and m.observed_at >= r.since"
        chains.excerpted(con, "exact_row", f"from ({judged}) as m {later}")
        con.execute("drop table temp.shown_price")
        chains.put_moves(con, chains.excerpted)
        kinds = "(from gone_kind union all by name from new_kind) inner join log.scope_fetch using (fetch_no)"
        others = "select observed_at from differing_other"
        con.execute(f"insert into differing_price select observed_at from {kinds} union all {others}")
        self._temp("first_day", db.sql("amend/first_day.sql"))

    def _amend_items(self, mart: Model, con: duckdb.DuckDBPyConnection) -> None:
        """Make the items of offers again whose past may be another; of others add what follows their last interval.

        Of plain offers the last item holds until today.
        """
        self._temp("plain_offer", db.sql("amend/plain.sql"))
        con.execute(f"delete from touched_offer where offer_id in ({db.sql('amend/followed.sql')})")
        self._touch(mart.amended)
        others = "anti join touched_offer using (offer_id)"
        tails = f"(from offer_tail {others}) as t"
        since = f"select offer_id, coalesce(t.since::DATE, '-infinity') as since from shown_offer left join {tails}"
        shown = f"semi join ({since} using (offer_id)) as s on i.offer_id = s.offer_id and i.index_date >= s.since"
        while True:
            # What comes before an offer's last interval is shown for what follows from it alone.
            chains.show_offers(con, f"{TOUCHED} union all ({db.sql('amend/shown_tail.sql')})")
            chains.excerpted(con, "made_row", mart.sql)
            before = f"using {tails} where i.offer_id = t.offer_id and i.index_date < t.since::DATE"
            con.execute(f"delete from made_row as i {before}")
            self._temp("old_index_spell", f"select i.*, i.rowid as place from int.index_spell as i {shown}")
            if con.execute(f"insert into touched_offer {db.sql('amend/differing_item.sql')}").fetchall() == [(0,)]:
                break
        con.execute(
            "update made_row as m set link_number = m.link_number + n.shift from (select h.offer_id, "
            f"max_by(b.link_number - h.link_number, b.index_date) as shift from (from made_row {others}) as h "
            "inner join old_index_spell as b on h.offer_id = b.offer_id and h.index_date = b.index_date "
            "group by h.offer_id) as n where m.offer_id = n.offer_id"
        )
        con.execute("delete from int.index_spell where offer_id in (from touched_offer)")
        con.execute(
            "insert into int.index_spell by name from made_row where offer_id in (from touched_offer) "
            "or (offer_id, index_date) not in (select (offer_id, index_date) from old_index_spell)"
        )
        con.execute(
            "update int.index_spell as b set held_to_date = m.held_to_date, is_link_end = m.is_link_end, "
            f"carried_from_date = m.carried_from_date from (from made_row {others}) as m "
            "inner join old_index_spell as o on m.offer_id = o.offer_id and m.index_date = o.index_date "
            "where b.rowid = o.place and (o.held_to_date <> m.held_to_date or o.is_link_end <> m.is_link_end "
            "or o.carried_from_date is distinct from m.carried_from_date)"
        )
        con.execute(
            "update int.index_spell as b set held_to_date = p.built_on from plain_offer as p "
            "where b.offer_id = p.offer_id and b.is_link_end and b.held_to_date = p.was_built_on"
        )
        chains.show_none(con)  # no other mart asks for single offers

    def _touch(self, dependents: str | None) -> None:
        """Touch the offers that a SELECT gives: those that depend on touched ones."""
        self.con.execute(f"insert into touched_offer from ({dependents}) anti join touched_offer using (offer_id)")

    def _amend_offers(self, mart: Model, con: duckdb.DuckDBPyConnection) -> None:
        """Make the rows of touched offers again, and of all others what a day changes."""
        daily = chains.TABLES["offers"][mart.name]
        # Of links the mart reads the last.
        chains.show_offers(con, f"select offer_id, TIMESTAMP '9999-01-01' as since from ({mart.amended})")
        # Reads the documents of the last prices alone. The number that a fetch names is the first of its hash.
        others = "exists (from core.price_history_other semi join shown_offer using (offer_id))"
        first = f"select case when {others} then 0 else min(document_no) end from shown_last_link"
        later = f"document_no >= {0 if ducklake.of(con) else f'({first})'} and recorded_at is not null"
        priced = "(from excerpt.int.price_history where valid_to is null)"
        shown = f"select document_sha256, source, parameters, url from log.document semi join {priced}"
        self._temp("shown_document", f"{shown} using (document_sha256) where {later}")
        (evidence,) = [each.sql for each in self.made.contents.marts if each.name == "document_evidence"]
        chains.show_as(con, "int.document_evidence", evidence.replace("core.document", "temp.shown_document"))
        # Of a move the mart reads no more than moment and kind.
        made = mart.sql.replace("int.price_move as", f"({db.sql('amend/move.sql')}) as")
        chains.excerpted(con, "made_row", made, also=",published.decision")  # the excerpt has no formulas
        con.execute(f"delete from {mart.qualified} where offer_id in (select offer_id from shown_offer)")
        con.execute(f"insert into {mart.qualified} by name from made_row")
        renewed = mart.sql.replace("int.price_history as", f"({db.sql('amend/known_price.sql')}) as")
        for unasked in ("int.price_move", "int.document_evidence"):  # neither tells of what a day changes
            renewed = renewed.replace(unasked, f"(from {unasked} limit 0)")
        con.execute(
            f"update {mart.qualified} as m set {', '.join(f'{name} = n.{name}' for name in daily)} "
            f"from (select offer_id, {', '.join(daily)} from ({renewed})) as n where m.offer_id = n.offer_id"
        )

    def _amend_days(self, mart: Model, con: duckdb.DuckDBPyConnection) -> None:
        """Make the rows from the first day on that may differ, of what was held a day before or since."""
        (first,) = con.execute("from first_day").fetchone() or (None,)
        day, column = f"DATE '{first}'", chains.TABLES["days"][mart.name]
        con.execute(
            f"create or replace temp view held_price as select * replace (greatest(valid_from, {day} - 1) as "
            f"valid_from) from log.price_link where valid_to >= {day} - 1 or valid_to is null"
        )
        con.execute(f"create or replace temp view later_move as from int.price_move where observed_at >= {day}")
        held = mart.sql.replace("log.price_link", "held_price").replace("int.price_move", "later_move")
        self._temp("made_row", held)
        con.execute("drop view temp.held_price; drop view temp.later_move")
        con.execute(f"delete from {mart.qualified} where {column} >= {day}")
        con.execute(f"insert into {mart.qualified} by name from made_row where {column} >= {day}")

    def _amend_levels(self, mart: Model, con: duckdb.DuckDBPyConnection) -> None:
        """Make the levels of each chip and option from the first day on that may differ."""
        self._temp("level_day", f"{mart.amended}")
        chains.make_levels(con, mart.sql)
        con.execute(
            "delete from int.price_level as l using level_day as d where l.accelerator_name = d.accelerator_name "
            "and l.purchase_option = d.purchase_option and l.index_date >= d.first_day"
        )
        con.execute(f"insert into int.price_level by name {chains.LEVELS}")

    def _amend_index(self, mart: Model, con: duckdb.DuckDBPyConnection) -> None:
        """Make the index from the first day on that may differ."""
        named = "select distinct service_provider_name from int.price_level where purchase_option = 'spot'"
        self._temp("administered", f"from int.administered_spot semi join ({named}) using (service_provider_name)")
        self._temp("index_day", db.sql("amend/index_day.sql"))
        con.execute(f"insert into meta.chain_before by name {mart.amended}")
        ((since,),) = con.execute("select min(since) from index_day").fetchall()
        day = f"DATE '{since}'"  # by a constant DuckDB skips old rows
        chains.show_as(con, "int.price_level", f"from published.int.price_level where index_date >= {day}")
        chains.show_as(con, "int.index_spell", f"from published.int.index_spell where held_to_date >= {day} - 1")
        (items,) = [each.sql for each in self.made.contents.marts if each.name == "price_index_item"]
        chains.show_as(con, "int.price_index_item", items.replace("int.index_spell", "excerpt.int.index_spell"))
        chains.show_as(con, "int.administered_spot", "from temp.administered")
        chains.excerpted(con, "made_row", mart.sql)
        # Of a table from which rows are deleted DuckDB writes most again: what stays as it was is not deleted.
        anew, key = "index_date >= (select min(first_day) from index_day)", f"row({', '.join(INDEX_KEY)})"
        rows = f"(select * exclude (is_provisional) from {{}} where {anew})"
        self._temp("same_row", f"from {rows.format('int.price_index')} intersect from {rows.format('made_row')}")
        others = f"{anew} and {key} not in (select {key} from same_row)"
        con.execute(f"delete from int.price_index where {others}")
        con.execute(
            "update int.price_index as i set is_provisional = m.is_provisional from made_row as m where "
            f"{' and '.join(f'i.{each} is not distinct from m.{each}' for each in INDEX_KEY)} and "
            "i.is_provisional <> m.is_provisional"
        )
        con.execute(f"insert into int.price_index by name from made_row where {others}")
        con.execute("delete from meta.chain_before")

    def _temp(self, name: str, select: str) -> None:
        chains.temp(self.con, name, select)


def _renew(con: duckdb.DuckDBPyConnection, table: str, select: str) -> None:
    con.execute(f"delete from {table}")
    con.execute(f"insert into {table} by name {select}")


def _after_checkpoint(queue: Iterable[Step]) -> Iterator[Step]:
    """Yield a checkpoint, which frees blocks, then the steps; those that update rows wait for it, as they must."""
    first, *others = queue
    yield from (Step("checkpoint", frozenset(), lambda con: con.execute("checkpoint published")), first)
    yield from (replace(step, reads=step.reads | {"checkpoint"}) for step in others)


def _renew_corrections(mart: Model, con: duckdb.DuckDBPyConnection) -> None:
    """Make again what follows from what was withdrawn, where anything ever was."""
    if con.execute("from core.withdrawal limit 1").fetchall():
        _renew(con, mart.qualified, mart.sql)


def _differ(con: duckdb.DuckDBPyConnection, one: str, other: str) -> bool:
    """Return whether two SELECTs, which may be unions themselves, give other rows."""
    return bool(con.execute(f"(({one}) except ({other})) union all (({other}) except ({one})) limit 1").fetchall())
