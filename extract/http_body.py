"""The bodies of HTTP answers, decoded here and not by urllib3.

A body that was cut short must be an error that says how much came, and one that swells beyond its limit must be
refused before it fills the memory.
"""

import http.client
import time
import zlib
from collections.abc import Iterator

import urllib3
from urllib3.exceptions import HTTPError

from warehouse.errors import SourceError, Unavailable

BLOCK_BYTES = 1 << 20
GZIP = zlib.MAX_WBITS | 16


class BrokenOff(Unavailable):
    """A body broke off after it had begun; only the whole of it can be asked for again."""


def decoded(
    answer: urllib3.BaseHTTPResponse, url: str, *, limit: int, within_s: float | None = None
) -> Iterator[bytes]:
    """Yield the body decoded, in blocks; raise BrokenOff where it is cut short, SourceError beyond the limit.

    With `within_s` the whole of it must come in so many seconds: one that drips for ever is Unavailable.
    """
    encoding = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip"):
        raise SourceError("unknown encoding", source=url, field="content-encoding", value=encoding)
    raw = _raw(answer, url) if within_s is None else _in_time(answer, url, within_s)
    size = 0
    for block in _gunzipped(raw, url) if "gzip" in encoding else raw:
        size += len(block)
        if size > limit:
            hint = "It is another document than expected, or a decompression bomb"
            raise SourceError(f"the answer exceeds {limit} bytes", source=url, field="size", value=size, hint=hint)
        yield block


def _raw(answer: urllib3.BaseHTTPResponse, url: str, *, as_it_comes: bool = False) -> Iterator[bytes]:
    """Yield the body as it is on the wire; raise BrokenOff where less comes than the header promised."""
    # read1 gives what one read of the socket gave, read a whole block: faster, and deaf while a site drips.
    read = answer.read1 if as_it_comes else answer.read
    length = answer.headers.get("Content-Length", "")
    expected = int(length) if length.isdecimal() else None
    received = 0
    try:
        while block := read(BLOCK_BYTES, decode_content=False):
            received += len(block)
            yield block
    except (HTTPError, OSError, http.client.HTTPException) as error:
        raise _broken(url, received=received, expected=expected) from error
    if expected is not None and received != expected:
        raise _broken(url, received=received, expected=expected)


def _in_time(answer: urllib3.BaseHTTPResponse, url: str, within_s: float) -> Iterator[bytes]:
    """Yield a body as it comes, however little at a time; raise Unavailable where it takes too long."""
    ends_at = time.monotonic() + within_s
    for block in _raw(answer, url, as_it_comes=True):
        yield block
        if time.monotonic() > ends_at:
            message = f"the answer did not come within {within_s:g} s"
            raise Unavailable(message, source=url, field="body", value=within_s, hint="Try again later")


def _gunzipped(raw: Iterator[bytes], url: str) -> Iterator[bytes]:
    """Yield the content of a gzip body, a block at a time however much a few bytes swell to."""
    received, inflate = 0, zlib.decompressobj(GZIP)
    for chunk in raw:
        received += len(chunk)
        rest = chunk
        while rest:
            if inflate.eof:  # a body may be several gzip members, one after the other
                inflate = zlib.decompressobj(GZIP)
            try:
                block = inflate.decompress(rest, BLOCK_BYTES)
            except zlib.error as error:
                message = f"the gzip body is damaged: {error}"
                raise BrokenOff(message, source=url, field="body", value=received, hint="Try again") from error
            rest = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
            if block:
                yield block
    if not inflate.eof:
        raise _broken(url, received=received, expected=None)


def _broken(url: str, *, received: int, expected: int | None) -> BrokenOff:
    promised = "the end of the body" if expected is None else f"{expected} bytes"
    message = f"the answer broke off: expected {promised}, received {received} bytes"
    return BrokenOff(message, source=url, field="body", value=received, hint="Try again")
