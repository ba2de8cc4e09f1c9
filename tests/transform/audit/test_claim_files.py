"""CSV files of claims: what is read, what is refused by name, and the command."""

import json
from datetime import date

import pytest
from click.testing import CliRunner

from flows.cli.main import main
from warehouse.errors import ChipledgerError
from warehouse.reference import claims

GOOD = "a,x,p5.48xlarge,price_usd_per_hour_instance,55.04,,,USD/h,on-demand,2026-03-01"


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (",x,p5.48xlarge,price_per_chip,5,,,USD/h,,2026", "claim_id"),
        ("b,x,,price_per_chip,5,,,USD/h,,2026", "subject"),
        ("b,x,H100,Price,5,,,USD/h,,2026", "metric"),
        ("b,x,H100,price_per_chip,,,,USD/h,,2026", "value"),
        ("b,x,H100,price_per_chip,5,4,,USD/h,,2026", "value"),
        ("b,x,H100,price_per_chip,five,,,USD/h,,2026", "value"),
        ("b,x,H100,price_per_chip,1e400,,,USD/h,,2026", "value"),
        ("b,x,H100,price_per_chip,,6,5,USD/h,,2026", "low"),
        ("b,x,H100,price_per_chip,5,,,EUR/h,,2026", "unit"),
        ("b,x,H100,price_per_chip,5,,,USD/h,,soon", "as_of"),
        ("b,x,H100,price_per_chip,5,,,USD/h,,2026-02-30", "as_of"),
        ("b,x,H100,price_per_chip,5,,,USD/h,,10/01/2026", "as_of"),
        ("a,x,H100,price_per_chip,5,,,USD/h,,2026", "claim_id"),
        ("b,x,H100,price_per_chip,5,,,USD/h,,2026,surplus", "claim_id"),
    ],
)
def test_a_wrong_cell_is_refused_by_name(read, line, field):
    """An unusable cell names its line, field and value, and nothing is audited."""
    with pytest.raises(ChipledgerError) as caught:
        read(GOOD, line)
    assert caught.value.field == field
    assert "line 3" in caught.value.message


def test_a_header_without_a_needed_column_is_refused(read):
    """A file that is no list of claims says which columns are absent."""
    with pytest.raises(ChipledgerError, match="columns are absent") as caught:
        read("1,2", header="claim_id,price")
    assert caught.value.value == "subject, metric, unit, value"


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("2026-07-02", (date(2026, 7, 2), date(2026, 7, 2))),
        ("2026-12", (date(2026, 12, 1), date(2026, 12, 31))),
        ("undated (2026)", (date(2026, 1, 1), date(2026, 12, 31))),
        ("after 2024-12-03 (undated)", (date(2024, 12, 3), None)),
        ("undated", (None, None)),
    ],
)
def test_dates_are_windows(read, text, window):
    """A date is the days on which the claim may have been made."""
    (claim,) = read(GOOD.replace("2026-03-01", text))
    assert (claim.claimed_from, claim.claimed_until) == window


def test_words_are_read_as_conditions(read):
    """Option, term, region, batch, precision, tokens and hedges are read from short words."""
    (claim,) = read(
        'a,x,H100 SXM / Llama 3 70B,cost_to_train,5,,,USD,"~, 300B tokens, FP8, batch 8, 1yr reserved, eu-west-1",2026'
    )
    said = claim.conditions
    assert (said.purchase_option, said.term_hours, said.regions) == ("reserved", 8760, ("eu-west-1",))
    assert (said.batch_size, said.precision, said.tokens) == (8, "fp8", 3e11)
    assert (claim.hedge.share, claim.model_name) == (0.05, "llama-3-70b")


def test_columns_count_before_words(read):
    """A condition in a column of its own stands for that of the words."""
    (claim,) = read(
        "a,H100,price_per_chip,5,USD/h,on-demand,spot",
        header="claim_id,subject,metric,value,unit,conditions,purchase_option",
    )
    assert claim.conditions.purchase_option == "spot"


def test_the_file_of_the_seeds_reads_as_what_is_shipped(shared):
    """The same 249 numbers in another form of the table say the same."""
    seeds = claims.read_table(shared / "data/seed_claims.csv")
    assert [(one.claim_id, one.subject, one.metric, one.figure, one.claimed_from) for one in seeds] == [
        (one.claim_id, one.subject, one.metric, one.figure, one.claimed_from) for one in claims.shipped()
    ]
    assert [one.conditions for one in seeds] == [one.conditions for one in claims.shipped()]


def test_the_command_prints_an_object_a_claim(audited, tmp_path):
    """`audit --claims FILE --json` prints five keys a line; a text that is not there is refused with the names."""
    file = tmp_path / "mine.csv"
    file.write_text(f"claim_id,article,subject,metric,value,low,high,unit,conditions,as_of\n{GOOD}\n", encoding="utf-8")

    def call(*words):
        return CliRunner().invoke(main, ["--data-dir", str(audited.parent), "audit", *words])

    (line,) = call("--claims", str(file), "--json").stdout.splitlines()
    told = json.loads(line)
    assert list(told) == ["claim_id", "verdict", "verdict_today", "recomputed_value", "arithmetic"]
    assert (told["claim_id"], told["verdict"], told["recomputed_value"]) == ("a", "consistent", 55.04)
    assert len(call("--article", "003", "--json").stdout.splitlines()) == 4
    refused = call("--article", "nowhere")
    assert (refused.exit_code, "000_" in refused.stderr) == (2, True)
    assert "249 claims:" in call().stdout
