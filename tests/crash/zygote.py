"""A process that has everything imported and forks a child for each thing that is to be done, and killed.

A killed child so costs what it did, and not a second of imports. One request and one answer a line, as JSON: see
`Order` and `Ended`. Nothing is computed here before the fork, as threads do not survive one.
"""

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

HERE = Path(__file__).resolve()
TRACED = "write,pwrite64,writev,pwritev,rename,renameat,renameat2,link,linkat,unlink,unlinkat,fsync,fdatasync,ftruncate"
"""System calls that change files: a kill at any of them leaves another state behind."""
WRITES = "write,pwrite64,fsync,ftruncate"
"""Those that a full or failing disk refuses."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a child is to do, and what is to become of it.

    `job`: a name of crash.jobs.JOBS, done on the folder `root`, by `again` where it is the next try. It is killed
    after `after_s` seconds of processor time, at the named `point`, at the change of files of number `change`, or at
    a system call, the `call`th of `call_name` in a thread; with `error` all writes from a thread's `call`th of their
    name on fail with it instead.
    `file_bytes`: no file may grow larger. `user`: the child's user. `traced`: count the system calls.
    """

    job: str
    root: str
    again: bool = False
    after_s: float | None = None
    point: str | None = None
    change: int | None = None
    call: int | None = None
    call_name: str = TRACED
    error: str | None = None
    file_bytes: int | None = None
    user: int | None = None
    traced: bool = False


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a child ended: its status (-9: killed), seconds, those of a processor, memory, words and changes.

    `calls`: how many system calls of each name the thread made that made the most of them.
    """

    status: int
    seconds: float
    processor_s: float
    memory_mb: float
    printed: str
    changes: int
    calls: dict[str, int]


class Zygote:
    """The process, from outside; use it in one thread at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def do(self, job: str, root: Path, **how: Any) -> Ended:
        """Let a child do a job, and return how it ended."""
        process = self._process
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(asdict(Order(job=job, root=str(root), **how))) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        assert answer, f"the zygote ended: {process.wait()}"
        return Ended(**json.loads(answer))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _serve() -> None:
    """Answer requests until there are no more; what children print goes to files, this one's answers to stdout."""
    sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[2])]
    from crash import jobs

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    jobs.warm()
    for line in sys.stdin:
        answers.write(json.dumps(asdict(_done(Order(**json.loads(line))))) + "\n")
        answers.flush()


def _done(order: Order) -> Ended:
    with (
        open(os.memfd_create("printed"), "w+b", buffering=0) as printed,  # noqa: PTH123 - a handle
        open(os.memfd_create("counted"), "w+b", buffering=0) as counted,  # noqa: PTH123
        open(os.memfd_create("calls"), "w+b", buffering=0) as calls,  # noqa: PTH123
    ):
        go_reader, go_writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(go_writer)
            _be_child(order, printed, counted, go_reader)
        os.close(go_reader)
        tracer = _traced(order, child, calls)
        begun = time.monotonic()
        os.close(go_writer)  # now the child begins
        status, usage = _awaited(child, order.after_s)
        seconds = time.monotonic() - begun
        if tracer:
            tracer.wait()
        printed.seek(0)
        counted.seek(0)
        calls.seek(0)
        return Ended(
            status=os.waitstatus_to_exitcode(status),
            seconds=seconds,
            processor_s=usage.ru_utime + usage.ru_stime,
            memory_mb=usage.ru_maxrss / 1024,
            printed=printed.read().decode(errors="replace"),
            changes=int(counted.read().split()[-1:][0] if counted.seek(0, 2) and not counted.seek(0) else 0),
            calls=_most(calls.read().decode(errors="replace")),
        )


def _awaited(child: int, after_s: float | None) -> tuple[int, resource.struct_rusage]:
    if after_s is not None:
        # Its own clock, as on a busy machine the one on the wall says nothing of how far it is. Linux: see
        # MAKE_PROCESS_CPUCLOCK in include/linux/posix-timers.h.
        clock = (~child << 3) | 2
        while time.clock_gettime(clock) < after_s:
            ended, status, usage = os.wait4(child, os.WNOHANG)
            if ended:
                return status, usage
            time.sleep(0.0005)
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return status, usage


def _most(told: str) -> dict[str, int]:
    """Return how often a thread called each name at most, of lines like `1234 write(3</a/file>, ...`."""
    counted = Counter(re.findall(r"^(\d+) +(\w+)\(", told, flags=re.MULTILINE))
    return {name: max(n for (_, other), n in counted.items() if other == name) for _, name in counted}


def _traced(order: Order, child: int, calls: IO[bytes]) -> "subprocess.Popen[bytes] | None":
    """Attach strace where system calls are counted, killed at or failed, and wait until it is there."""
    if order.call is None and not order.traced:
        return None
    what = ["-e", f"trace={TRACED}"]
    if order.call is not None:  # strace counts by thread and name
        told = f"error={order.error}:when={order.call}+" if order.error else f"signal=KILL:when={order.call}"
        what += ["-e", f"inject={order.call_name if not order.error else WRITES}:{told}"]
    tracer = subprocess.Popen(
        ["strace", "-f", "-y", *what, "-o", f"/proc/self/fd/{calls.fileno()}", "-p", str(child)],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[calls.fileno()],
    )  # fmt: skip
    assert tracer.stderr
    told_first = tracer.stderr.readline()
    assert b"attached" in told_first, told_first
    return tracer


def _be_child(order: Order, printed: IO[bytes], counted: IO[bytes], go: int) -> None:
    """Do the order and end; this never returns."""
    status = 1
    try:
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
        os.read(go, 1)  # ends when all that watches is in place
        if order.file_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (order.file_bytes, order.file_bytes))
        if order.user is not None:
            os.setgroups([])
            os.setgid(order.user)
            os.setuid(order.user)
        from crash import changes, jobs, points

        counter = changes.watch(order.change)
        if order.point:
            points.POINTS[order.point].put()
        with contextlib.ExitStack() as stack:
            stack.callback(lambda: counted.write(str(counter.n).encode()))
            jobs.do(order.job, Path(order.root), again=order.again)
            status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001 - it is told, and the process ends
        import traceback

        traceback.print_exc()
        status = 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve()
