"""HTTP: what is retried, what is refused, and that a body cut short never passes for a whole one."""

import contextlib
import gzip
import time
from http.server import BaseHTTPRequestHandler

import pytest
from web_site import BODY, QUICK, Answer, Site, chunked, send, web

from extract.aws.bulk import read_stream
from extract.web import http
from extract.web.http import BLOCK_BYTES, HttpWeb, Retries
from extract.web.interface import BrokenOff
from warehouse.errors import SourceError, Unavailable


def whole(site: Site, path: str = "/file") -> bytes:
    with web().stream(site.url + path) as blocks:
        return b"".join(blocks)


def test_we_say_who_we_are(site: Site) -> None:
    """The User-Agent names us, our version and where to complain; gzip is asked for, and nothing else."""
    site.answers["/file"] = [send(b"{}", Content_Type="application/json")]

    response = web().get(site.url + "/file")

    assert (response.body, response.status, response.content_type) == (b"{}", 200, "application/json")
    (asked,) = site.asked
    assert asked.headers["User-Agent"].startswith("chipledger/2026.")
    assert "(+https://github.com/chipledger/chipledger)" in asked.headers["User-Agent"]
    assert asked.headers["Accept-Encoding"] == "gzip"
    assert asked.headers["Accept"] == "application/json"


@pytest.mark.parametrize("encoding", ["plain", "gzip", "two members", "chunked"])
def test_a_stream_is_decoded(site: Site, encoding: str) -> None:
    """Plain, gzip, gzip of several members and chunked bodies give the same bytes, in blocks of at most 1 MiB."""
    half = len(BODY) // 2
    site.answers["/file"] = [
        {
            "plain": send(BODY),
            "gzip": send(gzip.compress(BODY), Content_Encoding="gzip"),
            "two members": send(gzip.compress(BODY[:half]) + gzip.compress(BODY[half:]), Content_Encoding="gzip"),
            "chunked": chunked(BODY[:half], BODY[half:]),
        }[encoding]
    ]

    with web().stream(site.url + "/file") as blocks:
        read = list(blocks)

    assert b"".join(read) == BODY
    assert max(map(len, read)) <= BLOCK_BYTES


@pytest.mark.parametrize(
    "answer",
    [
        send(BODY[: len(BODY) // 2], length=len(BODY)),
        send(gzip.compress(BODY)[:-4], Content_Encoding="gzip"),
        send(gzip.compress(BODY)[:5000], Content_Encoding="gzip"),
        send(b"", Content_Encoding="gzip"),
        send(b"no gzip at all", Content_Encoding="gzip"),
        chunked(BODY[:100], end=False),
    ],
    ids=["short body", "no gzip trailer", "half the gzip", "empty gzip", "not gzip", "no last chunk"],
)
def test_a_body_cut_short_is_an_error(site: Site, answer: Answer) -> None:
    """Less than was announced is BrokenOff, which says whose body it was and how much of it came."""
    site.answers["/file"] = [answer]

    with pytest.raises(BrokenOff) as caught:
        whole(site)

    assert caught.value.source == f"{site.url}/file"
    assert caught.value.field == "body"
    assert "received" in str(caught.value) or "damaged" in str(caught.value)
    assert len(site.asked) == 1  # beginning again is the reader's business


def test_a_short_body_names_expected_and_received(site: Site) -> None:
    """The two sizes stand in the message."""
    site.answers["/file"] = [send(b"12345", length=9)]

    with pytest.raises(BrokenOff, match="expected 9 bytes, received 5 bytes"):
        whole(site)


def test_a_broken_stream_is_begun_again_as_a_whole(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a reader made of the first half is thrown away with it."""
    monkeypatch.setattr(http, "STREAM_RETRIES", QUICK)
    site.answers["/file"] = [send(BODY[:9999], length=len(BODY)), send(BODY)]

    read = read_stream(web(), site.url + "/file", b"".join)

    assert read == BODY
    assert len(site.asked) == 2


def ranged(body: bytes, *, cut_at: int, tag: str = '"v1"') -> Answer:
    """Return an answer that breaks off, and goes on where it is asked to, by ETag and range, as AWS's files do."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        start = 0
        asked = handler.headers.get("Range", "")
        if asked and handler.headers.get("If-Range") == tag:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        handler.send_header("Accept-Ranges", "bytes")
        handler.send_header("ETag", tag)
        handler.send_header("Content-Length", str(len(body) - start))
        handler.end_headers()
        handler.wfile.write(body[start : start + cut_at])
        handler.close_connection = start + cut_at < len(body)

    return answer


def test_a_stream_goes_on_where_it_broke_off(site: Site) -> None:
    """At the last whole block: nothing is read twice that was handed on."""
    site.answers["/file"] = [ranged(BODY, cut_at=BLOCK_BYTES + 5000)]

    assert whole(site) == BODY
    starts = range(BLOCK_BYTES, len(BODY), BLOCK_BYTES)
    assert [asked.headers.get("Range") for asked in site.asked] == [None, *(f"bytes={start}-" for start in starts)]


def test_another_version_is_not_gone_on_with(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers as a whole: then the stream breaks off, and is begun again."""
    monkeypatch.setattr(http, "STREAM_RETRIES", QUICK)
    other = BODY.replace(b"line", b"LINE")
    site.answers["/file"] = [ranged(BODY, cut_at=BLOCK_BYTES), ranged(other, cut_at=len(other), tag='"v2"')]

    with pytest.raises(BrokenOff):
        whole(site)
    site.answers["/file"] = [ranged(BODY, cut_at=BLOCK_BYTES), ranged(other, cut_at=len(other), tag='"v2"')]
    read = read_stream(web(), site.url + "/file", b"".join)
    assert read == other


def test_a_stream_that_breaks_off_again_and_again_ends(site: Site) -> None:
    """After five times it is an error."""
    site.answers["/file"] = [ranged(BODY * 3, cut_at=BLOCK_BYTES)]

    with pytest.raises(BrokenOff):
        whole(site)
    assert len(site.asked) == 6


@pytest.mark.parametrize(("answer", "size"), [
    (send(b"12345"), 5), (send(b"", status=404), None), (send(b"", length=378_000_000), 378_000_000),
])  # fmt: skip
def test_a_size_is_asked_for_without_the_body(site: Site, answer: Answer, size: int | None) -> None:
    """None where the server does not say."""
    site.answers["/file"] = [answer]

    assert web().size(site.url + "/file") == size
    assert [asked.command for asked in site.asked] == ["HEAD"]


def test_passing_errors_are_retried(site: Site) -> None:
    """500, 503 and a short body are asked again, and the answer after them counts."""
    site.answers["/file"] = [send(status=500), send(b"12", length=3), send(b"123")]

    assert web().get(site.url + "/file").body == b"123"
    assert len(site.asked) == 3


def test_retries_end(site: Site) -> None:
    """After the last attempt the error is raised with its status."""
    site.answers["/file"] = [send(status=503)]

    with pytest.raises(Unavailable) as caught:
        web().get(site.url + "/file")

    assert (caught.value.field, caught.value.value) == ("status", 503)
    assert len(site.asked) == 3


def test_retry_after_is_obeyed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause before the next attempt is the one that the server asked for."""
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    site.answers["/file"] = [send(status=429, Retry_After="2"), send(b"{}")]

    assert web().get(site.url + "/file").body == b"{}"
    assert 2.0 in pauses


def test_too_long_a_pause_is_not_waited_for(site: Site) -> None:
    """A server that asks for an hour is left to the next run; the error keeps what it asked for."""
    site.answers["/file"] = [send(status=429, Retry_After="3600")]

    with pytest.raises(Unavailable) as caught:
        web().get(site.url + "/file")

    assert (caught.value.retry_after, caught.value.hint) == (3600.0, "Try again in 3600 s, as the server asks")
    assert len(site.asked) == 1


def test_retry_after_may_be_a_date(site: Site) -> None:
    """A date in the past means: at once."""
    site.answers["/file"] = [send(status=503, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), send(b"{}")]

    assert web().get(site.url + "/file").body == b"{}"


@pytest.mark.parametrize("when", ["Mon, 01 Jan 99999999999 00:00:00 GMT", "soon", "-1"])
def test_retry_after_that_is_no_time_says_nothing(site: Site, when: str) -> None:
    """The pause is ours then, also where no clock can show the date."""
    site.answers["/file"] = [send(status=429, Retry_After=when), send(b"{}")]

    assert web().get(site.url + "/file").body == b"{}"


@pytest.mark.parametrize("status", [204, 400, 403, 404, 410])
def test_other_statuses_are_final(site: Site, status: int) -> None:
    """What will not pass by itself is asked once, and the error names the status."""
    site.answers["/file"] = [send(b"<Error/>", status=status)]

    with pytest.raises(SourceError) as caught:
        whole(site)

    assert not isinstance(caught.value, Unavailable)
    assert (caught.value.field, caught.value.value) == ("status", status)
    assert ("refuses" in caught.value.hint) == (status in (400, 403))
    assert len(site.asked) == 1


def test_nobody_there_is_unavailable(site: Site) -> None:
    """A refused connection is Unavailable and names the address."""
    with pytest.raises(Unavailable) as caught:
        web().get("http://127.0.0.1:9/index.json")

    assert caught.value.source == "http://127.0.0.1:9/index.json"


@pytest.mark.parametrize(
    "body",
    [b"x" * 5000, gzip.compress(b"\0" * 5000), gzip.compress(b"\0" * (50 << 20))],
    ids=["plain", "gzip", "bomb"],
)
def test_get_has_a_limit(site: Site, body: bytes) -> None:
    """More than the limit is refused, also when a few bytes swell to it."""
    encoding = {"Content_Encoding": "gzip"} if body.startswith(b"\x1f\x8b") else {}
    site.answers["/file"] = [send(body, **encoding)]

    with pytest.raises(SourceError, match="exceeds 4999 bytes"):
        web(get_limit_bytes=4999).get(site.url + "/file")

    assert len(site.asked) == 1


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_dripping_answer_is_left_in_time(site: Site, is_chunked: bool) -> None:
    """A byte now and then keeps every single read alive; the whole must come in time all the same."""

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header(*(("Transfer-Encoding", "chunked") if is_chunked else ("Content-Length", "1000")))
        handler.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(1000):
                handler.wfile.write(b"1\r\nx\r\n" if is_chunked else b"x")
                time.sleep(0.02)

    site.answers["/file"] = [drip]
    begun = time.monotonic()

    with pytest.raises(Unavailable, match=r"did not come within 0\.2 s"):
        HttpWeb(retries=Retries(attempts=1), whole_timeout_s=0.2).get(site.url + "/file")

    assert time.monotonic() - begun < 5


def test_a_stream_has_a_limit_too(site: Site) -> None:
    """A bomb is left at its limit, not followed to its end."""
    site.answers["/file"] = [send(gzip.compress(b"\0" * (50 << 20)), Content_Encoding="gzip")]

    with (
        pytest.raises(SourceError, match="decompression bomb"),
        web(stream_limit_bytes=4 << 20).stream(site.url + "/file") as blocks,
    ):
        assert sum(map(len, blocks)) <= 4 << 20


def test_an_unknown_encoding_is_refused(site: Site) -> None:
    """Bytes that we did not ask for and cannot read are an error, not a document."""
    site.answers["/file"] = [send(b"x", Content_Encoding="br")]

    with pytest.raises(SourceError, match="unknown encoding"):
        web().get(site.url + "/file")


def test_redirects_within_the_host_are_followed(site: Site) -> None:
    """The answer at the end of a short chain counts."""
    site.answers["/file"] = [send(status=302, Location="/moved")]
    site.answers["/moved"] = [send(b"here", status=200)]

    assert whole(site) == b"here"


@pytest.mark.parametrize(
    "location",
    ["http://127.0.0.2/file", "https://127.0.0.1/file", "http://evil.example/file", "file:///etc/passwd", ""],
)
def test_redirects_elsewhere_are_refused(site: Site, location: str) -> None:
    """Another host, port or scheme is not followed, and nobody there is asked."""
    site.answers["/file"] = [send(status=301, Location=location)]

    with pytest.raises(SourceError, match="redirected elsewhere"):
        whole(site)


def test_redirects_in_a_circle_end(site: Site) -> None:
    """A few redirects are followed, no more."""
    site.answers["/file"] = [send(status=302, Location="/file")]

    with pytest.raises(SourceError, match="more than 3 redirects"):
        whole(site)

    assert len(site.asked) == 4
