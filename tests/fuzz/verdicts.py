"""What a reader made of a mutant: refused it, read the same, read what was rightly changed, or made a row up.

A row is a mapping of columns to texts. A row that was not read before is right where it is one of before but for
columns whose new value stands in what the change put in, or whose old value it took away. Bounds of time and memory
hold for every mutant.
"""

import json
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from fuzz.mutants import BLIND, JOINED, Mutant

from warehouse.errors import ChipledgerError

Row = frozenset[tuple[str, str]]
MOST_SECONDS = 3.0
GIVEN_UP_S = 20.0
"""Seconds of the processor after which a reader is stopped: some would go on for days."""
MOST_BYTES = 192 << 20
SAME, CHANGED, FEWER, REFUSED, UNTOLD, WRONG, FAULT, SLOW, LARGE = (
    "same", "rightly changed", "fewer rows", "refused", "undecidable", "wrong rows", "undocumented error", "too slow",
    "too much memory",
)  # fmt: skip
BAD = (WRONG, FAULT, SLOW, LARGE)
_NUMBER = re.compile(r"[-+]?(?:\d{1,60}(?:\.\d{0,60})?|\.\d{1,60})(?:[eE][-+]?\d{1,3})?")


class GivenUp(BaseException):
    """A reader was stopped."""


class Contradiction(ChipledgerError):
    """The batch gate refuses a look at which one offer has two prices."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A reader under test: its documents by name, and what it reads in one, as rows.

    `derived` are columns that follow from others by rule: one may change where the change put in or took away anything.
    `unknown` are columns that may become NULL where a part of the document cannot be told: those of facts. `parts`
    gives single records of a document, as documents: what each says alone may come out although it did not before, as
    of equal prices in a row only the first is told. `amounts` gives what the prices of a document should be, by an
    arithmetic of its own. `optional` are names that a document may lack: one damaged is one that is not there, and what
    it told apart is one. `errors` are documented errors besides ChipledgerError.
    """

    name: str
    read: Callable[[bytes], Collection[Row]]
    documents: Mapping[str, bytes]
    derived: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    parts: Callable[[bytes], Iterable[bytes]] | None = None
    amounts: Callable[[bytes], Collection[str]] | None = None
    optional: tuple[str, ...] = ()
    errors: tuple[type[Exception], ...] = ()
    changes: Callable[[bytes], Mapping[str, Callable[..., Mutant | None]]] | None = None


@dataclass(kw_only=True)
class Tally:
    """What became of the mutants of one reader."""

    documents: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    slowest_kind: str = ""
    most_bytes: int = 0
    findings: list[tuple[str, Mutant, str]] = field(default_factory=list)
    untold: Counter[str] = field(default_factory=Counter)

    @property
    def tried(self) -> int:
        """Return how many mutants were tried."""
        return sum(self.verdicts.values())

    def line(self) -> dict[str, object]:
        """Return the numbers as they are published."""
        return {
            "documents": self.documents, "mutants": self.tried,
            **{name: self.verdicts[name] for name in (REFUSED, SAME, CHANGED, FEWER, UNTOLD, *BAD)},
            "longest_parse_s": round(self.slowest_s, 3), "longest_parse_of": self.slowest_kind,
            "most_memory_mib": round(self.most_bytes / (1 << 20), 1), "undecidable_by_kind": dict(self.untold),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Known:
    """The rows of a document, those of its single records, and those of the documents it may be spliced with."""

    rows: Collection[Row]
    single: Collection[Row] = ()
    others: Collection[Row] = ()


@contextmanager
def stopped(after_s: float) -> Iterator[None]:
    """Raise GivenUp in what takes the processor for longer, which no handler of errors catches."""

    def stop(number: int, frame: object) -> None:
        raise GivenUp(f"stopped after {after_s} s of the processor")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, after_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def judge(subject: Subject, known: Known, mutant: Mutant, tally: Tally, *, given_up_s: float = GIVEN_UP_S) -> str:
    """Read a mutant, and count what came of it."""
    _reset_peak()
    floor = _resident("VmRSS")
    start = time.process_time()
    told = ""
    rows: Collection[Row] | None = None
    try:
        with stopped(given_up_s):
            rows = subject.read(mutant.body)
    except (ChipledgerError, *subject.errors):
        verdict = REFUSED
    except GivenUp as error:
        verdict, told = SLOW, str(error)
    except Exception as error:  # noqa: BLE001 - any other error is what is looked for
        verdict, told = FAULT, f"{type(error).__name__}: {error}"[:300]
    seconds = time.process_time() - start
    used = max(0, _resident("VmHWM") - floor)
    if rows is not None:
        verdict, told = _verdict(subject, known, rows, mutant)
    if seconds > tally.slowest_s:
        tally.slowest_s, tally.slowest_kind = seconds, mutant.kind
    tally.most_bytes = max(tally.most_bytes, used)
    if verdict not in BAD and seconds > MOST_SECONDS:
        verdict, told = SLOW, f"{seconds:.1f} s"
    if verdict not in BAD and used > MOST_BYTES:
        verdict, told = LARGE, f"{used >> 20} MiB"
    tally.verdicts[verdict] += 1
    tally.kinds[mutant.kind] += 1
    if verdict == UNTOLD:
        tally.untold[mutant.kind] += 1
    if verdict in BAD:
        tally.findings.append((verdict, mutant, told))
    return verdict


def _verdict(subject: Subject, known: Known, after: Collection[Row], mutant: Mutant) -> tuple[str, str]:
    new = set(after) - set(known.rows)
    if not new:
        return (SAME if set(known.rows) <= set(after) else FEWER), ""
    before = {*known.rows, *known.single, *(known.others if mutant.judged == JOINED else ())}
    amounts = subject.amounts(mutant.body) if subject.amounts else ()
    wrong = [row for row in new - before if not _is_right(subject, row, before, mutant, amounts)]
    if not wrong:
        return (UNTOLD if mutant.judged in (BLIND, JOINED) else CHANGED), ""
    if mutant.judged == BLIND or not {*subject.optional}.isdisjoint(mutant.taken):
        return UNTOLD, ""
    return WRONG, _shown(wrong[0], before)


def _is_right(
    subject: Subject, row: Row, before: Collection[Row], mutant: Mutant, amounts: Collection[str]
) -> bool:  # fmt: skip
    """Return whether a row is one of before but for what the change explains."""
    put, taken = _Words(mutant.put), _Words(mutant.taken)
    now = dict(row)
    for old in sorted(before, key=lambda each: len(each ^ row)):
        was = dict(old)
        columns = {name for name in {*was, *now} if was.get(name) != now.get(name)}
        explained = {
            name for name in columns
            if (now[name] in put or now[name] in amounts if name in now
                else name in subject.unknown or was.get(name, "") in taken)
        }  # fmt: skip
        if not columns - explained - (set(subject.derived) if mutant.put or mutant.taken else set()):
            return True
    return False


class _Words:
    """Texts among which a value is looked for: by itself, as part of one, or as a number."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [_plain(text) for text in texts]
        self._numbers = {number for text in texts for number in _numbers(text)}
        self._moments = {moment for text in texts if (moment := _moment(text)) is not None}

    def __contains__(self, value: str) -> bool:
        number = _numbers(value)
        if _NUMBER.fullmatch(value.strip()):
            return not self._numbers.isdisjoint(number)
        moment = _moment(value)
        if moment is not None and moment in self._moments:
            return True
        plain = _plain(value)
        return any(plain == text or (len(text) > 1 and (plain in text or text in plain)) for text in self._texts) or (
            not plain and bool(self._texts)
        )


def _numbers(text: str) -> set[Decimal]:
    """Return the number that a text is."""
    bare = re.sub(r"(?<=\d)[xX\u00d7]$", "", text.strip().strip("$\u20ac").strip())  # 8x is eight
    return {Decimal(bare).normalize()} if _NUMBER.fullmatch(bare) and bare.isascii() else _foreign(bare)


def _foreign(text: str) -> set[Decimal]:
    """Return the number that digits of other scripts are, one for one."""
    plain = "".join(str(int(each)) if each.isdecimal() else each for each in text)
    return {Decimal(plain).normalize()} if plain != text and _NUMBER.fullmatch(plain) else set()


def _moment(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text.strip())
        return at.astimezone(UTC).replace(tzinfo=None) if at.tzinfo else at
    except (ValueError, OverflowError):
        return None


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def row_of(**values: str) -> Row:
    """Return a row."""
    return frozenset(values.items())


def _shown(row: Row, before: Collection[Row]) -> str:
    nearest = min(before, key=lambda each: len(each ^ row), default=frozenset())
    return f"new {dict(sorted(row - nearest))} for {dict(sorted(nearest - row))}"[:400]


def _reset_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # another system: memory is not watched there
        return


def _resident(name: str) -> int:
    try:
        found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        return 0
    return int(found[1]) << 10 if found else 0


def table(tallies: Mapping[str, Tally]) -> str:
    """Return the numbers as a table for people."""
    names = (REFUSED, SAME, CHANGED, FEWER, UNTOLD, *BAD)
    heads = ("refused", "same", "changed", "fewer", "untold", "WRONG", "FAULT", "SLOW", "LARGE")
    lines = [
        f"{'reader':<28}{'docs':>5}{'mutants':>8}" + "".join(f"{head:>8}" for head in heads) + "  longest s  most MiB"
    ]
    every = Tally()
    for name, one in [*tallies.items(), ("all", every)]:
        lines.append(
            f"{name:<28}{one.documents:>5}{one.tried:>8}" + "".join(f"{one.verdicts[each]:>8}" for each in names)
            + f"{one.slowest_s:>11.2f}{one.most_bytes / (1 << 20):>10.1f}"
        )  # fmt: skip
        every.documents += one.documents
        every.verdicts += one.verdicts
        every.slowest_s, every.most_bytes = max(every.slowest_s, one.slowest_s), max(every.most_bytes, one.most_bytes)
    return "\n".join(lines)


def publish(name: str, tallies: Mapping[str, Tally]) -> None:
    """Print the numbers, and write them as JSON where the environment names a folder."""
    print(table(tallies))
    folder = os.environ.get("CHIPLEDGER_PROOF_DIR")
    if folder:
        told = {each: tally.line() for each, tally in tallies.items()}
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{name}.json").write_text(json.dumps(told, indent=1))
