"""One saved document through one source and the row gate, for people who debug a parser or check a price; and its
shape: its fields with their types, its columns and headings, and none of its values.

Two shapes are compared as text. A JSON object whose keys are names of things is `{}`; a list is `[]`.
"""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from extract.base import Source
from extract.neoclouds.answers import PAGES
from extract.web import strict_xml
from flows.shared import user_file
from warehouse.documents import Document
from warehouse.log.events import naive
from warehouse.log.gates import row_gate
from warehouse.reference import accelerators
from warehouse.schema.tables import OBSERVATION

MAX_LINES = 2000
MAX_TEXT = 80
KINDS: dict[type, str] = {str: "text", bool: "flag", int: "number", float: "number", type(None): "null"}
_FIELD = re.compile(r"[A-Za-z_$@][A-Za-z_$]*\d?[A-Za-z_]*")
HEADINGS = {"h1": "heading", "h2": "heading", "h3": "heading", "th": "column", "dt": "term"}


def read(source: Source, scope: str, file: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
    """Return the accepted rows, each with the chip that its label names, the refusals, and what was left out.

    Raises LayoutChanged.
    """
    body = user_file.read(file)
    moment = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    document = Document(source=source.name, scope=scope, url=file.name, body=body, fetched_at=moment)
    parsed = source.parse(document)
    accepted, refusals = row_gate(parsed.rows, latest=naive(datetime.now(UTC)))
    refused = [
        {
            "error": one.reason,
            "source": source.name,
            "field": one.field,
            "value": one.value,
            "hint": "The row is left out; correct it at its source",
            "row": one.content,
        }
        for one in (*parsed.refused, *refusals)
    ]
    # Its own time, where the document dates its prices itself.
    shown = [*OBSERVATION, "observed_at"] if "observed_at" in accepted.columns else list(OBSERVATION)
    rows = [row | _chip(row) for row in accepted.select(shown).iter_rows(named=True)]
    reasons = [f"{reason}: {n}" for reason, n in sorted(parsed.ignored.items())]
    left_out = "; ".join([*reasons, *(f"no rule for {name}" for name in parsed.unknown)])
    if rows or refused:
        return rows, refused, left_out and f"left out: {left_out}"
    return rows, refused, f"no price of an accelerator in {file.name} ({left_out or 'no row left out'})"


def _chip(row: dict[str, Any]) -> dict[str, Any]:
    """Return what is read today in the provider's words for the chip; nothing for a machine that AWS's table knows."""
    label = row["accelerator_label"]
    if label is None:
        return {}
    read = accelerators.resolve(label, row["service_provider_name"])
    return dict.fromkeys(accelerators.Chip._fields) if read is None else read._asdict()


# --- shapes


def known_shapes() -> dict[str, list[str]]:
    """Return the shapes that the package's sources were written for, by the name of the source."""
    text = (resources.files("extract") / "shapes.json").read_text(encoding="utf-8")
    found: dict[str, list[str]] = json.loads(text)
    return found


def shape_of(body: bytes) -> list[str]:
    """Return the lines of a document's shape, sorted; none where it is nothing that has one."""
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")
    try:
        if start[:1] in (b"{", b"["):
            types = defaultdict[str, set[str]](set)
            for path, kind in _json(json.loads(body), ""):
                types[path.removeprefix(f"{PAGES}[].")].add(kind)
            lines = {f"{path}: {' or '.join(sorted(kinds))}" for path, kinds in types.items()}
        elif start[:1] == b"<":
            lines = set(_html(body) if b"<html" in start[:4000].lower() else _xml(strict_xml.root(body), ""))
        else:
            head = next(line for line in start.decode().splitlines()[:20] if "SKU" in line or "\t" in line)
            lines = {f"column: {name}" for name in next(csv.reader([head]))}
    except (ValueError, RecursionError, StopIteration):
        return []
    return sorted(lines)[:MAX_LINES]


def differences(before: list[str], now: list[str]) -> list[str]:
    """Return what is gone (- ...) and what is new (+ ...); gone first, as a reader of prices breaks by that."""
    return [f"- {line}" for line in before if line not in now] + [f"+ {line}" for line in now if line not in before]


def _json(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        is_map = bool(value) and not all(_FIELD.fullmatch(name) for name in value)
        for name, inner in value.items():
            yield from _json(inner, f"{path}{{}}" if is_map else f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _json(inner, f"{path}[]")
    else:
        yield path, KINDS[type(value)]


def _html(body: bytes) -> Iterator[str]:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(body.decode("utf-8", "replace"))
    for tag, word in HEADINGS.items():
        yield from (f"{word}: {' '.join(node.text().split())[:MAX_TEXT]}" for node in tree.css(tag))
    for node in tree.css("script[type], script[id]"):
        yield f"script: {node.attributes.get('id') or node.attributes.get('type')}"


def _xml(element: Any, path: str) -> Iterator[str]:
    here = f"{path}/{element.tag.rpartition('}')[2]}"
    yield here
    for child in element:
        yield from _xml(child, here)
