"""Streams read whole, again where they break off, without an HTTP client where they do not."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TypeVar

from extract.web.interface import BrokenOff

Result = TypeVar("Result")


def read_stream(
    open_stream: Callable[[], AbstractContextManager[Iterator[bytes]]], consume: Callable[[Iterator[bytes]], Result]
) -> Result:
    """Return what `consume` makes of a whole stream; one that breaks off is begun again from its first byte."""

    def once() -> Result:
        if broken:
            raise broken.pop()
        with open_stream() as blocks:
            return consume(blocks)

    broken: list[BrokenOff] = []
    try:
        return once()
    except BrokenOff as error:
        # An HTTP client takes long to import, and the archive of the package needs none.
        from extract.web.http import STREAM_RETRIES

        broken.append(error)
        return STREAM_RETRIES.run(once, on=BrokenOff)
