"""The published file as programs are told of it: opened anew for each answer, with units, documents and age.

Whether a price is current is said as of now, not as of the building of the file: a file that no run has replaced for a
week has no current price.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from flows.read_api.inputs import near, wrong
from flows.shared.query import rows
from warehouse.errors import ChipledgerError

Row = dict[str, Any]

DOCUMENT = ("document_sha256", "url", "fetched_at", "published_at")


class Book:
    """One opening of the published file: its questions, and what every answer says of it."""

    def __init__(self, con: duckdb.DuckDBPyConnection, path: Path, now: datetime) -> None:
        self.con = con
        self.path = path
        self.now = now.astimezone(UTC).replace(tzinfo=None)

    def rows(self, sql: str, values: Mapping[str, object] | None = None) -> list[Row]:
        """Return the rows of one question of ours; values are bound by name."""
        return rows(self.con, sql, values or {})

    def described(self) -> Row:
        """Return when and by which version the file was built, and how long ago."""
        (built,) = self.rows("select built_at, version from meta.build")
        return {
            "built_at": built["built_at"],
            "age_hours": round((self.now - built["built_at"]).total_seconds() / 3600, 2),
            "version": built["version"],
            "answered_at": self.now,
        }

    def units(self, tables: Sequence[str], names: Iterable[str]) -> dict[str, str]:
        """Return the unit of each named column of some tables of core and mart that has one."""
        found = self.rows(
            "select column_name, any_value(unit) as unit from mart.data_dictionary "
            "where unit is not null and list_contains($tables, table_schema || '.' || table_name) "
            "and list_contains($names, column_name) group by column_name order by column_name",
            {"tables": list(tables), "names": list(names)},
        )
        return {row["column_name"]: row["unit"] for row in found}

    def known(self, field: str, value: str | None, column: str) -> str | None:
        """Return a name as the file writes it, whatever its case. Raises ChipledgerError for one it does not have."""
        if value is None:
            return None
        # `column` is a name of ours, of core.offer.
        names = [row["name"] for row in self.rows(f"select distinct {column} as name from core.offer") if row["name"]]
        found = [value] if value in names else [one for one in names if one.casefold() == value.casefold()]
        if len(found) > 1:
            raise wrong(f"more than one {field} is written so", field, value, f"There are: {', '.join(sorted(found))}")
        if not found:
            raise wrong(f"the file has no such {field}", field, value, near(value, names))
        return str(found[0])

    def settled(self, found: Sequence[Row], *, source: str = "source") -> None:
        """Say of each row whether it is current now, and of which document it is, in place.

        A row has `is_current` as of the building of the file, `last_observed_at`, its source and `document_sha256`.
        """
        ages = {
            row["source"]: row["max_age_hours"] for row in self.rows("select source, max_age_hours from core.source")
        }
        documents = self.documents({row["document_sha256"] for row in found})
        for row in found:
            most = ages.get(row[source])
            row["is_current"] = bool(
                row["is_current"] and most is not None and self.now - row["last_observed_at"] <= timedelta(hours=most)
            )
            row.pop("age_days", None)
            row["document"] = documents.get(row.pop("document_sha256"))
            if row["document"] is None:
                row.setdefault("unknown", {})["document"] = "no document of this price is kept"

    def documents(self, hashes: Iterable[str | None]) -> dict[str, Row]:
        """Return what is known of documents, by their SHA-256."""
        found = self.rows(
            f"select {', '.join(DOCUMENT)} from core.document where list_contains($hashes, document_sha256)",
            {"hashes": sorted(filter(None, {*hashes}))},
        )
        return {row["document_sha256"]: row for row in found}


@contextmanager
def opened(path: Path, now: datetime) -> Iterator[Book]:
    """Open the file for questions of ours, as nothing else can be asked of it. Raises ChipledgerError."""
    try:
        with duckdb.connect(str(path), read_only=True) as con:
            # Not as `config` of the connection: what `cost` opens beside it would have to say the same.
            con.execute("set enable_external_access = false")
            con.execute("set lock_configuration = true")
            yield Book(con, path, now)
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        raise ChipledgerError(
            "the file was published by another version",
            source=str(path),
            field="file",
            value=str(error).splitlines()[0],
            hint="`chipledger build` publishes it anew",
        ) from error
    except duckdb.IOException as error:
        raise ChipledgerError(
            "the published file cannot be read",
            source=str(path),
            field="file",
            value=str(error).splitlines()[0],
            hint="`chipledger doctor` says more",
        ) from error


def of_one_file(published: Callable[[], Path], answer: Callable[[Path], Row]) -> Row:
    """Return an answer that comes from one file: given anew where a run replaced the file meanwhile."""
    while True:
        path = published()
        before = _identity(path)
        found = answer(path)
        if _identity(path) == before:
            return found


def _identity(path: Path) -> tuple[int, int, int]:
    said = path.stat()
    return said.st_dev, said.st_ino, said.st_mtime_ns


def cut(found: Sequence[Row], limit: int) -> tuple[list[Row], str | None]:
    """Return the first rows, and in words that there are more."""
    if len(found) <= limit:
        return list(found), None
    return list(found[:limit]), f"{limit} of {len(found)} are shown; name more, or raise limit"
