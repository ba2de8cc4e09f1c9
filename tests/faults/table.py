"""The faults, one value each: what goes wrong on the wire, and what may come of it."""

import gzip
import uuid
from dataclasses import dataclass
from typing import Literal

from faults.spoilers import (
    LOGIN,
    chunked,
    cut,
    cut_head,
    drip_body,
    drip_chunks,
    drip_continue,
    drip_head,
    edited,
    endless,
    endless_chunks,
    endless_refusal,
    gzip_bomb,
    hang_up,
    header_bomb,
    header_line,
    lying,
    more,
    moved,
    nested,
    numbers,
    raw,
    same_page,
    sent,
    silent,
    status,
    twice,
    utf16,
    zip_bomb,
    zstd_bomb,
    zstd_lines,
)
from faults.wire import ROBOTS, Spoil

Way = Literal["answer", "refused", "dns", "tls wrong name", "tls self-signed", "tls expired", "tls plain", "tls good"]
"""How the server is reached: at its address, or in a way that must fail (but for the last)."""
HARMLESS = ("ok",)
GATED = ("ok", "gate")
REFUSED = ("SourceError", "Unavailable", "LayoutChanged", "CredentialsMissing", "BrokenOff")
PASSING = ("Unavailable", "BrokenOff")
FINAL = ("SourceError", "LayoutChanged", "CredentialsMissing")
TEXT = ("json", "xml", "html", "csv", "csv index")
"""Kinds of document that are not packed, so that what they say can be changed on the wire."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that goes wrong.

    `expected` are the classes of error that may come of it; with "ok" among them the document may be read, and then
    says exactly what the good one says. `bodies` are the kinds of document it makes sense for (all where empty),
    `doors` the ways of fetching. `robots` ones befall the robots.txt alone; `short` ones are tried in every run of
    the tests.
    """

    name: str
    kind: str
    spoil: Spoil | None = None
    way: Way = "answer"
    expected: tuple[str, ...] = REFUSED
    bodies: tuple[str, ...] = ()
    doors: tuple[str, ...] = ()
    robots: bool = False
    short: bool = False

    @property
    def is_slow(self) -> bool:
        """Return whether nothing but a deadline ends it."""
        return self.kind == "slowness" or self.spoil in (silent, drip_body, drip_head) or self.way == "tls plain"


def robots(name: str, spoil: Spoil, *, expected: tuple[str, ...] = REFUSED, short: bool = False) -> Fault:
    return Fault(
        name=f"robots.txt: {name}", kind="robots.txt", spoil=spoil, expected=expected, robots=True, short=short
    )


FAULTS: tuple[Fault, ...] = (
    # the connection
    Fault(name="connection refused", kind="connection", way="refused", expected=PASSING, short=True),
    Fault(name="name not found", kind="connection", way="dns", expected=PASSING),
    Fault(name="closed before a word", kind="connection", spoil=hang_up, expected=PASSING),
    Fault(name="reset before a word", kind="connection", spoil=lambda x: hang_up(x, reset=True), expected=PASSING),
    Fault(
        name="reset midway", kind="connection", spoil=cut(lambda n: n // 2, reset=True), expected=PASSING, short=True
    ),
    Fault(name="silence", kind="connection", spoil=silent, expected=PASSING),
    Fault(name="no HTTP", kind="connection", spoil=raw(b"220 mail.example ESMTP\r\n"), expected=PASSING),
    # TLS
    Fault(name="TLS: the right certificate", kind="TLS", way="tls good", expected=HARMLESS),
    Fault(name="TLS: wrong name", kind="TLS", way="tls wrong name", expected=FINAL),
    Fault(name="TLS: self-signed", kind="TLS", way="tls self-signed", expected=FINAL),
    Fault(name="TLS: expired", kind="TLS", way="tls expired", expected=FINAL),
    Fault(name="TLS: plain text in its place", kind="TLS", way="tls plain"),
    # slowness
    Fault(name="head drips", kind="slowness", spoil=drip_head, expected=PASSING),
    Fault(name="100 Continue for ever", kind="slowness", spoil=drip_continue, expected=PASSING),
    Fault(name="body drips", kind="slowness", spoil=drip_body, expected=PASSING),
    Fault(name="chunks drip", kind="slowness", spoil=drip_chunks, expected=PASSING),
    # size
    Fault(name="endless body", kind="size", spoil=endless),
    Fault(name="endless chunks", kind="size", spoil=endless_chunks),
    Fault(name="endless refusal", kind="size", spoil=endless_refusal),
    Fault(name="gzip bomb", kind="size", spoil=gzip_bomb),
    Fault(name="zstd bomb", kind="size", spoil=zstd_bomb, bodies=("zst",), expected=FINAL, short=True),
    Fault(name="zstd bomb of prices", kind="size", spoil=zstd_lines, bodies=("zst",), expected=FINAL),
    Fault(name="zip bomb", kind="size", spoil=zip_bomb, bodies=("zip",), expected=FINAL),
    Fault(name="header bomb", kind="size", spoil=header_bomb),
    Fault(name="header without end", kind="size", spoil=header_line),
    # redirects
    Fault(name="redirect loop", kind="redirect", spoil=moved("{path}"), short=True),
    Fault(name="redirect to another host", kind="redirect", spoil=moved("http://elsewhere.invalid/")),
    Fault(name="redirect to loopback", kind="redirect", spoil=moved("http://localhost:9/prices")),
    Fault(name="redirect to metadata", kind="redirect", spoil=moved("http://169.254.169.254/latest/meta-data/")),
    Fault(name="redirect to a file", kind="redirect", spoil=moved("file:///etc/passwd")),
    Fault(name="redirect to no address", kind="redirect", spoil=moved("http://[nowhere/"), short=True),
    Fault(name="redirect to no port", kind="redirect", spoil=moved("http://127.0.0.1:99999999/")),
    Fault(name="redirect to nowhere", kind="redirect", spoil=moved("")),
    # statuses
    *(
        Fault(name=f"status {number}", kind="status", spoil=status(number), expected=FINAL)
        for number in (400, 401, 403, 404, 410)
    ),
    *(
        Fault(name=f"status {number}", kind="status", spoil=status(number), expected=PASSING, short=number == 503)
        for number in (429, 500, 502, 503, 504)
    ),
    *(
        Fault(name=f"status {number}", kind="status", spoil=status(number), short=number == 204)
        for number in (204, 206, 304)
    ),
    Fault(
        name="429, Retry-After in seconds",
        kind="status",
        spoil=status(429, retry_after="0"),
        expected=PASSING,
    ),
    Fault(
        name="429, Retry-After as date",
        kind="status",
        spoil=status(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
        expected=PASSING,
    ),
    Fault(
        name="429, Retry-After of a century", kind="status", spoil=status(429, retry_after="9" * 400), expected=PASSING
    ),
    Fault(
        name="429, Retry-After beyond the calendar",
        kind="status",
        spoil=status(429, retry_after="Fri, 31 Dec 9999 23:59:59 -2359"),
        expected=PASSING,
    ),
    Fault(
        name="429, Retry-After of nonsense", kind="status", spoil=status(429, retry_after="-1e9 soon"), expected=PASSING
    ),
    # framing
    Fault(name="head cut off", kind="framing", spoil=cut_head, expected=PASSING, short=True),
    Fault(name="announced too long", kind="framing", spoil=lying(1000)),
    Fault(
        name="announced too short",
        kind="framing",
        spoil=lying(-20),
        bodies=("json", "xml", "csv index", "html", "zip", "zst", "git"),
    ),
    Fault(
        name="announced length of 5000 digits",
        kind="framing",
        spoil=lambda x: x.send(None, length="9" * 5000, close=True),
        short=True,
    ),
    Fault(
        name="two lengths",
        kind="framing",
        spoil=lambda x: x.send(None, length=f"{len(x.answer.body)}, 3", close=True),
    ),
    Fault(name="broken chunk", kind="framing", spoil=lambda x: chunked(x, last=b"zz\r\n"), short=True),
    Fault(name="chunk of 5000 digits", kind="framing", spoil=lambda x: chunked(x, last=b"f" * 5000 + b"\r\n")),
    Fault(name="chunks cut off", kind="framing", spoil=lambda x: chunked(x, last=b"")),
    Fault(
        name="damaged gzip",
        kind="framing",
        spoil=lambda x: x.send(b"\x1f\x8b" + x.answer.body, Content_Encoding="gzip"),
    ),
    Fault(
        name="gzip cut off",
        kind="framing",
        spoil=lambda x: x.send(gzip.compress(x.answer.body)[:-9], Content_Encoding="gzip"),
    ),
    Fault(
        name="unknown encoding", kind="framing", spoil=sent("Content_Encoding", "br"), doors=("http", "stream", "git")
    ),
    # text
    Fault(
        name="wrong content type", kind="text", spoil=sent("Content_Type", "image/png"), expected=(*HARMLESS, *REFUSED)
    ),
    Fault(
        name="wrong charset told",
        kind="text",
        spoil=sent("Content_Type", "text/html; charset=utf-7"),
        expected=(*HARMLESS, *REFUSED),
    ),
    Fault(name="UTF-16", kind="text", spoil=edited(utf16), expected=(*HARMLESS, *REFUSED), bodies=TEXT),
    Fault(
        name="invalid UTF-8",
        kind="text",
        spoil=edited(lambda body: body[:20] + b"\xff\xfe\xc0" + body[20:]),
        expected=(*HARMLESS, *REFUSED),
        short=True,
    ),
    Fault(
        name="byte order mark",
        kind="text",
        spoil=edited(lambda body: b"\xef\xbb\xbf" + body),
        expected=(*HARMLESS, *REFUSED),
    ),
    Fault(name="zero bytes", kind="text", spoil=edited(lambda body: bytes(len(body)))),
    # content
    Fault(name="empty 200", kind="content", spoil=edited(lambda body: b""), short=True),
    Fault(
        name="half a document",
        kind="content",
        spoil=edited(lambda body: body[: len(body) // 2]),
        bodies=("json", "xml", "html", "csv index", "zip", "zst", "git"),
        short=True,
    ),
    Fault(name="half a file", kind="content", spoil=edited(lambda body: body[: len(body) // 2]), bodies=("csv",)),
    Fault(
        name="a page for people",
        kind="content",
        spoil=lambda x: x.send(LOGIN, status=200, Content_Type="text/html"),
        short=True,
    ),
    Fault(name="null", kind="content", spoil=edited(lambda body: b"null")),
    Fault(name="a list", kind="content", spoil=edited(lambda body: b"[]")),
    Fault(name="an object", kind="content", spoil=edited(lambda body: b"{}")),
    Fault(name="nested 100,000 deep", kind="content", spoil=nested),
    Fault(
        name="numbers of 5000 digits",
        kind="content",
        spoil=numbers(b"9" * 5000),
        expected=(*GATED, *REFUSED),
        bodies=TEXT,
    ),
    Fault(
        name="numbers beyond a float",
        kind="content",
        spoil=numbers(b"1e999999999"),
        expected=(*GATED, *REFUSED),
        bodies=TEXT,
    ),
    Fault(name="NaN", kind="content", spoil=numbers(b"NaN"), expected=(*GATED, *REFUSED), bodies=TEXT, short=True),
    Fault(name="Infinity", kind="content", spoil=numbers(b"Infinity"), expected=(*GATED, *REFUSED), bodies=TEXT),
    Fault(name="negative numbers", kind="content", spoil=numbers(b"-1.5"), expected=(*GATED, *REFUSED), bodies=TEXT),
    Fault(name="one key twice", kind="content", spoil=edited(twice), bodies=("json",)),
    # pages
    Fault(name="the same page for ever", kind="pages", spoil=same_page, expected=(*HARMLESS, *REFUSED)),
    Fault(name="tokens without end", kind="pages", spoil=more(lambda: uuid.uuid4().hex), doors=("boto3",)),
    Fault(name="a token that repeats", kind="pages", spoil=more(lambda: "again"), doors=("boto3",)),
    # robots.txt of sites that are read politely
    robots("drips", drip_body, expected=PASSING),
    robots("head drips", drip_head, expected=PASSING),
    robots("head cut off", cut_head, expected=PASSING, short=True),
    robots("endless", endless, expected=(*HARMLESS, *REFUSED)),
    robots("gzip bomb", gzip_bomb, expected=(*HARMLESS, *REFUSED)),
    robots("503", status(503), expected=PASSING),
    robots("redirect loop", moved("{path}")),
    robots("redirect to metadata", moved("http://169.254.169.254/latest/meta-data/")),
    robots("redirect to loopback", moved("http://localhost:9/")),
    robots("redirect to a file", moved("file:///etc/passwd")),
    robots("redirect to no address", moved("http://[nowhere/")),
    robots("forbids", edited(lambda body: b"User-agent: *\nDisallow: /\n")),
)


def strikes(fault: Fault, path: str) -> bool:
    """Return whether a request is one that a fault spoils, as to robots.txt."""
    return (path == ROBOTS) == fault.robots
