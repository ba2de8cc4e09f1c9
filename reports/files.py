"""Writing a page or feed: each appears whole or not at all, and stays as it is where nothing in it changed."""

import os
from pathlib import Path


def put(target: Path, text: str) -> None:
    """Write next to the target, flush, and rename into place, unless the target has the same bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    for left in target.parent.glob(f".{target.name}.*.part"):
        if not _is_alive(left.name.split(".")[-2]):
            left.unlink(missing_ok=True)
    body = text.encode()
    if target.is_file() and target.read_bytes() == body:
        return
    try:
        with part.open("wb") as file:
            file.write(body)
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
