"""Costs next to the chips, which no figure includes: what may be added, and the lines that it makes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.errors import SettingsError

NOT_INCLUDED = {name: name for name in ("egress", "storage", "support", "tax", "engineering")}
NOT_INCLUDED |= {"capital": "cost of capital"}
"""What no cost includes, and what may be added to it: a month's USD, or a share of the bill for chips."""
AMOUNT = re.compile(r"(\d+(?:\.\d+)?)(%?)")


@dataclass(frozen=True, kw_only=True)
class Added:
    """One cost next to the chips: its name, USD a month or a share of the bill for chips, and where it is stated."""

    name: str
    usd_per_month: float | None = None
    share: float | None = None
    origin: str = "--add"

    @classmethod
    def read(cls, name: str, amount: object, *, origin: str = "--add") -> "Added":
        """Return a cost of USD a month (5000) or a share ("10%"). Raises ValueError for anything else."""
        is_number = isinstance(amount, int | float) and not isinstance(amount, bool)
        match = AMOUNT.fullmatch(f"{amount:f}" if is_number else str(amount))
        if match is None or not (is_number or isinstance(amount, str)):
            raise ValueError('must be USD a month, such as 5000, or a share of the bill for chips, such as "10%"')
        if match[2]:
            return cls(name=name, share=float(match[1]) / 100, origin=origin)
        return cls(name=name, usd_per_month=float(match[1]), origin=origin)

    @property
    def words(self) -> str:
        """Return the cost for people."""
        if self.share is None:
            amount = f"{self.usd_per_month or 0:,.10g} USD a month"
        else:
            amount = f"{100 * self.share:.4g} % of the bill for chips"
        return f"{NOT_INCLUDED[self.name]}, {amount} ({self.origin})"


def stated(costs: Iterable[tuple[str, Added | None]], additions: Sequence[str]) -> tuple[Added, ...]:
    """Return the costs besides the chips: those of the settings, and over them those of NAME=AMOUNT."""
    found = {name: added for name, added in costs if added is not None}
    for text in additions:
        name, _, amount = text.partition("=")
        try:
            if name not in NOT_INCLUDED:
                raise ValueError(f"NAME is one of {', '.join(NOT_INCLUDED)}")
            found[name] = Added.read(name, amount)
        except ValueError as error:
            raise SettingsError("--add is not NAME=AMOUNT", field="--add", value=text, hint=str(error)) from error
    return tuple(found[name] for name in NOT_INCLUDED if name in found)


def lines(base: float | None, quantity: float | None, added: Sequence[Added]) -> dict[str, Any]:
    """Return a line for each added cost and the sum, in the unit of `base`; `quantity` of it is a month's."""
    if not added:
        return {}
    known = {}
    for each in added:
        if each.share is not None and base is not None:
            known[each.name] = base * each.share
        elif None not in (base, quantity, each.usd_per_month):
            known[each.name] = (each.usd_per_month or 0) / (quantity or 1)
    total = None if base is None or len(known) < len(added) else base + sum(known.values())
    return {f"added_{each.name}_usd": known.get(each.name) for each in added} | {"usd_with_added": total}


def addable(added: Sequence[Added], *, has_month: bool) -> tuple[Added, ...]:
    """Return the costs that can be added: a month's amount only where it is known what a month makes.

    Raises SettingsError where `--add` names one that cannot; one of the settings stays out, and excluded.
    """
    for each in added:
        if each.share is None and each.origin == "--add" and not has_month:
            message = "a month's amount needs --tokens-per-day to be shared out"
            raise SettingsError(message, field="--add", value=each.name, hint="Give a share instead, such as 10%")
    return tuple(each for each in added if has_month or each.share is not None)
