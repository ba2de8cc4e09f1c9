"""The command `alert`: sends news to the recipients of [alerts]."""

import sys

import click

from flows.config import Reader
from flows.shared import output


@click.command(epilog="Example: chipledger alert --dry-run")
@click.option("--dry-run", is_flag=True, help="Print what would be sent; send and record nothing.")
@output.JSON
@click.pass_obj
def alert(read: Reader, *, dry_run: bool, in_json: bool) -> None:
    """Send news of prices, chips, sources and claims.

    News: a list price moved, a chip is new, a source is stale, a claim has another verdict. `run` does the same at its
    end. The first time sets the baseline; no channel gets the same item twice.
    """
    with output.errors(in_json=in_json):
        from flows.alerts import deliver
        from flows.collect import steps

        chosen = read()
        if dry_run:
            baseline, messages = deliver.preview(chosen, clock=steps.utc_now)
            shown = {"baseline": baseline, "messages": [{"title": one.title, "text": one.text} for one in messages]}
            words = [f"first run, recorded and not sent: {kind}" for kind in baseline]
            words += [f"{one.title}\n\n{one.text}\n" for one in messages]
            output.echo(output.as_json(shown) if in_json else "\n".join(words) or "nothing to send")
            return
        outcome = deliver.send_due(chosen, clock=steps.utc_now)
    made = {
        "baseline": outcome.baseline,
        "sent": outcome.sent,
        "failed": outcome.failed,
        "uncertain": outcome.uncertain,
    }
    output.echo(output.as_json(made) if in_json else "\n".join(deliver.lines(outcome)))
    if not outcome.is_good:
        sys.exit(output.FAILED)
