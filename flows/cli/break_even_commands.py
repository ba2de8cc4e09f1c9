"""The commands `breakeven` and `makeorbuy`: whether a move pays, and from which load own machines do."""

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
            self.fail(f"{value!r} is not a number or range; write 3, 2..6 or 2..3..6", param, ctx)
        numbers = [float(each) for each in match.groups() if each is not None]
        if len(numbers) == 2:
            numbers.insert(1, (numbers[0] + numbers[1]) / 2)
        low, likely, high = numbers if len(numbers) == 3 else numbers * 3
        if not low <= likely <= high:
            self.fail(f"{value!r} does not rise from low to high; write 2..3..6", param, ctx)
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


@click.command(
    epilog="Example: chipledger breakeven --from-cpm 2.1 --to-cpm 1.4 --migration-weeks 2..6 --engineers 2 --rate 120"
)
@click.option("--from", "start", help='Present option: chip, purchase option, provider, such as "h200 spot runpod".')
@click.option("--to", "target", help='New option, such as "trn2 capacity_block".')
@click.option("--from-cpm", type=Spread(), help="Present USD per million tokens, instead of --from.")
@click.option("--to-cpm", type=Spread(), help="New USD per million tokens, instead of --to.")
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
    "--delay-weeks",
    type=NOT_NEGATIVE,
    default=0.0,
    show_default=True,
    help="Weeks until it serves, besides those of the work.",
)
@click.option(
    "--delay-usd-per-week", type=NOT_NEGATIVE, default=0.0, show_default=True, help="USD lost in each, as of revenue."
)
@click.option("--horizon-months", type=POSITIVE, default=12.0, show_default=True, help="Months that are compared.")
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
    **options: Any,
) -> None:
    """Show whether and when a move pays.

    Shows the tokens, months and monthly spend at which it does, or never, and what would change that. Costs per token
    are options (--from-cpm, --to-cpm), or those of runs and prices of the published file at one operating point of
    both sides. Where one side was not measured, the answer is what it would have to reach.
    """
    with output.errors(in_json=in_json):
        from flows.decisions import break_even as decision
        from flows.decisions import break_even_page as page
        from flows.decisions.break_even import Work

        sides = [
            _side(start, options["from_cpm"], "--from"),
            _side(target, options["to_cpm"], "--to"),
        ]
        if (options["migration_weeks"] is None) == (options["effort"] is None):
            raise SettingsError(
                "give either --migration-weeks or --effort",
                field="--migration-weeks",
                value=options["effort"] or "",
                hint="`chipledger breakeven --help`",
            )
        weeks = options["migration_weeks"] or decision.weeks_of(options["effort"])
        work = Work(
            weeks=_range(weeks),
            engineers=options["engineers"],
            usd_per_hour=options["rate"],
            n_models=options["models"],
            tokens_per_day=options["tokens_per_day"],
            upkeep=_upkeep(options),
            dual_weeks=options["dual_running_weeks"],
            stranded=options["stranded"],
            delay_weeks=options["delay_weeks"],
            delay_usd_per_week=options["delay_usd_per_week"],
            horizon_months=options["horizon_months"],
        )
        is_query = any(isinstance(side, str) for side in sides)
        settings = read()
        found = decision.move(
            *sides,
            work=work,
            use=_use(options),
            model=options["model"],
            interactivity=options["interactivity"],
            file=settings.published() if is_query else None,
            effort=options["effort"],
            regions=settings.decision.regions,
        )
    if in_json:
        output.echo(output.as_json(found))
    else:
        parts = page.sections(found)
        output.echo(page.render(parts, parts[0].title) if in_html else page.text(parts), nl=not in_html)


@click.command(epilog='Example: chipledger makeorbuy hosted.csv --own "h200 sxm on_demand runpod" --model llama-3-70b')
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@click.option(
    "--bedrock",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A saved index.json of AWS's price list of Amazon Bedrock, instead of the CSV or in addition to it.",
)
@click.option("--own", required=True, help='What you would rent instead, such as "h200 sxm on_demand runpod".')
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
    **options: Any,
) -> None:
    """Compare own machines with a hosted model.

    Shows from which load own machines are cheaper, by a CSV of hosted prices. docs/deciding.md lists its columns, and
    what of AWS's price list counts. Machines are paid whole, all month.
    """
    with output.errors(in_json=in_json):
        from flows.decisions import bedrock as price_list
        from flows.decisions import break_even_page as page
        from flows.decisions import self_hosting as decision

        if options["model"] is None:
            raise SettingsError(
                "--model is missing",
                field="--model",
                value="",
                hint="Allowed: a name of ref.model, such as llama-3-70b",
            )
        if file is None and bedrock is None:
            raise SettingsError(
                "hosted prices are missing",
                field="FILE",
                value="",
                hint="Give a CSV, --bedrock, or both: docs/deciding.md",
            )
        hosted = [] if file is None else decision.read_hosted(file)
        listed = None if bedrock is None else price_list.read(bedrock)
        settings = read()
        found = decision.compare(
            settings.published(),
            hosted=[*hosted, *(listed.hosted if listed else ())],
            own=own,
            model=options["model"],
            interactivity=options["interactivity"],
            tokens_per_day=options["tokens_per_day"],
            input_per_output=options["input_per_output"],
            cached_share=options["cached_share"],
            use=_use(options),
            regions=settings.decision.regions,
        )
        if listed:
            found["bedrock"] = listed.as_dict()
    if in_json:
        output.echo(output.as_json(found))
    else:
        parts = decision.sections(found)
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
        raise SettingsError("a cost must be above 0", field=f"{field}-cpm", value=0)
    return _range(cost)


def _range(numbers: tuple[float, float, float]) -> "Range":
    from flows.decisions.break_even import Range

    return Range(low=numbers[0], likely=numbers[1], high=numbers[2])


def _use(options: Any) -> "Use":
    from flows.decisions.break_even_sides import Use

    return Use(
        utilisation=options["utilisation"],
        commitment_use=options["commitment_use"],
        spot_running_share=1 - options["spot_loss"],
    )


def _upkeep(options: Any) -> float:
    """Return upkeep in USD a month, given so or as days of work at each release."""
    from flows.decisions.break_even import in_memory

    monthly, days, releases = (
        options[name] for name in ("upkeep_per_month", "upkeep_days_per_release", "releases_per_year")
    )
    if (days is None) != (releases is None) or (days is not None and monthly is not None):
        raise SettingsError(
            "upkeep is incomplete, or set twice",
            field="--upkeep-per-month",
            value="" if monthly is None else monthly,
            hint="Give USD a month, or both --upkeep-days-per-release and --releases-per-year",
        )
    if days is None:
        return float(monthly or 0.0)
    return in_memory().value("decision.upkeep_per_month", days, releases, options["rate"]) or 0.0


COMMANDS = (breakeven, makeorbuy)
