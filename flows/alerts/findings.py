"""Findings worth an alert: what the published file has now, compared with what was known before, and its text.

All is computed from the file and the lines of `alerts.jsonl`; nothing is sent here. The first fetch of a kind sets its
baseline and sends nothing.

A message is a title and lines of plain text, which mean nothing more in Markdown, HTML or a chat's own markup: text
from outside keeps letters, digits and a few signs, and whatever could make a link, a mention, a picture or a tag of it
becomes a question mark.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from flows.config.settings import AlertSettings
from flows.shared.query import columns
from reports import queries, wording

Row = Mapping[str, Any]
Entry = Mapping[str, Any]

MAX_AGE = timedelta(days=7)
"""A move that is learnt later than this is history; one that waited for its confirmation is sent."""
NEEDS = {"move": "price_change", "chip": "accelerator_hour_price", "stale": "source_health", "claim": "claim_audit"}
"""The mart that each kind is read from; a file without it says nothing of that kind."""
BACK = " back"
MAX_NAME = 80
SIGNS = " .,;+-/()_%'"
VERDICTS = {"physically_impossible": "physically impossible"}
MOVES = "select offer_id, observed_at from int.price_change where change_kind = 'list_change' and observed_at >= ?"
STALE = "select source, scope, last_good_at from int.source_health"
SAME_MOVE = columns(
    "service_provider_name, offered, form_factor, purchase_option, commitment_term_hours, purchase_payment_model, "
    "tier, pricing_currency, is_taken_back"
)
"""Moves with these and both prices alike are one line."""
NOTES = {
    "move": "List prices per chip-hour. A move is provisional for a week: "
    "if the old price is back by then, it is reported as reverted.",
    "chip": "No live source priced it before. An unknown name is shown as its provider writes it.",
    "stale": "Prices of these places are not current. `chipledger doctor` says what is wrong.",
    "claim": "Verdicts of today, by prices of today. `chipledger audit` gives the arithmetic.",
}


@dataclass(frozen=True, kw_only=True)
class Item:
    """One finding: its kind, its lasting id, and its facts."""

    kind: str
    id: str
    fact: Row


@dataclass
class State:
    """What the lines say: what is known of each kind, since when, what was sent, and to which channel.

    `since`: when the file was built of which the baseline was made. `outcomes`: of each channel, kind and id what
    became of it last. `joined`: how many items there were when a channel first appeared; it gets the later ones.
    `sent_on`: the last day on which a channel got a message of a kind.
    """

    since: dict[str, datetime] = field(default_factory=dict)
    known: dict[str, dict[str, str]] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    joined: dict[str, int] = field(default_factory=dict)
    outcomes: dict[tuple[str, str, str], str] = field(default_factory=dict)
    sent_on: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        """Take one line into account."""
        what = entry["what"]
        if what in ("baseline", "known", "news"):
            if what == "baseline":
                self.since[entry["kind"]] = datetime.fromisoformat(entry["built_at"])
            self.known.setdefault(entry["kind"], {}).update(entry["known"])
            new = entry["items"] if what == "news" else ()
            self.items += [Item(kind=entry["kind"], id=each["id"], fact=each["fact"]) for each in new]
        elif what == "channel":
            self.joined.setdefault(entry["channel"], len(self.items))
        else:
            for name in entry["ids"]:
                self.outcomes[entry["channel"], entry["kind"], name] = what
            if what != "failed":
                self.sent_on[entry["channel"], entry["kind"]] = entry["at"][:10]
            elif self.sent_on.get((entry["channel"], entry["kind"])) == entry["at"][:10]:
                # It failed, so that it was no message of this day.
                del self.sent_on[entry["channel"], entry["kind"]]

    def due(self, channel: str, kind: str, today: str) -> list[Item]:
        """Return the items of a kind that a channel has not received; none if it got a message of that kind today."""
        if self.sent_on.get((channel, kind)) == today:
            return []

        def has(name: str) -> bool:
            return self.outcomes.get((channel, kind, name), "failed") != "failed"

        later = (item for item in self.items[self.joined.get(channel, len(self.items)) :] if item.kind == kind)
        # Who was not sent a move need not learn that it was none.
        return [
            item
            for item in later
            if not has(item.id) and (not item.id.endswith(BACK) or has(item.id.removesuffix(BACK)))
        ]

    def unanswered(self, channel: str) -> dict[str, list[str]]:
        """Return the ids, by kind, that were handed over to a channel by a process which did not live to say more."""
        ids: dict[str, list[str]] = {}
        for (to, kind, name), what in self.outcomes.items():
            if to == channel and what == "handing":
                ids.setdefault(kind, []).append(name)
        return ids


def news(file: Path, state: State, chosen: AlertSettings, *, at: datetime) -> list[dict[str, Any]]:
    """Return the lines to add: of each kind a baseline where it is seen for the first time, else what is new.

    The published file is read only; `at` is aware.
    """
    found = []
    with duckdb.connect(str(file), read_only=True) as con:
        built_at: datetime = con.execute("select built_at from meta.build").fetchall()[0][0]
        marts = queries.marts(con)
        for kind in (each for each in chosen.kinds if NEEDS[each] in marts):
            values = {
                "since": max(state.since.get(kind, built_at), built_at - MAX_AGE),
                "now": at.astimezone(UTC).replace(tzinfo=None),
                "days": chosen.stale_days,
            }
            rows = queries.ask(con, f"alert_{kind}", **values)
            if kind == "chip" and not rows and kind not in state.since:
                continue  # nothing before any live source has priced a chip
            known = state.known.get(kind, {})
            items = [(name, fact) for name, fact in _candidates(kind, rows, known, chosen, at) if name not in known]
            now_known = _verdicts(rows, known) if kind == "claim" else dict.fromkeys((name for name, _ in items), "")
            entry: dict[str, Any] = {"kind": kind, "at": at.astimezone(UTC).isoformat(), "known": now_known}
            if kind not in state.since:
                found.append({"what": "baseline", "built_at": built_at.isoformat(), **entry})
            elif items:
                shown = [{"id": name, "fact": _plain(fact)} for name, fact in items]
                found.append({"what": "news", **entry, "items": shown})
            elif now_known:
                found.append({"what": "known", **entry})
    return found


def held(file: Path, due: Sequence[Item]) -> list[Item]:
    """Return the items of one kind that still hold: no move whose price was withdrawn, no scope that was read since."""
    kind = due[0].kind if due else ""
    if kind not in ("move", "stale"):
        return list(due)
    with duckdb.connect(str(file), read_only=True) as con:
        if kind == "move":
            moves = con.execute(MOVES, [min(item.fact["observed_at"] for item in due)]).fetchall()
            there = {f"{offer_id} {at.isoformat()}" for offer_id, at in moves}
        else:
            there = {_stale_id(*row) for row in con.execute(STALE).fetchall()}
    return [item for item in due if item.id in there or item.id.endswith(BACK)]


def _stale_id(source: str, scope: str, last_good_at: datetime | None) -> str:
    return f"{source} {scope} {last_good_at or 'never'}"


def _candidates(
    kind: str, rows: Iterable[Row], known: Mapping[str, str], chosen: AlertSettings, at: datetime
) -> Iterator[tuple[str, Row]]:
    """Yield what may be news, by a lasting id: what is known by its id is none; a new claim is only noted.

    A move sent before that was reverted, a scope that was read in between and is stale again, and a verdict that
    changes again have other ids.
    """
    for row in rows:
        if kind == "move":
            name = f"{row['offer_id']} {row['observed_at'].isoformat()}"
            fact = {key: value for key, value in row.items() if key not in ("offer_id", "change_kind")}
            ratio = row["change_ratio"]
            if row["change_kind"] != "list_change":
                if name in known:
                    yield name + BACK, fact | {"is_taken_back": True}
            elif ratio is not None and abs(ratio) >= chosen.change_percent / 100 and chosen.matches(row):
                yield name, fact
        elif kind == "chip" and row["chip"] is not None:
            yield row["chip"], row
        elif kind == "stale":
            yield _stale_id(row["source"], row["scope"], row["last_good_at"]), row
        elif kind == "claim" and row["is_settled"]:
            claim, verdict = row["claim_id"], row["verdict_today"]
            if claim in known and known[claim] != verdict:
                yield f"{claim} {verdict} {at.isoformat()}", {**row, "verdict_before": known[claim]}


def _verdicts(rows: Iterable[Row], known: Mapping[str, str]) -> dict[str, str]:
    """Return the verdicts that changed, by claim."""
    return {row["claim_id"]: row["verdict_today"] for row in rows if known.get(row["claim_id"]) != row["verdict_today"]}


def _plain(row: Row) -> dict[str, Any]:
    """Return a row as JSON holds it: moments as text, all else as it is."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}


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
    return wording.short(re.sub(r"(?i)\bwww\.", "www ", re.sub(r"/{2,}", "/", kept)), most=MAX_NAME)


def message(kind: str, items: Sequence[Item], chosen: AlertSettings) -> Message:
    """Return all items of one kind as one message."""
    facts = [item.fact for item in items]
    if kind in ("chip", "claim"):
        title, lines = _chips(facts) if kind == "chip" else _claims(facts)
    else:
        title, lines = (_moves if kind == "move" else _stale)(facts, chosen)
    text = "\n".join([*(f"- {line}" for line in lines), "", NOTES[kind]])
    return Message(kind=kind, title=f"chipledger: {title}", text=text, ids=tuple(item.id for item in items))


def _moves(facts: Sequence[Row], chosen: AlertSettings) -> tuple[str, list[str]]:
    """Return moves as texts, those of several places and sizes that moved alike in one line, the largest first."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for fact in facts:
        prices = (f"{fact[side]:.6g}" for side in ("price_before", "price_after"))
        key = (*(fact.get(name) for name in SAME_MOVE), *prices)
        groups.setdefault(key, []).append(fact)
    moves = sorted(groups.values(), key=lambda group: -abs(group[0]["change_ratio"]))
    n_back = sum(bool(group[0].get("is_taken_back")) for group in moves)
    n_moves = len(moves) - n_back
    parts = [f"{wording.count(n_moves, 'list price')} moved by {chosen.change_percent:g} % or more"] if n_moves else []
    parts += [f"{wording.count(n_back, 'move')} reverted"] if n_back else []
    return "; ".join(parts), [_move(group) for group in moves]


def _move(group: Sequence[Row]) -> str:
    fact = group[0]
    places = wording.places_of_pairs([(fact["price_before"], fact["price_after"])])
    option = wording.option(
        fact["purchase_option"], term_hours=fact["commitment_term_hours"], payment=fact["purchase_payment_model"]
    )
    chip = safe(wording.chip(fact))
    what = safe(fact["offered"]) + (f" ({chip})" if chip else "")
    what = chip if fact["offered"] == fact["accelerator_name"] else what
    words = wording.listed(safe(fact["service_provider_name"]), what, safe(option), safe(fact["tier"] or ""))
    regions = sorted({safe(each["region_id"]) for each in group if each["region_id"]})
    where = f" in {wording.few(regions)}" if regions else ""
    unit = "chip-hour" if fact["is_per_chip"] else "machine-hour"
    before, after = (wording.amount(fact[side], places) for side in ("price_before", "price_after"))
    change = wording.percent(fact["change_ratio"])
    seen = min(datetime.fromisoformat(each["observed_at"]) for each in group)
    end = "; reverted within a week, so not a move" if fact.get("is_taken_back") else ""
    amounts = f"{before} to {after} {safe(fact['pricing_currency'])} per {unit}"
    return f"{words}{where}: {amounts}, {change}, seen {wording.minute(seen)}{end}"


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


def _stale(facts: Sequence[Row], chosen: AlertSettings) -> tuple[str, list[str]]:
    """Return stale scopes in words, one line for each source and day on which it was last read."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for fact in facts:
        last = fact["last_good_at"]
        groups.setdefault((fact["source"], wording.day(datetime.fromisoformat(last)) if last else ""), []).append(fact)
    sources = sorted({source for source, _ in groups})
    names = wording.few([safe(source) for source in sources])
    title = f"{wording.count(len(sources), 'source')} not read for {chosen.stale_days:g} days or more: {names}"
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
