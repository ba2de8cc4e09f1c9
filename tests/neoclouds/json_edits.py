"""Edits of JSON: of an answer, or of what a page carries along in its scripts.

Keys of an object that are data themselves, such as names of places, are told from names of fields: `json_tree.is_map`.
"""

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from neoclouds.chips import CHIP, NEW_CHIP, NO_PRICE, another, renamed_row
from neoclouds.json_tree import PAGES, Path, at, count, dumps, generic, is_map, loads, walk, without_row
from neoclouds.mutation import BLIND, HARMLESS, Edit, Parse, Row, keys

MONEY = ("promo_price", "reservedPriceHourly", "zMonthlyCost", "newHourlyRate")
"""Names of fields that no answer has."""

Change = Callable[[Any, random.Random], Edit | None]


class JsonEdits:
    """The edits of one JSON document; `put` makes a body of an edited one, `parse` reads it."""

    def __init__(self, text: str, put: Callable[[str], bytes], parse: Parse) -> None:
        self._text, self._put, self._parse = text, put, parse
        self._before = keys(parse(put(text)))
        self._given: dict[Path, frozenset[Row]] = {}
        doc = loads(text)
        self._all = list(walk(doc))
        self._maps = {path for path, value in self._all if isinstance(value, dict) and is_map(doc, path, self._all)}
        self._fields = [
            path for path, _ in self._all if path and isinstance(path[-1], str) and path[:-1] not in self._maps
        ]
        self._scalars = [path for path, value in self._all if path and not isinstance(value, dict | list)]
        self._lists = [
            path for path, value in self._all
            if isinstance(value, list) and len(value) > 1 and not (path and path[-1] == PAGES)
        ]  # fmt: skip
        self._rows = [
            path for path, value in self._all
            if path and isinstance(value, dict | list) and value and path[:-1] in (*self._lists, *self._maps)
        ]  # fmt: skip

    def kinds(self) -> dict[str, Callable[[random.Random], Edit | None]]:
        """Return the edits by name; each gives None where the document has nothing of its kind."""
        changes: dict[str, Change] = {
            "drop field": _one(self._fields, _drop), "drop field everywhere": _each(self._fields, _drop),
            "rename field": _one(self._fields, _rename), "rename field everywhere": _each(self._fields, _rename),
            "null": _one(self._fields, _null), "null everywhere": _each(self._fields, _null),
            "empty": _one(self._fields, _empty), "empty everywhere": _each(self._fields, _empty),
            "other type": _one(self._fields, _retype), "other type everywhere": _each(self._fields, _retype),
            "words for a price": _one(self._numbers(), _words), "other word": self._other_word,
            "drop item": self._drop_item, "drop row": self._drop_row, "row twice": self._row_twice,
            "shuffle rows": self._shuffle_rows, "shuffle fields": self._shuffle_fields,
            "extra field": self._extra_field, "extra money field": self._extra_money,
            "extra money field without an amount": self._extra_no_money,
            "list of another kind":
            self._other_list,
            "new chip": self._new_chip, "key twice": self._key_twice, "indent": self._indent, "cut": self._cut,
            "scale": self._scale, "exchange values": self._exchange_values, "exchange names": self._exchange_names,
        }  # fmt: skip
        return {name: self._made(name, change) for name, change in changes.items()}

    def _made(self, name: str, change: Change) -> Callable[[random.Random], Edit | None]:
        def edit(rng: random.Random) -> Edit | None:
            doc = loads(self._text)
            found = change(doc, rng)
            if found is None:
                return None
            return replace(found, kind=name, body=found.body or self._put(dumps(doc)))

        return edit

    def _numbers(self) -> list[Path]:
        doc = loads(self._text)
        return [
            path for path in self._scalars
            if not isinstance(at(doc, path), bool) and re.fullmatch(r"\$?\d[\d.,]*", str(at(doc, path)))
        ]  # fmt: skip

    def _other_word(self, doc: Any, rng: random.Random) -> Edit | None:
        texts = [path for path in self._scalars if isinstance(at(doc, path), str) and at(doc, path)]
        if not texts:
            return None
        path = rng.choice(texts)
        new, renamed = another(at(doc, path), self._before)
        at(doc, path[:-1])[path[-1]] = new
        return _edit(renamed=renamed)

    def _drop_item(self, doc: Any, rng: random.Random) -> Edit | None:
        items = [path for path, _ in self._all if path and isinstance(path[-1], int)]
        return _one(items, _drop)(doc, rng)

    def _drop_row(self, doc: Any, rng: random.Random) -> Edit | None:
        if not self._rows:
            return None
        path = rng.choice(self._rows)
        without_row(doc, path)
        return _edit()

    def _row_twice(self, doc: Any, rng: random.Random) -> Edit | None:
        rows = [path for path in self._rows if isinstance(path[-1], int)]
        if not rows:
            return None
        path = rng.choice(rows)
        count(doc, path[:-1], 1)
        siblings = at(doc, path[:-1])
        siblings.insert(rng.randrange(len(siblings) + 1), json.loads(json.dumps(at(doc, path))))
        return _edit()

    def _shuffle_rows(self, doc: Any, rng: random.Random) -> Edit | None:
        lists = [path for path in self._lists if all(isinstance(item, dict) for item in at(doc, path))]
        if not lists:
            return None
        rng.shuffle(at(doc, rng.choice(lists)))
        return _edit(judged=HARMLESS)

    def _shuffle_fields(self, doc: Any, rng: random.Random) -> Edit | None:
        objects = [path for path, value in self._all if isinstance(value, dict) and len(value) > 1]
        if not objects:
            return None
        for path in rng.sample(objects, k=min(3, len(objects))):
            one = at(doc, path)
            items = list(one.items())
            rng.shuffle(items)
            one.clear()
            one.update(items)
        return _edit(judged=HARMLESS)

    def _objects(self) -> list[Path]:
        return [path for path, value in self._all if isinstance(value, dict) and value and path not in self._maps]

    def _extra_field(self, doc: Any, rng: random.Random) -> Edit | None:
        value: object = rng.choice([True, "new", 7, None, [], {"a": 1}])
        for path in _alike(rng.choice(self._objects()), self._objects(), rng):
            one = at(doc, path)
            if PAGES not in one:
                one["zNote"] = value
        return _edit(judged=HARMLESS)

    def _extra_money(self, doc: Any, rng: random.Random) -> Edit | None:
        name, value = (
            rng.choice(MONEY),
            rng.choice([1.11, "1.11", 111]),
        )
        for path in _alike(rng.choice(self._objects()), self._objects(), rng):
            at(doc, path).setdefault(name, value)
        return _edit()

    def _extra_no_money(self, doc: Any, rng: random.Random) -> Edit | None:
        name, value = rng.choice([
            ("discount", None), ("original_price", None), ("price_updated_at", "2026-11-01T06:00:00Z"),
            ("price_changed_at", 1_790_000_000), ("costCenter", "eu"), ("has_discount", False), ("fees", []),
        ])  # fmt: skip
        for path in _alike(rng.choice(self._objects()), self._objects(), rng):
            at(doc, path).setdefault(name, value)
        return _edit(judged=HARMLESS)

    def _other_list(self, doc: Any, rng: random.Random) -> Edit | None:
        """Put a copy of a list, with other prices, under a name of its own beside it."""
        lists = [path for path in self._lists if path and isinstance(path[-1], str)]
        if not lists:
            return None
        path = rng.choice(lists)
        other = json.loads(json.dumps(at(doc, path)))
        for inner, value in list(walk(other)):
            if isinstance(value, float) or (isinstance(value, str) and re.fullmatch(r"\$?\d+\.\d+", value)):
                at(other, inner[:-1])[inner[-1]] = (
                    1.11 if isinstance(value, float) else re.sub(r"\d+\.\d+", "1.11", value)
                )
        at(doc, path[:-1])[f"z{path[-1]}"] = other
        return _edit()

    def _new_chip(self, doc: Any, rng: random.Random) -> Edit | None:
        """Put in a copy of a row in which the chip has a name that nobody has heard of."""
        rows = sorted(rng.sample(self._rows, k=min(24, len(self._rows))), key=len, reverse=True)  # the innermost first
        for path in rows:
            given = self._given_by(path)
            labels = " ".join(str(value) for row in given for value in row[1:3] if value)
            chips = [chip for chip in CHIP.findall(labels) if chip.lower() in json.dumps(at(doc, path)).lower()]
            if not given or not chips:
                continue
            row, renamed = renamed_row(doc, path, chips[0])
            siblings = at(doc, path[:-1])
            if isinstance(siblings, list):
                count(doc, path[:-1], 1)
                # The first of a list of lists has the headers.
                siblings.insert(int(path[-1]) + 1 if isinstance(row, list) else rng.randrange(len(siblings) + 1), row)
            else:
                name = str(path[-1]).replace(chips[0], NEW_CHIP)
                siblings[name if name != path[-1] else f"{NEW_CHIP}{name}"] = row
                renamed.append((str(path[-1]), name if name != path[-1] else f"{NEW_CHIP}{name}"))
            return _edit(judged=HARMLESS, renamed=tuple(renamed), added=given)
        return None

    def _given_by(self, path: Path) -> frozenset[Row]:
        """Return the rows that are not read without this part of the document."""
        if path not in self._given:
            doc = loads(self._text)
            without_row(doc, path)
            try:
                self._given[path] = frozenset(self._before - keys(self._parse(self._put(dumps(doc)))))
            except Exception:  # noqa: BLE001 - what is refused without it, is no row
                self._given[path] = frozenset()
        return self._given[path]

    def _key_twice(self, doc: Any, rng: random.Random) -> Edit | None:
        fields = [path for path in self._fields if not isinstance(at(doc, path), dict | list)]
        if not fields:
            return None
        path = rng.choice(fields)
        one = at(doc, path[:-1])
        one["zTwice"] = rng.choice([1.11, "1.11", 1])
        return _edit(body=self._put(dumps(doc).replace("zTwice", str(path[-1]), 1)))

    def _indent(self, doc: Any, rng: random.Random) -> Edit | None:
        return _edit(judged=HARMLESS, body=self._put(dumps(doc, indent=rng.choice([1, 4, 7]))))

    def _cut(self, doc: Any, rng: random.Random) -> Edit | None:
        return _edit(body=self._put(self._text.rstrip()[: rng.randrange(len(self._text.rstrip()))]))

    def _scale(self, doc: Any, rng: random.Random) -> Edit | None:
        numbers = [path for path in self._fields if _amount(at(doc, path)) is not None]
        if not numbers:
            return None
        by = rng.choice([100, 1000, 0.01])
        for path in _alike(rng.choice(numbers), numbers, rng):
            value = at(doc, path)
            new = round(float(value) * by, 6)
            at(doc, path[:-1])[path[-1]] = str(new) if isinstance(value, str) else int(new) if new == int(new) else new
        return _edit(judged=BLIND)

    def _exchange_values(self, doc: Any, rng: random.Random) -> Edit | None:
        pairs = self._pairs(doc)
        if not pairs:
            return None
        one, other = rng.choice(pairs)
        inner = at(doc, one[:-1])
        inner[one[-1]], inner[other[-1]] = inner[other[-1]], inner[one[-1]]
        return _edit(judged=BLIND)

    def _exchange_names(self, doc: Any, rng: random.Random) -> Edit | None:
        pairs = self._pairs(doc)
        if not pairs:
            return None
        one, other = rng.choice(pairs)
        for path in [path for path in self._objects() if generic(path) == generic(one[:-1])]:
            inner = at(doc, path)
            if one[-1] in inner and other[-1] in inner:
                inner[one[-1]], inner[other[-1]] = inner[other[-1]], inner[one[-1]]
        return _edit(judged=BLIND)

    def _pairs(self, doc: Any) -> list[tuple[Path, Path]]:
        """Return the pairs of fields, or of cells, that hold values of one type."""
        groups: dict[tuple[Path, type], list[Path]] = {}
        for path in self._scalars:
            if path[:-1] not in self._maps:
                groups.setdefault((path[:-1], type(at(doc, path))), []).append(path)
        return [
            (one, other) for found in groups.values() for one in found for other in found
            if str(one[-1]) < str(other[-1]) and at(doc, one) != at(doc, other)
        ]  # fmt: skip


def _edit(
    *, judged: str = "harm", body: bytes = b"", renamed: tuple[tuple[str, str], ...] = (),
    added: frozenset[Row] = frozenset(),
) -> Edit:  # fmt: skip
    return Edit(kind="", body=body, judged=judged, renamed=renamed, added=added)


def _one(paths: list[Path], change: Callable[[Any, Path, random.Random], None]) -> Change:
    def edit(doc: Any, rng: random.Random) -> Edit | None:
        if not paths:
            return None
        change(doc, rng.choice(paths), rng)
        return _edit()

    return edit


def _each(paths: list[Path], change: Callable[[Any, Path, random.Random], None]) -> Change:
    """Return the change of one field in all rows, each in the same way."""

    def edit(doc: Any, rng: random.Random) -> Edit | None:
        if not paths:
            return None
        field, seed = generic(rng.choice(paths)), rng.random()
        for path in [path for path in paths if generic(path) == field]:
            change(doc, path, random.Random(seed))  # noqa: S311
        return _edit()

    return edit


def _alike(path: Path, paths: list[Path], rng: random.Random) -> list[Path]:
    """Return this path, or all of its kind."""
    return [path] if rng.random() < 0.5 else [one for one in paths if generic(one) == generic(path)]


def _drop(doc: Any, path: Path, rng: random.Random) -> None:
    del at(doc, path[:-1])[path[-1]]


def _rename(doc: Any, path: Path, rng: random.Random) -> None:
    one = at(doc, path[:-1])
    one[rng.choice(["zzz", "new_name"])] = one.pop(path[-1])


def _null(doc: Any, path: Path, rng: random.Random) -> None:
    at(doc, path[:-1])[path[-1]] = None


def _empty(doc: Any, path: Path, rng: random.Random) -> None:
    value = at(doc, path)
    # Of billionths 0 is an amount like any other, and what "scale" does.
    nothing = ["", " "] if path[-1] == "nanos" else ["", " ", 0]
    new: Any = {} if isinstance(value, dict) else [] if isinstance(value, list) else rng.choice(nothing)
    at(doc, path[:-1])[path[-1]] = new


def _retype(doc: Any, path: Path, rng: random.Random) -> None:
    value = at(doc, path)
    others: list[Any] = [[value], {"value": value}, str(value), *([] if value is False else [True])]
    if isinstance(value, str) and _amount(value) is not None:
        others += [float(value)] * 3
    at(doc, path[:-1])[path[-1]] = rng.choice(
        [other for other in others if other != value or type(other) is not type(value)]
    )


def _words(doc: Any, path: Path, rng: random.Random) -> None:
    at(doc, path[:-1])[path[-1]] = rng.choice(NO_PRICE)


def _amount(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
