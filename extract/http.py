"""The web over HTTP: small documents whole, large ones as a stream; every failure is one of our errors.

Bodies are decoded here and not by urllib3, because a body that was cut short must be an error that says how much
came, and a body that swells beyond its limit must be refused before it fills the memory.
"""

import functools
import http.client
import importlib.metadata
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

import stamina
import urllib3
from urllib3.exceptions import HTTPError, LocationValueError, SSLError

from extract.web import Response
from warehouse.errors import SourceError, Unavailable

Result = TypeVar("Result")

CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 60.0
GET_LIMIT_BYTES = 64 << 20
STREAM_LIMIT_BYTES = 16 << 30
"""Forty times the largest price list: a stream beyond it is a decompression bomb or the wrong file."""
BLOCK_BYTES = 1 << 20
MAX_REDIRECTS = 3
MAX_RETRY_AFTER_S = 120.0
"""A server that asks for a longer pause is asked again by the next run, not by this one."""
PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
REDIRECT_STATUS = frozenset({301, 302, 303, 307, 308})
GZIP = zlib.MAX_WBITS | 16


class BrokenOff(Unavailable):
    """A body broke off after it had begun; only the whole of it can be asked for again."""


class Retries:
    """How often and how long a passing error is tried again; pauses double, with jitter, or are the server's own."""

    def __init__(
        self, *, attempts: int = 4, seconds: float = 180.0, pause_s: float = 0.5, longest_s: float = 15.0
    ) -> None:
        self._attempts, self._seconds, self._pause_s, self._longest_s = attempts, seconds, pause_s, longest_s

    def run(self, action: Callable[[], Result], *, on: type[Unavailable] = Unavailable) -> Result:
        """Return what the action returns, trying again where it raises `on`; the last error is raised."""
        caller = stamina.RetryingCaller(
            attempts=self._attempts,
            timeout=self._seconds,
            wait_initial=self._pause_s,
            wait_max=self._longest_s,
            wait_jitter=self._pause_s,
        )
        return caller(functools.partial(_pause, on), action)


def _pause(on: type[Unavailable], error: Exception) -> bool | float:
    """Return the pause that the server asked for, else whether to try again at all."""
    if not isinstance(error, on):
        return False
    if error.retry_after is None:
        return True
    return error.retry_after if error.retry_after <= MAX_RETRY_AFTER_S else False


STREAM_RETRIES = Retries(attempts=3, seconds=900.0)


def read_stream(
    open_stream: Callable[[], AbstractContextManager[Iterator[bytes]]],
    consume: Callable[[Iterator[bytes]], Result],
    retries: Retries | None = None,
) -> Result:
    """Return what `consume` makes of a whole stream; one that breaks off is begun again from its first byte."""

    def once() -> Result:
        with open_stream() as blocks:
            return consume(blocks)

    return (retries or STREAM_RETRIES).run(once, on=BrokenOff)


@functools.cache
def user_agent() -> str:
    """Return who we are, and where to learn more or complain."""
    return f"chipledger/{importlib.metadata.version('chipledger')} (+https://github.com/chipledger/chipledger)"


class HttpWeb:
    """The web as sources see it (extract.web.Web), over HTTP: TLS verified, timeouts, bounded retries.

    Connections are kept and shared between threads. Proxies are taken from the environment, as curl takes them.
    """

    def __init__(
        self,
        *,
        retries: Retries | None = None,
        get_limit_bytes: int = GET_LIMIT_BYTES,
        stream_limit_bytes: int = STREAM_LIMIT_BYTES,
        read_timeout_s: float = READ_TIMEOUT_S,
    ) -> None:
        self._retries = retries or Retries()
        self._get_limit_bytes = get_limit_bytes
        self._stream_limit_bytes = stream_limit_bytes
        self._timeout = urllib3.Timeout(connect=CONNECT_TIMEOUT_S, read=read_timeout_s)
        self._direct = urllib3.PoolManager(maxsize=8)
        self._proxied: dict[str, urllib3.PoolManager] = {
            scheme: urllib3.ProxyManager(proxy, maxsize=8)
            for scheme, proxy in urllib.request.getproxies().items()
            if scheme in ("http", "https")
        }

    def get(self, url: str, *, accept: str = "application/json") -> Response:
        """Return a small answer whole; raise Unavailable, or SourceError for any other status or above the limit."""

        def once() -> Response:
            with self._open(url, accept=accept) as answer:
                body = b"".join(_decoded(answer, url, limit=self._get_limit_bytes))
                return Response(
                    url=url, body=body, status=answer.status, content_type=answer.headers.get("Content-Type", "")
                )

        return self._retries.run(once)

    @contextmanager
    def stream(self, url: str) -> Iterator[Iterator[bytes]]:
        """Give the decoded body in blocks of at most 1 MiB; reading raises BrokenOff where the body is cut short."""
        opened = self._retries.run(lambda: self._answer(url, accept="*/*"))
        with _closing(opened) as answer:
            yield _decoded(answer, url, limit=self._stream_limit_bytes)

    @contextmanager
    def _open(self, url: str, *, accept: str) -> Iterator[urllib3.BaseHTTPResponse]:
        with _closing(self._answer(url, accept=accept)) as answer:
            yield answer

    def _answer(self, url: str, *, accept: str) -> urllib3.BaseHTTPResponse:
        """Return a 200 answer with its body unread, following a few redirects within the host's family."""
        target = url
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._request(target, accept=accept)
            if answer.status not in REDIRECT_STATUS:
                if answer.status == 200:
                    return answer
                answer.close()
                raise _refusal(answer, target)
            answer.close()
            target = _redirected(target, answer.headers.get("Location", ""))
        message = f"more than {MAX_REDIRECTS} redirects"
        raise SourceError(message, source=url, field="location", value=target)

    def _request(self, url: str, *, accept: str) -> urllib3.BaseHTTPResponse:
        headers = {"User-Agent": user_agent(), "Accept": accept, "Accept-Encoding": "gzip"}
        try:
            return self._pool(url).request(
                "GET", url, headers=headers, timeout=self._timeout, retries=False, redirect=False,
                preload_content=False, decode_content=False, enforce_content_length=False,
            )  # fmt: skip
        except LocationValueError as error:
            raise SourceError(f"not an address: {error}", source=url, field="url", value=url) from error
        except SSLError as error:
            if "CERTIFICATE_VERIFY_FAILED" not in str(error):
                raise Unavailable(f"no connection: {error}", source=url, field="url", value=url) from error
            hint = "If a proxy of yours signs the traffic, name its certificate in SSL_CERT_FILE"
            raise SourceError(
                "the server's certificate is not trusted", source=url, field="url", value=url, hint=hint
            ) from error
        except (HTTPError, OSError) as error:
            hint = "Check the network and the address"
            raise Unavailable(f"no answer: {error}", source=url, field="url", value=url, hint=hint) from error

    def _pool(self, url: str) -> urllib3.PoolManager:
        parts = urlsplit(url)
        proxied = self._proxied.get(parts.scheme)
        if proxied is None or urllib.request.proxy_bypass(parts.hostname or ""):
            return self._direct
        return proxied


@contextmanager
def _closing(answer: urllib3.BaseHTTPResponse) -> Iterator[urllib3.BaseHTTPResponse]:
    """Give the connection back when all was read, and drop it when something was left on it."""
    try:
        yield answer
    except BaseException:
        answer.close()
        raise
    answer.release_conn()


def _refusal(answer: urllib3.BaseHTTPResponse, url: str) -> SourceError:
    message = f"the server answered {answer.status} {answer.reason or ''}".rstrip()
    if answer.status not in PASSING_STATUS:
        hint = "The address may have moved" if answer.status in (404, 410) else "The server refuses this request"
        return SourceError(message, source=url, field="status", value=answer.status, hint=hint)
    error = Unavailable(message, source=url, field="status", value=answer.status, hint="Try again later")
    error.retry_after = _seconds(answer.headers.get("Retry-After", ""))
    return error


def _seconds(retry_after: str) -> float | None:
    """Return Retry-After in seconds; it comes as a number or as a date."""
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _redirected(url: str, location: str) -> str:
    """Return where a redirect leads; raise where that is nowhere or at somebody else's."""
    target = urljoin(url, location)
    here, there = urlsplit(url), urlsplit(target)
    if (
        not location
        or (here.scheme, here.port) != (there.scheme, there.port)
        or not _same_family(here.hostname, there.hostname)
    ):
        hint = "Followed are only redirects to the same scheme, port and host or its subdomains"
        raise SourceError("redirected elsewhere", source=url, field="location", value=location, hint=hint)
    return target


def _same_family(here: str | None, there: str | None) -> bool:
    if not here or not there:
        return False
    return here == there or here.endswith(f".{there}") or there.endswith(f".{here}")


def _decoded(answer: urllib3.BaseHTTPResponse, url: str, *, limit: int) -> Iterator[bytes]:
    """Yield the body decoded, in blocks; raise BrokenOff where it is cut short, SourceError beyond the limit."""
    encoding = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip"):
        raise SourceError("unknown encoding", source=url, field="content-encoding", value=encoding)
    raw = _raw(answer, url)
    size = 0
    for block in _gunzipped(raw, url) if "gzip" in encoding else raw:
        size += len(block)
        if size > limit:
            hint = "It is another document than expected, or a decompression bomb"
            raise SourceError(f"the answer exceeds {limit} bytes", source=url, field="size", value=size, hint=hint)
        yield block


def _raw(answer: urllib3.BaseHTTPResponse, url: str) -> Iterator[bytes]:
    """Yield the body as it is on the wire; raise BrokenOff where less comes than the header promised."""
    length = answer.headers.get("Content-Length", "")
    expected = int(length) if length.isdecimal() else None
    received = 0
    try:
        while block := answer.read(BLOCK_BYTES, decode_content=False):
            received += len(block)
            yield block
    except (HTTPError, OSError, http.client.HTTPException) as error:
        raise _broken(url, received=received, expected=expected) from error
    if expected is not None and received != expected:
        raise _broken(url, received=received, expected=expected)


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
