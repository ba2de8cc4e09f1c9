"""Questions in processes of their own, each with limits of time, memory and files.

A process is started by this program alone. It reads questions on stdin, each the name of a function of ours and its
arguments, and writes each answer as a line of JSON on stdout; nothing of an answer is ever run. Its limits:
1. It has no environment but KEPT, so many bytes of address space at most, and writes no file unless that is its work.
2. SIGALRM ends it GRACE_S after the time allowed, wherever it is: some functions of DuckDB cannot be interrupted.
"""

import contextlib
import importlib
import json
import logging
import os
import pickle
import select
import signal
import sys
import threading
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Any

from flows.shared import output
from warehouse.errors import ChipledgerError, SettingsError

GRACE_S = 2.0
WAIT_S = 60.0
"""In a queue."""
POLL_S = 0.5
"""Between two looks at whether this program was stopped, or the question cancelled: a signal may come before a wait."""
KEPT = ("PYTHONPATH", "SYSTEMROOT", "TZ")
"""Of the environment."""


class Child:
    """One process; it answers one question at a time, and is started where none runs.

    `module` is what it imports before the first question.
    """

    def __init__(self, memory: int, module: str, *, writes: bool = False) -> None:
        self._words = [str(memory), module, *(["writes"] if writes else [])]
        self._process: Popen[bytes] | None = None

    def start(self) -> "Popen[bytes]":
        """Return the process; a new one needs some tenths of a second until it answers."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            kept = {name: os.environ[name] for name in KEPT if name in os.environ}
            # An arena of memory for each thread would count against the limit, used or not.
            environment = {**kept, "MALLOC_ARENA_MAX": "2", "POLARS_MAX_THREADS": "2"}
            # -P: a folder called flows where this program was started is none of ours.
            command = [sys.executable, "-P", "-m", "flows.shared.child", *self._words]
            self._process = Popen(command, stdin=PIPE, stdout=PIPE, env=environment)  # noqa: S603 - every word is ours
        return self._process

    def ask(
        self, function: str, *, seconds: float, cancelled: threading.Event | None = None, **arguments: object
    ) -> Any:
        """Return what a function, `module:name`, gives for its arguments, as JSON has it, unless it is cancelled.

        Raises ChipledgerError: the function's own, or that it took too much time or memory.
        """
        process = self.start()
        assert process.stdin is not None and process.stdout is not None  # noqa: S101 - both are pipes, for the type checker
        line, answers = b"", select.poll()
        answers.register(process.stdout, select.POLLIN)
        try:
            with contextlib.suppress(BrokenPipeError):
                pickle.dump((function, seconds, arguments), process.stdin)
                process.stdin.flush()
                while not answers.poll(POLL_S * 1000):
                    if cancelled is not None and cancelled.is_set():
                        process.kill()
                line = process.stdout.readline()
        except BaseException:  # this program is being stopped
            self.close()
            raise
        if not line.endswith(b"\n"):
            with contextlib.suppress(TimeoutExpired):
                process.wait(GRACE_S)
            code = process.returncode
            self.close()
            if code == -signal.SIGALRM:
                raise ChipledgerError(f"stopped after {seconds:g} s", hint="Ask for less, or give it more time")
            cause = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            why = "it takes more memory than a question may have, or DuckDB failed"
            message = f"ended without an answer ({cause}): {why}"
            raise ChipledgerError(message, hint="Ask for less, or for fewer rows at once")
        reply = json.loads(line)
        if "error" in reply:
            kind = SettingsError if reply.pop("is_usage", False) else ChipledgerError
            raise kind(reply.pop("error"), **reply)
        return reply["answer"]

    def kill(self) -> None:
        """End the process, if there is one, from any thread; a question that it has fails."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(OSError), self._process:  # which closes its pipes and waits for it
                pass
            self._process = None


class Pool:
    """Processes for questions of several askers: `size` are answered at once, `waiting` more may wait.

    A process is kept once it is started, and the next one is started before it is needed.
    """

    def __init__(self, memory: int, module: str, *, size: int, waiting: int) -> None:
        self._kind = (memory, module)
        self._size, self._max_waiting, self._n_waiting = size, waiting, 0
        self._ready = threading.Condition()
        self._idle: list[Child] = []
        self._busy: list[Child] = []
        self._is_closed = False

    def warm(self) -> None:
        """Have an idle process, if there may be one more."""
        with self._ready:
            if not self._idle and len(self._busy) < self._size:
                self._idle.append(Child(*self._kind))
                self._idle[-1].start()

    def ask(self, function: str, *, seconds: float, **arguments: Any) -> Any:
        """Return what `Child.ask` does. Raises ChipledgerError, also where too many questions wait."""
        child = self._reserve()
        try:
            return child.ask(function, seconds=seconds, **arguments)
        finally:
            with self._ready:
                self._busy.remove(child)
                if self._is_closed:
                    child.close()
                else:
                    self._idle.append(child)
                self._ready.notify()

    def _reserve(self) -> Child:
        with self._ready:
            if len(self._busy) >= self._size:
                if self._n_waiting >= self._max_waiting:
                    raise self._too_many()
                self._n_waiting += 1
                try:
                    if not self._ready.wait_for(lambda: len(self._busy) < self._size, WAIT_S):
                        raise self._too_many()
                finally:
                    self._n_waiting -= 1
            child = self._idle.pop() if self._idle else Child(*self._kind)
            self._busy.append(child)
            self.warm()
            return child

    def _too_many(self) -> ChipledgerError:
        message = f"too many questions: {len(self._busy)} are being answered and {self._n_waiting} wait"
        hint = "Ask again in some seconds, one question after the other"
        return ChipledgerError(message, source="limits", field="questions", value=self._size, hint=hint)

    def close(self) -> None:
        """End all processes; questions under way fail."""
        with self._ready:
            self._is_closed = True
            for child in self._busy:
                child.kill()
            for child in self._idle:
                child.close()
            self._idle.clear()


def main() -> None:
    """Answer the questions on stdin, one after the other, until it ends."""
    memory, module, *writes = sys.argv[1:]
    _bound(int(memory), writes=bool(writes))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is for the program that asks; this one ends without a word
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    output.log_to_stderr(logging.WARNING)
    importlib.import_module(module)
    while True:
        try:
            function, seconds, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the program that started it
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_S)
        reply = json.dumps(_reply(function, arguments), ensure_ascii=False)
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout.buffer.write(reply.encode("utf-8", "surrogatepass") + b"\n")
        sys.stdout.buffer.flush()


def _reply(function: str, arguments: dict[str, Any]) -> dict[str, Any]:
    module, _, name = function.partition(":")
    try:
        return {"answer": getattr(importlib.import_module(module), name)(**arguments)}
    except MemoryError:
        return {"error": "it takes more memory than a question may have", "hint": "Ask for less"}
    except Exception as caught:
        error = output.as_refusal(caught)
        if error is None:
            logging.getLogger(__name__).exception("a question failed")
            message = f"a fault of chipledger: {type(caught).__name__}: {str(caught).partition(chr(10))[0]}"
            return {"error": message, "hint": "Please report it, with what stderr says"}
        value = None if error.value is None else str(error.value)
        of_error = {"error": error.message, "source": error.source, "field": error.field, "hint": error.hint}
        return of_error | {"value": value, "is_usage": isinstance(error, SettingsError)}


def _bound(memory: int, *, writes: bool) -> None:
    """Let this process have no more memory than it should, and write no file, where the system can do that."""
    with contextlib.suppress(ImportError):  # Windows has no such limits
        import resource

        limits = [(resource.RLIMIT_AS, memory), *([] if writes else [(resource.RLIMIT_FSIZE, 0)])]
        for kind, most in limits:
            with contextlib.suppress(OSError, ValueError):  # macOS does not take the first
                resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main()
