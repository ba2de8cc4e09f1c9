"""What a week says, in words: the subject, the sentence of news, and one line each of gaps, moves, standing and tokens.

All is plain text on one line without control characters; where it goes, it is escaped.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import polars as pl

from reports import wording
from reports.weekly_facts import WeekFacts

Row = Mapping[str, Any]

MOST_SUBJECT = 69
MOST_NAME = 80
LEAST_CHANGE = 0.01
"""Smaller moves are counted, not told, unless a setting says otherwise."""
LEAST_RATE = 0.005
"""Smaller moves of a rate of exchange are not told."""
MOST_PIECES, MOST_PROVIDERS = 3, 3
"""Of the sentence of news: sizes told of one provider, and providers."""
CATALOGUE = 6
"""From so many moves one way, and none the other, a provider's are told as one."""
LEAST_COVERAGE = 0.95
"""The share of a provider's list prices that a week must have confirmed, to say that the list did not change."""
SHORTER = {
    "AWS list unchanged": "AWS unchanged",
    "AWS list not checked": "AWS not checked",
    "AWS list partly checked": "AWS partly seen",
}
TROUBLED = {"missing": "never read", "stale": "stale", "retry": "not read last time"}


@dataclass(frozen=True, kw_only=True)
class Item:
    """One move in words: what, at whom, under which terms, where (empty: in several places), and the ratio.

    `rank` is the number of providers that sell the chip.
    """

    name: str
    provider: str
    option: str
    place: str
    ratio: float
    rank: int

    @property
    def weight(self) -> float:
        """Return what the order of moves goes by: the size of the move, and how many sell the chip."""
        return abs(self.ratio) * sqrt(1 + self.rank)


def line(text: object) -> str:
    """Return text from outside on one line, without control, format or private characters."""
    joined = " ".join(str(text).split())
    return "".join(c for c in joined if unicodedata.category(c)[0] != "C")


def brief(text: object) -> str:
    """Return a name from outside on one line, cut where it is longer than any name is."""
    return wording.short(line(text), most=MOST_NAME)


def name_of(row: Row) -> str:
    """Return what moved: AWS's instance type with its chip, or the chip with its form."""
    chip = " ".join(part for part in (row["accelerator_name"], row["form_factor"]) if part)
    if row["offered"] is None:
        return brief(chip)
    return brief(f"{row['offered']} ({chip})" if chip and chip != row["offered"] else row["offered"])


def terms_of(row: Row) -> str:
    """Return provider, purchase option and tier of a move."""
    option = wording.option(
        row["purchase_option"],
        term_hours=row["commitment_term_hours"],
        payment=row["purchase_payment_model"],
        offering_class=row["offering_class"] if row["offering_class"] != "standard" else None,
    )
    return brief(", ".join(part for part in (row["service_provider_name"], option, row["tier"]) if part))


def items(moves: pl.DataFrame, *, least: float, short: bool = False) -> list[Item]:
    """Return the moves of list prices in words, without those smaller than `least`; AWS's types alone where short."""
    told = []
    for row in moves.iter_rows(named=True):
        ratio = row["change_ratio"]
        if row["change_kind"] == "list_change" and ratio is not None and abs(ratio) >= least:
            option = wording.option(row["purchase_option"], term_hours=row["commitment_term_hours"])
            told.append(
                Item(
                    name=brief(row["offered"]) if short and row["offered"] else name_of(row),
                    provider=brief(row["service_provider_name"]),
                    option="" if row["purchase_option"] == "on_demand" else option,
                    place=brief(row["regions"][0]) if len(row["regions"] or ()) == 1 else "",
                    ratio=ratio,
                    rank=row["n_providers"],
                )
            )
    return told


def subject(found: WeekFacts, *, least: float = LEAST_CHANGE) -> str:
    """Return the news in less than 70 characters: who moved what by how much, and whether AWS's list did.

    As much of the first provider's moves is told as fits; how many are left out stands behind a plus sign.
    """
    behind = unread(found)
    last = [f"{wording.count(behind, 'scope')} unread"] if behind else []
    told = sentences(items(found.moves, least=least, short=True), with_places=False)
    if not told:
        small = found.lists.height
        start = wording.count(small, "small list move") if small else "No list price moved"
        checked = f"{start} in {found.week}; {wording.count(checked_prices(found), 'price')} checked"
        return _joined([checked if checked_prices(found) else f"Nothing was checked in {found.week}", *last])
    tail = aws_tail(found)
    tails = [[each, *last] for each in (tail, SHORTER.get(tail, "")) if each] or [last]
    first, *others = told
    for best in reversed(first):
        for end in tails:
            if len(_plain([best, *end])) <= MOST_SUBJECT:
                fitting = next((m for m, *_ in others if len(_plain([best, m, *end])) <= MOST_SUBJECT), None)
                return _plain([best, *([fitting] if fitting else []), *end])
    return _joined([_cut(first[0], MOST_SUBJECT), *tails[-1]])


def headline(found: WeekFacts, *, least: float = LEAST_CHANGE, short: bool = False) -> str:
    """Return the sentence of news: what list prices moved, with whom, and how many prices were checked for it."""
    if not checked_prices(found):
        return f"Nothing was checked in {found.week}: no price was confirmed, so nothing can be said to have held."
    told = [variants[:MOST_PIECES][-1] for variants in sentences(items(found.moves, least=least, short=short))]
    left = len(told) - MOST_PROVIDERS
    told = [*told[:MOST_PROVIDERS], *([f"{wording.count(left, 'other list')} moved"] if left > 0 else [])]
    if told and (tail := aws_tail(found)):
        told.append(tail)
    if not told:
        told.append("No list price moved" if not found.lists.height else "No list price moved by much")
    return f"{'; '.join(told)}; {wording.count(checked_prices(found), 'price')} checked."


def also(found: WeekFacts, *, least: float = LEAST_CHANGE) -> str:
    """Return what else happened in a sentence: small moves, what came and went, what moves by itself, doubts."""
    small = found.lists.height - len(items(found.moves, least=least))
    told = [*([wording.count(small, "smaller list move")] if small else []), *_came_and_went(found)]
    if drifting := int(found.drifting["n_moves"].sum()):
        told.append(f"{wording.count(drifting, 'move')} of spot and market prices")
    for row in found.currency.iter_rows(named=True):
        if abs(row["rate_change"]) >= LEAST_RATE:
            change = wording.percent(row["rate_change"])
            told.append(f"{line(row['pricing_currency'])} prices {change} in dollars by the rate alone")
    if found.doubts.height:
        words = ("correction or suspected error left out", "corrections and suspected errors left out")
        told.append(wording.count(found.doubts.height, *words))
    return f"{'; '.join(told)}." if told else "Nothing came and nothing went."


def checked_prices(found: WeekFacts) -> int:
    """Return how many prices the week's looks confirmed."""
    return int(found.checked["n_checked"].sum())


def unread(found: WeekFacts) -> int:
    """Return how many scopes of live sources had no good look when the week ended."""
    return found.scopes.filter((pl.col("kind") == "live") & pl.col("state").is_in([*TROUBLED])).height


def aws_tail(found: WeekFacts) -> str:
    """Return what may be said of AWS's list where none of it moved: unchanged only where nearly all was checked."""
    if found.lists.filter(pl.col("service_provider_name") == "AWS").height:
        return ""
    rows = found.checked.filter(pl.col("service_provider_name") == "AWS")
    if not rows.height or not rows["n_listed_checked"].item():
        return "AWS list not checked"
    share = rows["n_listed_checked"].item() / rows["n_listed"].item()
    return "AWS list unchanged" if share >= LEAST_COVERAGE else "AWS list partly checked"


def sentences(told: Sequence[Item], *, with_places: bool = True) -> list[list[str]]:
    """Return for each provider and option its moves in words, the shortest way first and the whole last.

    AWS stands first, then the weightiest move. Moves of the same size in whole percent stand together.
    """
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in told:
        groups.setdefault((item.provider, item.option), []).append(item)
    order = sorted(
        groups.items(),
        key=lambda group: (group[0][0] != "AWS", group[0][1] != "", -max(item.weight for item in group[1]), group[0]),
    )
    made = []
    for (provider, option), moved in order:
        variants = _of_provider(provider, option, moved)
        places = {item.place for item in moved}
        if with_places and len(places) == 1 and "" not in places:
            variants[-1] += f" in {places.pop()}"
        made.append(variants)
    return made


def gaps(found: WeekFacts) -> list[str]:
    """Return what was not read or not seen, and is therefore in no conclusion; worst first, empty where nothing is."""
    told = []
    live = found.scopes.filter(pl.col("kind") == "live")
    for state, words in TROUBLED.items():
        places = [
            f"{row['source']} {row['scope']}" for row in live.filter(pl.col("state") == state).iter_rows(named=True)
        ]
        if places:
            told.append(line(f"{wording.count(len(places), 'scope')} {words} ({wording.few(places, most=2)})"))
    if silent := [
        row["service_provider_name"] for row in found.checked.filter(pl.col("n_checked") == 0).iter_rows(named=True)
    ]:
        told.append(line(f"{wording.count(len(silent), 'provider')} not seen ({wording.few(silent, most=3)})"))
    part = found.checked.filter(
        (pl.col("n_checked") > 0) & (pl.col("n_listed_checked") < LEAST_COVERAGE * pl.col("n_listed"))
    )
    for row in part.filter(pl.col("service_provider_name") == "AWS").iter_rows(named=True):
        told.append(f"AWS: {row['n_listed_checked']:,} of {wording.count(row['n_listed'], 'list price')} seen")
    others = part.filter(pl.col("service_provider_name") != "AWS").height
    if others:
        told.append(f"{wording.count(others, 'other provider')} seen in part")
    if found.refused.height:
        told.append(f"{wording.count(found.refused.height, 'row')} refused, in no number")
    n_late, earliest = found.late
    if n_late:
        told.append(f"{wording.count(n_late, 'change')} of earlier weeks learnt now, from {wording.day(earliest)} on")
    return told


def checks(found: WeekFacts) -> list[str]:
    """Return how many truth checks newly differ, and the first of them; empty where none does."""
    if not found.checks:
        return []
    row, n = found.checks[0], len(found.checks)
    how = f"{wording.count(n, 'truth check')} newly {'differs' if n == 1 else 'differ'}"
    return [
        line(f"{how}: {row['check_name']}, {brief(row['subject'])}, {row['n_differing']:,} of {row['n_compared']:,}")
    ]


def moved(found: WeekFacts, *, least: float = LEAST_CHANGE) -> list[str]:
    """Return the moves of list prices, each as what, was, now and percent, the most sold first."""
    rows = [row for row in found.lists.iter_rows(named=True) if abs(row["change_ratio"] or 0.0) >= least]
    rows.sort(key=lambda row: -abs(row["change_ratio"]) * sqrt(1 + row["n_providers"]))
    return [_was_now(row) for row in rows]


def _was_now(row: Row) -> str:
    """Return a move in short, on demand and in dollars unless it says: H100 PCIe RunPod 2.39 to 2.89, +20.9 %."""
    before, after = amounts(row)
    option = "" if row["purchase_option"] == "on_demand" else terms_of({**row, "service_provider_name": "", "tier": ""})
    currency = "" if row["pricing_currency"] == "USD" else f" {row['pricing_currency']}"
    words = (name_of(row), row["service_provider_name"], row["tier"], option)
    told = " ".join(each for each in words if each)
    return line(f"{told} {before} to {after}{currency}, {wording.percent(row['change_ratio'])}")


def amounts(row: Row) -> tuple[str, str]:
    """Return the two prices of a move with as many places as it takes to tell them apart."""
    places = wording.places_of_pairs([(row["price_before"], row["price_after"])])
    return wording.amount(row["price_before"], places), wording.amount(row["price_after"], places)


def stand(found: WeekFacts) -> list[str]:
    """Return where the chips most sold stood on demand: the cheapest seen in the week, by whom, and AWS."""
    told = []
    for row in found.stand.iter_rows(named=True):
        chip = " ".join(part for part in (row["accelerator_name"], row["form_factor"]) if part)
        places = wording.places_of([row["cheapest_price_usd"], row["aws_price_usd"]])
        text = f"{chip} {wording.amount(row['cheapest_price_usd'], places)} {row['cheapest_provider']}"
        if row["aws_price_usd"] is not None and row["cheapest_provider"] != "AWS":
            text += f" (AWS {wording.amount(row['aws_price_usd'], places)}{dated(found, row)})"
        told.append(line(text))
    return told


def dated(found: WeekFacts, row: Row) -> str:
    """Return the date of AWS's price where it was not confirmed in the week."""
    seen = row["aws_last_observed_at"]
    return f" of {wording.day(seen)}" if seen < found.week.since else ""


def token(found: WeekFacts, *, whole: bool = True) -> str:
    """Return what a million tokens costs, with the grade of its evidence, or why it is not told; in short, or whole."""
    if not found.token.height:
        return "no price of five weeks to tell it by" if found.is_newest else "told for the newest week only"
    row = found.token.row(0, named=True)
    low, middle, high = (
        f"{row[f'all_in_output_usd_{side}']:#.3g}" if row[f"all_in_output_usd_{side}"] is not None else wording.UNKNOWN
        for side in ("low", "median", "high")
    )
    chip = " ".join(part for part in (row["accelerator_name"], row["form_factor"]) if part)
    age = "" if row["is_current"] else f", price of {wording.day(row['last_observed_at'])}"
    if not whole:
        who, grade = row["service_provider_name"], row["evidence_grade"]
        return line(f"{middle} USD/M output, {row['model_name']} on {chip}, {who}, grade {grade}")
    return line(
        f"{middle} USD per million output tokens ({low} to {high}): {row['model_name']}, {row['benchmark']} "
        f"{row['scenario']}, on {chip} on demand at {row['service_provider_name']}, {row['utilisation'] * 100:.0f} % "
        f"used; grade {row['evidence_grade']}{age}"
    )


def _of_provider(provider: str, option: str, moved: list[Item]) -> list[str]:
    who = f"{provider} {{verb}} {option} " if option else f"{provider} {{verb}} "
    ways = {"raised": [m for m in moved if m.ratio > 0], "cut": [m for m in moved if m.ratio < 0]}
    (verb, main), (other_verb, other) = sorted(
        ways.items(), key=lambda way: -max([m.weight for m in way[1]], default=0)
    )
    if len(main) >= CATALOGUE and not other:
        shares = sorted(abs(item.ratio) for item in main)
        best = max(main, key=lambda item: (item.rank, item.weight))
        span = _percent(shares[0]) if _percent(shares[0]) == _percent(shares[-1]) else (
            f"{_percent(shares[0]).removesuffix(' %')} to {_percent(shares[-1])}"
        )  # fmt: skip
        start = f"{who.format(verb=verb)}{len(main)} list prices {span}"
        return [start, f"{start}, {best.name} {_percent(abs(best.ratio))}"]
    pieces = [f"{who.format(verb=verb)}{_alike(main)[0]}", *(f", {each}" for each in _alike(main)[1:])]
    if other:
        first, *more = _alike(other)
        pieces += [f"; {other_verb} {first}", *(f", {each}" for each in more)]
    return _shortened(pieces)


def _alike(moved: Iterable[Item]) -> list[str]:
    """Return moves as words, those of the same whole percent together: H100/H200 SXM 10 %."""
    names: dict[str, list[str]] = {}
    for item in sorted(moved, key=lambda item: (-item.weight, item.name)):
        names.setdefault(_percent(abs(item.ratio)), []).append(item.name)
    return [f"{_merged(list(dict.fromkeys(who)))} {share}" for share, who in names.items()]


def _merged(names: list[str]) -> str:
    """Return names as one, with what all end in told once: p4d/p4de.24xlarge, H100/H200 SXM."""
    ends = {re.sub(r"^[^ .(]*", "", name) for name in names}
    if len(names) == 1 or len(ends) > 1:
        return "/".join(names)
    end = ends.pop()
    return "/".join(name.removesuffix(end) for name in names) + end


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %" if share >= 0.01 else f"{share * 100:.1f} %"


def _shortened(pieces: list[str]) -> list[str]:
    """Return a sentence with one piece, with two, and so on; what is left out is counted."""
    made = []
    for n in range(1, len(pieces) + 1):
        left = len(pieces) - n
        made.append("".join(pieces[:n]) + (f", +{left}" if left else ""))
    return made


def _came_and_went(found: WeekFacts) -> list[str]:
    kinds = {"gone_offer": "gone", "new_offer": "new", "returned_offer": "back"}
    counts = found.offers.group_by("change_kind").agg(pl.col("n_offers").sum())
    by_kind = dict(counts.iter_rows())
    return [f"{wording.count(by_kind[kind], 'offer')} {word}" for kind, word in kinds.items() if kind in by_kind]


def _plain(parts: Sequence[str]) -> str:
    return "; ".join(parts)


def _joined(parts: Sequence[str]) -> str:
    """Return as many parts as fit into a subject, the first one cut where it must be."""
    text = parts[0]
    for part in parts[1:]:
        text = f"{text}; {part}" if len(f"{text}; {part}") <= MOST_SUBJECT else text
    return _cut(text, MOST_SUBJECT)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3].rstrip()}..."
