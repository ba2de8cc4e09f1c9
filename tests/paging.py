"""Asking a page of a published file for something."""

from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from reports.queries import Published, opened

Made = TypeVar("Made")
Options = ParamSpec("Options")


def of(
    file: Path, make: Callable[Concatenate[Published, Options], Made], *args: Options.args, **options: Options.kwargs
) -> Made:
    """Return what a function of a page makes of a file, which is opened for it alone."""
    with opened(file) as published:
        return make(published, *args, **options)
