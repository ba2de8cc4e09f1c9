"""`chipledger collect` on a machine without AWS credentials: what it gives, and what it says they would add."""

import functools
import gzip
import json
import os
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from few_marts import published_with
from standin import aws
from standin.catalogue import Catalogue

from extract import SOURCES, source_named
from flows.cli.main import main
from flows.collect.collector import Collector, LogState, utc_now
from flows.config.settings import read
from warehouse.schema.tables import IDENTITY

LEFT_OUT = ("aws_spot", "aws_capacity_blocks", "aws_instance_types")
OTHERS = [source.name for source in SOURCES if source.kind == "live" and source.provider != "AWS"] + ["aws_price_pages"]
FEEDS = {
    "spot.json": "spot_js_prices_20210406.json.gz",
    "advisor.json": "spot_advisor_data_20250628.json.gz",
    "rates.json": "capacity_block_published_rates_20260722.json",
}


class Quiet(SimpleHTTPRequestHandler):
    """A plain file server that writes no log."""

    def log_message(self, *_: object) -> None:
        pass


def take_credentials_away(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Leave no keys, no files and no metadata service that boto3 could find, and no settings of this machine."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "CHIPLEDGER_"))]:
        patch.delenv(name)
    patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    patch.setenv("AWS_CONFIG_FILE", str(home / "no-aws-config"))
    patch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(home / "no-aws-credentials"))
    patch.setenv("HOME", str(home))
    patch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(scope="module")
def feeds(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a plain server of the saved feeds, unpacked."""
    folder = tmp_path_factory.mktemp("feeds")
    for name, sample in FEEDS.items():
        body = (shared / "data" / "aws_samples" / sample).read_bytes()
        (folder / name).write_bytes(gzip.decompress(body) if sample.endswith(".gz") else body)
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def collected(
    catalogues: tuple[Catalogue, Catalogue], feeds: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Result, Path, list[str]]:
    """Return what one `collect` printed, its data directory, and the methods that the stand-in for AWS was asked by."""
    folder = tmp_path_factory.mktemp("collect")
    with pytest.MonkeyPatch.context() as patch, aws.StandIn(*catalogues) as standin:
        take_credentials_away(patch, folder)
        (folder / "chipledger.toml").write_text(
            "".join(f"[sources.{name}]\nenabled = false\n" for name in OTHERS)
            + f'[sources.aws_price_list]\nbulk_url = "{standin.url}"\n'
            f'[sources.aws_savings_plans]\nbulk_url = "{standin.url}"\nregions = ["us-east-1"]\n'
            f'[sources.aws_spot_feed]\nenabled = true\nprices_url = "{feeds}/spot.json"\n'
            f'advisor_url = "{feeds}/advisor.json"\n'
            f'[sources.aws_capacity_block_rates]\nurl = "{feeds}/rates.json"\n'
        )
        words = ["--data-dir", str(folder), "--settings", str(folder / "chipledger.toml"), "collect"]
        with published_with("aws_purchase_options"):
            result = CliRunner().invoke(main, words)
        return result, folder, [request.method for request in standin.seen()]


@pytest.fixture
def published(collected: tuple[Result, Path, list[str]]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return the published file, open for reading."""
    with duckdb.connect(str(collected[1] / "prices.duckdb"), read_only=True) as con:
        yield con


def test_collect_goes_well(collected: tuple[Result, Path, list[str]]) -> None:
    """The exit code is 0, the file is named, and no source is called stale."""
    result, folder, _ = collected
    assert result.exit_code == 0, result.output
    assert f"file: {folder / 'prices.duckdb'}" in result.stdout
    assert "no fresh prices" not in result.stdout


def test_nothing_is_asked_of_the_api(collected: tuple[Result, Path, list[str]]) -> None:
    """All requests to AWS are plain readings of public files."""
    assert set(collected[2]) == {"GET"}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_credentials_would_add_is_said(collected: tuple[Result, Path, list[str]], name: str) -> None:
    """Each source that needs them is named with what it is, the reason, and what to do."""
    (line,) = (line for line in collected[0].stdout.splitlines() if line.startswith(f"note: {name} is left out"))
    assert source_named(name).title in line
    assert "Unable to locate credentials" in line
    assert "Give credentials that may call ec2:" in line


def test_sources_left_out_are_no_failures(published: duckdb.DuckDBPyConnection) -> None:
    """They have no look, and those that need none have good looks only."""
    looks = published.execute("select distinct source, status from core.scope_run order by all").fetchall()
    assert {source for source, _ in looks} == {
        "aws_capacity_block_rates", "aws_price_list", "aws_savings_plans", "aws_spot_feed",
    }  # fmt: skip
    assert not {status for _, status in looks} & {"failed", "refused"}


def test_a_source_knows_the_regions_of_its_last_prices(collected: tuple[Result, Path, list[str]]) -> None:
    """The next feed is compared with them: the regions of accelerators in the feed of 2021."""
    settings = read(data_dir=collected[1])
    collector = Collector(settings, settings.landing(), LogState(), utc_now, print)

    known = collector.context(source_named("aws_spot_feed")).known_prices()

    assert known is not None
    assert set(known["region_id"]) == {"us-east-1", "us-east-2", "us-west-1", "eu-west-1", "ap-southeast-2"}
    without = collector.context(source_named("spheron")).known_prices()
    assert without is not None
    assert without.is_empty()
    absent = settings.model_copy(update={"data_dir": settings.data_dir / "none"})
    assert Collector(absent, absent.landing(), LogState(), utc_now, print).known_prices(source_named("spheron")) is None


def test_what_a_source_no_longer_shows_is_not_expected_for_ever(tmp_path: Path) -> None:
    """A region that AWS closed, or a rate that it no longer sells: for a month its absence is doubted."""
    with duckdb.connect(str(tmp_path / "prices.duckdb")) as con:
        con.execute("create schema core; create schema int")
        con.execute(f"create table core.offer ({', '.join(f'{name} varchar' for name in IDENTITY)}, offer_id varchar)")
        con.execute("insert into core.offer (offer_id, region_id) values ('a', 'us-east-1'), ('b', 'us-west-1')")
        con.execute(
            "create table int.price_history as select *, 1.5 as unit_price, null::timestamp as valid_to, "
            "'aws_spot_feed' as source from (values ('a', timestamp '2026-11-01'), ('b', timestamp '2026-10-03')) "
            "as p (offer_id, last_observed_at)"
        )
    settings = read(data_dir=tmp_path)
    collector = Collector(settings, settings.landing(), LogState(), utc_now, print)

    def known() -> list[str]:
        found = collector.known_prices(source_named("aws_spot_feed"))
        assert found is not None
        return sorted(found["region_id"].to_list())

    assert known() == ["us-east-1", "us-west-1"]
    with duckdb.connect(str(tmp_path / "prices.duckdb")) as con:
        con.execute("update int.price_history set last_observed_at = '2026-11-03' where offer_id = 'a'")
    assert known() == ["us-east-1"]


def test_every_kind_but_those_of_the_api_has_prices(published: duckdb.DuckDBPyConnection) -> None:
    """On demand, Reserved, plans, spot of the region, published rates; each from the source that is meant."""
    found = published.execute(
        "select purchase_option, commitment_discount_type, conditions, source from int.aws_purchase_options "
        "where effective_hourly_price is not null and region_id = 'us-east-1' and instance_type not like 'ml.%' "
        "group by all order by all"
    ).fetchall()
    assert set(found) == {
        ("on_demand", None, None, "aws_price_list"),
        ("reserved", None, None, "aws_price_list"),
        ("savings_plan", "Compute", None, "aws_savings_plans"),
        ("savings_plan", "EC2Instance", None, "aws_savings_plans"),
        ("spot", None, "region-level, public spot feed", "aws_spot_feed"),
        ("capacity_block", None, "published rate", "aws_capacity_block_rates"),
    }


def test_p5_in_virginia(published: duckdb.DuckDBPyConnection) -> None:
    """The list price and the published rate of one machine; spot is blank, with what it takes."""
    rows = published.execute(
        "select purchase_option, effective_hourly_price::double, unknown_reason from int.aws_purchase_options "
        "where instance_type = 'p5.48xlarge' and region_id = 'us-east-1' "
        "and purchase_option in ('on_demand', 'capacity_block', 'spot') order by all"
    ).fetchall()
    assert [row[:2] for row in rows] == [("capacity_block", 41.528), ("on_demand", 55.04), ("spot", None)]
    assert "AWS credentials with ec2:DescribeSpotPriceHistory" in rows[2][2]


def test_a_stale_file_of_published_rates_is_not_current(published: duckdb.DuckDBPyConnection) -> None:
    """The look is fresh, what it saw is of July 2026: the table states that itself."""
    rows = published.execute(
        "select distinct last_observed_at::date::varchar, is_current from int.aws_purchase_options "
        "where source = 'aws_capacity_block_rates' and effective_hourly_price is not null"
    ).fetchall()
    assert rows == [("2026-07-22", False)]


@pytest.mark.parametrize("regions", [(), ("--regions", "us-east-1")])
def test_json_says_the_same_of_the_sources_left_out(
    collected: tuple[Result, Path, list[str]], monkeypatch: pytest.MonkeyPatch, regions: tuple[str, ...]
) -> None:
    """`--json` has the notes too, for a single source that was asked for by name, also of regions that were named."""
    folder = collected[1]
    take_credentials_away(monkeypatch, folder)
    words = ["--data-dir", str(folder), "collect", "--json", "--source", "aws_spot", *regions]
    result = CliRunner().invoke(main, words)
    summary = json.loads(result.stdout)
    assert result.exit_code == 1
    assert summary["file"] is None
    (note,) = summary["notes"]
    assert note.startswith("aws_spot is left out")
