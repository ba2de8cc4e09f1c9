"""Prefect's server and workers as processes of a test's own, which die with it."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path

import prefect_api
from left_running import left_running

ROOT = Path(__file__).parents[1]
UP_WITHIN_S = 120
READY = ROOT / f".tools/prefect-tests/ready-{version('prefect')}.db"
"""A server's database as one of this version made it on this machine, which takes as long as all else that it does."""


@contextmanager
def running(*arguments: str, env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Prefect process, and end it with all it started."""
    with left_running([sys.executable, "-m", "prefect", *arguments], folder=ROOT, environment=env, log=log) as process:
        yield process


@contextmanager
def ready_made(home: Path) -> Iterator[None]:
    """Let the server of a new home have a database that is there already; the first one leaves its own for others."""
    home.mkdir(parents=True, exist_ok=True)
    is_new = not READY.exists()
    if not is_new:
        shutil.copyfile(READY, home / "prefect.db")
    yield
    if is_new:
        READY.parent.mkdir(parents=True, exist_ok=True)
        made = READY.with_suffix(f".{os.getpid()}")
        with closing(sqlite3.connect(home / "prefect.db")) as con, closing(sqlite3.connect(made)) as copy:
            con.backup(copy)
        made.replace(READY)


def wait_for(api: str) -> None:
    """Return when a server answers."""
    end = time.monotonic() + UP_WITHIN_S
    while True:
        try:
            prefect_api.ask(f"{api}/health")
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


@contextmanager
def flows_on(api: str) -> Iterator[None]:
    """Let flows that this process calls run on a server; what they send has arrived at the end, as it may end then."""
    from prefect.events.worker import EventsWorker
    from prefect.settings import PREFECT_API_URL, PREFECT_LOGGING_TO_API_ENABLED, temporary_settings

    with temporary_settings({PREFECT_API_URL: api, PREFECT_LOGGING_TO_API_ENABLED: False}):
        try:
            yield
        finally:
            EventsWorker.drain_all()
