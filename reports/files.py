"""Writing a page or feed: each appears whole or not at all."""

import os
from pathlib import Path


def put(target: Path, text: str) -> None:
    """Write beside the target, flush, and rename into place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
