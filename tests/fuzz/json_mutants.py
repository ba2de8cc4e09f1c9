"""Changes of JSON by its structure: fields and items dropped, renamed, told twice, of another type, unit or form."""

import copy
import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from fuzz.mutants import BLIND, ODD_NUMBERS, ODD_TEXTS, OTHER_WORDS, TWICE, Change, Mutant

Path = tuple[str | int, ...]
MARK = "zzMARKzz"
"""Stands where raw text, which no JSON writer writes, is put in afterwards."""


class Raw(float):
    """A number with the digits of the document, so that a copy of it is the document."""

    text = "0"

    def __new__(cls, text: str) -> "Raw":
        made = super().__new__(cls, float(text))
        made.text = text
        return made

    def __repr__(self) -> str:
        return self.text


class _Encoder(json.JSONEncoder):
    """Writes numbers as they were."""

    def iterencode(self, o: Any, _one_shot: bool = False) -> Any:
        """Use the encoder in Python, which asks `float.__repr__` of us."""
        return json.encoder._make_iterencode(  # type: ignore[attr-defined]
            {}, self.default, json.encoder.py_encode_basestring_ascii, None,
            lambda number: repr(number), ": ", ", ", False, False, False,
        )(o, 0)  # fmt: skip


def loads(text: str | bytes) -> Any:
    return json.loads(text, parse_float=Raw, parse_int=lambda digits: Raw(digits))


def dumps(value: Any) -> str:
    return "".join(_Encoder().iterencode(value))


def walk(value: Any, path: Path = ()) -> Any:
    """Yield every path and value, outermost first."""
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield from walk(inner, (*path, name))


def at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def words(value: Any) -> tuple[str, ...]:
    """Return the scalars and names in a value as texts."""
    found: list[str] = []
    for path, inner in walk(value):
        found += [str(path[-1])] if path else []
        if not isinstance(inner, dict | list):
            found.append(inner.text if isinstance(inner, Raw) else str(inner))
    return tuple(found)


def of_json(text: str | bytes, put_back: Callable[[str], bytes] = str.encode) -> Mapping[str, Change]:
    """Return the changes of one JSON text; `put_back` makes a document of a changed one."""
    original = loads(text)
    paths = [(path, value) for path, value in walk(original) if path]
    fields = [path for path, _ in paths if isinstance(path[-1], str)]
    scalars = [path for path, value in paths if not isinstance(value, dict | list)]
    items = [path for path, _ in paths if isinstance(path[-1], int)]
    pairs = [path for path, value in paths if isinstance(value, dict) and len(value) > 1]
    numbers = [path for path in scalars if _is_number(at(original, path))]
    units = [path for path in scalars if str(at(original, path)).casefold() in OTHER_WORDS]

    def made(kind: str, document: Any, *put: object, taken: Any = (), judged: str = "plain", raw: str = "") -> Mutant:
        whole = dumps(document)
        if raw:
            whole = whole.replace(f'"{MARK}"', raw)
        texts = tuple(str(one) for one in put)
        return Mutant(kind=f"json: {kind}", body=put_back(whole), put=texts, taken=words(taken), judged=judged)

    def changed(path: Path, value: Any) -> Any:
        document = copy.deepcopy(original) if len(paths) < 20_000 else loads(text)
        at(document, path[:-1])[path[-1]] = value
        return document

    def without(path: Path) -> Any:
        document = loads(text)
        del at(document, path[:-1])[path[-1]]
        return document

    def drop(rng: random.Random) -> Mutant | None:
        path = _one(rng, fields + items)
        return path and made("drop", without(path), taken={path[-1]: at(original, path)})

    def rename(rng: random.Random) -> Mutant | None:
        path = _one(rng, fields)
        if not path:
            return None
        document = without(path)
        name = str(path[-1])
        other = rng.choice(["zzz", name.upper(), name + "2", name + "s", " " + name, ""])
        if other == name or other in at(document, path[:-1]):
            return None
        at(document, path[:-1])[other] = at(original, path)
        return made("rename", document, other, taken={name: at(original, path)})

    def twice(rng: random.Random) -> Mutant | None:
        path = _one(rng, [path for path in fields if path in scalars])
        if not path:
            return None
        value = at(original, path)
        other = json.dumps(rng.choice([other for other in ("1.11", 1.11, "zz", None) if other != value]))
        document = loads(text)
        one = at(document, path[:-1])
        rest = list(one.items())
        one.clear()
        name = json.dumps(path[-1])
        for key, inner in rest:
            one[key] = inner
        # The second stands first or last: either may be the one that a careless reader believes.
        marked = {MARK: 0} | one if rng.random() < 0.5 else one | {MARK: 0}
        one.clear()
        one.update(marked)
        whole = dumps(document).replace(f'"{MARK}": 0', f"{name}: {other}")
        return Mutant(kind="json: twice", body=put_back(whole), judged=TWICE)

    def retype(rng: random.Random) -> Mutant | None:
        path = _one(rng, fields + items)
        if not path:
            return None
        value = at(original, path)
        text_ = value.text if isinstance(value, Raw) else str(value)
        new = rng.choice(
            [[value], {"value": value}, None, True, False, [], {}, 0, "", text_, [[[]]], {"": None}, {text_[:9]: value}]
        )
        return made("retype", changed(path, new), *words(new), taken={path[-1]: value})

    def exchange(rng: random.Random) -> Mutant | None:
        path = _one(rng, pairs)
        if not path:
            return None
        document = loads(text)
        one = at(document, path)
        first, second = rng.sample(sorted(one), 2)
        one[first], one[second] = one[second], one[first]
        return made("exchange", document, *words([one[first], one[second]]), judged=BLIND)

    def odd_number(rng: random.Random) -> Mutant | None:
        path = _one(rng, numbers)
        if not path:
            return None
        new = rng.choice(ODD_NUMBERS)
        if isinstance(at(original, path), str) or rng.random() < 0.3:
            return made("odd number", changed(path, new), new, taken=at(original, path))
        return made("odd number", changed(path, MARK), new, taken=at(original, path), raw=new.strip() or "0")

    def odd_text(rng: random.Random) -> Mutant | None:
        path = _one(rng, [path for path in scalars if isinstance(at(original, path), str)])
        new = rng.choice(ODD_TEXTS)
        return path and made("odd text", changed(path, new), new, taken=at(original, path))

    def odd_name(rng: random.Random) -> Mutant | None:
        path = _one(rng, fields)
        if not path:
            return None
        new = rng.choice(ODD_TEXTS)
        document = without(path)
        at(document, path[:-1])[new] = at(original, path)
        return made("odd name", document, new, taken={path[-1]: at(original, path)})

    def unit(rng: random.Random) -> Mutant | None:
        path = _one(rng, units)
        if not path:
            return None
        old = str(at(original, path))
        new = rng.choice(OTHER_WORDS[old.casefold()])
        return None if new == old else made("unit", changed(path, new), new, taken=old)

    def again(rng: random.Random) -> Mutant | None:
        path = _one(rng, items)
        if not path:
            return None
        document = loads(text)
        at(document, path[:-1]).insert(
            rng.randrange(len(at(document, path[:-1])) + 1), copy.deepcopy(at(document, path))
        )
        return made("item again", document, judged=BLIND)  # nobody knows that it is one and the same

    def deep(rng: random.Random) -> Mutant | None:
        path = _one(rng, fields + items)
        if not path:
            return None
        n = rng.choice([60, 900, 1100, 100_000])
        opening, closing = rng.choice([("[", "]"), ('{"a":', "}")])
        raw = opening * n + "1" + closing * n * rng.choice([0, 1, 1, 1])
        return made("deep", changed(path, MARK), "1", "a", taken={path[-1]: at(original, path)}, raw=raw)

    def shuffled(rng: random.Random) -> Mutant | None:
        path = _one(rng, pairs)
        if not path:
            return None
        document = loads(text)
        one = at(document, path)
        mixed = list(one.items())
        rng.shuffle(mixed)
        one.clear()
        one.update(mixed)
        return made("fields in another order", document)

    return {
        "drop": drop, "rename": rename, "twice": twice, "retype": retype, "exchange": exchange,
        "odd number": odd_number, "odd text": odd_text, "odd name": odd_name, "unit": unit, "again": again,
        "deep": deep, "shuffled": shuffled,
    }  # fmt: skip


def _one(rng: random.Random, paths: list[Path]) -> Path | None:
    return rng.choice(paths) if paths else None


def _is_number(value: Any) -> bool:
    if isinstance(value, Raw):
        return True
    try:
        return isinstance(value, str) and float(value) is not None
    except ValueError:
        return False
