"""Free SQL for programs: one SELECT over the published file, in a process of its own (flows.shared.child).

What holds a question back besides that process's limits:
1. The file is opened read-only without access to other files, network or extensions, and the configuration is locked.
2. DuckDB's own parser must find one statement of type SELECT, and its `json_serialize_sql`, which refuses all but
   SELECT, must take it: PRAGMA and CALL are of that type to the parser.
3. Rows are read until there are enough of them, or enough bytes, and an answer that was cut says so.
"""

import json
import threading
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

import duckdb

from flows.shared import query
from flows.shared.output import plain
from warehouse.errors import ChipledgerError

MAX_ROWS = 1000
MAX_SECONDS = 30.0
MAX_CHARACTERS = 20_000
"""Of a question."""
MAX_BYTES = 200_000
"""Of the rows of an answer, as JSON."""
MEMORY = "256MB"
"""Of DuckDB, for one question."""
EXACT_INTEGER = 2**53
"""Up to here every JSON reader has integers exactly; a greater one is given as text."""


def answer(con: duckdb.DuckDBPyConnection, sql: str, *, rows: int, seconds: float) -> dict[str, Any]:
    """Return `columns` (name and type), `rows` (lists) and `cut` (rows, bytes or None); the connection is locked.

    Raises ChipledgerError.
    """

    def refusal(message: str, hint: str) -> ChipledgerError:
        return ChipledgerError(message, source="query", field="sql", value=sql, hint=hint)

    watch = threading.Timer(seconds, con.interrupt)
    watch.start()
    try:
        refused = query.refusal(con, sql)
        if refused is not None:
            hint = "Give one SELECT, WITH or FROM; the tool `schema` names the tables"
            raise refusal(refused.splitlines()[0], hint)
        cursor = con.execute(sql)
        columns = [{"name": column[0], "type": str(column[1])} for column in cursor.description or ()]
        return {"columns": columns, **_rows(cursor, rows)}
    except duckdb.InterruptException:
        raise refusal(f"stopped after {seconds:g} s", "Ask for less, or give seconds") from None
    except duckdb.Error as error:
        raise refusal(str(error).strip(), "The tool `schema` names the tables and their columns") from error
    finally:
        watch.cancel()


def _rows(cursor: duckdb.DuckDBPyConnection, most: int) -> dict[str, Any]:
    """Return rows up to a number and a size, and which of the two cut them."""
    kept: list[object] = []
    size = 0
    while (row := cursor.fetchone()) is not None:
        if len(kept) == most:
            return {"rows": kept, "cut": "rows"}
        line = [wire(value) for value in row]
        size += len(json.dumps(line, ensure_ascii=False).encode())
        if size > MAX_BYTES:
            return {"rows": kept, "cut": "bytes"}
        kept.append(line)
    return {"rows": kept, "cut": None}


def wire(value: object) -> Any:
    """Return a value as programs get it: amounts as the text of their digits, moments as UTC text ending in Z.

    NaN and infinities, which JSON has not, become None.
    """
    if isinstance(value, Decimal):
        return format(value.normalize(), "f") if value.is_finite() else None
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, int) and abs(value) > EXACT_INTEGER:
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(key): wire(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [wire(item) for item in value]
    return plain(value)
