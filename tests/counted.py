"""A connection that counts what is asked of it, and the rows that Python gets back."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import duckdb


@dataclass(eq=False)
class Counted:
    """A connection to DuckDB and its counts, `statements` and `rows`."""

    con: duckdb.DuckDBPyConnection
    counts: Counter[str] = field(default_factory=Counter)

    def execute(self, *given: Any, **named: Any) -> "Counted":
        """Count a statement and do it."""
        self.counts["statements"] += 1
        self.con.execute(*given, **named)
        return self

    def fetchall(self) -> list[Any]:
        """Return the rows, counted."""
        rows = self.con.fetchall()
        self.counts["rows"] += len(rows)
        return rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self.con, name)
