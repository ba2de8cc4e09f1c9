"""The part of a bulk price list that matters, cut out while the file streams by.

A region's file is 300 MB and more, of which accelerators are one line in a hundred. A line that can become a price
has the operation RunInstances, which it shares with one line in ten: these are found by a search for the quoted
bytes, and of them the first of each product is read as CSV. So every product of that operation is judged by the
rules themselves, whatever its family is called, and the result is the same as that of reading every line.
"""

import csv
import hashlib
import io
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Self

from extract.aws.bulk import Excerpt, Head
from extract.aws.line_buffer import Kept
from extract.aws.price_list import offer_csv
from extract.aws.price_list.rules import CAPACITY_BLOCK_OPERATION, OPERATION, SOURCE_NAME, matters
from warehouse.documents import Whole
from warehouse.errors import LayoutChanged

MARKERS = (f'"{OPERATION}"'.encode(), f'"{CAPACITY_BLOCK_OPERATION}"'.encode())
MAX_HEAD_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 20
"""A line is below 1 KB; a megabyte without a line end is no price list."""
BLOCKS_AHEAD = 8
"""Blocks of about 1 MiB that may wait to be hashed."""
HASHED_TOGETHER = 4
"""Blocks hashed in one go: each go waits for the interpreter's lock before and after."""

PRODUCT_COLUMNS = ("Instance Type", "Instance Family", "GPU", "Tenancy", "Operating System", "operation")
"""What `rules.matters` looks at."""


def cut(blocks: Iterable[bytes], *, url: str, progress: Callable[[int], None] = lambda size: None) -> Excerpt:
    """Return the excerpt of a streamed file, whatever the sizes of its blocks; raise LayoutChanged.

    A last line without an end is kept as it is, for `parse` to refuse the document.
    """
    with _Digest() as digest:
        stream = _counted(blocks, digest, progress)
        start, head = _head(stream, url)
        kept = Kept(start[: head.size], source=SOURCE_NAME, url=url)
        selector = _Selector(head, start[: head.size])
        tail = start[head.size :]
        for block in stream:
            first, last = block.find(b"\n") + 1, block.rfind(b"\n") + 1
            if not last:
                tail += block
                if len(tail) > MAX_LINE_BYTES:
                    message = f"a line is longer than {MAX_LINE_BYTES} bytes"
                    raise LayoutChanged(
                        message, source=SOURCE_NAME, field="body", value=url, hint="It is no price list"
                    )
                continue
            # The rest of a block is searched where it lies: only the line across two blocks is put together.
            kept.add(selector.lines(tail + block[:first]))
            kept.add(selector.lines(block, first, last))
            tail = block[last:]
        whole_lines = tail.rfind(b"\n") + 1
        kept.add(selector.lines(tail, 0, whole_lines))
        kept.add([tail[whole_lines:]])
    return Excerpt(head=head, body=kept.body, whole=Whole(size=digest.size, sha256=digest.hex))


def _head(stream: Iterator[bytes], url: str) -> tuple[bytes, Head]:
    start = b""
    for block in stream:
        start += block
        head = offer_csv.read_head(start, url=url)
        if head is not None:
            return start, head
        if len(start) > MAX_HEAD_BYTES:
            break
    message = "expected a preamble and a header"
    raise LayoutChanged(
        message, source=SOURCE_NAME, field="header", value=start[:80].decode("utf-8", "replace"), hint=url
    )


class _Selector:
    """Selects lines; knows the columns, and remembers the product that it judged last."""

    def __init__(self, head: Head, start: bytes) -> None:
        self._columns = offer_csv.Columns(head.header)
        names = list(head.header)
        # From the first of these columns on, the lines of one product are the same, where the price comes before.
        family = names.index("Product Family") if "Product Family" in names else len(names)
        together = all(names.index(name) > family for name in PRODUCT_COLUMNS if name in names)
        self._product_mark = b',"Compute Instance' if together else b""
        self._quoted = all(each.startswith('"') for each in _last_line(start).split(","))
        self._product, self._matters = b"", False

    def lines(self, block: bytes, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the lines of a block that matter, in the order of the file."""
        end = len(block) if end is None else end
        if start >= end:
            return
        if not self._quoted or block[start : start + 1] != b'"':
            # Nothing to search for: every line is read.
            yield from (line for line in io.BytesIO(block[start:end]) if self._keep(line))
            return
        found = [at for marker in MARKERS for at in _positions(block, marker, start, end)]
        line_end = start
        for at in sorted(found):
            if at < line_end:
                continue  # the marker occurs twice in one line
            line_start = block.rfind(b"\n", start, at) + 1 or start
            line_end = block.find(b"\n", at, end) + 1
            line = block[line_start:line_end]
            if self._keep(line):
                yield line

    def _keep(self, line: bytes) -> bool:
        """Return whether a line matters; one that cannot be read does, so that `parse` refuses it by name."""
        mark = line.find(self._product_mark) if self._product_mark else -1
        if mark >= 0 and line[mark:] == self._product:
            return self._matters
        try:
            (fields,) = csv.reader([line.decode("utf-8")], strict=True)
        except (ValueError, csv.Error):
            return True
        matter = len(fields) != self._columns.width or matters(self._columns.product(fields))
        if mark >= 0:
            self._product, self._matters = line[mark:], matter
        return matter


def _last_line(start: bytes) -> str:
    return start.rstrip(b"\r\n").rpartition(b"\n")[2].decode("utf-8")


def _positions(block: bytes, marker: bytes, start: int, end: int) -> Iterator[int]:
    at = block.find(marker, start, end)
    while at >= 0:
        yield at
        at = block.find(marker, at + len(marker), end)


def _counted(blocks: Iterable[bytes], digest: "_Digest", progress: Callable[[int], None]) -> Iterator[bytes]:
    for block in blocks:
        digest.update(block)
        progress(digest.size)
        yield block


class _Digest:
    """SHA-256 of a stream, made in a thread of its own: hashing does not hold the interpreter's lock."""

    def __init__(self) -> None:
        self.size = 0
        self.hex = ""
        self._waiting: queue.Queue[bytes | None] = queue.Queue(maxsize=BLOCKS_AHEAD)
        self._thread = threading.Thread(target=self._work, name="sha256", daemon=True)

    def update(self, block: bytes) -> None:
        self.size += len(block)
        self._waiting.put(block)

    def _work(self) -> None:
        digest = hashlib.sha256()
        blocks: list[bytes] = []
        while (block := self._waiting.get()) is not None:
            blocks.append(block)
            if len(blocks) == HASHED_TOGETHER:
                digest.update(b"".join(blocks))
                blocks.clear()
        digest.update(b"".join(blocks))
        self.hex = digest.hexdigest()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._waiting.put(None)
        self._thread.join()
