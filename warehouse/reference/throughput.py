"""What was measured on which chip: the cited catalogue `data/throughput.csv`, one run a row, and core.throughput.

How the catalogue is filled (docs/cost-per-token.md says what is left out of each source, and why):

1. Columns are those of core.throughput without id and stamps, and `accessed_on`. Empty is unknown: never 0 or a guess.
2. Rates are of the whole system, in units of work per second: its chips are `accelerator_count`, those billed.
   Inference has `output_rate`, and input and total where both are told; training has `total_rate` alone.
3. Batch or concurrency are part of a row, and a rate is never more than its users at their median speed make: sources
   that count tp x ep GPUs, four or eight times too many, fail on that (`MOST_SHARE`).
4. A limit that a valid result kept is a statistic of its own, "p99 limit": MLPerf publishes no p99 of its runs.
5. `source_url` names the commit of a file or folder in which the figure stands.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import duckdb

from warehouse.log.db import insert_rows
from warehouse.log.events import naive
from warehouse.reference import accelerators, models
from warehouse.reference.fact_csv import Row, rows
from warehouse.schema.columns import COLUMNS
from warehouse.schema.tables import FACT_TABLES

TABLE = resources.files("warehouse") / "data" / "throughput.csv"
RULES = "warehouse/reference/throughput.py"
CATALOGUE = "catalogue"
"""The source of shipped rows; those of users have `benchmark:` and their label."""

STAMPS = ("source", "observed_at", "document_sha256", "recorded_at")
(CORE,) = (table for table in FACT_TABLES if table.name == "throughput")
SAID = tuple(name for name in CORE.columns if name not in ("throughput_id", *STAMPS))
"""What is said of a run: the columns of core.throughput without id and stamps, in order."""
COLUMNS_OF_FILE = (*SAID, "accessed_on")
JUDGED = ("evidence_grade", "note")
"""Our words about a run, and no part of what makes it the same run."""

TASKS = ("serving", "offline", "training")
FAMILIES = (
    "vllm",
    "sglang",
    "genai_perf",
    "llmperf",
    "inferencex",
    "mlperf_inference",
    "mlperf_training",
    "neuron",
)
UNITS_OF_WORK = ("token", "sequence", "image", "sample")
GRADES = ("A", "B", "C", "D")
STATISTICS = ("median", "mean", "p90", "p99", "p99 limit")
PRECISIONS = (
    "fp32",
    "tf32",
    "bf16",
    "fp16",
    "int8",
    "fp8",
    "mxfp8",
    "fp6",
    "mxfp6",
    "int4",
    "fp4",
    "nvfp4",
    "mxfp4",
)
NUMBERS = tuple(name for name in SAID if COLUMNS[name].type in ("DOUBLE", "DECIMAL(10,4)"))
SHARES = ("prefix_cache_hit_share", "error_share")
RATES = ("output_rate", "input_rate", "total_rate")

MOST_SHARE = Decimal("1.05")
"""Of concurrency x median interactivity that a rate may be: half of the users are faster than the median."""
SUM_TOLERANCE = Decimal("0.01")
ID_HEX_DIGITS = 13
"""52 bits, like the id of an offer: a double holds them exactly."""
_PINNED = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(?:blob|tree)/[0-9a-f]{8,40}/[^\s\"<>]+")


def throughput_id(said: Mapping[str, object]) -> int:
    """Return the id of a run: 52 bits of the MD5 of its conditions and figures, the same on every machine."""
    parts = (_canonical(said.get(name)) for name in SAID if name not in JUDGED)
    # 0 stands for unknown and 31 separates, as in the id of an offer; MD5 is a fingerprint here and guards nothing.
    text = chr(31).join(chr(0) if part is None else part for part in parts)
    return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:ID_HEX_DIGITS], 16)


def core_row(
    said: Mapping[str, Any], *, source: str, observed_at: datetime, document_sha256: str | None, recorded_at: datetime
) -> tuple[object, ...]:
    """Return the row of core.throughput for what is said of a run. Times are aware."""
    run = named(said)
    stamps = (source, naive(observed_at), document_sha256, naive(recorded_at))
    return (throughput_id(run), *(run[name] for name in SAID), *stamps)


def named(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of a run with the model's name in core.model, where it has one."""
    model = models.find(str(said["model_name"]))
    return {**said, "model_name": model.model_name if model else said["model_name"]}


def read_table(path: Traversable = TABLE) -> list[dict[str, Any]]:
    """Return the runs of a catalogue. Raises ChipledgerError, naming line, field and value, where one is not usable."""
    seen: set[int] = set()
    chips = frozenset(accelerators.names())
    runs = []
    for row in rows(path, COLUMNS_OF_FILE, key="model_name", rules=RULES):
        run = _run(row, chips)
        number = throughput_id(run)
        if number in seen:
            raise row.error("output_rate", "the same run as a row before it")
        seen.add(number)
        runs.append(run)
    return runs


@cache
def catalogue_rows() -> tuple[tuple[object, ...], ...]:
    """Return the shipped rows of core.throughput; what was read on a day was observed and learnt at its start, UTC."""
    found = []
    for run in read_table():
        read_at = datetime.combine(run["accessed_on"], time(), UTC)
        found.append(core_row(run, source=CATALOGUE, observed_at=read_at, document_sha256=None, recorded_at=read_at))
    return tuple(found)


def append(con: duckdb.DuckDBPyConnection, found: Iterable[tuple[object, ...]]) -> int:
    """Append rows of core.throughput to the log, in one transaction, and return how many were new.

    A document that was read before at that moment is left alone, so that a journal may be replayed.
    """
    con.begin()
    try:
        # The rows of one look in the order of the file; equal runs of a file are one.
        once = list({row[0]: row for row in found}.values())
        place = CORE.columns.index("document_sha256"), CORE.columns.index("observed_at")
        looks = {(row[place[0]], row[place[1]]) for row in once}
        known = {look for look in looks if _is_known(con, *look)}
        new = [row for row in once if (row[place[0]], row[place[1]]) not in known]
        insert_rows(con, CORE.qualified, new)
        con.commit()
    except BaseException:
        con.rollback()
        raise
    return len(new)


def last_ids(con: duckdb.DuckDBPyConnection, document_sha256: str) -> set[int]:
    """Return the ids of the runs that a document gave when it was added last; none where it never was."""
    found = con.execute(
        "select throughput_id from core.throughput where document_sha256 = $sha256 and observed_at = "
        "(select max(observed_at) from core.throughput where document_sha256 = $sha256)",
        {"sha256": document_sha256},
    ).fetchall()
    return {number for (number,) in found}


def complete(con: duckdb.DuckDBPyConnection) -> None:
    """Make core.throughput of a file that is being published: of the log what counts, and the catalogue.

    A document that was added again with other words counts as it was added last; the log keeps both.
    """
    con.execute(
        "delete from core.throughput as t using (select document_sha256, max(observed_at) as last_at "
        "from core.throughput group by document_sha256) as l "
        "where t.document_sha256 = l.document_sha256 and t.observed_at < l.last_at"
    )
    con.execute(
        "delete from core.throughput as t using (select throughput_id, min(observed_at) as first_at "
        "from core.throughput group by throughput_id) as f "
        "where t.throughput_id = f.throughput_id and t.observed_at > f.first_at"
    )
    con.register("shipped", _catalogue_table())
    con.execute(
        "insert into core.throughput by name "
        "select s.* from shipped as s anti join core.throughput as t on s.throughput_id::BIGINT = t.throughput_id"
    )
    con.unregister("shipped")


@cache
def _catalogue_table() -> Any:
    """Return the shipped rows as an Arrow table of texts, which DuckDB reads five times as fast as JSON."""
    import pyarrow as pa

    texts = [[None if cell is None else str(cell) for cell in column] for column in zip(*catalogue_rows(), strict=True)]
    return pa.table(dict(zip(CORE.columns, (pa.array(column, pa.string()) for column in texts), strict=True)))


def _is_known(con: duckdb.DuckDBPyConnection, document_sha256: object, observed_at: object) -> bool:
    row = con.execute(
        "select 1 from core.throughput where document_sha256 = ? and observed_at = ?", [document_sha256, observed_at]
    ).fetchone()
    return row is not None


def _canonical(value: object) -> str | None:
    """Return a value as one text, however many zeros it was written with; None where it is unknown."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return format(value.normalize(), "f") if value else "0"
    return value.isoformat() if isinstance(value, date) else str(value)


def _run(row: Row, chips: frozenset[str]) -> dict[str, Any]:
    run: dict[str, Any] = {name: row.cells[name] or None for name in SAID}
    for name in ("model_name", "benchmark", "measured_by"):
        row.text(name)
    for name, allowed in (
        ("task", TASKS),
        ("benchmark_family", FAMILIES),
        ("unit_of_work", UNITS_OF_WORK),
        ("evidence_grade", GRADES),
        ("precision", ("", *PRECISIONS)),
        ("interactivity_statistic", ("", *STATISTICS)),
        ("ttft_statistic", ("", *STATISTICS)),
        ("is_disaggregated", ("", "true", "false")),
    ):
        row.one_of(name, allowed)
    run |= {name: _number(row, name) for name in NUMBERS}
    run["is_disaggregated"] = run["is_disaggregated"] == "true" if run["is_disaggregated"] else None
    run["measured_on"] = row.day("measured_on") if run["measured_on"] else None
    run["note"] = run["note"] or ""
    run["accessed_on"] = row.day("accessed_on")
    if run["accelerator_name"] not in chips:
        raise row.error("accelerator_name", "not in the vocabulary of chips")
    for field, reason in _contradictions(run):
        raise row.error(field, reason)
    return run


def _contradictions(run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each field that breaks a rule or contradicts another, with the reason."""
    model = models.find(run["model_name"])
    if model is not None and model.model_name != run["model_name"]:
        yield "model_name", f"is {model.model_name} in core.model"
    if run["accelerator_count"] is None:
        yield "accelerator_count", "empty"
    if not _PINNED.fullmatch(run["source_url"] or ""):
        yield "source_url", "no address at a commit, so the figure cannot be checked"
    if run["measured_on"] is not None and run["measured_on"] > run["accessed_on"]:
        yield "measured_on", "after accessed_on"
    for name in ("interactivity", "ttft"):
        value = "ttft_ms" if name == "ttft" else name
        if (run[value] is None) != (run[f"{name}_statistic"] is None):
            yield f"{name}_statistic", f"it and {value} stand together or not at all"
    if all(run[name] is None for name in RATES):
        yield "output_rate", "no rate"
    output, read, total = (run[name] for name in RATES)
    if run["task"] == "training" and (total is None or output is not None or read is not None):
        yield "total_rate", "of training it stands alone"
    if None not in (output, read, total) and abs(output + read - total) > SUM_TOLERANCE * total:
        yield "total_rate", "not the sum of output_rate and input_rate"
    if run["precision"] is None and run["task"] != "training":
        yield "precision", "empty; only logs of training do not tell it"
    if run["concurrency"] and run["interactivity_statistic"] == "median" and output is not None:
        most = run["concurrency"] * run["interactivity"]
        if output > most * MOST_SHARE:
            yield "output_rate", f"more than {run['concurrency']} users at {run['interactivity']} a second each"


def _number(row: Row, field: str) -> Decimal | None:
    text = row.cells[field]
    if not text:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise row.error(field, "not a number") from None
    if field in SHARES:
        if not 0 <= number <= 1:
            raise row.error(field, "not from 0 to 1")
    elif not (number.is_finite() and number > 0):
        raise row.error(field, "not above 0")
    return number
