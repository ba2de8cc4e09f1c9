"""Edits of a document, and what a source made of each: refused it, read what still stands there, or made a row up.

A row made up is one whose identity and price stand neither in what the document gave before it was edited nor in what
the edit itself added to it. Some edits no reader could tell, such as the exchange of two prices: they are only counted.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from extract.base import Parsed
from warehouse.errors import LayoutChanged
from warehouse.log.gates import row_gate
from warehouse.schema.tables import IDENTITY

KEY = (*IDENTITY, "unit_price", "upfront_price")
QUANTILES = ("p25", "median")
HARM, HARMLESS, BLIND = "harm", "harmless", "blind"

Row = tuple[object, ...]
Parse = Callable[[bytes], Parsed]
Quantiles = Callable[..., set[tuple[str, ...]]]
"""What the quantiles of a document should be, as in neoclouds.markets."""


@dataclass(frozen=True, kw_only=True)
class Edit:
    """An edited document.

    `judged` HARM: no row may be made up, and to refuse it is right. HARMLESS: neither, but to refuse it is a pity.
    BLIND: no reader can tell it. `renamed` are texts that the edit put in place of others: rows that carry them are no
    invention. `added` are the rows of which it put in a copy with these texts; they must come out.
    """

    kind: str
    body: bytes
    judged: str = HARM
    renamed: tuple[tuple[str, str], ...] = ()
    added: frozenset[Row] = frozenset()


@dataclass(kw_only=True)
class Tally:
    """What became of the edits of a document, by kind: how often each was tried, refused, read right, read wrong.

    `by_row` counts those of which the row concerned was refused and the others were read right. `examples` are edits
    that were read wrong, `pities` harmless ones that were not read right, each with what came.
    """

    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    by_row: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    untold: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[Edit, str]] = field(default_factory=list)
    pities: list[tuple[Edit, str]] = field(default_factory=list)
    uncompared: int = 0

    def add(self, other: "Tally") -> None:
        """Add what became of the edits of another document."""
        for name in ("tried", "refused", "by_row", "right", "wrong", "untold"):
            getattr(self, name).update(getattr(other, name))
        self.examples += other.examples
        self.pities += other.pities
        self.uncompared += other.uncompared

    def share(self, kinds: Iterable[str]) -> float | None:
        """Return the share of the edits of these kinds that were read right; None where there were none."""
        names = list(kinds)
        tried = sum(self.tried[name] for name in names)
        return sum(self.right[name] for name in names) / tried if tried else None


def keys(parsed: Parsed) -> set[Row]:
    """Return identity and price of each row."""
    return set(parsed.rows.select(KEY).rows())


def tally(
    parse: Parse, body: bytes, edits: Iterable[Edit], *, quantiles: Quantiles | None = None
) -> tuple[Tally, frozenset[str]]:
    """Return what became of the edits of a document, and which kinds of them were harmless."""
    before = keys(parse(body))
    result = Tally()
    harmless = set()
    for edit in edits:
        result.tried[edit.kind] += 1
        if edit.judged == HARMLESS:
            harmless.add(edit.kind)
        try:
            parsed = parse(edit.body)
        except LayoutChanged as error:
            result.refused[edit.kind] += 1
            result.pities += [(edit, str(error))] if edit.judged == HARMLESS else []
            continue
        except Exception as error:  # noqa: BLE001 - any other error of a parser is a finding, and not the test's end
            result.wrong[edit.kind] += 1
            result.examples.append((edit, repr(error)))
            continue
        after = keys(parsed)
        if _contradicts(after):
            # The batch gate refuses a look at which one offer has two prices.
            result.refused[edit.kind] += 1
            continue
        invented = [row for row in after - before if not _is_allowed(row, before, edit)]
        invented, uncompared = _without_quantiles(invented, edit.body, quantiles, [one.field for one in parsed.refused])
        result.uncompared += uncompared
        if invented and (invented := _past_the_gate(parsed, invented)):
            if edit.judged == BLIND:
                result.untold[edit.kind] += 1
            else:
                result.wrong[edit.kind] += 1
                result.examples.append((edit, str([dict(named(row)) for row in invented[:2]])))
        elif parsed.refused:
            result.by_row[edit.kind] += 1
            result.pities += [(edit, parsed.refused[0].reason)] if edit.judged == HARMLESS else []
        elif before <= after and (not edit.added or after > before):
            result.right[edit.kind] += 1
        elif edit.judged == HARMLESS:
            result.pities.append((edit, f"lost: {[dict(named(row)) for row in list(before - after)[:2]]}"))
    return result, frozenset(harmless)


def named(row: Row) -> Iterator[tuple[str, object]]:
    """Yield the columns of a row that are not NULL."""
    yield from ((name, value) for name, value in zip(KEY, row, strict=True) if value is not None)


def _contradicts(rows: set[Row]) -> bool:
    return len({row[: len(IDENTITY)] for row in rows}) < len(rows)


def _is_allowed(row: Row, before: set[Row], edit: Edit) -> bool:
    """Return whether a row is one of before, but for the texts that the edit put in place of others."""
    sources = edit.added or (before if edit.renamed else set())
    return any(
        all(new == old or new in _renamed(old, edit.renamed) for new, old in zip(row, one, strict=True))
        for one in sources
    )


def _renamed(value: object, renamed: tuple[tuple[str, str], ...]) -> list[str]:
    if not isinstance(value, str):
        return []
    every, found = value, []
    for old, new in renamed:
        found.append(_tidy(value.replace(old, new)))
        every = _tidy(every.replace(old, new))
    return [*found, every]


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _without_quantiles(
    rows: list[Row], body: bytes, quantiles: Quantiles | None, refused: list[str]
) -> tuple[list[Row], int]:
    """Return the rows that are made up, and how many quantiles could not be recomputed.

    To take a machine away changes a quantile as it should. Which it is then, is computed from the edited document.
    """
    place, price = KEY.index("statistic"), KEY.index("unit_price")
    others = [row for row in rows if row[place] not in QUANTILES]
    of_markets = [row for row in rows if row[place] in QUANTILES]
    if not of_markets or quantiles is None:
        return others, len(of_markets)
    columns = [KEY.index(name) for name in ("accelerator_label", "purchase_option", "tier", "region_id", "statistic")]
    expected = quantiles(body, refused)
    return others + [
        row for row in of_markets if (*(str(row[column]) for column in columns), str(row[price])) not in expected
    ], 0


def _past_the_gate(parsed: Parsed, invented: list[Row]) -> list[Row]:
    """Return the rows that the row gate, which stands before the log, would let through."""
    refused = {refusal.row for refusal in row_gate(parsed.rows)[1]}
    kept = {row for number, row in enumerate(parsed.rows.select(KEY).rows()) if number not in refused}
    return [row for row in invented if row in kept]


def table(tallies: Mapping[str, Tally], harmless: Iterable[str]) -> str:
    """Return the tallies as a table for people, a line for each document, and one for all of them."""
    names = sorted(harmless)
    every = Tally()
    lines = [
        f"{'source':<16}{'edits':>7}{'wrong':>7}{'refused':>9}{'by row':>8}{'untold':>8}{'not compared':>14}"
        f"{'harmless right':>16}"
    ]
    for one in tallies.values():
        every.add(one)
    for name, one in [*tallies.items(), ("all", every)]:
        share = one.share(names)
        lines.append(
            f"{name:<16}{one.tried.total():>7}{one.wrong.total():>7}{one.refused.total():>9}{one.by_row.total():>8}"
            f"{one.untold.total():>8}"
            f"{one.uncompared:>14}{'-' if share is None else f'{share:.3f}':>16}"
        )
    lines += ["", f"{'kind':<34}{'edits':>7}{'wrong':>7}{'refused':>9}{'by row':>8}{'untold':>8}{'right':>8}"]
    lines += [
        f"{kind + (' (harmless)' if kind in names else ''):<34}{every.tried[kind]:>7}{every.wrong[kind]:>7}"
        f"{every.refused[kind]:>9}{every.by_row[kind]:>8}{every.untold[kind]:>8}{every.right[kind]:>8}"
        for kind in sorted(every.tried)
    ]
    return "\n".join(lines)


def draw(
    kinds: Mapping[str, Callable[[random.Random], Edit | None]], rng: random.Random, number: int
) -> Iterator[Edit]:
    """Yield edits, of each kind in its turn; a kind that does not fit the document is passed over."""
    names = sorted(kinds)
    rng.shuffle(names)
    for turn in range(number * 3):
        if number <= 0 or not names:
            return
        edit = kinds[names[turn % len(names)]](rng)
        if edit is not None:
            number -= 1
            yield edit
