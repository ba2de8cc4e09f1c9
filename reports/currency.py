"""Prices in a currency of the reader's own, beside US dollars: the one place where a price is put into another one.

Amounts are only shown: nothing of it is stored, and the file, its marts and all comparisons stay in US dollars. The
rate is the European Central Bank's of one day, for all prices of a page, whenever each was seen.
"""

from dataclasses import dataclass
from datetime import date, datetime

import duckdb

from reports import wording
from reports.queries import ask

USD = "USD"


@dataclass(frozen=True, kw_only=True)
class Rate:
    """What one unit of a currency is in US dollars on a day; None where there is no rate of the ten days before."""

    currency: str
    wanted_at: datetime
    usd_per_unit: float | None = None
    rate_date: date | None = None

    def amount(self, usd: object, places: int) -> str | None:
        """Return an amount of US dollars in the currency, as it is shown; None where amount or rate is unknown."""
        if usd is None or self.usd_per_unit is None:
            return None
        return f"{wording.amount(float(str(usd)) / self.usd_per_unit, places)} {self.currency}"

    def words(self) -> str:
        """Return how amounts were put into the currency, or why none is shown."""
        if self.usd_per_unit is None:
            return (
                f"In {self.currency} no price is shown: no reference rate of the ten days before "
                f"{wording.day(self.wanted_at)} is known."
            )
        return (
            f"Amounts in {self.currency} are next to those in US dollars at the European Central Bank's reference "
            f"rate of {self.rate_date}: 1 {self.currency} is {wording.significant(self.usd_per_unit, 5)} USD."
        )


def rate(con: duckdb.DuckDBPyConnection, currency: str, at: datetime) -> Rate | None:
    """Return the rate of a currency at a moment by the tables of a file; None for US dollars."""
    if currency == USD:
        return None
    found = ask(con, "reference_rate", currency=currency, day=at)
    return Rate(currency=currency, wanted_at=at, **(found[0] if found else {}))
