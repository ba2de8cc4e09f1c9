"""The command `deploy`: the deployments of a checkout on a Prefect server."""

import os
from pathlib import Path

import click

from flows.shared import output


@click.command(epilog="Example: chipledger deploy --schedule weekly=off")
@click.option(
    "--schedule",
    "texts",
    multiple=True,
    metavar="NAME=CRON",
    help="Another schedule than that of prefect.yaml, UTC, or NAME=off; NAME is daily, weekly or maintain. May repeat.",
)
@output.JSON
def deploy(*, texts: tuple[str, ...], in_json: bool) -> None:
    """Create the deployments on a Prefect server.

    Creates those of prefect.yaml, and their work pool, on the server of PREFECT_API_URL. Start it in the checkout that
    workers on this machine will run from. Run it again after a change of prefect.yaml; it is safe to repeat. Schedules
    of an earlier call are dropped unless they are repeated.
    """
    with output.errors(in_json=in_json):
        from flows.scheduling import prefect_setup

        made = prefect_setup.deploy(Path.cwd(), prefect_setup.schedules(texts), environ=os.environ)
    if in_json:
        content = {"pool": made.pool, "is_new_pool": made.is_new_pool, "schedules": dict(made.schedules)}
        output.echo(output.as_json(content))
        return
    output.echo(f"work pool {made.pool}: {'made' if made.is_new_pool else 'was there'}")
    output.echo("deployed as in prefect.yaml: daily, weekly, backfill, maintain")
    for name, cron in made.schedules.items():
        output.echo(f"schedule of {name}: {cron}" + ("" if cron == prefect_setup.OFF else " UTC"))
    output.echo(f"next: prefect worker start --pool {made.pool}")
