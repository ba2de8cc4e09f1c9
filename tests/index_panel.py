"""Panels of prices for tests of the drift index: offers with a price a day, and the marts of them in memory."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import groupby

import duckdb
from looks import day, memory

from transform.models import MARTS, SQL
from warehouse.log.db import create_macros, create_moment, insert_rows, sql
from warehouse.publish.frame import CHAIN_BEFORE
from warehouse.schema.tables import DERIVED_TABLES, ddl

Offer = tuple[str, str, int]
"""Provider, chip, and number of the offer."""
Panel = Mapping[Offer, Sequence[float | None]]
"""The price of each offer on each day; None: a complete look did not show it."""

OPTION = "on_demand {}"
"""The purchase option of the panel at a place."""
INDEX = ("index_spell", "index_cut", "price_index_item", "administered_spot", "price_level", "price_index")


@contextmanager
def panels() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database in which `load` puts panels of offers, and makes the marts of them."""
    with memory() as con:
        _tables(con)
        number_prices(con)
        for name in ("price_move", "repricing", "price_correction", "price_change"):
            con.execute(f"create view int.{name} as {(SQL / f'{name}.sql').read_text()} limit 0")
        yield con


def load(con: duckdb.DuckDBPyConnection, *side_by_side: Panel, shuffled: int | None = None) -> None:
    """Put panels in place of the last, each of a purchase option of its own; all days but the last two are settled.

    Options know nothing of each other, and to make the marts of many takes little longer than of one.
    """
    every = [(offer, OPTION.format(place), prices) for place, panel in enumerate(side_by_side)
             for offer, prices in panel.items()]  # fmt: skip
    offers = [(number, *offer[:2], option) for number, (offer, option, _) in enumerate(every)]
    spells = [
        (number, day(first), day(last), price)
        for number, (_, _, prices) in enumerate(every)
        for first, last, price in _spells(prices)
    ]
    if shuffled is not None:
        random.Random(shuffled).shuffle(spells)  # noqa: S311
        random.Random(shuffled).shuffle(offers)  # noqa: S311
    con.execute("delete from core.offer; delete from core.offer_unit; delete from core.sku_price")
    con.execute("delete from int.price_history; delete from meta.build")
    insert_rows(con, "core.offer_unit (offer_id, accelerator_name)", [(number, chip) for number, _, chip, _ in offers])
    con.execute("update core.offer_unit set accelerator_count = 1, hours_per_pricing_unit = 1")
    insert_rows(
        con, "core.offer (offer_id, service_provider_name, purchase_option)",
        [(number, provider, option) for number, provider, _, option in offers],
    )  # fmt: skip
    con.execute("update core.offer set statistic = 'price', pricing_currency = 'USD', unit_price_type = 'List'")
    con.execute(
        "insert into core.sku_price by name select offer_id, 'live' as source, service_provider_name as scope "
        "from core.offer"
    )
    columns = "offer_id, valid_from, last_observed_at, unit_price"
    insert_rows(con, f"int.price_history ({columns})", spells)
    con.execute(
        "update int.price_history set source = 'live', last_source = 'live', effective_hourly_price = unit_price"
    )
    days = max(len(prices) for _, _, prices in every)
    con.execute("insert into meta.build by name select ?::timestamp as built_at", [day(days - 0.5)])
    create_moment(con)
    _marts(con)


def _spells(prices: Sequence[float | None]) -> Iterator[tuple[int, int, float | None]]:
    """Yield the first day, the last day and the price of each run of equal prices, from the first price on."""
    at = 0
    for price, run in groupby(prices):
        n = len(list(run))
        if at or price is not None:
            yield at, at + n - 1, price
        at += n


def indices(con: duckdb.DuckDBPyConnection, n: int) -> list[list[float]]:
    """Return the index over all chips on each day of each of the panels, in their order."""
    found: dict[str, list[float]] = {OPTION.format(place): [] for place in range(n)}
    for option, value in con.execute(
        "select purchase_option, price_index from int.price_index where index_level = 'all' order by index_date"
    ).fetchall():
        found[option].append(value)
    return [*found.values()]


def derive(con: duckdb.DuckDBPyConnection, *, at: float) -> None:
    """Make the marts of a log as it stands, as if published at a day; a label's first word is its chip."""
    _tables(con)
    create_macros(con)
    con.execute("insert into meta.build by name select ?::timestamp as built_at", [day(at)])
    create_moment(con)
    con.execute("insert into core.sku_price from core.price_known_at(timestamp '9999-01-01')")
    con.execute(
        "insert into ref.accelerator_label by name select distinct service_provider_name, accelerator_label, "
        "split_part(accelerator_label, ' ', 1) as accelerator_name, 1 as accelerator_share from core.offer "
        "where accelerator_label is not null"
    )
    for name in ("offer_unit", "chain/fetch_cover"):
        con.execute(f"insert into core.{name.rpartition('/')[2]} by name {sql(f'{name}.sql')}")
    con.execute("drop table int.price_history")
    for name in ("price_history", "price_move", "repricing", "price_correction", "price_change"):
        con.execute(f"create table int.{name} as {(SQL / f'{name}.sql').read_text()}")
        if name == "price_history":
            number_prices(con)
    _marts(con)


def number_prices(con: duckdb.DuckDBPyConnection) -> None:
    """Make log.price_link of int.price_history, where there are no links."""
    numbered = "from int.price_history as h inner join core.offer as o using (offer_id)"
    con.execute(f"create or replace view log.price_link as select h.*, o.offer_no {numbered}")


def _tables(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "create schema int; create schema mart; create schema if not exists meta; "
        f"create table meta.build (built_at timestamp); create table meta.chain_before ({CHAIN_BEFORE})"
    )
    con.execute(
        "insert into core.source by name select * from (values ('live', 'live', 10, 72), "
        "('aws_price_list', 'live', 10, 72), ('aws_spot', 'live', 10, 24), ('archive', 'archive', 50, null), "
        "('import:a', 'import', 60, null), ('import:changes', 'import', 61, null)) "
        "as s (source, kind, precedence, max_age_hours)"
    )
    con.execute("create schema ref")
    for table in DERIVED_TABLES:
        if table.name not in ("current_price", "usd_rate", "usd_rate_of_day"):
            con.execute(ddl(table))
    con.execute("create view ref.instance_type as from core.instance_type")
    con.execute(f"create view ref.current_instance_type as {sql('current_instance_type.sql')}")
    for view in ("market", "market_offer", "usd_rate", "usd_rate_of_day", "first_look", "silent_import"):
        con.execute(f"create view core.{view} as {sql(f'{view}.sql')}")
    con.execute(
        "create table int.price_history (offer_id bigint, valid_from timestamp, valid_to timestamp, "
        "last_observed_at timestamp, unit_price double, upfront_price double, effective_hourly_price double, "
        "source varchar, last_source varchar, document_sha256 varchar)"
    )


def _marts(con: duckdb.DuckDBPyConnection) -> None:
    """Make the marts of the index, tables and views as they are published: views alone would be planned many times."""
    for mart in MARTS:
        if mart.name in INDEX:
            kind = "table" if mart.is_table else "view"
            con.execute(f"create or replace {kind} int.{mart.name} as {mart.sql}")
    con.execute(f"create or replace macro mart.drift(since, until) as table {(SQL / 'drift.sql').read_text()}")


def date(number: float) -> str:
    """Return a day as text, counted as `looks.day` counts."""
    return (day(0) + timedelta(days=number)).date().isoformat()
