"""The web over HTTP: small documents whole, large ones as a stream; every failure is one of our errors."""

import copy
import dataclasses
import functools
import importlib.metadata
import json as json_text
import re
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

import stamina
import urllib3
from urllib3.exceptions import HTTPError, LocationValueError, SSLError

from extract.web.http_body import BrokenOff, decoded
from extract.web.http_head import with_whole_heads
from extract.web.interface import Response
from warehouse.errors import SourceError, Unavailable

Result = TypeVar("Result")

CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 60.0
WHOLE_TIMEOUT_S = 300.0
"""For a small answer as a whole; the read timeout is for each read of it."""
STREAM_TIMEOUT_S = 3600.0
"""For a stream as a whole: the largest price list comes in it at a megabit a second."""
GET_LIMIT_BYTES = 64 << 20
STREAM_LIMIT_BYTES = 16 << 30
"""Forty times the largest price list: a stream beyond it is a decompression bomb or the wrong file."""
MAX_REDIRECTS = 3
MAX_RETRY_AFTER_S = 120.0
"""A server that asks for a longer pause is asked again by the next run, not by this one."""
PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
REDIRECT_STATUS = frozenset({301, 302, 303, 307, 308})
HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
SHORTEST_SECRET = 8
"""Shorter values of headers are not looked for in what a server says: they are versions and the like, not keys."""


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


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Request:
    """What is asked of an address; the values of `headers` are secrets."""

    method: str = "GET"
    accept: str
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)
    body: bytes | None = None


class HttpWeb:
    """The web as sources see it (extract.web.interface.Web), over HTTP: TLS verified, timeouts, bounded retries.

    Connections are kept and shared between threads. Proxies are taken from the environment, as curl takes them.
    """

    def __init__(
        self,
        *,
        retries: Retries | None = None,
        get_limit_bytes: int = GET_LIMIT_BYTES,
        stream_limit_bytes: int = STREAM_LIMIT_BYTES,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        read_timeout_s: float = READ_TIMEOUT_S,
        whole_timeout_s: float = WHOLE_TIMEOUT_S,
        stream_timeout_s: float = STREAM_TIMEOUT_S,
    ) -> None:
        self._retries = retries or Retries()
        self._get_limit_bytes = get_limit_bytes
        self._stream_limit_bytes = stream_limit_bytes
        self._whole_timeout_s, self._stream_timeout_s = whole_timeout_s, stream_timeout_s
        self._timeout = urllib3.Timeout(connect=connect_timeout_s, read=read_timeout_s)
        self._direct = with_whole_heads(urllib3.PoolManager(maxsize=8))
        self._proxied: dict[str, urllib3.PoolManager] = {
            scheme: with_whole_heads(urllib3.ProxyManager(proxy, maxsize=8))
            for scheme, proxy in urllib.request.getproxies().items()
            if scheme in ("http", "https")
        }
        self._before: Callable[[str], None] = lambda url: None

    def guarded(self, before: Callable[[str], None]) -> "HttpWeb":
        """Return this web, on the same connections, with a guard: called with the address before each request.

        Retries and redirects are requests of their own. A guard may wait, or raise what forbids the request.
        """
        other = copy.copy(self)
        other._before = before
        return other

    def get(self, url: str, *, accept: str = "application/json", headers: Mapping[str, str] = {}) -> Response:
        """Return a small answer whole; raise Unavailable, or SourceError for any other status or above the limit."""
        return self._whole(url, _Request(accept=accept, headers=_sendable(headers, url)))

    def post(
        self, url: str, *, json: object, accept: str = "application/json", headers: Mapping[str, str] = {}
    ) -> Response:
        """Return the answer to a JSON body, as `get` does; sent again where `get` would ask again."""
        body = json_text.dumps(json, ensure_ascii=False, allow_nan=False).encode()
        return self._whole(url, _Request(method="POST", accept=accept, headers=_sendable(headers, url), body=body))

    def first_bytes(self, url: str, *, limit_bytes: int) -> Response:
        """Return what a server answers, a redirect or a refusal too, and of a good answer's body no more than a limit.

        Raises Unavailable where nothing comes or the status is a passing one.
        """

        def once() -> Response:
            with closing(self._request(url, _Request(accept="text/plain, */*;q=0.5"))) as answer:
                if answer.status in PASSING_STATUS:
                    raise _refusal(answer, url)
                body = b""
                if 200 <= answer.status < 300:
                    unpacked = decoded(
                        answer,
                        url,
                        limit=self._stream_limit_bytes,
                        within_s=self._whole_timeout_s,
                        block_bytes=limit_bytes,
                    )
                    for block in unpacked:
                        body += block
                        if len(body) >= limit_bytes:
                            break
                return _response(answer, url, body[:limit_bytes])

        return self._retries.run(once)

    @contextmanager
    def stream(self, url: str) -> Iterator[Iterator[bytes]]:
        """Give the decoded body in blocks of at most 1 MiB; reading raises BrokenOff where the body is cut short."""
        opened = self._retries.run(lambda: self._answer(url, _Request(accept="*/*")))
        with _closing(opened) as answer:
            yield decoded(answer, url, limit=self._stream_limit_bytes, within_s=self._stream_timeout_s)

    def _whole(self, url: str, request: _Request) -> Response:
        def once() -> Response:
            with _hidden(request.headers), _closing(self._answer(url, request)) as answer:
                body = decoded(answer, url, limit=self._get_limit_bytes, within_s=self._whole_timeout_s)
                return _response(answer, url, b"".join(body))

        return self._retries.run(once)

    def _answer(self, url: str, request: _Request) -> urllib3.BaseHTTPResponse:
        """Return a 200 answer with its body unread, following a few redirects of a GET within the host's family."""
        target = url
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._request(target, request)
            if answer.status not in REDIRECT_STATUS:
                if answer.status == 200:
                    return answer
                answer.close()
                raise _refusal(answer, target)
            answer.close()
            location = answer.headers.get("Location", "")
            if request.method != "GET":
                hint = "What is sent to one address is not sent to another"
                raise SourceError("redirected elsewhere", source=target, field="location", value=location, hint=hint)
            target = _redirected(target, location)
            if urlsplit(target).hostname != urlsplit(url).hostname:
                request = dataclasses.replace(request, headers={})  # a key is for the host it was given for
        message = f"more than {MAX_REDIRECTS} redirects"
        hint = "The address may have moved"
        raise SourceError(message, source=url, field="location", value=target, hint=hint)

    def _request(self, url: str, request: _Request) -> urllib3.BaseHTTPResponse:
        self._before(url)
        headers = {
            "User-Agent": user_agent(),
            "Accept": request.accept,
            "Accept-Encoding": "gzip",
            **request.headers,
            **({} if request.body is None else {"Content-Type": "application/json"}),
        }
        try:
            return self._pool(url).request(
                request.method,
                url,
                body=request.body,
                headers=headers,
                timeout=self._timeout,
                retries=False,
                redirect=False,
                preload_content=False,
                decode_content=False,
                enforce_content_length=False,
            )
        except LocationValueError as error:
            hint = "Check the address in the settings"
            raise SourceError(f"not an address: {error}", source=url, field="url", value=url, hint=hint) from error
        except SSLError as error:
            if "CERTIFICATE_VERIFY_FAILED" not in str(error):
                hint = "Check the network and the address"
                raise Unavailable(f"no connection: {error}", source=url, field="url", value=url, hint=hint) from error
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


def _response(answer: urllib3.BaseHTTPResponse, url: str, body: bytes) -> Response:
    return Response(
        url=url,
        body=body,
        status=answer.status,
        content_type=answer.headers.get("Content-Type", ""),
        location=answer.headers.get("Location", ""),
        date=answer.headers.get("Date", ""),
    )


def _sendable(headers: Mapping[str, str], url: str) -> Mapping[str, str]:
    """Return headers that can be sent as they are; raise SourceError, without the value, for any other."""
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
            hint = "A key is printable ASCII on one line; look for a line break at its end"
            raise SourceError("a header that cannot be sent", source=url, field=name, value="(hidden)", hint=hint)
    return headers


@contextmanager
def _hidden(headers: Mapping[str, str]) -> Iterator[None]:
    """Keep the values of headers out of errors: a server may repeat a key in the words with which it refuses it.

    Also drops the causes of such errors, which are printed and logged with them and may hold the same words.
    """
    words = {word for value in headers.values() for word in (value, value.rpartition(" ")[2])}
    secrets = sorted((re.escape(word) for word in words if len(word) >= SHORTEST_SECRET), key=len, reverse=True)
    if not secrets:
        yield
        return
    hide = functools.partial(re.compile("|".join(secrets), re.IGNORECASE).sub, "(hidden)")
    try:
        yield
    except SourceError as error:
        error.message, error.source, error.hint = hide(error.message), hide(error.source), hide(error.hint)
        error.value = hide(error.value) if isinstance(error.value, str) else error.value
        error.args = (error.message,)
        error.__cause__ = error.__context__ = None
        raise


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
    hint = "Followed are only redirects to the same scheme, port and host or its subdomains"
    try:
        target = urljoin(url, location)
        here, there = urlsplit(url), urlsplit(target)
        is_ours = (
            bool(location)
            and (here.scheme, here.port) == (there.scheme, there.port)
            and _same_family(here.hostname, there.hostname)
        )
    except ValueError as error:
        message = f"redirected to no address: {error}"
        raise SourceError(message, source=url, field="location", value=location, hint=hint) from error
    if not is_ours:
        raise SourceError("redirected elsewhere", source=url, field="location", value=location, hint=hint)
    return target


def _same_family(here: str | None, there: str | None) -> bool:
    if not here or not there:
        return False
    parent = min(here, there, key=len)
    # One label, as com, is nobody's family; and of an address in numbers no part is a name.
    is_name = "." in parent and not parent.rpartition(".")[2].isdecimal()
    return here == there or (is_name and max(here, there, key=len).endswith(f".{parent}"))
