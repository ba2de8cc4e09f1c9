"""The commands of the section Ask but `sources`: queries, chips, what fits on them, benchmarks, claims."""

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flows.cli.command import DAY, EXISTING_FILE, Count, Number, Result, command, group
from flows.config import Reader
from flows.shared import output
from warehouse.errors import ChipledgerError, visible

if TYPE_CHECKING:
    from extract.benchmarks import BenchmarkIncomplete
    from flows.collect.benchmarks import Result as BenchmarkResult
    from flows.config.settings import Settings

SUFFIXES = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".txt": "table", ".md": "table", "": "table"}
"""What the name of an output file says of its format."""
ADDRESS_SPACE_BYTES = 6 * 1024**3
"""Of the process that answers a question; DuckDB has 4 GB of it."""


class SqlCommand(click.Command):
    """A command whose SQL may begin with a comment, which click would take for an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words, with a line of its own before a comment: no option has a blank in its name."""
        return super().parse_args(ctx, ["\n" + word if re.match(r"--[^=]*\s", word) else word for word in args])


@command('query "from mart.price_now limit 5"', has_table=True, cls=SqlCommand)
@click.argument("sql", required=False)
@click.option("--list", "list_tables", is_flag=True, help="List the tables and macros, each with an example.")
@click.option("--all", "list_all", is_flag=True, help="With --list: list what these are made of (int, core), too.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    help="What is printed or written; a table is rounded [by the name of the output file, or table].",
)
@click.option("--output", "target", type=click.Path(path_type=Path), help="Write to this file instead of stdout.")
@click.option("--force", is_flag=True, help="Replace the output file where it is there already.")
@click.option("--timeout", type=Number(min=0.1), default=60.0, help="Seconds until it is stopped.")
@click.option("--shell", "in_shell", is_flag=True, help="Open the file in DuckDB's shell, or its UI, read-only.")
@click.option("--ui", "in_browser", is_flag=True, help="Open the file in DuckDB's UI in the browser.")
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]),
    help="Use the file published at this moment (UTC), of a shared warehouse.",
)
def query(
    read: Reader,
    *,
    sql: str | None,
    as_of: datetime | None,
    list_tables: bool,
    list_all: bool,
    form: str | None,
    target: Path | None,
    force: bool,
    timeout: float,
    in_shell: bool,
    in_browser: bool,
    in_json: bool,
) -> Result | None:
    """Run one SELECT on the published file. It is read-only. "-" reads the SQL from stdin. --list shows the tables."""
    if in_shell or in_browser:
        _open(read.published().resolve(), in_browser=in_browser)
        return None
    if not sql and not list_tables:
        raise click.UsageError('SQL is missing: give a SELECT, such as "from mart.price_now limit 5", or --list.')
    if in_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} contradict each other: leave one.")
    form = "json" if in_json else form or SUFFIXES.get(target.suffix.lower() if target else "")
    if form is None:
        raise click.UsageError(f"no format has the suffix of {target}; give --format, or .csv, .json, .parquet.")
    if form == "parquet" and target is None:
        raise click.UsageError("--format parquet cannot go to stdout: name a file with --output.")
    from flows.shared import child, folders, tabular

    text = sys.stdin.read() if sql == "-" and not list_tables else sql or ""
    file = read.published() if as_of is None else _published_by(read(), as_of)
    # A process of its own, which is ended where DuckDB cannot be interrupted. This one does not import DuckDB.
    answering = child.Child(ADDRESS_SPACE_BYTES, "flows.shared.query", writes=target is not None)
    with folders.as_user():  # which the process has for good
        number = answering.start().pid
    part = tabular.part_of(target, number) if target else None
    try:
        with output.progress(quiet=in_json):
            answer = answering.ask(
            "flows.shared.query:ask", seconds=timeout, file=file, sql=text, timeout=timeout, form=form,
            tables=("all" if list_all else "public") if list_tables or not sql else None,
            width=output.line_width() if output.is_read_by_people() else None,
            target=target, force=force,
        )  # fmt: skip
    finally:
        answering.close()
        if part is not None:
            part.unlink(missing_ok=True)
    if list_tables and form == "table" and target is None:
        more = [] if list_all else ["More: `chipledger query --list --all` lists what these are made of."]
        return Result(None, [*answer, *more])
    for part in answer:
        # A program gets CSV as it is, a person what can be shown of it.
        click.echo(part if form == "csv" and not sys.stdout.isatty() else visible(part))
    return None


def _published_by(chosen: "Settings", moment: datetime) -> Path:
    """Return the file that was in force at a moment, naive UTC; say which one it is."""
    from warehouse.lake import publication

    place = chosen.place()
    if not place.is_shared:
        message = "a warehouse of one file has no earlier publications"
        hint = "core.price_known_at(TIMESTAMP '...') answers what was known at any moment"
        raise ChipledgerError(message, source="query", field="--as-of", value=f"{moment:%Y-%m-%d %H:%M}", hint=hint)
    file, found = publication.as_of(place, moment)
    click.echo(f"as published {found.published_at:%Y-%m-%d %H:%M} UTC, snapshot {found.snapshot_id}", err=True)
    return file


def _open(file: Path, *, in_browser: bool) -> None:
    """Open the published file in DuckDB's shell, read-only; where there is none, in DuckDB's UI until it is broken off.

    Raises ChipledgerError where its extension cannot be had.
    """
    shell = None if in_browser else shutil.which("duckdb")
    if shell:
        # The shell on PATH and the published file, by its full path: no word of it is an option.
        sys.exit(subprocess.run([shell, "-readonly", str(file)], check=False).returncode)  # noqa: S603
    import duckdb

    with duckdb.connect(str(file), read_only=True) as con:
        try:
            answer = con.execute("call start_ui_server()").fetchall()
        except duckdb.Error as error:
            raise ChipledgerError(
                "there is no `duckdb` on PATH, and DuckDB's extension `ui` is neither installed nor could be fetched: "
                + " ".join(str(error).split()),
                source=str(file),
                hint="Install DuckDB's shell (https://duckdb.org/docs/installation), or use `chipledger query`",
            ) from error
        for (line,) in answer:
            output.echo(str(line))
        click.echo("Ctrl-C ends it.", err=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            con.execute("call stop_ui_server()")


MEASURED = ("throughput_id", "model_name", "scenario", "accelerator_name", "precision", "output_rate", "evidence_grade")
"""Columns of a run that a line can hold."""
BINARY = {"": 1, "k": 1024, "m": 1024**2}


@command("chips H100 H200 --against H100", has_table=True)
@click.argument("names", nargs=-1)
@click.option("--against", metavar="CHIP", help="Show each fact as a ratio to this chip's.")
def chips(read: Reader, *, names: tuple[str, ...], against: str | None) -> Result:
    """Compare chips: peaks, memory, power, unit cost.

    Costs are shown under each purchase option. Peaks are dense. Where sources disagree, the table has the figure that
    is used in computations; the others are below.
    """
    from flows.decisions import chips as decision
    from reports import wording

    found = decision.compare(read.published(), names, base=against)
    shown = ("accelerator_name", "form_factor", *decision.COMPARED)
    lines: list[str] = [_table(found["chips"], shown)]
    if found["ratios"]:
        lines += [f"\nAs a ratio to {wording.chip(found['against'][0])}:", _table(found["ratios"], shown)]
    lines += ["\nCheapest price seen, and what it buys (USD per hour and PFLOP/s, TB/s, GB):"]
    lines += [_table(found["prices"]) or "No price of these chips is known."]
    if found["costs"]:
        lines += [f"\nA million output tokens of {found['costs'][0]['model_name']}, on demand:"]
        lines += [_table(found["costs"], decision.COST, view=decision.COST[:4])]
    if names and found["disagreements"]:
        columns = ("accelerator_name", "form_factor", "fact", "fact_value", "unit", "fact_rank", "note", "source_url")
        lines += ["\nSources disagree (rank 1 is computed with):", _table(found["disagreements"], columns)]
    return Result(found, lines)


@command("fit --model llama-3-70b --precision fp8 --batch 16", has_table=True)
@click.option("--model", required=True, help="A model of ref.model, such as llama-3-70b.")
@click.option("--precision", help="Of the weights: bf16, fp8, fp4 ... Default: each chip's fastest.")
@click.option("--context", type=Count(BINARY, "8192 or 8k"), default="8k", help="Tokens of one sequence.")
@click.option("--batch", type=click.IntRange(min=1), default=1, help="Sequences in flight.")
def fit(read: Reader, *, model: str, precision: str | None, context: float, batch: int) -> Result:
    """List the chips that run a model.

    How many, as they are sold and as the heads of the model divide, headroom at the default of engines, the maximum
    speed of generation, and a run as proof. Bounds are physics, not forecasts: nothing measured is above them.
    """
    from flows.decisions import chips as decision
    from reports import wording

    tokens = int(context)
    found = decision.fit(read.published(), model=model, precision=precision, context=tokens, batch=batch)
    shown = [decision.in_words(row) for row in found if row["accelerators_needed"]]
    lines = [
        f"{found[0]['model_name']}, {batch} x {tokens} tokens. Bounds in output tokens per second.",
        _table(shown, decision.FIT),
        *(f"{wording.chip(row)}: {row['unknown_reason']}" for row in found if not row["accelerators_needed"]),
    ]
    return Result(found, lines)


def _table(
    rows: Sequence[Mapping[str, object]], names: Sequence[str] = (), *, view: Sequence[str] = ()
) -> output.Table:
    """Return columns of rows as text, computed numbers rounded; all columns without `names`."""
    return output.text_table([{name: output.rounded(row[name]) for name in names or row} for row in rows], view)


benchmark = group("benchmark", "benchmark list --model llama-3.1-8b", "List and add measured throughput.")


@command("benchmark add result.json --set precision=fp8", group=benchmark)
@click.argument("files", type=EXISTING_FILE, nargs=-1, required=True)
@click.option("--set", "words", multiple=True, metavar="NAME=VALUE", help="What the files do not contain; may repeat.")
@click.option("--name", "label", help="A label for them. Default: each file's name.")
def add(read: Reader, *, files: tuple[Path, ...], words: tuple[str, ...], label: str | None, in_json: bool) -> Result:
    """Add results of benchmark tools.

    What a file does not contain is prompted for, or set with --set. Accepted are vLLM, SGLang, GenAI-Perf, AIPerf,
    LLMPerf, InferenceX, MLPerf LoadGen and MLPerf Training. A result that contradicts itself is refused and not
    stored. docs/cost-per-token.md has the commands.
    """
    assigned = _assigned(words)
    settings = read()
    from flows.collect import benchmarks

    ask = _ask if _is_terminal() and not in_json else None
    understood, refused = [], []
    for file in files:
        try:
            understood.append(benchmarks.understand(file, assigned, label=label, ask=ask))
        except ChipledgerError as error:
            refused.append(error)
    archive, own = (folder / "prices.duckdb" for folder in (settings.offline().data_dir, settings.data_dir))
    only_archive = archive.exists() and not own.exists()
    done = _added(settings, understood) if understood else {"added": [], "known": [], "file": None}
    notes = [output.as_json(each.as_dict()) if in_json else f"refused: {each}" for each in refused]
    if only_archive and done["file"] and not in_json:
        notes.append(f"it has no prices until `chipledger run`; --data-dir {archive.parent} has those of the archive")
    lines = [
        f"{state} {run['throughput_id']}: {run['sentence']}"
        + (f" Priced by nothing, because {run['unpriced']}." if run["unpriced"] else "")
        for state in ("added", "known")
        for result in done[state]
        for run in result["runs"]
    ]
    return Result(
        {**done, "refused": [refusal.as_dict() for refusal in refused]},
        [*lines, *([f"file: {done['file']}"] if done["file"] else [])],
        notes,
        is_failed=bool(refused),
    )


@command("benchmark list --chip Trainium2", group=benchmark, name="list", has_table=True)
@click.option("--model", help="Only of this model, such as llama-3.1-8b.")
@click.option("--chip", help="Only on this chip, such as 'H100 SXM' or Trainium2.")
def list_runs(read: Reader, *, model: str | None, chip: str | None) -> Result:
    """List measured runs, with grade and source.

    Shown are model, chip, rate of the whole system, evidence grade and source.
    """
    from flows.collect import benchmarks

    rows = benchmarks.listed(read.published(), model=model, chip=chip)
    return Result(rows, [_table(rows, view=MEASURED) or benchmarks.nothing_known(model=model, chip=chip)])


@command("benchmark show 900451387545744", group=benchmark, has_table=True)
@click.argument("throughput_id", type=int)
def show(read: Reader, *, throughput_id: int) -> Result:
    """Show one run, with its document or address."""
    from flows.collect import benchmarks

    row = benchmarks.shown(read.published(), throughput_id)
    shown = {name: value for name, value in row.items() if name != "document"}
    shown |= {f"document_{name}": each for name, each in (row["document"] or {}).items() if name != "document_sha256"}
    return Result(row, [output.text_table([{"column": name, "value": value} for name, value in shown.items()])])


def _added(settings: "Settings", understood: "list[BenchmarkResult]") -> dict[str, Any]:
    """Land and load what was understood, and publish where anything is new."""
    from flows.collect import benchmarks, importer, steps

    done: dict[str, Any] = {"added": [], "known": [], "file": None}
    with steps.open_run(settings) as one:
        for result in understood:
            is_new = importer.add_benchmark(one, result)
            done["added" if is_new else "known"].append(_shown(result))
        if done["added"]:
            done["file"] = str(one.publisher.publish())
            runs = [run for result in done["added"] for run in result["runs"]]
            above = benchmarks.above_bounds(Path(done["file"]), [run["throughput_id"] for run in runs])
            for run in runs:
                run["unpriced"] = above.get(run["throughput_id"], run["unpriced"])
    return done


def _shown(result: "BenchmarkResult") -> dict[str, Any]:
    from extract.benchmarks import describe
    from flows.collect import benchmarks
    from warehouse.reference import models, throughput

    other = " No model of ref.model has that name: with --set model=NAME it counts as that one."
    runs = [
        {
            "throughput_id": throughput.throughput_id(throughput.named(run)),
            "unpriced": benchmarks.unpriced(run),
            "sentence": describe(run) + ("" if models.find(run["model_name"]) else other),
        }
        for run in result.runs
    ]
    return {"result": result.name, "name": result.label, "given": dict(result.supplied), "runs": runs}


def _assigned(words: tuple[str, ...]) -> dict[str, str]:
    assigned: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--set {word!r} is not NAME=VALUE: write, for example, --set precision=fp8")
        if name.strip() in assigned:
            raise click.UsageError(f"--set {name.strip()} occurs twice: set it once")
        assigned[name.strip()] = value
    return assigned


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _ask(error: "BenchmarkIncomplete") -> Mapping[str, str]:
    """Ask for each thing that is missing; an empty answer ends the questions."""
    from extract.benchmarks import MEANINGS

    output.echo(f"{error.source}: {error.message}", err=True)
    answers: dict[str, str] = {}
    for name in error.field.split(", "):
        answer = click.prompt(f"{name} ({MEANINGS[name]})", default="", show_default=False, err=True)
        if not answer.strip():
            return {}
        answers[name] = answer
    return answers


@command("audit --article migration", has_table=True)
@click.option("--claims", "file", type=EXISTING_FILE, help="A CSV: docs/auditing-a-claim.md [the shipped claims].")
@click.option("--article", metavar="NAME", help="Only claims of the text whose file name or title has this in it.")
def audit(read: Reader, *, file: Path | None, article: str | None) -> Result:
    """Check published claims on prices and speed.

    Each has a verdict as of its date and one as of today: consistent, stale, inconsistent, physically_impossible or
    unverifiable. A number that was computed from another which failed is shown as such, never as consistent. --json
    prints one object a claim and line.
    """
    from flows.decisions import audit as claims
    from reports import wording

    found = claims.judged(read.published(), claims.read(file, article))
    table = output.text_table([claims.as_line(one) for one in found], ("claim", "subject", "claimed", "today", "why"))
    lines = [table, f"\n{wording.count(len(found), 'claim')}:\n{claims.counted(found)}"]
    return Result([claims.as_object(one) for one in found], lines, is_one_a_line=True)


@command("reproduce --chip H100 --provider AWS --option on_demand")
@click.argument("number", required=False)
@click.option("--chip", help="Instead of NUMBER: the chip, as in the tables; with --provider and --option.")
@click.option("--provider", help="Who sells it.")
@click.option("--option", help="Purchase option, such as on_demand.")
@click.option("--model", help="Instead of the price: what a million output tokens of this model costs on it.")
@click.option("--region", help="Region of the offer.")
@click.option("--instance-type", help="Machine of the offer.")
@click.option("--day", type=DAY, help="The price in force at the end of this day, UTC [the last known].")
@click.option("--release", "folder", type=click.Path(path_type=Path, file_okay=False), help="Folder of a day.")
def reproduce(
    read: Reader, *, number: str | None, day: datetime | None, folder: Path | None, **by: str
) -> Result | None:
    """Recompute a published figure from its bytes.

    NUMBER is an address of the pages (evidence.html#offer-123), or the SHA-256 of a document, whose bytes are printed.
    Without --release it is a figure of the published file. Exit code 1 where a step differs, or a byte is altered.
    """
    from flows.release import reproducing
    from warehouse.landing.folder import SHA256, Landing

    if number is None and not (by["chip"] and by["provider"] and by["option"]):
        raise click.UsageError("give NUMBER, or --chip, --provider and --option")
    if by["model"] and day:
        raise click.UsageError("--day is of prices alone: of a token the cost of today is recomputed")
    if folder and (faults := reproducing.verify(folder)):
        return Result({"faults": faults}, faults, is_failed=True)
    documents = Landing(folder / "documents") if folder else read().shown().landing()
    if number and SHA256.fullmatch(number):
        sys.stdout.buffer.write(documents.body(number))
        return None
    file = folder / "prices.duckdb" if folder else read.published()
    steps = reproducing.reproduce(file, documents, {"number": number, **by}, day=day, release=folder)
    lines = [f"{name}: {text}" for name, text in steps.items()]
    return Result(steps, lines, is_failed=reproducing.DIFFERS in steps)


COMMANDS = (query, chips, fit, benchmark, audit, reproduce)
