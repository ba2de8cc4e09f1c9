"""Queries of the published file: one SELECT, read-only, with a time limit.

Whether a text is one SELECT is up to DuckDB's own parser. DESCRIBE, SHOW and SUMMARIZE are SELECTs to it, and so are
PRAGMA and CALL, in part: `json_serialize_sql`, which takes nothing but SELECT, has to take the text, too. A SELECT may
still call a function that does something; what such a function reaches is held back by how the file is opened.
"""

import contextlib
import io
import json
import logging
import textwrap
import threading
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb

from flows.shared import tabular
from flows.shared.output import PUBLISH_AGAIN, as_json, text_table
from reports.queries import select
from warehouse.errors import ChipledgerError, SettingsError
from warehouse.log.db import quote
from warehouse.schema.dictionary import DEPRECATED

LOG = logging.getLogger(__name__)

EVERYTHING = 1_000_000
"""Rows, and characters of a line, that an answer on stdout may have."""
DRAWN = 9999  # rows of a table, which people read
FIRST = (
    *("accelerator_name", "model_name", "service_provider_name", "purchase_option", "cheapest_price_usd"),
    *("price_per_accelerator_hour_usd", "usd_per_million_output_tokens", "unit_price", "form_factor"),
    *("commitment_class", "age_days", "instance_type", "region_id", "last_observed_at"),
)
"""Columns that a terminal shows first, where it cannot show all."""
LIST_WIDTH = 100
"""Characters of a line of a list of tables; an example's lines may be longer."""
MEMORY = "4GB"
"""Of one question; what takes more is refused, as nothing is written next to the file."""

LOCKED = {
    "temp_directory": "",
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}
"""How a file is opened for queries of others, in this order: the folder for what outgrows memory, which is none, can no
longer be changed once access is off; the last one makes the others final."""
PRIVATE = "private"
"""The name under which the private file is attached, where there is one, and of the folder for exports of it."""

DECIDED = """
select * exclude (run_id, document_sha256, decided_by, recorded_at), 1 as n_observed, observed_at as last_observed_at
from core.quarantine qualify decision is not null
and row_number() over (partition by quarantine_id order by recorded_at desc, decision nulls last) = 1
"""
RELATIONS = f"""(
    select * from (
        select schema_name, table_name as name, comment, null as parameters from duckdb_tables()
        where database_name = current_database()
        union all
        select schema_name, view_name, comment, null from duckdb_views() where database_name = current_database()
        union all
        select schema_name, function_name, comment, parameters from duckdb_functions()
        where database_name = current_database() and function_type = 'table_macro'
    ) where not starts_with(coalesce(comment, ''), '{DEPRECATED}')
)"""
"""The tables, views and table macros of a file, each with what a row of it is; of a macro its parameters as a list."""
TABLES = f"""
select
    concat(t.schema_name, '.', t.name, if(t.parameters is null, '', '()')) as name, t.comment as row,
    array_to_string(t.parameters, ', ') as parameters, m.example
from (
    from {RELATIONS}
    union all
    select database_name, table_name, comment, null from duckdb_tables() where database_name = '{PRIVATE}'
) as t
left join meta.model as m on t.schema_name = 'mart' and m.name = 'mart.' || t.name
where list_contains({{schemas}}, t.schema_name) and (t.parameters is null or t.comment is not null)
order by array_position({{schemas}}, t.schema_name), t.parameters is not null, m.rowid nulls last, t.name
"""
"""The question behind `query --list`: the tables and macros of `schemas`."""
LISTED = {"public": ["mart", PRIVATE], "all": ["mart", PRIVATE, "int", "ref", "focus", "core"]}
"""Which schemas `query --list` shows, and with `--all`: the public tables, and those of the private file."""


def ask(
    file: Path, sql: str, tables: str | None, *, form: str, timeout: float, width: int | None, target: Path | None,
    force: bool,
) -> list[str]:  # fmt: skip
    """Return the lines of the answer, or write it to `target`: what `chipledger query` has a process of its own do.

    The question is `sql`, or which `tables` there are: a name of LISTED, or None. Raises ChipledgerError.
    """
    sql = sql if tables is None else TABLES.format(schemas=LISTED[tables])
    if target is not None:
        save(file, sql, target, form=form, timeout=timeout, force=force)
        return []
    if tables and form == "table":
        return list(listed(file, sql, timeout=timeout))
    return [answer(file, sql, form=form, timeout=timeout, width=width or EVERYTHING)]


def answer(file: Path, sql: str, *, form: str, timeout: float, width: int = EVERYTHING) -> str:
    """Return the answer as text: a table cut to a width, CSV, or in JSON an array of objects. Raises ChipledgerError.

    Where a private file lies next to the published one, its tables are there as `private.<table>`.
    """
    with _connected(file, sql, timeout) as con:
        return _text(con, sql, form, width)


def listed(file: Path, sql: str, *, timeout: float) -> Iterator[str]:
    """Yield the lines of a list of tables for people, at most LIST_WIDTH wide: name, sentence, example."""
    with _connected(file, sql, timeout) as con:
        refuse_older(con, file)
        found = rows(con, sql, most=EVERYTHING)
    for row in found:
        name = row["name"] if row["parameters"] is None else f"{row['name'].removesuffix('()')}({row['parameters']})"
        yield from textwrap.wrap(name, LIST_WIDTH, subsequent_indent="    ")
        yield from textwrap.wrap(f"{row['row']}.", LIST_WIDTH, initial_indent="    ", subsequent_indent="    ")
        for line in (row["example"] or "").splitlines():
            yield f"        {line}"


def save(file: Path, sql: str, target: Path, *, form: str, timeout: float, force: bool) -> None:
    """Write the answer to a file, whole or not at all. Raises ChipledgerError, as where the file is there already."""
    tabular.refuse_existing([target], force=force)
    if not target.parent.is_dir():
        hint = "Make the folder first, or name another"
        raise ChipledgerError(
            "there is no such folder", source=str(target.parent), field="--output", value=str(target), hint=hint
        )
    with _connected(file, sql, timeout) as con:

        def write(part: Path) -> int:
            if form in ("parquet", "csv"):
                return (tabular.save_parquet if form == "parquet" else tabular.save_csv)(con, sql, part)
            return part.write_text(_text(con, sql, form, EVERYTHING) + "\n", encoding="utf-8")

        tabular.put(target, write, force=force)


@contextlib.contextmanager
def _connected(file: Path, sql: str, timeout: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection that reads the published file and nothing else, for `timeout` seconds, to answer one SELECT.

    It can neither write, nor reach other files or the network, nor load extensions, nor take these limits back.
    Raises ChipledgerError for anything but one SELECT.
    """
    with duckdb.connect(str(file), read_only=True) as con:
        attach_private(con, file)
        lock(con, memory=MEMORY)
        is_over = threading.Event()

        def stop() -> None:
            is_over.set()
            con.interrupt()

        watch = threading.Timer(timeout, stop)
        watch.start()
        try:
            refused = refusal(con, sql)
            if refused is not None:
                hint = "Allowed: one SELECT, WITH or FROM; `chipledger query --list` names the tables"
                raise SettingsError(refused, source=str(file), field="sql", value=sql, hint=hint)
            yield con
        except duckdb.Error as error:
            # An answer that is fetched piece by piece breaks with errors of other kinds, too.
            if is_over.is_set():
                hint = "Select less, or raise --timeout"
                raise ChipledgerError(f"stopped after {timeout:g} s", source=str(file), hint=hint) from None
            hint = "`chipledger query --list` names the tables"
            if isinstance(error, duckdb.CatalogException | duckdb.BinderException) and is_older(con):
                hint = PUBLISH_AGAIN
            elif f'schema "{PRIVATE}"' in str(error):
                hint = "The next run makes these tables, of the files that [private] of the settings names"
            is_wrong = isinstance(error, duckdb.ProgrammingError | duckdb.DataError)
            kind = SettingsError if is_wrong and hint != PUBLISH_AGAIN else ChipledgerError
            raise kind(str(error).strip(), source=str(file), field="sql", value=sql, hint=hint) from error
        finally:
            watch.cancel()


def is_older(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether a file lacks the schema `int`, as those of the versions before it do."""
    found = con.execute(
        "select 1 from duckdb_schemas() where schema_name = 'int' and database_name = current_database()"
    ).fetchone()
    return found is None


def refuse_older(con: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Raise ChipledgerError where a file was published by a version before this one's schema."""
    if is_older(con):
        raise ChipledgerError("the file was published by an older version", source=str(file), hint=PUBLISH_AGAIN)


def lock(con: duckdb.DuckDBPyConnection, *, memory: str) -> None:
    """Let a connection reach nothing but the files that it has open, within an amount of memory, for good."""
    con.execute(f"set memory_limit = {quote(memory)}")
    for name, value in LOCKED.items():
        con.execute(f"set {name} = {quote(value)}")


def refusal(con: duckdb.DuckDBPyConnection, sql: str) -> str | None:
    """Return why a text is not asked, None for one SELECT."""
    if "\0" in sql:
        return "a character NUL, at which DuckDB would end the question"
    try:
        statements = con.extract_statements(sql)
    except (duckdb.Error, RuntimeError) as error:
        return str(error).strip()
    if len(statements) != 1:
        return f"{len(statements)} statements; one is answered at a time"
    kind = statements[0].type
    if kind != duckdb.StatementType.SELECT:
        return f"{kind.name} is not answered, only SELECT is"
    try:
        found = con.execute("select json_serialize_sql(?::VARCHAR)", [sql]).fetchone()
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        return str(error).strip()
    return None if found is not None and not json.loads(found[0])["error"] else "only SELECT is answered"


def _text(con: duckdb.DuckDBPyConnection, sql: str, form: str, width: int) -> str:
    if form == "json":
        return as_json(rows(con, sql, most=EVERYTHING))
    if form == "table":
        return text_table(rows(con, sql, most=DRAWN), FIRST, width=width, is_open=True) or "No rows."
    text = io.StringIO()
    names, lines = tabular.cursor(con, sql)
    if tabular.write_csv(names, islice(lines, EVERYTHING + 1), text) > EVERYTHING:
        raise tabular.too_many(EVERYTHING)
    return text.getvalue().rstrip("\n")


def attach_private(con: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Attach the private file next to a published one, read-only, where there is one that can be read."""
    private = file.with_name(f"{PRIVATE}.duckdb")
    if private.exists():
        try:
            con.execute(f"attach {quote(str(private))} as {PRIVATE} (read_only)")
        except duckdb.Error as error:
            LOG.warning("the private file cannot be read: %s", str(error).splitlines()[0])


def refused(con: duckdb.DuckDBPyConnection, *, everything: bool) -> list[dict[str, Any]]:
    """Return the refused rows of a log or a published file, oldest first; `everything`: decided ones, too."""
    found = rows(con, select("refused")) + (rows(con, DECIDED) if everything else [])
    return sorted(found, key=itemgetter("observed_at", "source", "scope", "quarantine_id"))


def rows(
    con: duckdb.DuckDBPyConnection,
    sql: str,
    values: Sequence[object] | Mapping[str, object] = (),
    *,
    most: int | None = None,
    field: str = "",
) -> list[dict[str, Any]]:
    """Return the rows of one query as dicts by column; values are bound in order to `?`, or by name to `$name`.

    Raises ChipledgerError where there are more than `most`, and, with the name of a `field`, for what a macro refuses.
    """
    try:
        cursor = con.execute(sql, dict(values) if isinstance(values, Mapping) else list(values))
    except duckdb.InvalidInputException as error:
        if not field:
            raise
        message = str(error).splitlines()[0].removeprefix("Invalid Input Error: ").removeprefix(f"{field}: ")
        stated = values if isinstance(values, Mapping) else {}
        of_model = field, stated.get("model")
        field, value = next((each for each in stated.items() if message.startswith(each[0])), of_model)
        raise SettingsError(message, field=field, value=value) from error
    names = tabular.distinct([column[0] for column in cursor.description or ()])
    found = cursor.fetchall() if most is None else cursor.fetchmany(most + 1)
    if most is not None and len(found) > most:
        raise tabular.too_many(most)
    return [dict(zip(names, row, strict=True)) for row in found]


def columns(select: str) -> tuple[str, ...]:
    """Return the names of a select list."""
    return tuple(name.strip() for name in select.split(","))
