"""The published file as the read API answers from it: opened for each answer, with units, documents and age.

Whether a price is current is computed as of now, not as of the building of the file: a file that no run has replaced
for a week has no current price.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from flows.read_api.free_sql import MEMORY
from flows.shared.query import columns, lock, rows
from warehouse.errors import ChipledgerError, did_you_mean

Row = dict[str, Any]


def wrong(message: str, field: str, value: object, hint: str = "") -> ChipledgerError:
    """Return the error of an argument."""
    return ChipledgerError(message, source="arguments", field=field, value=value, hint=hint)


@dataclass(frozen=True)
class Book:
    """One opening of the published file, as of a moment in UTC without a zone."""

    con: duckdb.DuckDBPyConnection
    path: Path
    now: datetime

    def rows(self, sql: str, values: Mapping[str, object] | None = None) -> list[Row]:
        """Return the rows of one query of this program; values are bound by name."""
        return rows(self.con, sql, values or {})

    def described(self) -> Row:
        """Return when and by which version the file was built, and how long ago."""
        (built,) = self.rows("select built_at, version from meta.build")
        age = round((self.now - built["built_at"]).total_seconds() / 3600, 2)
        return {"built_at": built["built_at"], "age_hours": age, "version": built["version"], "answered_at": self.now}

    def units(self, tables: Sequence[str], *select: str) -> dict[str, str]:
        """Return the unit of each column of select lists that has one in some tables."""
        found = self.rows(
            "select column_name, any_value(unit) as unit from mart.data_dictionary "
            "where unit is not null and list_contains($tables, table_schema || '.' || table_name) "
            "and list_contains($names, column_name) group by column_name order by column_name",
            {"tables": list(tables), "names": list(columns(", ".join(select)))},
        )
        return {row["column_name"]: row["unit"] for row in found}

    def known(self, field: str, value: str | None, column: str) -> str | None:
        """Return a value of a column of core.offer as the file writes it, in whatever case. Raises ChipledgerError."""
        if value is None:
            return None
        names = [row["name"] for row in self.rows(f"select distinct {column} as name from core.offer") if row["name"]]
        found = [value] if value in names else [one for one in names if one.casefold() == value.casefold()]
        if len(found) > 1:
            hint = f"Write one of: {', '.join(sorted(found))}"
            raise wrong(f"more than one {field} has this name in other letter cases", field, value, hint)
        if not found:
            raise wrong(f"the file has no such {field}", field, value, did_you_mean(value, names))
        return str(found[0])

    def as_of_now(self, found: Sequence[Row], *, source: str = "source") -> None:
        """Set in each row whether it is current now, and its document.

        A row has `is_current` as of the building of the file, `last_observed_at`, its source and `document_sha256`.
        """
        limits = self.rows("select source, max_age_hours from core.source where max_age_hours is not null")
        max_ages = {row["source"]: timedelta(hours=row["max_age_hours"]) for row in limits}
        documents = {
            row["document_sha256"]: row
            for row in self.rows(
                "select document_sha256, url, fetched_at, published_at from core.document "
                "where list_contains($hashes, document_sha256)",
                {"hashes": sorted({row["document_sha256"] for row in found} - {None})},
            )
        }
        for row in found:
            max_age = max_ages.get(row[source], timedelta.min)
            age = self.now - row["last_observed_at"]
            row["is_current"] = bool(row["is_current"] and timedelta() <= age <= max_age)
            row.pop("age_days", None)
            row["document"] = documents.get(row.pop("document_sha256"))
            if row["document"] is None:
                row.setdefault("unknown", {})["document"] = "no document of this price is stored"


@contextmanager
def opened(path: Path, now: datetime) -> Iterator[Book]:
    """Open the file for one question, locked for good. Raises ChipledgerError."""
    try:
        with duckdb.connect(str(path), read_only=True) as con:
            # Not as `config` of the connection: another connection that `cost` opens would have to state the same.
            con.execute("set threads = 2")
            lock(con, memory=MEMORY)
            yield Book(con, path, now.astimezone(UTC).replace(tzinfo=None))
    except (duckdb.CatalogException, duckdb.BinderException, duckdb.IOException) as error:
        message, hint = "the file was published by another version", "`chipledger build` publishes it anew"
        if isinstance(error, duckdb.IOException):
            message, hint = "the published file cannot be read", "`chipledger doctor` says more"
        value = str(error).splitlines()[0]
        raise ChipledgerError(message, source=str(path), field="file", value=value, hint=hint) from error


def of_one_file(published: Callable[[], Path], answer: Callable[[Path], Row]) -> Row:
    """Return an answer that comes from one file: computed again where a run replaced the file meanwhile."""
    while True:
        path = published()
        before = _identity(path)
        found = answer(path)
        if _identity(path) == before:
            return found


def _identity(path: Path) -> tuple[int, int, int]:
    stat = path.stat()
    return stat.st_dev, stat.st_ino, stat.st_mtime_ns


def cut(found: Sequence[Any], limit: int) -> tuple[list[Any], str | None]:
    """Return the first rows, and a sentence where there are more."""
    is_cut = len(found) > limit
    return list(found[:limit]), f"{limit} of {len(found)} are shown; name more, or raise limit" if is_cut else None
