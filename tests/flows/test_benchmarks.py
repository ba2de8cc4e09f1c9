"""Benchmark results of one's own: added, listed, shown and rebuilt through the command line, each in a fresh folder."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from few_marts import published_with
from published import query

from flows.cli import ask_commands
from flows.cli.main import main
from flows.collect import benchmarks
from warehouse.errors import ChipledgerError
from warehouse.landing.folder import Landing

pytestmark = pytest.mark.usefixtures("least_marts")

WORDS = ("--set", "accelerator=H100 SXM", "--set", "accelerator_count=8", "--set", "precision=fp8")
RUN = {
    "date": "20260102-030405", "backend": "vllm", "model_id": "meta-llama/Llama-3.1-8B-Instruct", "num_prompts": 100,
    "request_rate": "inf", "max_concurrency": 32, "duration": 10.0, "completed": 100, "total_input_tokens": 100000,
    "total_output_tokens": 50000, "request_throughput": 10.0, "output_throughput": 5000.0,
    "total_token_throughput": 15000.0, "median_ttft_ms": 50.0, "median_tpot_ms": 5.0,
}  # fmt: skip
"""A run in the form of vLLM's bench serve, with made-up figures that keep their sums."""


def call(*words: str | Path, data_dir: Path, answers: str | None = None) -> Result:
    return CliRunner().invoke(main, ["--data-dir", str(data_dir), *map(str, words)], input=answers)


def runs(data_dir: Path, columns: str) -> list[tuple[object, ...]]:
    """Return columns of the user's runs in the published file."""
    return query(
        data_dir / "prices.duckdb",
        f"select {columns} from core.throughput where source <> 'catalogue' order by observed_at, throughput_id",
    )


def kept(data_dir: Path) -> list[str]:
    """Return the labels in the journal."""
    return [entry.content["scope"] for entry in Landing(data_dir / "landing").entries()]


@pytest.fixture
def result(tmp_path: Path) -> Path:
    """Return a result file; `result.with_name` gives places for others."""
    file = tmp_path / "results" / "mine.json"
    file.parent.mkdir()
    file.write_text(json.dumps(RUN))
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory) -> Path:
    """Return a data directory whose published file has the catalogue and one result of the user's."""
    folder = tmp_path_factory.mktemp("data")
    file = folder / "mine.json"
    file.write_text(json.dumps(RUN))
    with published_with(least=()):
        assert call("benchmark", "add", file, *WORDS, data_dir=folder).exit_code == 0
    return folder


def test_a_result_is_added_with_its_sentence(result: Path, folder: Path) -> None:
    """What was understood is said in a sentence, and stands in the published file beside the catalogue.

    Commands read that file from then on, not the archive's, and its prices are missed.
    """
    (folder / "offline").mkdir(parents=True)
    (folder / "offline" / "prices.duckdb").touch()
    done = call("benchmark", "add", result, *WORDS, "--name", "rack 7", data_dir=folder)
    told = f"it has no prices until `chipledger run`; --data-dir {folder / 'offline'} has those of the archive\n"
    assert (done.exit_code, done.stderr) == (0, told)
    assert "serving of meta-llama/Llama-3.1-8B-Instruct in fp8 on 8 x H100 SXM gave 5000 output tokens/s" in done.stdout
    columns = (
        "model_name, accelerator_name, form_factor, accelerator_count::INTEGER, precision, output_rate, input_rate, "
        "concurrency, evidence_grade, source, length(document_sha256), observed_at = recorded_at"
    )
    assert runs(folder, columns) == [
        ("llama-3.1-8b", "H100", "SXM", 8, "fp8", 5000.0, 10000.0, 32.0, "C", "benchmark:rack 7", 64, True)
    ]  # fmt: skip


def test_what_is_missing_is_named_at_once(result: Path, folder: Path) -> None:
    """Without a terminal, the error names every missing thing with its flag; nothing is kept."""
    done = call("benchmark", "add", result, "--set", "precision=fp8", "--json", data_dir=folder)
    error = json.loads(done.stderr)
    assert (done.exit_code, error["field"]) == (1, "accelerator, accelerator_count")
    assert error["source"] == "mine.json"
    assert "--set accelerator=..." in error["hint"]
    assert "--set accelerator_count=..." in error["hint"]
    assert {"added": [], "known": [], "file": None, "refused": [error]} == json.loads(done.stdout)
    assert not folder.exists()


@pytest.mark.usefixtures("log_alone")
def test_a_person_is_asked(result: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal each missing thing is asked for with its meaning, and the answers are kept as words."""
    monkeypatch.setattr(ask_commands, "_is_terminal", lambda: True)
    done = call("benchmark", "add", result, "--set", "precision=fp8", data_dir=folder, answers="H100 SXM\n8\n")
    assert done.exit_code == 0, done.stderr
    assert "accelerator_count (chips billed" in done.stderr
    assert runs(folder, "accelerator_name, form_factor, accelerator_count::INTEGER") == [("H100", "SXM", 8)]
    (entry,) = Landing(folder / "landing").entries()
    words = {"accelerator": "H100 SXM", "accelerator_count": "8", "precision": "fp8"}
    assert words == entry.content["documents"][0]["parameters"]


def test_no_answer_adds_nothing(result: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who does not answer a question gets the error that names all of them."""
    monkeypatch.setattr(ask_commands, "_is_terminal", lambda: True)
    done = call("benchmark", "add", result, "--set", "precision=fp8", data_dir=folder, answers="H100\n\n")
    assert done.exit_code == 1
    assert "lacks accelerator, accelerator_count" in done.stderr
    assert not folder.exists()


def test_json_never_asks(result: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that asked for JSON gets the error, on a terminal too."""
    monkeypatch.setattr(ask_commands, "_is_terminal", lambda: True)
    done = call("benchmark", "add", result, "--json", data_dir=folder, answers="H100\n8\nfp8\n")
    assert (done.exit_code, json.loads(done.stderr)["field"]) == (1, "accelerator, accelerator_count, precision")


@pytest.mark.usefixtures("log_alone")
def test_the_same_file_twice_adds_nothing(result: Path, folder: Path) -> None:
    """Neither the log nor the journal grows, whatever label it is given and however often it is named."""
    first = json.loads(call("benchmark", "add", result, *WORDS, "--json", data_dir=folder).stdout)
    again = call("benchmark", "add", result, result, *WORDS, "--name", "other", "--json", data_dir=folder)
    second = json.loads(again.stdout)
    assert ([len(first[name]) for name in ("added", "known")],
                                [len(second[name]) for name in ("added", "known")]) == ([1, 0], [0, 2])  # fmt: skip
    assert (again.exit_code, second["file"]) == (0, None)
    assert kept(folder) == ["mine.json"]
    assert first["added"][0]["runs"] == second["known"][0]["runs"]
    assert [(first["added"][0]["runs"][0]["throughput_id"],)] == runs(folder, "throughput_id")


@pytest.mark.usefixtures("log_alone")
def test_other_words_replace_the_first(result: Path, folder: Path) -> None:
    """A mistake is mended by adding the file again; the log keeps both, and going back works too."""
    for count in ("16", "8", "16"):
        words = [word.replace("count=8", f"count={count}") for word in WORDS]
        assert call("benchmark", "add", result, *words, data_dir=folder).exit_code == 0
        assert [(int(count),)] == runs(folder, "accelerator_count::INTEGER")
    assert query(folder / "build.duckdb", "select count(*) from core.throughput") == [(3,)]


@pytest.mark.usefixtures("log_alone")
def test_a_refused_file_is_named_and_the_others_are_added(result: Path, folder: Path) -> None:
    """Each refused file says why on stderr, as an object with --json, and is kept nowhere."""
    bad, worse = result.with_name("bad.json"), result.with_name("worse.txt")
    bad.write_text(json.dumps(RUN | {"completed": 0}))
    worse.write_text("not a result")
    done = call("benchmark", "add", bad, result, worse, *WORDS, "--json", data_dir=folder)
    errors = [json.loads(line) for line in done.stderr.splitlines()]
    assert done.exit_code == 1
    assert [(e["source"], e["field"]) for e in errors] == [("bad.json", "completed"), ("worse.txt", "body")]
    assert errors == json.loads(done.stdout)["refused"]
    assert kept(folder) == ["mine.json"]
    assert len(list((folder / "landing").glob("*/*.gz"))) == 1
    assert runs(folder, "output_rate") == [(5000.0,)]


def test_a_refusal_is_told_to_people_too(result: Path, folder: Path) -> None:
    """Without --json a refusal is a line on stderr with file, reason, field, value and what to do."""
    done = call("benchmark", "add", result, *WORDS, "--set", "model=llama-3-70b", data_dir=folder)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("refused: mine.json: contradicts the file, which says meta-llama/Llama-3.1-8B")
    result.write_text(json.dumps(RUN | {"date": "20990530-203806"}))
    done = call("benchmark", "add", result, *WORDS, data_dir=folder)
    assert (done.exit_code, "not yet come (field measured_on, value 2099-05-30)" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--set", "precision"], "is not NAME=VALUE: write"),
        (["--set", "=fp8"], "is not NAME=VALUE: write"),
        (["--set", "precision=fp8", "--set", "precision=fp4"], "precision occurs twice"),
    ],
)
def test_wrong_words_are_wrong_usage(result: Path, folder: Path, words: list[str], told: str) -> None:
    """A --set that is no pair, or says two things, is refused before anything is read."""
    done = call("benchmark", "add", result, *words, data_dir=folder)
    assert done.exit_code == 2
    assert told in done.stderr


@pytest.mark.parametrize("label", ["a\nb", "<script>", "x" * 101, " ", "\u202e"])
def test_a_label_is_one_plain_line(result: Path, folder: Path, label: str) -> None:
    """A label that could disturb a page or a terminal is refused."""
    done = call("benchmark", "add", result, *WORDS, "--name", label, "--json", data_dir=folder)
    assert (done.exit_code, json.loads(done.stderr)["field"]) == (1, "name")
    assert not folder.exists()


@pytest.mark.usefixtures("log_alone")
def test_a_file_with_a_strange_name_needs_a_label(result: Path, folder: Path) -> None:
    """The name of a file is its label, so one that could disturb a page asks for --name, which then stands for it."""
    strange = shutil.copy(result, result.with_name("<b>.json"))
    done = call("benchmark", "add", strange, *WORDS, "--json", data_dir=folder)
    assert "--name" in json.loads(done.stderr)["hint"]
    assert call("benchmark", "add", strange, *WORDS, "--name", "plain", data_dir=folder).exit_code == 0
    (entry,) = Landing(folder / "landing").entries()
    assert (entry.content["scope"], entry.content["documents"][0]["url"]) == ("plain", "plain")


@pytest.mark.usefixtures("log_alone")
def test_the_landing_folder_alone_rebuilds_it(result: Path, folder: Path) -> None:
    """Words and all: the same rows with the same ids and moments, after the log and the published file are gone."""
    two = result.with_name("two.jsonl")
    two.write_text("\n".join(json.dumps(RUN | {"max_concurrency": n}) for n in (40, 64)))
    assert call("benchmark", "add", result, two, *WORDS, data_dir=folder).exit_code == 0
    assert call("benchmark", "add", result, *WORDS, "--set", "software=vLLM 0.11", data_dir=folder).exit_code == 0
    before = runs(folder, "*")
    for file in ("build.duckdb", "prices.duckdb"):
        (folder / file).unlink()
    assert call("data", "rebuild", data_dir=folder).exit_code == 0
    assert len(before) == 3
    assert before == runs(folder, "*")


@pytest.mark.usefixtures("log_alone")
def test_what_was_landed_before_a_kill_is_loaded_by_the_next_run(
    result: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between landing and loading, nothing is lost; killed after loading, nothing is loaded twice."""
    load = benchmarks.load
    for moment in ("before", "after"):

        def killed(*arguments: Any, after: bool = moment == "after") -> str:
            if after:
                load(*arguments)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(benchmarks, "load", killed)
            call("benchmark", "add", result, *WORDS, "--set", f"software={moment}", data_dir=folder)
        assert call("build", data_dir=folder).exit_code == 0
        assert [(moment,)] == runs(folder, "software")
    logged = query(folder / "build.duckdb", "select software from core.throughput order by software")
    assert logged == [("after",), ("before",)]


@pytest.mark.usefixtures("log_alone")
def test_what_is_read_otherwise_today_is_named(result: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A landed file that a later version refuses is left out of the rebuilt log, and a note says why."""
    assert call("benchmark", "add", result, *WORDS, data_dir=folder).exit_code == 0
    import extract.benchmarks

    def refuse(*arguments: Any) -> None:
        raise ChipledgerError("no longer believed", source="mine.json")

    monkeypatch.setattr(extract.benchmarks, "read", refuse)
    done = json.loads(call("data", "rebuild", "--accept", "--json", data_dir=folder).stdout)
    assert done["notes"] == ["benchmark mine.json is left out: mine.json: no longer believed"]
    assert runs(folder, "*") == []


def test_a_result_is_no_look_at_prices(catalogue: Path) -> None:
    """A result leaves no look, no offer and no price behind, so that no source seems healthy for it."""
    file = catalogue / "prices.duckdb"
    for table in ("scope_run", "offer", "price_event", "sighting"):
        assert query(file, f"select count(*) from core.{table}") == [(0,)]
    assert query(file, "select url, scope, parameters from core.document") == [
        ("mine.json", "mine.json", '{"accelerator": "H100 SXM", "accelerator_count": "8", "precision": "fp8"}')
    ]


def test_list_filters_by_model_and_chip(catalogue: Path) -> None:
    """A model is found by any of its names, a chip with or without its form factor; the fastest chip for chip first."""

    def listed(*words: str) -> list[dict[str, Any]]:
        return json.loads(call("benchmark", "list", "--json", *words, data_dir=catalogue).stdout)

    everything = listed()
    h100 = listed("--chip", "NVIDIA H100 80GB", "--model", "meta-llama/Llama-3.1-8B-Instruct")
    mine = [row for row in h100 if row["source"] == "benchmark:mine.json"]
    assert list(everything[0]) == [
        "throughput_id", "model_name", "task", "scenario", "accelerator_name", "form_factor", "accelerator_count",
        "precision", "output_rate", "total_rate", "unit_of_work", "evidence_grade", "benchmark", "measured_on",
        "source",
    ]  # fmt: skip
    assert len(everything) > 1400
    assert {("llama-3.1-8b", "H100")} == {(row["model_name"], row["accelerator_name"]) for row in h100}
    assert [(row["output_rate"], row["accelerator_count"], row["evidence_grade"]) for row in mine] == [(5000, 8, "C")]
    assert {"PCIe"} == {row["form_factor"] for row in listed("--chip", "H100 PCIe")}
    assert {"Llama-2-70B (LoRA)"} == {row["model_name"] for row in listed("--model", "llama-2-70b (lora)")}
    assert listed("--model", "llama-3.1-8b", "--chip", "Trainium3") == []
    assert call("benchmark", "list", "--model", "llama-3.1", data_dir=catalogue).exit_code == 2
    text = call("benchmark", "list", "--chip", "H100 PCIe", "--wide", data_dir=catalogue).stdout
    assert text.lstrip().startswith("throughput_id")
    assert len(text.splitlines()) == len(listed("--chip", "H100 PCIe")) + 1


def test_a_chip_without_evidence_has_none(catalogue: Path) -> None:
    """The published file has no throughput of Trainium3, and a question for it is answered so, not with an estimate."""
    said = call("benchmark", "list", "--chip", "Trainium3", data_dir=catalogue)
    assert (said.exit_code, said.stdout.startswith("No throughput of Trainium3 is known here: none was")) == (0, True)
    assert json.loads(call("benchmark", "list", "--chip", "Trainium3", "--json", data_dir=catalogue).stdout) == []
    # What a page asks: every chip of the vocabulary with the number of its runs.
    asked = (
        "select a.accelerator_name, count(t.throughput_id) > 0 from ref.accelerator as a left join core.throughput "
        "as t using (accelerator_name) where a.accelerator_name in ('Trainium2', 'Trainium3') group by all order by all"
    )
    assert query(catalogue / "prices.duckdb", asked) == [("Trainium2", True), ("Trainium3", False)]


def test_an_unknown_chip_is_an_error(catalogue: Path) -> None:
    """A chip that nobody knows is named; it is not an empty answer."""
    done = call("benchmark", "list", "--chip", "H1000", "--json", data_dir=catalogue)
    assert (done.exit_code, json.loads(done.stderr)["value"]) == (2, "H1000")


def test_show_gives_a_row_whole(catalogue: Path) -> None:
    """A run of the user's is shown with its document, a shipped one with its address."""
    ((mine,),) = runs(catalogue, "throughput_id")
    ((theirs,),) = query(
        catalogue / "prices.duckdb",
        "select throughput_id from core.throughput where benchmark_family = 'mlperf_inference' limit 1",
    )
    row = json.loads(call("benchmark", "show", str(mine), "--json", data_dir=catalogue).stdout)
    assert (5000, "mine.json", row["document_sha256"]) == (
        row["output_rate"], row["document"]["url"], row["document"]["document_sha256"],
    )  # fmt: skip
    row = json.loads(call("benchmark", "show", str(theirs), "--json", data_dir=catalogue).stdout)
    assert (row["document"], row["source_url"].startswith("https://github.com/mlcommons/")) == (None, True)
    text = call("benchmark", "show", str(mine), data_dir=catalogue).stdout
    assert "document_url" in text
    assert "output_rate" in text


def test_show_names_an_unknown_id(catalogue: Path) -> None:
    """An id that no run has is an error with a way to the right ones."""
    done = call("benchmark", "show", "1", "--json", data_dir=catalogue)
    assert (
        done.exit_code, json.loads(done.stderr)["value"], json.loads(done.stderr)["hint"],
    ) == (2, "1", "`chipledger benchmark list` names them")  # fmt: skip


@pytest.mark.parametrize("command", [("list",), ("show", "1")])
def test_without_a_published_file_the_error_says_how_to_make_one(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Nothing is listed before anything was published."""
    done = call("benchmark", *command, "--json", data_dir=tmp_path)
    assert (done.exit_code, "chipledger run" in json.loads(done.stderr)["hint"]) == (1, True)


def test_captured_results_pass_from_file_to_published_row(shared: Path, folder: Path) -> None:
    """Real outputs of three tools are added together; one that over-counts is refused."""
    names = (
        "vllm_bench_serve_4xL40S_llama3.2-3b.json", "genai_perf_profile_export_nonstreaming.json",
        "mlperf_loadgen_summary_llama2-70b_offline_8xB200.txt",
        "genai_perf_profile_export_streaming_overcount_bug.json",
    )  # fmt: skip
    words = [word for text in ("accelerator_count=8", "precision=fp8") for word in ("--set", text)]
    # What one file lacks another tells: chip and model are given only to those that lack them.
    samples = [shared / "data" / "benchmark_samples" / name for name in names]
    chip = ["--set", "accelerator=B200 SXM", "--set", "model=llama-2-70b"]
    first = call("benchmark", "add", samples[0], *words, data_dir=folder)
    others = call("benchmark", "add", *samples[1:], *words, *chip, data_dir=folder)
    assert (first.exit_code, others.exit_code) == (0, 1)
    assert "the tool over-counted" in others.stderr
    assert {
        ("vllm", "llama-3.2-3b", "L40S", 2249), ("genai_perf", "llama-2-70b", "B200", 12278),
        ("mlperf_inference", "llama-2-70b", "B200", 101527),
    } == set(runs(folder, "benchmark_family, model_name, accelerator_name, round(output_rate)::INTEGER"))  # fmt: skip


def test_a_run_above_its_bound_says_so(result: Path, folder: Path) -> None:
    """5,000 tokens a second of Llama 3.1 8B for 32 users take 0.3 TB/s of one L4 four times."""
    words = [w for each in ("accelerator=L4", "accelerator_count=1", "acceptance_length=1") for w in ("--set", each)]
    words += ["--set", "precision=fp8"]
    with published_with("throughput", least=()):
        done = call("benchmark", "add", result, *words, data_dir=folder)
    assert re.search(r"Priced by nothing, because it is \d{3} % of the bound of \w+\.", done.stdout), done.stdout


@pytest.mark.usefixtures("log_alone")
def test_a_run_that_no_price_fits_says_why(folder: Path, tmp_path: Path) -> None:
    """A H200 of unknown form is added, and priced by nothing: two forms have figures. An official run has its form."""
    row = {
        "hw": "h200", "conc": 4, "model": "openai/gpt-oss-120b", "framework": "vllm", "precision": "fp4",
        "spec_decoding": "none", "disagg": False, "tp": 8, "ep": 1, "isl": 1024, "osl": 1024, "tput_per_gpu": 69.11,
        "output_tput_per_gpu": 34.387, "median_tpot": 0.013815,
    }  # fmt: skip
    file = tmp_path / "agg_run.json"
    file.write_text(json.dumps(row))
    done = call("benchmark", "add", file, "--json", data_dir=folder)
    assert json.loads(done.stdout)["added"][0]["runs"][0]["unpriced"] == "form unknown: h200; NVL and SXM are known"
    told = call("benchmark", "add", file, data_dir=folder).stdout
    assert "Priced by nothing, because form unknown: h200; NVL and SXM are known." in told
    file.write_text(json.dumps(row | {"model": "/models/gpt-oss-fp4"}))
    assert "No model of ref.model has that name" in call("benchmark", "add", file, data_dir=folder).stdout
    file.write_text("=== Serving Benchmark Result ===\nOutput token throughput (tok/s): 2577.10\n")
    assert "no known benchmark tool wrote this file" in call("benchmark", "add", file, data_dir=folder).stderr
    file.write_text(json.dumps(row))
    official = "source_url=https://github.com/SemiAnalysisAI/InferenceX/actions/runs/19019407598"
    done = call("benchmark", "add", file, "--set", official, data_dir=folder)
    assert "on 8 x H200 SXM gave" in done.stdout
    assert "Priced by nothing" not in done.stdout
