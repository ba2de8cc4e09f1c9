"""The catalogue's rules, ids, and what is published of the log and the catalogue."""

import csv
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from extract.benchmarks import supplied
from warehouse.errors import ChipledgerError
from warehouse.log.db import insert_rows, migrate
from warehouse.reference import throughput
from warehouse.schema.columns import allowed
from warehouse.schema.tables import ddl

GOOD = {
    "model_name": "llama-2-70b", "task": "serving", "scenario": "Server", "benchmark": "MLPerf Inference v5.1",
    "benchmark_family": "mlperf_inference", "accelerator_name": "H100", "form_factor": "SXM",
    "accelerator_count": "8", "precision": "fp8", "unit_of_work": "token", "output_rate": "30571.5",
    "measured_by": "somebody", "measured_on": "2025-09-09", "evidence_grade": "A", "accessed_on": "2026-11-21",
    "source_url": "https://github.com/mlcommons/inference_results_v5.1/tree/965182b0/closed/x/results/y/z/Server",
}  # fmt: skip
"""One usable row; figures are made up, in the form of a real one."""
WORDS: Mapping[str, Any] = dict.fromkeys(throughput.MEASURED) | {
    "model_name": "GPT-3 175B", "task": "training", "benchmark_family": "mlperf_training", "accelerator_name": "H100",
    "accelerator_count": Decimal(8), "total_rate": Decimal("100.50"), "evidence_grade": "C", "note": "",
}  # fmt: skip
DAY = datetime(2026, 1, 1, tzinfo=UTC)

Table = Callable[..., Path]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Return a writer of a catalogue of good rows, each with changes."""

    def write(*changes: Mapping[str, str]) -> Path:
        path = tmp_path / "throughput.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, throughput.MODEL.fields, restval="")
            writer.writeheader()
            writer.writerows(GOOD | change for change in changes)
        return path

    return write


@pytest.fixture
def con():
    with duckdb.connect() as connection:
        migrate(connection)
        yield connection


def complete(con) -> None:
    """Complete the runs of a log by those that are shipped."""
    con.execute(ddl(throughput.CORE).replace("core.throughput", "shipped"))
    insert_rows(con, "shipped", throughput.catalogue_rows())
    throughput.complete(con, "shipped")


def row(day: int, sha256: str, **said: Any) -> tuple[object, ...]:
    at = DAY.replace(day=day)
    return throughput.core_row(
        {**WORDS, **said}, source="benchmark:x", observed_at=at, document_sha256=sha256, recorded_at=at
    )


def test_a_good_row_is_read(table: Table) -> None:
    """Numbers keep their digits, and what is empty is unknown."""
    (run,) = throughput.read_table(table({}))
    assert (Decimal("30571.5"), Decimal(8), date(2025, 9, 9), None, None) == (
        run["output_rate"], run["accelerator_count"], run["measured_on"], run["concurrency"], run["is_disaggregated"],
    )  # fmt: skip


def test_a_ditto_repeats_the_cell_above(table: Table) -> None:
    """A cell = is that of the row above, however many there are; an empty one stays unknown."""
    ditto = {name: "=" for name in GOOD if name not in ("output_rate", "precision")}
    first, second, third = throughput.read_table(
        table({}, ditto | {"output_rate": "1"}, ditto | {"output_rate": "2", "precision": "fp8"})
    )
    assert second == first | {"output_rate": Decimal(1)}
    assert third == first | {"output_rate": Decimal(2)}
    ((only, *_),) = [throughput.read_table(table({}, ditto | {"output_rate": "1", "measured_on": ""}))[1:]]
    assert only["measured_on"] is None


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"model_name": "llama2-70b-99.9"}, "model_name", "is llama-2-70b in ref.model"),
        ({"model_name": ""}, "model_name", "empty"),
        ({"task": "inference"}, "task", "not one of serving"),
        ({"benchmark_family": "mlperf"}, "benchmark_family", "not one of vllm"),
        ({"accelerator_name": "H100 SXM"}, "accelerator_name", "not in the vocabulary"),
        ({"accelerator_count": ""}, "accelerator_count", "empty"),
        ({"accelerator_count": "0"}, "accelerator_count", "not above 0"),
        ({"precision": "FP8"}, "precision", "not one of"),
        ({"precision": ""}, "precision", "only logs of training"),
        ({"output_rate": ""}, "output_rate", "no rate"),
        ({"output_rate": "fast"}, "output_rate", "not a number"),
        ({"output_rate": "NaN"}, "output_rate", "not a number"),
        ({"error_share": "1.5"}, "error_share", "not from 0 to 1"),
        ({"evidence_grade": "X"}, "evidence_grade", "not one of A"),
        ({"measured_on": "2027-01-01"}, "measured_on", "after accessed_on"),
        ({"measured_on": "lately"}, "measured_on", "not a date"),
        ({"measured_by": ""}, "measured_by", "empty"),
        ({"accessed_on": ""}, "accessed_on", "not a date"),
        ({"source_url": "https://mlcommons.org/"}, "source_url", "no address at a commit"),
        ({"source_url": GOOD["source_url"].replace("965182b0", "main")}, "source_url", "no address at a commit"),
        ({"interactivity": "25"}, "interactivity_statistic", "together or not at all"),
        ({"ttft_statistic": "p99"}, "ttft_statistic", "together or not at all"),
        ({"task": "training"}, "total_rate", "of training it occurs alone"),
        ({"input_rate": "1000", "total_rate": "40000"}, "total_rate", "not the sum"),
        ({"is_disaggregated": "no"}, "is_disaggregated", "not one of"),
    ],
)  # fmt: skip
def test_each_wrong_cell_is_named(table: Table, change: Mapping[str, str], field: str, reason: str) -> None:
    """An error names the file, the line, the field and what is wrong."""
    with pytest.raises(ChipledgerError, match=reason) as caught:
        throughput.read_table(table({"output_rate": "1"}, change))
    assert ("throughput.csv", field) == (caught.value.source, caught.value.field)
    assert "line 3" in caught.value.message


def test_users_cannot_get_more_than_they_get(table: Table) -> None:
    """8 users at 68 tokens/s each make 544, not 4,177; a rate within a twentieth of them passes."""
    users = {"concurrency": "8", "interactivity": "68", "interactivity_statistic": "median"}
    assert len(throughput.read_table(table({**users, "output_rate": "571"}))) == 1
    with pytest.raises(ChipledgerError, match="more than 8 users at 68"):
        throughput.read_table(table({**users, "output_rate": "4177"}))


def test_a_run_stands_once(table: Table) -> None:
    """A second row that differs in our words alone is the same run."""
    with pytest.raises(ChipledgerError, match="the same run"):
        throughput.read_table(table({}, {"note": "other", "evidence_grade": "B", "output_rate": "30571.50"}))


def test_the_vocabularies_are_those_of_the_readers() -> None:
    """What the catalogue may say and what the tools' readers say are the same words."""
    assert allowed("precision") == supplied.PRECISIONS


def test_ids_have_52_bits_and_say_what_is_said() -> None:
    """Any condition or figure makes another run; grade, note and needless zeros do not."""
    number = throughput.throughput_id(WORDS)
    assert 0 < number < 2**52
    same = {"total_rate": Decimal("100.5"), "accelerator_count": Decimal("8.0000"), "note": "n", "evidence_grade": "D"}
    assert number == throughput.throughput_id({**WORDS, **same})
    changes = [{name: "other"} for name in throughput.MEASURED if name not in throughput.JUDGED]
    others = {throughput.throughput_id({**WORDS, **change}) for change in changes}
    assert len(changes) == len(others - {number})


def test_the_id_is_the_same_everywhere() -> None:
    """The MD5 of the run's cells, 0 for unknown and 31 between them, cut to 13 digits; worked out beside the code."""
    cells = [None if WORDS[name] is None else str(WORDS[name]) for name in throughput.MEASURED]
    text = "\x1f".join("\x00" if cell is None else cell for cell in cells[:-2]).replace("100.50", "100.5")
    (md5,) = duckdb.execute("select substr(md5($text), 1, 13)", {"text": text}).fetchone()
    assert throughput.MEASURED[-2:] == ("evidence_grade", "note")
    assert int(md5, 16) == throughput.throughput_id(WORDS)


def test_a_model_bears_the_name_it_has_in_core_model() -> None:
    """GPT-3 175B is gpt-3-175b; a model that is unknown there keeps the name it came with."""
    assert "gpt-3-175b" in row(1, "a")
    assert "Llama-2-70B (LoRA)" in row(1, "a", model_name="Llama-2-70B (LoRA)")


def test_a_document_is_appended_once_for_each_moment(con) -> None:
    """The same look again adds nothing; two equal runs of one file are one; the same file later is another look."""
    assert throughput.append(con, [row(1, "a"), row(1, "a"), row(1, "a", software="v2")]) == 2
    assert throughput.append(con, [row(1, "a"), row(1, "a", software="v2")]) == 0
    assert throughput.append(con, [row(2, "a")]) == 1
    assert throughput.last_ids(con, "a") == {row(2, "a")[0]}
    assert throughput.last_ids(con, "b") == set()


def test_the_last_words_about_a_document_count(con) -> None:
    """A file added again with other words replaces its runs, back to the first words too; other files stand."""
    first, second = {"precision": "fp8"}, {"precision": "bf16"}
    for day, words in ((1, first), (2, second), (3, first)):
        throughput.append(con, [row(day, "a", **words), row(day, "a", software="v2", **words)])
    throughput.append(con, [row(1, "b", model_name="llama-3-8b"), row(1, "c", software="v2", **first)])
    complete(con)
    kept = con.execute(
        "select document_sha256, precision, software from core.throughput where source = 'benchmark:x' order by all"
    ).fetchall()
    # The run of document c is also a's; the one that was told first stands.
    assert kept == [("a", "fp8", None), ("b", None, None), ("c", "fp8", "v2")]


def test_the_catalogue_is_published_beside_them(con) -> None:
    """Shipped rows are of the source catalogue, without document, observed when they were read; no id stands twice."""
    throughput.append(con, [row(1, "a")])
    complete(con)
    found = con.execute(
        "select source, count(*), count(distinct throughput_id), count(document_sha256), min(observed_at) "
        "from core.throughput group by source order by source"
    ).fetchall()
    n = len(throughput.read_table())
    assert [
        ("benchmark:x", 1, 1, 1, datetime(2026, 1, 1)),  # noqa: DTZ001 - DuckDB's TIMESTAMP has no zone
        ("catalogue", n, n, 0, datetime(2026, 11, 21)),  # noqa: DTZ001
    ] == found
    assert con.execute("select count(*) from core.throughput where recorded_at <> observed_at").fetchone() == (0,)


def test_a_run_of_the_catalogue_that_a_user_added_stands_once(con) -> None:
    """What the user has as a document of their own is not shipped beside it."""
    shipped = throughput.read_table()
    at = DAY.replace(day=5)
    throughput.append(
        con,
        [throughput.core_row(shipped[0], source="benchmark:x", observed_at=at, document_sha256="a", recorded_at=at)],
    )
    complete(con)
    found = con.execute("select source, count(*) from core.throughput group by source order by source").fetchall()
    assert found == [("benchmark:x", 1), ("catalogue", len(shipped) - 1)]
