"""The writer's file as earlier versions made it: the oldest shape and migrations, with what its tables held."""

from pathlib import Path

import duckdb

from warehouse.log import db

OLDEST = Path(__file__).with_name("shape_0007.sql").read_text(encoding="utf-8")
"""What makes the oldest shape that migrations start from."""
NUMBER = "offer_no"
"""What a migration gives each row anew."""


def migrations() -> list[str]:
    """Return the names of all migrations, in order."""
    return sorted(step.name for step in db.MIGRATIONS.iterdir() if step.name.endswith(".sql"))


def make(con: duckdb.DuckDBPyConnection, names: list[str]) -> None:
    """Give an empty file the oldest shape, and migrations by name."""
    con.execute("create schema meta; create table meta.migration (name VARCHAR, applied_at TIMESTAMP)")
    texts = {db.OLDEST: OLDEST} | {name: (db.MIGRATIONS / name).read_text() for name in names}
    for name, text in texts.items():
        con.execute(text)
        con.execute("insert into meta.migration values (?, TIMESTAMP '2026-01-01')", [name])


def made_older(log: Path, number: int) -> None:
    """Give a log the oldest shape and so many migrations; what later tables and columns hold is lost.

    Raises AssertionError where that was something.
    """
    old = log.with_name("old.duckdb")
    with duckdb.connect(str(old)) as con:
        make(con, migrations()[:number])
        con.execute(f"attach {db.quote(str(log))} as new (read_only)")
        made = con.execute(
            "select table_name, column_name from duckdb_columns() where database_name = 'old' and schema_name = 'core' "
            "order by table_name, column_index"
        ).fetchall()
        for table in {table for table, _ in made}:
            if table == "instance_type":
                continue  # filled anew from the package
            columns = [name for of, name in made if of == table]
            con.execute(f"insert into core.{table} select {', '.join(columns)} from new.core.{table}")
            left = {
                name
                for (name,) in con.execute(
                    "select column_name from duckdb_columns() where database_name = 'new' and schema_name = 'core' "
                    "and table_name = ?", [table],
                ).fetchall()
            } - {*columns, NUMBER}  # fmt: skip
            for name in left:
                # What a migration fills in is nothing, or an empty text.
                held = con.execute(f"select count(nullif({name}::VARCHAR, '')) from new.core.{table}").fetchone()
                assert held == (0,), (table, name)
    old.replace(log)
