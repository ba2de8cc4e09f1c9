"""What a reader gave as rows that can be compared: columns and texts, past the gates that stand before the log."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, is_dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
from fuzz.verdicts import Contradiction, Row

from extract.base import Parsed, Source
from warehouse.documents import Document
from warehouse.log.gates import row_gate
from warehouse.schema.tables import IDENTITY

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
AMOUNTS = ("unit_price", "upfront_price")
TIME = "observed_at"


def row(values: Mapping[str, Any], table: str = "") -> Row:
    """Return a mapping as a row; what is NULL is not there."""
    found = {(name, text(value)) for name, value in values.items() if value is not None}
    return frozenset({*found, ("table", table)} if table else found)


def text(value: Any) -> str:
    if isinstance(value, Decimal):
        plain = format(value, "f")
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value)


def of_parsed(parsed: Parsed) -> Collection[Row]:
    """Return the rows and facts of a source's document that the row and batch gates let through."""
    latest = NOW.replace(tzinfo=None)
    accepted, _ = row_gate(parsed.rows, latest=latest) if parsed.rows.height else (parsed.rows, [])
    wanted = [name for name in (*IDENTITY, *AMOUNTS, TIME) if name in accepted.columns]
    found = {row(each) for each in accepted.select(wanted).iter_rows(named=True)}
    offers = {frozenset(pair for pair in each if pair[0] not in AMOUNTS) for each in found}
    if len(offers) < len(found):
        raise Contradiction("one offer has two prices", source="batch gate")
    for name, frame in parsed.facts.items():
        found |= {row(each, name) for each in frame.iter_rows(named=True)}
    return found


def of_source(source: Source, *, scope: str = "", parameters: Mapping[str, str] | None = None
              ) -> Callable[[bytes], Collection[Row]]:  # fmt: skip
    """Return a reader of one source's documents."""

    def read(body: bytes) -> Collection[Row]:
        return of_parsed(
            source.parse(
                Document(
                    source=source.name, scope=scope, url=source.url, body=body, fetched_at=NOW,
                    parameters=parameters or {},
                )
            )
        )  # fmt: skip

    return read


def of_frames(frames: Mapping[str, pl.DataFrame]) -> Collection[Row]:
    """Return the rows of an import past the gates, by origin."""
    found: set[Row] = set()
    for origin, frame in frames.items():
        named = of_parsed(Parsed(rows=frame))
        found |= {frozenset({*each, ("origin", origin)}) for each in named}
    return found


def of_values(values: Iterable[Any]) -> Collection[Row]:
    """Return dataclasses or mappings as rows."""
    return {row(_named(each)) for each in values}


def _named(value: Any) -> Mapping[str, Any]:
    """Return the fields of a dataclass or a named tuple by name; a mapping as it is."""
    if isinstance(value, tuple):
        return dict(value._asdict())  # type: ignore[attr-defined]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
