"""A published file made from nothing: a copy of its frame, filled from the log in steps, as amended files are."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType

import duckdb

from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake
from warehouse.log import db
from warehouse.log.db import LAST_OF_CHAIN, insert_rows, sql
from warehouse.log.events import naive
from warehouse.publish import chains, frame, steps
from warehouse.publish.frame import LABEL, Contents
from warehouse.publish.steps import Step
from warehouse.reference import accelerators, throughput
from warehouse.schema.dictionary import ComputedTable, Model
from warehouse.schema.tables import MOVED, STORED_TABLES

Fill = Callable[[Model, duckdb.DuckDBPyConnection], None]
"""What makes the rows of a mart on a connection, once all that it reads is committed."""
OF_NO_CHAIN = {
    f"core.{name}": step
    for step, names in {
        "core.sku_price": ("sku_price_other", "sku_price_replaced"),
        "int.price_history": ("price_history_other", "price_history_replaced"),
        "int.price_move": ("price_move_other", "first_move_kind"),
    }.items()
    for name in names
}
"""Tables of prices that no chain gives, and the view with which each is made."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """What one published file is made of: contents, moment, version, and the snapshot of a lake that is its log."""

    contents: Contents
    built_at: datetime
    version: str
    snapshot_id: int | None

    @property
    def at(self) -> str:
        """Return what follows a table of the log in a SELECT: the snapshot of a lake, which others write meanwhile."""
        return "" if self.snapshot_id is None else f" at (version => {self.snapshot_id})"

    def last_prices(self, log: str) -> str:
        """Return the SELECT of the rows of log.price_open that count, of a lake the last of each chain."""
        return f"from {log}.log.price_open{self.at} {'' if self.snapshot_id is None else LAST_OF_CHAIN}"


def build(con: duckdb.DuckDBPyConnection, part: Path, made: Made) -> Mapping[str, int]:
    """Make a published file from nothing, from the log that the connection has open; return the rows of each table."""
    contents = made.contents
    frame.copy(contents, part)
    with frame.attached(con, part) as log, chains.excerpt(con), ducklake.transaction(con):
        con.execute(
            "insert into meta.build select ?::TIMESTAMP, ?, ?, 0, ?::INTEGER, ?::INTEGER, "
            f"(select max(history_id) from {log}.meta.history{made.at}), null",
            [naive(made.built_at), made.version, contents.sql_sha256, contents.ranked_days, contents.marketplace_days],
        )
        db.create_moment(con)
        _copy_log(con, log, made.at)
        insert_rows(con, "core.source", contents.source_rows)
        read_labels(con)
        db.keep(con)
        for name in ("offer_unit", "chain/fetch_cover", "chain/scope_cover"):
            con.execute(f"insert into core.{name.rpartition('/')[2]} by name {sql(f'{name}.sql')}")
        chains.append(con, "log.price_open", made.last_prices(log))
        refuse_unknown_sources(con, "core.price_event")
        db.keep(con)
        fill = {**SHARING, **dict.fromkeys(chains.OF_REFERENCES, _fill_runs)}
        carry_out(con, queue_of(con, contents, fill, sharing=[*SHARING], begin=_show_prices))
        return count_rows(con)


def count_rows(con: duckdb.DuckDBPyConnection) -> Mapping[str, int]:
    """Return how many rows each table of the database in use has, by schema and name."""
    tables = con.execute(
        "select schema_name || '.' || table_name from duckdb_tables() where database_name = current_database()"
    ).fetchall()
    counts = " union all ".join(f"select '{name}', count(*) from {name}" for (name,) in tables)
    return dict(con.execute(counts).fetchall())


def carry_out(
    con: duckdb.DuckDBPyConnection,
    queue: Iterable[Step],
    *,
    after: Callable[[duckdb.DuckDBPyConnection], None] | None = None,
) -> None:
    """Carry out the steps that make the attached file, by this connection and a second one; `after` follows each."""
    with con.cursor() as second:
        db.configure(second)
        second.execute("use published")
        steps.carry_out([*queue], con, second, after=after)


def reads(con: duckdb.DuckDBPyConnection, marts: Sequence[Model], also: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return what each mart of the attached file is made of, at any remove; `also` by a text next to its SELECT."""
    views = "select schema_name || '.' || view_name, sql from duckdb_views() where database_name = 'published'"
    texts = dict(con.execute(views).fetchall()) | OF_NO_CHAIN | {mart.qualified: mart.sql for mart in marts}
    texts |= {f"{name}_of": name for name in ("log.sku_price", "log.price_link")}
    return {mart.qualified: steps.made_of(f"{mart.sql} {also.get(mart.name, '')}", texts) for mart in marts}


def queue_of(
    con: duckdb.DuckDBPyConnection,
    contents: Contents,
    fill: Mapping[str, Fill],
    *,
    sharing: Sequence[str],
    begin: Callable[[duckdb.DuckDBPyConnection], None],
    also: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Step]:
    """Yield the steps that make all tables, each mart by its `fill` or by its SELECT, into an empty table.

    `begin` makes core.sku_price; it and the marts in `sharing` follow one another, as they share temporary tables.
    """
    marts = [mart for mart in contents.marts if mart.is_table]
    of = reads(con, marts, also)
    yield Step("core.sku_price", frozenset(), begin, is_first=True)
    before = {"core.sku_price"}
    for mart in sorted(marts, key=lambda mart: sharing.index(mart.name) if mart.name in sharing else len(sharing)):
        shares = mart.name in sharing
        work = partial(fill.get(mart.name, _insert), mart)
        yield Step(mart.qualified, of[mart.qualified] | (before if shares else set()), work, is_first=shares)
        before = {mart.qualified} if shares else before
    for table in contents.computed:
        yield Step(f"int.{table.name}", frozenset(table.reads), partial(_compute, table))


def _insert(mart: Model, con: duckdb.DuckDBPyConnection) -> None:
    con.execute(f"insert into {mart.qualified} by name {mart.sql}")


def _compute(table: ComputedTable, con: duckdb.DuckDBPyConnection) -> None:
    con.execute(f"delete from int.{table.name}")
    insert_rows(con, f"int.{table.name}", table.rows(con))


def _show_prices(con: duckdb.DuckDBPyConnection) -> None:
    chains.show(con)
    chains.put(con, "core.sku_price", chains.SKU_PRICE)


def _fill_moves(mart: Model, con: duckdb.DuckDBPyConnection) -> None:
    chains.temp(con, "exact_row", mart.sql)
    chains.temp(con, "remade_offer", f"select offer_id, offer_no, {chains.EVER} from core.offer")
    chains.put_moves(con, chains.temp)


def _fill_levels(mart: Model, con: duckdb.DuckDBPyConnection) -> None:
    first_days = "select accelerator_name, purchase_option, min(index_date) as first_day from int.index_spell"
    chains.temp(con, "level_day", f"{first_days} group by all")
    chains.make_levels(con, mart.sql)
    con.execute(f"insert into int.price_level by name {chains.LEVELS}")


def _fill_runs(mart: Model, con: duckdb.DuckDBPyConnection) -> None:
    """Fill a mart of measured runs; of shipped runs alone it is as the frame has it."""
    own = f"from {throughput.CORE.qualified} where source <> ? limit 1"
    if con.execute(own, [throughput.CATALOGUE]).fetchall():
        con.execute(f"delete from {mart.qualified}")
        _insert(mart, con)


SHARING: Mapping[str, Fill] = {
    "price_history": lambda mart, con: chains.put(con, mart.qualified, mart.sql),
    "price_move": _fill_moves,
    "price_level": _fill_levels,
}
"""What fills the marts that are made by temporary tables."""


def _copy_log(con: duckdb.DuckDBPyConnection, log: str, at: str) -> None:
    """Copy the log in the order of its numbers; core.throughput is of its runs and of the frame's rows."""
    runs = throughput.CORE.qualified
    if has_runs := bool(con.execute(f"from {log}.{runs}{at} limit 1").fetchall()):
        con.execute(f"create temp table shipped as from {runs}; delete from {runs}")
    order = {"price_closed": "end_fetch_no, offer_no", "sighting": "fetch_no, offer_no"}
    for table in STORED_TABLES:
        copy = table._replace(schema="ref") if table.qualified in MOVED else table
        if table.name != "price_open":  # which rests on the covers of scopes
            keys = order.get(table.name, "all")
            chains.append(con, copy.qualified, f"from {log}.{table.qualified}{at} order by {keys}")
    if has_runs:
        throughput.complete(con, "shipped")


def read_labels(con: duckdb.DuckDBPyConnection) -> None:
    """Fill ref.accelerator_label: what we read today in the words that providers have for their chips."""
    found = con.execute(
        "select distinct service_provider_name, accelerator_label from core.offer "
        "where accelerator_label is not null order by all"
    ).fetchall()
    nothing = (None,) * (len(LABEL.columns) - 2)
    con.execute(f"delete from {LABEL.qualified}")
    insert_rows(
        con,
        LABEL.qualified,
        [(provider, label, *(accelerators.resolve(label, provider) or nothing)) for provider, label in found],
    )


def refuse_unknown_sources(con: duckdb.DuckDBPyConnection, events: str) -> None:
    """Raise where one of some price events comes from a source that nothing says how far to believe."""
    row = con.execute(
        f"select distinct source from {events} where source not in (select source from core.source)"
    ).fetchone()
    if row:
        raise ChipledgerError(
            "prices of a source that is not registered",
            source="core.price_event",
            field="source",
            value=str(row[0]),
            hint="Register it in extract/__init__.py, or rebuild without it",
        )
