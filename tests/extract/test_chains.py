"""Sources with several addresses: the first that can be read holds, and what could not be is kept behind it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from neoclouds.case import rows
from neoclouds.cases.verda import CASE

from extract.base import Context, Parsed
from extract.neoclouds.offers import form_changed, offer, readings_agree
from extract.neoclouds.verda import SOURCE
from extract.web.interface import Response
from warehouse.errors import LayoutChanged, SourceError, Unavailable

API, OLD, PAGE = SOURCE.url, *SOURCE.other_urls
MOVED = b"<!DOCTYPE html><html><body>Moved</body></html>"


class Web:
    """A web with one body an address; None: it does not answer. Nobody gets the periods of contracts."""

    def __init__(self, bodies: Mapping[str, bytes | None]) -> None:
        self.bodies = bodies
        self.asked: list[str] = []

    def get(self, url: str, **_: Any) -> Response:
        if url.endswith("/long-term/periods"):
            raise SourceError("HTTP 404", field="status", value=404)
        self.asked.append(url)
        body = self.bodies.get(url)
        if body is None:
            raise Unavailable("HTTP 503", field="url", value=url)
        return Response(url=url, body=body, status=200, content_type="application/json")


def context(web: Web, **others: Any) -> Context:
    return Context(web=web, now=lambda: datetime(2026, 11, 20, tzinfo=UTC), **{"settings": {}, **others})


def test_verda_is_asked_by_its_present_name() -> None:
    """Nobody else is asked where it answers."""
    web = Web({API: CASE.body})
    found = SOURCE.fetch(context(web), "all")

    assert web.asked == ["https://api.verda.com/v1/instance-types"]
    assert [document.url for document in found.documents] == [API]
    assert found.notes == ()
    assert rows(SOURCE.parse(found.documents[0])) == CASE.expected


@pytest.mark.parametrize("first", [None, MOVED, b"{}"])
def test_the_next_address_holds_where_one_fails(first: bytes | None) -> None:
    """Down, moved or of another form: the note says why, and bytes that came stay behind those that hold."""
    web = Web({API: first, OLD: CASE.body})
    found = SOURCE.fetch(context(web), "all")

    assert web.asked == [API, OLD]
    assert [document.url for document in found.documents] == [OLD, *([API] if first else [])]
    (note,) = found.notes
    assert note.startswith(f"read from {OLD}, as another address failed: ")


def test_the_page_is_the_last_address() -> None:
    """With its own form."""
    web = Web({API: None, OLD: None, PAGE: MOVED})
    found = SOURCE.fetch(context(web), "all")

    assert web.asked == [API, OLD, PAGE]
    assert [document.body for document in found.documents] == [MOVED]
    with pytest.raises(LayoutChanged):
        SOURCE.parse(found.documents[0])


def test_the_first_error_is_told_where_nothing_came() -> None:
    """It is that of the address of first choice."""
    with pytest.raises(Unavailable) as raised:
        SOURCE.fetch(context(Web({})), "all")
    assert raised.value.value == API


def test_what_the_gates_refuse_does_not_hold() -> None:
    """A document that reads well may still be of other prices."""

    def check(parsed: Parsed) -> None:
        checked.append(parsed)
        if len(checked) == 1:
            raise form_changed("all prices far below the last", "unit_price", "")

    checked: list[Parsed] = []
    found = SOURCE.fetch(context(Web({API: CASE.body, OLD: CASE.body}), check=check), "all")
    assert [document.url for document in found.documents] == [OLD, API]


def test_the_setting_replaces_all_addresses() -> None:
    """Who moves a source asks nobody else for it."""
    web = Web({"https://mirror.example/v1": MOVED})
    found = SOURCE.fetch(context(web, settings={"url": "https://mirror.example/v1"}), "all")

    assert web.asked == ["https://mirror.example/v1"]
    assert len(found.documents) == 1


def test_two_readings_of_a_page_must_agree() -> None:
    """On the prices of what both have; with nothing in common they are of two things."""
    ours = [offer("H100", 2), offer("A100", 1)]  # type: ignore[arg-type]
    readings_agree(ours, [offer("H100", 2)], "data and table")  # type: ignore[arg-type]
    readings_agree(ours, [], "data and table")
    for other in (offer("H100", 3), offer("B200", 2)):  # type: ignore[arg-type]
        with pytest.raises(LayoutChanged, match="two readings of one page"):
            readings_agree(ours, [other], "data and table")
