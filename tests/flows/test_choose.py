"""What wins where: sums worked out by hand, what is feasible, what would flip it, which number answers what."""

from pathlib import Path
from typing import Any

import duckdb
import pytest
import simplejson
from choice_file import H100_RATE, H200_RATE, MODEL, choice_folder
from click.testing import CliRunner
from cost_file import P5, lines

from flows.cli import main
from flows.config.settings import DecisionSettings
from flows.decisions import choose
from warehouse.errors import ChipledgerError, SettingsError


def usd(price: float, rate: float, running: float = 1.0) -> float:
    """Return USD a million tokens of a chip-hour's price, by hand."""
    return price / running * 1e6 / (3600 * rate)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return choice_folder(tmp_path_factory) / "prices.duckdb"


def choice(file: Path, months: float, *, used: float | str = 1, spot: str = "false, null", providers: str = "['AWS']",
           tokens: str = "1e10") -> dict[str, Any]:  # fmt: skip
    (found,) = lines(file, f"from mart.choice('training', '{MODEL}', {tokens}, null, {months}, {used}, {spot}, "
                     f"{providers}, null, 1.0, 0.0, 1.0, null) where benchmark_family = 'own'")  # fmt: skip
    return found


def told(found: dict[str, Any]) -> tuple[object, ...]:
    return found["accelerator_name"], found["purchase_option"], found["commitment_class"]


def test_a_year_makes_the_reserved_term_the_cheapest(file: Path) -> None:
    """38 / 8 = 4.75 a chip-hour at 1000 tokens a second is 1.319; a plan at 40 / 8 = 5 is next, and wins below 4.75."""
    found = choice(file, 12)

    assert told(found) == ("H100", "reserved", "one_year")
    assert found["usd_per_million"] == pytest.approx(usd(4.75, H100_RATE))
    assert found["training_usd_median"] == pytest.approx(usd(4.75, H100_RATE) * 1e4)
    assert found["training_days"] == pytest.approx(1e10 / (8 * 1000 * 86400))
    assert found["runner_up"] == "H100 SXM AWS savings_plan one_year"
    assert found["margin_usd_per_million"] == pytest.approx(usd(0.25, H100_RATE))
    assert found["runner_up_price_to_win"] == pytest.approx(4.75)
    assert found["runner_up_rate_to_win"] == pytest.approx(1000 * 5 / 4.75)
    assert found["price_to_lose"] == pytest.approx(5)
    assert found["evidence_grade"] == "C"


def test_a_shorter_horizon_leaves_commitments_out(file: Path) -> None:
    """For half a year the Capacity Block wins at 5.191, before H200 on demand at 7.912 and 1500 tokens a second."""
    found = choice(file, 6)

    assert told(found) == ("H100", "capacity_block", "under_a_year")
    assert found["usd_per_million"] == pytest.approx(usd(5.191, H100_RATE))
    assert found["runner_up"] == "H200 SXM AWS on_demand none"
    assert found["runner_up_price_to_win"] == pytest.approx(5.191 * 1.5)
    assert "committed to for longer than the horizon (2)" in found["left_out"]


def test_what_is_committed_to_is_paid_used_or_not(file: Path) -> None:
    """Half used, 4.75 costs 9.50 an hour of work: on demand wins."""
    found = choice(file, 12, used=0.5)
    assert told(found) == ("H200", "on_demand", "none")
    assert found["usd_per_million"] == pytest.approx(usd(63.296 / 8, H200_RATE))


def test_a_term_costs_its_term(file: Path) -> None:
    """10^10 tokens take 14.5 days; a year owes 38 x 8,760 = 332,880 unless other work fills it: a block wins.

    The term is the same however fast the training is, and a training of two years owes two.
    """
    found = choice(file, 12, used="null")
    assert told(found) == ("H100", "capacity_block", "under_a_year")
    assert found["runner_up"] == "H200 SXM AWS on_demand none"

    def owed(tokens: str) -> dict[str, tuple[float, float, float, float]]:
        options = lines(file, f"from mart.training_run_cost('{MODEL}', {tokens}, 0, 1, null, 1, null, 'bf16') "
                              "where purchase_option in ('reserved', 'savings_plan')")  # fmt: skip
        return {row["purchase_option"]: (row["training_usd_low"], row["training_usd_median"], row["training_usd_high"],
                                         row["running_share"]) for row in options}  # fmt: skip

    days = 1e10 / (8 * H100_RATE * 86400)
    for tokens, terms in (("1e10", 1), ("3e11", 2)):
        for option, hourly in (("reserved", 38), ("savings_plan", 40)):
            low, median, high, used = owed(tokens)[option]
            assert (low, median, high) == pytest.approx((hourly * 8760 * terms,) * 3)
            assert used == pytest.approx(days * float(tokens) / 1e10 / (365 * terms))


def test_spot_counts_where_it_is_tolerated_and_its_loss_known(file: Path) -> None:
    """20 / 8 = 2.50: it ties with 4.75 where it loses 47.4 % of its hours; at 20 % lost it costs 3.125 and wins."""
    without = choice(file, 12)
    unknown = choice(file, 12, spot="true, null")
    lossy = choice(file, 12, spot="true, 0.2")

    assert "spot may be interrupted (1)" in without["left_out"]
    assert "spot whose loss to interruptions is not known (1)" in unknown["left_out"]
    for found in (without, unknown):
        assert found["purchase_option"] == "reserved"
        assert found["spot_option"] == "H100 SXM AWS spot interruptible"
        assert found["spot_loss_to_win"] == pytest.approx(1 - 2.5 / 4.75)
    assert told(lossy) == ("H100", "spot", "interruptible")
    assert lossy["usd_per_million"] == pytest.approx(usd(2.5, H100_RATE, running=0.8))
    assert lossy["spot_option"] is None
    assert lossy["spot_loss_to_win"] is None
    assert choice(file, 12, spot="true, 0.48")["purchase_option"] == "reserved"


def test_a_training_that_takes_too_long_is_not_feasible(file: Path) -> None:
    """10^12 tokens take 1447 days on eight H100 and 965 on eight H200: in two years none, in three those of H200."""
    none = choice(file, 24, tokens="1e12")
    assert (none["n_feasible"], none["offer_id"], none["usd_per_million"]) == (0, None, None)
    assert "training takes longer than the horizon" in none["left_out"]
    some = choice(file, 36, tokens="1e12")
    assert told(some) == ("H200", "on_demand", "none")


def test_any_provider_or_those_that_are_named(file: Path) -> None:
    """Toy's H200 at 3 a chip-hour wins where everybody may sell; of what only Toy sells AWS is no runner-up."""
    found = choice(file, 12, providers="null")
    assert (found["service_provider_name"], found["accelerator_name"]) == ("Toy", "H200")
    assert found["usd_per_million"] == pytest.approx(usd(3, H200_RATE))
    assert choice(file, 12, providers="['Toy']")["runner_up"] is None


def test_what_nobody_saw_is_marked(file: Path) -> None:
    """A price is no stock: no option of this file was ever seen to be there."""
    found = choice(file, 12)
    assert (found["last_obtainable_at"], found["last_asked_at"]) == (None, None)
    assert lines(file, "from int.obtainable") == []


def test_obtainable_is_a_count_a_word_or_a_block(tmp_path: Path) -> None:
    """The last sight of each, and the last question where it was never there; a block refused is no answer."""
    sql = "\n".join(line for line in _sql("obtainable").splitlines())
    with duckdb.connect() as con:
        con.execute("create schema core; create schema ref")
        con.execute(
            "create table core.availability as select * from (values "
            "('A', 'x', 'H100', 'on_demand', 0, null, null, timestamp '2026-01-02'), "
            "('A', 'x', 'H100', 'on_demand', 3, null, null, timestamp '2026-01-01'), "
            "('B', 'y', 'H100', 'spot', null, null, 'Low', timestamp '2026-01-01'), "
            "('C', 'z', 'H100', 'on_demand', null, null, 'not available', timestamp '2026-01-03')"
            ") as t (service_provider_name, instance_type, accelerator_label, purchase_option, n_machines, "
            "n_accelerators, stock_status, observed_at)"
        )
        con.execute(
            "create table core.offer as select distinct service_provider_name, instance_type, accelerator_label, "
            "purchase_option, hash(service_provider_name) as offer_id from core.availability"
        )
        con.execute("create table core.offer_unit as select offer_id, 'H100' as accelerator_name from core.offer")
        con.execute(
            "create table ref.current_instance_type as select 'p5' as instance_type, 'H100' as accelerator_name"
        )
        con.execute(
            "create table core.capacity_block_answer as select * from (values "
            "('p5', 'cb-1', null, timestamp '2026-01-05'), ('p5', null, null, timestamp '2026-01-06'), "
            "('p5', null, 'UnauthorizedOperation', timestamp '2026-01-07')"
            ") as t (instance_type, capacity_block_offering_id, answer_error, observed_at)"
        )
        found = con.execute(f"select service_provider_name, purchase_option, last_obtainable_at::DATE::VARCHAR, "
                            f"last_asked_at::DATE::VARCHAR from ({sql}) order by 1").fetchall()  # fmt: skip
    assert found == [
        ("A", "on_demand", "2026-01-01", "2026-01-02"),
        ("AWS", "capacity_block", "2026-01-05", "2026-01-06"),
        ("B", "spot", "2026-01-01", "2026-01-01"),
        ("C", "on_demand", None, "2026-01-03"),
    ]


def _sql(name: str) -> str:
    from transform.models import SQL

    return (SQL / f"{name}.sql").read_text()


def test_workloads_without_evidence_are_listed_and_not_ranked(file: Path) -> None:
    """Nobody measured a training of ResNet-152 here: no choice, and every chip that is sold without evidence."""
    found = choose.answer(file, DecisionSettings(), workloads=("non-transformer", "pretraining-175b"))
    nothing, big = sorted(found["workloads"], key=lambda each: str(each["workload"]))

    assert nothing["choices"] == []
    assert {"H100", "H200", "Trainium1"} <= set(nothing["no_evidence"])
    assert "H100" not in big["no_evidence"]
    (mlperf, neuron) = sorted(big["choices"], key=lambda each: str(each["benchmark_family"]))
    assert [each["benchmark_family"] for each in (mlperf, neuron)] == ["mlperf_training", "neuron"]
    assert mlperf["is_never_seen_obtainable"]
    assert mlperf["usd_per_million"] == pytest.approx(usd(5.191, 815.6), rel=0.01)  # 815.6 tok/s: MLPerf Training v4.1


def test_every_workload_of_the_articles_is_answered(file: Path) -> None:
    """Seven workloads, in the words of the table; each choice costs least of its yardstick's feasible rows."""
    found = choose.answer(file, DecisionSettings(monthly_spend=100_000))

    assert [each["workload"] for each in found["workloads"]] == [
        "pretraining-8b", "pretraining-70b", "pretraining-175b", "fine-tuning", "serving-latency", "batch-serving",
        "non-transformer",
    ]  # fmt: skip
    batch = next(each for each in found["workloads"] if each["workload"] == "batch-serving")
    rows = lines(file, "from mart.serving_cost('llama-2-70b', null, 1.0, 1.0, 1.0, null) where task = 'offline' "
                 "and is_ranked and is_current and purchase_option <> 'spot' "
                 "and coalesce(commitment_class, '') not in ('two_years', 'three_years') "
                 "and purchase_option <> 'capacity_block'")  # fmt: skip
    for each in batch["choices"]:
        same = [r["all_in_output_usd_median"] for r in rows if r["precision"] == each["precision"]]
        assert each["usd_per_million"] == (pytest.approx(min(same)) if same else None)
        if each["runner_up"]:
            assert each["usd_a_month_at_stake"] == pytest.approx(100_000 * each["margin_share"])


def test_settings_stand_in_for_what_is_not_asked(file: Path) -> None:
    """An option comes before the table, the table before the default; each question shows the number it got."""
    decision = DecisionSettings(horizon_months=6, share_of_use={"low": 0.2, "likely": 0.5, "high": 0.8},
                                weeks_of_migration=6, weeks_to_production=4)  # fmt: skip
    found = choose.answer(file, choose.stated(decision, horizon_months=24), workloads=("fine-tuning",))
    numbers = {each["setting"]: each["number"] for each in found["questions"]}

    assert found["inputs"]["horizon_months"] == 24
    assert found["inputs"]["share_of_use"] == pytest.approx(0.5)
    assert numbers["horizon_months"] == 24
    assert numbers["monthly_spend"] is None
    assert [each["answer"] for each in found["questions"] if "answer" in each] == ["a migration ends too late"]
    assert set(numbers) <= set(DecisionSettings.model_fields)


def test_the_command_and_its_words(file: Path) -> None:
    """People read the winner, its evidence, the next and what would flip it; the judgement stays with them."""

    def call(*words: str) -> Any:
        return CliRunner().invoke(main.main, ["--data-dir", str(file.parent), "choose", *words])

    alone = call("--workload", "pretraining-175b", "--provider", "AWS")
    assert f"H100 SXM, capacity_block, AWS {P5} us-east-1: 1.768 USD a million tokens" in alone.output
    done = call("--workload", "pretraining-175b", "--provider", "AWS", "--share-of-use", "1")
    assert done.exit_code == 0, done.output
    assert f"H100 SXM, reserved, AWS {P5} us-east-1: 1.618 USD a million tokens" in done.output
    assert "NEVER SEEN OBTAINABLE" in done.output
    assert "paid for its whole term, and used in 100.00% of its hours (share_of_use)" in done.output
    assert "next: H100 SXM AWS savings_plan one_year, 1.703" in done.output
    assert "Your own judgement, in no sum: breadth of the ecosystem" in done.output
    told = simplejson.loads(call("--workload", "pretraining-175b", "--json").stdout)
    assert told["workloads"][0]["choices"][0]["offer_id"] is not None
    for wrong in (["--workload", "mining"], ["--provider", "Nobody"]):
        assert call(*wrong).exit_code == 2


def test_wrong_questions_are_refused(file: Path) -> None:
    """No such workload or provider, and what the macro does not take."""
    with pytest.raises(SettingsError, match="no such workload"):
        choose.answer(file, DecisionSettings(), workloads=("mining",))
    with pytest.raises(SettingsError, match="no provider with a price"):
        choose.answer(file, DecisionSettings(providers=("Nobody",)))
    with pytest.raises(ChipledgerError):
        choose.answer(file, DecisionSettings(), workloads=("batch-serving",), utilisation=2)
