"""What the command line prints: results on stdout, progress and errors on stderr, and JSON to rely on."""

import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NoReturn

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

BEYOND_ASCII = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON may have as it is and a terminal obeys; JSON's own escape of it says the same."""


def plain(value: object) -> object:
    """Return a value as JSON has it: amounts as numbers with their own digits, moments as UTC text ending in Z."""
    if isinstance(value, Decimal):
        return Decimal(format(value.normalize(), "f"))
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def as_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON text; NaN and infinities, which JSON has not, become null."""
    text = simplejson.dumps(plain(value), use_decimal=True, ignore_nan=True, ensure_ascii=False, indent=indent)
    return BEYOND_ASCII.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text for people: what a terminal would obey is written out, and on stderr no secret is repeated."""
    click.echo(visible(redact.hide(text) if err else text), err=err, nl=nl)


class LineFormatter(logging.Formatter):
    """Lines of the log as people may see them: no secret, nothing that a terminal obeys, no forged line."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(redact.hide(super().format(record))).replace("\n", "\n    ")


def json_lines(rows: Iterable[Mapping[str, Any]]) -> None:
    """Print one JSON object a line on stdout."""
    for row in rows:
        echo(as_json(row))


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
        known = as_refusal(error)
        if known is None:
            raise
        if known is not error:
            LOG.info("where it happened:", exc_info=error)
        refuse(known, in_json=in_json)


def as_refusal(error: Exception) -> ChipledgerError | None:
    """Return an error as one of ours; None where only the program itself can be at fault."""
    if isinstance(error, ChipledgerError):
        return error
    reason = str(error).partition("\n")[0].rstrip(".")
    if isinstance(error, OSError) and isinstance(error.filename, str):
        from warehouse import disk

        return disk.refusal(error)
    # DuckDB is not imported for this: a command that did not use it has no such error.
    if type(error).__name__ in ("CatalogException", "BinderException"):
        message = f"the published file lacks a table or column of this version: {reason}"
        return ChipledgerError(message, hint=PUBLISH_AGAIN)
    if type(error).__module__.lstrip("_") == "duckdb" and type(error).__name__ in DAMAGE:
        return ChipledgerError(f"a file cannot be read: {reason}", hint=MEND)
    return None


def refuse(error: ChipledgerError, *, in_json: bool) -> NoReturn:
    """Print an error on stderr and exit: 2 for a wrong setting, 1 otherwise."""
    echo(as_json(error.as_dict()) if in_json else f"error: {error}", err=True)
    sys.exit(USAGE if isinstance(error, SettingsError) else FAILED)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows what is going on: a moving line on a terminal, nothing where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield lambda message: None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("starting") as status:
        yield lambda message: status.update(escape(visible(message)))


def rounded(value: object) -> object:
    """Return a computed number to four significant digits for reading; any other value as it is."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def word(value: object) -> str:
    """Return a value as a cell for reading: computed numbers to four digits; "-" where it is unknown."""
    shown = plain(rounded(value))
    return "-" if shown is None or shown == "" else str(shown)


def text_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as an aligned plain-text table; "-" where a value is unknown."""
    if not rows:
        return ""
    names = list(rows[0])
    cells = [names, *([_cell(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(names))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def _cell(value: object) -> str:
    text = "-" if value is None or value == "" else str(plain(value))
    return visible(" ".join(text.split()))
