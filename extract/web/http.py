"""The web over HTTP: small documents whole, large ones as a stream; every failure is one of our errors."""

import dataclasses
import functools
import importlib.metadata
import json as json_text
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

import httpcore
import httpx
import stamina
from isal import isal_zlib

from extract.web import answer_dates
from extract.web.interface import BrokenOff, Response
from extract.web.transport import NETWORK_ERRORS, PROXY_HINT, Transport, deadline, parse_url
from warehouse.errors import SourceError, Unavailable, without_words

Result = TypeVar("Result")

CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 60.0
"""For each read, and for the head of an answer as a whole."""
WHOLE_TIMEOUT_S = 300.0
"""For a small answer as a whole."""
STREAM_TIMEOUT_S = 3600.0
"""For a stream as a whole: the largest price list comes in it at a megabit a second."""
GET_LIMIT_BYTES = 64 << 20
STREAM_LIMIT_BYTES = 16 << 30
"""Forty times the largest price list: a stream beyond it is a decompression bomb or the wrong file."""
BLOCK_BYTES = 1 << 20
MAX_RESUMED = 5
"""How often a large file goes on where it broke off, before it is begun again."""
PARTIAL = 206
MAX_REDIRECTS = 3
RETRY_AFTER = ("Retry-After", "x-ms-ratelimit-retailprices-retry-after")
"""Headers that say how long to wait; the second is that of Azure's retail prices."""
MAX_RETRY_AFTER_S = 120.0
"""A server that asks for a longer pause is left to the next run."""
PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
PROXY_REFUSED = 407
REDIRECT_STATUS = frozenset({301, 302, 303, 307, 308})
HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
MIN_SECRET = 8
"""Shorter values of headers are not redacted in what a server says: they are versions and the like, not keys."""
NO_PASSWORD = re.compile("407|password|authentication", re.IGNORECASE)
"""What httpcore says where an HTTP or a SOCKS proxy wants another user or password."""
CERTIFICATE_HINT = "If a proxy of your company inspects TLS, name its certificate as ca_bundle in [network]"
GZIP = isal_zlib.MAX_WBITS | 16


class Retries:
    """How often and how long a passing error is retried; pauses double, with jitter, or are the server's own."""

    def __init__(
        self, *, attempts: int = 4, seconds: float = 180.0, pause_s: float = 0.5, longest_s: float = 15.0
    ) -> None:
        self._caller = stamina.RetryingCaller(
            attempts=attempts, timeout=seconds, wait_initial=pause_s, wait_max=longest_s, wait_jitter=pause_s
        )

    def run(self, action: Callable[[], Result], *, on: type[Unavailable] = Unavailable) -> Result:
        """Return what the action returns, retried where it raises `on`; the last error is raised."""
        return self._caller(functools.partial(_pause, on), action)


def _pause(on: type[Unavailable], error: Exception) -> bool | float:
    """Return the pause of the server's Retry-After, else whether to retry at all."""
    if not isinstance(error, on):
        return False
    if error.retry_after is None:
        return True
    return error.retry_after if error.retry_after <= MAX_RETRY_AFTER_S else False


STREAM_RETRIES = Retries(attempts=3, seconds=900.0)


@functools.cache
def user_agent() -> str:
    """Return who we are, and where to learn more or complain."""
    return f"chipledger/{importlib.metadata.version('chipledger')} (+https://github.com/chipledger/chipledger)"


@dataclass(kw_only=True)
class HttpWeb:
    """The web as sources see it (extract.web.interface.Web), over HTTP: TLS verified, timeouts, bounded retries.

    Connections are reused and shared between threads; proxies and certificates are those of the environment
    (extract.web.transport, extract.web.certificates). Raises SettingsError where it names a proxy or a file that
    cannot be used.
    """

    retries: Retries = field(default_factory=Retries)
    get_limit_bytes: int = GET_LIMIT_BYTES
    stream_limit_bytes: int = STREAM_LIMIT_BYTES
    connect_timeout_s: float = CONNECT_TIMEOUT_S
    read_timeout_s: float = READ_TIMEOUT_S
    whole_timeout_s: float = WHOLE_TIMEOUT_S
    stream_timeout_s: float = STREAM_TIMEOUT_S
    before: Callable[[str], None] = lambda url: None
    transport: Transport = field(default_factory=Transport, repr=False)

    def guarded(self, before: Callable[[str], None]) -> "HttpWeb":
        """Return this web, on the same connections, with a guard: called with the address before each request.

        Retries and redirects are requests of their own. A guard may wait, or raise what forbids the request.
        """
        return dataclasses.replace(self, before=before)

    def get(self, url: str, *, accept: str = "application/json", headers: Mapping[str, str] = {}) -> Response:
        """Return a small answer whole; raise Unavailable, or SourceError for any other status or above the limit."""
        return self._whole(url, "GET", accept, headers)

    def post(
        self, url: str, *, json: object, accept: str = "application/json", headers: Mapping[str, str] = {}
    ) -> Response:
        """Return the answer to a JSON body, as `get` does; retried where `get` would be."""
        body = json_text.dumps(json, ensure_ascii=False, allow_nan=False).encode()
        return self._whole(url, "POST", accept, headers, body)

    def first_bytes(self, url: str, *, limit_bytes: int) -> Response:
        """Return any answer, a redirect or a refusal too, and of a good one's body no more than a limit.

        Raises Unavailable where nothing comes or the status is a passing one.
        """

        def once() -> Response:
            answer = self._request(url, "GET", "text/plain, */*;q=0.5", {})
            with closing(answer):
                if answer.status_code in PASSING_STATUS:
                    raise _refusal(answer, url)
                body = b""
                if answer.is_success:
                    blocks = _decoded(
                        answer,
                        url,
                        limit=self.stream_limit_bytes,
                        within_s=self.whole_timeout_s,
                        block_bytes=limit_bytes,
                    )
                    for block in blocks:
                        body += block
                        if len(body) >= limit_bytes:
                            break
                return _response(answer, url, body[:limit_bytes])

        return self.retries.run(once)

    def size(self, url: str) -> int | None:
        """Return how many bytes a server says that a document has, without reading it; None where it does not say."""
        answer, _ = self.exchange("HEAD", url, {"User-Agent": user_agent(), "Accept-Encoding": "identity"}, None)
        length = answer.headers.get("Content-Length", "")
        return int(length) if answer.status_code == 200 and length.isdecimal() else None

    @contextmanager
    def stream(self, url: str) -> Iterator[Iterator[bytes]]:
        """Give the decoded body in blocks of at most 1 MiB; reading raises BrokenOff where the body is cut short.

        One that breaks off goes on from there where the server offers ranges, of the same document by its ETag.
        """
        answer = self.retries.run(lambda: self._answer(url, "GET", "*/*", {}))
        with closing(answer), closing(self._going_on(answer, url)) as blocks:
            yield blocks

    def _going_on(self, answer: httpx.Response, url: str) -> Generator[bytes]:
        tag, is_plain = answer.headers.get("ETag", ""), not answer.headers.get("Content-Encoding")
        can_go_on = answer.headers.get("Accept-Ranges") == "bytes" and tag.startswith('"') and is_plain
        received = 0
        for left in reversed(range(MAX_RESUMED + 1)):
            try:
                for block in _decoded(answer, url, limit=self.stream_limit_bytes, within_s=self.stream_timeout_s):
                    received += len(block)
                    yield block
                return
            except BrokenOff:
                if not (can_go_on and left and received):
                    raise
                answer.close()
                from_here = {"Range": f"bytes={received}-", "If-Range": tag, "Accept-Encoding": "identity"}
                answer = self._request(url, "GET", "*/*", from_here)
                begins = answer.headers.get("Content-Range", "").startswith(f"bytes {received}-")
                if answer.status_code != PARTIAL or not begins:
                    answer.close()
                    raise

    def _whole(
        self, url: str, method: str, accept: str, secret: Mapping[str, str], body: bytes | None = None
    ) -> Response:
        for name, value in secret.items():
            if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
                hint = "A key is printable ASCII on one line; check for a line break at its end"
                raise SourceError("invalid header value", source=url, field=name, value="(hidden)", hint=hint)

        def once() -> Response:
            with _redacted(secret), closing(self._answer(url, method, accept, secret, body)) as answer:
                blocks = _decoded(answer, url, limit=self.get_limit_bytes, within_s=self.whole_timeout_s)
                return _response(answer, url, b"".join(blocks))

        return self.retries.run(once)

    def _answer(
        self, url: str, method: str, accept: str, secret: Mapping[str, str], body: bytes | None = None
    ) -> httpx.Response:
        """Return a 200 answer with its body unread, following a few redirects of a GET within the host's family."""
        target = url
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._request(target, method, accept, secret, body)
            if answer.status_code == 200:
                return answer
            answer.close()
            if answer.status_code not in REDIRECT_STATUS:
                raise _refusal(answer, target)
            target = _redirected(target, answer.headers.get("Location", ""), method)
            if urlsplit(target).hostname != urlsplit(url).hostname:
                secret = {}  # a key is for its own host only
        message, hint = f"more than {MAX_REDIRECTS} redirects", "The address may have moved"
        raise SourceError(message, source=url, field="location", value=target, hint=hint)

    def _request(
        self, url: str, method: str, accept: str, secret: Mapping[str, str], body: bytes | None = None
    ) -> httpx.Response:
        own = {"User-Agent": user_agent(), "Accept": accept, "Accept-Encoding": "gzip"}
        own |= {} if body is None else {"Content-Type": "application/json"}
        return self._send(url, method, {**own, **secret}, body)

    def exchange(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[httpx.Response, bytes]:
        """Return any answer of a server to a request, and its body; one attempt, no redirect, limits as for `get`."""
        with closing(self._send(url, method, headers, body)) as answer:
            if answer.status_code == PROXY_REFUSED:
                raise _refusal(answer, url)
            return answer, b"".join(_decoded(answer, url, limit=self.get_limit_bytes, within_s=self.whole_timeout_s))

    def _send(self, url: str, method: str, headers: Mapping[str, str], body: bytes | None) -> httpx.Response:
        self.before(url)
        timeout = httpx.Timeout(self.read_timeout_s, connect=self.connect_timeout_s).as_dict()
        request = httpx.Request(method, parse_url(url), headers=headers, content=body, extensions={"timeout": timeout})
        try:
            with deadline(time.monotonic() + self.connect_timeout_s + self.read_timeout_s):
                answer = self.transport.handle_request(request)
        except NETWORK_ERRORS as error:
            raise _failure(error, url, self.transport.proxy(request.url)) from error
        answer_dates.note(answer.headers)
        return answer


def _failure(error: Exception, url: str, proxy: str) -> SourceError:
    """Return our error for one of the network, with the proxy that the request went through."""
    text = str(error) or type(error).__name__
    through = f" through the proxy {proxy}" if proxy else ""
    if isinstance(error, httpcore.ProxyError) and NO_PASSWORD.search(text):
        message = f"the proxy {proxy} refuses without the right user and password: {text}"
        return SourceError(message, source=url, field="proxy", value=proxy, hint=PROXY_HINT)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        message = f"the server's certificate is not trusted{through}: {text.partition('FAILED] ')[2]}"
        return SourceError(message, source=url, field="url", value=url, hint=CERTIFICATE_HINT)
    hint = "Check the network, the address, and the proxy" if proxy else "Check the network and the address"
    return Unavailable(f"no answer{through}: {text}", source=url, field="url", value=url, hint=hint)


def _response(answer: httpx.Response, url: str, body: bytes) -> Response:
    content_type, location, date = (answer.headers.get(name, "") for name in ("Content-Type", "Location", "Date"))
    kept = {name: value for name, value in answer.headers.items() if "cookie" not in name.lower()}
    status = answer.status_code
    return Response(
        url=url, body=body, status=status, content_type=content_type, location=location, date=date, headers=kept
    )


@contextmanager
def _redacted(secret: Mapping[str, str]) -> Iterator[None]:
    """Keep the values of headers out of errors: a server may repeat a key in the refusal of it.

    Also drops the causes of such errors, which are printed and logged with them.
    """
    words = {word for value in secret.values() for word in (value, value.rpartition(" ")[2]) if len(word) >= MIN_SECRET}
    try:
        yield
    except SourceError as error:
        if words:
            for name in ("message", "source", "hint", "value"):
                if isinstance(text := getattr(error, name), str):
                    setattr(error, name, without_words(text, words))
            error.args = (error.message,)
            error.__cause__ = error.__context__ = None
        raise


def _refusal(answer: httpx.Response, url: str) -> SourceError:
    status = answer.status_code
    message = f"the server answered {status} {answer.reason_phrase}".rstrip()
    if status == PROXY_REFUSED:
        return SourceError(f"the proxy {message[4:]}", source=url, field="status", value=status, hint=PROXY_HINT)
    if status not in PASSING_STATUS:
        hint = "The address may have moved" if status in (404, 410) else "The server refuses this request"
        hint = "It has no content: only 200 is read" if status < 300 else hint
        return SourceError(message, source=url, field="status", value=status, hint=hint)
    waits = (answer.headers[name] for name in RETRY_AFTER if name in answer.headers)
    pause = _seconds(next(waits, ""))
    hint = "Try again later" if pause is None else f"Try again in {pause:.0f} s, as the server asks"
    error = Unavailable(message, source=url, field="status", value=status, hint=hint)
    error.retry_after = pause
    return error


def _seconds(retry_after: str) -> float | None:
    """Return Retry-After in seconds; it comes as a number or as a date."""
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        at = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _redirected(url: str, location: str, method: str) -> str:
    """Return where a redirect leads; raise where that is nowhere or at somebody else's, and for all but a GET."""
    hint = "Only a GET follows redirects, to the same scheme, port and host or its subdomains"
    try:
        target = urljoin(url, location)
        here, there = urlsplit(url), urlsplit(target)
        is_ours = (here.scheme, here.port) == (there.scheme, there.port) and _same_family(here.hostname, there.hostname)
    except ValueError as error:
        message = f"redirected to no address: {error}"
        raise SourceError(message, source=url, field="location", value=location, hint=hint) from error
    if method != "GET" or not location or not is_ours:
        raise SourceError("redirected elsewhere", source=url, field="location", value=location, hint=hint)
    return target


def _same_family(here: str | None, there: str | None) -> bool:
    if not here or not there:
        return False
    parent = min(here, there, key=len)
    # One label, as com, is nobody's family; and of an address in numbers no part is a name.
    is_name = "." in parent and not parent.rpartition(".")[2].isdecimal()
    return here == there or (is_name and max(here, there, key=len).endswith(f".{parent}"))


def _decoded(
    answer: httpx.Response, url: str, *, limit: int, within_s: float, block_bytes: int = BLOCK_BYTES
) -> Iterator[bytes]:
    """Yield the body decoded, in blocks; raise BrokenOff where it is cut short, SourceError beyond the limit.

    httpx's own decoding reads one gzip member, takes a cut one for whole, and has no limit. The whole must come within
    so many seconds: a body that drips for ever is Unavailable.
    """
    encoding = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip"):
        hint = "Requested was gzip or nothing"
        raise SourceError("unknown encoding", source=url, field="content-encoding", value=encoding, hint=hint)
    raw, size = _raw(answer, url, within_s, block_bytes), 0
    for block in _gunzipped(raw, url) if "gzip" in encoding else raw:
        size += len(block)
        if size > limit:
            hint = "It is another document than expected, or a decompression bomb"
            raise SourceError(f"the answer exceeds {limit} bytes", source=url, field="size", value=size, hint=hint)
        yield block


def _raw(answer: httpx.Response, url: str, within_s: float, block_bytes: int) -> Iterator[bytes]:
    """Yield the body as it is on the wire, in whole blocks; raise BrokenOff, or Unavailable where it takes too long."""
    ends_at = time.monotonic() + within_s
    blocks = answer.iter_raw(block_bytes)
    try:
        while True:
            with deadline(ends_at):
                block = next(blocks, None)
            if block is None:
                return
            yield block
    except NETWORK_ERRORS as error:
        if time.monotonic() >= ends_at:
            message = f"the answer did not come within {within_s:g} s"
            raise Unavailable(message, source=url, field="body", value=within_s, hint="Try again later") from error
        length = answer.headers.get("Content-Length")
        raise _broken(url, received=answer.num_bytes_downloaded, expected=length) from error


def _gunzipped(raw: Iterator[bytes], url: str) -> Iterator[bytes]:
    """Yield the content of a gzip body, a block at a time however much a few bytes swell to."""
    received, inflate = 0, isal_zlib.decompressobj(GZIP)
    for chunk in raw:
        received += len(chunk)
        rest = chunk
        while rest:
            if inflate.eof:  # a body may be several gzip members, one after the other
                inflate = isal_zlib.decompressobj(GZIP)
            try:
                block = inflate.decompress(rest, BLOCK_BYTES)
            except isal_zlib.error as error:  # type: ignore[misc]  # the stub has a value in place of the type
                message = f"the gzip body is damaged: {error}"
                raise BrokenOff(message, source=url, field="body", value=received, hint="Try again") from error
            rest = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
            if block:
                yield block
    if not inflate.eof:
        raise _broken(url, received=received, expected=None)


def _broken(url: str, *, received: int, expected: str | None) -> BrokenOff:
    promised = f"{expected} bytes" if expected else "the end of the body"
    message = f"the answer broke off: expected {promised}, received {received} bytes"
    return BrokenOff(message, source=url, field="body", value=received, hint="Try again")
