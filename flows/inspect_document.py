"""One saved document through one source and the row gate, for people who debug a parser or check a price."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from extract.base import Source
from warehouse.documents import Document
from warehouse.events import naive
from warehouse.gates import row_gate
from warehouse.schemas import OBSERVATION


def read(source: Source, scope: str, file: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the accepted rows and the refusals of a document. Raises LayoutChanged."""
    moment = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    document = Document(source=source.name, scope=scope, url=file.name, body=file.read_bytes(), fetched_at=moment)
    accepted, refusals = row_gate(source.parse(document).rows, latest=naive(datetime.now(UTC)))
    refused = [
        {
            "error": refusal.reason,
            "source": source.name,
            "field": refusal.field,
            "value": refusal.value,
            "hint": "The row is left out; correct it at its source",
            "row": refusal.row_json,
        }
        for refusal in refusals
    ]
    return list(_shown(accepted).iter_rows(named=True)), refused


def _shown(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of an observation, and its own time where the document dates its prices itself."""
    return rows.select(*OBSERVATION, *(name for name in ("observed_at",) if name in rows.columns))
