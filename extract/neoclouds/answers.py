"""JSON answers, read strictly: a field that is missing, of another type, or new and about money is another layout.

Numbers keep the document's own digits: they are read as `Digits`, text that says that it was a number.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from extract.web import strict_json
from warehouse.documents import Document
from warehouse.errors import ChipledgerError, LayoutChanged

MONEY_WORD = re.compile(r"price|cost|rate(?!d)|fee|dph|usd|eur|amount|discount|hourly|monthly", re.IGNORECASE)
"""What names of fields about money have in them."""
PAGES = "chipledger_pages"
"""Key of the pages of one answer in one document, each as received."""
HINT = "Check the document; the source may have a new layout"
MAX_TEXT = 1000
"""Characters of a name, a label or a cell; patterns that look for a pair of brackets take the square of the length."""
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Characters that nobody sees, and that no name has: those that control, and that turn the direction of writing."""


class Digits(str):
    """A JSON number, as it was written."""


def refusal(message: str, field: str, value: object) -> LayoutChanged:
    """Return the error of a document that is not what it was; `errors_of` adds the source."""
    return LayoutChanged(message, field=field, value=value, hint=HINT)


@contextmanager
def errors_of(source: str) -> Iterator[None]:
    """Add the source to errors that do not name one."""
    try:
        yield
    except ChipledgerError as error:
        error.source = error.source or source
        raise


def content(body: bytes | str) -> Any:
    """Return the JSON of a document, numbers as Digits; raise LayoutChanged where it is none, or has a key twice."""
    try:
        return strict_json.loads(body, numbers=Digits)
    except ValueError as error:
        start = body[:80].decode("utf-8", "replace") if isinstance(body, bytes) else body[:80]
        found = "HTML" if start.lstrip().startswith("<") else ("nothing" if not start.strip() else f"no JSON: {error}")
        raise refusal(f"expected JSON, found {found}", "body", start) from error


class Fields:
    """One JSON object, whose fields are read by name and type.

    `place` names it in errors, such as "plans[3]". Every method raises LayoutChanged where the field is not there or
    not of its type; those that end in _or_none return None for null, never for a field that is absent.
    """

    def __init__(self, place: str, value: object) -> None:
        self.place = place
        if not isinstance(value, Mapping):
            raise refusal("expected an object", place, _short(value))
        self._value = value

    def __contains__(self, name: str) -> bool:
        return name in self._value

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def wrong(self, name: str, message: str) -> LayoutChanged:
        """Return the error of a field, with its value."""
        return refusal(message, f"{self.place}.{name}", _short(self._value.get(name)))

    def has(self, name: str) -> bool:
        """Return whether a field is there and not null."""
        return self._value.get(name) is not None

    def any(self, name: str) -> Any:
        """Return a field, whatever it is."""
        if name not in self._value:
            raise self.wrong(name, f"expected the field {name}, found {', '.join(sorted(map(str, self))[:20])}")
        return self._value[name]

    def text(self, name: str) -> str:
        """Return a text that is not empty, and no longer than MAX_TEXT."""
        value = self.any(name)
        if not isinstance(value, str) or isinstance(value, Digits) or not value.strip() or _UNSEEN.search(value):
            raise self.wrong(name, "expected a text")
        if len(value) > MAX_TEXT:
            raise self.wrong(name, f"expected a text of at most {MAX_TEXT} characters")
        return value

    def text_or_none(self, name: str) -> str | None:
        """Return a text, None for null."""
        return None if self.any(name) is None else self.text(name)

    def one_of(self, name: str, known: Iterable[str]) -> str:
        """Return a text that is one of those known."""
        if (value := self.text(name)) not in known:
            raise self.wrong(name, f"unknown {name}; expected one of {', '.join(known)}")
        return value

    def matching(self, name: str, form: str, expected: str) -> str:
        """Return a text of a form; `expected` describes it in errors."""
        if not re.fullmatch(form, value := self.text(name)):
            raise self.wrong(name, f"expected {expected}")
        return value

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.any(name)
        if not isinstance(value, bool):
            raise self.wrong(name, "expected true or false")
        return value

    def whole(self, name: str) -> int:
        """Return a whole number that is not negative."""
        value = self.any(name)
        if not isinstance(value, Digits) or not re.fullmatch(r"[0-9]{1,18}", value):
            raise self.wrong(name, "expected a whole number")
        return int(value)

    def number(self, name: str) -> Decimal:
        """Return a number that is not negative, exactly as written; `in_text` reads one that is written as a text."""
        if not isinstance(self.any(name), Digits):
            raise self.wrong(name, "expected a number")
        return self._decimal(name)

    def number_or_none(self, name: str) -> Decimal | None:
        """Return a number that is not negative, None for null."""
        return None if self.any(name) is None else self.number(name)

    def in_text(self, name: str) -> Decimal:
        """Return a number that is written as a text, such as "2.39"."""
        if not isinstance(self.any(name), str) or isinstance(self.any(name), Digits):
            raise self.wrong(name, "expected a number in a text")
        return self._decimal(name)

    def objects(self, name: str) -> list["Fields"]:
        """Return a list of objects."""
        return objects(f"{self.place}.{name}", self.any(name))

    def inner(self, name: str) -> "Fields":
        """Return an object."""
        return Fields(f"{self.place}.{name}", self.any(name))

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, without the empty ones."""
        value = self.any(name)
        if not isinstance(value, list) or not all(isinstance(item, str) and not _UNSEEN.search(item) for item in value):
            raise self.wrong(name, "expected a list of texts")
        if any(len(item) > MAX_TEXT for item in value):
            raise self.wrong(name, f"expected texts of at most {MAX_TEXT} characters")
        return [item for item in value if item.strip()]

    def only_money(self, *known: str) -> None:
        """Raise where a field about money is not one of those known: the meaning of all others may have changed."""
        for name in self:
            if name not in known and MONEY_WORD.search(name):
                raise self.wrong(name, f"an unknown field about money; known are {', '.join(known)}")

    def _decimal(self, name: str) -> Decimal:
        text = str(self.any(name)).strip()
        if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,2})?", text):
            raise self.wrong(name, "expected a number that is not negative")
        return Decimal(text)


def answer(document: Document) -> Fields:
    """Return the object of a JSON document."""
    return Fields("answer", content(document.body))


def pages(document: Document) -> list[Fields]:
    """Return the objects of a JSON document's pages: its parts where it was joined of several, else itself."""
    found = content(document.body)
    parts = found.get(PAGES) if isinstance(found, Mapping) and set(found) == {PAGES} else None
    every = parts if isinstance(parts, list) else [found]
    return [Fields(f"page {number}", page) for number, page in enumerate(every, start=1)]


def objects(place: str, value: object) -> list[Fields]:
    """Return a list of objects; raise LayoutChanged where it is none."""
    if not isinstance(value, list):
        raise refusal("expected a list", place, _short(value))
    return [Fields(f"{place}[{number}]", item) for number, item in enumerate(value)]


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."
