"""What was measured on which chip: the cited catalogue `data/throughput.csv`, one run a row, and core.throughput.

`data/README.md` says how the catalogue is filled.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache
from operator import itemgetter
from typing import Any

import duckdb

from warehouse.lake.ducklake import transacted
from warehouse.log.db import insert_rows
from warehouse.log.events import naive
from warehouse.reference import accelerators, models
from warehouse.reference.table import Broken, Model, Rule, Table, Values, fields_of_columns
from warehouse.schema.tables import table_named

CATALOGUE = "catalogue"
"""The source of shipped rows; those of users have `benchmark:` and their label."""

STAMPS = ("source", "observed_at", "document_sha256", "recorded_at")
CORE = table_named("core.throughput")
MEASURED = tuple(name for name in CORE.columns if name not in ("throughput_id", *STAMPS))
"""What was measured in a run: the columns of core.throughput without id and stamps, in order."""
JUDGED = ("evidence_grade", "note")
"""Our words about a run, and no part of what makes it the same run."""

GRADES = ("A", "B", "C", "D")
"""Of the catalogue; X, which breaks a bound, is none that a row may state."""
ID_HEX_DIGITS = 13
"""52 bits, like the id of an offer: a double holds them exactly."""


def throughput_id(run: Mapping[str, object]) -> int:
    """Return the id of a run: 52 bits of the MD5 of its conditions and figures, the same on every machine."""
    parts = (_canonical(run.get(name)) for name in MEASURED if name not in JUDGED)
    # 0 stands for unknown and 31 separates, as in the id of an offer; MD5 is a fingerprint here and guards nothing.
    text = chr(31).join(chr(0) if part is None else part for part in parts)
    return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:ID_HEX_DIGITS], 16)


def core_row(
    run: Mapping[str, Any], *, source: str, observed_at: datetime, document_sha256: str | None, recorded_at: datetime
) -> tuple[object, ...]:
    """Return the row of core.throughput for what was measured in a run. Times are aware."""
    run = named(run)
    stamps = (source, naive(observed_at), document_sha256, naive(recorded_at))
    return (throughput_id(run), *(run[name] for name in MEASURED), *stamps)


def named(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was measured in a run with the model's name in ref.model, where it has one."""
    model = models.find(str(run["model_name"]))
    return {**run, "model_name": model.model_name if model else run["model_name"]}


PINNED = r"^https://github\.com/[\w.-]+/[\w.-]+/(blob|tree)/[0-9a-f]{7,40}/[^\s\"<>]+$"
MAX_SHARE = 1.05
"""Of concurrency x median interactivity that a rate may be: half of the users are faster than the median."""
SUM_TOLERANCE = 0.01
REQUIRED = (
    *("model_name", "task", "benchmark", "benchmark_family", "unit_of_work", "evidence_grade"),
    *("accelerator_name", "accelerator_count"),
)
"""What every run states; of the catalogue who measured it, and where that can be read, too."""


def _as_fast_as(share: float) -> Rule:
    return Rule(
        "output_rate",
        "more than {concurrency} users at {interactivity} a second each",
        f"interactivity_statistic <> 'median' or output_rate <= concurrency * interactivity * {share}",
    )


RULES = (
    _as_fast_as(2),  # of a user's short runs, whose ends are faster
    *(
        Rule(
            f"{name}_statistic",
            f"it and {value} occur together or not at all",
            f"({value} is null) = ({name}_statistic is null)",
        )
        for name, value in (("interactivity", "interactivity"), ("ttft", "ttft_ms"))
    ),
    Rule("output_rate", "no rate", "coalesce(output_rate, input_rate, total_rate) is not null"),
    Rule(
        "total_rate",
        "of training it occurs alone",
        "task <> 'training' or (total_rate is not null and output_rate is null and input_rate is null)",
    ),
    Rule(
        "total_rate",
        "not the sum of output_rate and input_rate",
        f"abs(output_rate + input_rate - total_rate) <= {SUM_TOLERANCE} * total_rate",
    ),
    Rule(
        "precision",
        "empty, and no word in note of what was declared; only logs of training omit it",
        "precision is not null or task = 'training' or regexp_like(coalesce(note, ''), 'declared|precision')",
    ),
)
"""What holds of every run, shipped or of a user."""


def _wrong_runs(rows: list[Values]) -> Broken:
    chips, seen = frozenset(accelerators.names()), set()
    for place, run in enumerate(rows):
        model, number = models.find(run["model_name"]), throughput_id(run)
        if model is not None and model.model_name != run["model_name"]:
            yield place, "model_name", f"is {model.model_name} in ref.model"
        if run["accelerator_name"] not in chips:
            yield place, "accelerator_name", "not in the vocabulary of chips"
        if number in seen:
            yield place, "output_rate", "the same run as a row before it"
        seen.add(number)


MODEL = Model(
    file="throughput.csv",
    key="model_name",
    ditto="=",
    fields=fields_of_columns((*MEASURED, "accessed_on"), (*REQUIRED, "measured_by", "source_url", "accessed_on")),
    rules=(
        Rule("evidence_grade", f"not one of {', '.join(GRADES)}", f"evidence_grade in {GRADES}"),
        Rule(
            "source_url",
            "no address at a commit, so the figure cannot be checked",
            f"regexp_like(source_url, '{PINNED}')",
        ),
        Rule("measured_on", "after accessed_on", "measured_on <= accessed_on"),
        *RULES,
        _as_fast_as(MAX_SHARE),
    ),
    rows=_wrong_runs,
)


def read_table(table: Table | None = None) -> list[Values]:
    """Return the runs of a catalogue, by default the package's. Raises ChipledgerError where one is not usable."""
    return [run | {"note": run["note"] or ""} for run in MODEL.read(table)]


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
    # The rows of one fetch in the order of the file; equal runs of a file are one.
    once = list({row[0]: row for row in found}.values())
    fetch_of = itemgetter(CORE.columns.index("document_sha256"), CORE.columns.index("observed_at"))

    def carry_out() -> int:
        same = f"from {CORE.qualified} where document_sha256 = ? and observed_at = ? limit 1"
        known = {fetch for fetch in {*map(fetch_of, once)} if con.execute(same, fetch).fetchone()}
        new = [row for row in once if fetch_of(row) not in known]
        insert_rows(con, CORE.qualified, new)
        return len(new)

    return transacted(con, carry_out)


def last_ids(con: duckdb.DuckDBPyConnection, document_sha256: str) -> set[int]:
    """Return the ids of the runs that a document gave when it was added last; none where it never was."""
    found = con.execute(
        "select throughput_id from core.throughput where document_sha256 = $sha256 and observed_at = "
        "(select max(observed_at) from core.throughput where document_sha256 = $sha256)",
        {"sha256": document_sha256},
    ).fetchall()
    return {number for (number,) in found}


def complete(con: duckdb.DuckDBPyConnection, shipped: str) -> None:
    """Make core.throughput of a file that is being published: of the log what counts, and the catalogue.

    `shipped` names the relation of `catalogue_rows`.
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
    con.execute(
        "insert into core.throughput by name "
        f"select s.* from {shipped} as s anti join core.throughput as t on s.throughput_id = t.throughput_id"
    )


def _canonical(value: object) -> str | None:
    """Return a value as one text, however many zeros it was written with; None where it is unknown."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return format(value.normalize(), "f") if value else "0"
    return value.isoformat() if isinstance(value, date) else str(value)
