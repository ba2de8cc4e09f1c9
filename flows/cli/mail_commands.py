"""The commands `report` and `mail`: the pages of a day and of a week, and the weekly mail."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from flows.config import Reader
from flows.shared import output

if TYPE_CHECKING:
    from flows.config.settings import Settings

WEEK = click.option("--week", metavar="2025-W26", help="ISO week. Default: the last one that was over.")
KNOWN_THEN = click.option(
    "--known-then", is_flag=True, help="From what was known when the week ended, not from what is known now."
)


@click.group(invoke_without_command=True, epilog="Example: chipledger report weekly --week 2025-W26")
@output.JSON
@click.pass_context
def report(ctx: click.Context, *, in_json: bool) -> None:
    """Write the report, and print where it is.

    The report of the published file; `report weekly` writes that of a week.
    """
    if ctx.invoked_subcommand is not None:
        return
    with output.errors(in_json=in_json):
        from flows.collect import publisher
        from reports.pages import guard

        chosen: Settings = ctx.obj().shown()
        with guard.noted() as faults:
            page = publisher.write_pages(chosen, chosen.published(), draw=True)
    output.echo(output.as_json({"report": str(page), "page_faults": list(faults)}) if in_json else str(page))
    for fault in faults:
        click.echo(f"part of a page could not be made: {fault}", err=True)
    if faults:
        sys.exit(output.FAILED)


@report.command(epilog="Example: chipledger report weekly --week 2025-W26")
@WEEK
@KNOWN_THEN
@output.JSON
@click.pass_obj
def weekly(read: Reader, *, week: str | None, known_then: bool, in_json: bool) -> None:
    """Write the page of a week, and print where it is. A week is Monday to Sunday, UTC."""
    with output.errors(in_json=in_json):
        from flows.mail import weekly_steps

        written = weekly_steps.report(read(), week, known_then=known_then)
    output.echo(output.as_json({"report": str(written.page)}) if in_json else str(written.page))
    _fail_on(written.faults)


@click.command(epilog="Example: chipledger mail --dry-run")
@WEEK
@KNOWN_THEN
@click.option("--dry-run", is_flag=True, help="Send nothing; write the message as an .eml file and print where it is.")
@click.option("--again", is_flag=True, help="Send to those, too, where a sending broke off and may have arrived.")
@output.JSON
@click.pass_obj
def mail(read: Reader, *, week: str | None, known_then: bool, dry_run: bool, again: bool, in_json: bool) -> None:
    """Send the weekly mail once to each recipient.

    Recipients are those of [mail] who do not have it yet. The same week is never sent twice to the same person; what
    failed is sent again by the next call.
    """
    with output.errors(in_json=in_json):
        from flows.mail import weekly_steps

        chosen = read()
        if dry_run:
            file, faults = weekly_steps.dry_run(chosen, week, known_then=known_then, clock=_now)
            output.echo(output.as_json({"message": str(file)}) if in_json else str(file))
            _fail_on(faults)
            return
        outcome = weekly_steps.send(chosen, week, known_then=known_then, again=again, clock=_now)
    result: dict[str, Any] = {
        "week": outcome.week,
        "sent": outcome.sent,
        "already": outcome.already,
        "failed": outcome.failed,
        "uncertain": outcome.uncertain,
        "quiet": outcome.is_left_out,
        "faults": outcome.faults,
    }
    output.echo(output.as_json(result) if in_json else "\n".join(weekly_steps.lines(outcome)))
    if not outcome.is_good:
        sys.exit(output.FAILED)


def _fail_on(faults: Sequence[str]) -> None:
    """Exit with 1 where parts could not be made, and say which."""
    for fault in faults:
        output.echo(f"could not be made: {fault}", err=True)
    if faults:
        sys.exit(output.FAILED)


def _now() -> datetime:
    return datetime.now(UTC)
