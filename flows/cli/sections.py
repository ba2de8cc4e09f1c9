"""The groups of commands in `--help`, and the former names of commands."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import click

from flows.shared import output
from warehouse.errors import SettingsError

SECTIONS = {
    "ask": ("query", "chips", "benchmark", "audit", "reproduce", "sources"),
    "collect": ("run", "collect", "check-live", "build", "import", "backfill", "parse", "quarantine", "withdraw"),
    "decide": ("decide", "cost", "fit", "fleet"),
    "share": ("report", "mail", "alert", "export", "release", "mcp"),
    "operate": ("doctor", "settings", "data", "deploy"),
}
"""Commands of each section of `--help`, in its order."""
FORMER = {name: ("data", name) for name in ("backup", "restore", "rebuild", "migrate", "maintain")} | {
    "document": ("reproduce",),
    "init": ("settings", "init"),
    "new-source": ("sources", "new"),
    "open": ("query", "--shell"),
    "choose": ("decide",),
    "commitments": ("decide", "fleet"),
    "breakeven": ("decide", "move"),
    "makeorbuy": ("decide",),
}
"""Former names of commands, accepted for one release with a warning, and their names now."""

KEPT = "What was published is as it was. Documents fetched so far are kept: the next run loads them and goes on."


class Stopped(KeyboardInterrupt):
    """A signal asked this program to end."""


@contextmanager
def stopping(ctx: click.Context) -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP end a command, say what is kept, and exit with 128 and the signal's number.

    A part that is being written is removed, as after an error. A signal that is ignored, as by nohup, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: list[signal.Signals] = []

    def stop(number: int, frame: FrameType | None) -> None:
        if number != signal.SIGALRM:
            seen.append(signal.Signals(number))
        # While a module is imported Python 3.11 loses an error, or keeps a lock of the module.
        callers = (each.f_code.co_filename for each, _ in traceback.walk_stack(frame))
        if "<frozen importlib._bootstrap>" in callers:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            return
        raise Stopped

    former: dict[int, Any] = {signal.SIGALRM: signal.signal(signal.SIGALRM, stop)}
    for number in map(int, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            former[number] = signal.signal(number, stop)
    try:
        yield
    except BaseException:
        # DuckDB raises an error of its own where a signal comes while it works.
        if not seen:
            raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in former.items():
            signal.signal(number, handler)
    if seen:
        kept = f" {KEPT}" if ctx.invoked_subcommand in (*SECTIONS["collect"], "data") else ""
        click.echo(f"stopped by {seen[0].name}.{kept}", err=True)
        if any(not each.daemon for each in threading.enumerate() if each is not threading.main_thread()):
            # Python would wait for requests under way, which may take minutes; all files are as a kill may leave them.
            with suppress(OSError):
                sys.stdout.flush()
            os._exit(128 + seen[0])
        sys.exit(128 + seen[0])


@contextmanager
def in_form(ctx: click.Context) -> Iterator[None]:
    """Let errors be lines on stderr, or objects where --json is among the words; wrong usage, too."""
    with output.errors(in_json=ctx.meta["in_json"]):
        try:
            yield
        except click.UsageError as error:
            if not ctx.meta["in_json"]:
                raise
            place = error.ctx.command_path if error.ctx else ""
            raise SettingsError(error.format_message(), field=place, hint=f"See `{place} --help`") from error


class Sections(click.Group):
    """A group of commands that `--help` lists by section, and that accepts former names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words before the command."""
        ctx.meta["in_json"] = "--json" in args
        with in_form(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a signal that stops it is named, with what is kept where the command fetches or writes."""
        with stopping(ctx), in_form(ctx):
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, section by section; those of no section come last."""
        listed = [name for names in SECTIONS.values() for name in names if name in self.commands]
        return [*listed, *(name for name in self.commands if name not in listed)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return name, command and its arguments; warn where the name is a former one."""
        if args and args[0] in FORMER:
            now = " ".join(FORMER[args[0]])
            click.echo(
                f"warning: `chipledger {args[0]}` is now `chipledger {now}`; the next release removes the former name",
                err=True,
            )
            args = [*FORMER[args[0]], *args[1:]]
            if now == "decide" and args[1:2] and not args[1].startswith("-"):  # of `makeorbuy hosted.csv`
                args.insert(1, "--hosted")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group of commands, one line a command."""
        for title, names in SECTIONS.items():
            rows = [(name, self.commands[name].get_short_help_str(60)) for name in names if name in self.commands]
            with formatter.section(title.replace("_", " ").capitalize()):
                formatter.write_dl(rows)
