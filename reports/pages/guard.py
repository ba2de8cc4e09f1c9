"""What fails in a part of a page costs that part and nothing else: it says so in its place, and the run knows.

Without `noted` around it a failure is raised, so that tests and tools see it.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from typing import TypeVar

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


def part(name: str, make: Callable[[], str]) -> str:
    """Return what `make` returns, or a paragraph that says that this part could not be made; `name` says which."""
    return page(name, make, lambda error: sorry(name, error))


def page(name: str, make: Callable[[], Made], instead: Callable[[Exception], Made]) -> Made:
    """Return what `make` returns, or what stands instead of it."""
    failed = _FAILED.get()
    if failed is None:
        return make()
    try:
        return make()
    except Exception as error:
        failed.append(f"{name}: {type(error).__name__}: {error}")
        log.warning("%s could not be made", name, exc_info=True)
        return instead(error)


def sorry(name: str, error: Exception) -> str:
    """Return the paragraph that stands where a part is missing, as HTML."""
    return (
        f'<p class="warn"><strong>{escape(name)} could not be made.</strong> {escape(type(error).__name__)}: '
        f"{escape(str(error)[:200])}. The other parts are complete; `chipledger report` makes it again.</p>"
    )
