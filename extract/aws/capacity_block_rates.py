"""Published hourly rates of EC2 Capacity Blocks: the tables of AWS's rates page, or what a collector made of them.

The page is https://aws.amazon.com/ec2/capacityblocks/pricing/ , under the AWS Site Terms (https://aws.amazon.com/terms/);
its tables are JSON in its scripts, in the form that the collector's own tests have since April 2026. Where it cannot be
read, the JSON of koyakimu/ec2-capacity-blocks-for-ml-pricing-json (MIT by its README) is.

Settings: `url`, in place of both.

Quirks:

1. A published rate is not an offer: what a block costs on a day is in aws_capacity_blocks. So the rows are marked.
2. The file says when its collector saw the page: that is the moment of the fetch, so that a stale file ages.
3. Rates are of a machine or an UltraServer, next to the rate of one chip, which has three decimals: a rate
   that is not the chip's times their number, within that rounding, is refused. For months u-p6e-gb200x72 were listed at
   10.582, a chip's rate, in place of 761.904.
4. Local Zones are listed by the name of their zone (us-east-1-dfw-2a) in the file, by their city on the page: the
   region is the parent, as neither gives the Region Code of the price list. A place that nobody knows ("unknown" in the
   file) is refused.
5. The page has other tables too, such as rates of operating systems: read are those with an effective hourly rate.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from extract.aws import places, reading
from extract.aws.reading import plain_number
from extract.neoclouds.answers import Fields, content, objects, refusal
from extract.neoclouds.fetching import web_source
from extract.neoclouds.offers import Found, Offer, each
from warehouse.documents import Document

URL = "https://raw.githubusercontent.com/koyakimu/ec2-capacity-blocks-for-ml-pricing-json/main/data/pricing.json"
CONDITIONS = "published rate"
ROUNDING = Decimal("0.001")
"""The last decimal of a chip's rate, which the page rounds (0.596 for 9.532 / 16) or cuts (1.845 for 14.7663 / 8)."""
HOURLY_RATE = "effective hourly rate"
COLUMNS = (r"instance type|ultraserver type", "region", HOURLY_RATE, "accelerators?")
"""What the page's columns 1 to 4 are called, in lower case."""
LOCAL_ZONES = {"Dallas": "us-east-1-dfw-2a", "Atlanta": "us-east-1-atl-2a", "Phoenix": "us-west-2-phx-2a"}
"""Local Zones by the city that the page names, as in the file of 2026-07-22."""
_SCRIPT = re.compile(r"<script[^>]*application/json[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_RATE = re.compile(r"\$([\d,.]+)(?: USD)? \(\$([\d,.]+) USD\)")
_CHIPS = re.compile(r"(\d{1,3}) x [A-Za-z0-9 -]+")
_PLACE = re.compile(r"([a-z]{2}(?:-[a-z]+)+?-\d)(-[a-z]+-\d+[a-z])?")


def read(document: Document) -> Iterator[Found]:
    """Yield the rates of the page, or of the collector's file; the gate refuses those that contradict themselves."""
    text = document.body.decode("utf-8-sig", "replace")
    if not text.lstrip().startswith("<"):
        answer = Fields("the collector's file", content(document.body))
        answer.inner("metadata")
        for name in (machines := answer.inner("instance_types")):
            count = str((machine := machines.inner(name)).any("accelerator_count"))
            for place in machine.objects("pricing"):
                hourly, chip = (str(place.any(f"{each}hourly_rate_usd")) for each in ("", "accelerator_"))
                yield _offer(name, place.text("region_code"), place.text("region"), _rate(hourly, chip, count))
        return
    tables = [table for script in _SCRIPT.findall(text) if "itemTableData" in script for table in _tables(script)]
    if not tables:
        raise refusal(f"expected tables with {HOURLY_RATE!r} in the page's scripts", "itemTableData", text[:80])
    for types, rows in tables:
        yield from each(rows, _on_page, types)


def _tables(script: str) -> Iterator[tuple[dict[str, str], list[Fields]]]:
    """Yield the tables of hourly rates in a script: the types by the ids of their groups, and the rows."""
    for item in Fields("script", content(script)).inner("data").objects("items"):
        fields = item.inner("fields")
        columns = objects("columns", content(fields.text("itemTableColumns"))) if "itemTableColumns" in fields else []
        heads = {column.text("accessor"): column.text("Heading").lower() for column in columns}
        if HOURLY_RATE not in heads.values():
            continue
        found = [heads.get(str(number), "") for number in range(1, len(COLUMNS) + 1)]
        if not all(re.fullmatch(form, head) for form, head in zip(COLUMNS, found, strict=True)):
            raise refusal(f"expected the columns {', '.join(COLUMNS)}", "itemTableColumns", ", ".join(found))
        groups = objects("groups", content(fields.any("itemTableRowGroups")))
        types = {group.text("id"): group.text("label").strip() for group in groups}
        yield types, objects("rows", content(fields.any("itemTableData")))


def _on_page(row: Fields, types: dict[str, str]) -> Iterator[Found]:
    place, shown, chips = (" ".join(_TAG.sub(" ", row.any(name)).split()) for name in "234")
    found, count = _RATE.fullmatch(shown), _CHIPS.fullmatch(chips)
    if found is None or count is None:
        raise refusal("expected a rate as in $761.904 ($10.582 USD), for chips as in 72 x B200", shown, chips)
    city = re.fullmatch(r".*\((.+)\) Local Zone", place)
    code = LOCAL_ZONES.get(city[1]) if city else places.region_named(place)
    rate = _rate(found[1].replace(",", ""), found[2].replace(",", ""), count[1])
    yield _offer(types[row.one_of("idProperty", types)], code or "unknown", place, rate)


def _offer(instance_type: str, code: str, label: str, rate: str) -> Offer:
    found = _PLACE.fullmatch(code)
    return Offer(
        reading.offer(
            instance_type,
            "capacity_block",
            region_id=found[1] if found else None,
            availability_zone=code if found and found[2] else None,
            conditions=CONDITIONS if found else f"{CONDITIONS}, region {code!r} ({label})",
            pricing_currency="USD",
            unit_price=rate,
        )
    )


def _rate(hourly: str, chip: str, count: str) -> str:
    """Return the rate as plain text; with the sum that it fails, where it is not the chip's rate times their number."""
    try:
        rate, chip_rate, chips = Decimal(hourly), Decimal(chip), Decimal(count)
        fits = abs(rate - chip_rate * chips) <= ROUNDING * chips
    except ArithmeticError:  # no number, or one beyond all sense
        fits = False
    return plain_number(hourly) if fits else f"{hourly}, which is not {count} x {chip}"


def _seen_at(body: bytes) -> datetime | None:
    """Return when the collector saw the page; None for the page itself."""
    if body.lstrip(reading.BLANK).startswith(b"<"):
        return None
    try:
        at = datetime.fromisoformat(json.loads(body)["metadata"]["last_updated"])
    except (KeyError, TypeError, ValueError) as error:
        raise refusal("the table says not when it was seen", "metadata", body[:80]) from error
    return at.replace(tzinfo=at.tzinfo or UTC)


SOURCE = web_source(
    read,
    name="aws_capacity_block_rates",
    provider="AWS",
    title="AWS EC2 Capacity Block rates, as published",
    url="https://aws.amazon.com/ec2/capacityblocks/pricing/",
    other_urls=(URL,),
    accept="text/html, application/json",
    max_age=timedelta(days=7),
    scopes=("published",),
    published_at=_seen_at,
)
