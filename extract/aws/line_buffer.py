"""What is kept of a streamed file, up to a limit: one in which every line seems to matter must not fill memory."""

from collections.abc import Iterable

from warehouse.errors import LayoutChanged

EXCERPT_LIMIT_BYTES = 64 << 20
"""Several times the excerpt of the largest region."""


class Kept:
    """Lines in the order in which they came; raises LayoutChanged beyond the limit."""

    def __init__(self, head: bytes, *, source: str, url: str) -> None:
        self._lines, self._size = [head], len(head)
        self._source, self._url = source, url

    def add(self, lines: Iterable[bytes]) -> None:
        """Keep lines."""
        for line in lines:
            self._lines.append(line)
            self._size += len(line)
            if self._size > EXCERPT_LIMIT_BYTES:
                message = f"the lines that matter exceed {EXCERPT_LIMIT_BYTES} bytes"
                hint = f"It is another file than expected: {self._url}"
                raise LayoutChanged(message, source=self._source, field="size", value=self._size, hint=hint)

    @property
    def body(self) -> bytes:
        """Return all of it."""
        return b"".join(self._lines)
