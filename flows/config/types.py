"""Kinds of settings: what a file of typed values and variables of text may both hold, and nothing alike."""

import json
import re
from datetime import date
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

WEB = ("http://", "https://")
SEEN = (*WEB, "file:///")
"""Where sources may read: tests and mirrors are folders, too."""
SECRET_QUERY = re.compile(r"[?&][\w.-]*(pass|secret|token|key|sig|auth)[\w.-]*=", re.IGNORECASE)
DATE = re.compile(r"\d{4}-\d\d-\d\d.*")


def _switch(value: object) -> bool:
    """Return true or false; "yes", 1 and 0 are neither, as what they switch on may be what nobody wanted."""
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return value == "true"
    raise ValueError("true or false")


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a number")
    return value


def _printable(value: str) -> str:
    if not value.isprintable():
        raise ValueError("text on one line")
    return value


def _currency(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"[A-Z]{3}", value, flags=re.ASCII):
        return value
    raise ValueError("a currency by its three letters, such as EUR")


def _web_address(value: str) -> str:
    if value and not value.startswith(WEB):
        raise ValueError("a web address, https://...")
    return value


def _address(value: object) -> str:
    if isinstance(value, str) and value.isprintable() and value.startswith(SEEN):
        if "@" in urlsplit(value).netloc or SECRET_QUERY.search(value):
            raise ValueError("an address without user, password or key, as it is published with each document")
        return value
    raise ValueError(f"an address that begins with {', '.join(SEEN)}")


def _listed(value: object) -> object:
    """Return a list that a variable holds as JSON; anything else as it is."""
    if isinstance(value, str) and value.startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _names(value: object) -> Any:
    given: Any = _listed(value)
    if given == "all" or (isinstance(given, list) and all(isinstance(each, str) for each in given)):
        return given
    raise ValueError('"all" or a list of names')


def _counts(value: object) -> Any:
    given: Any = _listed(value)
    if isinstance(given, list) and all(type(each) is int and each > 0 for each in given):
        return given
    raise ValueError("a list of whole numbers above 0")


def _day(value: object) -> object:
    if isinstance(value, date) or (isinstance(value, str) and DATE.fullmatch(value)):
        return value
    raise ValueError("a date, such as 2026-10-01")


Switch = Annotated[bool, BeforeValidator(_switch)]
Number = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]
Whole = Annotated[int, BeforeValidator(_number)]
Text = Annotated[str, AfterValidator(_printable)]
Currency = Annotated[str, BeforeValidator(_currency)]
WebAddress = Annotated[Text, AfterValidator(_web_address)]
"""May be empty: none."""
Address = Annotated[Any, PlainValidator(_address)]
Names = Annotated[Any, PlainValidator(_names)]
Counts = Annotated[Any, PlainValidator(_counts)]
Day = Annotated[Any, PlainValidator(_day)]
Door = Literal["auto", "api", "bulk"]
