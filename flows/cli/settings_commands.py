"""The commands `settings`, which says what holds and why, and `init`, which writes a file to begin with."""

from pathlib import Path
from typing import Any

import click

from flows.shared import output


@click.command()
@output.JSON
def settings(*, in_json: bool) -> None:
    """Show every setting, its value, and where that comes from; secrets are not shown."""
    given = _given()
    with output.errors(in_json=in_json):
        from flows.config import settings as reading
        from flows.config import show

        rows = show.rows(reading.layers(given["file"], data_dir=given["data_dir"]))
    if in_json:
        output.echo(output.as_json(rows))
    else:
        output.echo(output.text_table([row | {"value": _words(row["value"])} for row in rows]))


@click.command()
@click.option("--force", is_flag=True, help="Put a file that is there aside, and write a new one.")
@output.JSON
def init(*, force: bool, in_json: bool) -> None:
    """Write a settings file with every setting in it, commented out; one that is there is left as it is."""
    with output.errors(in_json=in_json):
        from flows.config import FILE_NAME, show

        path: Path = _given()["file"] or Path(FILE_NAME)
        aside = show.write(path, force=force)
    if in_json:
        output.echo(output.as_json({"file": str(path), "aside": None if aside is None else str(aside)}))
        return
    output.echo(str(path))
    if aside is not None:
        output.echo(f"The file that was there is now {aside}", err=True)


def _words(value: object) -> str:
    """Return a value as the file writes it, but for the quotes of a text."""
    return value if isinstance(value, str) else "" if value is None else output.as_json(value)


def _given() -> dict[str, Any]:
    """Return the options before the command: `file` and `data_dir`."""
    return click.get_current_context().find_root().params
