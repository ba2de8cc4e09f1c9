"""Claims that nobody has seen: planted ones, shuffled and renamed ones, and prices and runs that move."""

import random
from dataclasses import replace
from datetime import timedelta

import duckdb
import pytest
from looks import day, row
from purchase import SOURCES, seen

from transform.audit.evidence import Evidence, Measurement
from transform.audit.judge import judge
from transform.audit.tables import audit
from transform.models import MACROS, MARTS, create_formulas
from warehouse import claims, db, publish
from warehouse.load import load

CHIPS = (
    ("Trainium1", 380, 0.8805), ("Trainium2", 2563, 2.9), ("Trainium3", 2517, 4.9), ("H100 SXM", 3958, 3.35),
    ("H200 SXM", 3958, 4.8), ("B200 SXM", 18000, 8.0), ("A100 80GB SXM", 1248, 2.039), ("MI300X", 5230, 5.3),
)  # fmt: skip
"""Chips with the fastest published peak of any precision and memory bandwidth, typed here from their datasheets."""
MODELS = (("Llama 3 70B", 70.55e9), ("Llama 3 8B", 8.03e9), ("GPT-3 175B", 174.6e9), ("Llama 3.1 405B", 405.85e9))


def test_planted_impossible_rates_are_found(ask):
    """Rates 1.3 to 20 times what 6 FLOP a parameter allow at the fastest peak are impossible, and half of it is not."""
    lines, possible = [], []
    for number, (chip, peak, _) in enumerate(CHIPS):
        for model, size in MODELS:
            bound = peak * 1e12 / (6 * size)
            for factor in (1.3, 2, 4, 8, 20):
                name = f"i{len(lines)}"
                lines.append(
                    f"{name},{name},{chip} / {model},throughput_tokens_per_s_per_chip,{bound * factor:.2f},,,"
                    "tokens/s/chip,"
                    f'"pre-training, ""~""",2026-0{number % 9 + 1}-01'
                )
            possible.append(
                f"p{len(lines)},p{len(lines)},{chip} / {model},throughput_tokens_per_s_per_chip,{bound * 0.18:.2f},,,"
                "tokens/s/chip,pre-training,2026"
            )
    found = ask(*lines, *possible)
    assert len(lines) == 160
    assert {one.finding.verdict for name, one in found.items() if name[0] == "i"} == {"physically_impossible"}
    assert "physically_impossible" not in {one.finding.verdict for name, one in found.items() if name[0] == "p"}


def test_planted_generation_beyond_the_bandwidth_is_found(ask):
    """Output tokens at a batch read the weights once a step: 1.2 times that without speculation is impossible."""
    lines = []
    for chip, _, bandwidth in CHIPS:
        for batch in (1, 8, 32):
            bound = batch * bandwidth * 1e12 / 69.503e9
            for factor in (1.2, 0.5):
                lines.append(
                    f"{factor} {len(lines)},x,{chip} / Llama 3 70B,throughput_tokens_per_s_per_chip,"
                    f"{bound * factor:.3f},,,tokens/s/chip,"
                    f'"output tokens, FP8, batch {batch}, no speculation",2026-05-01'
                )
    found = ask(*lines)
    assert {one.finding.verdict for name, one in found.items() if name[:3] == "1.2"} == {"physically_impossible"}
    assert "physically_impossible" not in {one.finding.verdict for name, one in found.items() if name[:3] == "0.5"}


def test_planted_prices_follow_the_history(ask, con):
    """Of each type whose price changed: the old one was true then, is stale now; another was never true."""
    changes = con.execute(
        "select o.instance_type, a.unit_price::DOUBLE, a.valid_from::DATE, a.valid_to::DATE, a.last_observed_at::DATE "
        "from mart.price_history as a inner join core.offer as o on a.offer_id = o.offer_id "
        "inner join mart.price_history as b on a.offer_id = b.offer_id and a.valid_to = b.valid_from "
        "where o.region_id = 'us-east-1' and o.purchase_option = 'on_demand' and o.conditions is null "
        "and abs(a.unit_price / b.unit_price - 1) > 0.03 and b.valid_to is null "
        "and b.last_observed_at > TIMESTAMP '2026-06-01' order by all"
    ).fetchall()
    lines = []
    for name, old, since, until, last in changes:
        plan = [("then", old, since + (last - since) / 2)]
        plan += [("stale", old, until + timedelta(days=days)) for days in (1, 20, 150)]
        plan += [("never", old * factor, until + timedelta(days=20)) for factor in (0.31, 1.37, 3)]
        for kind, value, when in plan:
            lines.append(
                f"{kind} {len(lines)},x,{name},price_usd_per_hour_instance,{value},,,USD/h,"
                f'"On-Demand, us-east-1",{when}'
            )
    found = ask(*lines)
    expected = {"then": ("consistent", "stale"), "stale": ("stale", "stale"), "never": ("inconsistent", "inconsistent")}
    assert len(changes) >= 4
    for name, one in found.items():
        assert (one.finding.verdict, one.finding.verdict_today) == expected[name.split()[0]], one.finding.arithmetic
        assert (one.standing_today == "true then") == name.startswith("then")


def test_planted_facts_are_found(ask):
    """Memory, bandwidth and peaks 30 % off are inconsistent, and the published ones consistent."""
    lines = []
    for chip, memory, bandwidth, peak in (
        ("Trainium2", 96, 2.9, 1299), ("Trainium3", 144, 4.9, 2517), ("H100 SXM", 80, 3.35, 1979),
        ("H200 SXM", 141, 4.8, 1979), ("MI300X", 192, 5.3, 2615),
    ):  # fmt: skip
        for metric, unit, value in (
            ("spec_memory_gb", "GB", memory), ("spec_memory_bandwidth_tb_s", "TB/s", bandwidth),
            ("spec_fp8_tflops", "TFLOPS", peak),
        ):  # fmt: skip
            for factor in (1, 1.3):
                lines.append(f"{factor} {len(lines)},x,{chip},{metric},{value * factor:.4g},,,{unit},dense,2026")
    found = ask(*lines)
    for name, one in found.items():
        assert one.finding.verdict == ("consistent" if name[:2] == "1 " else "inconsistent"), one.finding.arithmetic


@pytest.mark.parametrize("seed", range(3))
def test_ids_decide_nothing(con, seed):
    """With ids changed the verdicts stay: they follow what is said, not which row says it."""
    told = list(claims.shipped())
    names = [claim.claim_id for claim in told]
    random.Random(seed).shuffle(names)  # noqa: S311 (nothing is secret)
    before = audit(con, told)[0]
    after = audit(con, [replace(claim, claim_id=f"n{name}") for claim, name in zip(told, names, strict=True)])[0]
    assert [(one.finding.verdict, one.finding.verdict_today, one.standing) for one in before] == [
        (one.finding.verdict, one.finding.verdict_today, one.standing) for one in after
    ]


def test_verdicts_follow_the_chip_and_the_value(ask):
    """The same rate is impossible on a Trainium1 and not on a B200; a tenth of it is possible on both sides."""
    line = "{0},x,{1} / Llama 3 70B,throughput_tokens_per_s_per_chip,{2},,,tokens/s/chip,pre-training,2026"
    found = ask(
        line.format("a", "Trainium1", 3000), line.format("b", "B200", 3000), line.format("c", "Trainium1", 120),
        line.format("d", "H100", 30000),
    )  # fmt: skip
    assert [found[name].finding.verdict for name in "abcd"] == [
        "physically_impossible", "unverifiable", "consistent", "physically_impossible",
    ]  # fmt: skip


def test_a_new_run_changes_a_verdict(con, read):
    """A rate that nothing measured shows is open, until a run of the same chip, model and task does."""
    told = read("a,x,B200 SXM / Llama 3 70B,throughput_tokens_per_s_per_chip,3000,,,tokens/s/chip,pre-training,2026")
    evidence = Evidence(con, told)
    assert judge(told, evidence)[0].finding.verdict == "unverifiable"
    evidence.measured.append(
        Measurement(
            1, "llama-3.1-70b", "training", "B200", "SXM", 8.0, None, "token", None, 64.0, 3000.0, "own", "", None
        )
    )
    assert judge(told, evidence)[0].finding.verdict == "consistent"


def test_the_text_itself_decides_what_was_computed(ask):
    """Derived figures are graded by their inputs in the same text, and one in another text is not asked."""
    found = ask(
        'a,x,p5.48xlarge,price_usd_per_hour_instance,55.04,,,USD/h,"On-Demand, us-east-1",2026-03-01',
        "b,x,H100,price_per_chip,6.88,,,USD/h,p5.48xlarge / 8,2026-03-01",
        "c,x,H100,price_per_chip,7.88,,,USD/h,p5.48xlarge / 8,2026-03-01",
        "d,x,p5.48xlarge,price_usd_per_month,40179,,,USD/month,on-demand,2026-03-01",
        "e,y,p5.48xlarge,price_usd_per_month,40179,,,USD/month,on-demand,2026-03-01",
        'f,x,H100 SXM,cpm,0.5,,,USD per 1M tokens,"6.88 USD/h at 3,821 tok/s",2026-03-01',
        'g,x,H100 SXM,cpm,0.9,,,USD per 1M tokens,"6.88 USD/h at 3,821 tok/s",2026-03-01',
        "h,z,H100,price_per_chip,6.88,,,USD/h,p5.48xlarge / 8,2026-03-01",
    )  # fmt: skip
    assert {name: one.finding.verdict for name, one in found.items()} == {
        "a": "consistent", "b": "consistent", "c": "inconsistent", "d": "consistent", "e": "unverifiable",
        "f": "consistent", "g": "inconsistent", "h": "consistent",
    }  # fmt: skip
    assert found["b"].finding.rests_on == ("a",)
    assert found["h"].finding.basis == "history"


def test_moving_one_price_moves_what_rests_on_it_today_only(tmp_path, read):
    """Where one price changes, the verdicts of that machine change in the column of today, and no others anywhere."""
    told = read(
        'a,x,p5.48xlarge,price_usd_per_hour_instance,55.04,,,USD/h,"On-Demand, us-east-1",2026-01-15',
        'b,x,p4d.24xlarge,price_usd_per_hour_instance,21.96,,,USD/h,"On-Demand, us-east-1",2026-01-15',
        "c,x,H100 SXM,spec_memory_gb,80,,,GB,,2026",
        "d,x,p5.48xlarge,price_usd_per_hour_instance,44.04,,,USD/h,on-demand,2026-01-15",
    )
    results = []
    for moved in (False, True):
        with db.writer(tmp_path / str(moved)) as con:
            for at in (5, 20, 40):
                price = "44.04" if moved and at == 40 else "55.04"
                each = seen(at, "aws_price_list", row("p5.48xlarge", price), row("p4d.24xlarge", "21.96"))
                con.execute("insert into core.document by name select ? as document_sha256", [each.document_sha256])
                load(con, [each], recorded_at=each.observed_at)
            file = publish.publish(
                con, tmp_path / str(moved), marts=MARTS, macros=MACROS, formulas=create_formulas, sources=SOURCES,
                built_at=day(41), version="test",
            )  # fmt: skip

        with duckdb.connect(str(file), read_only=True) as reader:
            results.append([(one.finding.verdict, one.finding.verdict_today) for one in audit(reader, told)[0]])
    assert results[0] == [("consistent",) * 2, ("consistent",) * 2, ("consistent",) * 2, ("inconsistent",) * 2]
    assert results[1] == [
        ("consistent", "stale"), ("consistent",) * 2, ("consistent",) * 2, ("inconsistent", "consistent"),
    ]  # fmt: skip
