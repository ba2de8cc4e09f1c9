"""Prices in a published file, where each fact stands once: as a link of the log's chains, by numbers of fetches.

What the SELECTs of core.sku_price, int.price_history and int.price_move give follows for most offers from the chains
alone, by CHAINS. The file has the others' rows beside: `core...._other` has those that no chain gives,
`core...._replaced` names the links that give none. Which offers may have such rows is in `wanted_offer`; of those alone
the whole SELECTs are run, in an *excerpt*: a database of views that shows what queried offers have.
"""

import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from importlib.resources import files
from itertools import pairwise

import duckdb

from warehouse.log import db
from warehouse.log.db import sql
from warehouse.schema.tables import SCHEMAS

TABLES = tomllib.loads((files("warehouse.publish") / "amending.toml").read_text(encoding="utf-8"))
"""What is read, compared and shown of which table."""
ITEM_DAYS = 10_000_000
"""Of so many days of offers levels are made at once: the median holds all prices of a day, and can put none on disk."""
LEVELS = "from made_row order by accelerator_name, purchase_option, service_provider_name, index_date"
"""What `make_levels` made: the days of a series follow one another, and take less room so."""
OF_REFERENCES = [name for name, rows in TABLES["runs"].items() if not rows]
"""Marts of measured runs and of nothing else but reference tables: of the shipped runs they are in the frame."""
EVER = "TIMESTAMP '-infinity' as since"
WHOLE = "select offer_no from temp.shown_offer where since = '-infinity'"
SKU_PRICE = "select * from core.price_known_at(TIMESTAMP '9999-01-01')"
CHAINS = {
    "core.sku_price": "from log.chain_price where unit_price is not null or upfront_price is not null",
    "int.price_history": "from log.chain_price",
    "int.price_move": sql("chain/price_move.sql"),
}
"""By view the SELECT of what the chains tell, with offer_no and fetch_no of each link."""
SHOWN = ("log.last_link", "log.price_other")
"""Tables by number of which an excerpt has all rows of the queried offers."""
VIEWS = ("chain_link", "chain_price", "price_link")
LINKS = {
    "log.price_closed": "select offer_no, fetch_no, end_fetch_no, (unit_price_rounded + unit_price_rest)::"
    "DECIMAL(18, 10) as unit_price, upfront_price from log.closed_link",
    "core.price_move_kind": "select offer_no, end_fetch_no as fetch_no, change_kind from log.closed_link "
    "where change_kind is not null union all by name from core.first_move_kind",
    "log.price_open": "select * exclude (document_no, last_observed_at) from log.last_link",
}
"""Views by which log.closed_link, which takes less room, is read, and log.last_link, which says more."""
QUERIED = "semi join query_table(offers) using (offer_no)"
OF_QUERIED = {
    "log.price_closed as c": f"({LINKS['log.price_closed']} {QUERIED}) as c",
    "from log.last_link": f"from log.last_link {QUERIED}",
    "log.chain_link as l": "log.chain_link_of(offers) as l",
    "join core.offer as o": f"join (from core.offer {QUERIED}) as o",
}
"""What the SELECT of a view of links reads, and what instead where the links of some offers are queried."""


def create_links(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Create a view of links, log.`name`, and the macro log.`name`_of(offers): those of the offers of a table."""
    links = sql(f"chain/{name}.sql")
    con.execute(f"create view log.{name} as {links}")
    for table, queried in OF_QUERIED.items():
        links = links.replace(table, queried)
    con.execute(f"create macro log.{name}_of(offers) as table {links}")


def append(con: duckdb.DuckDBPyConnection, table: str, rows: str) -> None:
    """Add to a table of the file's copy of the log the rows of a SELECT that begins with from."""
    if table == "log.price_closed":
        table, rest = "log.closed_link", "unit_price - unit_price_rounded as unit_price_rest"
        rows = f"select * exclude (unit_price), unit_price::DECIMAL(18, 4) as unit_price_rounded, {rest} {rows}"
    elif table == "log.price_open":
        table, rows = "log.last_link", sql("chain/last_link.sql").replace("log.price_open", f"({rows})")
    con.execute(f"insert into {table} by name {rows}")


def add_covers(con: duckdb.DuckDBPyConnection) -> None:
    """Add those of new fetches; of a scope with one in `new_scope_fetch` of a moment that was passed all are made."""
    of_late = "join late_scope using (source, scope)"
    passed = "inner join core.scope_cover using (source, scope) where observed_at <= last_fetched_at"
    temp(con, "late_scope", f"select distinct source, scope from new_scope_fetch {passed}")
    con.execute(f"delete from core.fetch_cover where fetch_no in (select fetch_no from log.scope_fetch semi {of_late})")
    temp(con, "asked_fetch", f"from new_scope_fetch anti {of_late} union all from log.scope_fetch semi {of_late}")
    known = "unnest([last_fetched_at, covered_at]) as observed_at, unnest([false, true]) as complete, 'ok' as status"
    known = f"select source, scope, {known} from core.scope_cover"
    temp(con, "asked_run", f"{db.runs_of('from asked_fetch')} union all by name {known}")
    made = sql("chain/fetch_cover.sql").replace("core.scope_run", "asked_run").replace("log.scope_fetch", "asked_fetch")
    con.execute(f"insert into core.fetch_cover by name {made}")
    con.execute("delete from core.scope_cover")
    made = sql("chain/scope_cover.sql").replace("core.scope_run", "asked_run")
    con.execute(f"insert into core.scope_cover by name {made}")


@contextmanager
def excerpt(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Attach an empty database as `excerpt`; at the end it is gone, with all temporary tables.

    The file that is made is the database in use, before and after. At the start those go that a load has left.
    """
    drop_temporary(con)
    con.execute("attach ':memory:' as excerpt")
    try:
        con.execute("; ".join(f"create schema excerpt.{schema}" for schema in SCHEMAS))
        yield
    finally:
        con.execute("use published")
        con.execute("detach excerpt")
        drop_temporary(con)


def drop_temporary(con: duckdb.DuckDBPyConnection) -> None:
    """Drop all temporary tables, which are in memory: those of a load, too."""
    there = con.execute("select table_name from duckdb_tables() where temporary").fetchall()
    con.execute("; ".join(f"drop table temp.{table}" for (table,) in there))


def show(con: duckdb.DuckDBPyConnection) -> None:
    """Let the excerpt show what the file has, by its own views on the links of `shown_offer` alone."""
    temp(con, "wanted_offer", sql("chain/wanted_offer.sql"))
    show_none(con)
    there = {
        f"{schema}.{name}"
        for schema, name in con.execute(
            "select schema_name, table_name from duckdb_tables() where database_name = 'published' "
            "union all select schema_name, view_name from duckdb_views() where database_name = 'published'"
        ).fetchall()
    }
    views = {name: f"from published.{name}" for name in TABLES["full"]}
    views |= {name: f"from temp.shown_{name.partition('.')[2]}" for name in ("log.price_closed", *SHOWN)}
    views |= {f"log.{name}": sql(f"chain/{name}.sql") for name in VIEWS}
    views |= {
        "log.price_open": LINKS["log.price_open"],
        "log.open_link": "from log.price_open",
        "log.begun_link": sql("log/begun_link.sql"),
    }
    views |= {"core.price_event": sql("log/price_event.sql")}
    views |= {name: view(name, con.sql(f"from {name}").columns) for name in CHAINS if name in there}
    con.execute(f"use excerpt; {sql('hourly_price.sql')}")
    for name in [name for name in views if name in there]:
        con.execute(f"create view {name} as from ({views[name]}) as x {TABLES['restricted'].get(name, '')}")
    db.create_macros(con, of_events=True)
    con.execute("use published")
    db.keep(con)


def show_none(con: duckdb.DuckDBPyConnection) -> None:
    """Let the excerpt show no offer, and forget the links of those that it has shown, which are in memory."""
    temp(con, "whole_offer", "select offer_no from core.offer limit 0")
    temp(con, "whole_link", "from log.price_closed limit 0")
    show_offers(con, "select null::BIGINT as offer_id, null::TIMESTAMP as since where false")


def show_offers(con: duckdb.DuckDBPyConnection, offers: str, *, again: bool = True) -> None:
    """Let the excerpt show the offers that a SELECT gives, all that they have from the earliest since on.

    The links of whole offers that are shown `again` are kept until then; those of all that have exceptions may be many.
    """
    numbered = f"from ({offers}) as x inner join core.offer as o on x.offer_id = o.offer_id group by all"
    temp(con, "shown_offer", f"select o.offer_id, o.offer_no, min(x.since) as since {numbered}")
    temp(con, "unread_offer", f"from ({WHOLE}) anti join temp.whole_offer using (offer_no)")
    if again and con.execute("from unread_offer limit 1").fetchall():
        con.execute("insert into whole_offer from unread_offer")
        con.execute(f"insert into whole_link {LINKS['log.price_closed']} semi join unread_offer using (offer_no)")
    others = "temp.shown_offer anti join temp.whole_offer using (offer_no) where since > '-infinity'"
    earliest = f"(select min(since) from {others})"
    ((first,),) = con.execute(f"select min(fetch_no) from core.fetch_cover where observed_at >= {earliest}").fetchall()
    last = "from log.price_closed anti join temp.whole_offer using (offer_no) where end_fetch_no >= "
    # Said of all three tables, so that fetches and offers are never compared each with each.
    since = "case when x.offer_no is not null then e.observed_at >= s.since end"
    temp(
        con,
        "shown_price_closed",
        f"from {'whole_link' if again else 'log.price_closed'} semi join ({WHOLE}) using (offer_no) "
        "union all select x.* from "
        f"(from whole_link union all {last} {'null' if first is None else first}) as x "
        "inner join temp.shown_offer as s on x.offer_no = s.offer_no and s.since > '-infinity' "
        f"inner join core.fetch_cover as e on x.end_fetch_no = e.fetch_no and {since}",
    )
    for table in SHOWN:
        links = f"from {table} semi join temp.shown_offer using (offer_no)"
        temp(con, f"shown_{table.partition('.')[2]}", links)
    db.keep(con)


def temp(con: duckdb.DuckDBPyConnection, table: str, select: str) -> None:
    """Make a temporary table."""
    con.execute(f"create or replace temp table {table} as {select}")


def excerpted(con: duckdb.DuckDBPyConnection, table: str, select: str, *, also: str = "") -> None:
    """Make a temporary table by a SELECT on the excerpt, and on the schemas that `also` names after a comma."""
    con.execute(f"set search_path = 'excerpt.main{also}'")
    temp(con, table, select)
    con.execute("use published")


def put(con: duckdb.DuckDBPyConnection, table: str, select: str) -> None:
    """Let a view of prices have, of `wanted_offer`, the rows of their SELECT that are of no chain."""
    name = table.partition(".")[2]
    temp(con, "exact_row", f"from core.{name}_other limit 0")
    if con.execute("from wanted_offer limit 1").fetchall():
        show_offers(con, f"select offer_id, {EVER} from wanted_offer", again=False)
        named = "select source, scope from excerpt.core.price_event union all select source, scope from core.quarantine"
        temp(con, "wanted_run", db.runs_of(f"from log.scope_fetch semi join ({named}) using (source, scope)"))
        # Those of ten years are too many to sort for a few offers.
        show_as(con, "core.scope_run", "from temp.wanted_run")
        excerpted(con, "exact_row", select)
        show_as(con, "core.scope_run", "from published.core.scope_run")
    _compare(con, f"from ({CHAINS[table]}) semi join wanted_offer using (offer_no)")
    for target, rows in ((f"core.{name}_other", "other_row"), (f"core.{name}_replaced", "unlike_link")):
        con.execute(f"delete from {target}")
        con.execute(f"insert into {target} by name from {rows}")


def show_as(con: duckdb.DuckDBPyConnection, name: str, select: str) -> None:
    """Let the excerpt show something else by a name."""
    db.keep(con)
    con.execute(f"create or replace view excerpt.{name} as {select}")
    db.keep(con)


def put_moves(con: duckdb.DuckDBPyConnection, make: Callable[[duckdb.DuckDBPyConnection, str, str], None]) -> None:
    """Let the moves of `remade_offer` since then be those in `exact_row`, by kinds of links; `make` makes a table."""
    links = "log.chain_price as c on m.offer_id = c.offer_id and m.source = c.source and m.observed_at = c.valid_from"
    make(con, "made_kind", f"select c.offer_no, c.fetch_no, m.change_kind from exact_row as m inner join {links}")
    temp(con, "exact_row", "from exact_row semi join wanted_offer using (offer_id)")
    temp(con, "wanted_kind", "from made_kind semi join wanted_offer using (offer_no)")
    links = CHAINS["int.price_move"].replace("core.price_move_kind", "wanted_kind")
    _compare(con, links if con.execute("from wanted_kind limit 1").fetchall() else f"{links} limit 0")
    temp(con, "made_kind", "from made_kind anti join unlike_link using (offer_no, fetch_no)")
    kinds = "core.price_move_kind inner join log.scope_fetch using (fetch_no) inner join remade_offer using (offer_no)"
    later, same = "observed_at >= (select min(since) from remade_offer)", "fetch_no, offer_no, change_kind"
    # Said of all three tables, so that fetches and offers are never compared each with each.
    since = "case when change_kind is not null then observed_at >= since end"
    temp(con, "known_kind", f"select {same} from {kinds} where {since} and {later}")
    temp(con, "gone_kind", f"from known_kind anti join made_kind using ({same})")
    temp(con, "new_kind", f"from made_kind anti join known_kind using ({same})")
    con.execute(
        "update log.closed_link as c set change_kind = k.change_kind from (from new_kind union all by name "
        "select offer_no, fetch_no from gone_kind anti join new_kind using (offer_no, fetch_no)) as k "
        "where c.offer_no = k.offer_no and c.end_fetch_no = k.fetch_no"
    )
    con.execute(f"delete from core.first_move_kind where ({same}) in (select ({same}) from gone_kind)")
    known = "(from core.price_move_kind semi join new_kind using (fetch_no))"
    con.execute(f"insert into core.first_move_kind by name from new_kind anti join {known} using ({same})")
    since = "m.offer_id = r.offer_id and m.observed_at >= r.since"
    others = f"from core.price_move_other as m where exists (from remade_offer as r where {since})"
    temp(con, "differing_other", f"({others} except from other_row) union all (from other_row except {others})")
    con.execute(f"delete {others}")
    con.execute("insert into core.price_move_other by name from other_row")


def make_levels(con: duckdb.DuckDBPyConnection, select: str) -> None:
    """Make `made_row`, the levels of each chip and option from its first day in `level_day` on, some days at a time."""
    temp(con, "made_row", "from int.price_level limit 0")
    ((last, begun, n_offers, first),) = con.execute(
        "select built_at::DATE, (select min(index_date) from int.index_spell), (select count(*) from core.offer), "
        "(select min(first_day) from temp.level_day) from meta.build"
    ).fetchall()
    if first is None or begun is None:
        return
    first = max(first, begun)
    days = [first + timedelta(n) for n in range(0, (last - first).days + 1, ITEM_DAYS // n_offers + 1)]
    for since, until in pairwise([*days, date.max]):
        begins_on, ends_on = f"greatest(i.index_date, d.first_day, DATE '{since}')", f"DATE '{until}' - 1"
        show_as(
            con,
            "int.index_spell",
            f"select i.* replace ({begins_on} as index_date, least(i.held_to_date, {ends_on}) as held_to_date, "
            f"i.is_link_start and i.index_date = {begins_on} as is_link_start) "
            "from published.int.index_spell as i inner join temp.level_day as d "
            "on i.accelerator_name = d.accelerator_name and i.purchase_option = d.purchase_option "
            f"and {begins_on} <= least(i.held_to_date, {ends_on}) "
            f"where i.held_to_date >= DATE '{since}' and i.index_date < DATE '{until}'",
        )
        con.execute(f"use excerpt; insert into temp.made_row by name {select}; use published")


def _compare(con: duckdb.DuckDBPyConnection, links: str) -> None:
    """Make `other_row`, of `exact_row` what is not among links, and `unlike_link`, links not in it."""
    excerpted(con, "link_row", links)
    names = con.sql("from exact_row").columns
    same = " and ".join(f"c.{each} is not distinct from m.{each}" for each in names)
    temp(con, "other_row", f"from exact_row as m anti join link_row as c on {same}")
    temp(con, "unlike_link", f"select offer_no, fetch_no from link_row as c anti join exact_row as m on {same}")


def view(table: str, names: list[str]) -> str:
    """Return the SELECT of all rows of a view of prices: the links that are such rows, and those of no chain."""
    other, links, shown = f"core.{table.partition('.')[2]}_other", CHAINS[table], ", ".join(names)
    if table != "int.price_move":
        links = f"from ({links}) anti join core.{table.partition('.')[2]}_replaced using (offer_no, fetch_no)"
    return f"select {shown} from ({links}) as link union all select {shown} from {other}"
