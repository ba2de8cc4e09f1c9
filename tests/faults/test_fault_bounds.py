"""The bounds themselves, where a fault server on this machine cannot show them: sizes, deadlines, foreign addresses."""

import itertools
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from price_list_files import offer_csv
from web_site import open_site, send

from extract.aws import bulk, client, price_list
from extract.neoclouds import fetching
from extract.web.http import HttpWeb, Retries, _same_family
from extract.web.interface import Response
from extract.web.polite import _redirected
from extract.web.transport import Backend, Transport
from warehouse.errors import LayoutChanged, SourceError, Unavailable


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1/", "http://localhost/", "http://169.254.169.254/latest/", "http://[::1]/", "http://10.1.2.3/",
        "http://[fe80::1]/", "http://2130706433/", "http://127.1/", "http://metadata.google.internal/", "http://router/",
    ],
)  # fmt: skip
def test_a_robots_txt_leads_into_no_private_network(location: str) -> None:
    """It may lead to another host, and that host is one of the web."""
    start = "http://prices.example.com/robots.txt"
    assert _redirected(start, start, "http://www.example.org/robots.txt") == "http://www.example.org/robots.txt"
    with pytest.raises(SourceError, match="private network"):
        _redirected(start, start, location)


def test_nobody_is_sent_to_a_link_local_address() -> None:
    """Not even from a site of a private network, which may lead to another one of it."""
    start = "http://127.0.0.1/robots.txt"
    assert _redirected(start, start, "http://10.1.2.3/") == "http://10.1.2.3/"
    with pytest.raises(SourceError, match="private network"):
        _redirected(start, start, "http://169.254.169.254/latest/")


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        ("example.com", "www.example.com", True), ("www.example.com", "example.com", True),
        ("example.com", "com", False), ("127.0.0.1", "0.0.1", False), ("127.0.0.1", "1", False),
        ("example.com", "badexample.com", False), ("localhost", "localhost", True),
    ],
)  # fmt: skip
def test_a_family_of_hosts_has_a_name(here: str, there: str, expected: bool) -> None:
    """A domain and its subdomains; neither a top-level domain nor a part of an address in numbers."""
    assert _same_family(here, there) is expected


class Peer:
    """A socket that is connected to an address."""

    def __init__(self, address: str) -> None:
        self.address, self.closed = address, False

    def getpeername(self) -> tuple[str, int]:
        return self.address, 80

    def setsockopt(self, *_: int) -> None:
        pass

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "fe80::1%eth0", "::ffff:169.254.169.254", "192.0.2.1", "::ffff:192.0.2.1"]
)
def test_nobody_at_a_link_local_address_is_asked(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever name led there: the connection is closed before a byte is sent."""
    peer: Any = Peer(address)
    monkeypatch.setattr("socket.create_connection", lambda *_, **__: peer)
    if address.endswith("192.0.2.1"):
        Backend().connect_tcp("prices.example", 80)
    else:
        with pytest.raises(SourceError, match="link-local"):
            Backend().connect_tcp("prices.example", 80)
    assert peer.closed is not address.endswith("192.0.2.1")


def test_no_proxy_is_asked_for_a_link_local_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would ask on our behalf."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(SourceError, match="link-local"):
        Transport().handle_request(httpx.Request("GET", "http://169.254.169.254/latest/meta-data/"))


def test_a_query_ends_by_size_and_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many tokens are new."""
    call = client.Call(source="aws_spot", scope="us-east-1", operation="ec2.DescribeRegions", result="Regions")

    def read(*tokens: str) -> int:
        pages = iter([{"Regions": [], "NextToken": token, client.BODY: b"x" * 5} for token in tokens])
        return len(list(call.pages(SimpleNamespace(describe_regions=lambda **request: next(pages)), {})))

    monkeypatch.setattr(client, "QUERY_LIMIT_BYTES", 10)
    assert read("a", "") == 2
    with pytest.raises(SourceError, match="exceed 10 bytes"):
        read("a", "b", "")

    monkeypatch.setattr(client, "QUERY_TIMEOUT_S", -1.0)
    assert read("") == 1
    with pytest.raises(Unavailable, match="did not end within"):
        read("a", "")


def test_what_is_kept_of_a_file_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in which every line seems to matter is another file."""
    monkeypatch.setattr(bulk, "EXCERPT_LIMIT_BYTES", 1000)
    head = offer_csv([])
    assert len(price_list.cut([head, *[b"RunInstances\n"] * 3], url="http://a/b.csv").body) > len(head)
    with pytest.raises(LayoutChanged, match="exceed 1000 bytes"):
        price_list.cut(itertools.chain([head], itertools.repeat(b"RunInstances\n", 10**9)), url="http://a/b.csv")


def test_all_pages_of_an_answer_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of bytes and of time, together."""

    def pages(n: int) -> Any:
        return (Response(url="u", body=b"[1]", status=200, content_type="") for _ in range(n))

    monkeypatch.setattr(fetching, "PAGES_LIMIT_BYTES", 9)
    assert len(fetching._all(pages(3))) == 3
    with pytest.raises(SourceError, match="exceed 9 bytes"):
        fetching._all(pages(10**9))
    monkeypatch.setattr(fetching, "PAGES_TIMEOUT_S", -1.0)
    with pytest.raises(Unavailable, match="did not end within"):
        fetching._all(pages(1))


@pytest.mark.parametrize("length", ["-5", "5, 6", "0x10", "9" * 5000])
def test_a_length_that_is_none_is_refused(length: str) -> None:
    """Else the end of the connection, wherever it comes, would be the end of the body."""

    def answer(handler: Any) -> None:
        handler.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n12345".encode())
        handler.close_connection = True

    with open_site() as site:
        site.answers["/file"] = [answer]
        with pytest.raises(SourceError) as caught:
            HttpWeb(retries=Retries(attempts=1)).get(site.url + "/file")
        assert caught.value.field in ("content-length", "url")


@pytest.mark.parametrize(("length", "expected"), [("5, 5", b"12345"), ("6, 6", None)])
def test_a_length_that_is_said_twice_counts(length: str, expected: bytes | None) -> None:
    """RFC 9110, 8.6, allows it where both are the same; the body has to have it."""

    def answer(handler: Any) -> None:
        handler.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n12345".encode())
        handler.close_connection = True

    with open_site() as site:
        site.answers["/file"] = [answer]
        web = HttpWeb(retries=Retries(attempts=1))
        if expected is not None:
            assert web.get(site.url + "/file").body == expected
        else:
            with pytest.raises(Unavailable, match="expected 6 bytes, received 5"):
                web.get(site.url + "/file")


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    """As HTTP/1.0 has it: the body is whole when the connection is closed."""

    def answer(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n12345")
        handler.close_connection = True

    with open_site() as site:
        site.answers["/file"] = [answer]
        site.answers["/next"] = [send(b"6")]
        web = HttpWeb(retries=Retries(attempts=1))
        assert web.get(site.url + "/file").body == b"12345"
        assert web.get(site.url + "/next").body == b"6"
