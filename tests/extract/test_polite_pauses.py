"""Politeness in time: a host is asked one thing at a time, with a pause between, and no host waits for another."""

import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler

import pytest
from web_site import QUICK, Answer, Clock, Site, open_site, send

from extract.web.http import HttpWeb
from extract.web.polite import PAUSE_S, PAUSES_S, PoliteWeb
from warehouse.errors import SourceError, Unavailable

pytestmark = pytest.mark.usefixtures("own_pauses")

A, B = "http://a.example", "http://b.example"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Give a site that is every host of plain HTTP, as behind a proxy; both have a page and no rules."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with open_site() as site:
        monkeypatch.setenv("http_proxy", site.url)
        for host in (A, B):
            site.answers[f"{host}/page"] = [send(b"page")]
            site.answers[f"{host}/robots.txt"] = [send(status=404)]
        yield site


def polite(clock: Clock, **settings: float) -> PoliteWeb:
    return PoliteWeb(HttpWeb(retries=QUICK), clock=clock, sleep=clock.sleep, **settings)


def taking(clock: Clock, seconds: float, times: list[float], answer: Answer) -> Answer:
    """Return an answer that takes its time, and notes when it was asked for."""

    def slow(handler: BaseHTTPRequestHandler) -> None:
        times.append(clock.now - 1000)
        clock.now += seconds
        answer(handler)

    return slow


def timed(site: Site, clock: Clock, seconds: float = 0.0) -> list[float]:
    """Let each answer take some seconds; return the list that fills with the moments, from 0 on, of the requests."""
    times: list[float] = []
    for turns in site.answers.values():
        turns[:] = [taking(clock, seconds, times, answer) for answer in turns]
    return times


def delay(text: str) -> Answer:
    return send(f"User-agent: *\nCrawl-delay: {text}\n".encode())


def test_a_host_is_given_a_pause(site: Site, clock: Clock) -> None:
    """A second lies between two requests, the one for the rules included, counted from the end of the first."""
    times = timed(site, clock, seconds=0.25)
    web = polite(clock)

    web.get(f"{A}/page")
    web.post(f"{A}/page", json={})
    with web.stream(f"{A}/page") as blocks:
        assert b"".join(blocks) == b"page"
    clock.now += 60
    web.get(f"{A}/page")

    assert PAUSE_S == 1.0
    assert times == [0, 1.25, 2.5, 3.75, 64]


def test_a_host_that_limits_the_rate_is_given_a_longer_one(
    site: Site, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six seconds, as Azure's list of retail prices needs; no robots.txt says it. AWS's maps of prices are many."""
    assert PAUSES_S == {"prices.azure.com": 6.0, "b0.p.awsstatic.com": 0.2}
    monkeypatch.setitem(PAUSES_S, "a.example", 6.0)
    times = timed(site, clock)
    web = polite(clock)

    web.get(f"{A}/page")
    web.get(f"{A}/page")
    web.get(f"{B}/page")
    web.get(f"{B}/page")

    assert times == [0, 6, 12, 12, 13, 14]


def test_no_pause_lies_between_two_hosts(site: Site, clock: Clock) -> None:
    """Each host has its own time; another port is another host."""
    site.answers["http://a.example:80/page"] = [send(b"page")]
    site.answers["http://a.example:8080/page"] = [send(b"page")]
    site.answers["http://a.example:8080/robots.txt"] = [send(status=404)]
    times = timed(site, clock)
    web = polite(clock)

    web.get(f"{A}/page")
    web.get(f"{B}/page")
    assert times == [0, 1, 1, 2]
    web.get(f"{A}/page")
    web.get("http://A.example:80/page#top")
    assert times[4:] == [2, 3]
    web.get("http://a.example:8080/page")
    assert times[6:] == [3, 4]


def test_retries_and_redirects_keep_the_pause(site: Site, clock: Clock) -> None:
    """Whatever goes over the wire counts, a failure too."""
    site.answers[f"{A}/robots.txt"] = [send(status=503), send(status=302, Location="/rules"), send(status=404)]
    site.answers[f"{A}/rules"] = [send(b"")]
    site.answers[f"{A}/page"] = [send(status=503), send(status=302, Location="/moved")]
    site.answers[f"{A}/moved"] = [send(status=404)]
    times = timed(site, clock)
    web = polite(clock)

    for path in ("/page", "/moved"):
        with pytest.raises(SourceError, match="404"):
            web.get(A + path)

    assert [each.path.removeprefix(A) for each in site.asked] == [
        "/robots.txt", "/robots.txt", "/rules", "/page", "/page", "/moved", "/moved",
    ]  # fmt: skip
    assert times == [0, 1, 2, 3, 4, 5, 6]


def test_a_failed_robots_txt_counts(site: Site, clock: Clock) -> None:
    """The last attempt at the rules and the first after it are a pause apart as well."""
    site.answers[f"{A}/robots.txt"] = [send(status=503)]
    times = timed(site, clock, seconds=0.5)
    web = polite(clock, pause_s=25)

    for _ in range(2):
        with pytest.raises(Unavailable):
            web.get(f"{A}/page")
        clock.now += 20

    assert times == [0, 25.0, 50.0, 75.5, 100.5, 125.5]


@pytest.mark.parametrize(
    ("text", "pause_s"),
    [("5", 5.0), ("2.5", 2.5), ("30", 30.0), ("0.1", 1.0), ("0", 1.0), ("-7", 1.0), ("soon", 1.0), ("nan", 1.0)],
)
def test_a_crawl_delay_is_kept(site: Site, clock: Clock, text: str, pause_s: float) -> None:
    """The longer of its pause and ours, from the request for the rules on; one that is no number is none."""
    site.answers[f"{A}/robots.txt"] = [delay(text)]
    times = timed(site, clock)
    web = polite(clock)

    web.get(f"{A}/page")
    web.get(f"{A}/page")
    web.get(f"{B}/page")

    assert times == [0, pause_s, 2 * pause_s, 2 * pause_s, 2 * pause_s + 1]


def test_a_crawl_delay_for_others_is_not_ours(site: Site, clock: Clock) -> None:
    """The group that names us counts alone."""
    site.answers[f"{A}/robots.txt"] = [
        send(b"User-agent: *\nCrawl-delay: 900\n\nUser-agent: chipledger\nCrawl-delay: 3\n")
    ]
    times = timed(site, clock)

    polite(clock).get(f"{A}/page")

    assert times == [0, 3]


@pytest.mark.parametrize("text", ["30.5", "86400", "1e300"])
def test_too_long_a_crawl_delay_is_not_waited_for(site: Site, clock: Clock, text: str) -> None:
    """The site is not read at all, and the error says why; whoever asks again is told at once."""
    site.answers[f"{A}/robots.txt"] = [delay(text)]
    web = polite(clock)

    for _ in range(2):
        with pytest.raises(SourceError, match="more than 30 s") as caught:
            web.get(f"{A}/page")

    assert not isinstance(caught.value, Unavailable)
    assert (caught.value.source, caught.value.field) == (f"{A}/page", "robots")
    assert caught.value.value == f"Crawl-delay: {float(text):g}"
    assert (clock.slept, len(site.asked)) == ([], 1)


# --- threads


def test_threads_share_the_pause(site: Site) -> None:
    """Many threads ask a host one at a time, a pause apart, and its rules once."""
    lock, asked, busy = threading.Lock(), [], []

    def page(handler: BaseHTTPRequestHandler) -> None:
        with lock:
            asked.append(time.monotonic())
        busy.append(lock.acquire(timeout=0))
        time.sleep(0.01)
        send(b"page")(handler)
        lock.release()

    site.answers[f"{A}/page"] = [page]
    web = PoliteWeb(HttpWeb(retries=QUICK), pause_s=0.03)

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: web.get(f"{A}/page").body, range(6)))

    assert answers == [b"page"] * 6
    assert all(after - before >= 0.03 for before, after in itertools.pairwise(asked))
    assert busy == [True] * 6
    assert [each.path for each in site.asked].count(f"{A}/robots.txt") == 1


def test_rules_are_asked_once_by_redirects_too(site: Site) -> None:
    """Who comes to a host by a redirect, and who comes straight, wait for one and the same answer."""
    reading = threading.Event()

    def rules(handler: BaseHTTPRequestHandler) -> None:
        reading.set()
        time.sleep(0.1)
        send(status=404)(handler)

    site.answers[f"{A}/page"] = [send(status=302, Location="http://www.a.example/page")]
    site.answers["http://www.a.example/robots.txt"] = [rules]
    site.answers["http://www.a.example/page"] = [send(b"page")]
    web = PoliteWeb(HttpWeb(retries=QUICK), pause_s=0.001)

    with ThreadPoolExecutor(1) as pool:
        redirected = pool.submit(web.get, f"{A}/page")
        assert reading.wait(5)
        assert web.get("http://www.a.example/page").body == redirected.result(5).body == b"page"

    assert [each.path for each in site.asked].count("http://www.a.example/robots.txt") == 1


def test_a_slow_host_holds_nobody_up(site: Site) -> None:
    """While one host sleeps over an answer, and another request to it waits its turn, other hosts are read."""
    b_is_read = threading.Event()
    seen: list[bool] = []

    def slow(handler: BaseHTTPRequestHandler) -> None:
        seen.append(b_is_read.wait(5))
        send(b"page")(handler)

    site.answers[f"{A}/page"] = [slow, send(b"page")]
    web = PoliteWeb(HttpWeb(retries=QUICK), pause_s=0.01)

    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(web.get, f"{A}/page") for _ in range(2)]
        while not any(each.path == f"{A}/page" for each in site.asked):
            time.sleep(0.001)
        assert web.get(f"{B}/page").body == b"page"
        b_is_read.set()
        assert [each.result(5).body for each in waiting] == [b"page"] * 2

    assert seen == [True]


def test_a_pause_holds_nobody_up(site: Site) -> None:
    """While a request to one host sits out its pause, other hosts are read."""
    b_is_read, a_sleeps = threading.Event(), threading.Event()
    slept: list[bool] = []

    def sleep(seconds: float) -> None:
        if seconds > 25:  # the pause that host A asks for
            a_sleeps.set()
            slept.append(b_is_read.wait(5))

    site.answers[f"{A}/robots.txt"] = [delay("30")]
    web = PoliteWeb(HttpWeb(retries=QUICK), pause_s=0.01, sleep=sleep)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(web.get, f"{A}/page")
        assert a_sleeps.wait(5)
        assert web.get(f"{B}/page").body == b"page"
        b_is_read.set()
        assert waiting.result(5).body == b"page"

    assert slept == [True]
