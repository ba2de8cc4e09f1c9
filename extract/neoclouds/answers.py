"""JSON answers, read strictly: a field that is missing, of another type, or new and about money is another layout.

Numbers keep the document's own digits: they are read as `Digits`, text that says that it was a number.
"""

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from extract.web import strict_json
from warehouse.documents import Document
from warehouse.errors import LayoutChanged

MONEY_WORD = re.compile(r"price|cost|rate(?!d)|fee|dph|usd|eur|amount|discount|hourly|monthly", re.IGNORECASE)
"""What names of fields about money have in them."""


_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Characters that nobody sees, and that no name has: those that control, and that turn the direction of writing."""

MAX_TEXT = 1000
"""Characters of a name, a label or a cell; patterns that look for a pair of brackets take the square of the length."""


class Digits(str):
    """A JSON number, as it was written."""


def content(document: Document) -> Any:
    """Return the JSON of a document, numbers as Digits; raise LayoutChanged where it is none, or has a key twice."""
    try:
        return strict_json.loads(document.body, numbers=Digits)
    except ValueError as error:
        start = document.body[:80].decode("utf-8", "replace")
        found = "HTML" if start.lstrip().startswith("<") else ("nothing" if not start.strip() else f"no JSON: {error}")
        raise refusal(document.source, f"expected JSON, found {found}", "body", start) from error


def refusal(source: str, message: str, field: str, value: object) -> LayoutChanged:
    """Return the error of a document that is not what it was."""
    return LayoutChanged(message, source=source, field=field, value=value, hint="Check the landed document")


class Fields:
    """One JSON object, whose fields are taken by name and type.

    `place` names it in errors, such as "plans[3]". Every method raises LayoutChanged where the field is not there or
    not of its type; those that end in _or_none return None for null, never for a field that is absent.
    """

    def __init__(self, source: str, place: str, value: object) -> None:
        self.source, self.place = source, place
        if not isinstance(value, Mapping):
            raise refusal(source, "expected an object", place, _short(value))
        self._value = value

    def __contains__(self, name: str) -> bool:
        return name in self._value

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def any(self, name: str) -> Any:
        """Return a field, whatever it is."""
        if name not in self._value:
            found = ", ".join(sorted(map(str, self._value))[:20])
            raise refusal(self.source, f"expected the field {name}, found {found}", f"{self.place}.{name}", None)
        return self._value[name]

    def text(self, name: str) -> str:
        """Return a text that is not empty, and no longer than MAX_TEXT."""
        value = self.any(name)
        if not isinstance(value, str) or isinstance(value, Digits) or not value.strip() or _UNSEEN.search(value):
            raise self._wrong(name, "a text", value)
        if len(value) > MAX_TEXT:
            raise self._wrong(name, f"a text of at most {MAX_TEXT} characters", value)
        return value

    def text_or_none(self, name: str) -> str | None:
        """Return a text, None for null."""
        return None if self.any(name) is None else self.text(name)

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.any(name)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false", value)
        return value

    def whole(self, name: str) -> int:
        """Return a whole number that is not negative."""
        value = self.any(name)
        if not isinstance(value, Digits) or not re.fullmatch(r"[0-9]{1,18}", value):
            raise self._wrong(name, "a whole number", value)
        return int(value)

    def number(self, name: str) -> Decimal:
        """Return a number that is not negative, exactly as written; `in_text` takes one that is written as a text."""
        value = self.any(name)
        if not isinstance(value, Digits):
            raise self._wrong(name, "a number", value)
        return self._decimal(name, value)

    def number_or_none(self, name: str) -> Decimal | None:
        """Return a number that is not negative, None for null."""
        return None if self.any(name) is None else self.number(name)

    def in_text(self, name: str) -> Decimal:
        """Return a number that is written as a text, such as "2.39"."""
        value = self.any(name)
        if not isinstance(value, str) or isinstance(value, Digits):
            raise self._wrong(name, "a number in a text", value)
        return self._decimal(name, value)

    def objects(self, name: str) -> list["Fields"]:
        """Return a list of objects."""
        return objects(self.source, f"{self.place}.{name}", self.any(name))

    def inner(self, name: str) -> "Fields":
        """Return an object."""
        return Fields(self.source, f"{self.place}.{name}", self.any(name))

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, without the empty ones."""
        value = self.any(name)
        if not isinstance(value, list) or not all(isinstance(item, str) and not _UNSEEN.search(item) for item in value):
            raise self._wrong(name, "a list of texts", value)
        if any(len(item) > MAX_TEXT for item in value):
            raise self._wrong(name, f"texts of at most {MAX_TEXT} characters", value)
        return [item for item in value if item.strip()]

    def only_money(self, *known: str) -> None:
        """Raise where a field about money is not one of those known: the meaning of all others may have changed."""
        for name in self._value:
            if name not in known and MONEY_WORD.search(name):
                raise refusal(
                    self.source,
                    f"an unknown field about money; known are {', '.join(known)}",
                    f"{self.place}.{name}",
                    _short(self._value[name]),
                )

    def _decimal(self, name: str, value: str) -> Decimal:
        if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,2})?", value.strip()):
            raise self._wrong(name, "a number that is not negative", value)
        return Decimal(value.strip())

    def _wrong(self, name: str, expected: str, value: object) -> LayoutChanged:
        return refusal(self.source, f"expected {expected}", f"{self.place}.{name}", _short(value))


def objects(source: str, place: str, value: object) -> list[Fields]:
    """Return a list of objects; raise LayoutChanged where it is none."""
    if not isinstance(value, list):
        raise refusal(source, "expected a list", place, _short(value))
    return [Fields(source, f"{place}[{number}]", item) for number, item in enumerate(value)]


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."
