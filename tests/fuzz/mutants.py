"""A mutant: bytes that were changed, and which texts the change put in and took away.

What a change put in may come out of a reader, and what it took away may be missing: that is a row rightly changed.
Anything else that was not read before is a wrong row. `judged` says more: BLIND changes, such as the exchange of two
prices, leave a document in which every word is as good as before, and no reader can tell; TWICE puts a second value
beside the first under one name, of which neither may be believed; JOINED put the end of one record behind the
beginning of another, so that a whole record stands there which nobody wrote.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

PLAIN, BLIND, TWICE, JOINED = "plain", "blind", "twice", "joined"
_BREAKS = re.compile(rb"[\",<>\t\r\n=;'{}\[\]()\\|]")
_FINER = re.compile(r"[\s:@/]")
WINDOW = 1500
"""Bytes around a joint in which both halves of a record are looked for."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """Changed bytes, the kind of the change, and the texts that it put in and took away."""

    kind: str
    body: bytes
    put: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    judged: str = PLAIN


Change = Callable[[random.Random], Mutant | None]

ODD_NUMBERS = (
    "0", "-1", "-0.0", "+3", " 3.5", "3.5 ", "3.", ".5", "1e1", "1E+1", "1e-30", "1e400", "1e999999999", "1e9999999999999",  # noqa: E501
    "-1e999999", "9" * 40, "9" * 5000, "0.00000000001", "99999999.9999999999", "100000000", "1_000", "1,5", "1.234,56",
    "1 000", "0x1F", "NaN", "sNaN", "Infinity", "-inf", "\u0663.\u0660\u0666", "\uff13.\uff15", "\u00b2", "\u00bd",
    "3.06 per month", "$3.06", "3.06\u20ac", "null", "true", "", "N/A", "1/3", "3.06\x003", "0.0", "2147483648",
    "9223372036854775808", "4294967297", "00012.50", "1e5", "0b1", "\u221e", "12e", "--1", "1.2.3",
)  # fmt: skip
"""Amounts in forms that a reader must refuse, or take for exactly what they are."""

ODD_TEXTS = (
    "", " ", "\x00", "a\x00b", "\ud800", "x" * 70_000, "\u202e", "\ufeff", "'; drop table core.offer; --", "<script>",
    "../../etc/passwd", "\n", "\t", "\x1b[31m", "\u0130", "NULL", "None", "nan", "\U0001f4b8", "%s%n{0}", "a,b", 'a"b',
    "-", "undefined", "p5.48xlarge\u200b", "P5.48XLARGE", "2026-13-45", "0000-00-00", "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-02-30", "12:00", "1969-12-31T23:59:59Z",
)  # fmt: skip

OTHER_WORDS = {
    "usd": ("EUR", "CNY", "XXX", "usd", ""), "hrs": ("Days", "Mo", "Quantity", "GB", "hrs", "Hrs ", ""),
    "perhr": ("permonth", "perHr", ""), "hour": ("month", "day"), "hourly": ("monthly",), "eur": ("USD",),
}  # fmt: skip
"""Units and currencies, and what stands in their place."""


def tokens(body: bytes, start: int, end: int) -> tuple[str, ...]:
    """Return the words of which a stretch of bytes is part, whole and by their parts."""
    if end - start > 4 * WINDOW:  # a filler: what it touches are the words at its ends
        return tuple(dict.fromkeys([*tokens(body, start, start + WINDOW), *tokens(body, end - WINDOW, end)]))
    starts = [match.end() for match in _BREAKS.finditer(body, max(0, start - WINDOW), start)]
    begin = starts[-1] if starts else max(0, start - WINDOW)
    after = _BREAKS.search(body, max(end, begin), end + WINDOW)
    stop = after.start() if after else min(len(body), end + WINDOW)
    found = [part for part in _BREAKS.split(body[begin:stop]) if part]
    texts = [part.decode("utf-8", "replace") for part in found]
    return tuple(dict.fromkeys([*texts, *(piece for text in texts for piece in _FINER.split(text) if piece)]))


def spliced(kind: str, body: bytes, start: int, end: int, new: bytes, *, judged: str = PLAIN) -> Mutant:
    """Return a body with a stretch of it replaced."""
    made = body[:start] + new + body[end:]
    return Mutant(
        kind=kind, body=made, put=tokens(made, start, start + len(new)), taken=tokens(body, start, end), judged=judged
    )  # fmt: skip


def of_bytes(body: bytes, others: Sequence[bytes]) -> Mapping[str, Change]:
    """Return the changes of bytes, whatever they mean; `others` are documents to splice with."""

    def flip(rng: random.Random) -> Mutant | None:
        if not body:
            return None
        at = rng.randrange(len(body))
        return spliced("bytes: flip", body, at, at + 1, bytes([body[at] ^ (1 << rng.randrange(8))]))

    def insert(rng: random.Random) -> Mutant:
        at = rng.randrange(len(body) + 1)
        new = rng.choice([b"\x00", b"0", b"9", b".", b",", b'"', b"\n", b"<", b"{", b"\xff", b" ", b"-", b"e", b"\\"])
        return spliced("bytes: insert", body, at, at, new * rng.choice([1, 1, 2]))

    def drop(rng: random.Random) -> Mutant | None:
        if not body:
            return None
        at = rng.randrange(len(body))
        n = rng.choice([1, 1, 1, 2, 3, 8])
        return _joint("bytes: drop", body, at, min(len(body), at + n), b"")

    def drop_range(rng: random.Random) -> Mutant | None:
        if len(body) < 2:
            return None
        start, end = sorted(rng.sample(range(len(body) + 1), 2))
        return _joint("bytes: drop range", body, start, min(end, start + rng.choice([40, 400, 4000, len(body)])), b"")

    def repeat_range(rng: random.Random) -> Mutant | None:
        if len(body) < 2:
            return None
        start, end = sorted(rng.sample(range(len(body) + 1), 2))
        end = min(end, start + rng.choice([3, 40, 400, 4000]))
        return _joint("bytes: repeat range", body, end, end, body[start:end])

    def cut(rng: random.Random) -> Mutant:
        at = rng.randrange(len(body) + 1)
        return spliced("bytes: cut", body, at, len(body), b"")

    def splice(rng: random.Random) -> Mutant | None:
        other = rng.choice(others) if others else b""
        if not other or not body:
            return None
        at, there = rng.randrange(len(body)), rng.randrange(len(other))
        made = body[:at] + other[there:]
        put = _around(made, at)
        return Mutant(kind="bytes: splice", body=made, put=put, taken=tokens(body, at, at), judged=JOINED)

    def recoded(rng: random.Random) -> Mutant | None:
        name = rng.choice(["utf-16", "utf-8-sig", "utf-16-be", "utf-32"])
        try:
            return Mutant(kind=f"bytes: as {name}", body=body.decode().encode(name))
        except UnicodeError:
            return None

    def padded(rng: random.Random) -> Mutant:
        size = rng.choice([100_000, 1_000_000])
        filler = rng.choice([b" ", b"\x00", b"[", b"9", b"a", b'"', b"\n", b"<a>", b'{"a":', b","])
        at = rng.choice([0, len(body), rng.randrange(len(body) + 1)])
        return spliced("bytes: a megabyte", body, at, at, filler * (size // len(filler)))

    def swapped_halves(rng: random.Random) -> Mutant | None:
        if len(body) < 2:
            return None
        at = rng.randrange(1, len(body))
        made = body[at:] + body[:at]
        return Mutant(kind="bytes: halves exchanged", body=made, put=_around(made, len(body) - at), judged=JOINED)

    return {
        "flip": flip, "insert": insert, "drop": drop, "drop range": drop_range, "repeat range": repeat_range,
        "cut": cut, "splice": splice, "recoded": recoded, "a megabyte": padded, "halves": swapped_halves,
    }  # fmt: skip


def _joint(kind: str, body: bytes, start: int, end: int, new: bytes) -> Mutant:
    """Return a change after which the end of one record may stand behind the beginning of another."""
    made = body[:start] + new + body[end:]
    crosses = _BREAKS.search(body[start:end] + new) is not None
    if not crosses:
        return spliced(kind, body, start, end, new)
    put = (*_around(made, start), *_around(made, start + len(new)))
    return Mutant(kind=kind, body=made, put=put, taken=tokens(body, start, end), judged=JOINED)


def _around(body: bytes, at: int) -> tuple[str, ...]:
    """Return every word that stands near a joint."""
    return tokens(body, max(0, at - WINDOW), min(len(body), at + WINDOW))


def drawn(changes: Mapping[str, Change], rng: random.Random, number: int) -> Iterator[Mutant]:
    """Yield so many mutants, of each kind in its turn; a kind that does not fit the document is passed over."""
    names = sorted(changes)
    rng.shuffle(names)
    for turn in range(number * 4):
        if number <= 0 or not names:
            return
        mutant = changes[names[turn % len(names)]](rng)
        if mutant is not None:
            number -= 1
            yield mutant
