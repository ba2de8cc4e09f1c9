"""Prefect's server and workers as processes of a test's own, which die with it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import prefect_api

ROOT = Path(__file__).parents[1]
UP_WITHIN_S = 120


@contextmanager
def running(*arguments: str, env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Prefect process, and end it with all it started."""
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "prefect", *arguments],
            cwd=ROOT, env=env, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):  # of one that a test killed with all it started
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def wait_for(api: str) -> None:
    """Return when a server answers."""
    end = time.monotonic() + UP_WITHIN_S
    while True:
        try:
            prefect_api.ask(f"{api}/health")
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
        else:
            return
