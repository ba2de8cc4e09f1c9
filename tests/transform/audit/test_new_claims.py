"""Claims that nobody has seen: values, prices and runs that move, and texts that compute from themselves."""

import duckdb
from few_marts import FEW_MACROS, FEW_MARTS
from looks import day, row
from purchase import SOURCES, seen

from transform.audit.evidence import Evidence, Measurement
from transform.audit.judge import judge
from transform.audit.tables import audit
from transform.models import create_formulas
from warehouse import db, publish
from warehouse.load import load


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
        "a": "consistent", "b": "consistent", "c": "inconsistent", "d": "consistent", "e": "consistent",
        "f": "consistent", "g": "inconsistent", "h": "consistent",
    }  # fmt: skip
    assert found["b"].finding.rests_on == ("a",)
    assert found["h"].finding.basis == found["e"].finding.basis == "history"


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
                con, tmp_path / str(moved), marts=FEW_MARTS, macros=FEW_MACROS, formulas=create_formulas,
                sources=SOURCES, built_at=day(41), version="test",
            )  # fmt: skip

        with duckdb.connect(str(file), read_only=True) as reader:
            results.append([(one.finding.verdict, one.finding.verdict_today) for one in audit(reader, told)[0]])
    assert results[0] == [("consistent",) * 2, ("consistent",) * 2, ("consistent",) * 2, ("inconsistent",) * 2]
    assert results[1] == [
        ("consistent", "stale"), ("consistent",) * 2, ("consistent",) * 2, ("inconsistent", "consistent"),
    ]  # fmt: skip
