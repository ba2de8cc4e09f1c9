"""Free SQL for programs: one SELECT over the published file, in a process of its own that is ended when time is up.

What holds a question back, from the outside in:
1. The process has no environment but its import path, may write to no file (RLIMIT_FSIZE 0), has ADDRESS_SPACE_BYTES,
   and is killed GRACE_S after the time allowed: some functions of DuckDB cannot be interrupted, and a value can outgrow
   DuckDB's own limit of memory.
2. The file is opened read-only without access to other files, network or extensions, and the configuration is locked.
3. DuckDB's own parser must find one statement of type SELECT, and its `json_serialize_sql`, which refuses all but
   SELECT, must take it: PRAGMA and CALL are of that type to the parser.
4. Rows are read until there are enough of them, or enough bytes, and an answer that was cut says so.
"""

import contextlib
import json
import os
import sys
import threading
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from pathlib import Path
from subprocess import PIPE, Popen
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
GRACE_S = 2.0
MEMORY = "256MB"
ADDRESS_SPACE_BYTES = 1024**3
EXACT_INTEGER = 2**53
"""Up to here every JSON reader has integers exactly; a greater one is given as text."""


class Asker:
    """Puts questions to a process of its own, which is started when needed; one question at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Popen[str] | None = None

    def ask(self, file: Path, sql: str, *, rows: int, seconds: float) -> dict[str, Any]:
        """Return `columns` (name and type), `rows` (lists) and `cut` (rows, bytes or None). Raises ChipledgerError."""
        with self._lock:
            reply = self._reply({"file": str(file), "sql": sql, "rows": rows, "seconds": seconds}, seconds + GRACE_S)
        if reply is None:
            message = f"stopped: it took more than {seconds:g} s or more memory than a question may have"
            hint = "Ask for less, or for fewer rows at once"
            raise ChipledgerError(message, source=str(file), field="sql", value=sql, hint=hint)
        if "error" in reply:
            raise ChipledgerError(reply["error"], source=str(file), field="sql", value=sql, hint=reply["hint"])
        return reply

    def close(self) -> None:
        with self._lock:
            self._end()

    def _reply(self, question: Mapping[str, object], seconds: float) -> dict[str, Any] | None:
        """Return the answer; None where the process did not give one in time, or died of the question."""
        child = self._child = self._child if self._child and self._child.poll() is None else _start()
        assert child.stdin is not None and child.stdout is not None  # noqa: S101 - both are pipes, for the type checker
        watch = threading.Timer(seconds, child.kill)
        watch.start()
        try:
            child.stdin.write(json.dumps(question) + "\n")
            child.stdin.flush()
            line = child.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            watch.cancel()
        if not line.endswith("\n"):
            self._end()
            return None
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            with contextlib.suppress(OSError), self._child:  # which closes its pipes and waits for it
                pass
            self._child = None


def _start() -> "Popen[str]":
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "SYSTEMROOT") if name in os.environ}
    # -P: a folder called flows where the server was started is none of ours.
    command = [sys.executable, "-P", "-m", "flows.read_api.query_process"]
    return Popen(command, stdin=PIPE, stdout=PIPE, env=kept, text=True, encoding="utf-8")  # noqa: S603 - all ours


def main() -> None:
    """Answer the questions on stdin, a JSON object a line, until it ends."""
    _bound()
    for line in sys.stdin:
        question = json.loads(line)
        try:
            reply = answer(**question)
        except MemoryError:
            reply = {"error": "it takes more memory than a question may have", "hint": "Ask for less"}
        sys.stdout.write(json.dumps(reply, ensure_ascii=False) + "\n")
        sys.stdout.flush()


def _bound() -> None:
    """Let this process write no file and have no more memory than it should, where the system can do that."""
    with contextlib.suppress(ImportError):  # Windows has no such limits
        import resource

        for kind, most in ((resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_AS, ADDRESS_SPACE_BYTES)):
            with contextlib.suppress(OSError, ValueError):  # macOS does not take the second
                resource.setrlimit(kind, (most, most))


def answer(file: str, sql: str, rows: int, seconds: float) -> dict[str, Any]:
    """Return what `Asker.ask` returns, or `error` and `hint`."""
    with duckdb.connect(file, read_only=True, config={"threads": 2}) as con:
        query.lock(con, memory=MEMORY)
        watch = threading.Timer(seconds, con.interrupt)
        watch.start()
        try:
            refused = query.refusal(con, sql)
            if refused is not None:
                return {
                    "error": refused.splitlines()[0],
                    "hint": "Give one SELECT, WITH or FROM; the tool `schema` names the tables",
                }
            cursor = con.execute(sql)
            columns = [{"name": column[0], "type": str(column[1])} for column in cursor.description or ()]
            return {"columns": columns, **_rows(cursor, rows)}
        except duckdb.InterruptException:
            return {"error": f"stopped after {seconds:g} s", "hint": "Ask for less, or give seconds"}
        except duckdb.Error as error:
            return {"error": str(error).strip(), "hint": "The tool `schema` names the tables and their columns"}
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


if __name__ == "__main__":
    main()
