"""Connections for HTTP: proxies, certificates, and guards of time and peer that hold below the protocol.

httpx bounds each read, not an exchange as a whole: a head that drips, or "100 Continue" for ever, keeps it waiting. Its
transports are made to be replaced, so this one gives httpcore, the engine of httpx, connections with a deadline for all
their reads. They also refuse a link-local peer, whatever name led there: the metadata service of a cloud machine holds
secrets and no prices.
"""

import ipaddress
import logging
import math
import re
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore
import httpx
from socksio import SOCKSError

from extract.web.certificates import share, tls_context
from warehouse.errors import SettingsError, SourceError

NETWORK_ERRORS = (
    *(httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError, httpcore.TimeoutException),
    *(httpcore.UnsupportedProtocol, OSError),
)
"""What a connection raises; httpx passes it on from a transport."""
PROXY_HINT = "Write the variable as http://USER:PASSWORD@HOST:PORT, with special characters percent-encoded"
HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]+")
logging.getLogger("httpcore").setLevel(logging.INFO)  # below, it logs whole heads, with what a server repeats of keys
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def deadline(at: float) -> Iterator[None]:
    """Let all reads and writes in this block end at a moment of `time.monotonic`, with httpcore's timeout errors."""
    token = _deadline.set(at)
    try:
        yield
    finally:
        _deadline.reset(token)


def parse_url(url: str) -> httpx.URL:
    """Return an address as it will be sent: path without dots, escapes in order. Raises SourceError for any other."""
    hint = "Expected is http://HOST/PATH or https://HOST/PATH; check the address in the settings"
    try:
        address = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise SourceError(f"invalid address: {error}", source=url, field="url", value=url, hint=hint) from error
    is_host = HOST.fullmatch(address.raw_host.decode("ascii", "replace")) is not None
    if address.scheme not in ("http", "https") or not is_host or not 0 <= (address.port or 0) < 65536:
        raise SourceError("not an http(s) address", source=url, field="url", value=url, hint=hint)
    return address


class Transport(httpx.BaseTransport):
    """Sends requests directly or through the proxy that the environment names for an address.

    HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY count as for curl: http, https, socks5 and socks5h, with user and
    password, http where no scheme is given. Raises SettingsError for any other proxy, SourceError for a link-local
    peer, and `NETWORK_ERRORS`.
    """

    def __init__(self) -> None:
        share()
        self._direct = _pool(None)
        self._proxied = {
            scheme: (_pool(proxy), proxy)
            for scheme, url in urllib.request.getproxies().items()
            if scheme in ("http", "https", "all") and (proxy := _proxy(scheme, url))
        }

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return an answer with its body unread."""
        url = request.url
        _refuse_link_local(url.host)
        pool, _ = self._way(url) or (self._direct, None)
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        try:
            answer = pool.handle_request(
                httpcore.Request(
                    request.method,
                    target,
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        except (AssertionError, SOCKSError) as error:  # of httpcore's reading of what a SOCKS proxy answers
            raise httpcore.ProxyError("it does not speak SOCKS5") from error
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Body(answer), extensions=answer.extensions, request=request
        )

    def proxy(self, url: httpx.URL) -> str:
        """Return host and port of the proxy for an address, "" where there is none."""
        way = self._way(url)
        return way[1].url.netloc.decode() if way else ""

    def _way(self, url: httpx.URL) -> tuple[httpcore.ConnectionPool, httpx.Proxy] | None:
        if not self._proxied or urllib.request.proxy_bypass(url.netloc.decode("ascii")):
            return None
        return self._proxied.get(url.scheme) or self._proxied.get("all")


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


class _Stream(httpcore.NetworkStream):
    """A connection whose reads and writes end at the deadline."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> "_Stream":
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class Backend(httpcore.SyncBackend):
    """Makes connections with a deadline, to no link-local peer."""

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *more: Any, **named: Any) -> "_Stream":
        stream = super().connect_tcp(host, port, _left(timeout), *more, **named)
        try:
            _refuse_link_local(str(stream.get_extra_info("server_addr")[0]))
        except SourceError:
            stream.close()
            raise
        return _Stream(stream)


def _left(timeout: float | None) -> float | None:
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the time for the whole answer is over")
    if timeout is None:
        return None if left == math.inf else left
    return min(timeout, left)


def is_link_local(host: str) -> bool:
    """Return whether a host is a link-local address in numbers."""
    try:
        address: Any = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return bool((getattr(address, "ipv4_mapped", None) or address).is_link_local)


def _refuse_link_local(host: str) -> None:
    if is_link_local(host):
        hint = "Only machines of the own network answer there; check the address, and the DNS entry of its name"
        raise SourceError("link-local address refused", source=host, field="address", value=host, hint=hint)


def _pool(proxy: httpx.Proxy | None) -> httpcore.ConnectionPool:
    via = None
    if proxy is not None:
        url = proxy.url
        via = httpcore.Proxy(
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=b"/"),
            auth=proxy.raw_auth,
            ssl_context=tls_context() if url.scheme == "https" else None,
        )
    return httpcore.ConnectionPool(
        ssl_context=tls_context(),
        proxy=via,
        max_connections=None,
        max_keepalive_connections=16,
        keepalive_expiry=15.0,
        network_backend=Backend(),
    )


def _proxy(scheme: str, address: str) -> httpx.Proxy:
    """Return the proxy of a variable. Raises SettingsError, without the address, as it may hold a password."""
    variable = f"{scheme.upper()}_PROXY"
    try:
        proxy = httpx.Proxy(address if "://" in address else f"http://{address}")
    except (ValueError, httpx.InvalidURL):
        shown = address.partition("://")[0] if "://" in address else "(hidden)"
        hint = f"Allowed are http, https, socks5 and socks5h. {PROXY_HINT}"
        raise SettingsError("invalid proxy address", field=variable, value=shown, hint=hint) from None
    if not proxy.url.host:
        raise SettingsError("proxy address without a host", field=variable, value="(hidden)", hint=PROXY_HINT)
    return proxy
