"""Every registered source as something that can be harmed: what it is asked through, and what it should be answered."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from neoclouds.case import cases
from neoclouds.servers import ROBOTS, Site, keys
from standin import aws
from standin.exchange import NOT_FOUND, Answer

from extract import source_named
from extract.aws import price_pages
from extract.base import Context
from faults.other_doors import other_doors
from faults.subject import Subject, ends, fixed, says
from faults.table import Fault
from faults.tls import certified
from faults.wire import FaultServer, Pick, Spoil

MOMENT = datetime(2026, 11, 20, 6, 0, tzinfo=UTC)
ECB = b"""<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"
 xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<gesmes:subject>Reference rates</gesmes:subject>
<gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>
<Cube><Cube time='2026-09-24'>
<Cube currency='USD' rate='1.1367'/>
<Cube currency='GBP' rate='0.85986'/>
<Cube currency='CNY' rate='7.6302'/>
</Cube></Cube>
</gesmes:Envelope>
"""
"""Rates of 2026-09-24 (https://www.ecb.europa.eu/stats/eurofxref/, accessed on 2026-11-21); others are left out."""
FEED = b"""{"vers": 0.01, "config": {"rate": "perhr", "regions": [{"region": "us-east-1", "instanceTypes": [
{"type": "gpuCurrentGen", "sizes": [{"size": "p5.48xlarge", "valueColumns": [
{"name": "linux", "prices": {"USD": "31.4640"}}]}]}]}]}}"""
"""Invented: one price in the feed's format."""
ADVICE = b"""{"global_rate": "<10%", "ranges": [{"index": 0, "label": "<5%", "dots": 0, "max": 5}],
"instance_types": {"p5.48xlarge": {"emr": true, "cores": 192, "ram_gb": 2048.0}},
"spot_advisor": {"us-east-1": {"Linux": {"p5.48xlarge": {"s": 51, "r": 0}}}}}"""
"""Invented: the advice on one machine in the feed's format."""
RATES = b"""{"metadata": {"last_updated": "2026-11-19T07:14:56Z"}, "instance_types": {"p5.48xlarge":
{"accelerator_count": 8, "pricing": [{"region": "US East (N. Virginia)", "region_code": "us-east-1",
"hourly_rate_usd": 31.464, "accelerator_hourly_rate_usd": 3.933}]}}}"""
"""The rate of p5.48xlarge (https://aws.amazon.com/ec2/capacityblocks/pricing/, as collected on 2026-07-22)."""


MAP = b"""{"manifest": {}, "regions": {"US East (N. Virginia)": {"p5 48xlarge": {"Instance Type": "p5.48xlarge",
"price": "55.0400000000", "Pre Installed S/W": "NA", "rateCode": "3D4V8UAYEMB38GU2.JRTCKXETXF.6YS6EN2CT7"}}}}"""
"""The price of p5.48xlarge behind AWS's price page, as captured on 2026-10-05."""


NOT_ASKED = dict.fromkeys(
    ("offline_archive", "price_archive"), "reads files of the package; no address is ever asked"
) | {"gpuhunt": "is used no more, and asks no address: a fetch is refused (test_gpuhunt.test_it_is_used_no_more)"}
"""Registered sources that no fault of this table can befall, and why."""


@cache
def standin() -> aws.StandIn:
    """Return the stand-in for AWS, asked without a server of its own; EC2 allows a query after a tenth of a second."""
    found = aws.StandIn()
    found.cloud.block_refill_per_s = 10  # less than `probe.quick` lets be waited for
    return found


def endpoint(service: str) -> Callable[[str], dict[str, str]]:
    return lambda base: {f"AWS_ENDPOINT_URL_{service}": base}


def _feed_at(setting: str) -> Callable[[str], dict[str, Any]]:
    return lambda base: {setting: base + "/feed.json"}


def _ec2_asks(more: Mapping[str, object]) -> Callable[[str], dict[str, Any]]:
    return lambda base: {"regions": ["us-east-2"], **more}


def _map_alone(method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[Answer, Callable[[], None]]:
    """Answer on demand, whatever the region; there are no reservations and plans."""
    region = re.search(r"/ec2-ondemand-without-sec-sel/([^/]+)/", path)
    if region is None and path != ROBOTS:
        return NOT_FOUND, _nothing
    told = MAP if region is None else MAP.replace(b"US East (N. Virginia)", unquote(region[1]).encode())
    return fixed(told, "application/json")(method, path, headers, body)


def _nothing() -> None:
    """Do nothing where an answer is sent."""


@cache
def subjects() -> tuple[Subject, ...]:
    """Return the ways through all sources that ask an address."""
    amazon = standin()._handle
    found = [
        Subject(
            name="aws_price_list (api)", source=source_named("aws_price_list"), scope="us-west-2", body="json",
            door="boto3", server="pricing", handle=amazon, environment=endpoint("PRICING"),
            settings=lambda base: {"access": "api", "regions": ["us-west-2"]},
        ),
        Subject(
            name="aws_price_list (index)", source=source_named("aws_price_list"), scope="us-west-2", body="csv index",
            server="price files", handle=amazon, mine=ends("index.json"),
            settings=lambda base: {"access": "bulk", "regions": ["us-west-2"], "bulk_url": base},
        ),
        Subject(
            name="aws_price_list (file)", source=source_named("aws_price_list"), scope="us-west-2", body="csv",
            door="stream", server="price files", handle=amazon, mine=ends(".csv"),
            settings=lambda base: {"access": "bulk", "regions": ["us-west-2"], "bulk_url": base},
        ),
        Subject(
            name="aws_savings_plans (api)", source=source_named("aws_savings_plans"), scope="us-west-2", body="json",
            door="boto3", server="savings", handle=amazon, environment=endpoint("SAVINGSPLANS"),
            settings=lambda base: {"access": "api", "regions": ["us-west-2"]},
        ),
        Subject(
            name="aws_savings_plans (index)", source=source_named("aws_savings_plans"), scope="us-west-2",
            body="csv index", server="savings files", handle=amazon, mine=ends("index.json"),
            settings=lambda base: {"access": "bulk", "regions": ["us-west-2"], "bulk_url": base},
        ),
        Subject(
            name="aws_savings_plans (file)", source=source_named("aws_savings_plans"), scope="us-west-2", body="csv",
            door="stream", server="savings files", handle=amazon, mine=ends(".csv"),
            settings=lambda base: {"access": "bulk", "regions": ["us-west-2"], "bulk_url": base},
        ),
        *(
            Subject(
                name=name, source=source_named(name), scope="us-east-2", body="xml", door="boto3", server="ec2",
                handle=amazon, environment=endpoint("EC2"), mine=says(operation),
                settings=_ec2_asks(more),
            )
            for name, operation, more in (
                ("aws_spot", b"DescribeSpotPriceHistory", {}),
                ("aws_capacity_blocks", b"DescribeCapacityBlockOfferings", {"instance_types": ["p5.48xlarge"]}),
                ("aws_instance_types", b"DescribeInstanceType", {}),
            )
        ),
        *(
            Subject(
                name=f"aws_spot_feed ({scope})", source=source_named("aws_spot_feed"), scope=scope, body="json",
                server=f"feed {scope}", handle=fixed(body, "application/json"),
                settings=_feed_at(f"{scope}_url"),
            )
            for scope, body in (("prices", FEED), ("advisor", ADVICE))
        ),
        Subject(
            name="aws_capacity_block_rates", source=source_named("aws_capacity_block_rates"), scope="published",
            body="json", handle=fixed(RATES, "application/json"), settings=lambda base: {"url": base + "/pricing.json"},
        ),
        Subject(
            name="aws_price_pages", source=source_named("aws_price_pages"), scope="us-west-2", body="json",
            handle=_map_alone, mine=lambda path, headers, body: "ondemand" in path, settings=lambda base: {},
            prepare=lambda base, folder, patch: patch.setattr(price_pages, "ROOT", f"{base}/"),
        ),
        Subject(
            name="ecb_rates", source=source_named("ecb_rates"), scope="euro", body="xml",
            handle=fixed(ECB, "text/xml"), settings=lambda base: {"url": base + "/eurofxref-daily.xml"},
        ),
        *map(_neocloud, cases()),
        *other_doors(amazon),
    ]  # fmt: skip
    return tuple(found)


def _neocloud(case: Any) -> Subject:
    site = Site(case=case)
    site.server.server_close()  # its answers are wanted, not its port
    path = urlsplit(case.source.url).path
    own = {name: value for name, value in site.settings.items() if name != "url"}

    def settings(base: str) -> dict[str, Any]:
        return {**own, "url": base + path}

    return Subject(
        name=site.name, source=case.source, scope=_scope(site),
        body="html" if case.fixture.endswith(".html") else "json", handle=site._handle, settings=settings,
        environment=lambda base: keys([case]),
    )  # fmt: skip


def _scope(site: Site) -> str:
    ctx = Context(web=None, settings={**site.settings}, now=lambda: MOMENT)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DIGITALOCEAN_TOKEN", raising=False)
        for name, value in keys([site.case]).items():
            patch.setenv(name, value)
        return site.case.source.scopes(ctx)[0]


@dataclass(kw_only=True)
class Lab:
    """All servers, and the fault that is on."""

    servers: dict[str, FaultServer] = field(default_factory=dict)

    def server(self, subject: Subject) -> FaultServer:
        return self.servers[subject.server or subject.name]

    def wrong(self, harms: Mapping[str, Fault]) -> None:
        """Let faults befall subjects, by name, and no others."""
        for name, server in self.servers.items():
            server.wrong(_pick([each for each in subjects() if (each.server or each.name) == name], harms))


def _pick(group: Sequence[Subject], harms: Mapping[str, Fault]) -> Pick | None:
    harmed = [(each, harms[each.name]) for each in group if each.name in harms]

    def pick(path: str, headers: Mapping[str, str], body: bytes) -> Spoil | None:
        return next((fault.spoil for each, fault in harmed if each.strikes(fault, path, headers, body)), None)

    return pick if harmed else None


@contextmanager
def lab() -> Iterator[Lab]:
    """Give a running server for each subject or group of them."""
    made = Lab()
    with ExitStack() as stack:
        for subject in subjects():
            name = subject.server or subject.name
            if name not in made.servers:
                tls = certified("tls good") if subject.is_secure else None
                made.servers[name] = stack.enter_context(FaultServer(handle=subject.handle, tls=tls))
        yield made
