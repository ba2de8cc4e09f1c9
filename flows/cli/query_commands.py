"""`chipledger query` and `chipledger open`: query the published file by hand."""

import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flows.config import Reader
from flows.shared import output
from warehouse.errors import ChipledgerError, visible

if TYPE_CHECKING:
    from flows.config.settings import Settings

SUFFIXES = {".csv": "csv", ".json": "json", ".parquet": "parquet"}
"""What the name of an output file says of its format."""


@click.command(epilog='Example: chipledger query "from mart.price_now limit 5"')
@click.argument("sql", required=False)
@click.option("--list", "list_tables", is_flag=True, help="List the tables and macros, each with an example.")
@click.option("--all", "list_all", is_flag=True, help="With --list: list what these are made of (int, core), too.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    help="What is printed or written [by the name of the output file, or table].",
)
@click.option("--output", "target", type=click.Path(path_type=Path), help="Write to this file instead of stdout.")
@click.option("--force", is_flag=True, help="Replace the output file where it is there already.")
@click.option(
    "--timeout", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="Seconds until it is stopped."
)
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]),
    help="Use the file published at this moment (UTC), of a shared warehouse.",
)
@output.JSON
@click.pass_obj
def query(
    read: Reader,
    sql: str | None,
    *,
    as_of: datetime | None,
    list_tables: bool,
    list_all: bool,
    form: str | None,
    target: Path | None,
    force: bool,
    timeout: float,
    in_json: bool,
) -> None:
    """Run one SELECT on the published file. It is read-only. "-" reads the SQL from stdin. --list shows the tables."""
    if not sql and not list_tables:
        raise click.UsageError('SQL is missing: give a SELECT, such as "from mart.price_now limit 5", or --list.')
    if in_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} contradict each other: leave one.")
    form = "json" if in_json else form or (SUFFIXES.get(target.suffix.lower()) if target else None) or "table"
    if form == "parquet" and target is None:
        raise click.UsageError("--format parquet cannot go to stdout: name a file with --output.")
    with output.errors(in_json=in_json):
        from flows.shared import query as ask

        listed = ask.EVERY_TABLE if list_all else ask.TABLES
        text = listed if list_tables or not sql else sys.stdin.read() if sql == "-" else sql
        file = read.published() if as_of is None else _published_by(read(), as_of)
        if list_tables and form == "table" and target is None:
            for line in ask.listed(file, text, timeout=timeout):
                output.echo(line)
            if not list_all:
                output.echo("More: `chipledger query --list --all` lists what these are made of.")
            return
        if target is None:
            answer = ask.answer(file, text, form=form, timeout=timeout)
            # A program gets CSV as it is, a person what can be shown of it.
            click.echo(answer if form == "csv" and not sys.stdout.isatty() else visible(answer))
        else:
            ask.save(file, text, target, form=form, timeout=timeout, force=force)


def _published_by(chosen: "Settings", moment: datetime) -> Path:
    """Return the file that was in force at a moment, naive UTC; say which one it is."""
    from warehouse.lake import publication

    place = chosen.place()
    if not place.is_shared:
        raise ChipledgerError(
            "a warehouse of one file has no earlier publications",
            source="query",
            field="--as-of",
            value=f"{moment:%Y-%m-%d %H:%M}",
            hint="core.price_known_at(TIMESTAMP '...') answers what was known at any moment",
        )
    file, found = publication.as_of(place, moment)
    click.echo(f"as published {found.published_at:%Y-%m-%d %H:%M} UTC, snapshot {found.snapshot_id}", err=True)
    return file


@click.command("open", epilog="Example: chipledger open --ui")
@click.option("--ui", "in_browser", is_flag=True, help="DuckDB's UI in the browser, even where its shell is installed.")
@click.pass_obj
def open_file(read: Reader, *, in_browser: bool) -> None:
    """Open the published file in DuckDB's shell.

    It is read-only. Where there is no shell, DuckDB's UI opens in the browser.
    """
    with output.errors(in_json=False):
        file = read.published().resolve()
        shell = None if in_browser else shutil.which("duckdb")
        if shell:
            # The shell on PATH and the published file, by its full path: no word of it is an option.
            sys.exit(subprocess.run([shell, "-readonly", str(file)], check=False).returncode)  # noqa: S603
        _serve_ui(file)


def _serve_ui(file: Path) -> None:
    """Serve DuckDB's UI until it is broken off. Raises ChipledgerError where its extension cannot be had."""
    import threading

    import duckdb

    with duckdb.connect(str(file), read_only=True) as con:
        try:
            answer = con.execute("call start_ui_server()").fetchall()
        except duckdb.Error as error:
            raise ChipledgerError(
                "there is no `duckdb` on PATH, and DuckDB's extension `ui` is neither installed nor could be fetched: "
                + " ".join(str(error).split()),
                source=str(file),
                hint="Install DuckDB's shell (https://duckdb.org/docs/installation), or use `chipledger query`",
            ) from error
        for (line,) in answer:
            output.echo(str(line))
        click.echo("Ctrl-C ends it.", err=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            con.execute("call stop_ui_server()")
