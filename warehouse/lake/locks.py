"""Locks of a shared warehouse, by name: they die with the process that holds them, on whichever machine it ran.

In PostgreSQL they are advisory locks of one session of their own, which a transaction pooler between would break. Where
the catalogue is an SQLite file, they are locks of files beside it, and reach one machine.

A thread that holds a lock may take it again; other threads of its process wait like anybody.
"""

import fcntl
import hashlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from warehouse.errors import ChipledgerError, WriterBusy
from warehouse.lake.place import Place

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.005, 0.25
KEEPALIVE = "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
"""The server ends the session of a machine that vanished after a minute; by itself it would wait for two hours."""


class Locks(ABC):
    """The locks of one process on one warehouse; what is taken and given back is in the hands of a subclass."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._owners: dict[str, tuple[int, int]] = {}
        """Of each lock held: the thread, and how often it took it."""
        self._inside = threading.Lock()

    @contextmanager
    def lock(self, name: str, *, wait_seconds: float | None = None) -> Iterator[None]:
        """Hold a lock; wait for it as long as it takes, or for so many seconds. Raises WriterBusy."""
        deadline = None if wait_seconds is None else time.monotonic() + wait_seconds
        pause = FIRST_PAUSE_S
        while not self._take(name):
            if deadline is not None and time.monotonic() >= deadline:
                raise WriterBusy(
                    f"another process holds the lock {name!r}",
                    source=self.where,
                    hint="Wait for it to end, or pass --wait SECONDS",
                )
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)
        try:
            yield
        finally:
            self._give(name)

    @contextmanager
    def try_lock(self, name: str) -> Iterator[bool]:
        """Hold a lock if it is free; yield whether it is held now."""
        is_held = self._take(name)
        try:
            yield is_held
        finally:
            if is_held:
                self._give(name)

    @abstractmethod
    def check(self) -> None:
        """Raise WriterBusy where locks that this process took are no longer its own."""

    @abstractmethod
    def close(self) -> None:
        """Give everything back."""

    def _take(self, name: str) -> bool:
        me = threading.get_ident()
        with self._inside:
            owner, count = self._owners.get(name, (me, 0))
            if owner != me or not (count or self._seize(name)):
                return False
            self._owners[name] = (me, count + 1)
            return True

    def _give(self, name: str) -> None:
        with self._inside:
            owner, count = self._owners[name]
            if count > 1:
                self._owners[name] = (owner, count - 1)
                return
            del self._owners[name]
            self._release(name)

    @abstractmethod
    def _seize(self, name: str) -> bool: ...

    @abstractmethod
    def _release(self, name: str) -> None: ...


class PostgresLocks(Locks):
    """Advisory locks of a catalogue in PostgreSQL; two catalogues of one database do not share them."""

    def __init__(self, place: Place) -> None:
        super().__init__(where="the catalogue in PostgreSQL")
        self._place = place
        self._session: Any = None

    def _seize(self, name: str) -> bool:
        return bool(self._request("select pg_try_advisory_lock(%s)", name))

    def _release(self, name: str) -> None:
        import psycopg

        # A session that has ended holds nothing.
        with suppress(psycopg.Error, WriterBusy):
            self._request("select pg_advisory_unlock(%s)", name)

    def check(self) -> None:
        self._request("select 1 where %s is not null", "")

    def _request(self, question: str, name: str) -> object:
        import psycopg

        if self._session is not None and self._session.closed:
            # Its locks are somebody else's by now: whoever works under one must not go on.
            held, self._session = sorted(self._owners), None
            if held:
                raise WriterBusy(
                    "the session that held the locks has ended",
                    source=self.where,
                    field="locks",
                    value=", ".join(held),
                    hint="Run again: what was not committed is not in the log",
                )
        try:
            if self._session is None:
                self._session = psycopg.connect(
                    self._place.catalogue, autocommit=True, options=KEEPALIVE, application_name="chipledger locks"
                )
            row = self._session.execute(question, [_number(f"{self._place.schema}\x1f{name}")]).fetchone()
        except psycopg.Error as error:
            raise ChipledgerError(
                "the catalogue cannot be reached",
                source=self.where,
                field="warehouse.url",
                value=str(error).splitlines()[0] if str(error) else type(error).__name__,
                hint="The published file answers meanwhile; `chipledger doctor` says what is wrong",
            ) from error
        return row[0] if row else None

    def close(self) -> None:
        if self._session is not None:
            self._session.close()


class FileLocks(Locks):
    """Locks of files in a folder beside a catalogue in SQLite."""

    def __init__(self, place: Place) -> None:
        super().__init__(where=place.catalogue)
        self._folder = Path(f"{place.catalogue}.locks")
        self._files: dict[str, Any] = {}

    def _seize(self, name: str) -> bool:
        self._folder.mkdir(parents=True, exist_ok=True)
        file = (self._folder / hashlib.sha256(name.encode()).hexdigest()[:32]).open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        self._files[name] = file
        return True

    def _release(self, name: str) -> None:
        self._files.pop(name).close()

    def check(self) -> None:
        """Do nothing: a process loses the lock of a file only when it ends."""

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()


def _number(name: str) -> int:
    """Return 63 bits of a name's hash: PostgreSQL's locks are numbers."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 1
