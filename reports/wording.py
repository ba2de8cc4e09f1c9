"""How numbers, dates and names are written: one way on every page. All functions are pure.

Words for what a column holds are in `words.csv`: the kind of words, the value, what is written for it.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from datetime import date as Date  # noqa: N812 (beside a function of that name)
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib.resources import files
from math import floor, log10
from typing import Any

from warehouse.errors import count as count
from warehouse.schema.vocabulary import HOURS_PER_MONTH, HOURS_PER_YEAR

MINUS = "\N{MINUS SIGN}"
UNKNOWN = "\N{EN DASH}"
NBSP = "\N{NO-BREAK SPACE}"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
FALL, RISE, SAME = "\N{BLACK DOWN-POINTING TRIANGLE}", "\N{BLACK UP-POINTING TRIANGLE}", "="
CENTS = 2
FINER_PLACES = (2, 4, 6, 8, 10)
LENGTHS = ((HOURS_PER_YEAR, "year"), (HOURS_PER_MONTH, "month"), (24, "day"))
MIN_IN_CENTS = 0.1
"""Below this a price in whole cents would be off by more than 5 %."""


@cache
def table(name: str, package: str = "reports") -> list[dict[str, str]]:
    """Return the lines of a table of a package."""
    return list(csv.DictReader((files(package) / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


def chip(row: Mapping[str, Any]) -> str:
    """Return the chip of a row with its form."""
    return listed(row["accelerator_name"], row["form_factor"], by=" ")


def words_of(kind: str, package: str = "reports") -> dict[str, str]:
    """Return the words of one kind by what they are for, in the order of `words.csv`."""
    return {line["name"]: line["words"] for line in table("words", package) if line["of"] == kind}


def counted_of(kind: str) -> dict[str, tuple[str, ...]]:
    """Return the words of one kind for one and for several."""
    return {name: tuple(words.split(" / ")) for name, words in words_of(kind).items()}


OPTIONS = words_of("option")
KINDS = words_of("kind")
CAME = {"gone_offer": "gone", "new_offer": "new", "returned_offer": "back"}
KINDS_COUNTED = counted_of("kinds")
EFFECTS = words_of("effect")
"""What moves a cost per token."""

Number = float | Decimal


def amount(value: Number | None, places: int) -> str:
    """Return an amount with thousands separated, halves rounded up as on a bill; a dash where it is unknown."""
    if value is None:
        return UNKNOWN
    return f"{Decimal(str(value)).quantize(Decimal(10) ** -places, ROUND_HALF_UP):,f}".replace("-", MINUS)


def significant(value: Number | None, digits: int = 3) -> str:
    """Return an amount with so many significant digits and at most ten places: 0.0634, 12.7, 1,250."""
    if value is None:
        return UNKNOWN
    places = 0 if not value else digits - 1 - floor(log10(abs(float(value))))
    return amount(value, min(max(places, 0), FINER_PLACES[-1]))


def places_of(values: Iterable[Number | None]) -> int:
    """Return the decimal places of a column of prices: cents, or more where a price is too small for cents."""
    return 4 if any(value is not None and 0 < value < MIN_IN_CENTS for value in values) else CENTS


def price(value: Number | None) -> str:
    """Return a price that stands by itself."""
    return amount(value, places_of([value]))


def places_of_pairs(pairs: Iterable[tuple[Number | None, Number | None]]) -> int:
    """Return the places that keep the two sides of every change apart, and small prices honest."""
    places = CENTS
    for before, after in pairs:
        places = max(places, places_of((before, after)))
        if before is not None and after is not None and before != after:
            apart = [n for n in FINER_PLACES if amount(before, n) != amount(after, n)]
            places = max(places, apart[0] if apart else FINER_PLACES[-1])
    return places


def percent(ratio: float | None) -> str:
    """Return a ratio of change as percent with one decimal and, where it moved, sign; a dash where there is none."""
    if ratio is None:
        return UNKNOWN
    if abs(ratio) < 1e-9:
        return "0.0 %"
    if abs(ratio) < 0.0005:
        return f"{MINUS if ratio < 0 else '+'}<0.1 %"
    return f"{ratio * 100:+,.1f} %".replace("-", MINUS)


def moved(ratio: float) -> str:
    """Return a change in words, without sign: fell 44.0 %, rose 3.1 %, unchanged."""
    if not ratio:
        return "unchanged"
    share = "less than 0.1 %" if abs(ratio) < 0.0005 else f"{abs(ratio) * 100:,.1f} %"
    return f"{'fell' if ratio < 0 else 'rose'} {share}"


def arrow(ratio: float | None) -> str:
    """Return the sign for the eye of a change; empty where there is none."""
    if ratio is None:
        return ""
    return FALL if ratio < 0 else RISE if ratio > 0 else SAME


def day(moment: datetime | None) -> str:
    """Return the UTC date of a moment; a dash where it is unknown."""
    return UNKNOWN if moment is None else f"{moment:%Y-%m-%d}"


def minute(moment: datetime | None) -> str:
    """Return a moment to the minute, in UTC."""
    return UNKNOWN if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def window(before: datetime | None, after: datetime) -> str:
    """Return the days between which something happened."""
    if before is None:
        return f"by {day(after)}"
    return day(after) if day(before) == day(after) else f"{day(before)} to {day(after)}"


def days(age: float | None) -> str:
    """Return an age in days, with one decimal below ten; a dash where it is unknown."""
    if age is None:
        return UNKNOWN
    return f"{age:,.1f}" if age < 10 else f"{age:,.0f}"


def scope(row: Mapping[str, Any]) -> str:
    """Return a scope with its source; the only one of a source is the source."""
    return listed(row["source"], row["scope"] if row["scope"] != "all" else "", by=" ")


def option(
    purchase_option: str | None,
    *,
    term_hours: int | None = None,
    payment: str | None = None,
    offering_class: str | None = None,
) -> str:
    """Return how something is bought, in words: Reserved 1 year, No Upfront, convertible."""
    words = OPTIONS.get(purchase_option or "", purchase_option or "option unknown")
    return listed(listed(words, term(term_hours), by=" "), payment, offering_class)


def term(hours: int | None) -> str:
    """Return the length of a commitment in its largest whole unit: 1 year, 91 days; nothing where there is none."""
    whole = (count(hours // n, unit) for n, unit in LENGTHS if hours and not hours % n)
    return next(whole, f"{hours:,} hours") if hours else ""


def option_of(row: Mapping[str, Any]) -> str:
    """Return how the offer of a row is bought, in words."""
    return option(
        row["purchase_option"],
        term_hours=row["commitment_term_hours"],
        payment=row["purchase_payment_model"],
        offering_class=row["offering_class"] if row["offering_class"] != "standard" else None,
    )


def listed(*parts: object, by: str = ", ") -> str:
    """Return the parts that are known, with commas between."""
    return by.join(str(part) for part in parts if part)


def few(names: Sequence[str], *, most: int = 3) -> str:
    """Return names as a list in words, the last ones only counted where there are many."""
    shown = list(names[:most]) + ([f"{len(names) - most:,} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def short(text: str | None, *, most: int = 160) -> str:
    """Return text on one line, cut where it is too long for its place."""
    line = " ".join((text or "").split())
    return line if len(line) <= most else f"{line[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def cause(error: str | None, source: str, scope: str, *, most: int = 160) -> str:
    """Return the beginning of an error without the place it names first, which the reader sees beside it."""
    line = " ".join((error or "").split())
    for place in (source, scope):
        line = line.removeprefix(f"{place}: ")
    return short(line, most=most)


def date(moment: Date | None) -> str:
    """Return a date as people write it, in one piece: 15 Oct 2026; a dash where it is unknown."""
    return UNKNOWN if moment is None else f"{moment.day}{NBSP}{MONTHS[moment.month - 1]}{NBSP}{moment.year}"


def share(ratio: float | None) -> str:
    """Return a share without sign, in one piece: 61 %, 0.4 % where it is small, <0.1 % where it is next to nothing."""
    if ratio is None:
        return UNKNOWN
    if 0 < abs(ratio) < 0.0005:
        return f"<0.1{NBSP}%"
    places = 0 if abs(ratio) >= 0.0995 or not ratio else 1
    return f"{abs(ratio) * 100:.{places}f}{NBSP}%"


def signed(ratio: float) -> str:
    """Return a change as percent in one piece."""
    return percent(ratio).replace(" ", NBSP)


def near(moment: Date | None, built: Date) -> str:
    """Return a date without its year where that is the year of the page: 15 Oct."""
    return date(moment).removesuffix(f"{NBSP}{built.year}")


def dollars(value: float) -> str:
    """Return an amount of many dollars: 1.49 million, 86,000."""
    return f"{value / 1e6:,.2f}{NBSP}million" if value >= 1e6 else f"{value:,.0f}"


def plan(row: Mapping[str, Any]) -> str:
    """Return how a commitment is bought and paid, in few words: Compute plan, upfront; Reserved, no upfront."""
    plans = {"Compute": "Compute plan", "EC2Instance": "EC2 plan"}
    kind = "Reserved" if row["purchase_option"] == "reserved" else plans.get(row["commitment_discount_type"], "Plan")
    payment = {"All Upfront": "upfront", "Partial Upfront": "half upfront", "No Upfront": "no upfront"}
    return listed(kind, payment.get(row["purchase_payment_model"]))


def unseen(seen: Mapping[str, Any], chips: Sequence[str]) -> str:
    """Return where chips without any price were looked for, and when last: a row of front_unseen."""
    last = seen["last_good_at"]
    when = f", last searched {date(last)}" if last else ""
    where = f", in none of {count(seen['n_lists'], 'price list')}" if seen["n_lists"] else ""
    return f"{few(list(chips), most=9)}: unknown{where}{when}."
