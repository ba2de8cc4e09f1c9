"""Templates of pages and mail: Jinja2 with autoescape, in which a name without a value is an error.

All text is escaped where a template writes it. What is HTML already (a table, a chart, a part of a page) is Markup.
"""

import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from reports import wording


def render(template: str, **values: object) -> Markup:
    """Return a template with its values, as HTML."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704 (escaped by the template)


def macro(template: str, name: str) -> Callable[..., Markup]:
    """Return a macro of a template that needs no values but its arguments."""
    made: Callable[..., Markup] = getattr(_module(template), name)
    return made


@cache
def _module(template: str) -> Any:
    return _environment().get_template(template).module


@cache
def _environment() -> Environment:
    # Jinja caches compiled templates as .pyc files in __pycache__: the fingerprint of the code leaves that folder out.
    folder = Path(__file__).with_name("__pycache__")
    is_kept = os.access(folder, os.W_OK) and not sys.dont_write_bytecode
    made = Environment(
        loader=PackageLoader("reports"),
        bytecode_cache=FileSystemBytecodeCache(str(folder), "jinja-%s.pyc") if is_kept else None,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {
        "count": wording.count,
        "day": wording.day,
        "minute": wording.minute,
        "UNKNOWN": wording.UNKNOWN,
        "zip": zip,
    }
    made.filters["lines"] = lambda text: Markup("<br>").join(escape(text).split("\n"))
    made.filters["ticked"] = lambda text: Markup(re.sub("`(.*?)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704
    made.filters["amount"] = wording.amount
    made.filters |= {"n": "{:,}".format, "short": wording.short, "share": wording.share, "dollars": wording.dollars}
    made.tests["web"] = lambda address: str(address).startswith(("https://", "http://"))
    return made
