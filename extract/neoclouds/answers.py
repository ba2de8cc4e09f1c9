"""JSON answers, read strictly: a field that is missing, of another type, or new and with an amount is another layout.

A row of an answer that is odd by itself is refused alone (`extract.neoclouds.offers.each`); `form_changed` says that
no row of a document may be read.

Numbers keep the document's own digits: they are read as `Digits`, text that says that it was a number.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

from extract.web import strict_json
from warehouse.documents import Document
from warehouse.errors import ChipledgerError, LayoutChanged

Value = TypeVar("Value")

MONEY_WORD = re.compile(r"price|cost|rate(?!d)|fee|dph|usd|eur|amount|discount|hourly|monthly", re.IGNORECASE)
"""What names of fields about money have in them."""
CURRENCIES = {"$": "USD", "$$": "USD", "US$": "USD", "USD": "USD", "\N{EURO SIGN}": "EUR", "EUR": "EUR"}
PAGES = "chipledger_pages"
"""Key of the pages of one answer in one document, each as received."""
HINT = "Check the document; the source may have a new layout"
MAX_TEXT = 1000
"""Characters of a name, a label or a cell; patterns that look for a pair of brackets take the square of the length."""
_AMOUNT = re.compile(r"\D{0,4}\d[\d,]*(\.\d+)?([eE][-+]?\d+)?\s*([%*]|[A-Z]{3}|(/|per ?)[\w ./]+)?")
"""A text that states an amount; a time, such as 2026-10-01T06:00:00Z, is none."""
_MOMENT = re.compile(r"(_at|_date|_time|timestamp|(?<=[a-z])(At|Date|Time))$")
"""How names of fields end that hold moments, and not amounts."""
_NEXT = re.compile(
    r"(has|is)?_?(more|next)_?(results|data|pages?)?_?(link|token|cursor|url|uri)?|continuation_?token", re.I
)
_TOTAL = re.compile(r"total_?(results?|items|records|rows)?_?(count)?|count", re.I)
_ENVELOPE = re.compile(r"_?(meta(data)?|links?|pages?|paging|pagination|page_?info|data|result)", re.I)
"""Fields at the top of an answer that lead to a further page, or say how many rows there are; and what holds such."""
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Characters that nobody sees, and that no name has: those that control, and that turn the direction of writing."""


class Digits(str):
    """A JSON number, as it was written."""


class FormChanged(LayoutChanged):
    """What says that columns, units or pages are others than they were: one row tells it of all."""


def refusal(message: str, field: str, value: object) -> LayoutChanged:
    """Return the error of a row, or of a document, that is not what it was; `errors_of` adds the source."""
    return LayoutChanged(message, field=field, value=value, hint=HINT)


def form_changed(message: str, field: str, value: object) -> FormChanged:
    """Return the error of a document of which no row may be read, also where one row alone shows it."""
    return FormChanged(message, field=field, value=value, hint=HINT)


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
    not of its type; those that end in _or_none return None for null, never for a field that is absent. `new_money` are
    fields about money that nobody knows, of the object and of those in it: errors for amounts, names for what is none.
    """

    def __init__(self, place: str, value: object, new_money: "list[LayoutChanged | str] | None" = None) -> None:
        self.place = place
        self.new_money: list[LayoutChanged | str] = [] if new_money is None else new_money
        if not isinstance(value, Mapping):
            raise refusal("expected an object", place, _short(value))
        self._value = value

    def __contains__(self, name: str) -> bool:
        return name in self._value

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __str__(self) -> str:
        return json.dumps(self._value, ensure_ascii=False)

    def wrong(self, name: str, message: str) -> LayoutChanged:
        """Return the error of a field, with its value."""
        return refusal(message, f"{self.place}.{name}", _short(self._value.get(name)))

    def form_changed(self, name: str, message: str) -> FormChanged:
        """Return the error of a field that tells that no row may be read."""
        return form_changed(message, f"{self.place}.{name}", _short(self._value.get(name)))

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

    def moment(self, name: str) -> datetime:
        """Return a time in UTC, as 2026-05-01T00:00:00Z or with digits of a second."""
        text = self.matching(name, r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", "a time in UTC")
        try:
            return datetime.fromisoformat(text).astimezone(UTC)
        except ValueError as error:
            raise self.wrong(name, "expected a time in UTC") from error

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
        return objects(f"{self.place}.{name}", self.any(name), self.new_money)

    def inner(self, name: str) -> "Fields":
        """Return an object."""
        return Fields(f"{self.place}.{name}", self.any(name), self.new_money)

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, without the empty ones."""
        value = self.any(name)
        if not isinstance(value, list) or not all(isinstance(item, str) and not _UNSEEN.search(item) for item in value):
            raise self.wrong(name, "expected a list of texts")
        if any(len(item) > MAX_TEXT for item in value):
            raise self.wrong(name, f"expected texts of at most {MAX_TEXT} characters")
        return [item for item in value if item.strip()]

    def readable(self, read: Callable[[str], Value], name: str) -> Value | None:
        """Return a field as one of these methods reads it; None where it cannot be read."""
        try:
            return read(name)
        except LayoutChanged:
            return None

    def only_money(self, *known: str) -> None:
        """Add to `new_money` each field about money that is not one of those known.

        One with an amount refuses a row that has a price: the meaning of all others may have changed.
        """
        for name in self:
            if name in known or not MONEY_WORD.search(name):
                continue
            if not _MOMENT.search(name) and _has_amount(self._value[name]):
                self.new_money.append(self.wrong(name, f"an unknown field about money; known are {', '.join(known)}"))
            else:
                self.new_money.append(name)

    def all_items(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and values of the fields, and of those of objects in it; a list's are for the source."""
        inside = [self._value]
        for one in inside:
            yield from one.items()
            inside += [value for value in one.values() if isinstance(value, Mapping)]

    def _decimal(self, name: str) -> Decimal:
        text = str(self.any(name)).strip()
        if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,2})?", text):
            raise self.wrong(name, "expected a number that is not negative")
        return Decimal(text)


def answer(document: Document, expected: Iterable[str] = ("USD",)) -> Fields:
    """Return the object of a JSON document; raise FormChanged where it names a currency that is not expected.

    What its lists name is for their rows.
    """
    return _in_currency(Fields("answer", content(document.body)), expected)


def _in_currency(found: Fields, expected: Iterable[str]) -> Fields:
    if others := currencies(found.all_items()) - {*expected}:
        raise form_changed(f"expected prices in {' or '.join(expected)}", "currency", str(others))
    return found


def currencies(fields: Iterable[tuple[str, object]]) -> set[str]:
    """Return the currencies that fields name by a code or a sign, as codes such as USD."""
    named = [str(value).upper() for name, value in fields if "currency" in name.lower()]
    return {CURRENCIES.get(text, text) for text in named if re.fullmatch(r"[A-Z]{3,7}|[A-Z]{0,2}[^\w\s]", text)}


def unread_page(pages: Sequence[object]) -> str:
    """Return the field at the top of the last of these pages that says that there are more rows, or nothing."""
    tops = [_tops(page) for page in pages]
    lists = [[len(value) for one in top for value in one.values() if isinstance(value, list)] for top in tops]
    n_rows = sum(max(sizes, default=0) for sizes in lists)
    for name, value in (field for one in tops[-1] for field in one.items()):
        is_total = isinstance(value, Digits) and value.isdecimal() and _TOTAL.fullmatch(name) is not None
        if (is_total and 0 < n_rows < int(value)) or (_NEXT.fullmatch(name) and value and value != "0"):
            return name
    return ""


def _tops(page: object) -> list[Mapping[str, Any]]:
    """Return the object of a page, and those in it that say what the page is."""
    found = [page] if isinstance(page, Mapping) else []
    for one in found:
        found += [inner for name, inner in one.items() if _ENVELOPE.fullmatch(name) and isinstance(inner, Mapping)]
    return found


def parts(document: Document) -> list[Any]:
    """Return what a JSON document was joined of: each answer of its fetch, or the one that it is."""
    found = content(document.body)
    every = found.get(PAGES) if isinstance(found, Mapping) and set(found) == {PAGES} else None
    return every if isinstance(every, list) else [found]


def pages(document: Document, expected: Iterable[str] = ("USD",)) -> list[Fields]:
    """Return the objects of a JSON document's pages, as `answer` returns one."""
    numbered = enumerate(parts(document), start=1)
    return [_in_currency(Fields(f"page {number}", page), expected) for number, page in numbered]


def objects(place: str, value: object, new_money: list[LayoutChanged | str] | None = None) -> list[Fields]:
    """Return a list of objects; raise LayoutChanged where it is none."""
    if not isinstance(value, list):
        raise refusal("expected a list", place, _short(value))
    return [Fields(f"{place}[{number}]", item, new_money) for number, item in enumerate(value)]


def _has_amount(value: object) -> bool:
    """Return whether a value states an amount, or has one in it."""
    if isinstance(value, Mapping):
        return any(map(_has_amount, value.values()))
    if isinstance(value, list):
        return any(map(_has_amount, value))
    return isinstance(value, str) and (isinstance(value, Digits) or _AMOUNT.fullmatch(value.strip()) is not None)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."
