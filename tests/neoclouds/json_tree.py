"""JSON as a tree of values at paths of keys and numbers, with what stands as JSON in its texts."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

PAGES = "chipledger_pages"
COUNTER = re.compile(r"count|total", re.IGNORECASE)

Path = tuple[str | int, ...]


class NestedObject(dict[str, Any]):
    """An object that stood in a text."""


class NestedList(list[Any]):
    """A list that stood in a text."""


def loads(text: str) -> Any:
    """Return JSON, with what stands as JSON in its texts."""
    return _opened(json.loads(text))


def _opened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _opened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_opened(inner) for inner in value]
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            inner = loads(value)
        except ValueError:
            return value
        return (
            NestedObject(inner) if isinstance(inner, dict) else NestedList(inner) if isinstance(inner, list) else value
        )
    return value


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Return JSON, with what stood in texts in texts again."""
    return json.dumps(_closed(value, indent), indent=indent, ensure_ascii=False)


def _closed(value: Any, indent: int | None) -> Any:
    if isinstance(value, dict):
        inner: Any = {key: _closed(one, indent) for key, one in value.items()}
    elif isinstance(value, list):
        inner = [_closed(one, indent) for one in value]
    else:
        return value
    is_nested = isinstance(value, NestedObject | NestedList)
    return json.dumps(inner, indent=indent, ensure_ascii=False) if is_nested else inner


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value in a document with its path, the document itself too."""
    yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from walk(one, (*path, key))


def at(doc: Any, path: Path) -> Any:
    """Return the value at a path."""
    for key in path:
        doc = doc[key]
    return doc


def generic(path: Path) -> Path:
    """Return a path without its numbers, the same for the same field of all rows."""
    return tuple("*" if isinstance(key, int) else key for key in path)


def is_map(doc: Any, path: Path, every: Sequence[tuple[Path, Any]]) -> bool:
    """Return whether the keys of an object are data: it holds objects alone, which are alike, or whose keys change."""
    value = at(doc, path)
    if not all(isinstance(inner, dict) for inner in value.values()):
        return False
    peers = [one for other, one in every if generic(other) == generic(path) and isinstance(one, dict)]
    inner = [inner for one in peers for inner in one.values()]
    if not all(isinstance(one, dict) for one in inner):
        return False
    are_alike = all(len({*one} & {*inner[0]}) * 2 >= len({*one} | {*inner[0]}) for one in inner)
    return are_alike and (len(value) > 1 or len({frozenset(one) for one in peers}) > 1)


def without_row(doc: Any, path: Path) -> None:
    """Take a row out of a document, and off the numbers that count its like."""
    if isinstance(path[-1], int):
        count(doc, path[:-1], -1)
    del at(doc, path[:-1])[path[-1]]


def count(doc: Any, path: Path, by: int) -> None:
    """Add to the numbers that count the rows of a list, on its page or on all pages."""
    pages = [(PAGES, number) for number in range(len(doc[PAGES]))] if isinstance(doc, dict) and PAGES in doc else [()]
    all_lists = [one for one, value in walk(doc) if isinstance(value, list) and generic(one) == generic(path)]
    sizes = {len(at(doc, path)), sum(len(at(doc, one)) for one in all_lists)}
    for page in pages:
        for inner, value in list(walk(at(doc, page))):
            is_outside = not any(isinstance(key, int) for key in inner)
            if is_outside and inner and type(value) is int and value in sizes and COUNTER.search(str(inner[-1])):
                at(doc, (*page, *inner[:-1]))[inner[-1]] = value + by
