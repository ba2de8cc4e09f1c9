"""The command `audit`: what is written about prices, throughput and savings, and whether it holds."""

from pathlib import Path

import click

from flows.config import Reader
from flows.shared import output


@click.command(epilog="Example: chipledger audit --article semianalysis")
@click.option(
    "--claims",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A CSV of claims; docs/auditing-a-claim.md has its columns. Default: the shipped ones.",
)
@click.option("--article", metavar="NAME", help="Only claims of the text whose file name or title has this in it.")
@click.option(
    "--json", "in_json", is_flag=True, help="Print one JSON object a claim and line, errors as JSON on stderr."
)
@click.pass_obj
def audit(read: Reader, *, file: Path | None, article: str | None, in_json: bool) -> None:
    """Check published claims on prices and speed.

    Each has a verdict as of its date and one as of today: consistent, stale, inconsistent, physically_impossible or
    unverifiable. A number that was computed from another which failed is shown as such, never as consistent.
    """
    with output.errors(in_json=in_json):
        from flows.decisions import audit as claims

        found = claims.judged(read.published(), claims.read(file, article))
    if in_json:
        output.json_lines([claims.as_object(one) for one in found])
        return
    output.echo(output.text_table([claims.as_line(one) for one in found]))
    output.echo(f"\n{len(found)} claims:\n{claims.counted(found)}")
