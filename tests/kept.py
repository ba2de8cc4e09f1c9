"""Folders that are made once for all workers of a test run, as what is in them takes seconds to make."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def once(base: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that `make` filled; the first worker to ask makes it while the others wait.

    It belongs to every test: read it, or copy it.
    """
    root = base.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # of all workers
    folder, made = root / f"kept-{name}", root / f"kept-{name}.made"
    with (root / f"kept-{name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a try that failed
            folder.mkdir()
            make(folder)
            made.touch()
    return folder
