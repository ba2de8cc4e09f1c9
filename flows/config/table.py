"""Tables of the settings file: each is a pydantic model, and what is wrong in it is named with what is allowed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from warehouse.errors import SettingsError

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic.fields import FieldInfo

    M = TypeVar("M", bound=BaseModel)

SECRET_NAME = re.compile(r"pass|secret|token|key|urls", re.IGNORECASE)
"""What stands under such a name is not repeated, wherever it stands."""
HIDDEN = "(hidden)"
USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")
QUERY = re.compile(r"\?\S+")
OF_PYDANTIC = re.compile(r"function-\w+\[|constrained-\w+$")
"""How pydantic names members of a union: no part of the place in a file."""
BOUNDS = {
    "greater_than": "above {}",
    "greater_than_equal": "{} or more",
    "less_than": "below {}",
    "less_than_equal": "{} or less",
}


def checked(model: "type[M]", value: Mapping[str, Any], *, name: str = "", source: str = "") -> "M":
    """Return a table as its model, which forbids unknown names. Raises SettingsError that names the first fault.

    `name` is the table's place, none for the whole file; `source` the file, where what is checked is one.
    """
    # What this imports costs a tenth of a second, which a command without such a table must not pay.
    from pydantic import ValidationError

    try:
        return model.model_validate(dict(value))
    except ValidationError as error:
        fault = _fault(model, error, name=name, source=source)
    # Pydantic's own error repeats what it was given, which may be a secret: it is not a cause of ours.
    raise fault


def without_secrets(value: object) -> object:
    """Return a value, an address without user, password and query: they may be what lets somebody in."""
    return QUERY.sub("?" + HIDDEN, USER_INFO.sub(HIDDEN + "@", value)) if isinstance(value, str) else value


def given(model: "BaseModel") -> dict[str, Any]:
    """Return what was set of a table, by the names that the file has for it; tables within stay models."""
    fields = type(model).model_fields
    return {fields[name].alias or name: getattr(model, name) for name in fields if name in model.model_fields_set}


def names(model: "type[BaseModel]") -> list[str]:
    """Return the names that a table may have, as the file writes them."""
    return sorted(field.alias or name for name, field in model.model_fields.items())


def unknown(place: str, value: object, known: Iterable[str], *, source: str = "") -> SettingsError:
    """Return the error of a name that means nothing, with the nearest that does."""
    known = list(known)
    last = place.rpartition(".")[2]
    by_name = {name.lower(): name for name in known}
    near = get_close_matches(last.lower(), by_name, n=1)
    hint = f"Did you mean {by_name[near[0]]}? " if near else ""
    return SettingsError(
        "unknown setting",
        source=source,
        field=place,
        value=HIDDEN,
        hint=f"{hint}Known: {', '.join(known)}",
    )


def _fault(model: "type[BaseModel]", error: "ValidationError", *, name: str, source: str) -> SettingsError:
    fault = error.errors(include_url=False)[0]
    parts = [str(part) for part in fault["loc"] if not OF_PYDANTIC.match(str(part))]
    place = ".".join(([name] if name else []) + parts)
    value = HIDDEN if parts and SECRET_NAME.search(parts[-1]) else without_secrets(fault["input"])
    if fault["type"] == "extra_forbidden":
        return unknown(place, value, _known_at(model, parts[:-1]), source=source)
    if fault["type"] in ("model_type", "mapping_type", "dict_type"):
        return SettingsError("must be a table", source=source, field=place, value=value, hint=f"Write [{place}]")
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Input should be ").removeprefix("must be ")
    if fault["type"] == "missing":
        return SettingsError("must be given", source=source, field=place)
    if fault["type"] in BOUNDS:
        (bound,) = fault["ctx"].values()
        message = " and ".join(_bounds(model, parts)) or BOUNDS[fault["type"]].format(f"{bound:g}")
    return SettingsError("wrong setting", source=source, field=place, value=value, hint=f"Allowed: {message}")


def _bounds(model: "type[BaseModel]", parts: Sequence[str]) -> list[str]:
    """Return both bounds of a number in words; none where its type says them elsewhere."""
    for name in parts[:-1]:
        found = [model for field in _fields(model, name) for model in _models_in(field.annotation)]
        if not found:
            return []
        model = found[0]
    kinds = zip(("gt", "ge", "lt", "le"), BOUNDS.values(), strict=True)
    limits = [item for field in _fields(model, parts[-1]) for item in field.metadata]
    return [words.format(f"{getattr(item, kind):g}") for kind, words in kinds for item in limits if hasattr(item, kind)]


def _fields(model: "type[BaseModel]", name: str) -> "list[FieldInfo]":
    return [field for key, field in model.model_fields.items() if name in (key, field.alias)]


def _known_at(model: "type[BaseModel]", parts: Sequence[str]) -> list[str]:
    """Return the names that the table at a place within a model may have."""
    here: list[type[BaseModel]] = [model]
    for part in parts:
        fields = [field for each in here for field in _fields(each, part)]
        if fields:
            here = [found for field in fields for found in _models_in(field.annotation)]
        else:  # the name of a member of a union, or a key of one's own choice
            here = [each for each in here if each.__name__ == part] or here
    return sorted({name for each in here for name in names(each)})


def _models_in(annotation: object) -> "list[type[BaseModel]]":
    """Return the models that a type is or holds."""
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models_in(part)]
