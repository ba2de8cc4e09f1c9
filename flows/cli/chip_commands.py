"""The commands `chips` and `fit`: what chips are, what their power costs, and what fits on them."""

from typing import Any

import click

from flows.config import Reader
from flows.shared import output

UNITS = {"k": 1024, "K": 1024, "m": 1024**2, "M": 1024**2}


class Tokens(click.ParamType[int]):
    """A number of tokens, such as 8192 or 8k (of 1024)."""

    name = "tokens"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; fail with what is allowed."""
        text = str(value)
        factor = UNITS.get(text[-1:], 1)
        number = text[:-1] if factor > 1 else text
        if not number.isdecimal() or not int(number):
            self.fail(f"{text!r} is not a number of tokens; write 8192 or 8k", param, ctx)
        return int(number) * factor


@click.command(epilog="Example: chipledger chips H100 H200 --against H100")
@click.argument("names", nargs=-1)
@click.option("--against", metavar="CHIP", help="Show each fact as a ratio to this chip's.")
@output.JSON
@click.pass_obj
def chips(read: Reader, names: tuple[str, ...], *, against: str | None, in_json: bool) -> None:
    """Compare chips: peaks, memory, power, unit cost.

    Costs are shown under each purchase option. Peaks are dense. Where sources disagree, the table has the figure that
    is used in computations; the others are below.
    """
    with output.errors(in_json=in_json):
        from flows.decisions import chips as decision

        found = decision.compare(read.published(), names, base=against)
    if in_json:
        output.echo(output.as_json(found))
        return
    shown = ("accelerator_name", "form_factor", *decision.COMPARED)
    output.echo(output.text_table([{name: row[name] for name in shown} for row in found["chips"]]))
    if found["ratios"]:
        output.echo(f"\nAs a ratio to {against}:")
        output.echo(output.text_table([{name: output.rounded(row[name]) for name in shown} for row in found["ratios"]]))
    output.echo("\nCheapest price seen, and what it buys (USD per hour and PFLOP/s, TB/s, GB):")
    priced = [{name: output.rounded(value) for name, value in row.items()} for row in found["prices"]]
    output.echo(output.text_table(priced) or "No price of these chips is known.")
    if names and found["disagreements"]:
        output.echo("\nSources disagree (rank 1 is computed with):")
        columns = ("accelerator_name", "form_factor", "fact", "fact_value", "unit", "fact_rank", "note", "source_url")
        output.echo(output.text_table([{name: row[name] for name in columns} for row in found["disagreements"]]))


@click.command(epilog="Example: chipledger fit --model llama-3-70b --precision fp8 --context 32k")
@click.option("--model", required=True, help="A model of ref.model, such as llama-3-70b.")
@click.option("--precision", help="Of the weights: bf16, fp8, fp4 ... Default: each chip's fastest.")
@click.option("--context", type=Tokens(), default="8k", show_default=True, help="Tokens of one sequence.")
@click.option("--batch", type=click.IntRange(min=1), default=1, show_default=True, help="Sequences in flight.")
@output.JSON
@click.pass_obj
def fit(read: Reader, *, model: str, precision: str | None, context: int, batch: int, in_json: bool) -> None:
    """List the chips that can hold a model.

    Also shown: how many, headroom, and the maximum speed of generation. Bounds are physics, not
    forecasts: nothing measured is above them, and most of it is far below.
    """
    with output.errors(in_json=in_json):
        from flows.decisions import chips as decision

        found = decision.fit(read.published(), model=model, precision=precision, context=context, batch=batch)
    if in_json:
        output.echo(output.as_json(found))
        return
    first = found[0]
    needed = f"{first['memory_needed_gb']:,.1f} GB" if precision else "memory by each chip's precision"
    output.echo(f"{first['model_name']}, {batch} x {context} tokens: {needed}. Bounds in output tokens per second.")
    left_out = ("model_name", "weights_gb", "kv_cache_gb", "memory_needed_gb") if precision else ("model_name",)
    output.echo(
        output.text_table(
            [{name: output.rounded(value) for name, value in row.items() if name not in left_out} for row in found]
        )
    )
