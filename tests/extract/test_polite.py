"""Politeness: what a robots.txt forbids is not read, what it does not tell is not read either, and hosts get pauses."""

import gzip
from collections.abc import Iterator
from typing import Any

import pytest
from web_site import Answer, Clock, Site, open_site, send

from extract.web.http import HttpWeb, Retries
from extract.web.interface import Response
from extract.web.polite import RETRY_AFTER_S, ROBOTS_LIMIT_BYTES, PoliteWeb
from extract.web.transport import Transport
from warehouse.errors import SourceError, Unavailable

pytestmark = pytest.mark.usefixtures("own_pauses")

QUICK = Retries(attempts=2, seconds=5, pause_s=0.001)
PAGE = "/pricing/gpu?tier=on-demand"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def site() -> Iterator[Site]:
    with open_site() as site:
        site.answers[PAGE] = [send(b"page")]
        yield site


@pytest.fixture
def any_host(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Let every host of plain HTTP be this site, as behind a proxy; it is asked by whole addresses."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", site.url)
    return site


def polite(clock: Clock, **settings: Any) -> PoliteWeb:
    return PoliteWeb(HttpWeb(retries=QUICK), clock=clock, sleep=clock.sleep, **settings)


def robots(text: str | bytes, **headers: str) -> Answer:
    return send(text.encode() if isinstance(text, str) else text, **{"Content_Type": "text/plain", **headers})


def asked(site: Site) -> list[str]:
    return [handler.path for handler in site.asked]


# --- what is allowed


def test_robots_txt_is_asked_first_and_once(site: Site, clock: Clock) -> None:
    """The rules come before the first page, and serve for all others; a key goes to the page only."""
    site.answers["/robots.txt"] = [robots("User-agent: *\nDisallow: /admin\n")]
    web = polite(clock)

    assert web.get(site.url + PAGE, accept="text/html", headers={"X-Api-Key": "sk-example-1"}).body == b"page"
    assert web.post(site.url + PAGE, json={"a": 1}, headers={"X-Api-Key": "sk-example-1"}).body == b"page"
    with web.stream(site.url + PAGE) as blocks:
        assert b"".join(blocks) == b"page"

    assert asked(site) == ["/robots.txt", PAGE, PAGE, PAGE]
    assert [handler.headers["X-Api-Key"] for handler in site.asked] == [None, "sk-example-1", "sk-example-1", None]
    assert site.asked[0].headers["User-Agent"].startswith("chipledger/")
    assert [handler.command for handler in site.asked] == ["GET", "GET", "POST", "GET"]
    assert site.asked[1].headers["Accept"] == "text/html"


@pytest.mark.parametrize("method", ["get", "post", "stream"])
def test_what_is_forbidden_is_not_asked(site: Site, clock: Clock, method: str) -> None:
    """The error has the address, where the rules are, and what to do."""
    text = (
        "User-agent: GreedyBot\nDisallow: /pricing/gpu\n\n"
        "User-agent: *\nAllow: /\nDisallow: /p\nDisallow: /pri # no\nDisallow: /somewhere/else\n"
    )
    site.answers["/robots.txt"] = [robots(text)]
    web = polite(clock)

    with pytest.raises(SourceError, match=r"robots\.txt forbids") as caught:
        if method == "get":
            web.get(site.url + PAGE)
        elif method == "post":
            web.post(site.url + PAGE, json={})
        else:
            web.stream(site.url + PAGE).__enter__()

    assert not isinstance(caught.value, Unavailable)
    assert (caught.value.source, caught.value.field) == (site.url + PAGE, "robots")
    assert caught.value.value == f"{site.url}/robots.txt"
    assert "permission" in caught.value.hint
    assert asked(site) == ["/robots.txt"]


@pytest.mark.parametrize(
    ("text", "path", "is_allowed"),
    [
        ("User-agent: *\nDisallow: /\n", PAGE, False),
        ("User-agent: *\nDisallow:\n", PAGE, True),
        ("user-AGENT:*\ndisALLOW:/pricing\n", PAGE, False),
        ("User-agent: *\nDisallow: /pricing/\nAllow: /pricing/gpu\n", PAGE, True),
        ("User-agent: *\nAllow: /pricing\nDisallow: /pricing/gpu\n", PAGE, False),
        ("User-agent: *\nDisallow: /pricing/gpu\nAllow: /pricing/gpu\n", PAGE, True),
        ("User-agent: *\nDisallow: /*/gpu\n", PAGE, False),
        ("User-agent: *\nDisallow: /*?tier=\n", PAGE, False),
        ("User-agent: *\nDisallow: /*/gpu$\n", PAGE, True),
        ("User-agent: *\nDisallow: /*demand$\n", PAGE, False),
        ("User-agent: *\nDisallow: /Pricing\n", PAGE, True),
        ("User-agent: *\nDisallow: /pric%69ng\n", PAGE, False),
        ("User-agent: *\nDisallow: /pricing\n", "/open/../pricing/gpu", False),
        ("User-agent: *\nDisallow: /pricing\n", "/%70ricing", False),
        ("User-agent: other\nUser-agent: ChipLedger\nDisallow: /pricing\n\nUser-agent: *\nDisallow:\n", PAGE, False),
        ("User-agent: chipledger\nDisallow: /admin\n\nUser-agent: *\nDisallow: /\n", PAGE, True),
        ("User-agent: github\nDisallow: /\n\nUser-agent: https\nDisallow: /\n", PAGE, True),
        ("Disallow: /\n", PAGE, True),
        ("", PAGE, True),
        (b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /pricing\r\n", PAGE, False),
        (b"User-agent: *\rDisallow: /pricing\r", PAGE, False),
        (b"\xff\xfe\0 Sitemap: \xe9\nUser-agent: *\nDisallow: /pricing\n", PAGE, False),
    ],
)
def test_rules_are_read_as_the_standard_says(
    site: Site, clock: Clock, text: str | bytes, path: str, *, is_allowed: bool
) -> None:
    """The longest rule counts, an Allow where two are equal; `*` and `$` count; the group that names us goes first."""
    site.answers["/robots.txt"] = [robots(text)]
    site.answers["/%70ricing"] = site.answers[path] = [send(b"page")]

    if is_allowed:
        assert polite(clock).get(site.url + path).body == b"page"
    else:
        with pytest.raises(SourceError) as caught:
            polite(clock).get(site.url + path)
        assert caught.value.field == "robots"
        assert caught.value.value == f"{site.url}/robots.txt"


def test_a_rule_of_its_own_spelling_forbids_too(site: Site, clock: Clock) -> None:
    """The parser forgives it, as other crawlers do."""
    site.answers["/robots.txt"] = [robots("User-agent: *\nDisalow /pricing\n")]

    with pytest.raises(SourceError) as caught:
        polite(clock).get(site.url + PAGE)

    assert (caught.value.message, caught.value.value) == ("its robots.txt forbids it", f"{site.url}/robots.txt")


def test_a_redirect_leads_to_nothing_forbidden(site: Site, clock: Clock) -> None:
    """Where a page has moved to is looked up in the rules as well."""
    site.answers["/robots.txt"] = [robots("User-agent: *\nDisallow: /private\n")]
    site.answers[PAGE] = [send(status=302, Location="/private/page")]

    with pytest.raises(SourceError) as caught:
        polite(clock).get(site.url + PAGE)

    assert (caught.value.source, caught.value.field) == (f"{site.url}/private/page", "robots")
    assert asked(site) == ["/robots.txt", PAGE]


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "pricing/gpu", "http://", "http://[::1", "ftp://a.example/x", ""]
)
def test_only_addresses_of_the_web_are_asked(clock: Clock, url: str) -> None:
    """Anything else is an error that names it."""
    with pytest.raises(SourceError) as caught:
        polite(clock).get(url)

    assert (caught.value.field, caught.value.value) == ("url", url)


# --- no robots.txt, or a strange one


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_without_robots_txt_there_are_no_rules(site: Site, clock: Clock, status: int) -> None:
    """4xx is a site without rules, even if the body looks like some (RFC 9309, 2.3.1.3)."""
    site.answers["/robots.txt"] = [send(b"User-agent: *\nDisallow: /\n", status=status)]

    assert polite(clock).get(site.url + PAGE).body == b"page"


@pytest.mark.parametrize(
    "answer",
    [
        *(send(status=status) for status in (408, 429, 500, 501, 503, 521)),
        send(b"User-agent: *\n", length=99),
        send(b"no gzip", Content_Encoding="gzip"),
    ],
    ids=["408", "429", "500", "501", "503", "521", "cut short", "damaged"],
)
def test_nothing_is_read_where_the_rules_are_unknown(
    site: Site, clock: Clock, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    """A server in trouble is Unavailable, says so of its robots.txt, and no page of it is asked."""
    caplog.set_level("WARNING", logger="stamina")  # which the command line sets otherwise
    site.answers["/robots.txt"] = [answer]

    with pytest.raises(Unavailable, match=r"robots\.txt cannot be read") as caught:
        polite(clock).get(site.url + PAGE)

    assert type(caught.value) is Unavailable
    assert (caught.value.source, caught.value.field) == (f"{site.url}/robots.txt", "robots")
    assert set(asked(site)) == {"/robots.txt"}
    assert caplog.messages.count("stamina.retry_scheduled") == len(site.asked) - 1  # the page is not tried either


@pytest.mark.parametrize("status", [300, 304])
def test_an_answer_that_means_nothing_forbids(site: Site, clock: Clock, status: int) -> None:
    """What is neither rules nor their absence leaves them unknown, and will do so again."""
    site.answers["/robots.txt"] = [send(status=status)]

    with pytest.raises(SourceError, match="cannot be read") as caught:
        polite(clock).get(site.url + PAGE)

    assert not isinstance(caught.value, Unavailable)
    assert (caught.value.value, asked(site)) == (status, ["/robots.txt"])


@pytest.mark.parametrize("status", [500, 429, 304])
def test_a_documented_api_is_not_stopped_by_rules_that_cannot_be_read(site: Site, clock: Clock, status: int) -> None:
    """Its owner invites everybody; pauses stay, other hosts are as before, and rules that can be read are obeyed."""
    site.answers["/robots.txt"] = [send(status=status)]
    host = site.url.partition("//")[2]
    web = polite(clock, documented={host})

    assert web.get(site.url + PAGE).body == b"page"
    before = clock.now
    web.get(site.url + PAGE)
    assert clock.now >= before + 1
    with pytest.raises(SourceError, match="cannot be read"):
        polite(clock, documented={"api.example.com"}).get(site.url + PAGE)
    site.answers["/robots.txt"] = [robots("User-agent: *\nDisallow: /pricing")]
    with pytest.raises(SourceError, match="forbids it"):
        polite(clock, documented={host}).get(site.url + PAGE)


def test_nobody_there_is_unavailable(clock: Clock) -> None:
    """A connection that is refused leaves the rules unknown."""
    with pytest.raises(Unavailable) as caught:
        polite(clock).get("http://127.0.0.1:9/page")

    assert (caught.value.source, caught.value.field) == ("http://127.0.0.1:9/robots.txt", "robots")


def test_a_host_that_cannot_be_reached_is_tried_once_for_all_its_scopes(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And once more a little later: without a network a cloud of thirty regions would cost thirty times the retries."""
    tried, send_on = [], Transport.handle_request
    monkeypatch.setattr(
        Transport, "handle_request", lambda self, request: tried.append(request.url.path) or send_on(self, request)
    )
    web = polite(clock, documented=["127.0.0.1:9"])
    for region, later, n_pages in (("a", 0.0, 2), ("b", 0.0, 2), ("c", RETRY_AFTER_S, 4)):
        clock.now += later
        url = f"http://127.0.0.1:9/{region}"
        with pytest.raises(Unavailable, match="no answer") as caught:
            web.get(url)
        assert (caught.value.source, caught.value.value) == (url, url)
        assert len([path for path in tried if path != "/robots.txt"]) == n_pages


def test_unknown_rules_are_asked_for_again_later(site: Site, clock: Clock) -> None:
    """At once the same error is given, with what the server asked for; a little later the site has its chance."""
    site.answers["/robots.txt"] = [send(status=503, Retry_After="7200"), robots("User-agent: *\nDisallow: /admin\n")]
    web = polite(clock)

    errors = []
    for _ in range(3):
        with pytest.raises(Unavailable) as caught:
            web.get(site.url + PAGE)
        errors.append(caught.value)
    assert [str(error) for error in errors] == [str(errors[0])] * 3
    assert [error.retry_after for error in errors] == [7200.0] * 3
    assert len(set(map(id, errors))) == 3
    assert asked(site) == ["/robots.txt"]

    clock.now += RETRY_AFTER_S
    assert web.get(site.url + PAGE).body == b"page"
    assert asked(site) == ["/robots.txt", "/robots.txt", PAGE]


def test_a_page_for_people_has_no_rules(site: Site, clock: Clock) -> None:
    """A site that answers any address with its front page allows; rules count, whatever type they are sent as."""
    html = "<!DOCTYPE html>\n<html><head>\n<title>Disallow: / for User-agent: *</title>\n<p>allow cookies</p></html>\n"
    site.answers["/robots.txt"] = [robots(html, Content_Type="text/html")]
    assert polite(clock).get(site.url + PAGE).body == b"page"

    site.answers["/robots.txt"] = [robots("User-agent: *\nDisallow: /pricing\n", Content_Type="text/html")]
    with pytest.raises(SourceError, match="forbids"):
        polite(clock).get(site.url + PAGE)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_huge_robots_txt_is_read_in_part(site: Site, clock: Clock, *, packed: bool) -> None:
    """Rules within 500 KiB count, those after do not, and no line that the limit cuts through."""
    head = b"User-agent: *\nDisallow: /pricing\n"
    tail = b"\nDisallow: /open/but-not-here\nDisallow: /\n" + b"# and so on\n" * 100_000
    filled = head + b"#" * (ROBOTS_LIMIT_BYTES - len(head) - len("\nDisallow: /open")) + tail
    assert ROBOTS_LIMIT_BYTES == 500 * 1024
    assert filled[:ROBOTS_LIMIT_BYTES].endswith(b"\nDisallow: /open")
    site.answers["/open/page"] = [send(b"page")]
    site.answers["/robots.txt"] = [
        robots(gzip.compress(filled), Content_Encoding="gzip") if packed else robots(filled),
    ]
    web = polite(clock)

    assert web.get(site.url + "/open/page").body == b"page"
    with pytest.raises(SourceError, match="forbids"):
        web.get(site.url + PAGE)


def test_robots_txt_may_have_moved(any_host: Site, clock: Clock) -> None:
    """It is followed, to another host too; the rules found there are those of the host that was asked for."""
    any_host.answers |= {
        "http://shop.example/robots.txt": [send(status=301, Location="/rules.txt")],
        "http://shop.example/rules.txt": [send(status=308, Location="http://www.corp.example/robots.txt")],
        "http://www.corp.example/robots.txt": [robots("User-agent: *\nDisallow: /pricing\n")],
    }

    with pytest.raises(SourceError, match="forbids") as caught:
        polite(clock).get("http://shop.example" + PAGE)

    assert caught.value.value == "http://shop.example/robots.txt"
    assert len(any_host.asked) == 3


@pytest.mark.parametrize(
    ("location", "n_asked"), [("/robots.txt", 6), ("", 1), ("file:///etc/passwd", 1), ("http://[::1", 1)]
)
def test_redirects_to_nowhere_forbid(site: Site, clock: Clock, location: str, n_asked: int) -> None:
    """A circle ends after five redirects; a robots.txt that leads off the web cannot be read."""
    site.answers["/robots.txt"] = [send(status=302, Location=location)]

    with pytest.raises(SourceError, match="cannot be read") as caught:
        polite(clock).get(site.url + PAGE)

    assert not isinstance(caught.value, Unavailable)
    assert asked(site) == ["/robots.txt"] * n_asked


def test_rules_are_not_taken_from_an_open_line(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """From https to http no redirect is followed: anybody on the way could write the rules."""
    seen: list[str] = []

    def first_bytes(self: HttpWeb, url: str, *, limit_bytes: int) -> Response:
        seen.append(url)
        return Response(url=url, body=b"", status=302, content_type="", location="http://shop.example/robots.txt")

    monkeypatch.setattr(HttpWeb, "first_bytes", first_bytes)

    with pytest.raises(SourceError, match="from https to http"):
        polite(clock).get("https://shop.example" + PAGE)
    assert seen == ["https://shop.example/robots.txt"]
