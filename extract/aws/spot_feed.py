"""AWS's public spot feeds: one price for each type and region, and the spot advisor's savings and interruptions.

No credentials. What is behind https://aws.amazon.com/ec2/spot/pricing/ and
https://aws.amazon.com/ec2/spot/instance-advisor/ , under the AWS Site Terms, https://aws.amazon.com/terms/ . Neither is
documented; the addresses are those of alexei-led/spotinfo (Makefile). Two scopes: `prices` and `advisor`.

Settings: `prices_url`, `advisor_url`.

Quirks:

1. The price is of a region: which of its zones, or which mean of them, nobody says. So the rows are marked as such, and
   the zones of aws_spot are believed before them.
2. Older price feeds have six regions by names from before Region Codes (us-east, apac-tokyo), and one Local Zone by its
   zone's name: `REGIONS`. That of 2026 has Local Zones by Region Codes of their own (us-west-2-lax-1), like the price
   list. Other names are reported and refused.
3. "N/A*" means that the type is not offered; small prices may be written 9.0E-4.
4. Older addresses give JSONP, `callback({...});`, in place of JSON.
5. The advisor names its bands by their place in a table of its own, whose labels are kept ("<5%"). A saving may be
   negative: spot has been dearer than on-demand (-62, seen 2025-06-28).
6. Neither states a date: they are of the moment at which they were read.
7. One file has all regions. One that lacks a region of which there are prices says nothing of the offers there.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from extract.aws import places, reading
from extract.aws.reading import NO_KNOWN_PRICES, Layout, plain_number
from extract.base import Context, Parsed, Source, fact_frame, no_scope, url_in
from warehouse.documents import Document, ScopeFetch
from warehouse.reference.instance_types import ACCELERATOR_TYPE

NAME = "aws_spot_feed"
LAYOUT = Layout(NAME)
PRICES_URL = "https://website.spot.ec2.aws.a2z.com/spot.json"
ADVISOR_URL = "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json"
URLS = {"prices": ("prices_url", PRICES_URL), "advisor": ("advisor_url", ADVISOR_URL)}
"""The setting and the address of each scope, which succeeds or fails alone."""

REGIONS = {
    "us-east": "us-east-1",
    "us-west": "us-west-1",
    "eu-ireland": "eu-west-1",
    "apac-sin": "ap-southeast-1",
    "apac-syd": "ap-southeast-2",
    "apac-tokyo": "ap-northeast-1",
    "us-west-2-lax-1a": "us-west-2",
}
"""Names of the price feed that are no Region Codes; the last is the zone of a Local Zone of that region."""
ZONES = frozenset({"us-west-2-lax-1a"})
CONDITIONS = "region-level, public spot feed"
NOT_OFFERED = "N/A"
LINUX = "Linux"
MIN_SAVINGS = -10_000
"""Percent; spot has cost more than on demand, and a hundred times as much is another number."""
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d(-[a-z]+-?\d+)*")
_JSONP = re.compile(rb"\s*[A-Za-z_$][\w$.]*\s*\((.*)\)\s*;?\s*", re.DOTALL)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a fetch of one feed, complete unless the prices lack a region; raise Unavailable or SourceError."""
    if scope not in URLS:
        raise no_scope(NAME, scope, URLS)
    setting, default = URLS[scope]
    url = url_in(ctx.settings, setting, default, source=NAME)
    answer = ctx.web.get(url)
    now = ctx.now()
    documents = (answer.document(NAME, scope, now, url=url),)
    doubt = _doubt(ctx, answer.body) if scope == "prices" else ""
    notes = (f"{doubt}, so this feed ends no offer",) if doubt else ()
    return ScopeFetch(source=NAME, scope=scope, observed_at=now, complete=not doubt, documents=documents, notes=notes)


def _doubt(ctx: Context, body: bytes) -> str:
    """Return why a feed may lack regions of AWS with known prices (quirk 7), or nothing; a Local Zone may close."""
    known = ctx.known_prices()
    if known is None:
        return NO_KNOWN_PRICES if ctx.last_observed("prices") else ""
    named = {name.decode() for name in re.findall(rb'"([a-z0-9-]+)"', body)}
    named |= {REGIONS[name] for name in named & (REGIONS.keys() - ZONES)}
    lost = sorted({*known["region_id"]} & places.region_names().keys() - named)
    return f"no region {', '.join(lost)}" if lost else ""


def parse(document: Document) -> Parsed:
    """Return the prices, or the advice, on accelerators that a feed has; raise LayoutChanged."""
    content = _content(document.body)
    return _advice(content) if "spot_advisor" in content else _prices(content)


def _content(body: bytes) -> dict[str, Any]:
    wrapped = None if body.lstrip()[:1] == b"{" else _JSONP.fullmatch(body)
    content = dict(LAYOUT.mapping(LAYOUT.json(wrapped[1] if wrapped else body, "the feed"), "body"))
    if not {"config", "spot_advisor"} & content.keys():
        raise LAYOUT.refusal("expected an object with config or spot_advisor", body)
    return content


# --- prices


def _prices(content: dict[str, Any]) -> Parsed:
    ignored: Counter[str] = Counter()
    unknown: set[str] = set()
    rows = []
    for region, instance_type, system, currency, amount in _cells(content):
        if not ACCELERATOR_TYPE.match(instance_type):
            ignored["not_accelerator"] += 1
        elif system != "linux":
            ignored["other_os"] += 1
        elif amount.startswith(NOT_OFFERED):
            ignored["not_offered"] += 1
        else:
            code = REGIONS.get(region, region if _REGION.fullmatch(region) else None)
            if code is None:
                unknown.add(f"region {region!r}")
            row = reading.offer(
                instance_type,
                "spot",
                region_id=code,
                availability_zone=region if region in ZONES else None,
                conditions=CONDITIONS,
                pricing_currency=currency,
                unit_price=plain_number(amount),
            )
            rows.append(row)
    if not rows:
        raise LAYOUT.refusal("no price of any accelerator", dict(ignored))
    return reading.parsed(rows, sort=("region_id", "instance_type"), ignored=ignored, unknown=unknown)


def _cells(content: dict[str, Any]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield region, type, operating system, currency and amount of each cell, all as the feed has them."""
    try:
        if content["config"]["rate"] != "perhr":
            raise LAYOUT.refusal("expected prices per hour", content["config"]["rate"])
        for region in content["config"]["regions"]:
            for group in region["instanceTypes"]:
                for size in group["sizes"]:
                    for column in size["valueColumns"]:
                        for currency, amount in column["prices"].items():
                            cell = (region["region"], size["size"], column["name"], currency, amount)
                            if not all(isinstance(text, str) for text in cell):
                                raise LAYOUT.refusal("expected text", str(cell))
                            yield cell
    except (KeyError, TypeError, AttributeError) as error:
        raise LAYOUT.refusal(f"another layout: {error!r}", "config") from error


# --- advice


def _advice(content: dict[str, Any]) -> Parsed:
    ignored: Counter[str] = Counter()
    unknown: set[str] = set()
    try:
        bands = {band["index"]: str(band["label"]) for band in content["ranges"]}
        if len(bands) < len(content["ranges"]):
            raise LAYOUT.refusal("two bands of one index", content["ranges"])
        facts = list(_facts(content["spot_advisor"], bands, ignored, unknown))
    except (KeyError, TypeError, AttributeError) as error:
        raise LAYOUT.refusal(f"another layout: {error!r}", "spot_advisor") from error
    if not facts:
        raise LAYOUT.refusal("no advice on any accelerator", dict(ignored))
    frame = fact_frame("spot_advice", facts).sort("region_id", "instance_type")
    return reading.parsed(ignored=ignored, unknown=unknown, facts={"spot_advice": frame})


def _facts(
    regions: dict[str, Any], bands: dict[int, str], ignored: Counter[str], unknown: set[str]
) -> Iterator[dict[str, object]]:
    for region, systems in regions.items():
        for system, types in systems.items():
            for instance_type, advice in types.items():
                if not ACCELERATOR_TYPE.match(instance_type):
                    ignored["not_accelerator"] += 1
                elif system != LINUX:
                    ignored["other_os"] += 1
                else:
                    savings, band = advice["s"], advice["r"]
                    if type(savings) is not int or not MIN_SAVINGS <= savings <= 100:
                        unknown.add(f"savings {savings!r}")
                        savings = None
                    label = bands.get(band) if type(band) is int else None  # true is no 1
                    if label is None:
                        unknown.add(f"interruption band {band!r}")
                    yield {
                        "region_id": REGIONS.get(region, region),
                        "instance_type": instance_type,
                        "operating_system": system,
                        "savings_percent": savings,
                        "interruption_band": label,
                    }


SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="AWS public spot feed and spot advisor, by region",
    url="https://aws.amazon.com/ec2/spot/pricing/",
    max_age=timedelta(days=1),
    scopes=lambda ctx: tuple(URLS),
    fetch=fetch,
    parse=parse,
    settings=("prices_url", "advisor_url"),
)
