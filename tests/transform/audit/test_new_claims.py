"""Claims that nobody has seen: values, prices and runs that move, and texts that compute from themselves."""

from datetime import date

import duckdb
import pytest
from looks import row
from purchase import putting, seen

from transform.audit.evidence import Evidence, Measurement, Price
from transform.audit.judge import judge
from transform.audit.tables import audit


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
        Measurement("llama-3.1-70b", "training", "B200", "SXM", 8.0, None, None, 64.0, 3000.0, "own", "")
    )
    assert judge(told, evidence)[0].finding.verdict == "consistent"


def test_the_text_itself_decides_what_was_computed(ask):
    """Derived figures are graded by their inputs in the same text, and one in another text is not asked."""
    found = ask(
        'a,x,p5.48xlarge,price_usd_per_hour_instance,55.04,,,USD/h,"On-Demand, us-east-1",2026-03-01',
        "b,x,H100,price_per_chip,6.88,,,USD/h,p5.48xlarge / 8,2026-03-01",
        "c,x,H100,price_per_chip,7.88,,,USD/h,p5.48xlarge / 8,2026-03-01",
        'i,x,p5.48xlarge,price_usd_per_hour_instance,55.04,,,USD/h,"on-demand, eu-central-2",2026-03-01',
        'd,x,p5.48xlarge,price_usd_per_month,40179,,,USD/month,"on-demand, us-east-1",2026-03-01',
        "e,y,p5.48xlarge,price_usd_per_month,40179,,,USD/month,on-demand,2026-03-01",
        'f,x,H100 SXM,cpm,0.5,,,$/1M tokens,"6.88 USD/h at 3,821 tok/s",2026-03-01',
        'g,x,H100 SXM,cpm,0.9,,,USD per 1M tokens,"6.88 USD/h at 3,821 tok/s",2026-03-01',
        "h,z,H100,price_per_chip,6.88,,,USD/h,p5.48xlarge / 8,2026-03-01",
    )  # fmt: skip
    assert {name: one.finding.verdict for name, one in found.items()} == {
        "a": "consistent", "b": "consistent", "c": "inconsistent", "d": "consistent", "e": "consistent",
        "f": "consistent", "g": "inconsistent", "h": "consistent", "i": "unverifiable",
    }  # fmt: skip
    assert found["b"].finding.rests_on == found["d"].finding.rests_on == ("a",)
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
    with putting(tmp_path, asked=("price_history",)) as put:
        for days, price in (((5, 20), "55.04"), ((40,), "44.04")):
            looks = [seen(at, "aws_price_list", row("p5.48xlarge", price), row("p4d.24xlarge", "21.96")) for at in days]
            with duckdb.connect(str(put(*looks, at=days[-1] + 1)), read_only=True) as reader:
                results.append([(one.finding.verdict, one.finding.verdict_today) for one in audit(reader, told)[0]])
    assert results[0] == [("consistent",) * 2, ("consistent",) * 2, ("consistent",) * 2, ("inconsistent",) * 2]
    assert results[1] == [
        ("consistent", "stale"), ("consistent",) * 2, ("consistent",) * 2, ("inconsistent", "consistent"),
    ]  # fmt: skip


def test_a_saving_that_repeats_others_is_held_against_them(ask):
    """A saving of one chip is held against the text's own by model, of the size that it states, and rests on them."""
    pair = "{0},x,Trainium3 vs H100 / {1},savings_pct,{2},,,percent,,2026"
    one = "{0},x,Trainium3,savings_pct,{1},{2},{3},percent,{4},2026"
    found = ask(
        pair.format("a", "Llama 3 70B", 47), pair.format("b", "Llama 3 8B", 41), pair.format("c", "BERT-Large", 24),
        one.format("d", 40, "", "", ""), one.format("e", 60, "", "", ""), one.format("f", "", 20, 25, ""),
        one.format("g", "", 20, 25, "under 10B parameters"), one.format("h", "", 45, 50, "70B+ models"),
        one.format("i", "", 50, 60, ""),
    )  # fmt: skip
    assert "".join(found[name].finding.verdict[0] for name in "defghi") == "cicici"
    assert set(found["d"].finding.rests_on) == {"a", "b", "c"}
    assert found["d"].verdict == "arithmetic holds, input is unverified"


def test_a_saving_a_peak_flop_follows_prices_and_peaks(ask):
    """Per teraFLOP, 17.04 USD for 16 chips of 667 is 63 % below 34.24 USD for 8 of 989, and not 31 %."""
    lines = [
        'a,x,trn2.48xlarge,price_usd_per_hour_instance,17.04,,,USD/h,on-demand,2026',
        'b,x,p5.48xlarge,price_usd_per_hour_instance,34.24,,,USD/h,on-demand,2026',
        'c,x,trn2.48xlarge vs p5.48xlarge,savings_pct,63,,,percent,per-teraFLOP,2026',
        'd,x,trn2.48xlarge vs p5.48xlarge,savings_pct,31,,,percent,per-teraFLOP,2026',
    ]  # fmt: skip
    found = ask(*lines)
    assert (found["c"].finding.verdict, found["d"].finding.verdict) == ("consistent", "inconsistent")
    assert found["c"].finding.rests_on == ("a", "b")


def test_a_ratio_of_prices_without_figures_of_its_text_is_asked_of_the_history(ask):
    """98.32 to 21.50 USD was the ratio in 2025, 55.04 to 21.50 it is today; without a price of both nothing decides."""
    line = "{0},x,p5.48xlarge vs {1},ratio_price,{2},,,x,on-demand in us-east-1,{3}"
    found = ask(
        line.format("a", "trn1.32xlarge", 4.57, "2025-03-01"), line.format("b", "trn1.32xlarge", 2.56, "2026-03-01"),
        line.format("c", "trn1.32xlarge", 3.3, "2026-03-01"), line.format("d", "trn3.48xlarge", 2.0, "2026-03-01"),
    )  # fmt: skip
    assert {name: (one.finding.verdict, one.finding.verdict_today) for name, one in found.items()} == {
        "a": ("consistent", "stale"), "b": ("consistent",) * 2, "c": ("inconsistent",) * 2,
        "d": ("unverifiable",) * 2,
    }  # fmt: skip
    assert found["b"].finding.documents


def test_a_saving_of_prices_is_asked_of_the_history(ask):
    """By how much one price is below another is known; what training or a token costs less is not of prices."""
    line = '{},x,{},savings_pct,{},,,percent,"{}",{}'
    machines = "trn1.32xlarge vs p5.48xlarge"
    found = ask(
        line.format("a", machines, 78, "on-demand price per hour, us-east-1", "2025-01-15"),
        line.format("b", machines, 61, "hourly, on demand in us-east-1", "2026-03-01"),
        line.format("c", machines, 50, "on-demand price, us-east-1", "2026-03-01"),
        line.format("d", "Trainium vs H100", 80, "on-demand price per chip-hour, us-east-1", "2026-03-01"),
        line.format("e", machines, 50, "cost to train at on-demand prices", "2026-03-01"),
        line.format("f", machines, 50, "price performance", "2026-03-01"),
    )
    assert [(one.finding.verdict, one.finding.verdict_today) for one in found.values()] == [
        ("consistent", "stale"), ("consistent",) * 2, ("inconsistent",) * 2, ("consistent",) * 2,
        ("unverifiable",) * 2, ("unverifiable",) * 2,
    ]  # fmt: skip


def test_a_price_of_another_form_refutes_none(ask):
    """CoreWeave's collectors do not say of which form its H100 is: a PCIe card may cost less."""
    line = "{},x,{} / CoreWeave,price_per_chip,{},,,USD/h,on-demand,2026-08-05"
    found = ask(line.format("a", "H100 PCIe", 4.25), line.format("b", "H100", 4.25), line.format("c", "H100", 6.155))
    assert [one.finding.verdict for one in found.values()] == ["unverifiable", "inconsistent", "consistent"]


def test_machines_and_years_follow_published_figures(ask):
    """vCPUs, host memory, tensor cores and years are held against tables; "now" allows every year since."""
    found = ask(
        "a,x,p5.48xlarge,spec_vcpus,192,,,count,,2026", "b,x,p5.48xlarge,spec_vcpus,96,,,count,,2026",
        "c,x,trn3-ultra,spec_host_memory_gib,27648,,,GiB,,2026", "d,x,trn3-ultra,spec_host_memory_gib,4096,,,GiB,,2026",
        "e,x,Trainium3,spec_general_availability,2026,,,year,,2026",
        "f,x,Trainium3,spec_general_availability,2026,,,year,now available,2026",
        "g,x,Trainium3,spec_general_availability,2024,,,year,now available,2024",
        "h,x,H100 SXM,spec_tensor_cores,528,,,count,,2026", "i,x,MI300X,spec_tensor_cores,1216,,,count,,2026",
        "j,x,trn3-ultra,spec_accelerators,144,,,count,,2026", "k,x,trn3-ultra,spec_accelerators,72,,,count,,2026",
        "l,x,p5.48xlarge,spec_vcpus,2048,,,count,,2026", "m,x,p5.48xlarge,spec_vcpus,inf,,,cores each,,2026",
        "n,x,H100 vs B200,ratio_price_per_chip,1e400,,,x,,2026",
    )  # fmt: skip
    assert "".join(found[name].finding.verdict[0] for name in "abcdefghijklmn") == "ciciicicuciiuu"
    assert found["f"].finding.recomputed == 2025


def test_a_system_has_what_its_chips_have_together(ask):
    """AWS's and NVIDIA's own figures of machines and racks, and each chip's; wrong sums, and watts, are neither."""
    line = "{},x,{},spec_{},{},,,{},{},2026"
    found = ask(
        line.format("a", "trn2.48xlarge", "fp8_pflops", 20.8, "PFLOPS", "dense"),
        line.format("b", "trn2.48xlarge", "fp8_sparse_pflops", 83.2, "PFLOPS", ""),
        line.format("c", "trn2.48xlarge", "memory_bandwidth_tb_s", 46, "TB/s", ""),
        line.format("d", "Trn2 UltraServer", "fp8_pflops", 83.2, "PFLOPS", ""),
        line.format("e", "Trn2 UltraServer", "memory_bandwidth_tb_s", 185, "TB/s", ""),
        line.format("f", "Trn3 UltraServer", "memory_gb", 20.7, "TB", ""),
        line.format("g", "inf2.48xlarge", "memory_bandwidth_tb_s", 9.8, "TB/s", ""),
        line.format("h", "p5.48xlarge", "memory_gb", 640, "GB", ""),
        line.format("i", "p5.48xlarge", "memory_gb", 80, "GB", "each"),
        line.format("j", "HGX B200", "memory_gb", 1440, "GB", "8 GPUs"),
        line.format("k", "GB200 NVL72", "memory_gb", 13.4, "TB", ""),
        line.format("l", "8x H100 SXM", "memory_gb", 1128, "GB", ""),
        line.format("m", "trn2.48xlarge", "fp8_pflops", 83.2, "PFLOPS", "dense"),
        line.format("n", "8x H100 SXM", "tdp_w", 10200, "W", ""),
    )
    assert "".join(found[name].finding.verdict[0] for name in "abcdefghijklmn") == "c" * 11 + "iiu"
    assert found["d"].finding.recomputed == pytest.approx(64 * 1.299, rel=1e-3)


def test_a_market_of_one_seller_decides_nothing(con, read):
    """Where no seller is named and one is known, another may have asked the price."""
    (claim,) = read("a,x,H200 SXM,price_per_chip,4.54,,,USD/h,on-demand,2026-07-20")
    evidence = Evidence(con, [claim])
    evidence.offers = {
        number: one for number, one in evidence.offers.items() if one.service_provider_name == "AWS"
    }  # fmt: skip
    assert evidence.held(evidence.offers.values(), (date(2026, 7, 20), date(2026, 7, 20)))
    assert judge([claim], evidence)[0].finding.verdict == "unverifiable"


def test_between_two_sights_neither_refutes(con, read):
    """What was seen before a claim, and not since, is no accusation where the claimed price was seen after it."""
    told = read(
        *(f"{name},x,H100 / Lambda,price_per_chip,{usd},,,USD/h,on demand,2026-06-{name}"
          for name, usd in (("20", 2.99), ("21", 2.5), ("05", 2.99)))
    )  # fmt: skip
    evidence = Evidence(con, told)
    (offer, *_) = (one for one in evidence.offers.values() if one.service_provider_name == "Lambda" and one.chips == 1)
    seen_on = (date(2026, 1, 1), date(2026, 6, 9)), (date(2026, 9, 1), date(2026, 9, 2))
    prices = [Price(offer, usd, *days[:1], None, *days[::-1], None, "x")
              for usd, days in zip((1.99, 2.99), seen_on, strict=True)]  # fmt: skip
    evidence.held = lambda _offers, *days: [one for one in prices if any(one.holds(*each) for each in days)]
    evidence.last_before = lambda *_: None
    assert [one.finding.verdict for one in judge(told, evidence)] == ["unverifiable", "inconsistent", "inconsistent"]


def test_a_price_of_nobody_named(ask):
    """Between those of three sellers it holds, hedged too; below them another may ask it; A100 is either memory's."""
    found = ask(
        "a,x,H100,price_per_chip,3.00,,,USD/h,,2026-09-01", "b,x,H100,price_per_chip,3.00,,,USD/h,~,2026-09-01",
        "c,x,B200,price_per_chip,4.99,,,USD/h,,2026-09-01", "d,x,A100,price_per_chip,2.10,,,USD/h,,2026-09-01",
    )  # fmt: skip
    verdicts = [found[name].finding.verdict for name in "abcd"]
    assert verdicts == ["consistent", "consistent", "unverifiable", "consistent"]


def test_what_the_conditions_say_is_no_accusation(ask):
    """Eight H200 hold what one cannot; B200 gains 11-fold at DeepSeek-R1, where peaks differ by 3; blocks are known."""
    found = ask(
        "a,x,H200 / DeepSeek-R1,capacity_fit,1128,,,GB,8 GPUs hold DeepSeek-R1 in FP8,2026",
        "b,x,H200 / DeepSeek-R1,capacity_fit,141,,,GB,one GPU holds DeepSeek-R1 in FP8,2026",
        "c,x,H100 SXM / Llama 2 70B,throughput_tokens_per_s_system,22000,,,tokens/s,8x H100 MLPerf Server FP8,2026",
        "d,x,B200 vs H100,ratio_performance,11,,,x,DeepSeek-R1 inference,2026",
        "e,x,B200 vs H100,ratio_performance,15,,,x,up to; inference,2026",
        "f,x,p5.48xlarge,price_usd_per_hour_instance,37.76,,,USD/h,Capacity Block,2026-08-01",
        "g,x,A100 / Llama 3 70B,capacity_fit,2,,,count,two GPUs in BF16,2026",
        "h,x,H200 / DeepSeek-R1,capacity_fit,2256,,,GB,two nodes of 8 GPUs hold DeepSeek-R1 in BF16,2026",
        'i,x,H100 SXM / Llama 2 70B,throughput_tokens_per_s_system,2000000,,,tokens/s,"1,024 GPUs FP8",2026',
    )
    assert "141.1 GB <= 160 GB of 2 x A100-80GB" in found["g"].finding.arithmetic
    assert [found[name].finding.verdict for name in "abcdefhi"] == [
        "consistent", "physically_impossible", "consistent", "unverifiable", "unverifiable", "consistent", "consistent",
        "unverifiable",
    ]  # fmt: skip


def test_a_place_is_a_region_of_aws(ask):
    """Tokyo's price is not Virginia's, and an accusation says of which regions prices are known."""
    line = '{},x,p5.48xlarge,price_usd_per_hour_instance,{},,,USD/h,"on demand, {}",2026-03-01'
    places = {"a": "Tokyo", "b": "N. Virginia", "c": "", "d": "Canada (Central)"}
    found = ask(*(line.format(name, 68.8 if name in "cd" else 55.04, place) for name, place in places.items()))
    assert [each.finding.verdict for each in found.values()] == [
        "unverifiable", "consistent", "inconsistent", "unverifiable"
    ]  # fmt: skip
    assert ", AWS, on demand, ap-northeast-1" in found["a"].finding.arithmetic
    assert "never seen as claimed in us-east-1" in found["c"].finding.arithmetic


def test_a_price_of_no_region_is_not_of_another_one(con, read):
    """Who names no region of AWS may mean N. Virginia, of whose prices a file of other regions says nothing."""
    told = read("a,x,p5.48xlarge,price_usd_per_hour_instance,68.8,,,USD/h,on-demand,2026-03-01")
    evidence = Evidence(con, told)
    evidence.offers = {
        number: one._replace(region_id="eu-central-1")
        for number, one in evidence.offers.items() if one.region_id == "us-east-1"
    }  # fmt: skip
    assert judge(told, evidence)[0].finding.verdict == "unverifiable"


def test_whose_price_it_is_must_be_told(ask):
    """A seller named in the conditions is the seller; of two things no price is judged as the first one's."""
    found = ask(
        "a,x,H100 SXM,price_per_chip,3.99,,,USD/h,Lambda on-demand,2026-08-01",
        "b,x,H100 SXM,price_per_chip,4.54,,,USD/h,Lambda on-demand,2026-08-01",
        "c,x,trn1.32xlarge vs p5.48xlarge,price_usd_per_hour_instance,55.04,,,USD/h,on-demand,2026-03-01",
    )  # fmt: skip
    assert [found[name].finding.verdict for name in "abc"] == ["consistent", "inconsistent", "unverifiable"]


def test_texts_word_terms_sellers_and_rates_in_many_ways(ask):
    """One year is a term, a term without an option a commitment, GCP Google Cloud; dollars and seconds have forms."""
    machine = '{},x,p5.48xlarge,price_usd_per_hour_instance,{},,,USD/h,"us-east-1, {}",2026-09-24'
    chip = "{},x,H100 / {},price_per_chip,{},,,USD/h,on-demand,2026-08"
    tokens = '{},{},H200 / Llama 3 70B,cpm,{},,,{},"{}",2026'
    found = ask(
        machine.format("a", 40.45, "one-year Savings Plan"), machine.format("b", 36.68, "one-year Savings Plan"),
        machine.format("c", 40.45, "1-year commitment"), machine.format("d", 36.68, "3Y SP"),
        chip.format("e", "GCP", 11.06), chip.format("f", "Microsoft Azure", 12.29),
        chip.format("g", "Lambda Labs", 3.99),
        tokens.format("h", 1, 0.84, "$/M", "$4.54/GPU/hr, 50 tokens/s per user at 1,500 tokens/sec"),
        tokens.format("i", 2, 0.84, "$/M", "$4.54 per GPU-hour and 1500 tokens per second"),
        tokens.format("j", 3, 0.00084, "$/1K tokens", "4.54 USD/hr, 1,500 output tok/s"),
        "k,y,H100,price_per_chip,2.50,,,USD/h,,2026",
        'l,y,H100 / Llama 3 70B,cost_to_train,15200000,,,USD,"15 trillion tokens, MFU of 40%, 15% overhead",2026',
        'm,z,2xH100 / Llama 3 70B,throughput_tokens_per_s_system,4000,,,tok/s,"bs=8, output, no speculation",2026',
        'n,w,p5.48xlarge,price_usd_per_month,9687,,,USD/month,"us-east-1, 8 hours a day, 22 days",2026-03',
        "o,v,H100 vs A100,ratio_price_per_chip,3.0,,,x,AWS on-demand,2026-03",
        "p,u,H100,spot_available,yes,,,flag,at Lambda,2026-11",
        chip.format("q", "CoreWeave", 2.46).replace("on-demand", "interruptible"),
        chip.format("r", "Together", 3.99), chip.format("s", "Lambda Cloud", 3.99), chip.format("t", "Mist", 3.99),
    )  # fmt: skip
    assert "".join(one.finding.verdict[0] for one in found.values()) == "ciccccccccccpciucccu"
    assert found["j"].finding.recomputed == pytest.approx(0.00084077, rel=1e-4)


def test_a_price_and_a_rate_may_be_of_other_numbers_of_chips(ask):
    """A chip's price serves a system's tokens by all of its chips, and a machine's price one chip's by its share.

    Four H100 at 2.50 USD each with 3,400 tokens/s, and eight at 55.04 USD with 20,000, are sums of published pages
    (https://kshirol-dev.github.io/learnAI/AIInfrastructure/09-inference-infrastructure.html).
    """
    line = '{},{},{} / Llama 3 70B,{},{},,,{},"{}",2026'
    price, machine = "{},{},{},price_per_chip,{},,,USD/h,,2026", "{},{},{},price_usd_per_hour_instance,{},,,USD/h,,2026"
    of_chip, of_system = ("throughput_tokens_per_s_" + one for one in ("per_chip", "system"))
    found = ask(
        line.format("a", 1, "4x H100", "cpm", 0.82, "$/1M tokens", "4 x $2.50/hr = $10/hr, 3,400 tok/s"),
        line.format("b", 2, "H100", "cpm", 0.82, "$/1M tokens", "$2.50/GPU/hr, 3,400 tok/s on 4 GPUs"),
        line.format("c", 3, "H100", "cpm", 0.42, "$/1M tokens", "$2.00/hr per GPU, 2 GPUs, 2,640 tok/s"),
        line.format("d", 4, "4x H100", "cpm", 0.41, "$/1M tokens", "$2.50/GPU/hr, 3,400 tok/s"),
        line.format("e", 4, "4x H100", "cpm", 0.82, "$/1M tokens", "$2.50/GPU/hr, 850 tok/s per GPU"),
        price.format("p", 5, "H100", 2.5),
        line.format("q", 5, "4x H100", of_system, 3400, "tokens/s", ""),
        line.format("f", 5, "4x H100", "cpm", 0.82, "$/1M tokens", ""),
        machine.format("r", 6, "p5.48xlarge", 55.04),
        line.format("s", 6, "H100", of_chip, 2500, "tokens/s", ""),
        line.format("g", 6, "p5.48xlarge", "cpm", 0.76, "$/1M tokens", ""),
        line.format("h", 6, "p5.48xlarge", "cpm", 6.12, "$/1M tokens", ""),
        line.format("i", 6, "H100", "cpm", 0.76, "$/1M tokens", ""),
        line.format("j", 6, "H100", "cpm", 6.12, "$/1M tokens", ""),
    )
    verdicts = [found[name].finding.verdict for name in "abcdefghij"]
    assert "".join(one[0] for one in verdicts) == "cccicccicu"
    assert found["f"].finding.rests_on == ("p", "q")
    assert found["g"].finding.recomputed == pytest.approx(55.04 / 8 / 2500 / 3600 * 1e6, rel=1e-4)


def test_what_a_stale_price_became_is_of_the_same_offer(ask):
    """Verda's B300 went from 7.50 to 9.24; that one with confidential computing costs 7.65 is nearer, and no answer."""
    (found,) = ask("a,x,B300 / Verda,price_per_chip,7.50,,,USD/h,on-demand,2026-08-20").values()
    assert (found.finding.verdict_today, found.finding.recomputed) == ("stale", 9.24)


def test_a_discount_is_of_what_it_names(ask):
    """Prices of another chip or seller in the same text bear it out no more than a price that moved."""
    price = "{},x,{},price_per_chip,{},,,USD/h,{},2026-08"
    found = ask(
        "a,x,p5.48xlarge,discount_pct,44,,,percent,on-demand price cut,2026-08",
        "b,x,H100 / Verda,discount_pct,50,,,percent,spot,2026-08",
        price.format("c", "B200 / Nebius", 7.15, "on-demand"), price.format("d", "B200 / Nebius", 8.5, "on-demand"),
        price.format("e", "B200 / Nebius", 2.2, "spot"), price.format("f", "H100 / Verda", 1.625, "spot"),
        price.format("g", "H100 / Verda", 3.25, "on-demand"),
    )  # fmt: skip
    assert [found[name].finding.verdict for name in "ab"] == ["unverifiable", "consistent"]
    assert found["b"].finding.rests_on == ("f", "g")


def test_a_hedge_of_another_number_is_none_of_the_figure(ask):
    """Days, GPUs and per cents of the conditions may be more or fewer; the price is what it says."""
    line = '{},x,H100 / Together AI,price_per_chip,{},,,USD/h,"{}",2026-08-05'
    words = ("reserved for 181+ days", "reserved, at least 64 GPUs", "reserved, up to 60% off", "reserved, up to 3.19")
    found = ask(*(line.format(name, 1.5, each) for name, each in zip("abcd", words, strict=True)),
                line.format("e", 3.19, words[0]), line.format("f", 3.99, "reserved, up to $3.99"))  # fmt: skip
    assert "".join(found[name].finding.verdict[0] for name in "abcdef") == "iiiicc"


def test_a_hedge_is_given_to_the_claim(ask):
    """8 % above the bound is impossible as it stands, and not where it is told as estimated."""
    bound = 2517e12 / (6 * 70.55e9)
    metric = "throughput_tokens_per_s_per_chip"
    line = f'{{0}},x,Trainium3 / Llama 3 70B,{metric},{{1:.1f}},,,tokens/s/chip,"pre-training, {{2}}",2026'
    found = ask(
        line.format("a", bound * 1.08, "dense"), line.format("b", bound * 1.08, "estimated"),
        line.format("c", bound * 1.2, "estimated"), line.format("d", bound * 1.04, "~"),
    )  # fmt: skip
    assert {name: one.finding.verdict == "physically_impossible" for name, one in found.items()} == {
        "a": True, "b": False, "c": True, "d": False,
    }  # fmt: skip


def test_a_ratio_of_prices_is_of_one_place(con, read):
    """Prices of two regions make no ratio: neither was ever asked where the other was."""
    told = read("a,x,p5.48xlarge vs trn1.32xlarge,ratio_price,2.56,,,x,on-demand,2026-03-01")
    evidence = Evidence(con, told)
    evidence.offers = {number: one for number, one in evidence.offers.items()
                       if one.region_id == "us-east-1" and one.purchase_option == "on_demand"}  # fmt: skip
    assert judge(told, evidence)[0].finding.verdict == "consistent"
    evidence.offers = {
        number: one._replace(region_id="us-west-2") if one.instance_type == "trn1.32xlarge" else one
        for number, one in evidence.offers.items()
    }
    del evidence._by_name
    assert judge(told, evidence)[0].finding.verdict == "unverifiable"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "b,x,H100 SXM / Llama 3 70B,throughput_tokens_per_s_per_chip,,800,,tokens/s/chip,training,2026\n"
            "a,x,H100 SXM / Llama 3 70B,mfu_range,40,,,percent,training,2026",
            "no end",
        ),
        (
            "b,x,H100 SXM / Llama 3 70B,throughput_tokens_per_s_per_chip,0,,,tokens/s/chip,serving,2026\n"
            "c,x,H100 SXM,price_per_chip,2,,,USD/h,on demand,2026\n"
            "a,x,H100 SXM / Llama 3 70B,cpm,0.7,,,$/1M tokens,,2026",
            "must be above 0",
        ),
        (
            "b,x,A100,price_per_chip,0,,,USD/h,on demand,2026\nc,x,H100 SXM,price_per_chip,2,,,USD/h,on demand,2026\n"
            "a,x,H100 SXM vs A100,ratio_price_per_chip,2,,,x,,2026",
            "holds 0",
        ),
        ("a,x,p5.48xlarge,price_usd_per_month,2,,,USD/month,for 0 h,2026", "zero"),
        (
            "b,x,Trn2 UltraServer,spec_accelerators,,64,,count,,2026\n"
            "c,x,Trn2 UltraServer,spec_accelerators,0,,,count,,2026\n"
            "a,x,Trn2 UltraServer / Llama 3 70B,throughput_tokens_per_s_system,,9000,,tokens/s,training,2026",
            "claimed 9000 tokens/s is 2% of",
        ),
    ],
)
def test_what_cannot_be_computed_with_is_left_open(ask, text, reason):
    """An open range or a figure of 0 leaves its claim open; others are judged."""
    found = ask(*text.split("\n"), "z,x,H100 SXM,spec_memory_gb,80,,,GB,,2026")
    assert found["a"].verdict == "unverifiable"
    assert reason in found["a"].finding.arithmetic
    assert found["z"].verdict == "consistent"


def test_what_is_up_to_a_figure_has_to_reach_it(ask):
    """A peak, a memory or a measured rate below it does not bear it out; "at least" is borne out by more."""
    line = "{},x,{},{},{},,,{},{},2026"
    rate = "throughput_tokens_per_s_per_chip"
    found = ask(
        line.format("a", "H100 SXM", "spec_fp8_tflops", 9999, "TFLOPS", "up to"),
        line.format("b", "H100 SXM", "spec_fp8_tflops", 1979, "TFLOPS", "up to"),
        line.format("c", "Trn3 UltraServer", "spec_fp8_pflops", 362, "PFLOPS", "up to"),
        line.format("d", "H100 SXM", "spec_memory_gb", 60, "GB", "at least"),
        f"e,x,H200 SXM / Llama 2 70B,{rate},9000,,,tokens/s/chip,up to; output tokens,2026",
        f"f,x,H200 SXM / Llama 2 70B,{rate},4000,,,tokens/s/chip,up to; output tokens,2026",
    )  # fmt: skip
    assert "".join(found[name].finding.verdict[0] for name in "abcdef") == "icccuc"
    assert "362.4 PFLOPS: 144 x Trainium3" in found["c"].finding.arithmetic


def test_a_day_between_two_known_prices_is_a_gap(con, read):
    """Of which the price after it is told, as it is no last one before it."""
    told = read('a,x,H100 SXM / Lambda,price_per_chip,9.99,,,USD/h,"on-demand",2025-06-01')
    words = judge(told, Evidence(con, told))[0].finding.arithmetic
    assert "the history has a gap there: next" in words


def test_a_measured_utilisation_is_of_a_dense_peak(ask):
    """No training runs at sparse peaks, so that 38 % of one bear out no 38 to 43 %; of a dense one they would."""
    line = "{},x,H100 SXM / Llama 3.1 405B,mfu_range,,{},{},percent,{},2024-07-23"
    found = ask(
        line.format("a", 37, 39, "pre-training; BF16"), line.format("b", 37, 39, "pre-training; BF16 sparse"),
        line.format("c", 74, 78, "pre-training; BF16"),
    )  # fmt: skip
    assert [found[name].finding.verdict for name in "abc"] == ["unverifiable", "consistent", "consistent"]
    assert "dense BF16 peak" in found["a"].finding.arithmetic


def test_what_is_published_may_be_rounded(ask):
    """AMD's own 2,614.9 is 2,615 here and Google's 7.37 is 7.38: neither is false, as 2,605 and 7.3 are."""
    line = "{},x,{},{},{},,,{},peak,2026"
    found = ask(
        line.format("a", "MI300X", "spec_fp8_tflops", 2614.9, "TFLOPS"),
        line.format("b", "MI300X", "spec_fp8_tflops", 2605, "TFLOPS"),
        line.format("c", "TPU v7", "spec_memory_bandwidth_tb_s", 7.37, "TB/s"),
        line.format("d", "TPU v7", "spec_memory_bandwidth_tb_s", 7.3, "TB/s"),
        line.format("e", "Trn2 UltraServer", "spec_fp8_pflops", 83.2, "PFLOPS"),
    )  # fmt: skip
    assert "".join(found[name].finding.verdict[0] for name in "abcde") == "cicic"


def test_without_sparsity_is_dense(ask):
    """AWS gives an UltraServer of 72 GB200 360 PFLOPS "without sparsity", which is no sparse figure."""
    line = 'a,x,u-p6e-gb200x72,spec_fp8_pflops,360,,,PFLOPS,"{}",2025-07-09'
    verdicts = [ask(line.format(words))["a"].finding for words in ("FP8 without sparsity", "FP8 with sparsity")]
    assert [one.verdict for one in verdicts] == ["consistent", "inconsistent"]
    assert "72 x GB200 NVL72 dense_fp8_tflops" in verdicts[0].arithmetic


def test_a_rate_at_a_batch_is_no_part_of_a_system_at_another(ask):
    """NVIDIA's 21,800 on 8 H100 stand although the same text has 14,000 of one chip at batch 1, which cannot be."""
    rate = "throughput_tokens_per_s"
    found = ask(
        f"a,x,8x H100 SXM / Llama 2 70B,{rate}_system,21800,,,tokens/s,MLPerf Server FP8 output tokens,2026",
        f"b,x,H100 SXM / Llama 2 70B,{rate}_per_chip,14000,,,tokens/s/chip,output tokens batch 1,2026",
        f"c,y,8x H100 SXM / Llama 2 70B,{rate}_system,21800,,,tokens/s,MLPerf Server FP8 output tokens,2026",
        f"d,y,H100 SXM / Llama 2 70B,{rate}_per_chip,14000,,,tokens/s/chip,output tokens,2026",
    )  # fmt: skip
    assert "".join(found[name].finding.verdict[0] for name in "abc") == "cpi"


def test_weights_in_tf32_take_the_room_of_fp32(ask):
    """TF32 is a way to compute with numbers of 32 bits: 70.6 billion of them take 282 GB."""
    found = ask("a,x,H100 SXM / Llama 3 70B,capacity_fit,1,,,flag,in TF32,2026")["a"]
    assert (found.verdict, "282" in found.finding.arithmetic) == ("physically_impossible", True)
