"""An HTTP client for the sites of other companies: it obeys robots.txt and limits the rate of requests to a host.

1. robots.txt is fetched once per host and run, and read as RFC 9309 says: 4xx means no rules (2.3.1.3); where it
   cannot be read, nothing is fetched (2.3.1.4), and it is fetched again a little later. Stricter than the standard,
   which leaves it open: 408, 425 and 429 mean "not now", and redirects without end forbid like a broken server.
2. Between two requests to a host lies a pause: ours, or its Crawl-delay where that is longer. Retries and redirects
   are requests too. A host has one request at a time, and the pause begins when it is answered; a stream is answered
   when it begins.
3. A host is scheme, name and port, as in RFC 9309.
"""

import copy
import ipaddress
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from urllib.parse import urljoin

import httpcore
import httpx
from protego import Protego

from extract.web.http import REDIRECT_STATUS, HttpWeb, user_agent
from extract.web.interface import Response
from extract.web.transport import is_link_local, parse_url
from warehouse.errors import SourceError, Unavailable

PAUSE_S = 1.0
PAUSES_S = {"prices.azure.com": 6.0, "b0.p.awsstatic.com": 0.2}
"""Of a host that limits the rate and says so in no robots.txt: Azure refused the fourth request in nine seconds; and of
one whose files of 60 kB a page of AWS reads by the dozen."""
MAX_PAUSE_S = 30.0
"""A site that wants more between two requests is not read: a run would take hours over it."""
ROBOTS_LIMIT_BYTES = 500 << 10
"""What a crawler must read at least (RFC 9309, 2.5); the rest is ignored."""
MAX_ROBOTS_REDIRECTS = 5
"""RFC 9309, 2.3.1.2; they may lead to other hosts."""
RETRY_AFTER_S = 20.0
"""After this a robots.txt that could not be read is fetched again: less than a flow waits to retry a scope."""
PRIVATE_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


@dataclass(kw_only=True)
class _Host:
    """One host of a run: its rules, or why they are unread, why it was lost, and when it may get the next request."""

    pause_s: float
    rules: Protego | None = None
    unread: tuple[SourceError, float] | None = None
    lost: tuple[SourceError, float] | None = None
    free_at: float = float("-inf")
    turn: threading.Lock = field(default_factory=threading.Lock)
    reading: threading.Lock = field(default_factory=threading.Lock)
    timing: threading.Lock = field(default_factory=threading.Lock)


class PoliteWeb:
    """A web (extract.web.interface.Web) that obeys robots.txt and makes pauses; one for all sources of a run.

    Raises, in addition to what HttpWeb raises, SourceError with field "robots" where a site forbids an address to us or
    wants pauses beyond `MAX_PAUSE_S`, and Unavailable with that field where its robots.txt cannot be read.
    At a host and port of `documented` APIs a robots.txt that cannot be read forbids nothing.
    `clock` and `sleep` count in seconds.
    """

    def __init__(
        self,
        web: HttpWeb,
        *,
        documented: Collection[str] = (),
        pause_s: float = PAUSE_S,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._web = web.guarded(self._admit)
        self._unruled = web.guarded(self._pace)
        self._agent = user_agent().partition("/")[0]
        self._pause_s = pause_s
        self._clock, self._sleep = clock, sleep
        self._documented = documented
        self._hosts: dict[str, _Host] = {}
        self._hosts_lock = threading.Lock()

    def get(self, url: str, *, accept: str = "application/json", headers: Mapping[str, str] = {}) -> Response:
        """Return a small answer whole; raise as HttpWeb does, and where the site forbids the address."""
        with self._turn(url):
            return self._web.get(url, accept=accept, headers=headers)

    def post(
        self, url: str, *, json: object, accept: str = "application/json", headers: Mapping[str, str] = {}
    ) -> Response:
        """Return the answer to a JSON body; raise as HttpWeb does, and where the site forbids the address."""
        with self._turn(url):
            return self._web.post(url, json=json, accept=accept, headers=headers)

    @contextmanager
    def stream(self, url: str) -> Iterator[Iterator[bytes]]:
        """Give the decoded body in blocks; raise as HttpWeb does, and where the site forbids the address."""
        with ExitStack() as stack:
            with self._turn(url):
                blocks = stack.enter_context(self._web.stream(url))
            yield blocks

    def verdict(self, url: str) -> str:
        """Return what the host's robots.txt says of an address, in words; it is read where it was not yet."""
        try:
            self._check(url)
        except SourceError as error:
            return f"{error.message} ({error.value})"
        return "allowed" if self._host(url).rules is not None else "cannot be read; a documented API"

    @contextmanager
    def _turn(self, url: str) -> Iterator[None]:
        """Wait for the host's other requests; its pause begins at the end of this one.

        Where it could not be reached a moment ago, by any of the retries, it is not tried for each scope again.
        """
        host = self._host(url)
        with host.turn:
            self._recall(host.lost, url)
            self._check(url)  # before the retries of HttpWeb: a refusal of ours needs none
            try:
                yield
            except Unavailable as error:
                if isinstance(error.__cause__, httpcore.ConnectError | httpcore.ConnectTimeout):
                    host.lost = error, self._clock()
                raise
            finally:
                self._rest(host)

    def _recall(self, failure: tuple[SourceError, float] | None, url: str = "") -> None:
        """Raise an error again that was met a moment ago, of another address where one is named."""
        if failure is not None and self._clock() - failure[1] < RETRY_AFTER_S:
            error = copy.copy(failure[0])
            if url:
                error.source = error.value = url
            raise error

    def _admit(self, url: str) -> None:
        """Let a request through, in its time; raise where the site forbids the address, as after a redirect."""
        self._check(url)
        self._pace(url)

    def _pace(self, url: str) -> None:
        """Wait until the host may get a request, and hold others back for a pause."""
        host = self._host(url)
        with host.timing:
            now = self._clock()
            at = max(now, host.free_at)
            host.free_at = at + host.pause_s
        if at > now:
            self._sleep(at - now)

    def _rest(self, host: _Host) -> None:
        with host.timing:
            host.free_at = max(host.free_at, self._clock() + host.pause_s)

    def _check(self, url: str) -> None:
        """Raise SourceError where the host's robots.txt forbids an address, Unavailable where it cannot be read."""
        host = self._host(url)
        address = parse_url(url)
        try:
            rules = self._rules(url, host)
        except SourceError as error:
            if error.field == "robots" and address.netloc.decode("ascii") in self._documented:
                return
            raise
        if not rules.can_fetch(str(address), self._agent):
            hint = "Disable this source, or ask the site's owner for permission"
            place = f"{_root(address)}/robots.txt"
            raise SourceError("its robots.txt forbids it", source=url, field="robots", value=place, hint=hint)
        if host.pause_s > MAX_PAUSE_S:
            message = f"its robots.txt wants {host.pause_s:g} s between requests, more than {MAX_PAUSE_S:g} s"
            hint = "Disable this source, or ask the site's owner for another way"
            raise SourceError(message, source=url, field="robots", value=f"Crawl-delay: {host.pause_s:g}", hint=hint)

    def _rules(self, url: str, host: _Host) -> Protego:
        with host.reading:
            if host.rules is not None:
                return host.rules
            self._recall(host.unread)
            try:
                text = self._robots_txt(_root(parse_url(url)) + "/robots.txt")
            except SourceError as error:
                host.unread = error, self._clock()
                self._rest(host)
                raise copy.copy(error) from error.__cause__
            host.rules = Protego.parse(text)
            host.pause_s = max(host.pause_s, host.rules.crawl_delay(self._agent) or 0.0)
            self._rest(host)
            return host.rules

    def _robots_txt(self, url: str) -> str:
        """Return the text of a robots.txt, "" where there is none; raise Unavailable where that is unknown."""
        target = url
        for _ in range(MAX_ROBOTS_REDIRECTS + 1):
            try:
                answer = self._unruled.first_bytes(target, limit_bytes=ROBOTS_LIMIT_BYTES)
            except SourceError as error:
                raise _unread(url, error.message, error.value, cause=error) from error
            if answer.status in REDIRECT_STATUS:
                target = _redirected(url, target, answer.location)
            elif 200 <= answer.status < 300:
                return _text(answer.body)
            elif 400 <= answer.status < 500:
                return ""
            else:
                cause = Unavailable("") if answer.status >= 500 else None
                raise _unread(url, f"the server answered {answer.status}", answer.status, cause=cause)
        raise _unread(url, f"more than {MAX_ROBOTS_REDIRECTS} redirects", target)

    def _host(self, url: str) -> _Host:
        address = parse_url(url)
        with self._hosts_lock:
            pause_s = PAUSES_S.get(address.host, self._pause_s)
            return self._hosts.setdefault(_root(address), _Host(pause_s=pause_s))


def _root(address: httpx.URL) -> str:
    """Return scheme, name and port of an address, the port only where it is not the scheme's own."""
    return f"{address.scheme}://{address.netloc.decode('ascii')}"


def _is_private(name: str) -> bool:
    """Return whether a host's name says that it is this machine, or one of a network of its own."""
    name = name.rstrip(".").lower()
    try:
        return not ipaddress.ip_address(name).is_global
    except ValueError:
        # Neither a name of one label nor a part of an address in numbers is anybody's on the web.
        return "." not in name or name.endswith(PRIVATE_NAMES) or name.rpartition(".")[2].isdecimal()


def _redirected(url: str, here: str, location: str) -> str:
    """Return where the redirect of a robots.txt leads, to another host too; raise where that is none or unsafe."""
    try:
        there = parse_url(urljoin(here, location))
    except (SourceError, ValueError) as error:
        raise _unread(url, "redirected to no http(s) address", location) from error
    if not location or (parse_url(here).scheme == "https" and there.scheme != "https"):
        raise _unread(url, "redirected to nowhere, or from https to http", location)
    # Within one private network a redirect may lead on; no rules are at a link-local address.
    if is_link_local(there.host) or (_is_private(there.host) and not _is_private(parse_url(url).host)):
        raise _unread(url, "redirected to an address of a private network", location)
    return str(there)


def _unread(url: str, why: str, value: object, *, cause: SourceError | None = None) -> SourceError:
    """Return the error of a robots.txt that cannot be read; it is passing where its cause is."""
    message = f"its robots.txt cannot be read: {why}"
    hint = "Nothing is fetched from a site whose rules are unknown"
    if not isinstance(cause, Unavailable):
        return SourceError(message, source=url, field="robots", value=value, hint=hint)
    error = Unavailable(message, source=url, field="robots", value=value, hint=hint)
    error.retry_after = cause.retry_after
    return error


def _text(body: bytes) -> str:
    """Return the text of a robots.txt, without a last line that the limit may have cut through."""
    if len(body) >= ROBOTS_LIMIT_BYTES:
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    return body.decode("utf-8-sig", errors="replace")
