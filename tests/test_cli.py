"""The command line: what it prints, where, and with which exit code."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from few_marts import published_with

from extract import SOURCES
from flows.cli.main import main

ROOT = Path(__file__).parent.parent
UNREACHABLE = """
[sources.nebius]
url = "http://127.0.0.1:9/pricing"
[sources.aws_price_list]
access = "bulk"
bulk_url = "http://127.0.0.1:9"
[sources.aws_savings_plans]
access = "bulk"
bulk_url = "http://127.0.0.1:9"
[sources.aws_spot_feed]
enabled = true
prices_url = "http://127.0.0.1:9/spot.json"
advisor_url = "http://127.0.0.1:9/advisor.json"
[sources.aws_capacity_block_rates]
url = "http://127.0.0.1:9/rates.json"
"""


def call(*words: str | Path, data_dir: Path):
    return CliRunner().invoke(main, ["--data-dir", str(data_dir), *(str(word) for word in words)])


@pytest.fixture(scope="module")
def published(offline_run, tmp_path_factory):
    """A data directory after one offline run, of this module's own."""
    folder = tmp_path_factory.mktemp("data")
    shutil.copytree(offline_run, folder / "offline")
    return folder


def report_of_one_line(settings, summary, **_):
    """Write a report without any content, where the report is."""
    summary.report = settings.data_dir / "reports" / "index.html"
    summary.report.parent.mkdir()
    summary.report.write_text("a report\n")
    return summary.report


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.prove)], ids=["short", "whole"])
def test_offline_run_names_file_and_report(tmp_path, whole):
    """A run ends with the names of what it made, and both exist; at length with all scopes, marts and pages."""
    with nullcontext() if whole else published_with(least=()), pytest.MonkeyPatch.context() as patch:
        if not whole:
            patch.setattr("flows.collect.publisher.report", report_of_one_line)
        result = call("run", "--offline", *([] if whole else ["--scope", "us-gov-east-1"]), data_dir=tmp_path)
    assert result.exit_code == 0, result.output
    file, report = re.search(r"file: (.*)\nreport: (.*)\n", result.stdout).groups()
    assert {tmp_path} < {*Path(file).parents} & {*Path(report).parents}
    assert Path(file).is_file()
    assert Path(report).is_file()


def test_query_gives_the_documented_prices(published):
    """p5.48xlarge costs 55.04 a machine-hour and 6.88 a chip-hour, down 44 % in June 2025 from 98.32."""
    price = json.loads(
        call(
            "query", "--json",
            "select unit_price, price_per_accelerator_hour, is_current from int.accelerator_hour_price "
            "where instance_type = 'p5.48xlarge' and region_id = 'us-east-1' and purchase_option = 'on_demand'",
            data_dir=published,
        ).stdout
    )  # fmt: skip
    assert price == [{"unit_price": 55.04, "price_per_accelerator_hour": 6.88, "is_current": True}]
    change = json.loads(
        call(
            "query", "--json",
            "select unit_price_before, round(change_ratio, 2) as ratio, observed_at from int.price_change "
            "where instance_type = 'p5.48xlarge' and change_kind = 'list_change' and purchase_option = 'on_demand'",
            data_dir=published,
        ).stdout
    )  # fmt: skip
    assert change == [{"unit_price_before": 98.32, "ratio": -0.44, "observed_at": "2025-06-23T13:18:30Z"}]


def test_query_prints_every_column_where_no_terminal_cuts_it(published):
    """Piped output is whole: no column is left out for width."""
    text = call("query", "from int.accelerator_hour_price", data_dir=published).stdout
    assert "price_per_accelerator_hour_usd" in text
    assert "…" not in text


def test_query_cannot_write(published):
    """Only a SELECT is answered, and the file is as it was."""
    before = (published / "offline/prices.duckdb").read_bytes()
    result = call("query", "--json", "delete from core.offer", data_dir=published)
    assert result.exit_code == 2
    assert "DELETE is not answered, only SELECT is" in json.loads(result.stderr.splitlines()[-1])["error"]
    assert (published / "offline/prices.duckdb").read_bytes() == before


def test_query_stops_at_its_timeout(published):
    """A question without an end is stopped, and says so."""
    endless = "select count(*) from range(1000000000) as a, range(1000000000) as b where a.range + b.range = 3"
    result = call("query", "--timeout", "0.3", endless, data_dir=published)
    assert result.exit_code == 1
    assert "stopped after 0.3 s" in result.stderr


def test_query_without_a_file_says_how_to_make_one(tmp_path):
    """No published file is an error with advice."""
    result = call("query", "select 1", data_dir=tmp_path)
    assert result.exit_code == 1
    assert "chipledger run --offline" in result.stderr


@pytest.mark.parametrize("document", ["README.md", "docs/querying.md"])
def test_documented_questions_run(published, document):
    """Every SQL text in the documents runs on the published file."""
    text = (ROOT / document).read_text()
    questions = re.findall(r"```sql\n(.*?)```", text, flags=re.DOTALL)
    questions += re.findall(r'chipledger query(?: --json)? "(.*?)"', text, flags=re.DOTALL)
    assert len(questions) >= 3
    with duckdb.connect(str(published / "offline/prices.duckdb"), read_only=True) as con:
        for question in questions:
            con.execute(question).fetchall()


@pytest.mark.usefixtures("quick")
def test_run_without_a_network_publishes_nothing(published, tmp_path, monkeypatch):
    """Nothing fresh: each source is named, the last file stays as it was, and the exit code is 1."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    others = [source.name for source in SOURCES if source.provider != "AWS" and source.kind == "live"]
    off = "".join(f"[sources.{name}]\nenabled = false\n" for name in others if name != "nebius")
    (tmp_path / "chipledger.toml").write_text(UNREACHABLE + off)
    before = (published / "offline/prices.duckdb").stat()
    result = call("--settings", tmp_path / "chipledger.toml", "run", data_dir=published)
    after = (published / "offline/prices.duckdb").stat()
    assert result.exit_code == 1
    for name in ("aws_price_list", "aws_savings_plans", "aws_spot_feed", "aws_capacity_block_rates", "nebius"):
        assert f"no fresh prices: {name}" in result.stdout
    for name in ("aws_spot", "aws_capacity_blocks", "aws_instance_types"):
        assert f"{name} is left out" in result.stdout
    assert "nothing was published" in result.stdout
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_parse_prints_json_lines_with_the_columns_of_an_offer(shared, tmp_path):
    """One object a line: what makes the offer, and the amounts."""
    sample = shared / "data" / "aws_samples" / "pricing_get_products_us_east_1.json"
    result = call("parse", "--source", "aws_price_list", sample, data_dir=tmp_path)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert {"p5.48xlarge": 55.04, "p4d.24xlarge": 21.957642, "trn1.32xlarge": 21.5, "inf2.xlarge": 0.7582}.items() <= {
        row["instance_type"]: row["unit_price"] for row in rows
    }.items()
    assert {"on_demand"} == {row["purchase_option"] for row in rows}


def test_parse_reads_an_answer_as_it_is_kept_compressed(shared, tmp_path):
    """The same rows as of the answer itself, here 90 days of spot prices of one type."""
    packed = shared / "data" / "aws_samples" / "spot_history_us_east_1_p2.xlarge_20210530.json.gz"
    (tmp_path / "answer.json").write_bytes(gzip.decompress(packed.read_bytes()))
    of_both = [
        call("parse", "--source", "aws_spot", file, data_dir=tmp_path) for file in (packed, tmp_path / "answer.json")
    ]
    assert [result.exit_code for result in of_both] == [0, 0]
    assert of_both[0].stdout == of_both[1].stdout


def test_parse_of_a_file_without_accelerators_says_so(shared, tmp_path):
    """No line on stdout, a note of what was left out on stderr, and exit code 0: it is an answer."""
    sample = shared / "data" / "aws_samples" / "savings_plan_bulk_AWSDatabaseSavingsPlans_ap-south-2_20260422.csv"
    result = call("parse", "--source", "aws_savings_plans", sample, data_dir=tmp_path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith(f"note: no price of an accelerator in {sample.name} (")


def test_parse_says_what_it_leaves_out(tmp_path):
    """By reason and number, and by name where there is no rule: a chip that is not there was not read."""
    answer = Path(__file__).parent / "neoclouds" / "fixtures" / "azure.json"
    result = call("parse", "--source", "azure", answer, data_dir=tmp_path)
    assert result.exit_code == 0
    assert "note: left out: Cloud Services: 1; " in result.stderr
    assert "; no rule for the size Standard_ND900_H900_v9" in result.stderr


def test_parse_of_something_else_is_an_error_object(tmp_path):
    """A file in another format gives an object with source, field, value and hint on stderr, and exit code 1."""
    (tmp_path / "page.html").write_text("<html>sign in</html>\n")
    result = call("parse", "--source", "aws_price_list", tmp_path / "page.html", data_dir=tmp_path)
    assert result.exit_code == 1
    assert {"error", "source", "field", "value", "hint"} == set(json.loads(result.stderr))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("worker = 3", "worker"),
        ("workers = 0", "workers"),
        ("[sources.aws]", "sources.aws"),
        ('[sources.aws_price_list]\naccess = "front"', "sources.aws_price_list.access"),
        ("not toml", "TOML"),
    ],
)
def test_wrong_settings_are_usage_errors_that_name_them(tmp_path, text, named):
    """A wrong setting is named with what is allowed; the exit code is 2."""
    (tmp_path / "chipledger.toml").write_text(text)
    result = call("--settings", tmp_path / "chipledger.toml", "sources", data_dir=tmp_path)
    assert result.exit_code == 2
    assert named in result.stderr


def test_import_twice_gives_the_same_events_once(shared, tmp_path):
    """The second import of a file adds no event."""
    file = shared / "data" / "aws_on_demand_observations.csv"
    with published_with(least=()):
        first = json.loads(call("import", "--json", file, data_dir=tmp_path).stdout)
        second = json.loads(call("import", "--json", file, data_dir=tmp_path).stdout)
    assert (first["events"], second["events"]) == (127, 0)


def test_import_refuses_wrong_rows_alone(tmp_path):
    """Each wrong row is refused by field and value; the right one is imported."""
    (tmp_path / "seen.csv").write_text(
        "observed_at_utc,provider,region,pricing,usd_per_hour,instance_type,currency\n"
        "2026-01-01T00:00:00Z,aws,us-east-1,on_demand,55.04,p5.48xlarge,USD\n"
        "2026-01-01T00:00:00Z,aws,us-east-1,on_demand,lots,p4d.24xlarge,USD\n"
        "2026-01-01T00:00:00Z,aws,us-east-1,on_demand,1.5,g5.xlarge,EUR\n"
        "2999-01-01T00:00:00Z,aws,us-east-1,on_demand,1.5,g6.xlarge,USD\n"
        "yesterday,aws,us-east-1,on_demand,1.5,g6.2xlarge,USD\n"
        "2026-01-01T00:00:00Z,aws,us-east-1,on_demand,0.12345678901,g6.4xlarge,USD\n"
        "2026-01-01T00:00:00Z,aws,us-east-1,on_demand,2,g6.8xlarge,USD\n"
        "2026-01-01T00:00:00Z,aws,us-east-1,on_demand,3,g6.8xlarge,USD\n"
    )
    with published_with("accelerator_hour_price", least=()):
        assert call("import", tmp_path / "seen.csv", data_dir=tmp_path).exit_code == 0
    rows = json.loads(call("quarantine", "list", "--json", data_dir=tmp_path).stdout)
    assert sorted(
        [
            ("unit_price", "lots"),
            ("pricing_currency", "EUR next to usd_per_hour"),
            ("observed_at_utc", "2999-01-01T00:00:00Z"),
            ("observed_at_utc", "yesterday"),
            ("unit_price", "0.12345678901"),
            ("unit_price", "2"),
            ("unit_price", "3"),
        ]
    ) == sorted((row["field"], row["value"]) for row in rows)
    prices = json.loads(
        call("query", "--json", "select instance_type from int.accelerator_hour_price", data_dir=tmp_path).stdout
    )
    assert prices == [{"instance_type": "p5.48xlarge"}]


def test_a_second_run_waits_or_says_who_holds_the_lock(tmp_path):
    """While one process writes, another is refused with the holder's process id."""
    script = "import sys, time; from pathlib import Path; from warehouse.log import db\n" \
             "with db.writer(Path(sys.argv[1])): print('held', flush=True); time.sleep(30)"  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-c", script, tmp_path / "offline"], stdout=subprocess.PIPE, text=True
    ) as holder:
        try:
            assert holder.stdout.readline() == "held\n"
            result = call("run", "--offline", data_dir=tmp_path)
        finally:
            holder.kill()
    assert result.exit_code == 1
    assert f"process {holder.pid}" in result.stderr


def test_quick_commands_import_nothing_slow(published):
    """No Prefect, pandera, boto3, polars or pydantic is imported on the path of `query`, whose stdout may be closed."""
    script = (
        "import sys; from flows.cli.main import main\n"
        "main(['--data-dir', sys.argv[1], 'query', 'select 1'], standalone_mode=False)\n"
        "slow = {'prefect', 'pandera', 'boto3', 'polars', 'great_tables', 'pydantic'} & set(sys.modules)\n"
        "print(*sorted(slow), file=sys.stderr)"
    )
    words = [sys.executable, "-c", script, published]
    done = subprocess.run(words, check=True, capture_output=True, text=True, preexec_fn=lambda: os.close(1))
    assert done.stderr.splitlines()[1:] == [""]


@pytest.mark.parametrize("words", ["build", "withdraw x --reason y", "quarantine refuse --all", "import test_cli.py"])
def test_a_mistyped_data_directory_is_not_made(tmp_path, words, monkeypatch):
    """What has no log cannot be decided on; a file that is no CSV of observations is refused before there is one."""
    monkeypatch.chdir(Path(__file__).parent)
    result = call(*words.split(), data_dir=tmp_path / "dat")
    assert (result.exit_code, (tmp_path / "dat").exists()) == (1, False)
    assert ("nothing was ever fetched here. Name another" in result.stderr) != words.startswith("import")


def test_build_publishes_no_log_without_a_fetch(tmp_path):
    """Beside the archive's an empty file would be what is asked from then on."""
    (tmp_path / "landing").mkdir()
    result = call("build", data_dir=tmp_path)
    assert result.exit_code == 1
    assert "there is nothing to publish" in result.stderr
    assert not (tmp_path / "prices.duckdb").exists()


@pytest.mark.parametrize("number", ["inf", "nan", "-inf", "1e400"])
def test_what_is_no_finite_number_is_refused(published, number):
    """Python reads these as numbers; a cost of infinity is none."""
    result = call("cost", "--throughput", "1500", "--price", number, data_dir=published)
    assert result.exit_code == 2
    assert "is not" in result.stderr


def test_a_bare_sum_shows_its_numbers(published):
    """Long reasons beside them do not take their column away."""
    words = ["cost", "--throughput", "1500", "--price", "4.54", "--chip", "h200 sxm", "--model", "llama-3-70b"]
    result = call(*words, "--batch", "8", "--precision", "fp8", data_dir=published)
    assert re.search(r"^ *usd_per_million_tokens +0[.]84", result.stdout, re.MULTILINE)


def test_days_and_months_contradict_each_other(published):
    result = call("decide", "--chip", "H100", "--accelerators", "8", "--days", "3", "--months", "2", data_dir=published)
    assert (result.exit_code, "either days or months" in result.stderr) == (2, True)


@pytest.mark.parametrize("command", ["rebuild", "maintain"])
def test_upkeep_of_an_empty_folder_leaves_it_empty(tmp_path, command):
    """A backup is restored into an empty one, which the message of the first advises."""
    result = call("data", command, data_dir=tmp_path / "data")
    assert re.search("no journal to rebuild from|nothing is published yet", result.output + result.stderr)
    assert [*tmp_path.iterdir()] == []
