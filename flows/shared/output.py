"""What the command line prints: results on stdout, progress and errors on stderr, and JSON to rely on."""

import logging
import os
import re
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import zip_longest
from typing import NoReturn

import click
import simplejson

from flows.shared import redact
from warehouse.errors import ChipledgerError, SettingsError, visible

LOG = logging.getLogger(__name__)

USAGE = 2
FAILED = 1
PUBLISH_AGAIN = "`chipledger build` publishes the file again, by this version"
DAMAGE = ("IOException", "SerializationException", "InternalException", "FatalException", "InvalidInputException")
"""DuckDB's errors for a file that is none of its own, or a damaged one."""
MEND = (
    "`chipledger doctor` says which file is damaged; `chipledger build` makes prices.duckdb anew, "
    "`chipledger data rebuild` build.duckdb"
)

SILENCE_S = 1.0
"""After which a terminal shows what is going on."""
NEXT = {"fetch": "loading", "load": "publishing", "publish": "writing the pages", "report": "finishing"}
STEP = re.compile(rf"({'|'.join(NEXT)}): ")
"""How messages of a whole step begin, which stay to be read."""
WIDTH = 100
"""Characters of a line where there is no terminal."""
MAX_COLUMNS = 8
"""Of a table that is too wide for the line."""
HEAD, SHORT, LONG, HASH = 12, 16, 26, 64
"""Characters up to which a cell stays in one line, and of a word that no line of a cell has to hold whole."""
NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?%)?")

BEYOND_ASCII = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON may have as it is and a terminal obeys; JSON's own escape of it says the same."""


def plain(value: object) -> object:
    """Return a value as JSON has it: amounts as numbers with their own digits, moments as UTC text ending in Z."""
    # Most values are such, and a tuple takes less time than a union.
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Decimal):
        return Decimal(format(value.normalize(), "f"))
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value)


def as_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON text; NaN and infinities, which JSON has not, become null."""
    text = simplejson.dumps(plain(value), use_decimal=True, ignore_nan=True, ensure_ascii=False, indent=indent)
    return BEYOND_ASCII.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text for people: what a terminal would obey is written out, and on stderr no secret is repeated."""
    shown = visible(redact.hide(text) if err else text)
    if isinstance(text, Table):
        head = shown.splitlines()[: text.n_head]
        shown = "\n".join([*(click.style(line, bold=True) for line in head), *shown.splitlines()[text.n_head :]])
    elif err and (match := re.match(r"(error|warning|refused):", shown)):
        shown = click.style(match[0], fg="red" if match[1] == "error" else "yellow") + shown[match.end() :]
    click.echo(shown, err=err, nl=nl)


class LineFormatter(logging.Formatter):
    """Lines of the log as people may see them: no secret, nothing that a terminal obeys, no forged line."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(redact.hide(super().format(record))).replace("\n", "\n    ")


def log_to_stderr(level: int) -> None:
    """Let the log be lines on stderr, from a level on."""
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(LineFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[lines])


@contextmanager
def errors(*, in_json: bool) -> Iterator[None]:
    """Turn an error of ours, or of a file, into a line on stderr (an object with `in_json`) and an exit code."""
    try:
        yield
    except Exception as error:
        if (known := as_refusal(error)) is None:
            raise
        if known is not error:
            LOG.info("where it happened:", exc_info=error)
        refuse(known, in_json=in_json)


def as_refusal(error: Exception) -> ChipledgerError | None:
    """Return an error as one of ours; None where only the program itself can be at fault."""
    if isinstance(error, ChipledgerError):
        return error
    if isinstance(error, UnicodeEncodeError):
        hint = "Set PYTHONUTF8=1, or a locale of UTF-8"
        return ChipledgerError(f"what is printed has signs that {error.encoding} lacks", hint=hint)
    reason = str(error).partition("\n")[0].rstrip(".")
    is_duckdb = type(error).__module__.lstrip("_") == "duckdb"  # which is not imported for this
    if isinstance(error, OSError) or is_duckdb:
        from warehouse import disk

        if refused := disk.refusal(error):
            return refused
    if type(error).__name__ in ("CatalogException", "BinderException"):
        message = f"the published file lacks a table or column of this version: {reason}"
        return ChipledgerError(message, hint=PUBLISH_AGAIN)
    if is_duckdb and type(error).__name__ in DAMAGE:
        return ChipledgerError(f"a file cannot be read: {reason}", hint=MEND)
    return None


def refuse(error: ChipledgerError, *, in_json: bool) -> NoReturn:
    """Print an error on stderr and exit: 2 for a wrong setting, 1 otherwise."""
    echo(as_json(error.as_dict()) if in_json else f"error: {error}", err=True)
    sys.exit(USAGE if isinstance(error, SettingsError) else FAILED)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that says what is going on: a line with the seconds, on a terminal, from the first second on."""
    if quiet or not sys.stderr.isatty():
        yield lambda message: None
        return
    messages, is_over, began = ["working"], threading.Event(), time.monotonic()

    def show() -> None:
        if is_over.wait(SILENCE_S):
            return
        from rich.console import Console
        from rich.markup import escape

        with Console(stderr=True).status("") as status:
            while True:
                status.update(f"{escape(visible(messages[-1]))}, {time.monotonic() - began:.0f} s")
                if is_over.wait(0.2):
                    return

    def tell(message: str) -> None:
        step = STEP.match(message)
        messages.append(NEXT[step[1]] if step else message)
        if step:
            echo(message, err=True)

    shower = threading.Thread(target=show, daemon=True)
    shower.start()
    try:
        yield tell
    finally:
        is_over.set()
        shower.join()


def rounded(value: object) -> object:
    """Return a computed number for reading: from a thousand on to the unit, else to four significant digits."""
    if isinstance(value, float) and abs(value) >= 1000:
        return f"{value:,.0f}"
    return float(f"{value:.4g}") if isinstance(value, float) else value


def word(value: object) -> str:
    """Return a value as a cell for reading: computed numbers `rounded`; "-" where it is unknown."""
    shown = plain(rounded(value))
    return "-" if shown is None or shown == "" else str(shown)


class Table(str):
    """A table as text; its first `n_head` lines, the names of columns, are bold on a terminal."""

    n_head = 0


def text_table(
    rows: Sequence[Mapping[str, object]], view: Sequence[str] = (), *, width: int | None = None, is_open: bool = False
) -> Table:
    """Return rows as an aligned plain-text table: "-" where a value is unknown, numbers point below point.

    A table wider than the line, or than `width`, has the columns of `view` (without one, or where it `is_open`, others
    too, the long ones last), at most MAX_COLUMNS; what all rows share, and what is not shown, is named below it. With
    --wide it is whole.
    """
    if not rows:
        return Table("")
    cells = {name: _cells([row[name] for row in rows]) for name in rows[0]}
    columns = {name: found for name, (found, _) in cells.items()}
    widths = {name: max(map(len, (name, *column))) for name, column in columns.items()}
    most, notes = width or line_width(), []
    if most is not None and sum(widths.values()) + 2 * len(widths) - 2 > most:
        same = {name: column[0].strip() for name, column in columns.items() if len(rows) > 2 and len({*column}) == 1}
        order = [name for name in dict.fromkeys((*view, *columns)) if name in columns and name not in same]
        wanted = [name for name in order if name in view or is_open or not view]
        wanted.sort(key=lambda name: name not in (*view, order[0]) and max(map(len, columns[name])) > 2 * LONG)
        widths = _fitted({name: columns[name] for name in wanted or order}, most)
        hidden = [name for name in order if name not in widths]
        notes += [f"In all rows: {', '.join(f'{name} {value}' for name, value in same.items())}."] if same else []
        notes += [f"Not shown: {', '.join(hidden)}; --wide shows them."] if hidden else []
    shown = [name for name in columns if name in widths]
    sizes = [(widths[name], cells[name][1]) for name in shown]
    head = list(_line([_name_lines(name, widths[name]) for name in shown], sizes))
    lines = list(head)
    for values in zip(*(columns[name] for name in shown), strict=True):
        lines += _line(
            [_wrapped(value, size, in_cell=True) for value, (size, _) in zip(values, sizes, strict=True)], sizes
        )
    made = Table("\n".join([*lines, *(line for note in notes for line in _wrapped(note, most or WIDTH))]))
    made.n_head = len(head)
    return made


def line_width() -> int | None:
    """Return the characters of a line: of the terminal, else WIDTH; None with --wide."""
    context = click.get_current_context(silent=True)
    is_wide = context is not None and context.meta.get("is_wide")
    return None if is_wide else shutil.get_terminal_size((WIDTH, 24)).columns


def is_read_by_people() -> bool:
    """Return whether stdout is a terminal, or the environment states its width; a pipe gets lines as they are."""
    return sys.stdout.isatty() or "COLUMNS" in os.environ


def in_line(text: str) -> str:
    """Return a text with its long lines continued on a terminal; a table, a page and an object as they are."""
    most = line_width()
    if not is_read_by_people() or most is None or isinstance(text, Table) or text.startswith(("<", "{")):
        return text
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line, most))


def _cells(values: Sequence[object]) -> tuple[list[str], bool]:
    """Return a column as text, and whether it is of numbers, which are padded so that their points are in one place."""
    texts = [_cell(value) for value in values]
    if not all(text == "-" or NUMBER.fullmatch(text) for text in texts) or all(text == "-" for text in texts):
        return texts, False
    last = max(ends := [len(text.partition(".")[2]) + 1 if "." in text else 0 for text in texts])
    return [text + " " * (last - end) for text, end in zip(texts, ends, strict=True)], True


def _fitted(columns: Mapping[str, Sequence[str]], most: int) -> dict[str, int]:
    """Return widths of the columns that fit into a line, in their order; what is left of it goes to the narrowest."""
    whole = {name: max(map(len, (*_name_lines(name, HEAD), *column))) for name, column in columns.items()}
    found: dict[str, int] = {}
    for name, column in columns.items():
        words = (part for text in column for part in text.split())
        least = whole[name] if whole[name] <= SHORT else min(max(map(len, (*words, *_name_lines(name, HEAD)))), LONG)
        if whole[name] > 2 * LONG:  # a text, or an address, is read in several lines; a hash in one
            least = LONG if whole[name] > HASH or any(" " in text for text in column) else whole[name]
        if not found or (len(found) < MAX_COLUMNS and sum(found.values()) + 2 * len(found) + least <= most):
            found[name] = min(least, most)
    for name in sorted(found, key=lambda name: whole[name] - found[name]):
        spare = most - sum(found.values()) - 2 * len(found) + 2
        found[name] += min(spare, max(whole[name], len(name)) - found[name])
    return found


def _wrapped(text: str, width: int, *, in_cell: bool = False) -> list[str]:
    """Return lines of a text; where it is not in a cell, words longer than a line stay whole."""
    if len(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=in_cell)


def _name_lines(name: str, width: int) -> list[str]:
    """Return the name of a column, in several lines, with blanks for its underscores, where it is too long for one."""
    return [name] if len(name) <= width else textwrap.wrap(name.replace("_", " "), width, break_long_words=False)


def _line(cells: Sequence[Sequence[str]], sizes: Sequence[tuple[int, bool]]) -> Iterator[str]:
    """Yield the lines of a row, whose cells may have several."""
    for parts in zip_longest(*cells, fillvalue=""):
        texts = (
            part.rjust(width) if is_right else part.ljust(width)
            for part, (width, is_right) in zip(parts, sizes, strict=True)
        )
        yield "  ".join(texts).rstrip()


def _cell(value: object) -> str:
    if isinstance(value, float):  # computed: six digits, of a large one those before the point
        value = float(f"{value:{'.6g' if abs(value) < 1e6 else '.0f'}}")
    text = "-" if value is None or value == "" else str(plain(value)).removesuffix(".0")
    return visible(" ".join(text.split()))
