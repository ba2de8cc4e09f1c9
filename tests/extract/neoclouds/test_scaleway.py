"""Scaleway: zones that fail alone, pages that are read whole, and a stock that is not a price."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from neoclouds.case import document, rows
from neoclouds.cases.scaleway import CASE

from extract.base import Context
from extract.neoclouds.scaleway import SOURCE, ZONES
from extract.web.interface import Response
from warehouse.errors import LayoutChanged, SettingsError, Unavailable

NOW = datetime(2026, 11, 20, 6, tzinfo=UTC)
TYPES: dict[str, Any] = json.loads(CASE.body)["servers"]


class Zones:
    """A web with one answer a path, which remembers what was asked; without an answer, the zone is down."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def get(self, url: str, *, accept: str = "application/json", headers: Mapping[str, str] = {}) -> Response:
        self.asked.append(url.removeprefix("https://api.scaleway.com/instance/v1/zones/"))
        if self.asked[-1] not in self.answers:
            raise Unavailable("the server answered 503", source=url, field="status", value=503)
        body = json.dumps(self.answers[self.asked[-1]]).encode()
        return Response(url=url, body=body, status=200, content_type="application/json")


def context(web: Zones | None = None, **settings: object) -> Context:
    return Context(web=web, settings=settings, now=lambda: NOW)  # type: ignore[arg-type]


def servers(**types: object) -> dict[str, object]:
    return {"servers": {name.replace("_", "-"): spec for name, spec in types.items()}}


def parsed(content: object, zone: str = "fr-par-2") -> Any:
    return SOURCE.parse(document(SOURCE, json.dumps(content).encode(), zone))


def changed(**fields: object) -> dict[str, object]:
    return servers(H100_1_80G={**TYPES["H100-1-80G"], **fields})


STOCK = {name: {"availability": "shortage" if name.startswith("B300") else "available"} for name in TYPES}
PAGE = "products/servers?per_page=100&page="
STOCK_PAGE = "products/servers/availability?per_page=100&page="


def test_a_zone_is_read_to_its_last_page():
    """A hundred types fill a page, so that another is asked for; the stock stands behind the types."""
    many = {f"DEV{number}": TYPES["BASIC3-X2C-4G"] for number in range(100)}
    web = Zones(
        {
            f"fr-par-2/{PAGE}1": {"servers": many}, f"fr-par-2/{PAGE}2": {"servers": TYPES},
            f"fr-par-2/{STOCK_PAGE}1": {"servers": STOCK},
        }
    )  # fmt: skip

    look = SOURCE.fetch(context(web), "fr-par-2")
    found = SOURCE.parse(look.documents[0])

    assert web.asked == [f"fr-par-2/{PAGE}1", f"fr-par-2/{PAGE}2", f"fr-par-2/{STOCK_PAGE}1"]
    assert (look.scope, look.complete) == ("fr-par-2", True)
    assert rows(found) == [{**row, "region_id": "fr-par-2"} for row in CASE.expected]
    assert found.ignored == {"no GPU": 101, "no on_demand price": 1}


def test_the_stock_is_told_beside_the_prices():
    """In Scaleway's words, of each type with a GPU; a type without a price may be in stock."""
    content = {"chipledger_pages": [{"servers": TYPES}, {"servers": STOCK}]}

    facts = parsed(content).facts["availability"]

    assert dict(facts.select("instance_type", "stock_status").rows()) == {
        "B300-SXM-2-288G": "shortage", "B300-SXM-8-288G": "shortage", "H100-1-80G": "available",
        "H100-2-80G": "available", "H100-SXM-2-80G": "available", "L40S-1-48G": "available", "RENDER-S": "available",
    }  # fmt: skip
    assert set(facts["region_id"]) == {"fr-par-2"}


def test_a_failing_zone_is_missing_alone():
    """Each zone is a scope: what fails in one is said of that one."""
    web = Zones({f"fr-par-2/{PAGE}1": {"servers": TYPES}, f"fr-par-2/{STOCK_PAGE}1": {"servers": STOCK}})

    assert SOURCE.scopes(context()) == ZONES
    with pytest.raises(Unavailable):
        SOURCE.fetch(context(web), "nl-ams-1")
    assert rows(SOURCE.parse(SOURCE.fetch(context(web), "fr-par-2").documents[0]))


def test_a_zone_without_a_gpu_is_no_error():
    """It lists machines, and none with a GPU; a page without any machine is another matter."""
    assert rows(parsed(servers(BASIC3=TYPES["BASIC3-X2C-4G"]))) == []
    with pytest.raises(LayoutChanged):
        parsed({"servers": {}})
    with pytest.raises(LayoutChanged):
        parsed(servers(H100_2_80G=TYPES["H100-2-80G"]))


def test_a_type_on_two_pages_is_refused():
    """The pages moved while they were read, so that another type may be missing."""
    page = {"servers": TYPES}
    with pytest.raises(LayoutChanged, match="duplicate type"):
        parsed({"chipledger_pages": [page, page]})


def test_sizes_keep_their_own_prices():
    """9.48 a chip at two B300, 7.50 at eight: two offers, whole machines as observed."""
    found = {row["instance_type"]: (row["accelerator_count"], row["unit_price"]) for row in rows(parsed(TYPES_PAGE))}

    assert found["B300-SXM-2-288G"] == ("2", "18.96")
    assert found["B300-SXM-8-288G"] == ("8", "60")


TYPES_PAGE = {"servers": TYPES}


@pytest.mark.parametrize(
    "fields",
    [{"monthly_price": 2.8665}, {"hourly_price": 2092.545}, {"hourly_price": 0}, {"hourly_price": "2.8665"},
     {"gpu": 0.5}, {"gpu": -1}, {"gpu": "1"}, {"gpu_info": None}, {"end_of_service": "no"}, {"mig_profile": 1}],
)  # fmt: skip
def test_a_type_that_contradicts_itself_is_refused(fields: dict[str, object]):
    """A month that is not 730 hours, half a chip, a price of zero or in a text."""
    with pytest.raises(LayoutChanged):
        parsed(changed(**fields))


def test_a_slice_says_so_in_its_label():
    """A slice of an H100 is not an H100."""
    (row,) = rows(parsed(changed(mig_profile="1g.10gb")))

    assert row["accelerator_label"] == "NVIDIA H100-PCIe 80GB MIG 1g.10gb"


def test_a_type_at_its_end_has_no_price():
    """Nobody can have it any more."""
    both = {"servers": {"OLD": changed(end_of_service=True)["servers"]["H100-1-80G"], **TYPES}}  # type: ignore[index]

    found = parsed(both)

    assert "OLD" not in [row["instance_type"] for row in rows(found)]
    assert found.ignored["end of service"] == 1


def test_zones_can_be_chosen():
    """Zones by name, in their form; another word is a wrong setting."""
    assert SOURCE.scopes(context(regions=["fr-par-2", "fr-par-2", "it-mil-1"])) == ("fr-par-2", "it-mil-1")
    for wrong in ([], ["Paris"], ["fr-par-2/../.."], "fr-par-2"):
        with pytest.raises(SettingsError):
            SOURCE.scopes(context(regions=wrong))
