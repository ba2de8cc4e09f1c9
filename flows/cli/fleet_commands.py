"""The commands `fleet`, `fleet import` and `fleet check`: what the user's own machines cost."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from flows.cli.command import DAY, EXISTING_FILE, Result, command
from flows.config import Reader
from flows.shared import output

LINE = ("line_number", "label", "offer", "reason")
IMPORTED = ("offer", "region", "option", "nodes", "share_of_use", "plan", "billed_effective_cost", "billed_currency")
MONTHLY = ("list_usd_per_month", "contracted_usd_per_month")


@command("fleet --renewals", cls=click.Group, invoke_without_command=True, has_table=True)
@click.option(
    "--moves",
    "since",
    type=DAY,
    metavar="SINCE",
    help="Also each move of a list price since this day, in USD a month.",
)
@click.option("--renewals", is_flag=True, help="Also the commitments that end, and what is left of them.")
def fleet(read: Reader, *, since: datetime | None, renewals: bool) -> Result:
    """Show what your fleet costs a month.

    At list and as contracted. Reads the files that [private] of the settings names; nothing of them is ever published.
    docs/fleet.md has the form.
    """
    from flows.private import fleet as costs

    found = costs.cost(read(), since=since, renewals=renewals)
    return Result(found, _lines(found))


@command("fleet check", group=fleet, has_table=True)
def check(read: Reader) -> Result:
    """Check the fleet: prices, rules, commitments.

    Lists lines without a price, rules that count for nothing, and commitments without an end. Exit code 1 where a line
    has no price.
    """
    from flows.private import fleet as costs

    found = costs.check(read())
    titles = {
        "lines": "Lines without a list price",
        "rules": "Rules that count for nothing",
        "commitments_without_end": "Commitments without commitment_end: they are in no renewal",
    }
    lines = [
        f"{title}: {len(found[name]) or 'none'}\n{output.text_table(found[name], LINE)}"
        for name, title in titles.items()
    ]
    return Result(found, map(str.rstrip, lines), is_failed=bool(found["lines"]))


@command("fleet import focus.parquet --out fleet.csv", group=fleet, name="import", has_table=True)
@click.argument("file", type=EXISTING_FILE)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("fleet.csv"), help="The fleet file to write."
)
@click.option("--replace", is_flag=True, help="Replace an existing file.")
def import_focus(_read: Reader, *, file: Path, out: Path, replace: bool) -> Result:
    """Write a fleet file from costs in FOCUS columns.

    Reads CSV or Parquet, and lists what was not read. An export names neither term, payment nor end of a commitment:
    add them, then `chipledger fleet check`.
    """
    from flows.private import fleet_file

    imported = fleet_file.read_focus(file)
    fleet_file.write(imported, out, label=f"from {file.name}", replace=replace)
    lines: list[str] = [output.text_table(imported.lines, IMPORTED)]
    if imported.left_out:
        lines += ["\nNot read:", output.text_table(imported.left_out, ("reason", "n_charges", "effective_cost"))]
    found = {"file": str(out), "lines": imported.lines, "left_out": imported.left_out}
    return Result(found, [*lines, f"file: {out}"])


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield dates and counts first, then the tables; the two sums are separate and of different lines."""
    total = found["totals"]
    yield f"prices of {found['build']['prices_built_at']:%Y-%m-%d %H:%M} UTC; a month is 730 hours"
    yield (
        f"at list: {_usd(total['list_usd_per_month'])} a month for {total['n_with_list_price']} of {total['n_lines']} "
        f"lines ({total['n_not_current']} of them at prices that are not current)"
    )
    yield (
        f"as contracted: {_usd(total['contracted_usd_per_month'])} a month for {total['n_with_contracted_price']} of "
        f"{total['n_lines']} lines"
    )
    if total["n_with_list_price"] < total["n_lines"]:
        yield "lines without a list price are in no sum at list: `chipledger fleet check` says why"
    for name, title in (("lines", ""), ("moves", "\nMoves of list prices:"), ("renewals", "\nRenewals:")):
        if name not in found:
            continue
        if title:
            yield title
        rows = [{key: _shown(value) for key, value in row.items()} for row in found[name]]
        yield output.text_table(rows, (*LINE[:-1], *MONTHLY, LINE[-1]) if name == "lines" else ()) or "None."


def _shown(value: object) -> object:
    """Return a computed amount to the cent, one below USD 1,000 to four digits after the point."""
    return round(value, 2 if abs(value) >= 1000 else 4) if isinstance(value, float) else value


def _usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"USD {amount:,.2f}"


COMMANDS = (fleet,)
