"""One saved document through one source and the row gate, for people who debug a parser or check a price."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from extract.base import Source
from flows.shared import user_file
from warehouse.documents import Document
from warehouse.log.events import naive
from warehouse.log.gates import row_gate
from warehouse.reference import accelerators
from warehouse.schema.tables import OBSERVATION


def read(source: Source, scope: str, file: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
    """Return the accepted rows, each with the chip that its label names, the refusals, and what to say if all is empty.

    Raises LayoutChanged.
    """
    body = user_file.read(file)
    moment = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    document = Document(source=source.name, scope=scope, url=file.name, body=body, fetched_at=moment)
    parsed = source.parse(document)
    accepted, refusals = row_gate(parsed.rows, latest=naive(datetime.now(UTC)))
    found = [(one.reason, one.field, one.value, one.content) for one in parsed.refused]
    found += [(one.reason, one.field, one.value, one.row_json) for one in refusals]
    refused = [
        {
            "error": reason,
            "source": source.name,
            "field": field,
            "value": value,
            "hint": "The row is left out; correct it at its source",
            "row": row,
        }
        for reason, field, value, row in found
    ]
    # Its own time, where the document dates its prices itself.
    shown = [*OBSERVATION, "observed_at"] if "observed_at" in accepted.columns else list(OBSERVATION)
    rows = [row | _chip(row) for row in accepted.select(shown).iter_rows(named=True)]
    left_out = "; ".join(f"{reason}: {n}" for reason, n in sorted(parsed.ignored.items())) or "no row left out"
    return rows, refused, "" if rows or refused else f"no price of an accelerator in {file.name} ({left_out})"


def _chip(row: dict[str, Any]) -> dict[str, Any]:
    """Return what is read today in the provider's words for the chip; nothing for a machine that AWS's table knows."""
    label = row["accelerator_label"]
    if label is None:
        return {}
    read = accelerators.resolve(label, row["service_provider_name"])
    return dict.fromkeys(accelerators.Chip._fields) if read is None else read._asdict()
