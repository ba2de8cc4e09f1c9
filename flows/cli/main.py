"""The command line: verbs that name steps, results on stdout, everything else on stderr.

Exit codes: 0 done (for a run: published, stale scopes named); 1 failed (for a run: nothing fresh, nothing published);
2 wrong usage or settings. What a command needs is imported inside it, so that `--help` and `query` start at once.
"""

import gc
import logging
import os
import sys
from importlib import import_module
from pathlib import Path

import click

from flows.cli import sections
from flows.cli.command import JSON_TEXT, show, subcommands
from flows.config import Reader
from flows.shared import output

MODULES = ("ask", "decide", "collect", "maintenance", "share")
"""The modules of this folder with commands, <name>_commands."""

# The number of a stream that is closed would be that of the next file that is opened.
sys.stdout, sys.stderr = (each or Path(os.devnull).open("w") for each in (sys.stdout, sys.stderr))  # noqa: SIM115


@click.group(
    cls=sections.Sections,
    invoke_without_command=True,
    epilog="Example: chipledger run --offline",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
)
@click.option(
    "--data-dir", type=click.Path(path_type=Path, file_okay=False, readable=False), help="Folder of all data [data]."
)
@click.option("--settings", "file", type=click.Path(path_type=Path), help="Settings file [chipledger.toml].")
@click.option("-v", "--verbose", is_flag=True, help="Log more to stderr.")
@click.version_option(package_name="chipledger")
@click.option("--json", "in_json", is_flag=True, help=JSON_TEXT)
@click.pass_context
def main(ctx: click.Context, data_dir: Path | None, file: Path | None, *, verbose: bool, in_json: bool) -> None:
    """An honest, queryable history of what AI accelerators cost to rent.

    `run` does the daily job. `query` reads the published file, prices.duckdb.
    """
    output.log_to_stderr(logging.INFO if verbose else logging.WARNING)
    # Its lines name neither address nor cause; the error that ends the retries does.
    logging.getLogger("stamina").setLevel(logging.INFO if verbose else logging.ERROR)
    ctx.obj = Reader(file, data_dir)
    ctx.color = False if os.environ.get("NO_COLOR") else None
    if ctx.invoked_subcommand is None:
        show(subcommands(ctx.obj, in_json=in_json), in_json=in_json)


# A command makes little that is rubbish: to look for it every 700 objects takes a twentieth of the processor's time.
gc.set_threshold(20_000)
for name in MODULES:
    for command in import_module(f"flows.cli.{name}_commands").COMMANDS:
        main.add_command(command)
