"""The commands `settings`, which shows the settings in force, and `settings init`, which writes a settings file."""

from pathlib import Path

import click

from flows.config import Reader
from flows.shared import output
from flows.shared.folders import FILE_NAME


@click.group(invoke_without_command=True, epilog="Example: chipledger settings --json")
@output.JSON
@click.pass_context
def settings(ctx: click.Context, *, in_json: bool) -> None:
    """Show every setting, its value and its origin. Secrets are not shown."""
    if ctx.invoked_subcommand is not None:
        return
    read: Reader = ctx.obj
    with output.errors(in_json=in_json):
        from flows.config import show
        from flows.config.settings import layers

        rows = show.rows(layers(read.file, data_dir=read.data_dir))
    if in_json:
        output.echo(output.as_json(rows))
        return
    for row in rows:
        value = row["value"]
        row["value"] = value if isinstance(value, str) or value is None else output.as_json(value)
    output.echo(output.text_table(rows))


@settings.command(epilog="Example: chipledger settings init")
@click.option("--force", is_flag=True, help="Copy an existing file, and write a new one.")
@output.JSON
@click.pass_obj
def init(read: Reader, *, force: bool, in_json: bool) -> None:
    """Write a file of all settings, commented out."""
    path = read.file or Path(FILE_NAME)
    with output.errors(in_json=in_json):
        from flows.config import show

        copy = show.write(path, force=force)
    if in_json:
        output.echo(output.as_json({"file": str(path), "aside": None if copy is None else str(copy)}))
        return
    output.echo(str(path))
    if copy is not None:
        output.echo(f"The previous file was copied to {copy}", err=True)
