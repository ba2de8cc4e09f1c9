"""Frames of polars that DuckDB reads as streams of Arrow's C interface, without pyarrow.

DuckDB loads pyarrow wherever it is installed, which takes 60 MB of memory, and does not need it.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import local
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb
    import polars as pl


class _Hiding(local):
    """Says at once, to each thread, that a module is not there for which DuckDB would look."""

    names = frozenset({"pandas"} if find_spec("pandas") is None else ())
    """Pandas, where there is none: it is looked for, along the whole path, with every bound value."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Raise ModuleNotFoundError for a module that is hidden; leave any other to the other finders."""
        if name in self.names or (name == "pyarrow" and _is_thread_of_duckdb()):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _is_thread_of_duckdb() -> bool:
    """Return whether nothing in Python, but for the import itself, led here: it has threads that begin a scan."""
    frame = sys._getframe()
    while frame.f_back:
        frame = frame.f_back
    return frame.f_globals.get("__name__") == "importlib._bootstrap"


_HIDING = _Hiding()
sys.meta_path.insert(0, _HIDING)


class _Stream:
    """A frame of which DuckDB sees no more than that it is a stream; its own type would be given to pyarrow."""

    def __init__(self, frame: "pl.DataFrame") -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


@contextmanager
def shown(con: "duckdb.DuckDBPyConnection", name: str, frame: "pl.DataFrame") -> Iterator[None]:
    """Let SQL read a frame by a name. Where pyarrow is loaded, DuckDB reads by it, which cannot filter such streams."""
    before = _HIDING.names
    _HIDING.names = before | {"pyarrow"}
    try:
        con.register(name, frame.to_arrow() if "pyarrow" in sys.modules else _Stream(frame))
        yield
    finally:
        con.unregister(name)
        _HIDING.names = before
