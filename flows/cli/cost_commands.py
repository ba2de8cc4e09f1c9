"""The command `cost`: what a million tokens costs, what a training costs, and the number to beat."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from flows.config import Reader
from flows.shared import output
from warehouse.errors import SettingsError

if TYPE_CHECKING:
    from flows.config.settings import Settings
    from flows.decisions.cost import Terms
    from flows.decisions.cost_added import Added

SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
SHARE = click.FloatRange(min=0, max=1, min_open=True)
POSITIVE = click.FloatRange(min=0, min_open=True)


class Count(click.ParamType[float]):
    """A number of tokens, such as 300B or 1.5T."""

    name = "tokens"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; fail with what is allowed."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmbt]?)", str(value).lower())
        if match is None or not float(match[1]):
            self.fail(f"{value!r} is not a number of tokens; write 300B, 1.5T or 1000000", param, ctx)
        return float(match[1]) * SCALES[match[2]]


@click.command(epilog="Example: chipledger cost --model llama-3-70b --interactivity 30")
@click.option("--model", help="A model, such as llama-3-70b.")
@click.option(
    "--task",
    type=click.Choice(["serving", "training"]),
    default="serving",
    show_default=True,
    help="What the tokens are for.",
)
@click.option("--interactivity", type=POSITIVE, help="Serving: least tokens per second for one user.")
@click.option("--tokens-per-day", type=Count(), help="Serving: output tokens a day, such as 1B.")
@click.option("--tokens", type=Count(), help="Training: tokens to train on, such as 300B.")
@click.option(
    "--overhead",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Training: work besides the measured one, as a share of it.",
)
@click.option(
    "--goodput", type=SHARE, default=1.0, show_default=True, help="Training: share of running time that makes progress."
)
@click.option("--mfu", type=SHARE, help="Training: share of the peak to assume where nothing was measured [0.4].")
@click.option("--measured-only", is_flag=True, help="Training: assume nothing.")
@click.option("--throughput", type=POSITIVE, help="Bare sum: tokens per second of all chips.")
@click.option("--price", type=POSITIVE, help="Bare sum: USD an hour of all chips.")
@click.option("--utilisation", type=SHARE, default=1.0, show_default=True, help="Bare sum: share of the rate served.")
@click.option("--chip", help="A chip: the bound of a bare sum, or the only one to show.")
@click.option(
    "--chips",
    type=POSITIVE,
    default=1.0,
    show_default=True,
    help="Bare sum: chips that price and throughput are of; a core of a Trainium3 is 0.125.",
)
@click.option("--precision", help="Of weights (bare sum), or of the peak (training, bf16).")
@click.option("--batch", type=click.IntRange(min=1), help="Bare sum: sequences in flight, for the bandwidth bound.")
@click.option("--context", type=click.IntRange(min=0), default=0, help="Bare sum: tokens that each of them attends to.")
@click.option(
    "--accepted-tokens",
    type=click.FloatRange(min=1),
    default=1.0,
    help="Bare sum: tokens of one step, with speculative decoding.",
)
@click.option("--commitment-use", type=SHARE, default=1.0, show_default=True, help="Hours used of the hours committed.")
@click.option(
    "--spot-loss",
    type=click.FloatRange(min=0, max=1, max_open=True),
    default=0.0,
    show_default=True,
    help="Share of spot hours lost to interruptions.",
)
@click.option("--beat", type=POSITIVE, help="USD a million tokens to beat: the price or rate that it takes.")
@click.option(
    "--add",
    "additions",
    multiple=True,
    metavar="NAME=AMOUNT",
    help="A cost besides the chips, over that of the settings: egress, storage, support, tax or capital, "
    "as USD a month or 10%.",
)
@click.option("--all", "everything", is_flag=True, help="Every offer, not the cheapest of each chip and option.")
@click.option("--html", "in_html", is_flag=True, help="Print the result as a page.")
@output.JSON
@click.pass_obj
def cost(
    read: Reader,
    /,
    *,
    model: str | None,
    task: str,
    chip: str | None,
    everything: bool,
    in_html: bool,
    in_json: bool,
    **options: Any,
) -> None:
    """Compute the cost of a million tokens.

    From each price and each measured run, or from two numbers. `--model` and `--task` query the published file;
    `--throughput` and `--price` are computed alone, and compared with what physics allows where --chip and --model
    are set.
    """
    with output.errors(in_json=in_json):
        from flows.decisions import cost as decision
        from flows.decisions import cost_page

        terms = decision.Terms(
            commitment_use=options["commitment_use"],
            spot_running_share=1 - options["spot_loss"],
            beat=options["beat"],
            added=_added(read(), options["additions"]),
        )
        if options["throughput"] or options["price"]:
            question = decision.Sum(
                price=options["price"],
                throughput=options["throughput"],
                utilisation=options["utilisation"],
                chips=options["chips"],
                chip=chip,
                model=model,
                task=task,
                precision=options["precision"],
                batch=options["batch"],
                context=options["context"],
                accepted_tokens=options["accepted_tokens"],
            )
            found = decision.bare(question, terms, read.published() if chip and model else None)
            shown: Sequence[Mapping[str, Any]] = cost_page.sums(found)
        else:
            found, shown = _from_file(read, model, task, chip, options, terms, everything=everything)
    if in_json:
        output.echo(output.as_json(found))
    elif in_html:
        output.echo(cost_page.render(found, shown), nl=False)
    else:
        _print(found, shown)


def _from_file(
    read: Reader,
    model: str | None,
    task: str,
    chip: str | None,
    options: Mapping[str, Any],
    terms: "Terms",
    *,
    everything: bool,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the answer from the published file, and its rows as people read them."""
    from flows.decisions import cost as decision
    from flows.decisions import cost_page

    if model is None:
        raise SettingsError(
            "--model is missing; or give --throughput and --price",
            field="--model",
            value="",
            hint="`chipledger cost --help`",
        )
    if (task == "training") != (options["tokens"] is not None):
        raise SettingsError(
            "--tokens and --task training need each other",
            field="--tokens",
            value=options["tokens"] or "",
            hint="For a training write --task training --tokens 300B; for serving leave --tokens",
        )
    file = read.published()
    if task == "training":
        mfu = None if options["measured_only"] else options["mfu"] or decision.ASSUMED_MFU
        found = decision.training(
            file,
            model=model,
            tokens=options["tokens"],
            overhead=options["overhead"],
            goodput=options["goodput"],
            mfu=mfu,
            precision=options["precision"] or "bf16",
            terms=terms,
        )
    else:
        found = decision.serving(
            file,
            model=model,
            interactivity=options["interactivity"],
            tokens_per_day=options["tokens_per_day"],
            terms=terms,
        )
    if chip is not None:
        found["rows"] = decision.only(found["rows"], chip)
    return found, cost_page.shown(found, everything=everything)


def _added(settings: "Settings", additions: Sequence[str]) -> "tuple[Added, ...]":
    """Return the costs besides the chips: those of the settings, and over them those of NAME=AMOUNT."""
    from flows.decisions.cost_added import ADDABLE, Added

    found: dict[str, Added] = {name: added for name, added in settings.costs if added is not None}
    for text in additions:
        name, _, amount = text.partition("=")
        try:
            if name not in ADDABLE:
                raise ValueError(f"NAME is one of {', '.join(ADDABLE)}")
            found[name] = Added.read(name, amount)
        except ValueError as error:
            raise SettingsError("--add is not NAME=AMOUNT", field="--add", value=text, hint=str(error)) from error
    return tuple(found[name] for name in ADDABLE if name in found)


def _print(found: Mapping[str, Any], shown: Sequence[Mapping[str, Any]]) -> None:
    from flows.decisions import cost_page

    for line in cost_page.head(found):
        output.echo(line)
    table = [{name: output.rounded(value) for name, value in row.items()} for row in shown]
    output.echo(output.text_table(table) or cost_page.nothing(found))
    for line in cost_page.foot(found, len(shown)):
        output.echo(line)


COMMANDS = (cost,)
