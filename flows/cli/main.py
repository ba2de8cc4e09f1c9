"""The command line: verbs that name steps, results on stdout, everything else on stderr.

Exit codes: 0 done (for a run: published, stale scopes named); 1 failed (for a run: nothing fresh, nothing published);
2 wrong usage or settings. What a command needs is imported inside it, so that `--help` and `query` start at once.
"""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from flows.cli import (
    alert_commands,
    audit_commands,
    benchmark_commands,
    break_even_commands,
    chip_commands,
    choose_commands,
    cost_commands,
    data_commands,
    deploy_commands,
    developer_commands,
    export_commands,
    fleet_commands,
    mail_commands,
    query_commands,
    read_api_commands,
    sections,
    settings_commands,
)
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


@click.group(
    cls=sections.Sections,
    epilog="Example: chipledger run --offline",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--data-dir", type=click.Path(path_type=Path, file_okay=False), help="Folder of all data [data].")
@click.option("--settings", "file", type=click.Path(path_type=Path), help="Settings file [chipledger.toml].")
@click.option("-v", "--verbose", is_flag=True, help="Log more to stderr.")
@click.version_option(package_name="chipledger")
@click.pass_context
def main(ctx: click.Context, data_dir: Path | None, file: Path | None, *, verbose: bool) -> None:
    """An honest, queryable history of what AI accelerators cost to rent.

    `run` does the daily job. `query` reads the published file, prices.duckdb.
    """
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(output.LineFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, handlers=[lines])
    # Its lines name neither address nor cause; the error that ends the retries does.
    logging.getLogger("stamina").setLevel(logging.INFO if verbose else logging.ERROR)
    ctx.obj = Reader(file, data_dir)


main.add_command(audit_commands.audit)
main.add_command(benchmark_commands.benchmark)
main.add_command(chip_commands.chips)
main.add_command(chip_commands.fit)
main.add_command(choose_commands.choose)
main.add_command(choose_commands.commitments)
main.add_command(mail_commands.report)
main.add_command(mail_commands.mail)
main.add_command(alert_commands.alert)
main.add_command(deploy_commands.deploy)
main.add_command(cost_commands.cost)
main.add_command(break_even_commands.breakeven)
main.add_command(break_even_commands.makeorbuy)
main.add_command(fleet_commands.fleet)
main.add_command(read_api_commands.mcp)
main.add_command(settings_commands.settings)
main.add_command(query_commands.query)
main.add_command(query_commands.open_file)
main.add_command(export_commands.export)
main.add_command(data_commands.data)
main.add_command(developer_commands.new_source)


@main.command(epilog="Example: chipledger run --offline")
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
        from flows.alerts import after_run
        from flows.collect import steps

        chosen = _chosen(read(), names, wait_seconds)
        chosen = chosen.offline() if offline else chosen
        with output.progress(quiet=in_json) as progress:
            summary = steps.run(chosen, offline=offline, source_names=names, scopes=scopes, progress=progress)
        if summary.fresh:
            after_run.call_heartbeat(chosen)
        after_run.alert(chosen, clock=steps.utc_now)
    _print_summary(summary, in_json=in_json)


@main.command(epilog="Example: chipledger collect --source aws_spot --scope us-east-1")
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


@main.command(epilog="Example: chipledger build")
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


@main.command(epilog="Example: chipledger parse answer.json --source voltagepark")
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


@main.group(epilog="Example: chipledger quarantine list")
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


@main.command("import", epilog="Example: chipledger import seen.csv")
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


@main.command(epilog="Example: chipledger backfill aws --region us-east-1 --since 2025-01-01")
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


@main.command(epilog="Example: chipledger sources")
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


@main.command(epilog="Example: chipledger doctor --offline")
@click.option("--offline", is_flag=True, help="Leave out network, credentials and servers.")
@output.JSON
@click.pass_obj
def doctor(read: Reader, *, offline: bool, in_json: bool) -> None:
    """Check the installation, and say what to do. Checks files, credentials, network, clock and servers."""
    with output.errors(in_json=in_json):
        from flows.doctor import checks
        from flows.doctor import row as examine_row

        with output.progress(quiet=in_json) as progress:
            rows = checks.all_checks(read(), offline=offline, progress=progress)
    output.echo(output.as_json(rows) if in_json else "\n".join(examine_row.lines(rows)))
    sys.exit(output.FAILED if any(row["result"] == "fail" for row in rows) else 0)


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
