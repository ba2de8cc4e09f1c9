"""A fetch after parsing: what the gates judge and the log stores, and what became of it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from warehouse.documents import RefusedRow
from warehouse.schema.tables import observation_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl


@dataclass(frozen=True, kw_only=True)
class ParsedFetch:
    """A fetch with the content of its documents. `rows` has the columns `tables.OBSERVATION` and `document_sha256`.

    Rows of an import bring an `observed_at` (naive UTC) of their own; all others share the fetch's.
    `error` is set, and `rows` empty, where the fetch failed or could not be parsed; `refused` where it was refused
    whole before it was parsed. `trusted` fetches, which a person read, pass the batch and history gates.
    `set_aside` are rows that are no prices as they are, with `reason`, `field`, `value`, a time of their own, and
    `is_withdrawn`: refused for good by their collector. `facts` are frames by the name of their table, which lack only
    `source`, `observed_at` and `recorded_at`. `unread` are rows of its documents that could not be read while most
    could.
    """

    run_id: str
    source: str
    scope: str
    observed_at: datetime
    complete: bool
    archived: bool
    document_sha256: str | None
    rows: "pl.DataFrame"
    error: str | None = None
    refused: str = ""
    trusted: bool = False
    facts: "Mapping[str, pl.DataFrame]" = field(default_factory=dict)
    set_aside: "pl.DataFrame | None" = None
    unread: tuple[RefusedRow, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ScopeResult:
    """What became of one fetch, and how many rows, refusals and events it gave.

    Its status is ok, empty (a scope that never had a price), known (loaded before), refused (whole) or failed.
    """

    source: str
    scope: str
    observed_at: datetime
    status: str
    n_rows: int = 0
    n_refused: int = 0
    n_events: int = 0
    error: str | None = None


def no_rows() -> "pl.DataFrame":
    """Return the empty frame of a fetch that gave nothing."""
    import polars as pl

    return pl.DataFrame(schema={**observation_schema(), "document_sha256": pl.String})
