"""What fails in a part of a page costs that part and nothing else: it says so in its place, and the run knows.

Without `noted` around it a failure is raised, so that tests and tools see it.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from markupsafe import Markup

from reports.pages.frame import frame
from reports.templating import macro

log = logging.getLogger(__name__)

Made = TypeVar("Made")

_FAILED: ContextVar[list[str] | None] = ContextVar("failed", default=None)


@contextmanager
def noted() -> Iterator[list[str]]:
    """Give the list in which parts that fail from here on are named, each with what went wrong."""
    failed: list[str] = []
    token = _FAILED.set(failed)
    try:
        yield failed
    finally:
        _FAILED.reset(token)


def part(name: str, make: Callable[[], Markup]) -> Markup:
    """Return what `make` returns, or a paragraph that says that this part could not be made; `name` says which."""
    return page(name, make, lambda error: failed(name, error))


def page(name: str, make: Callable[[], Made], instead: Callable[[Exception], Made]) -> Made:
    """Return what `make` returns, or what is shown instead of it."""
    failures = _FAILED.get()
    if failures is None:
        return make()
    try:
        return make()
    except Exception as error:
        failures.append(f"{name}: {type(error).__name__}: {error}")
        log.warning("%s could not be made", name, exc_info=True)
        return instead(error)


def instead(title: str, place: str, error: Exception) -> str:
    """Return the page that is shown where one is missing."""
    return frame(
        "plain.html.j2",
        title=title,
        headline=f"{title}: this page could not be made",
        place=place,
        build=(None, ""),
        parts=[failed(title, error)],
    )


def failed(name: str, error: Exception) -> Markup:
    """Return the paragraph that is shown where a part is missing."""
    return macro("parts.html.j2", "failed")(name, type(error).__name__, str(error)[:200])
