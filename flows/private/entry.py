"""One entry of a private file, a line of CSV or a table of TOML, and how its values are read or refused.

An empty value is no value. Every refusal names file, entry, field and value; the message holds no value, so that it can
be shown where the values must not be.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation

from flows.shared.user_file import UserFile
from warehouse.errors import ChipledgerError
from warehouse.reference.table import Model, lines
from warehouse.schema.vocabulary import HOURS_PER_YEAR, PAYMENT_MODELS

NONE = "none"
"""The word of a cell where an offer must have nothing of the kind."""
DIGITS_AFTER_POINT = 10
"""Of DECIMAL(18,10), the type of amounts."""
LONGEST_AMOUNT = Decimal(99_999_999)


class Entry:
    """The values of one entry by field, and where they are."""

    def __init__(self, file: str, place: str, values: Mapping[str, object]) -> None:
        self.file, self.place, self.values = file, place, values

    def error(self, field: str, message: str, hint: str = "") -> ChipledgerError:
        """Return the refusal of one field."""
        return ChipledgerError(
            f"{self.place}: {message}", source=self.file, field=field, value=self.values.get(field, ""), hint=hint
        )

    def text(self, field: str) -> str | None:
        """Return the text of a field without blanks around it; None without one."""
        value = self.values.get(field)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal | date):
            raise self.error(field, "must be text")
        text = str(value).strip()
        if not text.isprintable():
            raise self.error(field, "contains non-printable characters")
        return text or None

    def required(self, field: str) -> str:
        """Return the text of a required field."""
        text = self.text(field)
        if text is None:
            raise self.error(field, "required")
        return text

    def one_of(self, field: str, allowed: Iterable[str]) -> str | None:
        """Return the allowed word that a field holds; letters' case, blanks and hyphens do not matter."""
        text = self.text(field)
        if text is None:
            return None
        words = {_plain(word): word for word in allowed}
        if _plain(text) not in words:
            raise self.error(field, "unknown value", f"Allowed: {', '.join(words.values())}")
        return words[_plain(text)]

    def number(self, field: str, *, above: Decimal | None = None, most: Decimal = LONGEST_AMOUNT) -> Decimal | None:
        """Return a plain decimal number from 0 (or above `above`) to `most`, with ten digits after the point."""
        text = self.text(field)
        if text is None:
            return None
        try:
            number = Decimal(text.replace("_", "no digit"))  # to Python, not to a person, 1_0 is ten
        except InvalidOperation:
            raise self.error(field, "no number", "Write it plainly, such as 12.5") from None
        if not number.is_finite() or number < 0 or number > most or (above is not None and number <= above):
            least = "from 0" if above is None else f"above {above}"
            raise self.error(field, "out of range", f"Allowed: {least} to {most:f}")
        exponent = number.normalize().as_tuple().exponent
        if isinstance(exponent, int) and -exponent > DIGITS_AFTER_POINT:
            raise self.error(field, f"more than {DIGITS_AFTER_POINT} digits after the point")
        return number

    def day(self, field: str) -> date | None:
        """Return a date."""
        text = self.text(field)
        if text is None:
            return None
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise self.error(field, "no date", "Write it as 2026-11-21") from None

    def term_hours(self, field: str) -> int | None:
        """Return the hours of a term such as 1yr, 3 years or 24h; 0 for the word none."""
        text = self.text(field)
        if text is None:
            return None
        if text.lower() == NONE:
            return 0
        match = re.fullmatch(r"([1-9]\d{0,4})\s*(y|yr|yrs|year|years|h|hour|hours)", text.lower())
        if match is None:
            raise self.error(field, "no term", "Write it as 1yr, 3yr or 24h")
        return int(match[1]) * (HOURS_PER_YEAR if match[2].startswith("y") else 1)

    def payment(self, field: str) -> str | None:
        """Return a payment model, or the word none."""
        return self.one_of(field, (*PAYMENT_MODELS, NONE))


def csv_entries(file: str, body: bytes, *, columns: Sequence[str], required: Sequence[str]) -> list[Entry]:
    """Return the lines of a CSV with a header. Raises ChipledgerError where it is none, or a column is unknown."""
    fields = dict.fromkeys(columns, str | None)
    model = Model(key="line", fields=fields, help="docs/fleet.md", exact=False, closed=True, required=required)
    return [Entry(file, line.place, line.cells) for line in lines(UserFile(file, body), model)]


def _plain(word: str) -> str:
    return re.sub(r"[\s_-]+", "_", word.strip().casefold())
