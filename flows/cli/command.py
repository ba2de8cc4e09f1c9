"""What commands share: the frame of a command that has a result, and types and options that several of them have."""

import functools
import inspect
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from flows.shared import output


class Number(click.FloatRange):
    """A number in a range; infinity and NaN, which Python reads too, are none."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; fail as click does."""
        if "%" in str(value):
            self.fail(f"{value!r} is not a number; write a percentage as a share, 0.8 for 80 %", param, ctx)
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is not a number.", param, ctx)


JSON_TEXT = "Print the result as JSON, errors as JSON on stderr."
EXISTING_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
DAY = click.DateTime(["%Y-%m-%d"])
SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


def as_sources(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of sources and imports. Raises SettingsError for a name that no source has."""
    from extract import source_named

    return tuple(name if name.startswith("import:") else source_named(name).name for name in names)


class Count(click.ParamType[float]):
    """A number of tokens, such as 300B or 1.5T; `scales` are what letters mean, `examples` what a refusal shows."""

    name = "tokens"

    def __init__(self, scales: Mapping[str, float] = SCALES, examples: str = "300B, 1.5T or 1000000") -> None:
        self.scales, self.examples = scales, examples

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; fail with what is allowed."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([a-z]?)", str(value).lower(), re.ASCII)
        if match is None or float(match[1]) * self.scales.get(match[2], 0) < 1:
            self.fail(f"{value!r} is not a number of tokens; write {self.examples}", param, ctx)
        return float(match[1]) * self.scales[match[2]]


class Result(NamedTuple):
    """What a command prints: on stdout `value` with --json, else `lines`; `notes` on stderr; exit code 1 if failed.

    A value that is a list may be printed with one object a line.
    """

    value: object
    lines: Iterable[str] = ()
    notes: Iterable[str] = ()
    is_failed: bool = False
    is_one_a_line: bool = False


Function = Callable[..., Result | None]


def command(
    example: str,
    *,
    group: click.Group | None = None,
    name: str | None = None,
    has_table: bool = False,
    **attributes: Any,
) -> Callable[[Function], Any]:
    """Make a command with --json, and --wide for a table, of a function from the reader of settings, and the options.

    A function with the parameter `in_json` or `progress` is given that; one with `in_json` asks and prints by itself. A
    command that is a group itself (`cls`) does nothing where a subcommand follows.
    """

    def decorate(function: Function) -> click.Command:
        wanted = inspect.signature(function).parameters

        @click.pass_context
        @functools.wraps(function)
        def run(context: click.Context, /, *, in_json: bool, is_wide: bool = False, **options: Any) -> None:
            # What stands before the name of a subcommand is meant for it, too.
            in_json = context.meta["in_json"] = in_json or context.meta.get("in_json", False)
            context.meta["is_wide"] = is_wide or context.meta.get("is_wide", False)
            if context.invoked_subcommand is not None:
                return
            if "in_json" in wanted:
                options["in_json"] = in_json
            with output.progress(quiet=in_json or "in_json" in wanted) as progress:
                if "progress" in wanted:
                    options["progress"] = progress
                found = function(context.obj, **options)
            if found is not None:
                show(found, in_json=in_json)

        make: Any = group.command if group else click.command
        made: click.Command = make(name, epilog=f"Example: chipledger {example}", **attributes)(run)
        made.params.append(click.Option(["--json", "in_json"], is_flag=True, help=JSON_TEXT))
        if has_table:
            text = f"Show all columns, not those that fit into {output.WIDTH} characters."
            made.params.append(click.Option(["--wide", "is_wide"], is_flag=True, help=text))
        return made

    return decorate


def group(name: str, example: str, text: str) -> Any:
    """Return a group that does nothing itself: called without a command it lists those it has."""
    return command(example, name=name, help=text, cls=click.Group, invoke_without_command=True)(subcommands)


def subcommands(_read: object, *, in_json: bool) -> Result:
    """Return the commands of the group that was called without one. Raises click.UsageError without --json."""
    context = click.get_current_context()
    if not in_json:
        raise click.exceptions.NoArgsIsHelpError(context)
    group: Any = context.command
    return Result([{"command": name, "help": one.get_short_help_str(100)} for name, one in group.commands.items()])


def show(found: Result, *, in_json: bool) -> None:
    """Print a result, and exit with 1 if it failed."""
    values: Any = found.value if found.is_one_a_line else [found.value]
    for line in map(output.as_json, values) if in_json else map(output.in_line, found.lines):
        output.echo(line)
    for note in found.notes:
        output.echo(note, err=True)
    if found.is_failed:
        sys.exit(output.FAILED)
