"""Counting each place where Python changes files: an audit hook sees it before it happens, without any tool."""

import os
import signal
import sys
from dataclasses import dataclass
from typing import Any

CHANGES = frozenset({"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "os.link"})


@dataclass
class Counter:
    """How many changes there were; the one of number `last` is never made: the process is killed before it."""

    n: int = 0
    last: int | None = None

    def one_more(self) -> None:
        self.n += 1
        if self.n == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def watch(last: int | None) -> Counter:
    """Count the changes that this process makes from now on: files opened for writing, flushed, renamed, removed.

    What DuckDB writes is not seen; for that there are the kills at system calls, where strace is installed.
    """
    counter = Counter(last=last)

    def heard(event: str, told: tuple[object, ...]) -> None:
        if event in CHANGES or (event == "open" and _writes(told)):
            counter.one_more()

    flush = os.fsync

    def flushed(file: Any) -> None:
        counter.one_more()
        flush(file)

    sys.addaudithook(heard)
    os.fsync = flushed  # type: ignore[assignment]
    return counter


def _writes(told: tuple[object, ...]) -> bool:
    flags = told[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
