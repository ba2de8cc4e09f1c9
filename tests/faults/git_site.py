"""SkyPilot's catalogues over git's own HTTP, and what is left of git after it was asked."""

import contextlib
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from os import environ, getpid, sysconf
from pathlib import Path
from types import TracebackType
from typing import Self

from git_repository import Repository, table
from standin.exchange import Answer

PATH = "/catalog"
LOOK_S = 0.02


@cache
def repository() -> tuple[tempfile.TemporaryDirectory[str], Repository]:
    """Return a repository with two versions of one table, and the folder that goes with this process."""
    folder = tempfile.TemporaryDirectory(prefix="catalogues-")
    made = Repository(Path(folder.name) / PATH.strip("/"))
    made.commit("2026-01-01T00:00:00+00:00", v8_lambda=table("0.75"))
    made.commit("2026-01-02T00:00:00+00:00", v8_lambda=table("0.86"))
    return folder, made


@cache
def blob() -> bytes:
    """Return git's name of the first version of the table."""
    return repository()[1].git("rev-parse", "HEAD~1:catalogs/v8/lambda/vms.csv").strip().encode()


def handle(method: str, path: str, headers: Mapping[str, str], asked: bytes) -> tuple[Answer, Callable[[], None]]:
    """Answer as git does (git-http-backend, a CGI program)."""
    folder, _ = repository()
    place, _, query = path.partition("?")
    told = subprocess.run(
        ["git", "http-backend"], input=asked, check=True, capture_output=True,
        env={
            "PATH": environ["PATH"], "GIT_PROJECT_ROOT": folder.name, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": place,
            "QUERY_STRING": query, "REQUEST_METHOD": method, "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(asked)), "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "GIT_PROTOCOL": headers.get("git-protocol", ""), "GIT_CONFIG_GLOBAL": "/dev/null",
        },
    ).stdout  # fmt: skip
    head, _, body = told.partition(b"\r\n\r\n")
    said = dict(line.split(": ", 1) for line in head.decode().splitlines())
    status = int(said.pop("Status", "200").split()[0])
    return Answer(status=status, body=body, content_type=said.get("Content-Type", "")), lambda: None


class Descendants:
    """Watches the processes that this one starts, and those that they start: their memory, and which outlive it."""

    def __init__(self) -> None:
        self.most_kib = 0
        self._seen: dict[int, str] = {}
        self._before: dict[int, str] = {}
        self._since = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        # What earlier tests started and goes on, such as a database, is nobody's here. The list of children may lack
        # one while another ends, so their start is looked at besides.
        self._before = {pid: stat[1] for pid in _children(getpid()) if (stat := _stat(pid))}
        self._since = int(time.clock_gettime(time.CLOCK_BOOTTIME) * sysconf("SC_CLK_TCK"))
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def left(self, within_s: float = 2.0) -> list[str]:
        """Return the programs that still run after a moment of grace."""
        ends_at = time.monotonic() + within_s
        while alive := [pid for pid, begun in self._seen.items() if _stat(pid)[1:2] == [begun]]:
            if time.monotonic() > ends_at:
                return [Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:60] for pid in alive]
            time.sleep(LOOK_S)
        return []

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            waiting = [getpid(), *self._seen]
            while waiting:
                pid = waiting.pop()
                for child in _children(pid):
                    if child in self._seen or not (stat := _stat(child)):
                        continue
                    if int(stat[1]) >= self._since and self._before.get(child) != stat[1]:
                        self._seen[child] = stat[1]
                        waiting.append(child)
            self.most_kib = max([self.most_kib, *map(_peak, self._seen)])


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):  # a thread that ended meanwhile: those of the others count
                found += map(int, (thread / "children").read_text().split())
    return found


def _peak(pid: int) -> int:
    """Return the most memory that a process had, in KiB; 0 before it runs a program of its own."""
    with contextlib.suppress(OSError):
        found = re.search(r"Name:\s+git.*VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.DOTALL)
        return int(found[1]) if found else 0
    return 0


def _stat(pid: int) -> list[str]:
    """Return parent and moment of start of a process; nothing where it is over."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []
    return [] if words[0] == "Z" else [words[1], words[19]]
