"""`chipledger export`: the published file for other tools."""

from pathlib import Path

import click

from flows.config import Reader
from flows.shared import output

SUFFIXES = {"focus-sku-price": ".csv", "xlsx": ".xlsx"}
"""Exports that are one file, and how its name must end."""


@click.command(epilog="Example: chipledger export prices.xlsx --as xlsx")
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(["parquet", "csv"]), help="Of the files in the folder [parquet].")
@click.option("--mart", "names", multiple=True, help="Only this table; may repeat. See `query --list`.")
@click.option(
    "--as",
    "kind",
    type=click.Choice(["focus-sku-price", "skypilot", "xlsx"]),
    help="FOCUS SkuPrice (a CSV file), SkyPilot's catalogues (a folder), an Excel workbook (a file).",
)
@click.option("--with-private", is_flag=True, help="Your fleet and contracted prices too, in files for you alone.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@output.JSON
@click.pass_obj
def export(
    read: Reader,
    target: Path,
    *,
    form: str | None,
    names: tuple[str, ...],
    kind: str | None,
    with_private: bool,
    force: bool,
    in_json: bool,
) -> None:
    """Write the published prices for other tools.

    Writes to TARGET: the public tables into a folder, or one file for another tool.
    """
    if kind and (form or names):
        raise click.UsageError(f"--as {kind} sets format and content: leave --format and --mart.")
    if kind in ("focus-sku-price", "skypilot") and with_private:
        raise click.UsageError(f"--as {kind} contains list prices only: leave --with-private.")
    if kind in SUFFIXES and target.suffix.lower() != SUFFIXES[kind]:
        raise click.UsageError(f"--as {kind} writes one file: its name must end in {SUFFIXES[kind]}.")
    with output.errors(in_json=in_json):
        from flows.export import exporting as exports

        file = read.published()
        if kind == "focus-sku-price":
            written = exports.focus(file, target, force=force)
        elif kind == "skypilot":
            written = exports.sky(file, target, force=force)
        elif kind == "xlsx":
            written = exports.workbook(file, target, with_private=with_private, force=force)
        else:
            written = exports.marts(
                file, target, form=form or "parquet", names=names, with_private=with_private, force=force
            )
    if in_json:
        output.echo(output.as_json([one.as_dict() for one in written]))
        return
    for one in written:
        output.echo(f"{one.file}: {one.rows} rows")
        for reason, count in sorted(one.left_out.items()):
            output.echo(f"  left out, {reason}: {count}")
