"""Writing a page or feed: each appears whole or not at all."""

import os
from pathlib import Path


def put(target: Path, text: str) -> None:
    """Write beside the target, flush, and rename into place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    for left in target.parent.glob(f".{target.name}.*.part"):
        if not _is_alive(left.name.split(".")[-2]):
            left.unlink(missing_ok=True)
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _is_alive(process: str) -> bool:
    """Return whether a process of this number may still be writing."""
    try:
        os.kill(int(process), 0)
    except ValueError:
        return True  # not a name of ours
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
