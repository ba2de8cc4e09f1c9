"""The commands `commitments` and `choose`: how much to commit to, and what wins where."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from flows.cli.command import NOT_NEGATIVE, POSITIVE, Count, Result, command
from flows.config import Reader
from flows.shared import output

MONTHS = click.FloatRange(min=1, max=120)
SHARE = click.FloatRange(min=0, max=1)
MAX_SIZES = 12
"""Sizes of cover that a table for people has at most; of more, the ends, the best and its range."""


@command("commitments --horizon 36")
@click.option("--horizon", type=MONTHS, help="Months to plan for; whole years fit terms best [36].")
def commitments(read: Reader, *, horizon: float | None) -> Result:
    """Show how many nodes to commit to.

    For each line of the fleet: the range, and what being wrong costs. Use and expectations are read from fleet.csv and
    the table [decision] of the settings: docs/deciding.md.
    """
    from flows.decisions import commitments as decision

    settings = read()
    private = settings.data_dir / "private.duckdb"
    found = decision.answer(settings.published(), private, settings.decision, horizon_months=horizon)
    return Result(found, _lines(found))


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    from flows.decisions import regions

    inputs = found["inputs"]
    yield from regions.lines(found["regions"])
    yield f"Horizon {inputs['horizon_months']:g} months from {inputs['as_of']}; nodes run {inputs['pattern']}."
    for line in found["lines"]:
        yield f"\n{line['label'] or 'line'} ({line['line_number']}): {float(line['nodes']):g} nodes"
        if line["reason"]:
            yield f"  no answer: {line['reason']}"
            continue
        for each in line["owned"]:
            yield f"  owned: {each['nodes']} nodes for {each['days_left']} days more, already paid for"
        stale = "" if line["are_prices_current"] else "  Some of these prices are NOT CURRENT."
        yield f"  list prices, expected move a year: {line['yearly_move']:.1%} ({line['yearly_move_basis']}).{stale}"
        if market := line["market"]:
            yield (
                f"  market: {market['usd_per_chip_hour']:.4g} USD a chip-hour on demand, lower quartile of "
                f"{market['n_providers']} providers ({market['prices']}), "
                f"seen since {market['oldest_observed_at']:%Y-%m-%d}"
            )
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
    own, outside = answer["on_demand_usd_per_node_hour"], answer["uncovered_usd_per_node_hour"]
    where = "the market's, as a node-hour here costs {own:.4f}" if outside < own else "the machine's own"
    yield f"    beyond them: {outside:.4f} USD a node-hour on demand, {where.format(own=own)}"
    yield (
        f"    expected: nothing bought {answer['expected_usd_doing_nothing']:,.0f} USD, this cover "
        f"{answer['expected_usd']:,.0f}, all covered {answer['expected_usd_full_cover']:,.0f}"
    )
    for each in answer["purchases"]:
        yield (
            f"    day {each['from_day']}: {each['nodes']} nodes, {each['commitment']}, "
            f"{each['usd_per_node_hour_today']:.4f} USD a node-hour at today's price"
        )
    marked = {answer[name] for name in ("cover_nodes", "cover_nodes_low", "cover_nodes_high")}
    marked |= {0, answer["sizes"][-1]["cover_nodes"]}
    table = [
        {name.removeprefix("regret_usd_"): output.rounded(value) for name, value in size.items()}
        for size in answer["sizes"]
        if len(answer["sizes"]) <= MAX_SIZES or size["cover_nodes"] in marked
    ]
    yield "\n".join(f"    {row}" for row in output.text_table(table).splitlines())
    yield "    if_...: what the size costs more than the best one would have, if use or prices turn out so."


@command("choose --workload serving-70b --spot-loss 0.1")
@click.option("--workload", "workloads", multiple=True, help="One workload of int.workload; may repeat. Default: all.")
@click.option("--horizon-months", type=MONTHS, help="How long it is wanted [12].")
@click.option(
    "--tolerates-interruption/--no-interruption", "tolerates_interruption", default=None, help="Whether spot will do."
)
@click.option(
    "--spot-loss", type=SHARE, help="Share of spot hours that interruptions cost; without it spot is not ranked."
)
@click.option(
    "--share-of-use",
    type=SHARE,
    help="Hours used of the hours committed, by all that runs there [serving 1; a training pays its whole term].",
)
@click.option("--provider", "providers", multiple=True, help="Only this provider; may repeat.")
@click.option("--region", "regions", multiple=True, help="Only this region; may repeat.")
@click.option("--tokens-per-day", type=Count(), help="Serving: output tokens a day, such as 1B.")
@click.option("--tokens", "training_tokens", type=Count(), help="Training: tokens to train on, such as 300B.")
@click.option("--interactivity", type=POSITIVE, help="Serving: tokens per second of a user.")
@click.option("--utilisation", type=SHARE, default=1.0, help="Serving: share of the rate that is served.")
@click.option("--price-days", type=NOT_NEGATIVE, help="Also rank prices last seen so many days ago, marked.")
def choose(
    read: Reader, *, workloads: tuple[str, ...], utilisation: float, price_days: float | None, **options: Any
) -> Result:
    """Show the cheapest option for each workload.

    Of feasible options: by how much, and what would change that. Options that are not set are read from the table
    [decision] of the settings: docs/deciding.md.
    """
    from flows.decisions import choose as decision

    settings = read()
    found = decision.answer(
        settings.published(),
        decision.stated(settings.decision, **options),
        workloads=workloads,
        utilisation=utilisation,
        price_days=price_days,
    )
    return Result(found, _choice_lines(found))


def _choice_lines(found: Mapping[str, Any]) -> Iterator[str]:
    from flows.decisions import regions

    yield ", ".join(f"{name} {value}" for name, value in found["inputs"].items() if value is not None)
    yield from regions.lines(found["regions"])
    for workload in found["workloads"]:
        load = workload["training_tokens"] or workload["least_interactivity"]
        unit = "tokens" if workload["training_tokens"] else "tokens a second and user"
        yield f"\n{workload['workload']}: {workload['model_name']}, {workload['task']}" + (
            f", {load:g} {unit}" if load else ""
        )
        won = [row for row in workload["choices"] if row["offer_id"] is not None]
        if not won:
            yield "  no option is feasible on measured evidence: nothing is estimated"
        for row in won:
            yield from _winner(row)
        left_out = {row["left_out"] for row in workload["choices"] if row["left_out"]} if not won else set()
        yield from (f"  left out: {words}" for words in sorted(left_out))
        yield f"  no evidence on what is sold, not ranked: {', '.join(workload['no_evidence']) or 'none'}"
    yield "\nQuestions, and the numbers that answer them (table [decision], or options):"
    yield output.text_table(
        [{name: row[name] for name in ("question", "setting", "number", "used_for")} for row in found["questions"]]
    )
    yield from (f"{row['question']} {row['answer']}." for row in found["questions"] if "answer" in row)
    yield f"Your own judgement, in no sum: {'; '.join(found['own_judgement'])}."


def _winner(row: Mapping[str, Any]) -> Iterator[str]:
    lengths = "/".join("?" if row[name] is None else f"{row[name]:g}" for name in ("input_length", "output_length"))
    speed = f", {row['interactivity']:g} tok/s/user" if row["interactivity"] else ""
    yardstick = ", ".join(filter(None, (row["benchmark"], row["scenario"], row["precision"])))
    yield f"  by {yardstick}, lengths {lengths}{speed}:"
    chip = " ".join(filter(None, (row["accelerator_name"], row["form_factor"])))
    what = " ".join(filter(None, (row["service_provider_name"], row["instance_type"], row["region_id"])))
    yield (
        f"    {chip}, {row['purchase_option']}, {what}: {row['usd_per_million']:.4g} USD a million tokens "
        f"({_number(row['usd_per_million_low'])} to {_number(row['usd_per_million_high'])})"
        + (
            f", {row['training_usd_median']:,.0f} USD in {row['training_days']:.1f} days"
            if row["training_days"]
            else ""
        )
    )
    yield (
        f"    evidence {row['evidence_grade']} of {row['measured_on']}, price {row['median_price_usd']:.4g} USD "
        f"a chip-hour of {row['last_observed_at'].date()}{'' if row['is_current'] else ', NOT CURRENT'}"
        f"{', NEVER SEEN OBTAINABLE' if row['is_never_seen_obtainable'] else ''}; {row['source_url']}"
    )
    if row["commitment_class"] not in ("none", "interruptible"):
        yield f"    paid for its whole term, and used in {row['running_share']:.2%} of its hours (share_of_use)"
    if row["runner_up"]:
        clear = "" if row["is_clear"] else ", ranges overlap"
        stale = "" if row["runner_up_is_current"] else ", NOT CURRENT"
        yield (
            f"    next: {row['runner_up']}{stale}, {row['runner_up_usd_per_million']:.4g} "
            f"(+{row['margin_usd_per_million']:.4g}{clear}); it wins below {row['runner_up_price_to_win']:.4g} USD a "
            f"chip-hour or above {row['runner_up_rate_to_win']:.4g} tokens a second and chip"
        )
    if row["usd_a_month_at_stake"] is not None:
        yield f"    at stake: {row['usd_a_month_at_stake']:,.0f} USD a month"
    if row["spot_option"]:
        loss = f"{row['spot_loss_to_win']:.0%}"
        yield f"    spot: {row['spot_option']} costs no more while it loses less than {loss} of its hours"
    if row["left_out"]:
        yield f"    left out: {row['left_out']}"


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.4g}"


COMMANDS = (choose, commitments)
