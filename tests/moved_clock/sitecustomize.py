"""Moves the clock of the product in any Python that has this folder in PYTHONPATH, and no other clock.

The file of the variable MOVED_CLOCK holds seconds, which `flows.collect.collector.utc_now` is ahead of this machine's
clock. Where MOVED_MACHINE is set too, the clock that is compared with the servers' is moved with it. The file is
read at each call, so that a worker's processes move with it while the worker runs on. Prefect, sockets and locks keep
the true time.

Where MOVED_SHORT is set, a run writes no pages and publishes without comments, for tests that ask for neither.
"""

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from types import ModuleType
from typing import Any

MOVED = {"flows.collect.collector"} | ({"extract.web.answer_dates"} if os.environ.get("MOVED_MACHINE") else set())
IS_SHORT = bool(os.environ.get("MOVED_SHORT"))


class Moved(datetime):
    """A datetime whose present is moved."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        """Return this machine's present, moved."""
        return datetime.now(tz) + timedelta(seconds=float(Path(os.environ["MOVED_CLOCK"]).read_text()))


def no_page(settings: Any, summary: Any, **_: object) -> Path:
    """Write no page: say where the front page would be."""
    summary.report = settings.data_dir / "reports" / "index.html"
    return Path(summary.report)


def no_comments(*_: object) -> None:
    """Describe nothing."""


SHORTENED: dict[str, tuple[str, Callable[..., object]]] = {
    "flows.collect.publisher": ("report", no_page),
    "warehouse.publish.building": ("describe", no_comments),
}


class Finder(importlib.abc.MetaPathFinder):
    """Finds a module that has a clock, and lets it be loaded with another one."""

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:
        """Return the module's own spec, whose loader then changes what this file says; None for any other module."""
        if name not in MOVED and not (IS_SHORT and name in SHORTENED):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            if name in MOVED:
                module.datetime = Moved  # type: ignore[attr-defined]
            else:
                setattr(module, *SHORTENED[name])

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if os.environ.get("MOVED_CLOCK"):
    sys.meta_path.insert(0, Finder())
