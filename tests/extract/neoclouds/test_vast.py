"""What is Vast.ai's own: hosts that are not kept, answers cut short, and machines that are offered several times."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from neoclouds.case import MOMENT, document, rows
from neoclouds.cases.vast import CASE

from extract.base import Context, Parsed
from extract.neoclouds import vast
from extract.web.interface import Response
from warehouse.errors import CredentialsMissing, LayoutChanged, SettingsError, SourceError
from warehouse.reference.accelerators import resolve

ADDRESS = "203.0.113.7"


def one(
    number: int, *, base: float = 2.0, machine: int | None = None, chips: int = 1, **changed: Any
) -> dict[str, Any]:
    """Return an offer of a verified machine in the US, at `base` dollars for all its chips."""
    known = {
        "id": number, "machine_id": number if machine is None else machine, "gpu_name": "H100 SXM", "num_gpus": chips,
        "gpu_ram": 81559, "gpu_total_ram": 81559 * chips, "dph_base": base, "dph_total": base,
        "storage_total_cost": 0, "min_bid": None, "verification": "verified", "hosting_type": 0, "rentable": True,
        "rented": False, "is_bid": False, "external": None, "bundled_results": None, "geolocation": "Montana, US",
    }  # fmt: skip
    return known | changed


def read(*offers: dict[str, Any], scope: str = "all") -> Parsed:
    return CASE.source.parse(document(vast.SOURCE, json.dumps({"offers": offers}).encode(), scope))


def told(parsed: Parsed) -> list[tuple[str, str, str]]:
    return [(row["purchase_option"], row["statistic"], row["unit_price"]) for row in rows(parsed)]


class Market:
    """A web with one market, that gives no more than `cap` offers at a time and keeps what it was asked."""

    def __init__(self, offers: list[dict[str, Any]], cap: int = 1000, status: int = 200) -> None:
        self.offers, self.cap, self.status = offers, cap, status
        self.asked: list[tuple[Any, Mapping[str, str]]] = []

    def post(self, url: str, *, json: Any, accept: str, headers: Mapping[str, str]) -> Response:
        self.asked.append((json, headers))
        if self.status != 200:
            raise SourceError("refused", source=url, field="status", value=self.status)
        least = json.get("dph_total", {}).get("gte", 0)
        wanted = json["gpu_name"]["eq"]
        book = [offer for offer in self.offers if offer["gpu_name"] == wanted and offer["dph_total"] >= least]
        body = _dumped({"offers": sorted(book, key=lambda offer: offer["dph_total"])[: self.cap]})
        return Response(url=url, body=body, status=200, content_type=accept)


def _dumped(content: object) -> bytes:
    return json.dumps(content).encode()


def context(web: Any, **settings: object) -> Context:
    return Context(web=web, settings=settings, now=lambda: MOMENT)


def look(web: Market, scope: str = "H100 SXM") -> bytes:
    (landed,) = vast.SOURCE.fetch(context(web), scope).documents
    return landed.body


def test_a_machine_counts_once_by_its_largest_offer():
    """Four sizes of one machine are not four machines; of two offers of one size the cheaper one holds."""
    sizes = [one(number, machine=1, chips=chips, base=3.0 * chips) for number, chips in enumerate((1, 2, 4, 8))]
    found = read(*sizes, one(10, chips=8, base=32.0), one(11, machine=10, chips=8, base=8.0))
    assert told(found) == [("on_demand", "p25", "1.5"), ("on_demand", "median", "2")]
    assert found.ignored == {"a smaller offer of the same machine": 4, **no_bids(2)}
    (fact,) = found.facts["availability"].to_dicts()
    assert (fact["n_machines"], fact["n_accelerators"]) == (2, 16)


def no_bids(number: int) -> dict[str, int]:
    return {"without a bid below the price on demand": number}


def test_one_machine_is_no_market():
    """Its price is told to nobody, and that it is there is."""
    found = read(one(1, base=53.34), one(2), one(3))
    assert len(told(found)) == 2
    found = read(one(1, base=53.34))
    assert told(found) == []
    assert found.ignored["the only machine of its chip, tier and country, on_demand"] == 1
    assert found.facts["availability"]["n_machines"].to_list() == [1]


def test_a_bid_is_the_spot_price_where_it_is_not_above_the_other():
    """13.33 beside 3.78 on demand is what others bid: nobody would."""
    found = read(one(1, min_bid=1.0), one(2, min_bid=0.5), one(3, min_bid=13.3), one(4, base=4.0, min_bid=4.0))
    spot = [row for row in rows(found) if row["purchase_option"] == "spot"]
    assert [(row["statistic"], row["unit_price"]) for row in spot] == [("p25", "0.75"), ("median", "1")]
    assert found.ignored == no_bids(1)


def test_tiers_and_countries_are_not_merged():
    """hosting_type 1 is a data centre; others are left out, by the reason."""
    found = read(
        one(1), one(2, hosting_type=1), one(3, geolocation=", CA"), one(4, verification="unverified"),
        one(5, verification="deverified"), one(6, geolocation=None), one(7, rented=True), one(8, rentable=False),
        one(9, external=True),
    )  # fmt: skip
    assert told(found) == []
    assert len(found.facts["availability"]) == 3
    assert {reason: number for reason, number in found.ignored.items() if "only" not in reason} == no_bids(3) | {
        "unverified": 1, "deverified": 1, "without a country": 1, "cannot be rented now": 2, "of another cloud": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("Montana, US", "US"), (", US", "US"), ("US", "US"), ("Taiwan, TW, AS", "TW"), (", CN, AS", "CN"),
        ("Riyadh, SA", "SA"), ("Windhoek, NA", "NA"), ("Washington, DC, US", None), (", , NA", None), ("Europe", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_country_is_no_continent(text: str, country: str | None):
    """AS is American Samoa where it stands for a country, and Asia behind one."""
    found = read(one(1, geolocation=text), one(2, geolocation=text), one(3), one(4))
    regions = {row["region_id"] for row in rows(found)}
    assert regions == {"US", country} - {None}


def test_memories_are_not_merged():
    """The A100 of 40 GB and of 80 have one name."""
    small = {"gpu_name": "A100 SXM4", "gpu_ram": 40960, "gpu_total_ram": 40960}
    large = {"gpu_name": "A100 SXM4", "gpu_ram": 81920, "gpu_total_ram": 81920}
    found = read(one(1, **small), one(2, **small), one(3, **large), one(4, base=3.0, **large))
    labels = {row["accelerator_label"] for row in rows(found)}
    assert {resolve(label, "Vast.ai").accelerator_name for label in labels} == {"A100-40GB", "A100-80GB"}  # type: ignore[union-attr]


@pytest.mark.parametrize("memory", [("L40S", 46068), ("H200", 143771), ("RTX PRO 6000 S", 97887), ("B200", 183359)])
def test_what_drivers_state_is_a_whole_chip(memory: tuple[str, int]):
    name, mib = memory
    chip = {"gpu_name": name, "gpu_ram": mib, "gpu_total_ram": mib}
    (label,) = {row["accelerator_label"] for row in rows(read(one(1, **chip), one(2, **chip)))}
    found = resolve(label, "Vast.ai")
    assert found is not None
    assert found.accelerator_share == Decimal(1)


@pytest.mark.parametrize(
    "changed",
    [
        {"dph_total": 2.1}, {"gpu_total_ram": 81559 * 8}, {"is_bid": True}, {"num_gpus": 32}, {"dph_base": 0},
        {"bundled_results": 3}, {"gpu_ram": 0}, {"storage_total_cost": 2.5, "dph_total": 4.5},
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_left_out_and_not_for_long(changed: dict[str, Any]):
    """One of five is that one's fault; where it is a quarter, the fields mean something else."""
    good = [one(number) for number in range(4)]
    found = read(*good, one(9, **changed))
    assert found.ignored[vast.STRANGE] == 1
    assert found.facts["availability"]["n_machines"].to_list() == [4]
    with pytest.raises(LayoutChanged):
        read(*good, one(8, **changed), one(9, **changed))


def test_offers_of_another_chip_are_refused():
    """Whether the filter still filters, is not certain then; a saved answer may be of several."""
    both = one(1), one(2, gpu_name="H200")
    assert read(*both).facts["availability"]["n_machines"].to_list() == [1, 1]
    with pytest.raises(LayoutChanged):
        read(*both, scope="H100 SXM")


def test_a_chip_that_nobody_offers_is_no_error_and_a_market_of_others_is():
    """Empty was asked and answered; unverified machines only say that the filter does not hold."""
    assert told(read(scope="B300")) == []
    with pytest.raises(LayoutChanged):
        read(one(1, verification="unverified"))


@pytest.mark.parametrize("cap", [10, 16, 25, 64])
def test_a_market_beyond_a_cap_is_asked_for_until_its_end(cap: int):
    """From the last price on; what stands on two pages counts once."""
    offers = [one(number, base=1 + number / 8) for number in range(103)]
    web = Market(offers, cap)
    found = CASE.parse(look(web))
    assert found.facts["availability"]["n_machines"].to_list() == [103]
    assert told(found) == told(read(*offers))
    starts = [question.get("dph_total") for question, _ in web.asked]
    assert starts[:2] == [None, {"gte": 1 + (cap - 1) / 8}]


def test_a_market_that_cannot_be_read_to_its_end_is_refused():
    """More machines at one price than a page has: what comes behind them is never seen."""
    web = Market([one(number) for number in range(30)], 10)
    with pytest.raises(LayoutChanged):
        look(web)
    assert len(web.asked) == 2


@pytest.mark.parametrize("number", [10, 16, 20, 25, 50, 64, 100, 1000])
def test_a_round_number_of_offers_is_taken_for_a_cap(number: int):
    """A saved answer that may have been cut is refused; one more or less may not."""
    offers = [one(each, base=1 + each) for each in range(number + 1)]
    with pytest.raises(LayoutChanged):
        read(*offers[:number])
    assert read(*offers)


def test_pages_that_do_not_follow_on_each_other_are_refused():
    offers = [one(each, base=1 + each) for each in range(13)]
    whole = [{"offers": offers[:10]}, {"offers": offers[9:]}]
    assert CASE.parse(_dumped({"chipledger_pages": whole})).facts["availability"]["n_machines"].to_list() == [13]
    for pages in (whole[::-1], [whole[0], {"offers": offers[5:8]}], [whole[1], whole[1]], [whole[0]]):
        with pytest.raises(LayoutChanged):
            CASE.parse(_dumped({"chipledger_pages": pages}))


HOST = {
    "public_ipaddr": ADDRESS, "hostname": 'a"b\\', "webpage": "https://example.com", "logo": "/x.png",
    "host_id": 123456, "mobo_name": "SB27B24796", "gpu_ids": [208077, 208078],
}  # fmt: skip


def test_hosts_are_not_kept():
    """Null stands where they stood, and every other byte is as it came."""
    web = Market([one(1, dph_adj=1.30666666666666660), one(2)])
    plain = look(web)
    web.offers = [offer | HOST for offer in web.offers]
    kept = look(web)
    assert json.loads(kept)["offers"][0] == web.offers[0] | dict.fromkeys(HOST)
    assert all(str(value).encode() not in kept for value in HOST.values() if isinstance(value, str | int))
    assert b'"geolocation": "Montana, US", "dph_adj": 1.3066666666666666' in kept
    assert len(json.loads(plain)["offers"]) == 2


@pytest.mark.parametrize(
    "left",
    [
        {"ssh_host": ADDRESS}, {"public_ipaddr": {"v4": ADDRESS}}, {"search": {"addr": ["2001:db8::7"]}},
        {"hostname": ["a", {"b": 1}]},
    ],
)  # fmt: skip
def test_an_answer_with_a_host_in_it_is_not_landed(left: dict[str, Any]):
    """Nothing of it stands in the error either."""
    with pytest.raises(LayoutChanged) as raised:
        look(Market([one(1) | left]))
    assert ADDRESS not in f"{raised.value} {raised.value.value}"


@pytest.mark.parametrize("body", [b"<html>203.0.113.7</html>", b'{"offers": [', b"[]", b'{"offers": [{"id": 1}]}'])
def test_what_is_no_list_of_offers_is_not_landed(body: bytes):
    class Web:
        def post(self, url: str, **_: Any) -> Response:
            return Response(url=url, body=body, status=200, content_type="text/html")

    with pytest.raises(LayoutChanged) as raised:
        look(Web())  # type: ignore[arg-type]
    assert ADDRESS not in str(raised.value)


def test_a_chip_is_a_scope_and_the_filters_are_asked_for(monkeypatch):
    """The names of the settings, letter for letter; a key is sent where there is one."""
    monkeypatch.delenv(vast.KEY, raising=False)
    assert vast.SOURCE.scopes(context(None)) == vast.GPU_NAMES
    assert vast.SOURCE.scopes(context(None, gpu_names=["L40S", "L40S", "B200"])) == ("L40S", "B200")
    for wrong in ([], "L40S", [" "], [1]):
        with pytest.raises(SettingsError):
            vast.SOURCE.scopes(context(None, gpu_names=wrong))
    web = Market([one(1), one(2)])
    look(web)
    monkeypatch.setenv(vast.KEY, "secret")
    look(web)
    (question, bare), (_, headers) = web.asked
    assert (bare, headers) == ({}, {"Authorization": "Bearer secret"})
    assert question["gpu_name"] == {"eq": "H100 SXM"}
    assert (question["verified"], question["rentable"], question["type"]) == ({"eq": True}, {"eq": True}, "on-demand")
    assert vast.SOURCE.off_because


@pytest.mark.parametrize(
    ("status", "error"), [(401, CredentialsMissing), (403, CredentialsMissing), (400, SourceError)]
)
def test_a_key_that_is_asked_for_leaves_the_source_out(status: int, error: type[SourceError]):
    with pytest.raises(error) as raised:
        look(Market([], status=status))
    assert isinstance(raised.value, CredentialsMissing) == (status != 400)


def test_every_default_name_is_a_chip():
    assert [name for name in vast.GPU_NAMES if resolve(name, "Vast.ai") is None] == []
