"""What the tests of sources share: a web site in this process, and contexts for the stand-in for AWS."""

from collections.abc import Iterator

import pytest
from price_list_files import NOW, Ask
from standin import aws
from web_site import Site, open_site

from extract.base import Context, Landed
from extract.web.http import HttpWeb, Retries


@pytest.fixture
def site() -> Iterator[Site]:
    with open_site() as site:
        yield site


@pytest.fixture
def ask(standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a maker of contexts for the stand-in, by how AWS is read: "api", "bulk" or "auto"."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    monkeypatch.setattr("extract.web.http.STREAM_RETRIES", Retries(attempts=3, pause_s=0.001))
    web = HttpWeb(retries=Retries(attempts=3, pause_s=0.001))

    def context(door: str, landed: Landed = lambda version_key: None, **settings: object) -> Context:
        set_ = {"access": door, "bulk_url": standin.url, **settings}
        return Context(web=web, settings=set_, now=lambda: NOW, landed=landed)

    return context
