"""DuckDB as the tests' small files want it, in the process of the tests and in those that they start."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import duckdb
import published
import pytest


@contextmanager
def narrow() -> Iterator[None]:
    """Let DuckDB work with one thread: the files are small, and the workers share the cores already.

    It compresses nothing either: to try each way on each column takes half of the time to write a file.
    """
    connect = duckdb.connect

    def connected(*given: Any, config: Mapping[str, Any] = MappingProxyType({}), **named: Any) -> Any:
        if given and not named.get("read_only"):
            published.forget()  # this may be the file that is to be written
        return connect(*given, config={"threads": 1, "force_compression": "uncompressed", **config}, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("duckdb.connect", connected)
        yield
