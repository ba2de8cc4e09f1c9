"""Verda's two documents: the API's answer in either form, and the price page that checks it."""

import json
from typing import Any

import pytest
from neoclouds.case import MOMENT, document, refused, rows
from neoclouds.cases.verda import CASE

from extract.base import Context
from extract.neoclouds.verda import KINDS, SOURCE
from extract.web.interface import Response
from warehouse.errors import LayoutChanged, SourceError

OFFERS = [
    ("1x GB300 SXM6 288GB on-demand", "Hourly on-demand instance price", "8.62"),
    ("1x GB300 SXM6 288GB spot", "Hourly spot instance price", "4.31"),
    ("1x H100 SXM5 80GB on-demand", "Hourly on-demand instance price", "3.25"),
    ("1x H100 SXM5 80GB on-demand", "Hourly on-demand instance price", "3.25"),
    (" on-demand", "Hourly on-demand instance price", "0.048"),
    ("CPU.4V.16G spot", "Hourly spot instance price", "0.0192"),
    ("8x GB300 SXM6 288GB instant cluster", "Hourly instant cluster price", "68.96"),
    ("2x H100 SXM5 80GB serverless continuous", "Hourly serverless container price", "7.15"),
    ("2x H100 SXM5 80GB serverless spot", "Hourly serverless spot container price", "3.58"),
    ("1x B300 CC SXM6 268GB on-demand", "Hourly on-demand instance price", "7.65"),
    ("NVMe storage", "Monthly storage price per GiB", "0.2"),
]
"""Figures of the page in August 2026, as in getcomputable/gpu-index, tests/fixtures/observatory/verda."""


def node(name: str, description: str, price: str) -> dict[str, Any]:
    unit, amount = KINDS[description].unit, float(price)
    specification = {"@type": "UnitPriceSpecification", "price": amount, "priceCurrency": "USD", "unitText": unit}
    return {"@type": "Offer", "name": name, "description": description, "price": amount, "priceCurrency": "USD",
            "priceSpecification": specification}  # fmt: skip


def page(nodes: list[dict[str, Any]], *, graphs: int = 1) -> bytes:
    graph = json.dumps({"@context": "https://schema.org", "@graph": [{"@type": "WebPage"}, *nodes]})
    script = f'<script type="application/ld+json">{graph}</script>'
    other = '<script type="application/ld+json">{"@type": "Organization", "name": "Verda"}</script>'
    return f"<!DOCTYPE html><html><head>{other}{script * graphs}</head><body><h1>Pricing</h1></body></html>".encode()


def nodes() -> list[dict[str, Any]]:
    return [node(*one) for one in OFFERS]


def test_the_page_gives_machines_clusters_and_containers_apart():
    """Each kind by its tier; CPU machines, storage and an offer duplicate on the page are counted."""
    found = SOURCE.parse(document(SOURCE, page(nodes())))
    told = [
        (row["accelerator_label"], row["accelerator_count"], row["purchase_option"], row.get("tier"), row["unit_price"])
        for row in rows(found)
    ]
    assert told == [
        ("GB300 SXM6 288GB", "1", "on_demand", None, "8.62"),
        ("GB300 SXM6 288GB", "1", "spot", None, "4.31"),
        ("H100 SXM5 80GB", "1", "on_demand", None, "3.25"),
        ("GB300 SXM6 288GB", "8", "on_demand", "instant cluster", "68.96"),
        ("H100 SXM5 80GB", "2", "on_demand", "serverless continuous", "7.15"),
        ("H100 SXM5 80GB", "2", "spot", "serverless spot", "3.58"),
        ("B300 CC SXM6 268GB", "1", "on_demand", "confidential computing", "7.65"),
    ]
    assert found.ignored == {"a machine without accelerators": 2, "storage": 1, "duplicate offer": 1}
    assert {row["capacity_unit"] for row in rows(found) if row["accelerator_count"] == "1"} == {"GPU"}
    assert {row["capacity_unit"] for row in rows(found) if row["accelerator_count"] != "1"} == {"instance"}


def test_two_prices_of_one_name_both_stay():
    """Which of them is the machine's is not said: the batch gate refuses them, and nobody picks one."""
    dearer = node("1x H100 SXM5 80GB on-demand", "Hourly on-demand instance price", "3.35")
    found = rows(SOURCE.parse(document(SOURCE, page([*nodes(), dearer]))))
    prices = [row["unit_price"] for row in found if row["accelerator_label"] == "H100 SXM5 80GB" and "tier" not in row]
    assert prices == ["3.25", "3.35"]


HARMS: dict[str, dict[str, Any]] = {
    "an unknown kind": {"description": "Monthly on-demand instance price"},
    "a name of another kind": {"name": "1x GB300 SXM6 288GB spot"},
    "no number of chips": {"name": "GB300 SXM6 288GB on-demand"},
    "another price inside": {"price": 8.63},
    "a price in a text": {"price": "8.62"},
    "two currencies": {"priceCurrency": "EUR"},
    "another currency": {
        "priceCurrency": "SEK", "priceSpecification": {"price": 8.62, "priceCurrency": "SEK", "unitText": "hour"},
    },
    "a month": {"priceSpecification": {"price": 8.62, "priceCurrency": "USD", "unitText": "month"}},
    "a second price": {"lowPrice": 1},
}  # fmt: skip


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_harmed_offer_of_the_page_is_refused(harm: dict[str, Any]):
    """Its row; of all offers where it names another unit or currency."""
    first, *others = nodes()
    assert refused(lambda: SOURCE.parse(document(SOURCE, page([first | harm, *others]))))
    if {"priceSpecification"} & set(harm):
        with pytest.raises(LayoutChanged):
            SOURCE.parse(document(SOURCE, page([first | harm, *others])))


def test_a_page_with_two_graphs_or_none_is_refused():
    """Which of two lists holds is not said; a page without any is another page."""
    for body in (page(nodes(), graphs=2), page(nodes(), graphs=0), page([])):
        with pytest.raises(LayoutChanged):
            SOURCE.parse(document(SOURCE, body))


def test_the_list_may_stand_under_data():
    """Both forms of the API's answer say the same."""
    wrapped = b'{"data": %s}' % CASE.body
    assert rows(CASE.parse(wrapped)) == CASE.expected


def test_what_is_left_out_is_counted():
    """No spot price, other products, machines without a chip."""
    assert CASE.parse(CASE.body).ignored == {
        "a machine without accelerators": 1, "dynamic_price, another product": 1, "no spot price": 2,
    }  # fmt: skip


def period(months: int, percent: float, **others: Any) -> dict[str, Any]:
    told = {"code": f"{months}_MONTHS", "name": f"{months} months", "is_enabled": True, "unit_name": "month"}
    return told | {"unit_value": months, "discount_percentage": percent} | others


PERIODS = [period(1, 2), period(3, 3), period(6, 4), period(12, 8), period(24, 25)]
"""Fields as in Verda's own clients (verda-cloud/sdk-python, long_term). Figures as two readers wrote them down: of the
API, https://api.verda.com/v1/long-term/periods (getcomputable's catalogue of terms, 2026-09-27), and of the table
"Reserved" of the page (markrusch/Compute-Indices, tests/fixtures/term_schedule, 2026-09-15)."""
B200 = {
    "instance_type": "1B200.30V", "gpu": {"description": "1x B200 SXM6 180GB", "number_of_gpus": 1},
    "price_per_hour": "6.85", "spot_price": "3.425", "currency": "usd",
}  # fmt: skip
"""The price of 2026-09-27, of the same catalogue."""


def contracts(*periods: object) -> tuple[list[tuple[object, ...]], int]:
    """Return hours, price and conditions of the contracts with these periods, and how many of them were refused."""
    body = json.dumps({"chipledger_pages": [[B200] * 20, [*periods]]}).encode()
    parsed = SOURCE.parse(document(SOURCE, body))
    found = rows(parsed)
    assert [row["unit_price"] for row in found if row["purchase_option"] != "reserved"] == ["6.85", "3.425"]
    names = ("commitment_term_hours", "unit_price", "conditions", "instance_type", "capacity_unit")
    contracts = [tuple(map(row.get, names)) for row in found if row["purchase_option"] == "reserved"]
    return contracts, len(parsed.refused)


def test_a_contract_is_priced_by_its_length():
    """By hand: 6.85 less 2, 3, 4, 8 and 25 per cent, each by the hour; nothing is taken off the price of spot."""
    told = [(730, "6.713"), (2190, "6.6445"), (4380, "6.576"), (8760, "6.302"), (17520, "5.1375")]
    assert contracts(*PERIODS) == ([(*one, "paid up-front", "1B200.30V", "instance") for one in told], 0)
    (year,), n_refused = contracts(period(1, 8, unit_name="year"))
    assert (year[:2], n_refused) == ((8760, "6.302"), 0)
    assert contracts(period(24, 25, is_enabled=False)) == ([], 0)


@pytest.mark.parametrize(
    "harmed",
    [
        period(1, 0.02), period(1, 100), period(1, -2), period(1, 2, discount_percentage="2"),
        period(1, 2, unit_name="week"), period(0, 2), period(3, 3), period(1, 2, is_enabled=None),
        {name: value for name, value in PERIODS[0].items() if name != "discount_percentage"},
    ],
)  # fmt: skip
def test_a_period_that_says_something_else_is_refused_alone(harmed: dict[str, Any]):
    """A share for per cent, another unit, a period twice: no price is made of it, and the others stay."""
    found, n_refused = contracts(PERIODS[1], harmed)
    assert ([one[:2] for one in found], n_refused) == ([(2190, "6.6445")], 1)


class Site:
    """The API, with this in place of the periods, a body or a status; the page is down."""

    def __init__(self, periods: bytes | int) -> None:
        self.periods = periods

    def get(self, url: str, **_: Any) -> Response:
        is_periods = url == "https://api.verda.com/v1/long-term/periods"
        if url != SOURCE.url and not (is_periods and isinstance(self.periods, bytes)):
            raise SourceError("refused", field="status", value=self.periods)
        body = self.periods if is_periods else json.dumps([B200]).encode()
        return Response(url=url, body=body, status=200, content_type="application/json")


def test_prices_on_demand_stay_where_nobody_gets_the_periods():
    """An API closed to strangers has no contracts; where it fails for a while, the fetch fails, and none is gone."""

    def options(periods: bytes | int) -> list[str]:
        (found,) = SOURCE.fetch(Context(web=Site(periods), now=lambda: MOMENT, settings={}), "all").documents
        return [row["purchase_option"] for row in rows(SOURCE.parse(found))]

    assert options(json.dumps(PERIODS[:1]).encode()) == ["on_demand", "reserved", "spot"]
    for status in (401, 403, 404, 410):
        assert options(status) == ["on_demand", "spot"]
    for status in (429, 503):
        with pytest.raises(SourceError, match="refused"):
            options(status)
