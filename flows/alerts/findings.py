"""Findings worth an alert: what the published file has now, compared with what was known before.

All is computed from the file and the lines of `alerts.jsonl`; nothing is sent here. The first look at a kind sets its
baseline and sends nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from reports.queries import SQL

Row = Mapping[str, Any]
Entry = Mapping[str, Any]

LATEST = timedelta(days=7)
"""A move that is learnt later than this is history; one that waited for its confirmation is sent."""
NEEDS = {"move": "price_change", "chip": "accelerator_hour_price", "stale": "source_health", "claim": "claim_audit"}
"""The mart that each kind is read from; a file without it says nothing of that kind."""
BACK = " back"


@dataclass(frozen=True, kw_only=True)
class Item:
    """One finding: its kind, its lasting id, and its facts."""

    kind: str
    id: str
    fact: Row


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one look gives of one kind: what is known from now on (id to value), and what of it is news.

    `known` is None where nothing can be said yet, so that no baseline is set.
    """

    known: Mapping[str, str] | None
    items: tuple[Item, ...] = ()


@dataclass
class State:
    """What the lines say: what is known of each kind, since when, what was sent, and to which channel.

    `since`: when the file was built of which the baseline was made. `outcomes`: of each channel, kind and id what
    became of
    it last. `joined`: how many items there were when a channel first appeared; it gets the later ones. `sent_on`: the
    last day on which a channel got a message of a kind.
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
        if what in ("baseline", "known"):
            if what == "baseline":
                self.since[entry["kind"]] = datetime.fromisoformat(entry["built_at"])
            self.known.setdefault(entry["kind"], {}).update(entry["known"])
        elif what == "news":
            self.known.setdefault(entry["kind"], {}).update(entry["known"])
            self.items += [Item(kind=entry["kind"], id=each["id"], fact=each["fact"]) for each in entry["items"]]
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
        """Return the items of a kind that a channel has not received; nothing where it got a message of that kind
        today."""
        if self.sent_on.get((channel, kind)) == today:
            return []
        later = self.items[self.joined.get(channel, len(self.items)) :]
        return [
            item
            for item in later
            if item.kind == kind and self.outcomes.get((channel, kind, item.id), "failed") == "failed"
        ]

    def unanswered(self, channel: str) -> dict[str, list[str]]:
        """Return the ids, by kind, that were handed over to a channel by a process which did not live to say more."""
        ids: dict[str, list[str]] = {}
        for (to, kind, name), what in self.outcomes.items():
            if to == channel and what == "handing":
                ids.setdefault(kind, []).append(name)
        return ids


def read_state(entries: Iterable[Entry]) -> State:
    """Return what all lines say together."""
    state = State()
    for entry in entries:
        state.add(entry)
    return state


def find(
    file: Path,
    state: State,
    *,
    kinds: Iterable[str],
    now: datetime,
    least: float,
    stale_days: float,
    watched: Callable[[Row], bool] = lambda row: True,
) -> tuple[datetime, dict[str, Found]]:
    """Return when the file was built, and what it says of each kind. The file is read only.

    `least` is the ratio from which on a move is sent; `now` is aware. `watched` says whether a row of a move is of a
    chip and a region that are watched.
    """
    with duckdb.connect(str(file), read_only=True) as con:
        built_at: datetime = con.execute("select built_at from meta.build").fetchall()[0][0]
        has = {
            name
            for (name,) in con.execute("select table_name from duckdb_tables() where schema_name = 'int'").fetchall()
        }
        found = {}
        for kind in kinds:
            if NEEDS[kind] not in has:
                continue
            since = max(state.since.get(kind, built_at), built_at - LATEST)
            values = {"since": since, "now": now.astimezone(UTC).replace(tzinfo=None), "days": stale_days}
            rows = _ask(con, f"alert_{kind}", values)
            known = state.known.get(kind)
            found[kind] = _move(rows, known, least, watched) if kind == "move" else READ[kind](rows, known)
    return built_at, found


def _ask(con: duckdb.DuckDBPyConnection, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    text = (SQL / f"{name}.sql").read_text(encoding="utf-8")
    cursor = con.execute(text, {key: value for key, value in values.items() if f"${key}" in text} or None)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _move(
    rows: list[dict[str, Any]], known: Mapping[str, str] | None, least: float, watched: Callable[[Row], bool]
) -> Found:
    """Return moves of list prices, and those sent before that were reverted."""
    items = []
    for row in rows:
        name = f"{row.pop('offer_id')} {row['observed_at'].isoformat()}"
        kind = row.pop("change_kind")
        fact = _plain(row)
        ratio = row["change_ratio"]
        if kind == "list_change" and ratio is not None and abs(ratio) >= least and name not in (known or {}):
            if not watched(row):
                continue
            items.append(Item(kind="move", id=name, fact=fact))
        elif kind != "list_change" and name in (known or {}) and name + BACK not in (known or {}):
            items.append(Item(kind="move", id=name + BACK, fact=fact | {"is_taken_back": True}))
    return Found(known={item.id: "" for item in items}, items=tuple(items))


def _chip(rows: list[dict[str, Any]], known: Mapping[str, str] | None) -> Found:
    """Return chips that no live source priced before; nothing before any live source has priced one."""
    if not rows and known is None:
        return Found(known=None)
    new = [row for row in rows if row["chip"] is not None and row["chip"] not in (known or {})]
    items = tuple(Item(kind="chip", id=row["chip"], fact=_plain(row)) for row in new)
    return Found(known={item.id: "" for item in items}, items=items)


def _stale(rows: list[dict[str, Any]], known: Mapping[str, str] | None) -> Found:
    """Return scopes that went stale; one that was read in between and is stale again is news again."""
    named = {f"{row['source']} {row['scope']} {row['last_good_at'] or 'never'}": row for row in rows}
    items = tuple(
        Item(kind="stale", id=name, fact=_plain(row)) for name, row in named.items() if name not in (known or {})
    )
    return Found(known={item.id: "" for item in items}, items=items)


def _claim(rows: list[dict[str, Any]], known: Mapping[str, str] | None) -> Found:
    """Return claims with another verdict than the one that was known last; a claim that is new is only noted."""
    known = known or {}
    changed = [row for row in rows if known.get(row["claim_id"]) != row["verdict_today"]]
    items = tuple(
        Item(
            kind="claim",
            id=f"{row['claim_id']} {known[row['claim_id']]} {row['verdict_today']} {turns(known, row['claim_id'])}",
            fact=_plain(row) | {"verdict_before": known[row["claim_id"]]},
        )
        for row in changed
        if row["claim_id"] in known and row["is_settled"]
    )
    counts = {f"{row['claim_id']}#": str(turns(known, row["claim_id"]) + 1) for row in changed}
    return Found(known={row["claim_id"]: row["verdict_today"] for row in changed} | counts, items=items)


def turns(known: Mapping[str, str], claim_id: str) -> int:
    """Return how many verdicts a claim has had, so that the same change, when it returns, has another id."""
    return int(known.get(f"{claim_id}#", "0"))


READ: Mapping[str, Callable[[list[dict[str, Any]], Mapping[str, str] | None], Found]] = {
    "chip": _chip,
    "stale": _stale,
    "claim": _claim,
}


def entries(found: Mapping[str, Found], state: State, *, built_at: datetime, at: datetime) -> Iterable[dict[str, Any]]:
    """Yield the lines that one look adds: a baseline for a kind seen for the first time, else what is new."""
    for kind, one in found.items():
        if one.known is None:
            continue
        common = {"kind": kind, "at": at.astimezone(UTC).isoformat(), "known": dict(one.known)}
        if kind not in state.since:
            yield {"what": "baseline", "built_at": built_at.isoformat(), **common}
        elif one.items:
            yield {"what": "news", **common, "items": [{"id": item.id, "fact": dict(item.fact)} for item in one.items]}
        elif one.known:
            yield {"what": "known", **common}


def _plain(row: Row) -> dict[str, Any]:
    """Return a row as JSON holds it: moments as text, all else as it is."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
