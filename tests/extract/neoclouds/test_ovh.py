"""OVHcloud: a term that is the ending of a plan's code, a scale that is checked, and two companies kept apart."""

import json
from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from neoclouds.case import document, rows
from neoclouds.cases.ovh import CASE

from extract.base import Context, Parsed
from extract.neoclouds.ovh import SOURCE
from extract.web.interface import Response
from warehouse.errors import LayoutChanged, SettingsError, SourceError

NOW = datetime(2026, 11, 20, 6, tzinfo=UTC)
CATALOGUE: dict[str, Any] = json.loads(CASE.body)
H100: dict[str, Any] = CATALOGUE["addons"][0]
DOLLARS = {"currencyCode": "USD", "subsidiary": "US", "taxRate": 0}


def parsed(addons: list[dict[str, Any]], scope: str = "all", locale: object = None) -> Parsed:
    content = {"locale": locale or CATALOGUE["locale"], "addons": addons}
    return SOURCE.parse(document(SOURCE, json.dumps(content).encode(), scope))


def plan(code: str = "h100-380.consumption", price: int = 280000000, shown: str = "2.80 \N{EURO SIGN}") -> Any:
    """Return the H100's plan under another code, or at another price."""
    one = deepcopy(H100)
    one["planCode"] = code
    unit = "month" if ".monthly" in code else "hour"
    one["pricings"][0] |= {"price": price, "formattedPrice": shown, "intervalUnit": unit}
    return one


class OneAnswer:
    """A web with one answer, which remembers what was asked."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.asked: list[str] = []

    def get(self, url: str, *, accept: str = "application/json", headers: Mapping[str, str] = {}) -> Response:
        self.asked.append(url)
        return Response(url=url, body=self.body, status=200, content_type="application/json")


def context(web: OneAnswer | None = None, **settings: object) -> Context:
    return Context(web=web, settings=settings, now=lambda: NOW)  # type: ignore[arg-type]


def test_a_subsidiary_is_a_scope():
    """Each at its own address, in its own currency; both by default."""
    web = OneAnswer(CASE.body)

    look = SOURCE.fetch(context(web), "FR")

    assert look.complete
    assert rows(SOURCE.parse(look.documents[0])) == CASE.expected
    with pytest.raises(LayoutChanged, match="expected the subsidiary US"):
        SOURCE.parse(SOURCE.fetch(context(web), "US").documents[0])
    assert web.asked == [
        "https://api.ovh.com/1.0/order/catalog/public/cloud?ovhSubsidiary=FR",
        "https://api.us.ovhcloud.com/1.0/order/catalog/public/cloud?ovhSubsidiary=US",
    ]
    assert SOURCE.scopes(context()) == ("FR", "US")
    assert SOURCE.scopes(context(regions=["US"])) == ("US",)
    for wrong in ("FR", ["DE"], []):
        with pytest.raises(SettingsError):
            SOURCE.scopes(context(regions=wrong))
    with pytest.raises(SourceError):
        SOURCE.fetch(context(web), "DE")


@pytest.mark.parametrize("locale", [
    {"currencyCode": "USD", "subsidiary": "FR"}, {"currencyCode": "EUR", "subsidiary": "US"},
    {"currencyCode": "EUR", "subsidiary": "DE"}, {"currencyCode": "CAD", "subsidiary": "CA"},
])  # fmt: skip
def test_a_catalogue_in_another_currency_is_refused(locale: dict[str, str]):
    """A price in dollars that is called euros would be wrong by the rate."""
    with pytest.raises(LayoutChanged):
        parsed([H100], locale=locale)


def test_the_american_catalogue_says_no_unit():
    """intervalUnit is "none" for hours and months: the code's ending says which. 1.55819 is shown as $1.56."""
    hour, month = plan("l40s-90.consumption", 180000000, "$1.80 USD"), plan("l4-90.monthly.postpaid", 138700000000)
    month["pricings"][0]["formattedPrice"] = "$1,387.00 USD"
    odd = plan("t2-45.consumption", 155819000, "$1.56 USD")
    for each in (hour, month, odd):
        each["pricings"][0] |= {"interval": 0, "intervalUnit": "none"}

    found = rows(parsed([hour, month, odd], "US", DOLLARS))

    told = [(r["unit_price"], r["purchase_option"], r.get("pricing_unit"), r["pricing_currency"]) for r in found]
    assert told == [
        ("1.8", "on_demand", None, "USD"),
        ("1387", "reserved", "Months", "USD"),
        ("1.55819", "on_demand", None, "USD"),
    ]


def test_a_minute_stays_a_minute():
    """0.0125 a minute: as an hour it would be an L4 at a sixtieth of its price."""
    (row,) = [row for row in rows(CASE.parse(CASE.body)) if row.get("tier") == "ai-training"]

    assert (row["unit_price"], row["pricing_unit"], row["instance_type"]) == ("0.0125", "Minutes", "l4-1-gpu")


def test_services_are_kept_apart():
    """The same GPU under two services is two offers."""
    ai = CATALOGUE["addons"][7]
    found = rows(parsed([ai, ai | {"planCode": ai["planCode"].replace("ai-training", "ai-notebook")}]))

    assert [row["tier"] for row in found] == ["ai-training", "ai-notebook"]


@pytest.mark.parametrize(("price", "shown"), [
    (280000000, "3.80 \N{EURO SIGN}"), (28000000000, "2.80 \N{EURO SIGN}"), (2800000, "2.80 \N{EURO SIGN}"),
    (280000000, "2.80 $"), (280000000, "2.80"), (280000000, "\N{EURO SIGN}"), (280000000, "from 2.80 \N{EURO SIGN}"),
    (280000000, "2.80 \N{EURO SIGN} / 60"), (280000000, "2,80,00 \N{EURO SIGN}"), (0, "0.00 \N{EURO SIGN}"),
    (280600000, "2.80 \N{EURO SIGN}"),
])  # fmt: skip
def test_another_scale_is_refused(price: int, shown: str):
    """What stands beside the number is the same number, to its last decimal."""
    with pytest.raises(LayoutChanged):
        parsed([plan(price=price, shown=shown)])


@pytest.mark.parametrize("shown", [
    "1940.00 \N{EURO SIGN}", "1,940.00 \N{EURO SIGN}", "1 940,00 \N{EURO SIGN}",
    "1\N{NO-BREAK SPACE}940,00\N{EURO SIGN}", "1.940,00 \N{EURO SIGN}",
])  # fmt: skip
def test_thousands_are_read_as_anybody_writes_them(shown: str):
    """A comma, a point or a space between the thousands."""
    (row,) = rows(parsed([plan("h100-380.monthly.postpaid", 194000000000, shown)]))

    assert row["unit_price"] == "1940"


@pytest.mark.parametrize("code", ["h100-380.consumption.3AZ", "h100-380.monthly.prepaid", "h100-380.spot", "h100-380"])
def test_a_term_never_seen_is_refused(code: str):
    """Another ending is another way to buy."""
    with pytest.raises(LayoutChanged, match=r"plan of an hour"):
        parsed([plan(code)])


@pytest.mark.parametrize(("code", "said"), [
    ("h100-380.consumption", {"commitment": 12}), ("h100-380.monthly.postpaid", {"commitment": 1}),
    ("h100-380.consumption", {"intervalUnit": "month"}), ("h100-380.monthly.postpaid", {"intervalUnit": "hour"}),
    ("h100-380.monthly.postpaid", {"intervalUnit": "year"}),
])  # fmt: skip
def test_a_term_that_contradicts_the_code_is_refused(code: str, said: dict[str, object]):
    """A price of who commits for a year is none on demand, and no month is a year."""
    one = plan(code)
    one["pricings"][0] |= {"intervalUnit": "none"} | said

    with pytest.raises(LayoutChanged, match=next(iter(said))):
        parsed([one])


def test_a_plan_that_contradicts_itself_is_refused():
    """Two prices, a plan twice, a licence by name and not by family, no GPU in a GPU's brick, no word of it."""
    two, windows, none, untold = plan(), plan("win-h100-380.consumption"), plan(), plan()
    two["pricings"] *= 2
    none["blobs"]["technical"]["gpu"]["number"] = 0
    untold["blobs"]["tags"] = []
    for addons in ([two], [plan(), plan()], [windows], [none], [untold]):
        with pytest.raises(LayoutChanged):
            parsed(addons)


def test_what_is_no_machine_with_gpus_is_counted():
    """Windows, partners' software, CPUs, credits; a new brick of GPUs is named."""
    new = plan("b200-2880.consumption")
    new["blobs"]["commercial"]["brick"] = "gpu-3az"

    found = parsed([*CATALOGUE["addons"], new])

    assert found.ignored == {"Windows licence included": 1, "no GPU instance": 4}
    assert found.unknown == ("a plan with GPUs of the brick gpu-3az, b200-2880.consumption",)


def test_an_ai_plan_that_names_no_gpu_is_counted():
    """Its name is not taken for a chip."""
    bare = deepcopy(CATALOGUE["addons"][7])
    del bare["blobs"]["technical"]["gpu"]

    found = parsed([bare, H100])

    assert [row["instance_type"] for row in rows(found)] == ["h100-380"]
    assert found.ignored == {"AI plan that names no GPU": 1}
