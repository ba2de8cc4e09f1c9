"""DigitalOcean: a page without a key, an API with one, and no offer told twice."""

import json
from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from neoclouds.case import document, refused, rows
from neoclouds.cases.digitalocean import CASE

from extract.base import Context, Parsed
from extract.neoclouds.digitalocean import SOURCE, URL
from extract.web.interface import Response
from warehouse.errors import CredentialsMissing, LayoutChanged, SourceError

NOW = datetime(2026, 11, 20, 6, tzinfo=UTC)
API = "https://api.digitalocean.com/v2/sizes?per_page=200&page="


def size(slug: str, model: str, count: int, vram: int, hourly: float, regions: list[str]) -> dict[str, Any]:
    return {
        "slug": slug, "memory": 245760, "vcpus": 20, "disk": 720, "price_monthly": round(hourly * 744, 2),
        "price_hourly": hourly, "regions": regions, "available": True, "description": "GPU",
        "gpu_info": {"count": count, "vram": {"amount": vram, "unit": "gib"}, "model": model},
    }  # fmt: skip


H100 = size("gpu-h100x8-640gb", "nvidia_h100", 8, 640, 23.92, ["nyc2", "tor1"])
"""As of 2025, in the format of the API."""
ADA = size("gpu-4000adax1-20gb", "nvidia_rtx4000_ada", 1, 20, 0.76, [])
CPU = {"slug": "s-1vcpu-1gb", "price_monthly": 6, "price_hourly": 0.00893, "regions": ["ams3"], "available": True}
SIZES = {"sizes": [H100, ADA, CPU], "links": {}, "meta": {"total": 3}}


class Web:
    """A web with one answer an address, which remembers what was asked with which headers."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, str]] = []

    def get(self, url: str, *, accept: str = "application/json", headers: Mapping[str, str] = {}) -> Response:
        self.asked.append((url, headers.get("Authorization", "")))
        answer = self.answers[url]
        if isinstance(answer, int):
            raise SourceError(f"the server answered {answer}", source=url, field="status", value=answer)
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return Response(url=url, body=body, status=200, content_type="text/html")


def context(web: Web | None = None) -> Context:
    return Context(web=web, settings={}, now=lambda: NOW)  # type: ignore[arg-type]


def parsed(*sizes: dict[str, Any]) -> Parsed:
    body = json.dumps({"sizes": list(sizes), "links": {}, "meta": {"total": len(sizes)}}).encode()
    return SOURCE.parse(document(SOURCE, body, "sizes"))


def changed(**fields: object) -> dict[str, Any]:
    return deepcopy(H100) | fields


def test_without_a_token_the_page_tells_all(monkeypatch: pytest.MonkeyPatch):
    """Prices on demand and as spot, from one page that needs no key."""
    monkeypatch.delenv("DIGITALOCEAN_TOKEN", raising=False)
    web = Web({URL: CASE.body})

    assert SOURCE.scopes(context()) == ("page",)
    look = SOURCE.fetch(context(web), "page")
    assert rows(SOURCE.parse(look.documents[0])) == CASE.expected
    assert web.asked == [(URL, "")]
    with pytest.raises(CredentialsMissing, match="no token"):
        SOURCE.fetch(context(web), "sizes")


def test_with_a_token_the_api_tells_all(monkeypatch: pytest.MonkeyPatch):
    """Page by page; the token stands in a header and nowhere else."""
    monkeypatch.setenv("DIGITALOCEAN_TOKEN", "dop_v1_secret")
    more = {"sizes": [CPU | {"slug": f"s-{number}"} for number in range(3)], "links": {"pages": {"next": API + "2"}}}
    web = Web({API + "1": more, API + "2": SIZES})

    assert SOURCE.scopes(context()) == ("sizes",)
    sizes = SOURCE.fetch(context(web), "sizes")

    assert [row["instance_type"] for row in rows(SOURCE.parse(sizes.documents[0]))] == [H100["slug"], ADA["slug"]]
    assert web.asked == [(API + "1", "Bearer dop_v1_secret"), (API + "2", "Bearer dop_v1_secret")]
    assert "secret" not in repr(sizes)


def test_a_page_that_was_kept_for_its_spot_prices_gives_them_alone():
    """Of before the API had spot; its prices on demand were in the API's answer of the same day."""
    spot = SOURCE.parse(document(SOURCE, CASE.body, "spot"))

    assert rows(spot) == [row for row in CASE.expected if row["purchase_option"] == "spot"]
    assert spot.ignored == {"in the API's answer": 7, "per contract": 2}
    with pytest.raises(SourceError, match="no such scope"):
        SOURCE.fetch(context(Web({})), "spot")


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch, status: int):
    """By the variable that it came from."""
    monkeypatch.setenv("DIGITALOCEAN_TOKEN", "dop_v1_secret")

    with pytest.raises(CredentialsMissing) as raised:
        SOURCE.fetch(context(Web({API + "1": status})), "sizes")
    assert raised.value.field == "DIGITALOCEAN_TOKEN"
    assert "secret" not in str(raised.value)
    with pytest.raises(SourceError):
        SOURCE.fetch(context(Web({API + "1": 404})), "sizes")


def test_the_api_tells_sizes_and_where_they_are():
    """640 GiB of eight are 80 of one. A size that no region has keeps its price, and has no stock.

    Of a size that is back, nothing is left that says it is not.
    """
    found = parsed(H100, ADA, CPU)

    assert [
        (r["instance_type"], r["accelerator_label"], r["accelerator_count"], r["unit_price"]) for r in rows(found)
    ] == [
        ("gpu-h100x8-640gb", "nvidia_h100 80GB", "8", "23.92"),
        ("gpu-4000adax1-20gb", "nvidia_rtx4000_ada 20GB", "1", "0.76"),
    ]
    assert found.facts["availability"].select("instance_type", "region_id", "stock_status").rows() == [
        ("gpu-h100x8-640gb", None, "available"),
        ("gpu-h100x8-640gb", "nyc2", "available"),
        ("gpu-h100x8-640gb", "tor1", "available"),
        ("gpu-4000adax1-20gb", None, "not available"),
    ]
    assert found.ignored == {"no GPU": 1}
    assert set(parsed(changed(available=False)).facts["availability"]["stock_status"]) == {"not available"}


def test_the_name_of_a_size_says_how_it_is_sold():
    """As the API answered on 2026-10-08 (https://github.com/shyamsfo/bernoulli/blob/775b0d3d/product/research/
    digitalocean-gpu-options.md): spot alone of three chips, one of them cooled with liquid or with air at one price.

    What is under contract has one's own price, and what a name of another form says is not known.
    """
    found = parsed(
        size("gpu-mi350x1-288gb-spot", "amd_mi350x", 1, 288, 2.46, ["ric1"]),
        size("gpu-mi355x8-2304gb-spot", "amd_mi355x", 8, 2304, 23.76, ["mem1"]),
        size("gpu-b300x1-288gb-lc-spot", "nvidia_b300", 1, 288, 8, ["mkc1"]),
        size("gpu-b300x1-288gb-spot", "nvidia_b300", 1, 288, 8, []),
        size("gpu-mi325x1-256gb", "amd_mi325x", 1, 256, 3.8, ["nyc2", "tor1"]),
        size("gpu-mi325x8-2048gb-fabric-contracted", "amd_mi325x", 8, 2048, 0, ["atl1"]),
        size("gpu-mi300x1-192gb-devcloud", "amd_mi300x", 1, 192, 1.99, ["atl1"]),
    )

    assert [
        (row["instance_type"], row["purchase_option"], row.get("conditions"), row["unit_price"]) for row in rows(found)
    ] == [
        ("gpu-mi350x1-288gb-spot", "spot", None, "2.46"),
        ("gpu-mi355x8-2304gb-spot", "spot", None, "23.76"),
        ("gpu-b300x1-288gb-lc-spot", "spot", "liquid-cooled", "8"),
        ("gpu-b300x1-288gb-spot", "spot", None, "8"),
        ("gpu-mi325x1-256gb", "on_demand", None, "3.8"),
    ]
    stocks = found.facts["availability"]
    assert set(stocks.filter(stocks["instance_type"].str.ends_with("-spot"))["purchase_option"]) == {"spot"}
    assert found.ignored == {"per contract": 1}
    assert found.unknown == ("the size gpu-mi300x1-192gb-devcloud",)


def test_spot_that_is_dearer_than_on_demand_is_refused():
    """Names do not say then what they said."""
    with pytest.raises(LayoutChanged, match=r"spot price above 3\.8"):
        parsed(
            size("gpu-mi325x1-256gb", "amd_mi325x", 1, 256, 3.8, []),
            size("gpu-mi325x1-256gb-spot", "amd_mi325x", 1, 256, 4.8, []),
        )


@pytest.mark.parametrize("fields", [
    {"price_hourly": 0}, {"price_hourly": None}, {"price_hourly": "23.92"}, {"price_hourly": 2.99},
    {"price_monthly": 23.92}, {"price_spot_hourly": 9.9}, {"slug": ""}, {"regions": None}, {"available": None},
    {"gpu_info": {}}, {"gpu_info": {**H100["gpu_info"], "count": 0}}, {"gpu_info": {**H100["gpu_info"], "count": 7}},
    {"gpu_info": {**H100["gpu_info"], "model": None}},
    {"gpu_info": {**H100["gpu_info"], "vram": {"amount": 640, "unit": "mib"}}},
])  # fmt: skip
def test_a_size_of_another_layout_is_refused(fields: dict[str, object]):
    """A price that is no month's 744th part, memory that eight chips cannot share, a new field about money."""
    with pytest.raises(LayoutChanged):
        parsed(changed(**fields))


def test_sizes_without_a_gpu_or_twice_are_refused():
    """The API always had GPUs; pages that moved while they were read may lack some."""
    for sizes in ([CPU], [], [H100, H100], [{name: value for name, value in H100.items() if name != "regions"}]):
        with pytest.raises(LayoutChanged):
            parsed(*sizes)


def page(old: str, new: str) -> Parsed:
    assert old in CASE.body.decode()
    return SOURCE.parse(document(SOURCE, CASE.body.decode().replace(old, new).encode()))


def test_a_section_that_is_new_is_told():
    """It is not read, and does not go unseen."""
    found = page('<h2 id="bandwidth-billing">', '<h2>Reserved GPU Droplet Pricing</h2><h2 id="bandwidth-billing">')

    assert found.unknown == ("section 'Reserved GPU Droplet Pricing'",)
    assert rows(found) == CASE.expected


def test_a_chip_never_seen_is_kept():
    """Under its own words."""
    row = rows(page("<td>NVIDIA L40s</td>", "<td>NVIDIA R200 Ultra (4x)</td>"))[4]

    assert (row["accelerator_label"], row["accelerator_count"]) == ("NVIDIA R200 Ultra", "4")


@pytest.mark.parametrize(("old", "new"), [
    ("NVIDIA H100 (8x)", "NVIDIA H100 (8x) (2x)"), ("NVIDIA H100 (8x)", "NVIDIA H100 (0x)"), ("NVIDIA L40s", "$1.57"),
    ("Per contract after", "$3.90 per hour after"), ("$2.59 per hour", "2.59 per hour"),
    ("$2.59 per hour", "$0 per hour"), ("$2.59 per hour", "$2.59"), ("$4.50 per hour", "$4.50 per GPU-hour"),
    (">AMD MI355X (8x)<", ">AMD MI300X (8x)<"),
])  # fmt: skip
def test_a_row_of_another_layout_is_refused(old: str, new: str):
    """No unit, another unit, no currency, a price of zero; spot that costs more than on demand."""
    assert refused(lambda: page(old, new))
