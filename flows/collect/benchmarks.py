"""Benchmark results of the user's own: understood, landed with the words given beside them, and loaded.

A result lies in the landing folder as it came, and the journal holds the words, so that a rebuilding finds both. What
the log holds of it are facts, not prices: it is no fetch of a source, and has no row in core.scope_run.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from flows.shared import query as ask
from flows.shared import user_file
from warehouse.documents import Document
from warehouse.errors import ChipledgerError, SettingsError
from warehouse.landing.folder import Entry, Landing
from warehouse.reference import accelerator_facts, models, throughput
from warehouse.reference.instance_types import chip_named
from warehouse.reference.table import Values

if TYPE_CHECKING:
    from extract.benchmarks import BenchmarkIncomplete

NAME = "benchmark"
PREFIX = "benchmark:"
_LABEL = re.compile(r"[\w][\w .,:+@()=-]{0,99}", re.ASCII)

Ask = Callable[["BenchmarkIncomplete"], Mapping[str, str]]
"""Asks a person for what a file does not tell: returns words, none where nobody answers."""

LISTED = """
select throughput_id, model_name, task, scenario, accelerator_name, form_factor, accelerator_count, precision,
    output_rate, total_rate, unit_of_work, evidence_grade, benchmark, measured_on, source
from core.throughput
where
    ($model is null or lower(model_name) = lower($model))
    and ($chip is null or accelerator_name = $chip)
    and ($form is null or form_factor = $form)
order by
    model_name, task, accelerator_name, form_factor, precision, scenario,
    coalesce(output_rate, total_rate) / accelerator_count desc, throughput_id
"""


@dataclass(frozen=True, kw_only=True)
class Result:
    """A result file that was understood: its bytes, the user's words and label, and the runs in it."""

    name: str
    label: str
    body: bytes
    supplied: Mapping[str, str]
    runs: tuple[Values, ...]

    def document(self, at: datetime) -> Document:
        """Return the file as a document of this moment, with the words as its parameters."""
        return Document(
            source=NAME, scope=self.label, url=self.name, body=self.body, fetched_at=at, parameters=self.supplied
        )


def understand(file: Path, supplied: Mapping[str, str], *, label: str | None = None, ask: Ask | None = None) -> Result:
    """Return what a file says; what it lacks is asked for until it is complete or nobody answers.

    Raises BenchmarkIncomplete, BenchmarkRefused or LayoutChanged.
    """
    from extract.benchmarks import BenchmarkIncomplete, BenchmarkRefused, read
    from extract.benchmarks.content import MAX_BYTES

    name = label or file.name
    if not _LABEL.fullmatch(name):
        hint = f"Give --name for {file.name!r}"
        message = "not a label: letters, digits, blanks and .,:+@()=- up to 100"
        raise ChipledgerError(message, source=NAME, field="name", value=name, hint=hint)
    body = user_file.read(file, most=MAX_BYTES)
    words = dict(supplied)
    while True:
        try:
            runs = read(body, file.name, words)
        except BenchmarkIncomplete as error:
            answers = ask(error) if ask else {}
            if not answers:
                raise
            words |= answers
        else:
            tomorrow = datetime.now(UTC).date() + timedelta(days=1)  # somewhere on Earth it has begun
            if late := [day for run in runs if (day := run["measured_on"]) and day > tomorrow]:
                raise BenchmarkRefused(
                    "not yet come", source=file.name, field="measured_on", value=str(late[0]), hint="Correct the day"
                )
            shown = file.name if _LABEL.fullmatch(file.name) else name
            return Result(name=shown, label=name, body=body, supplied=words, runs=tuple(runs))


def is_known(con: duckdb.DuckDBPyConnection, result: Result, document: Document, at: datetime) -> bool:
    """Return whether the log has all runs of a result, and has them from this document last."""
    rows = _rows(result.runs, document, label=result.label, at=at)
    return {row[0] for row in rows} == throughput.last_ids(con, document.sha256)


def unpriced(run: Values) -> str | None:
    """Return why no price can make a cost of a run; None where one can."""
    forms = {form for name, form in _forms() if name == run["accelerator_name"]}
    if not forms:
        return f"no figures of {run['accelerator_name']} are known here"
    if run["form_factor"] not in forms and None not in forms:
        known = " and ".join(sorted(form for form in forms if form))
        return f"form unknown: {run['form_factor'] or run['accelerator_name'].lower()}; {known} are known"
    if run["unit_of_work"] != "token":
        return f"it counts {run['unit_of_work']}s, and no tokens"
    return "grade D is never ranked" if run["evidence_grade"] == "D" else None


def above_bounds(file: Path, numbers: list[int]) -> dict[int, str]:
    """Return how those of some runs in a published file break a bound that do, so that nothing can price them."""
    sql = "from int.throughput where evidence_grade = 'X' and list_contains($numbers, throughput_id)"
    with duckdb.connect(str(file), read_only=True) as con:
        if not con.execute("from duckdb_tables() where schema_name = 'int' and table_name = 'throughput'").fetchone():
            return {}
        return {
            row["throughput_id"]: f"it is {100 * row['share_of_bound']:.0f} % of the bound of {row['binding_bound']}"
            for row in ask.rows(con, sql, {"numbers": numbers})
        }


@cache
def _forms() -> frozenset[tuple[str, str | None]]:
    rows = accelerator_facts.wide(accelerator_facts.read_table())
    return frozenset((str(name), str(form) if form else None) for name, form, *_ in rows)


def load(con: duckdb.DuckDBPyConnection, landing: Landing, entry: Entry) -> str:
    """Load a landed result into the log, and return what became of it in a sentence."""
    from extract.benchmarks import read

    label = entry.content["scope"]
    try:
        document = landing.document(entry.content, 0)
        runs = read(document.body, document.url, document.parameters)
    except ChipledgerError as error:
        return f"benchmark {label} is left out: {error}"
    new = throughput.append(con, _rows(runs, document, label=label, at=entry.recorded_at))
    return f"benchmark {label}: {new} new in the log"


def listed(file: Path, *, model: str | None = None, chip: str | None = None) -> list[dict[str, Any]]:
    """Return the runs of a published file, of one model or chip where they are named. Raises ChipledgerError."""
    name, form = chip_named(chip, "--chip") if chip else (None, None)
    known = models.find(model) if model else None
    found = _query(file, LISTED, {"model": known.model_name if known else model, "chip": name, "form": form})
    if model and not known and not found and not (chip and listed(file, model=model)):
        raise models.unknown(model)
    return found


def shown(file: Path, throughput_id: int) -> dict[str, Any]:
    """Return one run whole, with the document that says so: None for what is shipped, which has its source_url."""
    found = _query(file, "from core.throughput where throughput_id = $id", {"id": throughput_id})
    if not found:
        hint = "`chipledger benchmark list` names them"
        raise SettingsError("no such run", source=NAME, field="throughput_id", value=str(throughput_id), hint=hint)
    documents = _query(
        file,
        "select document_sha256, url, fetched_at, size_bytes from core.document "
        "where document_sha256 = $sha256 and source = $source order by recorded_at limit 1",
        {"sha256": found[0]["document_sha256"], "source": NAME},
    )
    return {**found[0], "document": documents[0] if documents else None}


def nothing_known(*, model: str | None, chip: str | None) -> str:
    """Return the sentence for a question that no run answers."""
    of = " on ".join(filter(None, (model, chip))) or "anything"
    return (
        f"No throughput of {of} is known here: none was published that can be checked, and none is estimated. "
        "`chipledger benchmark add` takes a result of yours."
    )


def _rows(runs: Iterable[Values], document: Document, *, label: str, at: datetime) -> list[tuple[object, ...]]:
    return [
        throughput.core_row(
            run, source=f"{PREFIX}{label}", observed_at=at, document_sha256=document.sha256, recorded_at=at
        )
        for run in runs
    ]


def _query(file: Path, sql: str, values: Mapping[str, object]) -> list[dict[str, Any]]:
    with duckdb.connect(str(file), read_only=True) as con:
        return ask.rows(con, sql, values)
