"""What the tests of the AWS price list share: one way through both doors, and contexts for the stand-in."""

import pytest
from price_list_files import NOW, Ask, Line, Read, document, offer_csv, page_of, products_of
from standin import aws

from extract.aws.price_list import parse
from extract.base import Context, Landed, Parsed
from extract.web.http import HttpWeb, Retries
from warehouse.documents import Document


@pytest.fixture(params=["bulk", "api"])
def read(request: pytest.FixtureRequest) -> Read:
    """Return a reader of lines through either door, so that each rule is shown to hold for both."""

    def through(*lines: Line, scope: str = "us-east-1") -> Parsed:
        body = offer_csv(lines) if request.param == "bulk" else page_of(products_of(lines))
        return parse(document(body, scope))

    return through


def nothing(version_key: str) -> Document | None:
    return None


@pytest.fixture
def ask(standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a maker of contexts for the stand-in."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    monkeypatch.setattr("extract.web.http.STREAM_RETRIES", Retries(attempts=3, pause_s=0.001))
    web = HttpWeb(retries=Retries(attempts=3, pause_s=0.001))

    def context(door: str, landed: Landed = nothing, **settings: object) -> Context:
        set_ = {"access": door, "bulk_url": standin.url, **settings}
        return Context(web=web, settings=set_, now=lambda: NOW, landed=landed)

    return context
