"""The commands `benchmark add`, `benchmark list` and `benchmark show`: what was measured, by others and by you."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flows.config import Reader
from flows.shared import output
from warehouse.errors import ChipledgerError

if TYPE_CHECKING:
    from extract.benchmarks import BenchmarkIncomplete
    from flows.collect.benchmarks import Result
    from flows.config.settings import Settings


@click.group(epilog="Example: chipledger benchmark list --model llama-3.1-8b")
def benchmark() -> None:
    """List and add measured throughput."""


@benchmark.command(epilog="Example: chipledger benchmark add result.json --set precision=fp8")
@click.argument("files", type=click.Path(path_type=Path, exists=True, dir_okay=False), nargs=-1, required=True)
@click.option("--set", "words", multiple=True, metavar="NAME=VALUE", help="What the files do not contain; may repeat.")
@click.option("--name", "label", help="A label for them. Default: each file's name.")
@output.JSON
@click.pass_obj
def add(read: Reader, files: tuple[Path, ...], *, words: tuple[str, ...], label: str | None, in_json: bool) -> None:
    """Add results of benchmark tools.

    What a file does not contain is prompted for, or set with --set. Accepted are vLLM, SGLang, GenAI-Perf, AIPerf,
    LLMPerf, InferenceX, MLPerf LoadGen and MLPerf Training. A result that contradicts itself is refused and not
    stored. docs/cost-per-token.md has the commands.
    """
    assigned = _assigned(words)
    with output.errors(in_json=in_json):
        settings = read()
        from flows.collect import benchmarks

        ask = _ask if _is_terminal() and not in_json else None
        understood, refused = [], []
        for file in files:
            try:
                understood.append(benchmarks.understand(file, assigned, label=label, ask=ask))
            except ChipledgerError as error:
                refused.append(error)
        done = _added(settings, understood) if understood else {"added": [], "known": [], "file": None}
    if in_json:
        output.echo(output.as_json({**done, "refused": [refusal.as_dict() for refusal in refused]}))
    else:
        for state in ("added", "known"):
            for run in (run for result in done[state] for run in result["runs"]):
                output.echo(f"{state} {run['throughput_id']}: {run['sentence']}")
        if done["file"]:
            output.echo(f"file: {done['file']}")
    for refusal in refused:
        output.echo(output.as_json(refusal.as_dict()) if in_json else f"refused: {refusal}", err=True)
    if refused:
        sys.exit(output.FAILED)


@benchmark.command("list", epilog="Example: chipledger benchmark list --chip Trainium2")
@click.option("--model", help="Only of this model, such as llama-3.1-8b.")
@click.option("--chip", help="Only on this chip, such as 'H100 SXM' or Trainium2.")
@output.JSON
@click.pass_obj
def list_runs(read: Reader, *, model: str | None, chip: str | None, in_json: bool) -> None:
    """List measured runs, with grade and source.

    Shown are model, chip, rate of the whole system, evidence grade and source.
    """
    with output.errors(in_json=in_json):
        from flows.collect import benchmarks

        rows = benchmarks.listed(read.published(), model=model, chip=chip)
    if in_json:
        output.echo(output.as_json(rows))
    elif rows:
        output.echo(output.text_table([{name: output.rounded(value) for name, value in row.items()} for row in rows]))
    else:
        output.echo(benchmarks.nothing_known(model=model, chip=chip))


@benchmark.command(epilog="Example: chipledger benchmark show 4711")
@click.argument("throughput_id", type=int)
@output.JSON
@click.pass_obj
def show(read: Reader, throughput_id: int, *, in_json: bool) -> None:
    """Show one run, with its document or address."""
    with output.errors(in_json=in_json):
        from flows.collect import benchmarks

        row = benchmarks.shown(read.published(), throughput_id)
    if in_json:
        output.echo(output.as_json(row))
        return
    document = row.pop("document") or {}
    shown = row | {f"document_{name}": value for name, value in document.items() if name != "document_sha256"}
    output.echo(output.text_table([{"column": name, "value": value} for name, value in shown.items()]))


def _added(settings: "Settings", understood: "list[Result]") -> dict[str, Any]:
    """Land and load what was understood, and publish where anything is new."""
    from flows.collect import importer, steps

    done: dict[str, Any] = {"added": [], "known": [], "file": None}
    with steps.open_run(settings) as one:
        for result in understood:
            is_new = importer.add_benchmark(one, result)
            done["added" if is_new else "known"].append(_shown(result))
        if done["added"]:
            done["file"] = str(one.publisher.publish())
    return done


def _shown(result: "Result") -> dict[str, Any]:
    from extract.benchmarks import describe
    from flows.collect import benchmarks

    runs = [
        {"throughput_id": number, "sentence": describe(run)}
        for number, run in zip(benchmarks.ids(result), result.runs, strict=True)
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
