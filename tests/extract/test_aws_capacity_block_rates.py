"""Published Capacity Block rates: read as the collector's JSON has them, its known defects refused by arithmetic."""

import csv
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from extract.aws import places
from extract.aws.capacity_block_rates import SOURCE, URL
from extract.base import Context
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.errors import LayoutChanged
from warehouse.log.gates import row_gate

NOW = datetime(2026, 11, 21, tzinfo=UTC)
SEEN = datetime(2026, 7, 22, 7, 14, 56, tzinfo=UTC)


@pytest.fixture
def saved(shared: Path) -> bytes:
    """Return the collector's JSON of 2026-07-22."""
    return (shared / "data" / "aws_samples" / "capacity_block_published_rates_20260722.json").read_bytes()


def document(body: bytes) -> Document:
    return Document(source="aws_capacity_block_rates", scope="published", url=URL, body=body, fetched_at=NOW)


def table(
    hourly: object, chip: object, count: object = 72, region: str = "us-east-1", kind: str = "u-p6e-gb200x72"
) -> Document:
    """Return a table with one rate."""
    place = {"region": "a place", "region_code": region, "hourly_rate_usd": hourly, "accelerator_hourly_rate_usd": chip}
    machine = {"accelerator_count": count, "pricing": [place]}
    content = {"metadata": {"last_updated": "2026-07-22T07:14:56Z"}, "instance_types": {kind: machine}}
    return document(json.dumps(content).encode())


def refusals(one: Document) -> list[tuple[str, str]]:
    return [(refusal.field, refusal.value) for refusal in row_gate(SOURCE.parse(one).rows)[1]]


def test_the_saved_table_is_read_whole(saved: bytes) -> None:
    """Every rate is a row of its region, to the digit; GovCloud and Local Zones among them."""
    content: dict[str, Any] = json.loads(saved, parse_float=str)

    rows = SOURCE.parse(document(saved)).rows
    accepted, refused = row_gate(rows)

    written = sorted(
        (kind, place["region_code"], float(place["hourly_rate_usd"]))
        for kind, machine in content["instance_types"].items()
        for place in machine["pricing"]
    )
    read = sorted(
        (kind, zone or region, float(price))
        for kind, region, zone, price in rows.select(
            "instance_type", "region_id", "availability_zone", "unit_price"
        ).iter_rows()
    )
    assert read == written
    assert (accepted.height, refused) == (len(written), [])
    assert rows.filter(instance_type="trn2.48xlarge")["unit_price"].to_list() == ["35.7608"]
    assert set(rows["conditions"]) == {"published rate"}
    assert set(rows["purchase_option"]) == {"capacity_block"}


def test_an_ultraserver_is_one_unit(saved: bytes) -> None:
    """761.904 for 72 chips, in a Local Zone whose parent is the region."""
    rows = SOURCE.parse(document(saved)).rows.filter(instance_type="u-p6e-gb200x72")

    assert rows.select("capacity_unit", "unit_price", "region_id", "availability_zone").rows() == [
        ("UltraServer", "761.904", "us-east-1", "us-east-1-dfw-2a")
    ]


def test_trap_27_the_rate_of_one_chip_is_no_rate_of_72(shared: Path) -> None:
    """What the collector published for months: 10.582 for a whole UltraServer. Refused by arithmetic, with the sum."""
    with (shared / "data" / "aws_capacity_block_rates_history.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["usd_per_instance_hour"] and row["region"] != "unknown"]

    told = {
        (row["instance_type"], row["usd_per_instance_hour"]): refusals(
            table(
                row["usd_per_instance_hour"],
                row["usd_per_accelerator_hour"],
                row["accelerator_count"],
                kind=row["instance_type"],
            )
        )
        for row in rows
    }

    refused = {key: each for key, each in told.items() if each}
    assert refused == {
        ("u-p6e-gb200x36", "10.582"): [("unit_price", "10.582, which is not 36 x 0")],
        ("u-p6e-gb200x72", "10.582"): [("unit_price", "10.582, which is not 72 x 0")],
    }
    assert len(told) > 20


@pytest.mark.parametrize(
    ("hourly", "chip", "count", "fits"),
    [("761.904", "10.582", 72, True), ("9.532", "0.596", 16, True), ("35.7608", "2.235", 16, True),
     ("10.582", "10.582", 72, False), ("9.6", "0.596", 16, False),
     ("14.7663", "1.845", 8, True),
     ("761.904", None, 72, False),
     (None, "10.582", 72, False), ("NaN", "10.582", 72, False), ("4.72", "4.72", 1, True)],
)  # fmt: skip
def test_a_rate_is_that_of_a_chip_times_their_number(hourly: object, chip: object, count: int, fits: bool) -> None:
    """Within the last decimal of the chip's rate, which is rounded or cut."""
    assert (refusals(table(hourly, chip, count)) == []) is fits


def test_places_as_aws_writes_them() -> None:
    """AWS's price list, its pages and its documentation spell the same regions in their own ways."""
    names = (
        "EU (Ireland)",
        "Australia (Sydney)",
        "South America (Sao Paulo)",
        "South America (S\xe3o Paulo)",
        "Nowhere",
    )
    assert [places.region_named(name) for name in names] == ["eu-west-1", "ap-southeast-2", *2 * ["sa-east-1"], None]


def test_trap_27_a_region_that_is_not_known_is_refused() -> None:
    """ "unknown" prices no region, and the row says what stood there."""
    parsed = SOURCE.parse(table("761.904", "10.582", region="unknown"))

    assert [refusal.field for refusal in row_gate(parsed.rows)[1]] == ["region_id"]
    assert parsed.rows["conditions"].to_list() == ["published rate, region 'unknown' (a place)"]


@pytest.mark.parametrize(
    "body",
    [b"", b"<!DOCTYPE html><title>EC2 Capacity Blocks Pricing</title>", b"[]",
     b'{"metadata": {}, "instance_types": {}}',
     b'{"metadata": {}, "instance_types": {"p5.48xlarge": {}}}', b'{"metadata": {}, "instance_types": []}'],
)  # fmt: skip
def test_another_layout_is_an_error(body: bytes) -> None:
    """AWS's own page among them, which this source cannot read, and says so."""
    with pytest.raises(LayoutChanged):
        SOURCE.parse(document(body))


class OnePage:
    """A web with one answer."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def get(self, url: str, *, accept: str = "application/json") -> Response:
        return Response(url=url, body=self.body, status=200, content_type="text/plain")


def context(body: bytes, **settings: object) -> Context:
    return Context(web=OnePage(body), settings=settings, now=lambda: NOW)  # type: ignore[arg-type]


def test_a_look_is_of_when_the_collector_saw_the_page(saved: bytes) -> None:
    """A file that nobody renews ages, however often it is fetched."""
    look = SOURCE.fetch(context(saved), "published")

    assert (look.observed_at, look.complete) == (SEEN, True)
    assert look.documents[0].published_at == SEEN
    assert SOURCE.scopes(context(saved)) == ("published",)


@pytest.mark.parametrize("metadata", [{}, {"last_updated": "yesterday"}, {"last_updated": None}])
def test_a_table_without_a_date_is_an_error(metadata: Mapping[str, object]) -> None:
    """The moment of the look would be a guess."""
    with pytest.raises(LayoutChanged):
        SOURCE.fetch(context(json.dumps({"metadata": metadata, "instance_types": {}}).encode()), "published")


# --- AWS's own page

HEADS = ("Instance Type", "Region", "Effective Hourly Rate", "ACCELERATOR")
PLACES = {"us-east-1-dfw-2a": "US East (Dallas) Local Zone", "us-east-1-atl-2a": "US East (Atlanta) Local Zone",
          "us-west-2-phx-2a": "US West (Phoenix) Local Zone"}  # fmt: skip


def page(saved: bytes, *, heads: tuple[str, ...] = HEADS, rate: str = "${hourly} USD (${chip} USD)") -> bytes:
    """Return the collector's file as AWS's page has it: a table a family, one of operating systems, and scripts."""
    items = []
    for name, machine in json.loads(saved, parse_float=str)["instance_types"].items():
        rows = [
            {
                "id": number, "idProperty": "row1", "2": f"<p>{PLACES.get(one['region_code'], one['region'])}</p>\r\n",
                "3": f"<p>{rate}</p>".format(hourly=one["hourly_rate_usd"], chip=one["accelerator_hourly_rate_usd"]),
                "4": f"<p>{machine['accelerator_count']} x {machine['accelerator_type']}</p>",
            }
            for number, one in enumerate(machine["pricing"])
        ]  # fmt: skip
        items.append(item("Pricing", heads, [{"id": "row1", "label": name}], rows))
    system = {"id": 0, "idProperty": "row1", "2": "<p>Linux</p>", "3": "<p>$0.00</p>"}
    items.append(item("OS pricing", ("Instance Type", "OS", "Hourly Rate"), [{"id": "row1", "label": "p5"}], [system]))
    script = json.dumps({"data": {"items": items}})
    return f'<html><script type="application/json">{script}</script><p>$1.11</p></html>'.encode()


def item(heading: str, heads: tuple[str, ...], groups: list[Any], rows: list[Any]) -> dict[str, Any]:
    columns = [{"Heading": head, "accessor": str(number)} for number, head in enumerate(heads, start=1)]
    fields = {"itemTableColumns": columns, "itemTableRowGroups": groups, "itemTableData": rows}
    return {"fields": {"itemHeading": heading} | {name: json.dumps(value) for name, value in fields.items()}}


def test_the_page_gives_what_the_collector_read_in_it(saved: bytes) -> None:
    """Every region, GovCloud and the Local Zones, to the digit, also of a page saved with a byte order mark."""
    theirs, ours = SOURCE.parse(document(saved)), SOURCE.parse(document(b"\xef\xbb\xbf" + page(saved)))

    assert sorted(ours.rows.iter_rows(), key=str) == sorted(theirs.rows.iter_rows(), key=str)
    assert len(ours.rows) == 69
    assert row_gate(ours.rows)[1] == []


@pytest.mark.parametrize(
    ("edited", "said"),
    [({"heads": ("Instance Type", "Place", "Effective Hourly Rate", "ACCELERATOR")}, "expected the columns"),
     ({"heads": ("Instance Type", "Region", "Monthly Rate", "ACCELERATOR")}, "expected tables with"),
     ({"rate": "{hourly} EUR"}, "cannot be read"), ({"rate": "${chip} USD (${chip} USD)"}, None)],
)  # fmt: skip
def test_a_page_of_another_form_is_refused(saved: bytes, edited: dict[str, Any], said: str | None) -> None:
    """Other columns, unit or currency; a chip's rate for that of its machine fails the arithmetic."""
    if said is None:
        found = SOURCE.parse(document(page(saved, **edited)))
        assert len(row_gate(found.rows)[1]) > 50
        return
    with pytest.raises(LayoutChanged, match=said):
        SOURCE.parse(document(page(saved, **edited)))


def test_a_place_that_nobody_knows_is_refused_alone(saved: bytes) -> None:
    """Of the page too: a new Local Zone prices no region by a guess."""
    body = page(saved).replace(b"US East (Dallas) Local Zone", b"US East (Nowhere) Local Zone")

    refused = row_gate(SOURCE.parse(document(body)).rows)[1]

    assert {each.field for each in refused} == {"region_id"}
    assert len(refused) == 2


class TwoPages:
    """A web with AWS's page and the collector's file."""

    def __init__(self, bodies: Mapping[str, bytes]) -> None:
        self.bodies = bodies

    def get(self, url: str, *, accept: str = "application/json") -> Response:
        return Response(url=url, body=self.bodies[url], status=200, content_type="text/plain")


def test_the_page_is_read_first_and_the_file_where_it_cannot_be(saved: bytes) -> None:
    """Of the page a fetch is of now; of the file, of when its collector saw the page, and a note says why."""
    for first, url, at in ((page(saved), SOURCE.url, NOW), (b"<html>Moved</html>", URL, SEEN)):
        web = TwoPages({SOURCE.url: first, URL: saved})
        look = SOURCE.fetch(Context(web=web, settings={}, now=lambda: NOW), "published")  # type: ignore[arg-type]

        assert (look.documents[0].url, look.observed_at) == (url, at)
        assert bool(look.notes) is (url == URL)
