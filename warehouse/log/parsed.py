"""A fetch after parsing: what the gates judge and the log stores."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from warehouse.documents import RefusedRow


@dataclass(frozen=True, kw_only=True)
class ParsedFetch:
    """A fetch with the content of its documents. `rows` has the columns `schemas.OBSERVATION` and `document_sha256`.

    Rows of an import bring an `observed_at` (naive UTC) of their own; all others share the fetch's.
    `error` is set, and `rows` empty, where the fetch failed or could not be parsed; `refused` where it was refused
    whole before it was parsed. `trusted` fetches, which a person read, pass the batch and history gates.
    `set_aside` are rows that are no prices as they are, with `reason`, `field`, `value`, a time of their own, and
    `is_withdrawn`: refused for good by their collector. `facts` are frames by the name of their table, for
    `warehouse.log.facts`. `unread` are rows of its documents that could not be read while most could.
    """

    run_id: str
    source: str
    scope: str
    observed_at: datetime
    complete: bool
    archived: bool
    document_sha256: str | None
    rows: pl.DataFrame
    error: str | None = None
    refused: str = ""
    trusted: bool = False
    facts: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    set_aside: pl.DataFrame | None = None
    unread: tuple[RefusedRow, ...] = ()
