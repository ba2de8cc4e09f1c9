"""JSON from outside, read so that what is damaged raises ValueError and nothing else.

The standard reader raises what its depths raise, takes the last of two values under one name, and lets through half of
a surrogate pair, which no table takes; here all of these are refused.
"""

import json
import re
from collections.abc import Callable
from typing import Any

_MAY_BE_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escape that may be half of a pair: rare enough to look at every text where there is one."""


def loads(
    body: bytes | str, *, numbers: Callable[[str], Any] | None = None, constants: Callable[[str], Any] | None = None
) -> Any:
    """Return the JSON of a document; raise ValueError where it is none, or says two things under one name.

    `numbers` makes values of numbers, `constants` of NaN and Infinity, which JSON has not and some tools write; without
    it these are refused.
    """
    try:
        content = json.loads(
            body,
            parse_float=numbers,
            parse_int=numbers,
            parse_constant=constants or _refuse_constant,
            object_pairs_hook=_once,
        )
        if _MAY_BE_HALF.search(body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body):
            json.dumps(content, ensure_ascii=False, default=str).encode()
    except RecursionError:
        raise ValueError("nested too deep") from None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair, which is no text") from None
    return content


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has one key twice")
    return found
