"""The command `cost`: what a million tokens costs, what a training costs, and the number to beat."""

from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from flows.cli.command import (
    ADD,
    COMMITMENT_USE,
    HTML,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    SPOT_LOSS,
    Count,
    Number,
    Result,
    command,
)
from flows.config import Reader
from warehouse.errors import SettingsError

USED = {
    "serving": {"interactivity", "tokens_per_day"},
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
@click.option(
    "--overhead", type=NOT_NEGATIVE, default=0.0, help="Training: work besides the measured one, as a share of it."
)
@click.option("--goodput", type=SHARE, default=1.0, help="Training: share of running time that makes progress.")
@click.option("--mfu", type=SHARE, help="Training: share of the peak to assume where nothing was measured [0.4].")
@click.option("--measured-only", is_flag=True, help="Training: assume nothing.")
@click.option("--throughput", type=POSITIVE, help="Bare sum: tokens per second of all chips.")
@click.option("--price", type=POSITIVE, help="Bare sum: USD an hour of all chips.")
@click.option("--utilisation", type=SHARE, default=1.0, help="Bare sum: share of the rate served.")
@click.option("--chip", help="A chip: the bound of a bare sum, or the only one to show.")
@click.option(
    "--chips",
    type=POSITIVE,
    default=1.0,
    help="Bare sum: chips that price and throughput are of; a core of a Trainium3 is 0.125.",
)
@click.option("--precision", help="Of weights (bare sum), or of the peak (training, bf16).")
@click.option("--batch", type=click.IntRange(min=1), help="Bare sum: sequences in flight, for the bandwidth bound.")
@click.option("--context", type=click.IntRange(min=0), default=0, help="Bare sum: tokens that each of them attends to.")
@click.option(
    "--accepted-tokens",
    type=Number(min=1),
    help="Bare sum: output tokens of one step, 1 without speculative decoding; unstated, every reading counts.",
)
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
        stated = decision.Sum(**of(*decision.SUM_INPUTS))
        found = decision.bare(stated, terms, read.published() if chip and model else None)
    elif is_training:
        mfu = None if options["measured_only"] else options["mfu"] or decision.ASSUMED_MFU
        of_peak = options["precision"] or "bf16"
        inputs = of("model", "tokens", "overhead", "goodput")
        found = decision.training(read.published(), **inputs, mfu=mfu, precision=of_peak, terms=terms)
    else:
        inputs = of("model", "interactivity", "tokens_per_day")
        found = decision.serving(read.published(), **inputs, terms=terms)
    if chip is not None and not is_bare:
        found["rows"] = decision.only(found["rows"], chip)
    shown = decision.shown(found, everything=everything)
    return Result(found, [decision.render(found, shown).rstrip()] if in_html else decision.lines(found, shown))


COMMANDS = (cost,)
