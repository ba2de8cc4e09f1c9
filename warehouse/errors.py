"""Errors that a person has to act on: each says where, which field, which value, and what to do."""

import re
from collections.abc import Iterable

HIDDEN = "(hidden)"
"""What replaces a secret in a text."""
MAX_NAMES = 10
"""Known names that a refusal lists."""
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys and nobody sees: control characters but tab and line end, marks of direction; and halves of
characters, which no output takes."""


def visible(text: str) -> str:
    """Return a text that can be shown: what a terminal would obey is written out, as \\x1b or \\u202e."""
    return UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def without_words(text: str, words: Iterable[str]) -> str:
    """Return a text in which words, in whatever case, are replaced by HIDDEN; there is at least one."""
    found = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    return re.sub(found, HIDDEN, text, flags=re.IGNORECASE)


def count(n: float, one: str, many: str = "") -> str:
    """Return a number with its noun: 1 price, 1,405 prices, 1.5 months."""
    return f"{n:,{'' if isinstance(n, int) else 'g'}} {one if n == 1 else many or f'{one}s'}"


def nearest(text: str, known: Iterable[str], *, most: int = 5) -> list[str]:
    """Return known names of similar spelling, the nearest first: a hint, and never used instead of the text."""
    from difflib import get_close_matches

    by_plain: dict[str, list[str]] = {}
    for name in known:
        by_plain.setdefault(plain(name), []).append(name)
    wanted = plain(text)
    begin = sorted((each for each in by_plain if each.startswith(wanted) and len(wanted) > 1), key=len)
    near = dict.fromkeys((*begin, *get_close_matches(wanted, by_plain, n=most)))
    return [name for each in near for name in by_plain[each]][:most]


def did_you_mean(text: str, known: Iterable[str], more: str = "") -> str:
    """Return the hint for an unknown name: the nearest ones, or ten of the known ones, and where there are `more`."""
    names = list(dict.fromkeys(known))
    near = nearest(text, names)
    hint = f"Did you mean {' or '.join(filter(None, (', '.join(near[:-1]), near[-1])))}? " if near else ""
    if names and (not near or len(names) <= MAX_NAMES):
        others = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        hint += f"Known: {', '.join(names[:MAX_NAMES])}{others}{'; ' if more else ''}"
    return (hint + more).strip()


def plain(text: str, between: str = "") -> str:
    """Return a name as names are compared: case, blanks, hyphens and underscores do not matter.

    `between` is what its words have between them then.
    """
    return re.sub(r"[\s_-]+", between, text.strip().casefold())


class ChipledgerError(Exception):
    """A refusal with its cause.

    `source` is the source, file or setting concerned; `field` and `value` what was wrong in it;
    `hint` what the reader can do. All but the message may be empty.
    """

    def __init__(
        self, message: str, *, source: str = "", field: str = "", value: object = None, hint: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.field = field
        self.value = value
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.source}: {self.message}" if self.source else self.message
        if self.field not in ("", "sql"):
            text += f" (field {self.field}{'' if self.value in (None, '') else f', value {_short(self.value)}'})"
        if self.hint:
            text += f"{'' if text.endswith('.') else '.'} {self.hint}"
        return visible(text)

    def as_dict(self) -> dict[str, str]:
        """Return the error as the object that `--json` prints: error, source, field, value, hint."""
        return {
            "error": self.message,
            "source": self.source,
            "field": self.field,
            "value": "" if self.value is None else _short(self.value),
            "hint": self.hint,
        }


class WriterBusy(ChipledgerError):
    """Another process holds the writer's lock."""


class SettingsError(ChipledgerError):
    """A setting is unknown or out of its range."""


class SourceError(ChipledgerError):
    """A source gave no usable answer; the scope it was asked for is not covered."""


class Unavailable(SourceError):
    """The source could not be reached or answered with a passing error; trying again may help.

    `retry_after` is the pause in seconds that the server asked for, if it did.
    """

    retry_after: float | None = None


class LayoutChanged(SourceError):
    """The answer does not have the documented form; the bytes are kept and nothing is published from them."""


class CredentialsMissing(SourceError):
    """The call needs credentials that are absent or were refused."""


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "..."
