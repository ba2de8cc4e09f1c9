"""Many regions side by side, with every fault switched on: the short form of bench/collect_regions.py."""

import functools
from pathlib import Path
from types import ModuleType

import pytest
from scripts import script
from standin import aws

pytestmark = pytest.mark.usefixtures("least_marts", "log_alone")

ROOT = Path(__file__).parents[2]
AT_LENGTH = [pytest.param(door, marks=pytest.mark.prove) for door in ("aws_price_list api", "aws_spot")]


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """Return the bench, loaded by path as it is no package."""
    return script("bench/collect_regions.py")


@pytest.fixture
def quick(standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every request be tried twice, with hardly a pause."""
    from extract.web.http import HttpWeb, Retries

    soon = Retries(attempts=2, pause_s=0.001)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.001)
    monkeypatch.setattr("botocore.retries.adaptive.ClientRateLimiter.on_sending_request", lambda *_, **__: None)
    monkeypatch.setattr("extract.web.http.STREAM_RETRIES", soon)
    monkeypatch.setattr("extract.web.http.HttpWeb", functools.partial(HttpWeb, retries=soon))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("door", ["aws_price_list bulk", *AT_LENGTH])
def test_failing_regions_are_named_and_the_others_complete(
    bench: ModuleType, standin: aws.StandIn, tmp_path: Path, door: str
) -> None:
    """Five of twelve regions fail and are named; of the others every price is there, once."""
    standin.latency = 0.02
    plan = bench.prepare(standin, door, bench.regions(12), slow_s=0.1)

    outcome = bench.collect(standin, door, plan, tmp_path / "data", workers=12)

    assert outcome.wrong == ()
    assert {result.scope for result in outcome.summary.failed} == set(plan.failing)
    assert (len(plan.regions), len(plan.failing)) == (12, 5)


def test_what_is_lost_or_doubled_is_seen(bench: ModuleType) -> None:
    """The comparison itself tells a missing price, one that is there twice, and an empty catalogue."""
    one, other = ("us-east-1", "p5.48xlarge", "", 1), ("us-west-2", "p5.48xlarge", "", 1)

    assert bench.differences([one, other], [other, one]) == []
    assert bench.differences([one], [one, other]) == [f"1 of 2 prices lost, such as {other}"]
    assert bench.differences([one, one], [one]) == [f"1 prices too many, such as {one}"]
    assert bench.differences([], []) == ["nothing was expected"]
