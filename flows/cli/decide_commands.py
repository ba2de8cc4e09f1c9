"""The commands of the section Decide but `fit`: what to buy, move or cover, what a token costs, what a fleet costs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from flows.cli.command import DAY, EXISTING_FILE, Count, Number, Result, command
from flows.config import Reader
from flows.shared import output
from warehouse.errors import SettingsError

if TYPE_CHECKING:
    from flows.config.settings import Settings
    from flows.decisions.break_even import Range
    from flows.decisions.decide import Load

EXAMPLE = "decide move --from-cpm 2.1 --to-cpm 1.4 --migration-weeks 3 --engineers 2 --rate 120"
TIME = Number(min=0, min_open=True, max=120)
COUNT = Number(min=0, min_open=True, max=1_000_000)
SHARE = Number(min=0, max=1, min_open=True)
POSITIVE = Number(min=0, min_open=True)
NOT_NEGATIVE = Number(min=0)
COMMITMENT_USE = click.option(
    "--commitment-use", type=SHARE, help="Hours used / hours committed [serving 1; a training pays its whole term]."
)
SPOT_LOSS = click.option(
    "--spot-loss",
    "spot_running_share",
    type=Number(min=0, max=1, max_open=True),
    callback=lambda _context, _option, lost: 1 - lost,
    default=0.0,
    help="Share of spot hours lost to interruptions.",
)
ADD = click.option(
    "--add",
    "additions",
    multiple=True,
    metavar="NAME=AMOUNT",
    help="A cost besides the chips: egress, storage, support, tax, engineering or capital, USD a month or 10%.",
)
HTML = click.option("--html", "in_html", is_flag=True, help="Print the result as a page.")
_NUMBER = r"\d+(?:\.\d+)?"


class Spread(click.ParamType["Range"]):
    """A number, or a range: 3, 2..6 (the likely one in the middle) or 2..3..6."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Range":
        """Return low, likely and high; fail with what is allowed."""
        from flows.decisions.break_even import Range

        match = re.fullmatch(rf"({_NUMBER})(?:\.\.({_NUMBER}))?(?:\.\.({_NUMBER}))?", str(value))
        if match is None:
            self.fail(f"{value!r} is not a number or range; write 3 (0.8, not 80 %), 2..6 or 2..3..6", param, ctx)
        numbers = [float(each) for each in match.groups() if each is not None]
        if len(numbers) == 2:
            numbers.insert(1, (numbers[0] + numbers[1]) / 2)
        low, likely, high = numbers if len(numbers) == 3 else numbers * 3
        if not low <= likely <= high:
            self.fail(f"{value!r} does not rise from low to high; write 2..3..6", param, ctx)
        return Range(low=low, likely=likely, high=high)


@command(
    "decide --machine p5.48xlarge --nodes 16 --use 0.8 --months 12",
    cls=click.Group,
    invoke_without_command=True,
    has_table=True,
)
@click.option("--machine", help="An AWS type, such as p5.48xlarge; of others as much of its chip.")
@click.option("--nodes", type=COUNT, help="How many of it.")
@click.option("--chip", "chips", multiple=True, help="A chip, such as H200; may repeat. With --model only these.")
@click.option("--accelerators", type=COUNT, help="How many chips, with --chip.")
@click.option("--model", help="A model, such as gpt-oss-120b.")
@click.option("--tokens-per-day", type=Count(), help="Output tokens that it serves a day, in the mean.")
@click.option("--peak", type=Number(min=1), help="Load at the peak / the mean: machines are for the peak.")
@click.option("--interactivity", type=POSITIVE, help="Least tokens per second for one user.")
@click.option("--batch", "is_batch", is_flag=True, help="No user waits: the rate of batches.")
@click.option("--scenario", help='Of which lengths, such as "8k/1k"; default: where most chips were measured.')
@click.option("--precision", help="Of the weights, such as fp8; default: likewise.")
@click.option("--utilisation", type=SHARE, default=1.0, help="Share of the measured rate that the peak may use.")
@click.option("--training-tokens", type=Count(), help="Tokens of a training, such as 300B.")
@click.option("--deadline-days", type=POSITIVE, help="Days in which the training must end.")
@click.option("--overhead", type=NOT_NEGATIVE, help="Training: other work, as a share of it [0.15].")
@click.option("--goodput", type=SHARE, help="Training: share of the time that makes progress [by the chips].")
@click.option("--months", "--horizon-months", "months", type=TIME, help="For how long.")
@click.option("--days", type=Number(min=0, min_open=True, max=3652), help="The same in days.")
@click.option("--use", "--share-of-use", "use", type=Spread(), help="Share of hours that run: 0.8 or 0.6..0.9 [1].")
@click.option("--spare", type=click.IntRange(0, 1000), help="Units, of a model copies, more than run [serving: 1].")
@click.option("--provider", "providers", multiple=True, help="Only this provider; may repeat.")
@click.option("--region", "regions", multiple=True, help="Only this region; may repeat.")
@click.option("--tolerates-interruption", is_flag=True, default=None, help="Spot counts too.")
@click.option("--spot-loss", type=Number(min=0, max=1, max_open=True), help="Share of spot hours lost.")
@click.option("--hosted", type=EXISTING_FILE, help="A CSV of prices of hosted models, for the same tokens.")
@click.option("--hosted-price", type=(NOT_NEGATIVE,) * 2, help="Or one: USD per million input and output tokens.")
@click.option("--bedrock", type=EXISTING_FILE, help="Or a saved index.json of AWS's price list of Amazon Bedrock.")
@click.option("--input-per-output", type=NOT_NEGATIVE, help="Input tokens to each output token, hosted.")
@click.option("--cached-share", type=Number(min=0, max=1), help="Share of the input that is cached there.")
@click.option("--own", hidden=True, help="Former way to name machines: chip, purchase option, provider.")
@click.option("--workload", help="A published workload in place of --model and its load: docs/deciding.md.")
@click.option("--capital", type=NOT_NEGATIVE, help="Cost of capital a year [0.08].")
@ADD
@HTML
def decide(read: Reader, *, days: float | None, use: Any, in_html: bool, **options: Any) -> Result:
    """Show what to buy, and what would change that.

    Every way to have the chips for a load, charged as it is sold, from the cheapest on.

    The load is machines, tokens a day of a model, or a training by a deadline. Options that are not set are read from
    the table [decision] of the settings: docs/deciding.md.
    """
    from flows.decisions import break_even_page as page
    from flows.decisions import decide as decision
    from flows.decisions import decide_page

    settings = read()
    found = decision.answer(
        settings.published(), _load(settings, days=days, use=use, **options), contracted=_contracted(settings)
    )
    parts = decide_page.sections(found)
    title = f"Decision: {decide_page.load_in_words(found)}"
    return Result(found, [page.render(parts, title).rstrip() if in_html else page.text(parts)])


def _load(settings: "Settings", *, days: float | None, use: "Range | None", **options: Any) -> "Load":
    """Return the load that is stated, the rest from the table [decision] as far as it is of that kind."""
    from flows.decisions import cost_added, hosted
    from flows.decisions import decide as decision
    from flows.decisions.break_even import Range

    stated = {name: value for name, value in options.items() if value not in (None, ())}
    if "machine" in stated:
        stated["machine"] = stated["machine"].lower()
    table = settings.decision
    found: dict[str, Any] = {"providers": table.providers, "regions": table.regions, "spot_loss": table.spot_loss}
    costs = ((name, added) for name, added in settings.costs if name != "capital")
    found |= {"added": cost_added.stated(costs, stated.pop("additions", ())), "pattern": table.pattern}
    found |= {"tolerates_interruption": bool(table.tolerates_interruption), "months": table.horizon_months}
    if (name := stated.pop("workload", None)) is not None:
        known = decision.workloads()
        if name not in known:
            raise SettingsError("no such workload", field="--workload", value=name, hint=f"Known: {', '.join(known)}")
        found |= known[name] | {"months": table.horizon_months or 12.0}
    if (words := stated.pop("own", None)) is not None:
        found |= decision.own(settings.published(), words) | {"months": 1, "peak": 1.0, "spare": 0}
        stated["is_batch"] = "interactivity" not in stated
    if days is not None and stated.get("months") is not None:
        raise SettingsError("either days or months", field="--days", value=days, hint="Leave one of them")
    found |= {"months": days * 24 / decision.HOURS_PER_MONTH} if days is not None else {}
    files, price = (stated.pop("hosted", None), stated.pop("bedrock", None)), stated.pop("hosted_price", None)
    stated["hosted"], stated["hosted_from"] = hosted.read(*files, price=price, model=options["model"])
    found |= stated
    if found.get("training_tokens") or found.get("deadline_days"):
        months = found.pop("months")
        found.setdefault("training_tokens", table.training_tokens)
        found.setdefault("deadline_days", months and months * 365 / 12)
    elif "model" in found:
        found.setdefault("tokens_per_day", table.tokens_per_day)
        if not found.get("is_batch"):
            found.setdefault("interactivity", table.interactivity)
    share = use or table.share_of_use
    if share is not None:
        ends = ("low", "likely", "high")
        found["use"] = Range(**{end: share if isinstance(share, float) else getattr(share, end) for end in ends})
        if not (found["use"].likely > 0 and found["use"].high <= 1):
            message = "a share of the hours is above 0 and at most 1"
            raise SettingsError(message, field="--use", value=found["use"].high)
    return decision.Load(**found)


def _contracted(settings: "Settings") -> dict[int, float]:
    """Return what the user pays as a share of the list price, by offer; nothing where no private prices are named."""
    if settings.private.prices is None:
        return {}
    from flows.decisions.commitments import SHARES
    from flows.private import private_file

    with private_file.in_memory(settings, datetime.now(UTC)) as con:
        return dict(con.execute(SHARES).fetchall())


@command(EXAMPLE, group=decide, has_table=True)
@click.option("--from", "start", help='Present option: chip, purchase option, provider, such as "h200 spot runpod".')
@click.option("--to", "target", help='New option, such as "trn2 capacity_block".')
@click.option("--from-cpm", type=Spread(), help="Present USD per million tokens, instead of --from.")
@click.option("--to-cpm", type=Spread(), help="New USD per million tokens, instead of --to.")
@click.option("--tokens-per-day", type=Count(), help="Output tokens a day, such as 1B.")
@click.option("--migration-weeks", "weeks", type=Spread(), help="Weeks of work for one model: 3, 2..6 or 2..3..6.")
@click.option("--effort", type=click.Choice(["light", "port", "rewrite"]), help="Instead: a port to Neuron.")
@click.option("--models", "n_models", type=click.IntRange(min=1), default=1, help="Models to move, one after another.")
@click.option("--engineers", type=NOT_NEGATIVE, help="People who work on it all the time.")
@click.option("--rate", "usd_per_hour", type=NOT_NEGATIVE, help="USD an hour of one of them.")
@click.option("--upkeep-per-month", type=NOT_NEGATIVE, help="USD a month of work that the new side needs.")
@click.option("--upkeep-days-per-release", type=NOT_NEGATIVE, help="Instead: days of one person at each release.")
@click.option("--releases-per-year", type=NOT_NEGATIVE, help="Releases a year, with the days of each.")
@click.option("--dual-running-weeks", "dual_weeks", type=NOT_NEGATIVE, default=0.0, help="Weeks of both sides.")
@click.option("--stranded", type=NOT_NEGATIVE, default=0.0, help="USD that a commitment still owes, unused.")
@click.option("--delay-weeks", type=NOT_NEGATIVE, default=0.0, help="Weeks until it serves, besides those of the work.")
@click.option("--delay-usd-per-week", type=NOT_NEGATIVE, default=0.0, help="USD lost in each, as of revenue.")
@click.option("--horizon-months", type=POSITIVE, default=12.0, help="Months that are compared.")
@click.option("--model", help="A model, such as llama-2-70b.")
@click.option("--interactivity", type=POSITIVE, help="Least tokens per second for one user.")
@click.option("--utilisation", type=SHARE, default=1.0, help="Share of the measured rate that is served.")
@COMMITMENT_USE
@SPOT_LOSS
@HTML
def move(read: Reader, *, weeks: "Range | None", effort: str | None, in_html: bool, **options: Any) -> Result:
    """Show whether and when a move pays.

    Shows the tokens, months and monthly spend at which it does, or never, and what would change that. Costs per token
    are options (--from-cpm, --to-cpm), or those of runs and prices of the published file at one operating point of
    both sides. Where one side was not measured, the answer is what it would have to reach.
    """
    from flows.decisions import break_even as decision
    from flows.decisions import break_even_page as page
    from flows.decisions.break_even_sides import Use

    start, from_cpm, target, to_cpm = (options.pop(each) for each in ("start", "from_cpm", "target", "to_cpm"))
    needed = {"--from or --from-cpm": start or from_cpm, "--to or --to-cpm": target or to_cpm}
    needed |= {"--migration-weeks or --effort": weeks or effort, "--engineers": options["engineers"]}
    needed |= {"--rate": options["usd_per_hour"]}
    if lacking := [name for name, value in needed.items() if value is None]:
        _refuse(f"not stated yet: {', '.join(lacking)}", "decide move", "", f"Such as: chipledger {EXAMPLE}")
    sides = _side(start, from_cpm, "--from"), _side(target, to_cpm, "--to")
    if (weeks is None) == (effort is None):
        _refuse("give either --migration-weeks or --effort", "--migration-weeks", effort or "")
    monthly = options.pop("upkeep_per_month")
    days, releases = options.pop("upkeep_days_per_release"), options.pop("releases_per_year")
    if (days is None) != (releases is None) or None not in (days, monthly):
        hint = "Give USD a month, or both --upkeep-days-per-release and --releases-per-year"
        _refuse("upkeep is incomplete, or set twice", "--upkeep-per-month", "" if monthly is None else monthly, hint)
    each = days, releases, options["usd_per_hour"]
    by_release = days and decision.in_memory().value("decision.upkeep_per_month", *each)
    use = Use(**{name: options.pop(name) for name in ("utilisation", "commitment_use", "spot_running_share")})
    of: dict[str, Any] = {name: options.pop(name) for name in ("model", "interactivity")}
    work = decision.Work(weeks=weeks or decision.EFFORTS[effort or ""], upkeep=monthly or by_release or 0.0, **options)
    settings = read()
    file = settings.published() if any(isinstance(side, str) for side in sides) else None
    of["regions"] = settings.decision.regions
    found = decision.move(*sides, work=work, use=use, file=file, effort=effort, **of)
    parts = page.sections(found)
    return Result(found, [page.render(parts, parts[0].title).rstrip() if in_html else page.text(parts)])


def _side(words: str | None, cost: "Range | None", field: str) -> "Range | str":
    """Return one side: its words, or its cost."""
    if (words is None) == (cost is None):
        _refuse(f"give either {field} or {field}-cpm", field, words or "")
    if cost is not None and cost.low == 0:
        raise SettingsError("a cost must be above 0", field=f"{field}-cpm", value=0)
    return words or "" if cost is None else cost


def _refuse(message: str, field: str, value: object, hint: str = "`chipledger decide move --help`") -> None:
    raise SettingsError(message, field=field, value=value, hint=hint)


@command("decide fleet --horizon 36", group=decide, name="fleet", has_table=True)
@click.option("--horizon", type=Number(min=1, max=120), help="Months to plan for; whole years fit terms best [36].")
def cover(read: Reader, *, horizon: float | None) -> Result:
    """Show how many nodes to commit to.

    For each line of the fleet: the range, and what being wrong costs. Use and expectations are read from fleet.csv and
    the table [decision] of the settings: docs/deciding.md.
    """
    from flows.decisions import commitments as decision
    from flows.private import private_file

    settings = read()
    with private_file.in_memory(settings, datetime.now(UTC)) as con:
        found = decision.answer(settings.published(), con, settings.decision, horizon_months=horizon)
    return Result(found, _cover_lines(found))


def _cover_lines(found: Mapping[str, Any]) -> Iterator[str]:
    from flows.decisions import regions
    from reports import wording

    inputs = found["inputs"]
    yield from regions.lines(found["regions"])
    horizon = wording.count(inputs["horizon_months"], "month")
    yield f"Horizon {horizon} from {inputs['as_of']}; nodes run {inputs['pattern']}."
    for line in found["lines"]:
        yield f"\n{line['label'] or 'line'} ({line['line_number']}): {wording.count(float(line['nodes']), 'node')}"
        yield from _sheet(line["negotiation"]) if line["negotiation"] else ()
        if line["reason"]:
            yield f"  no answer: {line['reason']}"
            continue
        for each in line["owned"]:
            owned, left = wording.count(each["nodes"], "node"), wording.count(each["days_left"], "day")
            yield f"  owned: {owned} for {left} more, already paid for"
        stale = "" if line["are_prices_current"] else "  Some of these prices are NOT CURRENT."
        yield f"  list prices, your expected move a year: {line['yearly_move']:.1%}.{stale}"
        if market := line["market"]:
            yield (
                f"  market: {market['usd_per_chip_hour']:.4g} USD a chip-hour on demand, lower quartile of "
                f"{wording.count(market['n_providers'], 'provider')} ({market['prices']}), "
                f"all seen since {market['oldest_observed_at']:%Y-%m-%d}"
            )
        for answer in line["answers"]:
            yield from _cover_answer(answer)


def _sheet(sheet: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to hold against an offer for a line of the fleet."""
    listed = "unknown" if sheet["list_usd"] is None else f"{sheet['list_usd']:.4g}"
    yield (
        f"  against an offer, USD a chip-hour on demand: list {listed}, median {sheet['median_usd']:.4g}, lowest "
        f"{sheet['lowest_usd']:.4g} ({sheet['lowest_provider']}); to beat: {sheet['number_to_beat_usd']:.4g}"
        + (f", a percent of it {sheet['percent_usd_a_year']:,.0f} USD a year" if sheet["percent_usd_a_year"] else "")
    )
    moves = (f"{move['ratio']:+.0%} on {move['on']}" for move in sheet["last_moves"] or ())
    yield f"  last moves of its list price: {', '.join(moves) or 'none was seen'}"


def _cover_answer(answer: Mapping[str, Any]) -> Iterator[str]:
    from reports import wording

    if answer["reason"]:
        yield f"  at {answer['prices']} prices: no answer: {answer['reason']}"
        return
    yield (
        f"  at {answer['prices']} prices: cover {wording.count(answer['cover_nodes'], 'node')} "
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
            f"    from day {each['from_day']}: {each['terms']} x {each['commitment']}, "
            f"{each['usd_per_node_hour_today']:.4f} USD a node-hour at today's price"
        )
    marked = {answer[name] for name in ("cover_nodes", "cover_nodes_low", "cover_nodes_high")}
    table = [
        {name.removeprefix("regret_usd_"): output.rounded(value) for name, value in size.items()}
        for size in answer["sizes"]
        if size["cover_nodes"] in (marked | {0, len(answer["sizes"]) - 1})
    ]
    yield "\n".join(f"    {row}" for row in output.text_table(table).splitlines())
    yield "    if_...: what the size costs more than the best one would have, if use or prices turn out so."


USED = {
    "serving": {"interactivity", "tokens_per_day", "precision", "utilisation"},
    "training": {"tokens", "overhead", "goodput", "mfu", "measured_only", "precision"},
    "a bare sum": {"throughput", "price", "utilisation", "overhead", "goodput", "chips", "precision", "batch"}
    | {"context", "accepted_tokens"},
}
"""Options that only these questions take."""


@command("cost --model llama-3-70b --interactivity 30", has_table=True)
@click.option("--model", help="A model, such as llama-3-70b.")
@click.option("--task", type=click.Choice(["serving", "training"]), default="serving", help="What the tokens are for.")
@click.option("--interactivity", type=POSITIVE, help="Serving: least tokens per second for one user.")
@click.option("--tokens-per-day", type=Count(), help="Serving: output tokens a day, such as 1B.")
@click.option("--tokens", type=Count(), help="Training: tokens to train on, such as 300B.")
@click.option("--overhead", type=NOT_NEGATIVE, default=0.0, help="Training: other work, as a share of it.")
@click.option("--goodput", type=SHARE, default=1.0, help="Training: share of running time that makes progress.")
@click.option("--mfu", type=SHARE, help="Training: share of the peak to assume where nothing was measured [0.4].")
@click.option("--measured-only", is_flag=True, help="Training: assume nothing.")
@click.option("--throughput", type=POSITIVE, help="Bare sum: tokens per second of all chips.")
@click.option("--price", type=POSITIVE, help="Bare sum: USD an hour of all chips.")
@click.option("--utilisation", type=SHARE, help="Share of the rate served [bare sum 1, serving 1, 0.7, 0.5, 0.3].")
@click.option("--chip", help="A chip: the bound of a bare sum, or the only one to show.")
@click.option("--chips", type=POSITIVE, default=1.0, help="Bare sum: how many chips; a Trainium3's core is 0.125.")
@click.option("--precision", help="Of weights, or of the peak (training, bf16).")
@click.option("--batch", type=click.IntRange(min=1), help="Bare sum: sequences in flight, for the bandwidth bound.")
@click.option("--context", type=click.IntRange(min=0), default=0, help="Bare sum: tokens that each of them attends to.")
@click.option("--accepted-tokens", type=Number(min=1), help="Bare sum: output tokens a step [every reading counts].")
@COMMITMENT_USE
@SPOT_LOSS
@click.option("--beat", type=POSITIVE, help="USD a million tokens to beat: the price or rate that it takes.")
@ADD
@click.option("--all", "everything", is_flag=True, help="Every offer, not the cheapest of each chip and option.")
@HTML
def cost(read: Reader, *, everything: bool, in_html: bool, additions: Sequence[str], **options: Any) -> Result:
    """Compute the cost of a million tokens.

    From each price and each measured run, or from two numbers. `--model` and `--task` query the published file;
    `--throughput` and `--price` are computed alone, and compared with what physics allows where --chip and --model
    are set.
    """
    from flows.decisions import cost as decision
    from flows.decisions import cost_added

    model, chip, is_training = options["model"], options["chip"], options["task"] == "training"
    utilisations = [options["utilisation"]] if options["utilisation"] else decision.UTILISATIONS

    def of(*names: str) -> dict[str, Any]:
        return {name: options[name] for name in names}

    terms = decision.Terms(
        **of("commitment_use", "spot_running_share", "beat"), added=cost_added.stated(read().costs, additions)
    )
    is_bare = bool(options["throughput"] or options["price"])
    kind = "a bare sum" if is_bare else options["task"]
    used = USED[kind] if is_training else USED[kind] - {"overhead", "goodput"}
    source = click.get_current_context().get_parameter_source
    unused = [name for name in options if name in set().union(*USED.values()) - used]
    unused = [name for name in unused if source(name) is ParameterSource.COMMANDLINE]
    if model is None and not is_bare:
        message, hint = "--model is missing; or give --throughput and --price", "`chipledger cost --help`"
        raise SettingsError(message, field="--model", value="", hint=hint)
    if not is_bare and is_training != (options["tokens"] is not None):
        hint = "For a training write --task training --tokens 300B; for serving leave --tokens"
        value = options["tokens"] or ""
        raise SettingsError("--tokens and --task training need each other", field="--tokens", value=value, hint=hint)
    if unused:
        field, value = f"--{unused[0].replace('_', '-')}", options[unused[0]]
        raise SettingsError(f"means nothing for {kind}: leave it out", field=field, value=value)
    if is_bare:
        stated = decision.Sum(**of(*decision.SUM_INPUTS) | {"utilisation": utilisations[0]})
        found = decision.bare(stated, terms, read.published() if chip and model else None)
    elif is_training:
        mfu = None if options["measured_only"] else options["mfu"] or decision.ASSUMED_MFU
        of_peak = options["precision"] or "bf16"
        inputs = of("model", "tokens", "overhead", "goodput")
        found = decision.training(read.published(), **inputs, mfu=mfu, precision=of_peak, terms=terms)
    else:
        inputs = of("model", "interactivity", "tokens_per_day", "precision")
        found = decision.serving(read.published(), **inputs, terms=terms, utilisations=utilisations)
    if chip is not None and not is_bare:
        found |= {"inputs": found["inputs"] | {"chip": chip}, "rows": decision.only(found["rows"], chip)}
    shown = decision.shown(found, everything=everything)
    return Result(found, [decision.render(found, shown).rstrip()] if in_html else decision.lines(found, shown))


LINE = ("line_number", "label", "offer", "reason")
IMPORTED = ("offer", "region", "option", "nodes", "share_of_use", "plan", "billed_effective_cost", "billed_currency")
LEFT_OUT = ("reason", "n_charges", "effective_cost", "billing_currency")
LINES = (*LINE[:-1], "purchase_option", "nodes", "list_usd_per_month", "contracted_usd_per_month", LINE[-1])


@command("fleet --renewals", cls=click.Group, invoke_without_command=True, has_table=True)
@click.option("--moves", "since", type=DAY, metavar="SINCE", help="Also moves of list prices since then, USD a month.")
@click.option("--renewals", is_flag=True, help="Also the commitments that end, and what is left of them.")
def fleet(read: Reader, *, since: datetime | None, renewals: bool) -> Result:
    """Show what your fleet costs a month.

    At list and as contracted. Reads the files that [private] of the settings names; nothing of them is ever published.
    docs/fleet.md has the form.
    """
    from flows.private import fleet as costs

    found = costs.cost(read(), since=since, renewals=renewals)
    return Result(found, _fleet_lines(found))


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
@click.argument("files", type=EXISTING_FILE, nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("fleet.csv"), help="The file.")
@click.option("--force", "--replace", is_flag=True, help="Replace an existing file.")
def import_focus(_read: Reader, *, files: tuple[Path, ...], out: Path, force: bool) -> Result:
    """Write a fleet file from AWS's bill: FOCUS or CUR.

    Reads CSV or Parquet, all FILES as one bill, and lists what was not read. Add what the bill does not say of a
    commitment, such as its end, then `chipledger fleet check`.
    """
    from flows.private import fleet_file

    imported = fleet_file.read_focus(*files)
    label = f"from {files[0].name}" + (f" and {len(files) - 1} more" if files[1:] else "")
    fleet_file.write(imported, out, label=label, force=force)
    lines: list[str] = [output.text_table(imported.lines, IMPORTED)]
    if imported.left_out:
        lines += ["\nNot read:", output.text_table(imported.left_out, LEFT_OUT)]
    found = {"file": str(out), "lines": imported.lines, "left_out": imported.left_out}
    return Result(found, [*lines, f"file: {out}"])


def _fleet_lines(found: dict[str, Any]) -> Iterator[str]:
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
        yield output.text_table(found[name], LINES if name == "lines" else ()) or "None."


def _usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"USD {amount:,.2f}"


COMMANDS = (decide, cost, fleet)
