"""What a training costs: the worked points, numbers of one's own, and what is assumed where nothing was measured."""

from pathlib import Path

import duckdb
import pytest
from cost_file import P5, TRN1, lines, values
from cost_world import cost_files


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cost_files(tmp_path_factory)["before"]


@pytest.mark.parametrize(
    ("instance_type", "option", "chips", "rate", "cost", "share"),
    [
        (P5, "on_demand", 256, 815.6, 2.34, 0.43),
        (TRN1, "on_demand", 512, 58.4, 6.39, 0.16),
        (TRN1, "capacity_block", 512, 58.4, 2.83 / (1 - 0.5 / 24), 0.16),  # its last 30 minutes are paid, too
    ],
)
def test_worked_points(
    file: Path, instance_type: str, option: str, chips: int, rate: float, cost: float, share: float
) -> None:
    """GPT-3 175B at list prices, as worked out by hand before; shares are of the fastest dense peak, by 6N."""
    (line,) = lines(
        file,
        f"from int.training_cost where model_name = 'gpt-3-175b' and instance_type = '{instance_type}' and "
        f"purchase_option = '{option}' and accelerator_count = {chips} and median_rate > {rate} - 0.1",
    )

    assert line["median_rate"] == pytest.approx(rate, abs=0.05)
    assert line["usd_per_million_tokens_median"] == pytest.approx(cost, abs=0.005)
    assert line["share_of_bound"] == pytest.approx(share, abs=0.005)
    assert line["training_usd_median"] == pytest.approx(line["usd_per_million_tokens_median"] * 1e6)
    assert line["training_days"] == pytest.approx(1e12 / (line["median_rate"] * chips) / 86400)


def test_overhead_goodput_and_idle_time_are_charged_once(file: Path) -> None:
    """300 billion tokens with 5 % overhead, 90 % goodput, and a block used for 80 % of its hours."""
    (line,) = lines(
        file,
        "from mart.training_run_cost('gpt3-175b', 300e9, 0.05, 0.9, 0.8, 0.5, null, 'bf16') where "
        f"instance_type = '{TRN1}' and purchase_option = 'capacity_block' and median_rate > 58",
    )

    million = 9.532 / 16 / 0.8 / (1 - 0.5 / 24) * 1e6 * 1.05 / (3600 * line["median_rate"] * 0.9)
    assert line["usd_per_million_tokens_median"] == pytest.approx(million)
    assert line["training_usd_median"] == pytest.approx(million * 300e3)
    assert line["training_days"] == pytest.approx(300e9 * 1.05 / (line["median_rate"] * 512 * 0.9) / 86400)


@pytest.mark.parametrize(("tokens", "charged_days"), [(30e9, 12), (30.99e9, 13), (40e9, 21)])
def test_a_block_of_a_training_alone_is_paid_whole(file: Path, tokens: float, charged_days: int) -> None:
    """With its last 30 minutes, in whole days up to 14, then in whole weeks, as `decide` does."""
    (line,) = lines(
        file,
        f"from mart.training_run_cost('gpt3-175b', {tokens}, 0, 1, null, 1, null, 'bf16') where "
        f"instance_type = '{TRN1}' and purchase_option = 'capacity_block' and median_rate > 58",
    )

    assert line["training_days"] <= charged_days - 1 / 48
    assert line["training_usd_median"] == pytest.approx(512 * 9.532 / 16 * 24 * charged_days)


def test_what_is_assumed_is_graded_d_and_never_ranked(file: Path) -> None:
    """40 % of the BF16 peak of 989 TFLOP/s, 6 operations a parameter; 16 bytes a parameter need 15 H100, so 16."""
    found = lines(file, "from mart.training_run_cost('llama-3-70b', 300e9, 0, 1, 1, 1, 0.4, 'bf16') "
                    "where benchmark_family = 'assumed'")  # fmt: skip
    (h100,) = [line for line in found if line["instance_type"] == P5 and line["purchase_option"] == "on_demand"]

    rate = 0.4 * 989e12 / (6 * 70553706496)
    assert h100["median_rate"] == pytest.approx(rate, rel=1e-3)
    assert h100["usd_per_million_tokens_median"] == pytest.approx(6.88e6 / 3600 / rate, rel=1e-3)
    assert h100["accelerator_count"] == 16
    assert {(line["evidence_grade"], line["is_ranked"], line["cost_rank"]) for line in found} == {("D", False, None)}
    assert not any(line["unit_accelerators"] == 1 for line in found)  # one chip alone does not hold it
    (none,) = values(file, "select count(*) from mart.training_run_cost('gpt-3-175b', 1e9, 0, 1, 1, 1, null, 'bf16') "
                    "where evidence_grade = 'D'")[0]  # fmt: skip
    assert none == 0


def test_a_frozen_base_has_its_own_bound(file: Path) -> None:
    """6,000 tokens/s of a 70B model on one H100 break the bound of training, and not that of training adapters."""
    own = "from int.throughput where source = 'benchmark:us' and task = 'training'"
    found = dict(values(file, f"select scenario, evidence_grade {own}"))
    share = dict(values(file, f"select scenario, share_of_bound {own}"))

    assert found == {"own LoRA": "C", "own": "X"}
    assert share["own"] == pytest.approx(6000 * 6 * 70553706496 / 1979e12, rel=1e-3)
    assert share["own LoRA"] == pytest.approx(share["own"] * 4 / 6)


@pytest.mark.parametrize(
    "source", ["int.training_cost", "mart.training_run_cost('llama-3-70b', 1e9, 0, 1, 1, 1, null, 'bf16')"]
)
def test_only_equal_trainings_are_ranked_together(file: Path, source: str) -> None:
    """Sequences of 8,192 tokens cost more each, and are no dearer way to train on those of 500."""
    best = values(
        file,
        f"select input_length, min(cost_rank) from {source} where model_name = 'llama-3-70b' and scenario = 'own LoRA' "
        "and purchase_option = 'on_demand' group by all order by all",
    )

    assert best == [(500, 1), (8192, 1)]


def test_scaling_is_measured_against_the_fewest_chips(file: Path) -> None:
    """GPT-3 on H100 in one round: 256 chips are 1, more are below."""
    found = values(
        file,
        "select accelerator_count, scaling_efficiency, median_rate from int.training_cost where model_name = "
        f"'gpt-3-175b' and benchmark = 'MLPerf Training v4.1' and instance_type = '{P5}' "
        "and purchase_option = 'on_demand' order by 1",
    )

    assert found[0][:2] == (256, 1)
    assert [share for _, share, _ in found] == [pytest.approx(rate / found[0][2]) for _, _, rate in found]
    assert found[-1][1] < 0.7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("'llama-9', 1e9, 0, 1, 1, 1, 0.4, 'bf16'", "no model is named"),
        ("'llama-3-70b', 1e9, 0, 1, 1, 1, 0.4, 'fp9'", "precision_name must be"),
        ("'gpt-3-175b', 1e9, 0, 1.2, 1, 1, null, 'bf16'", "goodput_share must be from 0 to 1"),
        ("'gpt-3-175b', 1e9, -1, 1, 1, 1, null, 'bf16'", "overhead_share must be 0 or more"),
    ],
)
def test_a_wrong_question_is_refused(file: Path, arguments: str, said: str) -> None:
    with pytest.raises(duckdb.InvalidInputException, match=said):
        values(file, f"from mart.training_run_cost({arguments})")
