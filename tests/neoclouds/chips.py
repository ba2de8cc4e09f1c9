"""Names of chips, and others put in their place."""

import json
import re
from typing import Any

from neoclouds.json_tree import Path, at, walk
from neoclouds.mutation import Row

PLACEHOLDER = "Zzz"
NEW_CHIP = "Z900"
CHIP = re.compile(r"[A-Za-z]{1,4}\d{1,4}[A-Z]{0,2}")
NO_PRICE = (
    *("Contact sales", "-", "N/A", "", "Waitlist", "Request pricing", "Not available", "Coming Q1 2027"),
    *("$2.10 (promo)", "unlimited"),
)
IDENTIFIER = re.compile(r"(^|_)id$|Id$|^uuid$|slug|[cC]ode$")


def another(text: str, rows: set[Row]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return another text in place of one, and what was renamed.

    Where rows bear the text, or a part of it, that part alone is another: what stands beside it may be a number of
    chips. A chip gets the name of another chip, since the words beside it may be its memory.
    """
    text = " ".join(text.split())
    known = {value for row in rows for value in row if isinstance(value, str) and len(value) > 1}
    shared = max(
        (one for value in known for one in (value, text) if value in text or text in value), key=len, default=""
    )
    shared = max((value for value in known if value in text), key=len, default=shared)
    if not shared:
        return PLACEHOLDER, ((text, PLACEHOLDER),)
    chip = CHIP.search(shared)
    old, new = (chip[0], NEW_CHIP) if chip else (shared.split()[0], PLACEHOLDER)
    return text.replace(old, new), ((old, new),)


def renamed_row(doc: Any, path: Path, chip: str) -> tuple[Any, list[tuple[str, str]]]:
    """Return a copy of a row with another chip and identifiers of its own, and the texts that are new in it."""
    row = json.loads(json.dumps(at(doc, path)))
    renamed = [(chip, NEW_CHIP), (chip.lower(), NEW_CHIP.lower()), (chip.upper(), NEW_CHIP)]
    for inner, value in list(walk(row)):
        is_identifier = bool(inner) and isinstance(inner[-1], str) and IDENTIFIER.search(inner[-1]) is not None
        if is_identifier and type(value) is int:
            at(row, inner[:-1])[inner[-1]] = value + 1_000_000
        if not isinstance(value, str):
            continue
        new = re.sub(
            re.escape(chip),
            lambda found: NEW_CHIP.lower() if found[0].islower() else NEW_CHIP,
            value,
            flags=re.IGNORECASE,
        )
        if new == value and is_identifier and len(value) > 4:
            new = value[:-1] + ("1" if value[-1] != "1" else "2")
            renamed.append((value, new))
        at(row, inner[:-1])[inner[-1]] = new
    return row, renamed
