"""Published hourly rates of EC2 Capacity Blocks: the table of AWS's rates page, as a public collector reads it.

The table is on https://aws.amazon.com/ec2/capacityblocks/pricing/ , under the AWS Site Terms,
https://aws.amazon.com/terms/ . Read is not that page, whose HTML has never been seen here, but the JSON that
koyakimu/ec2-capacity-blocks-for-ml-pricing-json (MIT by its README) makes of it; anything else is LayoutChanged.

Settings: `url`.

Quirks:

1. A published rate is not an offer: what a block costs on a day is in aws_capacity_blocks. So the rows are marked.
2. The file says when its collector saw the page: that is the moment of the fetch, so that a stale file ages.
3. Rates are of a machine or an UltraServer, next to the rate of one chip, which has three decimals: a rate
   that is not the chip's times their number, within that rounding, is refused. For months u-p6e-gb200x72 were listed at
   10.582, a chip's rate, in place of 761.904.
4. Local Zones are listed by the name of their zone (us-east-1-dfw-2a): the region is its parent, as their names do not
   give the Region Code of the price list. The region "unknown", a failure of the collector, is refused.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from extract.aws import places, reading
from extract.aws.reading import Layout, plain_number
from extract.base import Context, Parsed, Source
from warehouse.documents import Document, ScopeFetch

NAME = "aws_capacity_block_rates"
LAYOUT = Layout(NAME)
URL = "https://raw.githubusercontent.com/koyakimu/ec2-capacity-blocks-for-ml-pricing-json/main/data/pricing.json"
SCOPE = "published"
CONDITIONS = "published rate"
ROUNDING = Decimal("0.001")
"""The last decimal of a chip's rate, which the page rounds (0.596 for 9.532 / 16) or cuts (1.845 for 14.7663 / 8)."""
_PLACE = re.compile(r"([a-z]{2}(?:-[a-z]+)+?-\d)(-[a-z]+-\d+[a-z])?")


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the one table."""
    return (SCOPE,)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a fetch of the table, as of when its collector saw it; raise Unavailable, SourceError or LayoutChanged."""
    url = places.url_in(ctx.settings, "url", URL, source=NAME)
    answer = ctx.web.get(url)
    seen_at = _seen_at(_content(answer.body))
    document = Document(
        source=NAME,
        scope=scope,
        url=url,
        body=answer.body,
        fetched_at=ctx.now(),
        status=answer.status,
        content_type=answer.content_type,
        published_at=seen_at,
    )
    return ScopeFetch(
        source=NAME, scope=scope, observed_at=min(seen_at, ctx.now()), complete=True, documents=(document,)
    )


def parse(document: Document) -> Parsed:
    """Return the rates of the table; those that contradict themselves as text that the row gate refuses."""
    rows = list(_rows(_content(document.body)))
    if not rows:
        raise LAYOUT.refusal("no rate in the whole table", "instance_types")
    return reading.parsed(rows, sort=("instance_type", "region_id", "availability_zone"))


def _content(body: bytes) -> dict[str, Any]:
    if body.lstrip().startswith(b"<"):
        raise LAYOUT.refusal("expected the collector's JSON, found HTML, which this source cannot read", body)
    content = dict(LAYOUT.mapping(LAYOUT.json(body, "the collector's answer", numbers=str), "body"))
    if not {"metadata", "instance_types"} <= content.keys():
        raise LAYOUT.refusal("expected an object with metadata and instance_types", body)
    return content


def _seen_at(content: dict[str, Any]) -> datetime:
    try:
        at = datetime.fromisoformat(content["metadata"]["last_updated"])
    except (KeyError, TypeError, ValueError) as error:
        raise LAYOUT.refusal("the table says not when it was seen", content.get("metadata")) from error
    return at.replace(tzinfo=at.tzinfo or UTC)


def _rows(content: dict[str, Any]) -> Iterator[dict[str, object]]:
    try:
        for instance_type, machine in content["instance_types"].items():
            for place in machine["pricing"]:
                code, label = place["region_code"], place["region"]
                found = _PLACE.fullmatch(code)
                yield reading.offer(
                    instance_type,
                    "capacity_block",
                    region_id=found[1] if found else None,
                    availability_zone=code if found and found[2] else None,
                    conditions=CONDITIONS if found else f"{CONDITIONS}, region {code!r} ({label})",
                    pricing_currency="USD",
                    unit_price=_rate(
                        str(place["hourly_rate_usd"]),
                        str(place["accelerator_hourly_rate_usd"]),
                        str(machine["accelerator_count"]),
                    ),
                )
    except (KeyError, TypeError, AttributeError) as error:
        raise LAYOUT.refusal(f"another layout: {error!r}", "instance_types") from error


def _rate(hourly: str, chip: str, count: str) -> str:
    """Return the rate as plain text; with the sum that it fails, where it is not the chip's rate times their number."""
    try:
        rate, chip_rate, chips = Decimal(hourly), Decimal(chip), Decimal(count)
        fits = abs(rate - chip_rate * chips) <= ROUNDING * chips
    except ArithmeticError:  # no number, or one beyond all sense
        fits = False
    return plain_number(hourly) if fits else f"{hourly}, which is not {count} x {chip}"


SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="AWS EC2 Capacity Block rates, as published",
    url="https://aws.amazon.com/ec2/capacityblocks/pricing/",
    terms_url="https://aws.amazon.com/terms/",
    max_age=timedelta(days=7),
    scopes=scopes,
    fetch=fetch,
    parse=parse,
    settings=("url",),
)
