"""EC2's number of chips against the reference table: where they differ, the prices of that type are held."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from few_marts import published_with
from published import query
from standin import aws, ec2_cloud

from extract import SOURCES
from flows.collect import steps
from flows.collect.summary import Summary
from flows.config.settings import Settings

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
TYPE = "p5.48xlarge"
CHECK = "select n_compared > 1, n_differing, result, example from int.truth_check where check_name = 'chip_count'"


def answered(standin: aws.StandIn, count: int) -> None:
    """Let EC2 answer that the type has so many chips."""
    others = [each for each in ec2_cloud.MACHINES if each["InstanceType"] != TYPE]
    machine = ec2_cloud.machine(TYPE, GpuInfo=ec2_cloud.gpus("H100", count, 81920))
    standin.cloud.change("us-east-1", machines=(*others, machine))


def collected(standin: aws.StandIn, data_dir: Path, at: datetime, *, publish: bool = False) -> Summary:
    sources: dict[str, dict[str, object]] = {
        source.name: {"enabled": False} for source in SOURCES if source.kind == "live"
    }
    sources["aws_price_list"] = {"access": "bulk", "bulk_url": standin.url, "regions": ["us-east-1"]}
    sources["aws_instance_types"] = {"regions": ["us-east-1"]}
    settings = Settings(data_dir=data_dir, sources=sources)
    with published_with("truth_check", least=()), steps.open_run(settings, clock=lambda: at) as run:
        run.collect()
        run.load()
        if publish:
            run.publisher.publish()
        return run.summary


def prices(data_dir: Path, *, of_type: bool = True) -> int:
    """Return the number of current prices of the type, or of all others."""
    known = "core.price_known_at(TIMESTAMP '9999-01-01')"
    sql = f"select count(*) from {known} join core.offer using (offer_id) where (instance_type = ?) = ?"
    with duckdb.connect(str(data_dir / "build.duckdb"), read_only=True) as con:
        ((count,),) = con.execute(sql, [TYPE, of_type]).fetchall()
    return int(count)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("is_published", [False, pytest.param(True, marks=pytest.mark.prove)])
def test_prices_are_held_where_ec2_gives_another_number_of_chips(
    standin: aws.StandIn, tmp_path: Path, is_published: bool
) -> None:
    """All prices of that type wait in the quarantine with the reason, the others are stored; the summary names the
    type. As soon as both numbers agree, the prices are stored.

    Where it is published, the truth check names the type, too: that it does, tests/transform asks of a small file.
    """
    answered(standin, 4)
    summary = collected(standin, tmp_path, NOW, publish=is_published)
    reasons = query(tmp_path / "build.duckdb", "select distinct gate, reason, decision from core.quarantine")

    assert prices(tmp_path) == 0
    assert reasons == [("batch", "p5.48xlarge in us-east-1: accelerator_count is 8 in the table, 4 in the API", None)]
    assert prices(tmp_path, of_type=False) > 0
    assert any("accelerator_count is 8 in the table, 4 in the API" in note for note in summary.notes)
    if is_published:
        assert query(tmp_path / "prices.duckdb", CHECK) == [
            (True, 1, "differs", "p5.48xlarge in us-east-1: 8 chips in the table, 4 in EC2's answer")
        ]
        assert any("chip_count" in line for line in summary.truth)

    answered(standin, 8)
    again = collected(standin, tmp_path, NOW + timedelta(days=1))

    assert prices(tmp_path) > 0
    assert not [note for note in again.notes if "accelerator_count" in note]
