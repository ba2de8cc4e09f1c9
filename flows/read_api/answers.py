"""What a process of its own does for one question of the read API: open the file, ask the tool, write the answer."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from flows.read_api.free_sql import wire
from flows.read_api.published_file import opened
from flows.read_api.tools import TOOLS

BY_NAME = {function.__name__: function for function in TOOLS}


def answer(path: Path, now: datetime, tool: str, arguments: Mapping[str, Any]) -> Any:
    """Return the answer of a tool, as JSON has it: of which file, what was asked, and what was found.

    Raises ChipledgerError.
    """
    # A long list is not repeated in the answer.
    stated = {name: value for name, value in arguments.items() if not isinstance(value, list | None)}
    with opened(path, now) as book:
        found = BY_NAME[tool](book, **arguments)
        return wire({"file": book.described(), "asked": stated | found.pop("asked", {}), **found})
