"""Moves the clock of the product in any Python that has this folder in PYTHONPATH, and no other clock.

The file of the variable MOVED_CLOCK holds seconds, which `flows.collect.collector.utc_now` is ahead of this machine's
clock. Where MOVED_MACHINE is set too, the clock that is compared with the servers' is moved with it. The file is
read at each call, so that a worker's processes move with it while the worker runs on. Prefect, sockets and locks keep
the true time.
"""

import importlib.abc
import importlib.machinery
import os
import sys
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from types import ModuleType
from typing import Any

MOVED = {"flows.collect.collector"} | ({"extract.web.answer_dates"} if os.environ.get("MOVED_MACHINE") else set())


class Moved(datetime):
    """A datetime whose present is moved."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        """Return this machine's present, moved."""
        return datetime.now(tz) + timedelta(seconds=float(Path(os.environ["MOVED_CLOCK"]).read_text()))


class Finder(importlib.abc.MetaPathFinder):
    """Finds a module that has a clock, and lets it be loaded with another one."""

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:
        """Return the module's own spec, whose loader then moves its clock; None for any other module."""
        if name not in MOVED:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            module.datetime = Moved  # type: ignore[attr-defined]

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if os.environ.get("MOVED_CLOCK"):
    sys.meta_path.insert(0, Finder())
