"""Whether a text is one SELECT, by DuckDB's own parser: what `query` and the tool `query` of the read API answer.

DESCRIBE, SHOW and SUMMARIZE are SELECTs to the parser, and so are PRAGMA and CALL, in part: `json_serialize_sql`, which
takes nothing but SELECT, has to take the text, too. A SELECT may still call a function that does something; what such
a function reaches is held back by how the file is opened.
"""

import json

import duckdb

from warehouse.log.db import quote

LOCKED = {
    "temp_directory": "",
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}
"""How a file is opened for questions of others, in this order: the folder for what outgrows memory, which is none, can
no longer be changed once access is off; the last one makes the others final."""


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
