"""The bytes of a result file as runs, whose fields are read with errors that name file, run, field and value."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from extract.benchmarks.result import BenchmarkRefused, placed
from extract.web import strict_json
from warehouse.errors import LayoutChanged

MAX_BYTES = 64 << 20
"""Summaries have kilobytes; a file beyond this is a log of requests or the wrong one."""
MAX_RUNS = 100_000
MAX_TEXT = 300
MAX_DIGITS = 100
"""Characters of a number: tools write at most thirty, and a million of them take seconds to compute with."""
MAX_MAGNITUDE = 20
"""Powers of ten a number may have: nanoseconds since 1970 have 18; beyond is damage, and slow to compute with."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
STATISTICS = ("median", "mean", "p90", "p99")
"""In the order of preference where a file has several, and the word that the key of each begins with."""


class Run:
    """One run of a file: a mapping of its fields and how they are read.

    A field that is absent or null gives None. Numbers must be finite and not negative: one that is neither is refused
    where it is needed, and an optional one that is NaN is None.
    """

    def __init__(self, fields: Mapping[str, Any], *, source: str, place: str = "") -> None:
        self.fields, self.source, self.place = fields, source, place

    def within(self, name: str) -> "Run":
        """Return the fields of an object in this run; empty where there is none. Raises LayoutChanged otherwise."""
        inner = self.fields.get(name)
        if inner is None:
            inner = {}
        if not isinstance(inner, dict):
            raise self.layout(name, "expected an object")
        return Run(inner, source=self.source, place=self.place)

    def at(self, path: str) -> list[Any]:
        """Return what stands at a path through objects, as "a b *" (each of b's); nothing where there is none."""
        found: list[Any] = [self.fields]
        for name in path.split():
            objects = [one for one in found if isinstance(one, dict)]
            found = [each for one in objects for each in (one.values() if name == "*" else [one.get(name)])]
        return [one for one in found if one is not None]

    def needed(self, name: str) -> Decimal:
        """Return a number without which the run says nothing. Raises LayoutChanged or BenchmarkRefused."""
        number = self._number(name)
        if number is None:
            raise self.layout(name, "absent")
        if not number.is_finite():
            raise self.refused(name, "not a finite number")
        return number

    def number(self, name: str) -> Decimal | None:
        """Return a number, None where absent, null or NaN. Raises LayoutChanged or BenchmarkRefused."""
        number = self._number(name)
        if number is not None and number.is_infinite():
            raise self.refused(name, "not a finite number")
        return None if number is None or number.is_nan() else number

    def limit(self, name: str) -> Decimal | None:
        """Return a number that may be infinite (a request rate); None where absent. Raises as `number`."""
        number = self._number(name)
        if number is not None and number.is_nan():
            raise self.refused(name, "not a number")
        return number

    def text(self, name: str) -> str | None:
        """Return a text, None where absent, null or empty. Raises LayoutChanged."""
        value = self.fields.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self.layout(name, "expected a text")
        return clean(value, self, name)

    def flag(self, name: str) -> bool | None:
        """Return a truth value, written as such or as the words true and false. Raises LayoutChanged."""
        value = self.fields.get(name)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise self.layout(name, "expected true or false")

    def day(self, name: str, form: str | None = None) -> date | None:
        """Return the date of a text in ISO's form or one of strptime, None where absent. Raises LayoutChanged."""
        text = self.text(name)
        if text is None:
            return None
        try:
            # The tool tells no zone: its own day is kept.
            return datetime.strptime(text, form).date() if form else date.fromisoformat(text[:10])  # noqa: DTZ007
        except ValueError:
            raise self.layout(name, f"expected a time in the form {form}" if form else "expected an ISO time") from None

    def moment(self, name: str, per_second: int = 1) -> date | None:
        """Return the day, UTC, of a time since 1970, None where absent. Raises LayoutChanged or BenchmarkRefused."""
        count = self.number(name)
        if count is None:
            return None
        if not 10**8 < count / per_second < 10**10:
            raise self.layout(name, f"expected a time since 1970, in 1/{per_second} s")
        return datetime.fromtimestamp(int(count / per_second), tz=UTC).date()

    def layout(self, name: str, reason: str) -> LayoutChanged:
        """Return the error about a field that is not in the tool's form."""
        message = placed(self.place, f"not in the tool's form: {reason}")
        hint = "Give the file as the tool wrote it"
        return LayoutChanged(message, source=self.source, field=name, value=self.fields.get(name), hint=hint)

    def refused(self, name: str, reason: str, *, value: object = None, hint: str = "") -> BenchmarkRefused:
        """Return the refusal of this run for what one of its fields says."""
        return BenchmarkRefused(
            placed(self.place, reason),
            source=self.source,
            field=name,
            value=self.fields.get(name) if value is None else value,
            hint=hint,
        )

    def _number(self, name: str) -> Decimal | None:
        value = self.fields.get(name) if name else None
        if value is None or value == "":
            return None
        try:
            # Some tools write numbers as text ("550" of LLMPerf, "inf" of vLLM).
            number = Decimal(value) if isinstance(value, Decimal | int | str) and not isinstance(value, bool) else None
        except InvalidOperation:
            number = None
        if number is None:
            raise self.layout(name, "expected a number")
        if number < 0 if not number.is_nan() else number.is_snan():
            raise self.refused(name, "a negative number")
        if number.is_finite() and number and abs(number.adjusted()) > MAX_MAGNITUDE:
            raise self.refused(name, "a number that no benchmark gives")
        return number


def clean(text: str, run: Run, name: str) -> str | None:
    """Return a text without spaces around it; None where empty. Raises LayoutChanged where it is no name."""
    text = text.strip()
    if _CONTROL.search(text) or len(text) > MAX_TEXT:
        raise run.layout(name, f"expected one line of at most {MAX_TEXT} characters")
    return text or None


def decoded(body: bytes, source: str) -> str:
    """Return the text of a file. Raises LayoutChanged where it is none, empty, or too large to be a summary."""
    begins = body[:60].decode("utf-8", "replace")
    if len(body) > MAX_BYTES:
        raise damaged(f"larger than {MAX_BYTES >> 20} MiB", begins, source)
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise damaged(f"not UTF-8 text: {error.reason}", begins, source) from None
    if not text.strip():
        raise damaged("empty", begins, source)
    return text


def damaged(reason: str, text: str, source: str) -> LayoutChanged:
    """Return the error about a file, or a part of it, that is in no tool's form."""
    return LayoutChanged(reason, source=source, field="body", value=text[:60])


def json_runs(text: str, source: str) -> list[Run]:
    """Return the runs of a JSON object, a list of them, or one object a line. Raises LayoutChanged."""
    values = _values(text, source)
    if not 0 < len(values) <= MAX_RUNS:
        raise damaged(f"{len(values)} runs", text, source)
    many = len(values) > 1
    runs = []
    for position, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise damaged(f"run {position} is not an object", str(value), source)
        runs.append(Run(value, source=source, place=f"run {position} of {len(values)}" if many else ""))
    return runs


def _values(text: str, source: str) -> list[Any]:
    try:
        whole = loads(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        # One object a line is JSON Lines; a broken object over several lines is not, and its own error is the clearer.
        if len(lines) < 2 or not all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for line in lines):
            raise damaged(f"not JSON: {error}", text, source) from error
        try:
            return [loads(line) for line in lines]
        except ValueError as inner:
            raise damaged(f"not JSON: {inner}", text, source) from inner
    if isinstance(whole, dict) and whole and all(key.isdigit() and isinstance(whole[key], dict) for key in whole):
        return list(whole.values())  # an object with a number for each run
    return whole if isinstance(whole, list) else [whole]


def loads(text: str) -> Any:
    """Return a JSON value. Raises ValueError."""
    # Decimal keeps every digit; NaN and Infinity, which JSON has not and SGLang writes, are kept to be judged by field.
    return strict_json.loads(text, numbers=_decimal, constants=Decimal)


def _decimal(text: str) -> Decimal:
    try:
        if len(text) <= MAX_DIGITS:
            return Decimal(text)
        raise InvalidOperation
    except InvalidOperation:  # an exponent beyond what Decimal has
        raise ValueError(f"a number that cannot be read: {text[:40]}") from None


def best(run: Run, keys: Mapping[str, str]) -> tuple[Decimal, str] | tuple[None, None]:
    """Return value and statistic of the best key (by statistic) that the run has; None, None where it has none."""
    found = ((run.number(keys.get(statistic, "")), statistic) for statistic in STATISTICS)
    return next(((value, statistic) for value, statistic in found if value is not None), (None, None))
