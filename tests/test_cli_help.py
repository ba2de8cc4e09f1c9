"""`--help`: sections, one line a command, an example each; former names of commands."""

import shlex
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner
from test_docs import unknown_command

from flows.cli import sections
from flows.cli.main import main


def every_command(path: str, group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """Yield each command and its words, those of groups too."""
    for name, command in group.commands.items():
        yield f"{path}{name}", command
        if isinstance(command, click.Group):
            yield from every_command(f"{path}{name} ", command)


COMMANDS = dict(every_command("", main))


def help_of(words: str, width: int = 100) -> str:
    """Return what a command's `--help` prints."""
    result = CliRunner().invoke(main, [*words.split(), "--help"], terminal_width=width)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_each_command_is_in_one_section() -> None:
    """No command is missing in `--help`, and none is listed twice."""
    listed = [name for names in sections.SECTIONS.values() for name in names]
    assert len(listed) == len(set(listed))
    assert set(main.commands) - set(listed) == set()
    assert len(main.commands) <= 30


def test_help_lists_sections_in_order() -> None:
    """Five titles, and each command below the title of its section."""
    lines = help_of("").splitlines()
    titles = ["Ask:", "Collect:", "Decide:", "Share:", "Operate:"]
    assert [line for line in lines if line in titles] == titles
    shown = [line.split()[0] for line in lines[lines.index("Ask:") :] if line[:3].strip() and line.startswith("  ")]
    assert [name for name in shown if name != "Example:"] == main.list_commands(click.Context(main))


def test_each_command_has_one_short_line() -> None:
    """A line of `--help`, name and sentence together, is whole and has at most 60 characters."""
    for title in ("", *(words for words, command in COMMANDS.items() if isinstance(command, click.Group))):
        text = help_of(title)
        rows = [line for line in text[text.index("  -h, --help") :].splitlines()[1:] if line.startswith("  ")]
        assert len(rows) > 1
        assert [row for row in rows if len(row) > 60 and "Example: " not in row] == []
        assert [row for row in rows if row.endswith("...") or row.startswith("    ")] == []


@pytest.mark.parametrize("words", COMMANDS)
def test_help_has_an_example_that_exists(words: str) -> None:
    """Each help ends with a call of this command, or of one below it, whose options exist."""
    assert "Example: chipledger " in help_of(words)
    example = (COMMANDS[words].epilog or "").removeprefix("Example: chipledger ")
    call = shlex.split(example.partition(" > ")[0])
    assert unknown_command(main, call) is None
    assert f" {words} " in f" {' '.join(call)} "


@pytest.mark.parametrize(("former", "now"), sections.FORMER.items())
def test_a_former_name_works_with_a_warning(former: str, now: tuple[str, str]) -> None:
    """The former name does the same, says its new name on stderr, and is not listed."""
    result = CliRunner().invoke(main, [former, "--help"])
    assert result.exit_code == 0
    assert result.stdout == help_of(" ".join(now), width=80)
    assert f"`chipledger {former}` is now `chipledger {' '.join(now)}`" in result.stderr
    assert former not in main.commands


def test_help_is_quick() -> None:
    """`--help` imports nothing heavy, and the quickest of five starts takes at most 0.3 s of the processor."""
    script = "import sys; from flows.cli.main import main\nmain(['--help'], standalone_mode=False)\n" \
             "import time; print(time.process_time(), *({'duckdb', 'prefect', 'pydantic', 'polars', 'httpx'} " \
             "& set(sys.modules)), file=sys.stderr)"  # fmt: skip
    spent = []
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
        seconds, *heavy = done.stderr.split()
        assert heavy == []
        spent.append(float(seconds))
    assert min(spent) <= 0.3
