"""Types of settings, which a TOML file and environment variables can both hold, and the errors of wrong values."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from email.errors import MessageError
from email.headerregistry import Address
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from warehouse.errors import HIDDEN, SettingsError, nearest

WEB = ("http://", "https://")
SOURCE_SCHEMES = (*WEB, "file:///")
"""Where sources may read: tests and mirrors are folders, too."""
SECRET_QUERY = re.compile(r"[?&][\w.-]*(pass|secret|token|key|sig|auth)[\w.-]*=", re.IGNORECASE)
DATE = r"\d{4}-\d\d-\d\d.*"
MAX_ADDRESS = 254
"""Characters of a mail address: RFC 5321, 4.5.3.1.3, without the brackets."""

SECRET_NAME = re.compile(r"pass|secret|token(?!s)|key|urls", re.IGNORECASE)
"""Values of settings whose name matches are not repeated in errors; tokens are those of a model."""
USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")
QUERY = re.compile(r"\?\S+")
PASSWORD = re.compile(r"(?<=password)\s*=\s*('[^']*'|\S+)", re.IGNORECASE)
UNION_MEMBER = re.compile(r"function-\w+\[|constrained-\w+$")
"""How pydantic names members of a union in the place of an error."""
ALLOWED = {"tuple": 'a list, such as ["a", "b"]', "int": "a whole number", "float": "a number"}
"""What is allowed, by how pydantic's kind of error begins; of others its message says it."""
BOUNDS = {
    ("exclusiveMinimum", "gt"): "above {:g}",
    ("minimum", "ge"): "{:g} or more",
    ("exclusiveMaximum", "lt"): "below {:g}",
    ("maximum", "le"): "{:g} or less",
}
"""Bounds of a number, for people, by their names in a JSON schema; the second ones are those of union members."""

Schema = Mapping[str, Any]
T = TypeVar("T", bound=BaseModel)


class Table(BaseModel):
    """A table of the settings file; unknown names are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @property
    def is_set(self) -> bool:
        """Return whether any setting of the table was set."""
        return bool(self.model_fields_set)


def _only(allowed: str, is_allowed: Callable[[Any], bool]) -> BeforeValidator:
    """Return a validator whose error says what is allowed."""

    def checked(value: object) -> object:
        if not is_allowed(value):
            raise ValueError(allowed)
        return value

    return BeforeValidator(checked)


def _matches(pattern: str) -> Callable[[Any], bool]:
    """Return a check whether a value is a text that is all of a pattern."""
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


def _listed(value: object) -> object:
    """Return a list that a variable holds as JSON; anything else as it is."""
    if isinstance(value, str) and value.startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _is_list(value: object, is_allowed: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(is_allowed, value))


def _begins(value: object, schemes: tuple[str, ...]) -> bool:
    return isinstance(value, str) and value.isprintable() and value.startswith(schemes)


def _is_mail_address(value: object) -> bool:
    """Return whether a value is name@domain in ASCII; nothing that could become a second header or recipient is."""
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or len(value) > MAX_ADDRESS:
        return False
    try:
        parsed = Address(addr_spec=value)
    except (MessageError, ValueError, IndexError):
        return False
    has_domain = "." in parsed.domain or parsed.domain == "localhost"
    return parsed.addr_spec == value and bool(parsed.username) and has_domain


Switch = Annotated[bool, _only("true or false", lambda value: value in ("true", "false") or isinstance(value, bool))]
"""Not "yes", 1 or 0."""
Number = Annotated[float, _only("a number", lambda value: not isinstance(value, bool)), Field(allow_inf_nan=False)]
Whole = Annotated[int, _only("a number", lambda value: not isinstance(value, bool))]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Text = Annotated[str, _only("text on one line", lambda value: isinstance(value, str) and value.isprintable())]
Currency = Annotated[str, _only("a currency by its three letters, such as EUR", _matches("[A-Z]{3}"))]
WebAddress = Annotated[
    str,
    _only("a web address, https://...", lambda value: value == "" or _begins(value, WEB)),
    AfterValidator(lambda value: value.rstrip("/")),
]
"""May be empty: none."""
_PLAIN = "a plain address, such as prices@example.com"
MailAddress = Annotated[str, _only(_PLAIN, lambda value: value == "" or _is_mail_address(value))]
"""May be empty: none."""
MailAddresses = Annotated[
    tuple[Annotated[str, _only(_PLAIN, _is_mail_address)], ...],
    AfterValidator(lambda value: tuple({each.lower(): each for each in value}.values())),
]
"""Without repetitions, whatever their case; the last spelling stays."""
SourceAddress = Annotated[
    str,
    _only(
        "an address without user, password or key, as it is published with each document",
        lambda value: "@" not in urlsplit(value).netloc and not SECRET_QUERY.search(value),
    ),
    _only(f"an address that begins with {', '.join(SOURCE_SCHEMES)}", lambda value: _begins(value, SOURCE_SCHEMES)),
]
Names = Annotated[
    Any,
    _only('"all" or a list of names', lambda value: value == "all" or _is_list(value, lambda each: type(each) is str)),
    BeforeValidator(_listed),
]
Counts = Annotated[
    Any,
    _only(
        "a list of whole numbers above 0", lambda value: _is_list(value, lambda each: type(each) is int and each > 0)
    ),
    BeforeValidator(_listed),
]
Day = Annotated[
    Any, _only("a date, such as 2026-10-01", lambda value: isinstance(value, date) or _matches(DATE)(value))
]
Access = Literal["auto", "api", "bulk"]


def checked(model: type[T], value: Mapping[str, Any], *, name: str) -> T:
    """Return a table as its model; `name` is its place. Raises SettingsError that names the first fault."""
    try:
        return model(**value)
    except ValidationError as error:
        found = fault(model, error, name=name)
    # Pydantic's own error repeats the input, which may be a secret, so it is not the cause of ours.
    raise found


def fault(model: type[BaseModel], error: ValidationError, *, name: str = "") -> SettingsError:
    """Return the first fault that pydantic found, with its place, the value and what is allowed."""
    first = error.errors(include_url=False)[0]
    parts = [str(part) for part in first["loc"] if not UNION_MEMBER.match(str(part))]
    place = ".".join(([name] if name else []) + parts)
    value = HIDDEN if parts and SECRET_NAME.search(parts[-1]) else without_secrets(first["input"])
    kind, root = first["type"], model.model_json_schema()
    if kind == "extra_forbidden" and len(parts) > 1 and parts[-1] in root["properties"]:
        hint = f"{parts[-1]} is of no table: write it above the first [table]"
        return SettingsError("unknown setting", field=place, value=HIDDEN, hint=hint)
    if kind == "extra_forbidden":
        return unknown(place, {name for each in schemas_at(root, parts[:-1]) for name in each.get("properties", ())})
    if kind in ("model_type", "mapping_type", "dict_type"):
        return SettingsError("must be a table", field=place, value=value, hint=f"Write [{place}]")
    if kind == "missing":
        return SettingsError("must be set", field=place)
    text = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ").removeprefix("must be ")
    allowed = ALLOWED.get(kind.partition("_")[0], text)
    if kind.startswith(("greater_than", "less_than")):
        schemas = schemas_at(root, parts)
        bounds = [BOUNDS[keys].format(each[key]) for keys in BOUNDS for key in keys for each in schemas if key in each]
        allowed = " and ".join(bounds) or allowed
    return SettingsError("wrong setting", field=place, value=value, hint=f"Allowed: {allowed}")


def unknown(place: str, known: Iterable[str]) -> SettingsError:
    """Return the error of an unknown name, with the nearest known one."""
    names = sorted(known, key=str.lower)
    near = nearest(place.rpartition(".")[2], names, most=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return SettingsError("unknown setting", field=place, value=HIDDEN, hint=f"{hint}Known: {', '.join(names)}")


def without_secrets(value: object) -> object:
    """Return a value; an address without user, password and query, which may be secrets."""
    if not isinstance(value, str):
        return value
    return PASSWORD.sub(f"={HIDDEN}", QUERY.sub(f"?{HIDDEN}", USER_INFO.sub(f"{HIDDEN}@", value)))


def schemas_at(root: Schema, place: Sequence[str]) -> list[Schema]:
    """Return the schemas of a place within a JSON schema; several where it may hold one of several types."""
    found = [root]
    for part in place:
        below = (each.get("properties", {}).get(part) or each.get("additionalProperties") for each in found)
        found = [schema for each in below if isinstance(each, Mapping) for schema in _resolved(root, each)]
    return found


def _resolved(root: Schema, schema: Schema) -> Iterator[Schema]:
    """Yield the schemas that references and alternatives stand for."""
    if "$ref" in schema:
        yield from _resolved(root, root["$defs"][schema["$ref"].rpartition("/")[2]])
    elif "anyOf" in schema:
        for each in schema["anyOf"]:
            yield from _resolved(root, each)
    else:
        yield schema
