"""Incremental build by day: days of a mart without a change are copied from the published file before.

Changes are found by comparing what a mart's rows follow from, there and here; nothing is inferred from what a run did.
So a price learnt late, a retraction, or a chip resolved anew is a change like any other.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import duckdb

from warehouse.log.db import quote

LOG = logging.getLogger(__name__)


class DailyModel(Protocol):
    """What an incremental build by day needs of a mart: name, SELECT, and the SELECT of the first day that may differ.

    `incremental_day` compares with the database `before` and gives one date, or NULL where no day differs. The mart has
    a column `index_date`, and its SELECT gives the days from `meta.incremental_day.first_day` on, all where that has no
    row.
    """

    @property
    def name(self) -> str: ...
    @property
    def sql(self) -> str: ...
    @property
    def incremental_day(self) -> str | None: ...


@contextmanager
def attached(con: duckdb.DuckDBPyConnection, file: Path) -> Iterator[bool]:
    """Attach the published file as `before`; yield whether there is one. No transaction may be open."""
    is_there = file.exists()
    if is_there:
        try:
            con.execute(f"attach {quote(str(file))} as before (read_only)")
        except duckdb.Error as error:
            LOG.warning("the published file before is not used: %s", str(error).splitlines()[0])
            is_there = False
    try:
        yield is_there
    finally:
        if is_there:
            con.execute("detach before")


def is_alike(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the file before has the same version, SELECTs and limits of age; else its rows may differ."""
    try:
        found = con.execute(
            "select count(*) from before.meta.build as b "
            "inner join meta.build as n on b.version = n.version and b.sql_sha256 = n.sql_sha256 "
            "and b.ranked_days = n.ranked_days and b.marketplace_days = n.marketplace_days"
        ).fetchone()
    except duckdb.Error:
        return False
    return found == (1,)


def create(con: duckdb.DuckDBPyConnection, model: DailyModel, *, is_before_alike: bool) -> None:
    """Make a mart's table, unchanged days copied from the file before; the database in use is the new one."""
    if not (is_before_alike and model.incremental_day):
        con.execute(f"create table int.{model.name} as {model.sql}")
        return
    con.execute(
        "insert into meta.incremental_day select ? as name, coalesce(first_day, DATE '9999-01-01') as first_day "
        f"from ({model.incremental_day})",
        [model.name],
    )
    con.execute(
        f"create table int.{model.name} as from before.int.{model.name} where index_date < "
        f"(select first_day from meta.incremental_day where name = {quote(model.name)}) union all by name ({model.sql})"
    )
    # From here on the SELECT of the mart gives every day of this file.
    con.execute("delete from meta.incremental_day")
