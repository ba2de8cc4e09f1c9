"""The part of a Savings Plan file that matters, cut out while the file streams by.

A region's file is hundreds of MB: every plan, term and payment times every machine, system and tenancy. A line can
become a price where it names an accelerator, and its operation is RunInstances or its machine SageMaker's; other
systems, software and licenses have a code after a colon (RunInstances:0002). Kept is what fits that, which is a little
more than the prices: `rules` decides.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator

from extract.aws.bulk import Excerpt, Head
from extract.aws.line_buffer import Kept
from extract.aws.savings_plans.rates import SOURCE_NAME, read_head
from warehouse.documents import Whole
from warehouse.errors import LayoutChanged

MARKERS = (b",RunInstances,", b"ml.")
"""One of them stands in every line that can become a price: EC2's operation, or the name of a SageMaker machine."""
NAMED = re.compile(
    rb'[:,."-](?:p|gr?|inf|trn|dl|vt|f|cg)\d'
    rb"|,(?:P|G|GR|Gr|INF|Inf|TRN|Trn|DL|Dl|VT|Vt|F|CG|Cg)\d[A-Za-z0-9]{0,8}(?:,|\r?\n)"
)
"""A name such as p5.48xlarge after what stands before one, or a family such as "P5" in a field of its own."""
MAX_HEAD_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 20
"""A line is below 1 KB; a megabyte without a line end is no list of rates."""


def cut(blocks: Iterable[bytes], *, url: str, progress: Callable[[int], None] = lambda size: None) -> Excerpt:
    """Return the excerpt of a streamed file, whatever the sizes of its blocks; raise LayoutChanged.

    A last line without an end is kept as it is, for `parse` to refuse the document.
    """
    digest = hashlib.sha256()
    size = 0

    def counted() -> Iterator[bytes]:
        nonlocal size
        for block in blocks:
            digest.update(block)
            size += len(block)
            progress(size)
            yield block

    stream = counted()
    start, head = _head(stream, url)
    kept = Kept(start[: head.size], source=SOURCE_NAME, url=url)
    tail = start[head.size :]
    for block in stream:
        end = block.rfind(b"\n") + 1
        if not end:
            tail += block
            if len(tail) > MAX_LINE_BYTES:
                raise _refusal(f"a line is longer than {MAX_LINE_BYTES} bytes", "body", url)
            continue
        kept.add(lines(tail + block[:end]))
        tail = block[end:]
    end = tail.rfind(b"\n") + 1
    kept.add(lines(tail[:end]))
    kept.add([tail[end:]])
    return Excerpt(head=head, body=kept.body, whole=Whole(size=size, sha256=digest.hexdigest()))


def lines(block: bytes) -> Iterator[bytes]:
    """Yield the lines that matter among whole ones, in their order."""
    found = sorted(at for marker in MARKERS for at in _positions(block, marker))
    end = 0
    for at in found:
        if at < end:
            continue  # marked twice in one line
        start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at) + 1
        line = block[start:end]
        if NAMED.search(line):
            yield line


def _positions(block: bytes, marker: bytes) -> Iterator[int]:
    at = block.find(marker)
    while at >= 0:
        yield at
        at = block.find(marker, at + len(marker))


def _head(stream: Iterator[bytes], url: str) -> tuple[bytes, Head]:
    start = b""
    for block in stream:
        start += block
        head = read_head(start)
        if head is not None:
            _check_unquoted(start[: head.size], url)
            return start, head
        if len(start) > MAX_HEAD_BYTES:
            break
    raise _refusal("expected a preamble and a header", "header", start[:80].decode("utf-8", "replace"))


def _check_unquoted(start: bytes, url: str) -> None:
    """Raise LayoutChanged where the header is quoted: then the lines may be too, and no marker would be found."""
    if start.rstrip(b"\r\n").rpartition(b"\n")[2].startswith(b'"'):
        raise _refusal("the header is quoted", "header", url)


def _refusal(message: str, field: str, value: str) -> LayoutChanged:
    return LayoutChanged(message, source=SOURCE_NAME, field=field, value=value, hint="It is no list of rates")
