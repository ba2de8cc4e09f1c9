"""Commands as a person types them into terminals of one folder, and a record of them and of what they printed."""

import os
import pty
import select
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from left_running import left_running

LONGEST = 6000
"""Characters of one command's output that are kept: what a table needs, not a list of packages."""


@dataclass(frozen=True, kw_only=True)
class Terminals:
    """Terminals in one folder with one environment; what is typed and printed is appended to a file as it comes."""

    folder: Path
    environment: Mapping[str, str]
    record: Path
    first: str = ""
    """What is typed into each terminal before anything else."""

    def note(self, text: str) -> None:
        """Record what is no command."""
        self._add(f"({text})\n")

    def type(self, command: str, *, within: float, more: Mapping[str, str] | None = None) -> str:
        """Run a command and return what it printed; it must end with 0."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"{self.first}\n{command}"],
            cwd=self.folder, env={**self.environment, **(more or {})}, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=within,
        )  # fmt: skip
        self._typed(command, done.stdout, f"(exit {done.returncode})")
        assert done.returncode == 0, done.stdout
        return done.stdout

    def answer(self, command: str, answers: Mapping[str, str], *, within: float, more: Mapping[str, str]) -> None:
        """Run a command that asks on its terminal, and answer each question, in order; it must end with 0."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            ["bash", "-c", command], cwd=self.folder, env={**self.environment, **more},
            preexec_fn=lambda: os.login_tty(theirs),
        )  # fmt: skip
        os.close(theirs)
        shown = ""
        for question, said in answers.items():
            while question not in shown:
                assert select.select([ours], [], [], within)[0], f"it never asked {question}"
                shown += os.read(ours, 1024).decode()
            os.write(ours, f"{said}\n".encode())
        code = process.wait(timeout=within)
        os.close(ours)
        self._typed(command, shown.replace("\r", ""), f"(answered; exit {code})")
        assert code == 0, shown

    @contextmanager
    def left_running(self, command: str, *, log: Path, alone: Mapping[str, str] | None = None) -> Iterator[None]:
        """Run a command in a terminal of its own, and end it with all it started.

        With `alone` it has that environment and no other, and is a program without a shell, as systemd starts it.
        """
        self._typed(command, "", f"(left running; its output is {log.name})")
        shell = command.split() if alone is not None else ["bash", "-c", f"{self.first}\n{command}"]
        environment = self.environment if alone is None else alone
        with left_running(shell, folder=self.folder, environment=environment, log=log):
            yield

    def _typed(self, command: str, printed: str, end: str) -> None:
        if len(printed) > LONGEST:
            printed = f"{printed[: LONGEST // 2]}\n[...]\n{printed[-LONGEST // 2 :]}"
        self._add(f"[{datetime.now(UTC):%H:%M:%S}] $ {command}\n{printed.rstrip()}\n{end}\n")

    def _add(self, text: str) -> None:
        with self.record.open("a", encoding="utf-8") as file:
            file.write(text)
