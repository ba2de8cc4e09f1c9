"""What stands where a price should: a price, a "from" price, or words that say that there is none.

Every text has a named outcome; one that is none of these is LayoutChanged, never skipped and never searched for the
first dollar sign.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

from extract.neoclouds.answers import refusal

NO_PRICE = frozenset(
    {
        "",
        "-",
        "--",
        "\N{EN DASH}",
        "\N{EN DASH}\N{EN DASH}",
        "\N{EM DASH}",
        "n/a",
        "na",
        "contact",
        "contact us",
        "contact sales",
        "talk to sales",
        "talk to us",
        "reserve",
        "reserve now",
        "request a quote",
        "get a quote",
        "custom",
        "spot only",
        "sold out",
        "coming soon",
        "call",
        "enquire",
    }
)
"""Words that say that there is no price, in lower case."""

FLOORS = ("from", "starting from", "starting at", "as low as")
CURRENCIES = {"$": "USD", "$$": "USD", "US$": "USD", "USD": "USD", "\N{EURO SIGN}": "EUR", "EUR": "EUR"}

_SYMBOL = "|".join(re.escape(symbol) for symbol in sorted(CURRENCIES, key=len, reverse=True))
_PRICE = re.compile(
    rf"(?P<floor>{'|'.join(FLOORS)})?:?\s*(?P<before>{_SYMBOL})?\s*(?P<amount>\d{{1,3}}(?:,\d{{3}})+(?:\.\d{{1,10}})?|\d{{1,9}}(?:\.\d{{1,10}})?)"
    rf"\s*(?P<after>{_SYMBOL})?\s*(?P<unit>(?:/|per\s)[a-z0-9 ./-]+)?\s*(?P<note>\*{{0,3}})",
    re.IGNORECASE,
)
_UNIT_NOISE = re.compile(r"[\s./-]+|per")


@dataclass(frozen=True, kw_only=True)
class Worded:
    """What a text says of a price: the amount (None: there is none), its currency and unit, and if it is a floor.

    `unit` is in lower case without separators, such as gpuhr or hour; empty where the text names none. `is_noted` says
    that a footnote mark stands at it.
    """

    amount: Decimal | None
    currency: str = ""
    unit: str = ""
    is_floor: bool = False
    is_noted: bool = False


def price(
    text: str,
    *,
    source: str,
    field: str,
    units: tuple[str, ...] = ("",),
    symbol: bool = True,
    noted: bool = True,
) -> Worded:
    """Return what a text says; raise LayoutChanged where it is no price and none of the words for none.

    `units` are the units that it may name, as in Worded.unit; with `symbol` it must have a currency. Without `noted` a
    footnote mark is refused: who has not read the note does not know what the price is of.
    """
    plain = " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())
    if not noted and plain.endswith("*"):
        raise refusal(source, "a footnote that is not known", field, text)
    if plain.lower().rstrip("*") in NO_PRICE:
        return Worded(amount=None)
    found = _PRICE.fullmatch(plain)
    if found is None:
        raise refusal(source, "neither a price nor words that say that there is none", field, text)
    mark = found["before"] or found["after"]
    if (found["before"] and found["after"]) or (symbol and not mark):
        raise refusal(source, "expected one currency sign", field, text)
    unit = _UNIT_NOISE.sub("", (found["unit"] or "").lower())
    if unit not in units:
        raise refusal(source, f"expected a price in {' or '.join(repr(name) for name in units)}", field, text)
    amount = Decimal(found["amount"].replace(",", ""))
    if not amount:
        raise refusal(source, "a price of zero", field, text)
    return Worded(
        amount=amount,
        currency=CURRENCIES[mark.upper()] if mark else "",
        unit=unit,
        is_floor=found["floor"] is not None,
        is_noted=bool(found["note"]),
    )
