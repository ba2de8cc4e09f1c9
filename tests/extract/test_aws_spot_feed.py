"""The public spot feeds: regional prices marked as such, advice as facts, old names and old wrappers understood."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from extract.aws.spot_feed import ADVISOR_URL, PRICES_URL, SOURCE
from extract.base import Context
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.errors import LayoutChanged, SettingsError, SourceError
from warehouse.log.gates import row_gate

NOW = datetime(2026, 11, 21, tzinfo=UTC)
Saved = Callable[[str], bytes]


@pytest.fixture
def saved(shared: Path) -> Saved:
    """Return a reader of the saved feeds: prices of 2021-04-06, advice of 2025-06-28."""
    return lambda name: gzip.decompress((shared / "data" / "aws_samples" / name).read_bytes())


def document(body: bytes, scope: str = "prices") -> Document:
    return Document(source="aws_spot_feed", scope=scope, url="saved", body=body, fetched_at=NOW)


def feed(amount: object = "1.5", region: str = "us-east-1", system: str = "linux", size: str = "p5.48xlarge") -> bytes:
    """Return a feed with one price."""
    column = {"name": system, "prices": {"USD": amount}}
    group = {"type": "gpuCurrentGen", "sizes": [{"size": size, "valueColumns": [column]}]}
    return json.dumps(
        {"vers": 0.01, "config": {"rate": "perhr", "regions": [{"region": region, "instanceTypes": [group]}]}}
    ).encode()


def test_the_saved_prices_are_read_whole(saved: Saved) -> None:
    """Every cell of an accelerator is a row or is counted; five old region names have their Region Codes."""
    body = saved("spot_js_prices_20210406.json.gz")
    cells = [
        (region["region"], size["size"], column["name"], column["prices"]["USD"])
        for region in json.loads(body)["config"]["regions"]
        for group in region["instanceTypes"]
        for size in group["sizes"]
        for column in size["valueColumns"]
    ]

    parsed = SOURCE.parse(document(body))
    accepted, refused = row_gate(parsed.rows)

    assert parsed.rows.height + sum(parsed.ignored.values()) == len(cells)
    assert set(parsed.rows["region_id"]) == {"us-east-1", "us-east-2", "us-west-1", "eu-west-1", "ap-southeast-2"}
    assert (accepted.height, refused, parsed.unknown) == (parsed.rows.height, [], ())
    amount = next(
        amount for region, size, name, amount in cells if (region, size, name) == ("us-east", "p4d.24xlarge", "linux")
    )
    found = parsed.rows.filter(region_id="us-east-1", instance_type="p4d.24xlarge").row(0, named=True)
    assert float(found["unit_price"]) == float(amount)
    assert parsed.ignored["not_offered"] > 0


def test_rows_are_marked_as_regional(saved: Saved) -> None:
    """No zone, and a condition that says where they are from: never mixed with the zones of the API."""
    rows = SOURCE.parse(document(saved("spot_js_prices_20210406.json.gz"))).rows

    assert rows["availability_zone_id"].null_count() == rows.height
    assert set(rows["conditions"]) == {"region-level, public spot feed"}
    assert set(rows["purchase_option"]) == {"spot"}


@pytest.mark.parametrize("wrapped", [b"callback(%s);", b"callback(%s);\n", b" callback ( %s )", b"%s"])
def test_jsonp_is_json_in_a_call(wrapped: bytes) -> None:
    """The older address answers with callback(...)."""
    assert SOURCE.parse(document(wrapped % feed())).rows["unit_price"].to_list() == ["1.5"]


def test_a_small_price_is_written_out() -> None:
    """9.0E-4 is 0.0009."""
    assert SOURCE.parse(document(feed("9.0E-4"))).rows["unit_price"].to_list() == ["0.0009"]


@pytest.mark.parametrize(
    ("name", "code", "zone"),
    [("apac-tokyo", "ap-northeast-1", None), ("apac-sin", "ap-southeast-1", None), ("us-west", "us-west-1", None),
     ("us-west-2-lax-1a", "us-west-2", "us-west-2-lax-1a"), ("us-gov-west-1", "us-gov-west-1", None),
     ("us-west-2-lax-1", "us-west-2-lax-1", None), ("us-east-1-wl1-atl1", "us-east-1-wl1-atl1", None)],
)  # fmt: skip
def test_names_of_regions(name: str, code: str, zone: str | None) -> None:
    """Names from before Region Codes, by a table; Region Codes of Local and Wavelength Zones as in the price list.

    Nothing is cut off or guessed. https://github.com/alexei-led/spotinfo/blob/69bcec67/internal/spot/data/
    spot-price-data.json , the feed of 2026-08-10, accessed on 2026-11-28, has us-east-1-nyc-1 and us-west-2-lax-1.
    """
    row = SOURCE.parse(document(feed(region=name))).rows.row(0, named=True)

    assert (row["region_id"], row["availability_zone"]) == (code, zone)


@pytest.mark.parametrize("name", ["apac-moon", "us-east-1a", "us-east-1-nyc-1a"])
def test_an_unknown_region_is_reported_and_refused(name: str) -> None:
    """A name nobody has a rule for prices no region; a zone is none."""
    parsed = SOURCE.parse(document(feed(region=name)))

    assert parsed.unknown == (f"region {name!r}",)
    assert [refusal.field for refusal in row_gate(parsed.rows)[1]] == ["region_id"]


def test_advice_is_kept_as_facts(saved: Saved) -> None:
    """Savings and band of every accelerator on Linux, as the document has them; a band by its label."""
    content: dict[str, Any] = json.loads(saved("spot_advisor_data_20250628.json.gz"))

    parsed = SOURCE.parse(document(saved("spot_advisor_data_20250628.json.gz"), "advisor"))

    facts = parsed.facts["spot_advice"]
    assert parsed.rows.is_empty()
    assert parsed.unknown == ()
    virginia = facts.filter(region_id="us-east-1")
    assert virginia.height == 75
    assert facts.filter(region_id="us-east-1", instance_type="p5.48xlarge").row(0) == (
        "us-east-1", "p5.48xlarge", "Linux", 52, ">20%",
    )  # fmt: skip
    labels = {band["index"]: band["label"] for band in content["ranges"]}
    for region, kind, system, savings, band in facts.iter_rows():
        said = content["spot_advisor"][region][system][kind]
        assert (said["s"], labels[said["r"]]) == (savings, band)


def test_spot_may_be_dearer_than_on_demand(saved: Saved) -> None:
    """A saving of -62 % is a fact (seen), not an error."""
    facts = SOURCE.parse(document(saved("spot_advisor_data_20250628.json.gz"), "advisor")).facts["spot_advice"]

    assert facts["savings_percent"].min() == -62


def test_an_unknown_band_is_unknown() -> None:
    """Never the nearest one."""
    body = json.dumps({
        "ranges": [{"index": 0, "label": "<5%"}],
        "spot_advisor": {"us-east-1": {"Linux": {"p5.48xlarge": {"s": 50, "r": 7}, "m5.large": {"s": 1, "r": 0}}}},
    })  # fmt: skip

    parsed = SOURCE.parse(document(body.encode(), "advisor"))

    assert parsed.facts["spot_advice"].row(0)[3:] == (50, None)
    assert parsed.unknown == ("interruption band 7",)
    assert parsed.ignored == {"not_accelerator": 1}


@pytest.mark.parametrize(
    "body",
    [b"", b"<html></html>", b"{}", b"[]", b"callback(", b'{"config": {}}',
     b'{"config": {"rate": "permonth", "regions": []}}',
     b'{"config": {"rate": "perhr", "regions": []}}', feed(1.5), feed("1.5", size="m5.large"),
     b'{"spot_advisor": {}, "ranges": []}', b'{"spot_advisor": {"us-east-1": []}, "ranges": []}'],
)  # fmt: skip
def test_another_layout_is_an_error(body: bytes) -> None:
    """An empty feed is an error too: neither has ever been without accelerators."""
    with pytest.raises(LayoutChanged):
        SOURCE.parse(document(body))


def feed_of(*regions: str) -> bytes:
    """Return a feed with one price in each region."""
    contents = [json.loads(feed(region=region)) for region in regions]
    contents[0]["config"]["regions"] = [each["config"]["regions"][0] for each in contents]
    return json.dumps(contents[0]).encode()


class OnePage:
    """A web with one answer; it remembers what was asked for."""

    def __init__(self, *regions: str) -> None:
        self.asked: list[str] = []
        self.body = feed_of(*regions or ("us-east-1",))

    def get(self, url: str, *, accept: str = "application/json") -> Response:
        self.asked.append(url)
        return Response(url=url, body=self.body, status=200, content_type="application/json")


def test_each_feed_is_a_scope_with_an_address() -> None:
    """They succeed or fail alone, and a setting gives another address."""
    web = OnePage()
    ctx = Context(web=web, settings={"advisor_url": "https://example.org/a.json"}, now=lambda: NOW)  # type: ignore[arg-type]

    looks = [SOURCE.fetch(ctx, scope) for scope in SOURCE.scopes(ctx)]

    assert web.asked == [PRICES_URL, "https://example.org/a.json"]
    assert [(look.scope, look.complete, look.observed_at) for look in looks] == [
        ("prices", True, NOW),
        ("advisor", True, NOW),
    ]
    assert ADVISOR_URL.startswith("https://")
    with pytest.raises(SourceError, match="no such scope"):
        SOURCE.fetch(ctx, "us-east-1")
    with pytest.raises(SettingsError):
        SOURCE.fetch(Context(web=web, settings={"prices_url": 1}, now=lambda: NOW), "prices")  # type: ignore[arg-type]


KNOWN = pl.DataFrame({"region_id": ["us-west-2", "us-west-2", "eu-central-1", "us-east-1", "us-west-2-lax-1"]})
"""What there are prices of: regions, and a Local Zone, which may close."""


@pytest.mark.parametrize(
    ("regions", "lost"),
    [(("us-east-1", "us-west-2-lax-1a", "eu-central-1"), "us-west-2"),
     (("us-east", "us-west-2", "eu-central-2"), "eu-central-1"),
     (("us-east", "us-west-2", "eu-central-1"), "")],
)  # fmt: skip
def test_a_feed_without_a_known_region_ends_no_offer(regions: tuple[str, ...], lost: str) -> None:
    """Its prices count; of the region it lost it says nothing. One that it never named is not lost."""
    web = OnePage(*regions)
    ctx = Context(web=web, settings={}, now=lambda: NOW, known_prices=lambda: KNOWN)  # type: ignore[arg-type]

    look = SOURCE.fetch(ctx, "prices")

    assert (look.complete, len(look.documents)) == (not lost, 1)
    assert look.notes == ((f"no region {lost}, so this feed ends no offer",) if lost else ())


@pytest.mark.parametrize("last", [None, NOW])
def test_without_known_prices_only_the_first_feed_ends_offers(last: datetime | None) -> None:
    """It has none to end. Where the log has earlier ones, which regions a feed lost nobody can tell."""
    web = OnePage("us-east-1")
    ctx = Context(web=web, settings={}, now=lambda: NOW, last_observed=lambda scope: last)  # type: ignore[arg-type]

    look = SOURCE.fetch(ctx, "prices")

    assert look.complete == (last is None)
    assert look.notes == (
        () if last is None else ("the prices of earlier fetches cannot be read, so this feed ends no offer",)
    )
