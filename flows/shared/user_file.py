"""Files that a person names: read whole, gzip as what it holds, never without end; stored under a printable name.

A name and its content may come from anybody: a device or a pipe has no end, and a name may hold line ends.
"""

import gzip
import zlib
from pathlib import Path

from warehouse.errors import ChipledgerError
from warehouse.reference.table import UserFile

MAX_BYTES = 1 << 30
"""Of an import, or a saved document: ten times the longest history, and forty times the largest price list kept."""
SMALL_BYTES = 64 << 20
"""Of what people write: fleets and prices of their own, claims."""
MAX_NAME = 200


def read(file: Path, *, most: int = MAX_BYTES) -> bytes:
    """Return the bytes that a file holds; raise ChipledgerError where it is no regular file or has more than `most`."""
    try:
        if not file.is_file():
            raise _refusal(file, "not a regular file", "Save it as a file first")
        with file.open("rb") as opened:
            is_packed = opened.peek(2).startswith(b"\x1f\x8b")
            body = (gzip.GzipFile(fileobj=opened) if is_packed else opened).read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise _refusal(file, f"cannot be read: {reason}", "Check its name and rights, and that it is whole") from error
    if len(body) > most:
        raise _refusal(file, f"has more than {most} bytes", "Check that it is the right file, or split it")
    return body


def table(file: Path) -> UserFile:
    """Return a table that a person wrote, read once. Raises ChipledgerError as `read` does."""
    return UserFile(file.name, read(file, most=SMALL_BYTES))


def name(file: Path) -> str:
    """Return the name under which a file is kept. Raises ChipledgerError for one that cannot be shown or written."""
    if not file.name.isprintable() or len(file.name) > MAX_NAME:
        hint = f"Rename it: up to {MAX_NAME} printable characters"
        raise _refusal(file, "the name is too long or not printable", hint)
    return file.name


def _refusal(file: Path, message: str, hint: str) -> ChipledgerError:
    return ChipledgerError(message, source=file.name, field="file", value=str(file), hint=hint)
