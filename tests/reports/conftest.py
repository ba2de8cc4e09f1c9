"""Published files for the tests of pages: the offline archive alone, and four days of a live source with failures."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import kept
import pytest
from chromium import ALONE, executable
from few_marts import published_with
from hostile_site import write_site
from playwright.sync_api import Browser, sync_playwright
from standin import aws, faults, world
from standin.catalogue import Product

from extract import SOURCES
from flows.collect import offline as mixing
from flows.collect.steps import open_run, run
from flows.collect.summary import Summary
from flows.config.settings import Settings
from reports.files import put
from reports.pages import daily_page, sources_page
from reports.queries import opened

TODAY = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
REGIONS = ["cn-north-1", "eu-west-1", "us-east-1", "us-gov-west-1", "us-west-2"]
HOSTILE = "<script>alert(1)</script>"


def days_ago(days: int) -> datetime:
    return TODAY - timedelta(days=days)


def learn(settings: Settings, at: datetime, *, offline: bool = False) -> None:
    """Do a run of a past day without publishing, which only the last one needs."""
    with open_run(settings, clock=lambda: at) as one:
        one.collector.fetch_in_threads(
            one.plan(one.collector.sources(["offline_archive"] if offline else [], offline=offline)), one.land
        )
        one.load()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return Chromium, one for all tests of a module; on CI it must be there."""
    path = executable()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=ALONE)
        yield started
        started.close()


@pytest.fixture(scope="session")
def offline(offline_run: Path) -> Path:
    """Return the published file of a first run over the offline archive."""
    return offline_run / "prices.duckdb"


def what_moved(product: Product) -> Product | None:
    """H100 falls, a type goes, and one comes that nobody knows."""
    if product.instance_type == "g6.xlarge" and product.region == "us-west-2":
        return None
    if product.instance_type == "p5.48xlarge" and faults.is_linux_on_demand(product):
        return product.with_amount("44.0000000000")
    if product.instance_type == "p4d.24xlarge" and product.region == "us-east-1" and faults.is_linux_on_demand(product):
        return product.with_amount("8.0000000000")
    if product.instance_type == "inf2.48xlarge" and product.region == "us-west-2":
        return replace(product, attributes={**product.attributes, "instanceType": "trn9.48xlarge"})
    return product


@pytest.fixture(scope="session")
def live_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory after the archive and three live runs: prices moved, two regions failed, rows refused."""
    return kept.once(tmp_path_factory, "live", make_live)


def make_live(folder: Path) -> None:
    """Do those runs."""
    with pytest.MonkeyPatch.context() as patch, aws.StandIn(world.aws(), world.china()) as standin:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        for name, value in {**standin.environment(), "AWS_MAX_ATTEMPTS": "1"}.items():
            patch.setenv(name, value)
        source = {"access": "api", "bulk_url": standin.url, "regions": REGIONS}
        others = {each.name: {"enabled": False} for each in SOURCES if each.kind == "live"}
        settings = Settings(data_dir=folder, sources=others | {"aws_price_list": source})
        learn(settings, days_ago(40), offline=True)
        # The version before let live prices come beside the archive's, and its directories go on working.
        patch.setattr(mixing, "refuse_mixing", lambda con, sources, folder: None)
        learn(settings, days_ago(10))
        standin.fault("api:GetProducts:us-gov-west-1", faults.INTERNAL_ERROR)
        learn(settings, days_ago(1))
        standin.publish(standin.catalogues["aws"].current.changed("20261120200000", what_moved))
        standin.fault("api:GetProducts:eu-west-1", faults.ApiError("AccessDeniedException", HOSTILE))
        standin.fault("api:GetProducts:us-east-1", faults.amount("g4dn.xlarge", HOSTILE))
        with (
            published_with("mart.price_change", "provider_price", "source_health", "unknown_accelerator"),
            pytest.MonkeyPatch.context() as pages,
        ):
            pages.setattr("flows.collect.publisher.report", pages_of_day)
            run(settings, clock=lambda: TODAY)


def pages_of_day(settings: Settings, summary: Summary, **_: object) -> Path:
    """Write the pages of the newest day and of the sources alone."""
    assert summary.file
    summary.report = settings.data_dir / "reports" / "latest.html"
    with opened(summary.file) as published:
        put(summary.report, *daily_page.render(daily_page.read(published), [summary.report.name]))
        put(summary.report.with_name(sources_page.PLACE), sources_page.render(published))
    return summary.report


@pytest.fixture(scope="session")
def live(live_data: Path) -> Path:
    """Return the published file of `live_data`."""
    return live_data / "prices.duckdb"


@pytest.fixture(scope="session")
def offline_page(offline: Path) -> Path:
    """Return the daily page of the offline archive, among all pages of its site, as the run wrote them."""
    return offline.parent / "reports" / "latest.html"


@pytest.fixture(scope="session")
def live_page(live: Path) -> Path:
    """Return the daily page of the live file, beside that of the sources, as the run wrote them."""
    return live.parent / "reports" / "latest.html"


@pytest.fixture(scope="session")
def hostile_reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return all pages of a market in which every word from outside is hostile; its file lies above them."""
    return kept.once(tmp_path_factory, "hostile", write_site) / "reports"
