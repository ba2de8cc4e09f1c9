"""What a run and those who collect for it hand each other on one file system: `<data_dir>/fan_out/<run>/`.

Beside the log of one writer. A group of scopes has a number, and is collected at most once under it:

    3.asked.json    what the log says of its scopes
    3.lock          held while somebody collects the group; says whether it was begun, or taken back
    3.<n>.json      what became of one scope; the bodies of its documents lie in the landing folder by then

The lock falls with the process that has it. Whatever a process gave is there before its lock is free, so that a run
which sees a begun group without holder has all that it will ever get of it.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from flows.collect import steps
from flows.collect.fan_out import Collected, Known, Scope, take
from warehouse.documents import Document, Look
from warehouse.errors import SourceError
from warehouse.landing.folder import Landing, stamp, unstamp

FOLDER = "fan_out"
BEGUN, TAKEN_BACK = "begun", "taken back"
TIMES = ("fetched_at", "published_at", "recorded_at")
"""Columns of core.document that are times."""


class Handed:
    """The folder of one run, which is made where it does not exist."""

    def __init__(self, data_dir: Path, landing: Landing, run_id: str) -> None:
        self.run_id = run_id
        self.folder = data_dir / FOLDER / run_id
        self.landing = landing
        self.folder.mkdir(parents=True, exist_ok=True)
        self._seen: set[str] = set()

    # --- what the run does

    def ask(self, number: int, known: Mapping[Scope, Known]) -> None:
        """Say which scopes a group has, and what the log says of each."""
        told = [[source, scope, _known_told(each)] for (source, scope), each in known.items()]
        _write(self.folder / f"{number}.asked.json", told)

    def taken(self, number: int) -> list[Collected]:
        """Return what was given of a group since this was asked last."""
        found = []
        for path in sorted(self.folder.glob(f"{number}.*.json")):
            if path.name not in self._seen and path.name != f"{number}.asked.json":
                self._seen.add(path.name)
                found.append(self._collected(json.loads(path.read_bytes())))
        return found

    def is_begun(self, number: int) -> bool:
        """Return whether somebody began a group."""
        lock = self.folder / f"{number}.lock"
        return lock.exists() and lock.read_text(encoding="utf-8") == BEGUN

    def is_over(self, number: int) -> bool:
        """Return whether a group was begun and nobody is at it any more, be it done or its process dead."""
        if not self.is_begun(number):
            return False
        with self._held(number) as lock:
            return lock is not None

    def take_back(self, number: int) -> bool:
        """Have a group begun by nobody from now on; return False where somebody has begun it."""
        with self._held(number) as lock:
            if lock is None or lock.read():
                return False
            _mark(lock, TAKEN_BACK)
            return True

    def remove(self) -> None:
        """Remove the folder; who still collects finds out when it gives, and stops."""
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- what those who collect do

    @contextmanager
    def begun(self, number: int, scopes: Sequence[Scope]) -> Iterator[dict[Scope, Known] | None]:
        """Hold a group and yield its scopes with what the log says of each; None where it is not to be begun."""
        _ = scopes  # as they were written down
        with self._held(number) as lock:
            if lock is None or lock.read() or not (self.folder / f"{number}.asked.json").exists():
                yield None
                return
            _mark(lock, BEGUN)
            told = json.loads((self.folder / f"{number}.asked.json").read_bytes())
            yield {(source, scope): _known(each) for source, scope, each in told}

    def give(self, number: int, collected: Collected) -> None:
        """Keep the bodies of what was collected, then say so to the run; a run that is gone takes nothing."""
        looks = [self.landing.told(look) for look in collected.looks]
        error = collected.error
        told = {
            "source": collected.source,
            "scope": collected.scope,
            "seconds": collected.seconds,
            "looks": looks,
            "notes": collected.notes,
            "error": error.as_dict() if error else None,
        }
        n_given = len(list(self.folder.glob(f"{number}.*.json")))
        _write(self.folder / f"{number}.{n_given}.json", told)

    # --- within

    @contextmanager
    def _held(self, number: int) -> Iterator[IO[str] | None]:
        """Hold the lock of a group, and yield its file; None where somebody else holds it."""
        with (self.folder / f"{number}.lock").open("a+", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield None
                return
            lock.seek(0)
            yield lock

    def _collected(self, told: Mapping[str, Any]) -> Collected:
        return Collected(
            source=told["source"],
            scope=told["scope"],
            seconds=told["seconds"],
            looks=tuple(self._look(look) for look in told["looks"]),
            notes=tuple(told["notes"]),
            error=error_of(told["error"]),
        )

    def _look(self, told: Mapping[str, Any]) -> Look:
        documents: list[Document] = [self.landing.document(told, index) for index in range(len(told["documents"]))]
        return Look(
            source=told["source"],
            scope=told["scope"],
            observed_at=unstamp(told["observed_at"]),
            complete=told["complete"],
            archived=told["archived"],
            notes=tuple(told["notes"]),
            documents=tuple(documents),
        )


def take_left(one: steps.Run) -> None:
    """Land what was collected for runs that were killed, the oldest first, and remove their folders.

    The caller is the one writer, so that no other run is at it.
    """
    for folder in sorted(path for path in (one.settings.data_dir / FOLDER).glob("*") if path.is_dir()):
        left = Handed(one.settings.data_dir, one.landing, folder.name)
        for number in sorted(int(path.name.partition(".")[0]) for path in folder.glob("*.asked.json")):
            for collected in left.taken(number):
                if collected.error is None:
                    take(one, collected)
        left.remove()


def error_of(told: Any) -> SourceError | None:
    """Return an error that was handed over, if there was one."""
    return SourceError(told.pop("error"), **told) if told else None


def _known_told(known: Known) -> dict[str, Any]:
    rows = {
        key: {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
        for key, row in known.landed.items()
    }
    return {"last_observed": stamp(known.last_observed) if known.last_observed else None, "landed": rows}


def _known(told: Mapping[str, Any]) -> Known:
    rows = {
        key: {name: datetime.fromisoformat(value) if value and name in TIMES else value for name, value in row.items()}
        for key, row in told["landed"].items()
    }
    last = told["last_observed"]
    return Known(last_observed=unstamp(last) if last else None, landed=rows)


def _mark(lock: IO[str], word: str) -> None:
    lock.write(word)
    lock.flush()
    os.fsync(lock.fileno())


def _write(path: Path, told: object) -> None:
    """Write a file whole, or not at all."""
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(told, file, ensure_ascii=False, default=str)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
