"""The bodies of HTTP answers, decoded here and not by urllib3.

A body that was cut short must be an error that says how much came, and one that swells beyond its limit must be
refused before it fills the memory.
"""

import http.client
import re
import time
import zlib
from collections.abc import Iterator

import urllib3
from urllib3.exceptions import HTTPError

from warehouse.errors import SourceError, Unavailable

BLOCK_BYTES = 1 << 20
LENGTH = re.compile(r"[0-9]{1,18}")
GZIP = zlib.MAX_WBITS | 16


class BrokenOff(Unavailable):
    """A body broke off after it had begun; only the whole of it can be asked for again."""


def decoded(
    answer: urllib3.BaseHTTPResponse,
    url: str,
    *,
    limit: int,
    within_s: float,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[bytes]:
    """Yield the body decoded, in blocks; raise BrokenOff where it is cut short, SourceError beyond the limit.

    The whole of it must come within so many seconds: one that drips for ever is Unavailable.
    """
    encoding = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip"):
        hint = "Asked for was gzip or nothing"
        raise SourceError("unknown encoding", source=url, field="content-encoding", value=encoding, hint=hint)
    raw = _raw(answer, url, within_s, block_bytes)
    size = 0
    for block in _gunzipped(raw, url) if "gzip" in encoding else raw:
        size += len(block)
        if size > limit:
            hint = "It is another document than expected, or a decompression bomb"
            raise SourceError(f"the answer exceeds {limit} bytes", source=url, field="size", value=size, hint=hint)
        yield block


def _raw(answer: urllib3.BaseHTTPResponse, url: str, within_s: float, block_bytes: int) -> Iterator[bytes]:
    """Yield the body as it is on the wire, in whole blocks.

    Raises BrokenOff where less comes than the header promised, Unavailable where it takes too long.
    """
    ends_at = time.monotonic() + within_s
    expected = _announced(answer, url)
    received, waiting, parts = 0, 0, []
    try:
        # read1 gives what one read of the socket gave; to read a whole block at once is to be deaf while a site drips.
        while part := answer.read1(block_bytes - waiting, decode_content=False):
            received, waiting = received + len(part), waiting + len(part)
            parts.append(part)
            if waiting >= block_bytes:
                yield b"".join(parts)
                waiting, parts = 0, []
            if time.monotonic() > ends_at:
                message = f"the answer did not come within {within_s:g} s"
                raise Unavailable(message, source=url, field="body", value=within_s, hint="Try again later")
    except (HTTPError, OSError, http.client.HTTPException, ValueError) as error:
        raise _broken(url, received=received, expected=expected) from error
    if parts:
        yield b"".join(parts)
    if expected is not None and received != expected:
        raise _broken(url, received=received, expected=expected)


def _announced(answer: urllib3.BaseHTTPResponse, url: str) -> int | None:
    """Return the length that the header promises, None where there is none; raise SourceError where it is no length.

    Without one the end of the connection would pass for the end of the body, wherever it is.
    """
    length = answer.headers.get("Content-Length", "").strip()
    if not length or "chunked" in answer.headers.get("Transfer-Encoding", "").lower():
        return None
    if not LENGTH.fullmatch(length):
        hint = "The server, or a proxy before it, is at fault"
        raise SourceError("no length", source=url, field="content-length", value=length, hint=hint)
    return int(length)


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
