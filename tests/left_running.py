"""Programs that run beside a test, each in a session of its own, ended with all that they started."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

ENDS_WITHIN_S = 30


@contextmanager
def left_running(
    words: Sequence[str], *, folder: Path, environment: Mapping[str, str], log: Path
) -> "Iterator[subprocess.Popen[bytes]]":
    """Run a program, what it prints in a file; end it and all it started, by force where it does not obey."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):  # of one that a test killed with all it started
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
