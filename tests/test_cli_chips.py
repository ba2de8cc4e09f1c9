"""The commands `chips` and `fit`, on the file of an offline run."""

import json
import re

import pytest
from click.testing import CliRunner

from flows.cli.main import main


@pytest.fixture(scope="module")
def call(offline_run):
    """Return a function that runs a command on the data of one offline run."""
    return lambda *words: CliRunner().invoke(main, ["--data-dir", str(offline_run), *words])


def test_chips_compares_facts_ratios_prices_and_sources(call):
    """H100 SXM at its own price; B200 in ratio to it; PCIe and NVL are other chips of the name."""
    found = json.loads(call("chips", "h100 sxm", "B200", "--against", "H100 SXM", "--json").stdout)

    shown = [(row["accelerator_name"], row["form_factor"]) for row in found["chips"]]
    assert shown == [("B200", None), ("H100", "SXM")]
    assert (found["against"], found["ratios"][0]["memory_gb"]) == ([found["chips"][1]], 2.25)
    assert "\nAs a ratio to H100 NVL:\n" in call("chips", "H200", "--against", "H100").stdout  # which of three it is
    assert set(found["ratios"][1].values()) <= {"H100", "SXM", 1, None}
    of_h100 = [row for row in found["prices"] if row["accelerator_name"] == "H100"]
    assert {row["purchase_option"] for row in of_h100} == {
        "on_demand", "reserved", "savings_plan", "spot", "capacity_block",
    }  # fmt: skip
    (price,) = [row for row in of_h100 if row["purchase_option"] == "on_demand"]
    assert (price["service_provider_name"], price["cheapest_price_usd"]) == ("Hyperstack", 3.2)
    assert price["price_per_bf16_pflop_hour"] == pytest.approx(3.2 / 0.989)
    assert price["price_per_gb_hour"] == pytest.approx(3.2 / 80)
    assert {row["fact_rank"] for row in found["disagreements"]} >= {1, 2}


def test_chips_prints_all_of_them_in_words(call):
    """Every chip with facts, Trainium3 among them, which nobody is known to sell, as it says."""
    text = call("chips").stdout

    assert "Trainium3" in text.split("Cheapest price seen")[0]
    prices, costs = text.split("Cheapest price seen")[1].split("A million output tokens of deepseek-r1, on demand:")
    assert "Trainium3" not in prices
    lines = [line for line in re.sub(r"\n  +", " ", costs).splitlines() if line.startswith("Trainium3 ")]
    assert len(lines) == 2
    for line in lines:
        assert re.search(r"unknown: no price, last searched on \d{4}-\d\d-\d\d in \d+ sources", line)


def test_a_chip_of_several_memories_is_all_of_them(call):
    """`A100` is that of 40 GB and that of 80; no INT8 counts as FLOP: it has one peak of both."""
    found = json.loads(call("chips", "A100", "--json").stdout)

    assert {row["accelerator_name"] for row in found["chips"]} == {"A100-40GB", "A100-80GB"}
    assert {row["accelerator_name"] for row in found["costs"]} == {"A100-40GB", "A100-80GB"}
    for price in found["prices"]:
        assert price["price_per_pflop_hour"] == price["price_per_bf16_pflop_hour"]


def test_a_family_of_machines_names_its_chip(call):
    """`trn3` is a Trainium3, here and where a move is decided; what it costs is unknown, in words."""
    assert re.search("^Trainium3 ", call("chips", "trn3").stdout, re.M)
    words = ("--from", "h100 on_demand aws", "--to", "trn3 on_demand", "--engineers", "2", "--rate", "150")
    text = call("breakeven", *words, "--migration-weeks", "3").stdout
    assert "unknown: no price of Trainium3, on_demand, any provider" in text


@pytest.mark.parametrize(
    ("word", "said"),
    [("H1000", "unknown chip"), ("H100-8", "a number of chips"), ("A100 1g.5gb", "a part of a chip"),
     ("RTX 3090", "nothing is published")],
)  # fmt: skip
def test_a_chip_that_is_not_known_is_refused(call, word, said):
    """It is named, and nothing near it is shown instead."""
    result = call("chips", word, "--json")

    assert result.exit_code == 2
    assert said in json.loads(result.stderr)["error"]
    assert result.stdout == ""


def test_fit_says_on_how_many_chips_and_how_fast_at_most(call):
    """Llama 3 70B in FP8 with 32 sequences of 8k: 156 GB and activations, too much for 0.9 of two H100; one B200."""
    words = ("fit", "--model", "Llama-3-70B", "--precision", "fp8", "--context", "8k", "--batch", "32")
    chips = {(row["accelerator_name"], row["form_factor"]): row for row in json.loads(call(*words, "--json").stdout)}

    assert chips["H100", "SXM"]["accelerators_needed"] == 4
    held = 70.55 + 32 * 8192 * 327680 / 1e9 + 8192 * 8192 * (10 * 4 + 24) / 1e9
    assert chips["H100", "SXM"]["memory_needed_gb"] == pytest.approx(held, rel=1e-3)
    assert chips["H100", "SXM"]["binding_bound"] == "bandwidth"
    assert chips["B200", None]["accelerators_needed"] == 1
    assert chips["V100", "SXM"]["accelerators_needed"] is None
    assert chips["A100-80GB", "SXM"]["output_rate_bound"] is None
    counts = {row["accelerators_needed"] for row in chips.values()} - {None}
    assert counts <= {1, 2, 4, 8, 12, 16}
    (inferentia,) = (row for row in chips.values() if row["accelerators_needed"] == 12)
    assert (inferentia["accelerator_name"], inferentia["accelerators_used"]) == ("Inferentia2", 8)
    text = call(*words, "--wide").stdout
    assert f"12 x bf16, {inferentia['measured_on']}, {inferentia['source_url']}" in text
    assert "V100 SXM: the memory of the chip is not known" in text


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--model", "llama-9-1t"), 2, "no such model"),
        (("--model", "llama-3-70b", "--context", "8q"), 2, "write 8192 or 8k"),
        (("--model", "llama-3-70b", "--context", "9M"), 2, "at most 8192"),
        (("--model", "llama-3-70b", "--precision", "fp9"), 2, "precision_name must be"),
    ],
)
def test_a_wrong_question_says_what_is_allowed(call, words, code, said):
    result = call("fit", *words)

    assert result.exit_code == code
    assert said in result.stderr
