"""The commands `breakeven` and `makeorbuy`: whether a move pays, and from which load one's own machines do."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from flows.cli.cost_commands import POSITIVE, SHARE, Count
from flows.config import Reader
from flows.shared import output
from warehouse.errors import SettingsError

if TYPE_CHECKING:
    from flows.decisions.break_even import Range
    from flows.decisions.break_even_sides import Use

NOT_NEGATIVE = click.FloatRange(min=0)
_NUMBER = r"\d+(?:\.\d+)?"
Command = TypeVar("Command", bound=Callable[..., Any])


class Spread(click.ParamType[tuple[float, float, float]]):
    """A number, or a range: 3, 2..6 (the likely one in the middle) or 2..3..6."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float, float]:
        """Return low, likely and high; fail with what is allowed."""
        match = re.fullmatch(rf"({_NUMBER})(?:\.\.({_NUMBER}))?(?:\.\.({_NUMBER}))?", str(value))
        if match is None:
            self.fail(f"{value!r} is no number or range; write 3, 2..6 or 2..3..6", param, ctx)
        numbers = [float(each) for each in match.groups() if each is not None]
        if len(numbers) == 2:
            numbers.insert(1, (numbers[0] + numbers[1]) / 2)
        low, likely, high = numbers if len(numbers) == 3 else numbers * 3
        if not low <= likely <= high:
            self.fail(f"{value!r} does not rise from low to high", param, ctx)
        return low, likely, high


def _in_use(command: Command) -> Command:
    """Add the options of how machines are used, which are those of `cost`."""
    for option in (
        click.option(
            "--spot-loss",
            type=click.FloatRange(min=0, max=1, max_open=True),
            default=0.0,
            show_default=True,
            help="Share of spot hours lost to interruptions.",
        ),
        click.option(
            "--commitment-use", type=SHARE, default=1.0, show_default=True, help="Hours used of the hours committed."
        ),
        click.option(
            "--utilisation",
            type=SHARE,
            default=1.0,
            show_default=True,
            help="Share of the measured rate that is served.",
        ),
        click.option("--interactivity", type=POSITIVE, help="Least tokens per second for one user."),
        click.option("--model", help="A model, such as llama-2-70b."),
        output.JSON,
        click.option("--html", "in_html", is_flag=True, help="Print the result as a page."),
    ):
        command = option(command)
    return command


@click.command()
@click.option("--from", "start", help='Where one is: chip, purchase option, provider, such as "h200 spot runpod".')
@click.option("--to", "target", help='Where one would go, such as "trn2 capacity_block".')
@click.option("--from-cpm", type=Spread(), help="USD per million tokens where one is, instead of --from.")
@click.option("--to-cpm", type=Spread(), help="USD per million tokens where one would go, instead of --to.")
@click.option("--tokens-per-day", type=Count(), help="Output tokens a day, such as 1B.")
@click.option("--migration-weeks", type=Spread(), help="Weeks of work for one model: 3, 2..6 or 2..3..6.")
@click.option(
    "--effort",
    type=click.Choice(["light", "port", "rewrite"]),
    help="Instead of weeks: of a team that knows Neuron, that does not, and with kernels of its own.",
)
@click.option(
    "--models", type=click.IntRange(min=1), default=1, show_default=True, help="Models to move, one after another."
)
@click.option("--engineers", type=NOT_NEGATIVE, required=True, help="People who work on it all the time.")
@click.option("--rate", type=NOT_NEGATIVE, required=True, help="USD an hour of one of them.")
@click.option("--upkeep-per-month", type=NOT_NEGATIVE, help="USD a month of work that the new side needs.")
@click.option(
    "--upkeep-days-per-release",
    type=NOT_NEGATIVE,
    help="Instead: days of one person's work at each release of its SDK.",
)
@click.option("--releases-per-year", type=NOT_NEGATIVE, help="Releases a year, with the days of each.")
@click.option(
    "--dual-running-weeks", type=NOT_NEGATIVE, default=0.0, show_default=True, help="Weeks in which both sides run."
)
@click.option(
    "--stranded", type=NOT_NEGATIVE, default=0.0, show_default=True, help="USD that a commitment still owes, unused."
)
@click.option(
    "--delay-weeks", type=NOT_NEGATIVE, default=0.0, show_default=True, help="Weeks until it serves beside the work."
)
@click.option(
    "--delay-usd-per-week", type=NOT_NEGATIVE, default=0.0, show_default=True, help="USD lost in each, as of revenue."
)
@click.option("--horizon-months", type=POSITIVE, default=12.0, show_default=True, help="Time that is looked at.")
@_in_use
@click.pass_obj
def breakeven(
    read: Reader,
    /,
    *,
    start: str | None,
    target: str | None,
    in_html: bool,
    in_json: bool,
    **asked: Any,
) -> None:
    """Say whether a move pays: tokens, months and monthly spend at which it does, or never, and what would flip that.

    Costs per token are given (--from-cpm, --to-cpm), or those of runs and prices of the published file at one operating
    point of both sides. Where one side was not measured, the answer is what it would have to reach.
    """
    with output.errors(in_json=in_json):
        from flows.decisions import break_even as asking
        from flows.decisions import break_even_page as page
        from flows.decisions.break_even import Work

        sides = [
            _side(start, asked["from_cpm"], "--from"),
            _side(target, asked["to_cpm"], "--to"),
        ]
        if (asked["migration_weeks"] is None) == (asked["effort"] is None):
            raise SettingsError("give either weeks of work or a kind of effort", field="--migration-weeks", value="")
        weeks = asked["migration_weeks"] or asking.weeks_of(asked["effort"])
        work = Work(
            weeks=_range(weeks),
            engineers=asked["engineers"],
            usd_per_hour=asked["rate"],
            n_models=asked["models"],
            tokens_per_day=asked["tokens_per_day"],
            upkeep=_upkeep(asked),
            dual_weeks=asked["dual_running_weeks"],
            stranded=asked["stranded"],
            delay_weeks=asked["delay_weeks"],
            delay_usd_per_week=asked["delay_usd_per_week"],
            horizon_months=asked["horizon_months"],
        )
        in_words = any(isinstance(side, str) for side in sides)
        settings = read()
        found = asking.move(
            *sides,
            work=work,
            use=_use(asked),
            model=asked["model"],
            interactivity=asked["interactivity"],
            file=settings.published() if in_words else None,
            effort=asked["effort"],
            regions=settings.decision.regions,
        )
    if in_json:
        output.echo(output.as_json(found))
    else:
        parts = page.sections(found)
        output.echo(page.render(parts, parts[0].title) if in_html else page.text(parts), nl=not in_html)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@click.option(
    "--bedrock",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A saved index.json of AWS's price list of Amazon Bedrock, instead of the CSV or beside it.",
)
@click.option("--own", required=True, help='What one would rent instead, such as "h200 sxm on_demand runpod".')
@click.option("--tokens-per-day", type=Count(), help="Output tokens a day: what each then costs a month.")
@click.option("--input-per-output", type=NOT_NEGATIVE, help="Input tokens that come with each output token.")
@click.option(
    "--cached-share",
    type=click.FloatRange(min=0, max=1),
    default=0.0,
    show_default=True,
    help="Share of the input that is cached, charged at its own price.",
)
@_in_use
@click.pass_obj
def makeorbuy(
    read: Reader,
    /,
    *,
    file: Path | None,
    bedrock: Path | None,
    own: str,
    in_html: bool,
    in_json: bool,
    **asked: Any,
) -> None:
    """Say from which load machines of one's own are cheaper than a hosted model, by a CSV of hosted prices.

    docs/deciding.md lists its columns, and what of AWS's price list counts. Machines are paid whole, all month.
    """
    with output.errors(in_json=in_json):
        from flows.decisions import bedrock as price_list
        from flows.decisions import break_even_page as page
        from flows.decisions import self_hosting as asking

        if asked["model"] is None:
            raise SettingsError("give the model", field="--model", value="")
        if file is None and bedrock is None:
            raise SettingsError("give hosted prices: a CSV, --bedrock, or both", field="FILE", value="")
        hosted = [] if file is None else asking.read_hosted(file)
        listed = None if bedrock is None else price_list.read(bedrock)
        settings = read()
        found = asking.compare(
            settings.published(),
            hosted=[*hosted, *(listed.hosted if listed else ())],
            own=own,
            model=asked["model"],
            interactivity=asked["interactivity"],
            tokens_per_day=asked["tokens_per_day"],
            input_per_output=asked["input_per_output"],
            cached_share=asked["cached_share"],
            use=_use(asked),
            regions=settings.decision.regions,
        )
        if listed:
            found["bedrock"] = listed.as_dict()
    if in_json:
        output.echo(output.as_json(found))
    else:
        parts = asking.sections(found)
        output.echo(page.render(parts, parts[0].title) if in_html else page.text(parts), nl=not in_html)


def _side(words: str | None, cost: tuple[float, float, float] | None, field: str) -> "Range | str":
    """Return one side: its words, or its cost."""
    if (words is None) == (cost is None):
        raise SettingsError(
            f"give either {field} or {field}-cpm", field=field, value=words or "", hint="`chipledger breakeven --help`"
        )
    if cost is None:
        return words or ""
    if cost[0] == 0:
        raise SettingsError("a cost of nothing is no cost", field=f"{field}-cpm", value=0)
    return _range(cost)


def _range(numbers: tuple[float, float, float]) -> "Range":
    from flows.decisions.break_even import Range

    return Range(low=numbers[0], likely=numbers[1], high=numbers[2])


def _use(asked: Any) -> "Use":
    from flows.decisions.break_even_sides import Use

    return Use(
        utilisation=asked["utilisation"],
        commitment_use=asked["commitment_use"],
        spot_running_share=1 - asked["spot_loss"],
    )


def _upkeep(asked: Any) -> float:
    """Return upkeep in USD a month, given so or as days of work at each release."""
    from flows.decisions.break_even import in_memory

    monthly, days, releases = (
        asked[name] for name in ("upkeep_per_month", "upkeep_days_per_release", "releases_per_year")
    )
    if (days is None) != (releases is None) or (days is not None and monthly is not None):
        raise SettingsError(
            "give upkeep once: a month's USD, or days of work at a release and releases a year",
            field="--upkeep-per-month",
            value="",
        )
    if days is None:
        return float(monthly or 0.0)
    return in_memory().value("decision.upkeep_per_month", days, releases, asked["rate"]) or 0.0
