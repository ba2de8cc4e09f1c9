"""The writer's file as earlier versions made it: the first migrations alone, with what those tables held."""

from pathlib import Path

import duckdb

from warehouse.log import db

RENAMED = {("offer", "accelerator_name"): "accelerator_label"}
"""Columns by their first names (table, column), and what they are called now."""
NUMBER = "offer_no"
"""What a migration gives each row anew."""


def migrations() -> list[str]:
    """Return the names of all migrations, in order."""
    return sorted(step.name for step in db.MIGRATIONS.iterdir() if step.name.endswith(".sql"))


def made_older(log: Path, number: int) -> None:
    """Give a log the shape after so many migrations; what later tables and columns hold is lost, and must be nothing.

    Raises AssertionError where it was something.
    """
    old = log.with_name("old.duckdb")
    with duckdb.connect(str(old)) as con:
        con.execute("create schema meta")
        con.execute("create table meta.migration (name VARCHAR, applied_at TIMESTAMP)")
        for name in migrations()[:number]:
            con.execute((db.MIGRATIONS / name).read_text())
            con.execute("insert into meta.migration values (?, TIMESTAMP '2026-01-01')", [name])
        con.execute(f"attach {db.quote(str(log))} as new (read_only)")
        made = con.execute(
            "select table_name, column_name from duckdb_columns() where database_name = 'old' and schema_name = 'core' "
            "order by table_name, column_index"
        ).fetchall()
        for table in {table for table, _ in made}:
            if table == "instance_type":
                continue  # filled anew from the package
            columns = [name for of, name in made if of == table]
            theirs = [RENAMED.get((table, name), name) if number < 3 else name for name in columns]
            con.execute(f"insert into core.{table} select {', '.join(theirs)} from new.core.{table}")
            left = {
                name
                for (name,) in con.execute(
                    "select column_name from duckdb_columns() where database_name = 'new' and schema_name = 'core' "
                    "and table_name = ?", [table],
                ).fetchall()
            } - {*theirs, NUMBER}  # fmt: skip
            for name in left:
                # What a migration fills in is nothing, or an empty text.
                held = con.execute(f"select count(nullif({name}::VARCHAR, '')) from new.core.{table}").fetchone()
                assert held == (0,), (table, name)
    old.replace(log)
