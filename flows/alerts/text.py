"""The text of alerts: a title and lines of plain text, which mean nothing more in Markdown, HTML or a chat's own
markup.

Text from outside keeps letters, digits and a few signs; whatever could make a link, a mention, a picture or a tag of it
becomes a question mark. So the same words go to every service, however it reads them.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flows.alerts.findings import Item
from reports import wording

Row = Mapping[str, Any]

LONGEST_NAME = 80
SIGNS = " .,;+-/()_%'"
VERDICTS = {"physically_impossible": "physically impossible"}


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of one kind: its title, its text, and the ids of its items."""

    kind: str
    title: str
    text: str
    ids: tuple[str, ...]


def safe(text: object) -> str:
    """Return text from outside on one line, without any character that a mail or chat program would act on."""
    normal = unicodedata.normalize("NFKC", str(text))
    line = " ".join("".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in normal).split())
    kept = "".join(c if c.isalnum() or c in SIGNS else "?" for c in line)
    # Two slashes make an address, www. one without them.
    return wording.short(re.sub(r"(?i)\bwww\.", "www ", re.sub(r"/{2,}", "/", kept)), most=LONGEST_NAME)


def message(kind: str, items: Sequence[Item], *, least: float, stale_days: float) -> Message:
    """Return all items of one kind as one message."""
    facts = [item.fact for item in items]
    title, lines = {
        "move": lambda: _moves(facts, least),
        "chip": lambda: _chips(facts),
        "stale": lambda: _stale(facts, stale_days),
        "claim": lambda: _claims(facts),
    }[kind]()
    text = "\n".join([*(f"- {line}" for line in lines), "", NOTES[kind]])
    return Message(kind=kind, title=f"chipledger: {title}", text=text, ids=tuple(item.id for item in items))


NOTES = {
    "move": "List prices per chip-hour. A move is provisional for a week: "
    "if the old price is back by then, it is reported as reverted.",
    "chip": "No live source priced it before. An unknown name is shown as its provider writes it.",
    "stale": "Prices of these places are not current. `chipledger doctor` says what is wrong.",
    "claim": "Verdicts of today, by prices of today. `chipledger audit` gives the arithmetic.",
}


def _moves(facts: Sequence[Row], least: float) -> tuple[str, list[str]]:
    """Return moves in words, those of several places and sizes that moved alike in one line, the largest first."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for fact in facts:
        same = (
            "service_provider_name",
            "offered",
            "form_factor",
            "purchase_option",
            "commitment_term_hours",
            "purchase_payment_model",
            "tier",
            "pricing_currency",
            "is_taken_back",
        )
        key = (*(fact.get(name) for name in same), *(f"{fact[side]:.6g}" for side in ("price_before", "price_after")))
        groups.setdefault(key, []).append(fact)
    moves = sorted(groups.values(), key=lambda group: -abs(group[0]["change_ratio"]))
    n_back = sum(bool(group[0].get("is_taken_back")) for group in moves)
    n_moves = len(moves) - n_back
    parts = [f"{wording.count(n_moves, 'list price')} moved by {least * 100:g} % or more"] if n_moves else []
    parts += [f"{wording.count(n_back, 'move')} reverted"] if n_back else []
    return "; ".join(parts), [_move(group) for group in moves]


def _move(group: Sequence[Row]) -> str:
    fact = group[0]
    places = wording.places_of_pairs([(fact["price_before"], fact["price_after"])])
    option = wording.option(
        fact["purchase_option"], term_hours=fact["commitment_term_hours"], payment=fact["purchase_payment_model"]
    )
    chip = " ".join(part for part in (fact["accelerator_name"], fact["form_factor"]) if part)
    what = safe(fact["offered"]) + (f" ({safe(chip)})" if chip and fact["offered"] != fact["accelerator_name"] else "")
    if fact["offered"] == fact["accelerator_name"]:
        what = safe(chip)
    words = [safe(fact["service_provider_name"]), what, safe(option), *([safe(fact["tier"])] if fact["tier"] else [])]
    regions = sorted({safe(each["region_id"]) for each in group if each["region_id"]})
    where = f" in {wording.few(regions)}" if regions else ""
    unit = "chip-hour" if fact["is_per_chip"] else "machine-hour"
    before, after = (wording.amount(fact[side], places) for side in ("price_before", "price_after"))
    change = wording.percent(fact["change_ratio"])
    seen = min(datetime.fromisoformat(each["observed_at"]) for each in group)
    end = "; reverted within a week, so not a move" if fact.get("is_taken_back") else ""
    amounts = f"{before} to {after} {safe(fact['pricing_currency'])} per {unit}"
    return f"{', '.join(words)}{where}: {amounts}, {change}, seen {wording.minute(seen)}{end}"


def _chips(facts: Sequence[Row]) -> tuple[str, list[str]]:
    known = [fact for fact in facts if not fact["is_unknown"]]
    parts = [f"new chip: {wording.few([safe(fact['chip']) for fact in known])}"] if known else []
    if len(facts) > len(known):
        parts.append(wording.count(len(facts) - len(known), "new name of no known chip", "new names of no known chip"))
    lines = [
        f"{safe(fact['chip'])}{', a name of no known chip' if fact['is_unknown'] else ''}, "
        f"at {wording.few([safe(name) for name in fact['providers']])}: {wording.count(fact['n_offers'], 'price')}, "
        f"first seen {wording.minute(datetime.fromisoformat(fact['first_seen_at']))}"
        for fact in facts
    ]
    return "; ".join(parts), lines


def _stale(facts: Sequence[Row], stale_days: float) -> tuple[str, list[str]]:
    """Return stale scopes in words, one line for each source and day on which it was last read."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for fact in facts:
        last = fact["last_good_at"]
        groups.setdefault((fact["source"], wording.day(datetime.fromisoformat(last)) if last else ""), []).append(fact)
    sources = sorted({source for source, _ in groups})
    names = wording.few([safe(source) for source in sources])
    title = f"{wording.count(len(sources), 'source')} not read for {stale_days:g} days: {names}"
    lines = [
        f"{safe(source)}: {wording.few([safe(fact['scope']) for fact in group], most=8)} "
        f"({wording.count(len(group), 'scope')}), {f'last read {last}' if last else 'never read'}"
        for (source, last), group in groups.items()
    ]
    return title, lines


def _claims(facts: Sequence[Row]) -> tuple[str, list[str]]:
    lines = []
    for fact in facts:
        before, after = (safe(VERDICTS.get(name, name)) for name in (fact["verdict_before"], fact["verdict_today"]))
        value = fact["recomputed_value"]
        ours = f"; recomputed {value:.4g}" if value is not None else ""
        claim_text = f"{safe(fact['metric'])} {safe(fact['claimed'])} ({safe(fact['article'])})"
        lines.append(f"{safe(fact['claim_id'])}: {before} became {after}: {claim_text}{ours}")
    return f"{wording.count(len(facts), 'claim')} with another verdict", lines
