"""The commands `commitments` and `choose`: how much to commit to, and what wins where."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from flows import output
from flows.settings import Settings

AS_JSON = click.option("--json", "in_json", is_flag=True, help="Print the result as JSON, errors as JSON on stderr.")
MONTHS = click.FloatRange(min=1, max=120)
PRIVATE_FILE = "private.duckdb"
SHOWN = 12
"""Sizes of cover that a table for people has at most; of more, the ends, the best and its range."""


@click.command()
@click.option("--horizon", type=MONTHS, help="Months to look ahead; whole years fit terms best [36].")
@AS_JSON
@click.pass_obj
def commitments(read: Callable[[], Settings], *, horizon: float | None, in_json: bool) -> None:
    """Say how many nodes of each line of the fleet to commit to, with the range, and what being wrong costs.

    Use and expectations are read from fleet.csv and the table [decision] of the settings: docs/commitments.md.
    """
    with output.errors(in_json=in_json):
        from flows import commitments as asked
        from flows import decision_settings

        settings = read()
        found = asked.answer(
            settings.published(), settings.data_dir / PRIVATE_FILE, decision_settings.read(settings),
            horizon_months=horizon,
        )  # fmt: skip
    if in_json:
        click.echo(output.as_json(found))
        return
    for line in _lines(found):
        click.echo(line)


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    inputs = found["inputs"]
    yield f"Horizon {inputs['horizon_months']:g} months from {inputs['as_of']}; nodes run {inputs['pattern']}."
    for line in found["lines"]:
        yield f"\n{line['label'] or 'line'} ({line['line_number']}): {line['nodes']:g} nodes"
        if line["reason"]:
            yield f"  no answer: {line['reason']}"
            continue
        for each in line["owned"]:
            yield f"  owned: {each['nodes']} nodes for {each['days_left']} days more, already paid for"
        stale = "" if line["are_prices_current"] else "  Some of these prices are NOT CURRENT."
        yield f"  list prices, expected move a year: {line['yearly_move']:.1%} ({line['yearly_move_basis']}).{stale}"
        for answer in line["answers"]:
            yield from _answer(answer)


def _answer(answer: Mapping[str, Any]) -> Iterator[str]:
    if answer["reason"]:
        yield f"  at {answer['prices']} prices: no answer: {answer['reason']}"
        return
    yield (
        f"  at {answer['prices']} prices: cover {answer['cover_nodes']} nodes "
        f"(from {answer['cover_nodes_low']} to {answer['cover_nodes_high']}, by use and prices)"
    )
    yield (
        f"    expected: nothing bought {answer['expected_usd_doing_nothing']:,.0f} USD, this cover "
        f"{answer['expected_usd']:,.0f}, all covered {answer['expected_usd_full_cover']:,.0f}"
    )
    for each in answer["purchases"]:
        yield (
            f"    day {each['from_day']}: {each['nodes']} nodes, {each['commitment']}, "
            f"{each['usd_per_node_hour_today']:.4f} USD a node-hour at today's price"
        )
    told = {answer[name] for name in ("cover_nodes", "cover_nodes_low", "cover_nodes_high")}
    told |= {0, answer["sizes"][-1]["cover_nodes"]}
    table = [
        {name.removeprefix("regret_usd_"): output.rounded(value) for name, value in size.items()}
        for size in answer["sizes"]
        if len(answer["sizes"]) <= SHOWN or size["cover_nodes"] in told
    ]
    yield "\n".join(f"    {row}" for row in output.text_table(table).splitlines())
    yield "    if_...: what the size costs more than the best one would have, if use or prices turn out so."
