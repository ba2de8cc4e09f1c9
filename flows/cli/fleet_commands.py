"""The commands `fleet`, `fleet import` and `fleet check`: what the user's own machines cost."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from flows.config import Reader
from flows.shared import output


@click.group(invoke_without_command=True, epilog="Example: chipledger fleet --renewals")
@click.option(
    "--moves",
    "since",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="SINCE",
    help="Also each move of a list price since this day, in USD a month.",
)
@click.option("--renewals", is_flag=True, help="Also the commitments that end, and what is left of them.")
@output.JSON
@click.pass_context
def fleet(ctx: click.Context, *, since: datetime | None, renewals: bool, in_json: bool) -> None:
    """Show what your fleet costs a month.

    At list and as contracted. Reads the files that [private] of the settings names; nothing of them is ever published.
    docs/fleet.md has the form.
    """
    if ctx.invoked_subcommand is not None:
        return
    with output.errors(in_json=in_json):
        from flows.private import fleet as costs

        found = costs.cost(ctx.obj(), since=since, renewals=renewals)
    if in_json:
        output.echo(output.as_json(found))
        return
    _print(found)


@fleet.command(epilog="Example: chipledger fleet check")
@output.JSON
@click.pass_obj
def check(read: Reader, *, in_json: bool) -> None:
    """Check the fleet: prices, rules, commitments.

    Lists lines without a price, rules that count for nothing, and commitments without an end. Exit code 1 where a line
    has no price.
    """
    with output.errors(in_json=in_json):
        from flows.private import fleet as costs

        found = costs.check(read())
    if in_json:
        output.echo(output.as_json(found))
    else:
        titles = {
            "lines": "Lines without a list price",
            "rules": "Rules that count for nothing",
            "commitments_without_end": "Commitments without commitment_end: they are in no renewal",
        }
        for name, title in titles.items():
            output.echo(f"{title}: {len(found[name]) or 'none'}")
            if found[name]:
                output.echo(output.text_table(found[name]))
    sys.exit(output.FAILED if found["lines"] else 0)


@fleet.command("import", epilog="Example: chipledger fleet import focus.parquet --out fleet.csv")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("fleet.csv"),
    show_default=True,
    help="The fleet file to write.",
)
@click.option("--replace", is_flag=True, help="Replace an existing file.")
@output.JSON
def import_focus(*, file: Path, out: Path, replace: bool, in_json: bool) -> None:
    """Write a fleet file from costs in FOCUS columns.

    Reads CSV or Parquet, and lists what was not read. An export names neither term, payment nor end of a commitment:
    add them, then `chipledger fleet check`.
    """
    with output.errors(in_json=in_json):
        from flows.private import focus_import

        imported = focus_import.read(file)
        focus_import.write(imported, out, label=f"from {file.name}", replace=replace)
    if in_json:
        output.echo(output.as_json({"file": str(out), "lines": imported.lines, "left_out": imported.left_out}))
        return
    output.echo(output.text_table(imported.lines))
    if imported.left_out:
        output.echo("\nNot read:")
        output.echo(output.text_table(imported.left_out))
    output.echo(f"file: {out}")


def _print(found: dict[str, Any]) -> None:
    """Print dates and counts first, then the tables; the two sums are separate and of different lines."""
    total = found["totals"]
    output.echo(f"prices of {found['build']['prices_built_at']:%Y-%m-%d %H:%M} UTC; a month is 730 hours")
    output.echo(
        f"at list: {_usd(total['list_usd_per_month'])} a month for {total['n_with_list_price']} of {total['n_lines']} "
        f"lines ({total['n_not_current']} of them at prices that are not current)"
    )
    output.echo(
        f"as contracted: {_usd(total['contracted_usd_per_month'])} a month for {total['n_with_contracted_price']} of "
        f"{total['n_lines']} lines"
    )
    if total["n_with_list_price"] < total["n_lines"]:
        output.echo("lines without a list price are in no sum at list: `chipledger fleet check` says why")
    for name, title in (("lines", ""), ("moves", "Moves of list prices:"), ("renewals", "Renewals:")):
        if name not in found:
            continue
        if title:
            output.echo(f"\n{title}")
        shown = [{key: _shown(value) for key, value in row.items()} for row in found[name]]
        output.echo(output.text_table(shown) or "None.")


def _shown(value: object) -> object:
    """Return a computed amount to the cent, one below USD 1,000 to four digits after the point."""
    return round(value, 2 if abs(value) >= 1000 else 4) if isinstance(value, float) else value


def _usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"USD {amount:,.2f}"


COMMANDS = (fleet,)
