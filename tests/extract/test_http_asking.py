"""HTTP: what is sent beside an address (bodies, headers, who may forbid it), and that a key never gets out."""

import gzip
import json
import logging
import traceback
from http.server import BaseHTTPRequestHandler

import pytest
from web_site import BODY, Answer, Site, send, web

from warehouse.errors import SourceError, Unavailable

# --- what is sent


QUERY = {"query": "{ gpuTypes { id } }", "name": "Zürich"}


def test_a_post_carries_json(site: Site) -> None:
    """The body is JSON in UTF-8 and says so; the answer comes back whole, as from a GET."""
    site.answers["/graphql"] = [send(b'{"data": 1}', Content_Type="application/json")]

    response = web().post(site.url + "/graphql", json=QUERY, accept="application/graphql-response+json")

    assert (response.body, response.status, response.content_type) == (b'{"data": 1}', 200, "application/json")
    (asked,) = site.asked
    assert (asked.command, json.loads(asked.body)) == ("POST", QUERY)
    assert "Zürich".encode() in asked.body
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.headers["Accept"] == "application/graphql-response+json"
    assert asked.headers["User-Agent"].startswith("chipledger/")


def test_a_post_is_retried_with_its_body(site: Site) -> None:
    """A passing error and a body cut short are asked again, and the whole question is sent each time."""
    site.answers["/graphql"] = [send(status=503), send(b"12", length=3), send(b"123")]

    assert web().post(site.url + "/graphql", json=QUERY).body == b"123"
    assert [json.loads(asked.body) for asked in site.asked] == [QUERY] * 3


def test_a_post_fails_like_a_get(site: Site) -> None:
    """A refusal names its status and is final; more than the limit is refused."""
    site.answers["/no"] = [send(status=403)]
    site.answers["/much"] = [send(b"x" * 5000)]

    with pytest.raises(SourceError) as caught:
        web().post(site.url + "/no", json=QUERY)
    assert (caught.value.field, caught.value.value) == ("status", 403)
    with pytest.raises(SourceError, match="exceeds 4999 bytes"):
        web(get_limit_bytes=4999).post(site.url + "/much", json=QUERY)
    assert len(site.asked) == 2


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_post_is_not_redirected(site: Site, status: int) -> None:
    """Not even to the same host: nobody else gets the body."""
    site.answers["/graphql"] = [send(status=status, Location="/moved")]
    site.answers["/moved"] = [send(b"here")]

    with pytest.raises(SourceError, match="redirected elsewhere") as caught:
        web().post(site.url + "/graphql", json=QUERY)

    assert (caught.value.field, caught.value.value) == ("location", "/moved")
    assert len(site.asked) == 1


# --- secrets

KEY = "sk-Zq81example77"
SECRET = {"Authorization": f"Bearer {KEY}", "X-Version": "2"}


def test_headers_are_sent(site: Site) -> None:
    """What a source adds goes with both kinds of request, beside our own, and with a page as with an API."""
    site.answers["/page"] = [send(b"<html>", Content_Type="text/html; charset=utf-8")]

    page = web().get(site.url + "/page", accept="text/html", headers=SECRET)
    web().post(site.url + "/page", json={}, headers=SECRET)

    assert page.content_type == "text/html; charset=utf-8"
    assert [asked.headers["Authorization"] for asked in site.asked] == [f"Bearer {KEY}"] * 2
    assert [asked.headers["X-Version"] for asked in site.asked] == ["2", "2"]
    assert site.asked[0].headers["Accept"] == "text/html"
    assert site.asked[0].headers["User-Agent"].startswith("chipledger/")


def repeating(status: int, **headers: str) -> Answer:
    """Return an answer whose reason repeats the key that it refuses."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status, f"no such key {KEY}")
        for name, value in {**headers, "Content-Length": "0"}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()

    return answer


def garbled(handler: BaseHTTPRequestHandler) -> None:
    """Answer with a line that is no HTTP, but holds the key."""
    handler.wfile.write(f"no such key {KEY}\r\n\r\n".encode())
    handler.close_connection = True


@pytest.mark.parametrize(
    "answer",
    [
        repeating(401),
        repeating(503),
        repeating(302, Location=f"https://elsewhere.example/{KEY}"),
        garbled,
        send(b"x", Content_Encoding=f"Bearer {KEY}"),
    ],
    ids=["refused", "passing", "redirected", "garbled", "encoding"],
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_secret_stays_one(site: Site, answer: Answer, method: str, caplog: pytest.LogCaptureFixture) -> None:
    """A server that repeats the key brings it into no error, no cause of one, and no line of the log."""
    caplog.set_level(logging.DEBUG)
    site.answers["/file"] = [answer]
    asking = web()

    with pytest.raises(SourceError) as caught:
        if method == "get":
            asking.get(site.url + "/file", headers=SECRET)
        else:
            asking.post(site.url + "/file", json=QUERY, headers=SECRET)

    told = f"{caught.value} {caught.value!r} {caught.value.as_dict()} {vars(caught.value)} {asking!r} {vars(asking)}"
    told += "".join(traceback.format_exception(caught.value))
    logged = "".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    assert KEY.lower() not in f"{told} {logged}".lower()
    assert site.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert site.url in caught.value.source


@pytest.mark.parametrize("value", [f"{KEY}\n", f"{KEY}\r\nX-Other: 1", f" {KEY}", "", f"{KEY}€", f"{KEY}\0"])
def test_a_header_that_cannot_be_sent_is_refused(site: Site, value: str) -> None:
    """A key with a line break or a foreign character is named by its header only, and nothing is sent."""
    with pytest.raises(SourceError) as caught:
        web().get(site.url + "/file", headers={"X-Api-Key": value})

    assert (caught.value.field, caught.value.value) == ("X-Api-Key", "(hidden)")
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert site.asked == []


def test_a_secret_goes_to_its_host_only(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirect within the host takes the key along; one to a subdomain does not."""
    monkeypatch.setenv("http_proxy", site.url)  # so that any host is this one, asked by whole addresses
    site.answers["http://shop.example/file"] = [send(status=302, Location="/moved")]
    site.answers["http://shop.example/moved"] = [send(status=302, Location="http://www.shop.example/there")]
    site.answers["http://www.shop.example/there"] = [send(status=302, Location="http://shop.example/end")]
    site.answers["http://shop.example/end"] = [send(b"here")]

    assert web().get("http://shop.example/file", headers=SECRET).body == b"here"
    assert [asked.headers["Authorization"] for asked in site.asked] == [f"Bearer {KEY}"] * 2 + [None] * 2


# --- guards and first bytes


def test_a_guard_sees_each_request(site: Site) -> None:
    """Retries and redirects are requests too, and a guard's refusal is final; the web it came from stays free."""
    site.answers["/file"] = [send(status=503), send(status=302, Location="/moved")]
    site.answers["/moved"] = [send(b"here")]
    seen: list[str] = []
    free = web()

    free.guarded(seen.append).get(site.url + "/file")

    assert seen == [f"{site.url}/file", f"{site.url}/file", f"{site.url}/moved"]
    assert free.get(site.url + "/moved").body == b"here"
    assert len(seen) == 3

    def refuse(url: str) -> None:
        raise SourceError("no", source=url)

    with pytest.raises(SourceError, match="no"):
        free.guarded(refuse).post(site.url + "/file", json={})
    assert len(site.asked) == 4


def test_first_bytes_take_any_answer(site: Site) -> None:
    """A redirect and a refusal are answers; of a long body the beginning is read, and the connection is dropped."""
    site.answers["/moved"] = [send(b"x", status=301, Location="/there")]
    site.answers["/gone"] = [send(b"x", status=404)]
    site.answers["/long"] = [send(BODY)]
    site.answers["/packed"] = [send(gzip.compress(BODY), Content_Encoding="gzip")]
    asking = web()

    moved = asking.first_bytes(site.url + "/moved", limit_bytes=9)
    assert (moved.status, moved.location, moved.body) == (301, "/there", b"")
    assert asking.first_bytes(site.url + "/gone", limit_bytes=9).status == 404
    assert asking.first_bytes(site.url + "/packed", limit_bytes=9).body == BODY[:9]
    assert asking.first_bytes(site.url + "/long", limit_bytes=9).body == BODY[:9]
    assert asking.get(site.url + "/long").body == BODY


def test_first_bytes_need_a_server(site: Site) -> None:
    """A passing status is tried again, and is Unavailable in the end."""
    site.answers["/file"] = [send(status=503), send(b"yes")]
    site.answers["/down"] = [send(status=502)]

    assert web().first_bytes(site.url + "/file", limit_bytes=9).body == b"yes"
    with pytest.raises(Unavailable):
        web().first_bytes(site.url + "/down", limit_bytes=9)
    assert len(site.asked) == 2 + 3
