"""The commands of the section Collect, and `sources`: the daily job, its steps, quarantine, imports, a new source."""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from flows.config import Reader
from flows.shared import output
from warehouse.errors import SettingsError

if TYPE_CHECKING:
    from flows.collect.summary import Summary
    from flows.config.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])


def _selection(command: Command) -> Command:
    command = click.option("--scope", "scopes", multiple=True, help="Only this scope, such as a region; may repeat.")(
        command
    )
    return click.option("--source", "names", multiple=True, help="Only this source; may repeat. See `sources`.")(
        command
    )


@click.command(epilog="Example: chipledger run --offline")
@click.option("--offline", is_flag=True, help="Replay the dated archive in the package: no network, no credentials.")
@click.option("--wait", "wait_seconds", type=float, help="Seconds to wait for another run that is writing [0].")
@_selection
@output.JSON
@click.pass_obj
def run(
    read: Reader,
    *,
    offline: bool,
    wait_seconds: float | None,
    names: tuple[str, ...],
    scopes: tuple[str, ...],
    in_json: bool,
) -> None:
    """Do the daily job: collect, publish, report."""
    with output.errors(in_json=in_json):
        from flows.alerts import deliver, heartbeat
        from flows.collect import steps

        chosen = _chosen(read(), names, wait_seconds)
        chosen = chosen.offline() if offline else chosen
        with output.progress(quiet=in_json) as progress:
            summary = steps.run(chosen, offline=offline, source_names=names, scopes=scopes, progress=progress)
        if summary.fresh:
            heartbeat.call(chosen)
        deliver.after_run(chosen, clock=steps.utc_now)
    _print_summary(summary, in_json=in_json)


@click.command(epilog="Example: chipledger collect --source aws_spot --scope us-east-1")
@_selection
@output.JSON
@click.pass_obj
def collect(read: Reader, *, names: tuple[str, ...], scopes: tuple[str, ...], in_json: bool) -> None:
    """Fetch current prices and publish; no report."""
    with output.errors(in_json=in_json):
        from flows.collect import steps

        chosen = _chosen(read(), names, None)
        with output.progress(quiet=in_json) as progress, steps.open_run(chosen, progress=progress) as one:
            one.collect(names, scopes)
            summary = one.finish(report=False)
    _print_summary(summary, in_json=in_json)


@click.command(epilog="Example: chipledger build")
@output.JSON
@click.pass_obj
def build(read: Reader, *, in_json: bool) -> None:
    """Load landed documents, and publish."""
    with output.errors(in_json=in_json):
        from flows.collect import steps

        chosen = read()
        with output.progress(quiet=in_json) as progress, steps.open_run(chosen, progress=progress) as one:
            one.load()
            one.publisher.publish()
            summary = one.summary
    _print_summary(summary, in_json=in_json, judge=False)


@click.command(epilog="Example: chipledger parse answer.json --source voltagepark")
@click.option("--source", "name", required=True, help="The source whose format the file has. See `sources`.")
@click.option(
    "--scope", default="", help="The scope of the document; rows of other regions are left out. Default: all."
)
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def parse(name: str, scope: str, file: Path) -> None:
    """Read one saved document through one source.

    Prints its prices as JSON lines. Refused rows go to stderr, as objects with source, field, value and reason; then
    the exit code is 1.
    """
    with output.errors(in_json=True):
        from flows.collect import inspect_document

        accepted, refused = inspect_document.read(_known_source(name), scope, file)
    output.json_lines(accepted)
    for row in refused:
        output.echo(output.as_json(row), err=True)
    sys.exit(output.FAILED if refused else 0)


@click.group(epilog="Example: chipledger quarantine list")
def quarantine() -> None:
    """List and decide on refused rows."""


@quarantine.command("list", epilog="Example: chipledger quarantine list --all")
@click.option("--all", "everything", is_flag=True, help="Include rows already decided.")
@output.JSON
@click.pass_obj
def list_quarantine(read: Reader, *, everything: bool, in_json: bool) -> None:
    """List refused rows: what, where, why."""
    with output.errors(in_json=in_json):
        from flows.shared import query

        rows = query.refused(read.published(), everything=everything)
    if in_json:
        output.echo(output.as_json(rows))
    else:
        output.echo(output.text_table(rows) or "Nothing is in quarantine.")


def _decision(decision: str, explanation: str) -> None:
    @quarantine.command(decision, help=explanation, epilog=f"Example: chipledger quarantine {decision} 17 18")
    @click.argument("quarantine_ids", type=int, nargs=-1, required=True)
    @output.JSON
    @click.pass_obj
    def command(read: Reader, *, quarantine_ids: tuple[int, ...], in_json: bool) -> None:
        with output.errors(in_json=in_json):
            from flows.collect import steps

            with steps.open_run(read()) as one:
                for quarantine_id in quarantine_ids:
                    one.decide(quarantine_id, decision)
                one.publisher.publish()
                summary = one.summary
        _print_summary(summary, in_json=in_json, judge=False)


_decision("accept", "Accept rows by id.\n\nTheir prices count from when they were seen.")

_decision("refuse", "Leave rows out for good, by id.")


@click.command("import", epilog="Example: chipledger import seen.csv")
@click.argument("files", type=click.Path(path_type=Path, exists=True, dir_okay=False), nargs=-1, required=True)
@output.JSON
@click.pass_obj
def import_files(read: Reader, *, files: tuple[Path, ...], in_json: bool) -> None:
    """Import past prices from CSV files.

    The files hold observations; import them any number of times, in any order. docs/importing.md lists the columns.
    """
    with output.errors(in_json=in_json):
        from flows.collect import importer, steps

        with steps.open_run(read()) as one:
            for file in files:
                importer.land_file(one, file)
            one.load()
            summary = one.summary
            if summary.fresh:
                one.publisher.publish()
    _print_summary(summary, in_json=in_json)


@click.command(epilog="Example: chipledger backfill aws --region us-east-1 --since 2025-01-01")
@click.argument("name", metavar="SOURCE")
@click.option("--scope", "--region", "scopes", multiple=True, required=True, help="A region; may repeat.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="First day, UTC. Default: the archive's first.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="Last day, UTC. Default: the archive's last.")
@output.JSON
@click.pass_obj
def backfill(read: Reader, *, name: str, scopes: tuple[str, ...], since: Any, until: Any, in_json: bool) -> None:
    """Collect past prices from a provider's archive.

    `aws` is short for aws_price_list. A version fetched before is not fetched again, so a backfill that was interrupted
    resumes where it stopped.
    """
    with output.errors(in_json=in_json):
        from flows.collect import importer, steps

        source = _known_source({"aws": "aws_price_list"}.get(name, name))
        with output.progress(quiet=in_json) as progress, steps.open_run(read(), progress=progress) as one:
            importer.backfill(one, source, scopes, since=since, until=until)
            summary = one.finish(report=False)
    _print_summary(summary, in_json=in_json)


@click.command(epilog="Example: chipledger sources")
@output.JSON
@click.pass_obj
def sources(read: Reader, *, in_json: bool) -> None:
    """List the sources: kind, on or off, maximum age."""
    with output.errors(in_json=in_json):
        from extract import SOURCES

        chosen = read()
        rows = [
            {
                "source": source.name,
                "provider": source.provider,
                "kind": source.kind,
                "enabled": chosen.is_on(source),
                "max_age_hours": int(source.max_age.total_seconds() // 3600) if source.max_age else None,
                "title": source.title,
                "url": source.url,
                "terms_url": source.terms_url,
            }
            for source in SOURCES
        ]
    output.echo(output.as_json(rows) if in_json else output.text_table(rows))


def _chosen(chosen: "Settings", names: tuple[str, ...], wait_seconds: float | None) -> "Settings":
    for name in names:
        _known_source(name)
    return chosen if wait_seconds is None else chosen.replace(wait_seconds=wait_seconds)


def _known_source(name: str) -> Any:
    from extract import SOURCES, source_named

    try:
        return source_named(name)
    except KeyError:
        hint = f"Allowed: {', '.join(source.name for source in SOURCES)}; see `chipledger sources`"
        raise SettingsError("unknown source", field="source", value=name, hint=hint) from None


def _print_summary(summary: "Summary", *, in_json: bool, judge: bool = True) -> None:
    """Print what was done; exit 1 where a run found nothing fresh, or the private side was not built."""
    if in_json:
        output.echo(output.as_json(summary.as_dict()))
    else:
        for line in summary.lines():
            output.echo(line)
    if summary.faulty or (judge and not summary.fresh):
        sys.exit(output.FAILED)


ROOT = Path(__file__).resolve().parents[2]

TOOL = ROOT / "tools" / "new_source.py"


@click.command(
    "new-source",
    epilog='Example: chipledger new-source northgpu prices.json --provider "North GPU"',
)
@click.argument("name")
@click.argument("answer", metavar="URL-OR-FILE", required=False)
@click.option("--provider", default="", help="The provider's name, as its site writes it.")
@click.option("--url", default="", help="The address of a saved answer.")
@click.option("--terms", default="", help="The address of the provider's terms.")
@click.option("--rows", is_flag=True, help="Write the expected rows of an existing source again.")
def new_source(name: str, answer: str | None, *, provider: str, url: str, terms: str, rows: bool) -> None:
    """Write code and tests of a new provider. It works in a checkout only. docs/adding-a-provider.md has the steps."""
    with output.errors(in_json=False):
        if not TOOL.is_file():
            hint = "Clone the repository, run `make setup` and call it there"
            raise SettingsError("this command works in a checkout only", field="new-source", value=ROOT, hint=hint)
        if rows == bool(answer):
            raise SettingsError("expected either URL-OR-FILE or --rows", field="URL-OR-FILE", value=answer)
        tool = runpy.run_path(str(TOOL))
        if answer is None:
            paths = [tool["write_rows"](name)]
        else:
            body, address = _answer(answer)
            paths = tool["write"](name, body, url=url or address, provider=provider, terms=terms)
        for path in paths:
            output.echo(f"wrote {path.relative_to(ROOT)}")
        _next_steps(name, tool)


def _answer(answer: str) -> tuple[bytes, str]:
    """Return the bytes of a file, or of an address through the polite client, and the address."""
    if not answer.startswith(("https://", "http://")):
        from flows.shared import user_file

        return user_file.read(Path(answer)), ""
    from extract.web.http import HttpWeb
    from extract.web.polite import PoliteWeb

    return PoliteWeb(HttpWeb()).get(answer, accept="application/json, text/html").body, answer


def _next_steps(name: str, tool: dict[str, Any]) -> None:
    """Print what is left to do."""
    questions = tool["questions"](name)
    for field, question in questions.items():
        output.echo(f"TODO {field}: {question}")
    if questions:
        output.echo(f"The source refuses to work until each is filled in. Then: chipledger new-source {name} --rows")
    else:
        output.echo("Compare each expected row with the answer by hand; docs/adding-a-provider.md has the next steps.")


COMMANDS = (run, collect, build, parse, quarantine, import_files, backfill, sources, new_source)
