"""Weeks, Monday to Sunday, UTC, written as ISO 8601 has them: 2025-W26."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from warehouse.errors import SettingsError

CHIPS = ("H100", "H200", "B200", "B300", "MI300X", "A100-80GB", "L40S", "Trainium2")
"""The reader's chips, unless a setting names others."""
MIN_CHANGE = 0.01
"""Smaller moves are counted, not shown, unless a setting says otherwise."""
FOLDER = "weeks"
KNOWN_THEN = "-known-then"
"""What the name of a page ends in that is made from what was known at the end of its week."""


@dataclass(frozen=True, order=True)
class Week:
    """One ISO week."""

    year: int
    number: int

    @classmethod
    def parse(cls, text: str) -> "Week":
        """Return the week of a text such as 2025-W26. Raises SettingsError where it is none."""
        match = re.fullmatch(r"(\d{4})-W(\d{2})", text, flags=re.ASCII)
        try:
            if match is None:
                raise ValueError(text)
            date.fromisocalendar(int(match[1]), int(match[2]), 1)
        except ValueError:
            raise SettingsError(
                "no week", field="week", value=text, hint="Write year and week as ISO 8601 does: 2025-W26"
            ) from None
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def of(cls, moment: datetime) -> "Week":
        """Return the week that a moment, naive and UTC or aware, falls into."""
        day = moment if moment.tzinfo is None else moment.astimezone(UTC)
        return cls(*day.isocalendar()[:2])

    @classmethod
    def last_before(cls, moment: datetime) -> "Week":
        """Return the last week that was over at a moment."""
        return cls.of(moment - timedelta(days=7))

    @property
    def since(self) -> datetime:
        """Return its first moment, naive, UTC."""
        return datetime.combine(date.fromisocalendar(self.year, self.number, 1), datetime.min.time())

    @property
    def until(self) -> datetime:
        """Return the first moment after it, naive, UTC."""
        return self.since + timedelta(days=7)

    def __str__(self) -> str:
        return f"{self.year:04}-W{self.number:02}"


def place(week: Week, *, known_then: bool = False) -> str:
    """Return the path of a week's page below the reports."""
    return f"{FOLDER}/{week}{KNOWN_THEN if known_then else ''}.html"
