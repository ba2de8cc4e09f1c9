"""The commands `breakeven` and `makeorbuy`: whether a move pays, and from which load own machines do."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flows.cli.command import (
    COMMITMENT_USE,
    EXISTING_FILE,
    HTML,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    SPOT_LOSS,
    Count,
    Result,
    command,
)
from flows.config import Reader
from warehouse.errors import SettingsError

if TYPE_CHECKING:
    from flows.decisions.break_even import Range
    from flows.decisions.break_even_page import Section

_NUMBER = r"\d+(?:\.\d+)?"


class Spread(click.ParamType["Range"]):
    """A number, or a range: 3, 2..6 (the likely one in the middle) or 2..3..6."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Range":
        """Return low, likely and high; fail with what is allowed."""
        from flows.decisions.break_even import Range

        match = re.fullmatch(rf"({_NUMBER})(?:\.\.({_NUMBER}))?(?:\.\.({_NUMBER}))?", str(value))
        if match is None:
            self.fail(f"{value!r} is not a number or range; write 3, 2..6 or 2..3..6", param, ctx)
        numbers = [float(each) for each in match.groups() if each is not None]
        if len(numbers) == 2:
            numbers.insert(1, (numbers[0] + numbers[1]) / 2)
        low, likely, high = numbers if len(numbers) == 3 else numbers * 3
        if not low <= likely <= high:
            self.fail(f"{value!r} does not rise from low to high; write 2..3..6", param, ctx)
        return Range(low=low, likely=likely, high=high)


USE = ("utilisation", "commitment_use", "spot_running_share")


def _in_use(function: Callable[..., Result]) -> Callable[..., Result]:
    """Add the options of how machines are used, which are those of `cost`."""
    for option in (
        SPOT_LOSS,
        COMMITMENT_USE,
        click.option("--utilisation", type=SHARE, default=1.0, help="Share of the measured rate that is served."),
        click.option("--interactivity", type=POSITIVE, help="Least tokens per second for one user."),
        click.option("--model", help="A model, such as llama-2-70b."),
        HTML,
    ):
        function = option(function)
    return function


@command("breakeven --from-cpm 2.1 --to-cpm 1.4 --migration-weeks 2..6 --engineers 2 --rate 120")
@click.option("--from", "start", help='Present option: chip, purchase option, provider, such as "h200 spot runpod".')
@click.option("--to", "target", help='New option, such as "trn2 capacity_block".')
@click.option("--from-cpm", type=Spread(), help="Present USD per million tokens, instead of --from.")
@click.option("--to-cpm", type=Spread(), help="New USD per million tokens, instead of --to.")
@click.option("--tokens-per-day", type=Count(), help="Output tokens a day, such as 1B.")
@click.option("--migration-weeks", "weeks", type=Spread(), help="Weeks of work for one model: 3, 2..6 or 2..3..6.")
@click.option(
    "--effort",
    type=click.Choice(["light", "port", "rewrite"]),
    help="Instead of weeks: of a team that knows Neuron, that does not, and with kernels of its own.",
)
@click.option("--models", "n_models", type=click.IntRange(min=1), default=1, help="Models to move, one after another.")
@click.option("--engineers", type=NOT_NEGATIVE, required=True, help="People who work on it all the time.")
@click.option("--rate", "usd_per_hour", type=NOT_NEGATIVE, required=True, help="USD an hour of one of them.")
@click.option("--upkeep-per-month", type=NOT_NEGATIVE, help="USD a month of work that the new side needs.")
@click.option(
    "--upkeep-days-per-release",
    type=NOT_NEGATIVE,
    help="Instead: days of one person's work at each release of its SDK.",
)
@click.option("--releases-per-year", type=NOT_NEGATIVE, help="Releases a year, with the days of each.")
@click.option(
    "--dual-running-weeks", "dual_weeks", type=NOT_NEGATIVE, default=0.0, help="Weeks in which both sides run."
)
@click.option("--stranded", type=NOT_NEGATIVE, default=0.0, help="USD that a commitment still owes, unused.")
@click.option("--delay-weeks", type=NOT_NEGATIVE, default=0.0, help="Weeks until it serves, besides those of the work.")
@click.option("--delay-usd-per-week", type=NOT_NEGATIVE, default=0.0, help="USD lost in each, as of revenue.")
@click.option("--horizon-months", type=POSITIVE, default=12.0, help="Months that are compared.")
@_in_use
def breakeven(
    read: Reader,
    *,
    start: str | None,
    target: str | None,
    from_cpm: "Range | None",
    to_cpm: "Range | None",
    weeks: "Range | None",
    effort: str | None,
    upkeep_per_month: float | None,
    upkeep_days_per_release: float | None,
    releases_per_year: float | None,
    model: str | None,
    interactivity: float | None,
    in_html: bool,
    **options: Any,
) -> Result:
    """Show whether and when a move pays.

    Shows the tokens, months and monthly spend at which it does, or never, and what would change that. Costs per token
    are options (--from-cpm, --to-cpm), or those of runs and prices of the published file at one operating point of
    both sides. Where one side was not measured, the answer is what it would have to reach.
    """
    from flows.decisions import break_even as decision
    from flows.decisions.break_even_page import sections
    from flows.decisions.break_even_sides import Use

    sides = _side(start, from_cpm, "--from"), _side(target, to_cpm, "--to")
    if (weeks is None) == (effort is None):
        _refuse("give either --migration-weeks or --effort", "--migration-weeks", effort or "")
    releases = upkeep_days_per_release, releases_per_year
    if (releases[0] is None) != (releases[1] is None) or (releases[0] is not None and upkeep_per_month is not None):
        hint = "Give USD a month, or both --upkeep-days-per-release and --releases-per-year"
        stated = "" if upkeep_per_month is None else upkeep_per_month
        _refuse("upkeep is incomplete, or set twice", "--upkeep-per-month", stated, hint)
    upkeep = upkeep_per_month or 0.0
    if releases[0] is not None:
        hourly = options["usd_per_hour"]
        upkeep = decision.in_memory().value("decision.upkeep_per_month", *releases, hourly) or 0.0
    use = Use(**{name: options.pop(name) for name in USE})
    settings = read()
    found = decision.move(
        *sides,
        work=decision.Work(weeks=weeks or decision.weeks_of(effort or ""), upkeep=upkeep, **options),
        use=use,
        model=model,
        interactivity=interactivity,
        file=settings.published() if any(isinstance(side, str) for side in sides) else None,
        effort=effort,
        regions=settings.decision.regions,
    )
    return _shown(found, sections(found), in_html=in_html)


@command('makeorbuy hosted.csv --own "h200 sxm on_demand runpod" --model llama-3-70b')
@click.argument("file", type=EXISTING_FILE, required=False)
@click.option(
    "--bedrock",
    type=EXISTING_FILE,
    help="A saved index.json of AWS's price list of Amazon Bedrock, instead of the CSV or in addition to it.",
)
@click.option("--own", required=True, help='What you would rent instead, such as "h200 sxm on_demand runpod".')
@click.option("--tokens-per-day", type=Count(), help="Output tokens a day: what each then costs a month.")
@click.option("--input-per-output", type=NOT_NEGATIVE, help="Input tokens that come with each output token.")
@click.option(
    "--cached-share",
    type=click.FloatRange(min=0, max=1),
    default=0.0,
    help="Share of the input that is cached, charged at its own price.",
)
@_in_use
def makeorbuy(
    read: Reader, *, file: Path | None, bedrock: Path | None, model: str | None, in_html: bool, **options: Any
) -> Result:
    """Compare own machines with a hosted model.

    Shows from which load own machines are cheaper, by a CSV of hosted prices. docs/deciding.md lists its columns, and
    what of AWS's price list counts. Machines are paid whole, all month.
    """
    from flows.decisions import self_hosting as decision
    from flows.decisions.break_even_sides import Use

    if model is None:
        _refuse("--model is missing", "--model", "", "Allowed: a name of ref.model, such as llama-3-70b")
    if file is None and bedrock is None:
        _refuse("hosted prices are missing", "FILE", "", "Give a CSV, --bedrock, or both: docs/deciding.md")
    hosted = [] if file is None else decision.read_hosted(file)
    listed = None if bedrock is None else decision.read_bedrock(bedrock)
    use = Use(**{name: options.pop(name) for name in USE})
    settings = read()
    found = decision.compare(
        settings.published(),
        hosted=[*hosted, *(listed.hosted if listed else ())],
        model=model or "",
        use=use,
        regions=settings.decision.regions,
        **options,
    )
    if listed:
        found["bedrock"] = listed.as_dict()
    return _shown(found, decision.sections(found), in_html=in_html)


def _shown(found: dict[str, Any], parts: "list[Section]", *, in_html: bool) -> Result:
    from flows.decisions import break_even_page as page

    return Result(found, [page.render(parts, parts[0].title).rstrip() if in_html else page.text(parts)])


def _side(words: str | None, cost: "Range | None", field: str) -> "Range | str":
    """Return one side: its words, or its cost."""
    if (words is None) == (cost is None):
        _refuse(f"give either {field} or {field}-cpm", field, words or "")
    if cost is not None and cost.low == 0:
        raise SettingsError("a cost must be above 0", field=f"{field}-cpm", value=0)
    return words or "" if cost is None else cost


def _refuse(message: str, field: str, value: object, hint: str = "`chipledger breakeven --help`") -> None:
    raise SettingsError(message, field=field, value=value, hint=hint)


COMMANDS = (breakeven, makeorbuy)
