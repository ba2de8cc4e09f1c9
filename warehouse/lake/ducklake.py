"""A log that several machines write: a DuckLake, whose rows are Parquet files and whose catalogue is a database.

Everything the log does goes over one connection, whose database in use is the lake by the name `build`, as if it were
the writer's file. What differs is here: the extensions, which come as wheels and need no network, the bucket's
credentials, locks, transactions that are tried again, and rows that several writers would add twice.

Locks have names and die with the process that holds them, on whichever machine it ran. In PostgreSQL they are advisory
locks of one session of their own, which a transaction pooler between would break. Where the catalogue is an SQLite
file, they are locks of files next to it, and reach one machine. A thread that holds a lock may take it again; other
threads of its process wait like anybody.
"""

import hashlib
import importlib
import logging
import os
import random
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import duckdb

from warehouse import disk
from warehouse.errors import ChipledgerError, CredentialsMissing, WriterBusy
from warehouse.lake.place import Place
from warehouse.schema.tables import quote

LOG = logging.getLogger(__name__)

POSTGRES = "the catalogue in PostgreSQL"
LOST = re.compile(
    r"(server closed the|no|terminating|SSL|could not receive data from server:) connection[^\n]*"
    r'|Failed to execute query "ROLLBACK"|FATAL: [^\n]*'
)
"""How libpq says to DuckDB that a session has ended, between two statements, too, or that there is no new one."""
AGAIN = "Run again: what was landed is loaded then, once. `chipledger doctor` says what is wrong"
REFUSED = re.compile(r"[^\n:]*\(HTTP code \d{3}\)|HTTP \d{3}|[^\n:]*error for HTTP")
"""How a bucket's server says to DuckDB that it does not answer, or not now."""
NAME = "build"
"""The name of the database in use, as that of the writer's file."""
WRITE = "write"
"""The lock of whoever writes to a catalogue in SQLite, where one transaction breaks every other."""
SHARED_ROWS = "shared rows"
RESERVED_NUMBERS = 1000
"""Numbers of fetches that a writer reserves at once; what it does not use is nobody's."""
TRIES = 5
"""Of one transaction as a whole; DuckLake itself tries each commit again, where others came before it."""
RETRIES = {"ducklake_max_retry_count": 30, "ducklake_retry_wait_ms": 20, "ducklake_retry_backoff": 1.2}
"""About half a minute in all, which eight writers that commit at once do not need."""
BUSY_MS = 60_000
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.005, 0.25
KEEPALIVE = "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
"""The server ends the session of a machine that vanished after a minute; by itself it would wait for two hours."""

Answer = TypeVar("Answer")


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
                hint = "Wait for it to end, or pass --wait SECONDS"
                raise WriterBusy(f"another process holds the lock {name!r}", source=self.where, hint=hint)
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
        super().__init__(where=POSTGRES)
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
                message = "the session that held the locks has ended"
                hint = "Run again: what was not committed is not in the log"
                raise WriterBusy(message, source=self.where, field="locks", value=", ".join(held), hint=hint)
        try:
            if self._session is None:
                self._session = psycopg.connect(
                    self._place.catalogue, autocommit=True, options=KEEPALIVE, application_name="chipledger locks"
                )
            number = int.from_bytes(hashlib.sha256(f"{self._place.schema}\x1f{name}".encode()).digest()[:8], "big") >> 1
            row = self._session.execute(question, [number]).fetchone()
        except psycopg.Error as error:
            raise _unreachable(str(error) or type(error).__name__) from error
        return row[0] if row else None

    def close(self) -> None:
        if self._session is not None:
            self._session.close()


class FileLocks(Locks):
    """Locks of files in a folder beside a catalogue in SQLite."""

    def __init__(self, place: Place) -> None:
        super().__init__(where=place.catalogue)
        self._folder = Path(f"{place.catalogue}.locks")
        self._files: dict[str, ExitStack] = {}

    def _seize(self, name: str) -> bool:
        self._folder.mkdir(parents=True, exist_ok=True)
        opened = ExitStack()
        file = opened.enter_context(disk.lock_file(self._folder / hashlib.sha256(name.encode()).hexdigest()[:32]))
        if not disk.try_lock(file):
            opened.close()
            return False
        self._files[name] = opened
        return True

    def _release(self, name: str) -> None:
        self._files.pop(name).close()

    def check(self) -> None:
        """Do nothing: a process loses the lock of a file only when it ends."""

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()


class Lake:
    """One open lake: its place, its locks, and its connection."""

    def __init__(self, place: Place, con: duckdb.DuckDBPyConnection) -> None:
        self.place = place
        self.con = con
        self.locks: Locks = PostgresLocks(place) if place.is_postgres else FileLocks(place)
        self.lock, self.try_lock = self.locks.lock, self.locks.try_lock
        self._credentials: tuple[str, str, str | None] | None = None
        self._session: Any = None
        self._next_no = self._end_no = 0
        """The numbers of fetches that were reserved: the next, and the one after the last."""

    @contextmanager
    def scopes(self, scopes: Iterable[tuple[str, str]]) -> Iterator[None]:
        """Hold the locks of scopes (source, scope), which whoever loads them must; wait until all are free."""
        from warehouse.landing.journal import scope_lock

        names = sorted({scope_lock(source, scope) for source, scope in scopes})
        while True:
            with ExitStack() as held:
                # All or none: whoever waits holds none of them, so that no two writers wait for each other.
                if all(held.enter_context(self.try_lock(name)) for name in names):
                    yield
                    return
            time.sleep(random.uniform(0.05, 0.2))  # noqa: S311 - no secret

    @contextmanager
    def shared_rows(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a connection for rows that several writers may add: a short transaction of its own, under its lock.

        It sees what others committed since the caller's transaction began, which does not see what is added here.
        """
        with self.lock(SHARED_ROWS if self.place.is_postgres else WRITE), self.con.cursor() as other:
            other.execute(f"use {NAME}")
            with transaction(other):
                yield other
                self.locks.check()

    def reserve(self, n_numbers: int) -> int:
        """Return the first of so many numbers of fetches that no other writer gives; they are reserved in blocks."""
        if self._next_no + n_numbers > self._end_no:
            n_reserved = max(n_numbers, RESERVED_NUMBERS)
            with self.shared_rows() as other:
                (last,) = other.execute(
                    "select greatest((select coalesce(max(last_fetch_no), 0) from meta.reserved), "
                    "(select coalesce(max(fetch_no), 0) from log.scope_fetch))"
                ).fetchone() or (0,)
                other.execute("insert into meta.reserved values (?)", [last + n_reserved])
            self._next_no, self._end_no = last + 1, last + 1 + n_reserved
        first = self._next_no
        self._next_no += n_numbers
        return first

    def renew(self) -> None:
        """Give DuckDB the credentials of the bucket that boto3 finds now: those of a role last for an hour."""
        if not self.place.is_on_s3:
            return
        import boto3

        self._session = self._session or boto3.Session()
        found = self._session.get_credentials()
        if found is None:
            message = "no credentials for the bucket of the warehouse"
            hint = "boto3 finds them in its own order: variables, profile, role of the machine"
            raise CredentialsMissing(message, source=self.place.data_path, hint=hint)
        frozen = found.get_frozen_credentials()
        credentials = (frozen.access_key, frozen.secret_key, frozen.token)
        if credentials != self._credentials:
            _make_secret(self.con, self.place, credentials, self._session.region_name)
            self._credentials = credentials


_OPEN: WeakKeyDictionary[duckdb.DuckDBPyConnection, Lake] = WeakKeyDictionary()


def of(con: duckdb.DuckDBPyConnection) -> Lake | None:
    """Return the lake that a connection writes; None where it writes a file."""
    return _OPEN.get(con)


@contextmanager
def connected(place: Place, *, make: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
    """Connect to a lake, which is made where it does not exist; its shape is as it is. Raises ChipledgerError.

    With `make=False` nothing is made: where there is no lake that is an error too.
    """
    con = duckdb.connect()
    lake = Lake(place, con)
    try:
        _load_extensions(con, place)
        _set(con, place)
        lake.renew()
        _attach(lake, make=make)
        con.execute(f"use {NAME}")
        _OPEN[con] = lake
        yield con
    except duckdb.Error as error:
        if lost := LOST.search(str(error)):
            raise _unreachable(lost[0]) from error
        if refused := REFUSED.search(str(error)):
            message, why = "the bucket refuses it, or cannot be reached", refused[0].strip()
            raise ChipledgerError(message, source=place.data_path, field="S3", value=why, hint=AGAIN) from error
        raise
    finally:
        _OPEN.pop(con, None)
        con.close()
        lake.locks.close()


def snapshot(con: duckdb.DuckDBPyConnection) -> int:
    """Return the number of a lake's newest snapshot."""
    ((number,),) = con.execute(f"from {NAME}.current_snapshot()").fetchall()
    return int(number)


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Commit what is done within, or none of it."""
    con.begin()
    try:
        yield
        con.commit()
    except BaseException:
        # A commit that failed has ended its transaction, and so has a session that was lost.
        with suppress(duckdb.Error):
            con.rollback()
        raise


def scopes_held(con: duckdb.DuckDBPyConnection, scopes: Iterable[tuple[str, str]]) -> AbstractContextManager[None]:
    """Hold the locks of scopes (source, scope) of a lake; the writer of a file has all of it."""
    lake = of(con)
    return nullcontext() if lake is None else lake.scopes(scopes)


def transacted(
    con: duckdb.DuckDBPyConnection, work: Callable[[], Answer], *, scopes: Iterable[tuple[str, str]] = ()
) -> Answer:
    """Do some work in one transaction of the log, and return what it gave.

    On a lake it is done under the locks of its scopes, and done again, a few times, where its commit met another's.
    """
    lake = of(con)
    if lake is None:
        with transaction(con):
            return work()
    with lake.scopes(scopes), nullcontext() if lake.place.is_postgres else lake.lock(WRITE):
        for n_tried in range(1, TRIES + 1):
            lake.renew()
            try:
                with transaction(con):
                    done = work()
                    lake.locks.check()
                    return done
            except duckdb.TransactionException as error:
                cause = str(error).strip().splitlines()[-1]
                if n_tried == TRIES:
                    message = f"not committed in {TRIES} tries: {cause}"
                    hint = "Run again: what was landed is loaded then, once"
                    raise ChipledgerError(message, source="the shared warehouse", field="commit", hint=hint) from error
                LOG.warning("a commit met another's, and is tried again: %s", cause)
                time.sleep(random.uniform(0.05, 0.2) * 2**n_tried)  # noqa: S311 - no secret
    raise AssertionError("unreachable")


def _load_extensions(con: duckdb.DuckDBPyConnection, place: Place) -> None:
    names = ["ducklake", "postgres_scanner" if place.is_postgres else "sqlite_scanner"]
    for name in (*names, "httpfs") if place.is_on_s3 else names:
        try:
            (where,) = importlib.import_module(f"duckdb_extension_{name}").__path__
        except ImportError as error:
            message = "what a shared warehouse needs is not installed"
            hint = "In a checkout `uv sync --extra lake`, elsewhere `uv tool install 'chipledger[lake] @ ...'`"
            raise ChipledgerError(message, source="chipledger", field="extension", value=name, hint=hint) from error
        (file,) = Path(where).glob(f"extensions/*/{name}.duckdb_extension")
        # By its path: nothing is written to anybody's home, and nothing is looked for on the network.
        con.execute(f"load '{file}'")


def _set(con: duckdb.DuckDBPyConnection, place: Place) -> None:
    place.data_dir.mkdir(parents=True, exist_ok=True)
    con.execute("set autoinstall_known_extensions = false")
    con.execute("set enable_progress_bar = false")
    con.execute(f"set temp_directory = {quote(str(place.data_dir / f'{NAME}.tmp'))}")
    for name, value in RETRIES.items():
        con.execute(f"set {name} = {value}")


def _attach(lake: Lake, *, make: bool) -> None:
    try:
        _attach_as(lake, "create_if_not_exists false")
    except duckdb.Error as error:
        if not make or "is explicitly disabled" not in str(error):
            raise _unopened(lake.place, error) from error
        # It does not exist yet: one process makes it, and the others wait.
        with lake.lock("migrate"):
            try:
                _attach_as(lake, "create_if_not_exists true")
            except duckdb.Error as again:
                raise _unopened(lake.place, again) from again


def _attach_as(lake: Lake, creation: str) -> None:
    place = lake.place
    options = [f"data_path {quote(place.data_path)}", creation]
    if place.schema:
        options.append(f"metadata_schema {quote(place.schema)}")
    if place.is_postgres:
        where = f"ducklake:postgres:{place.catalogue}"
    else:
        where = f"ducklake:sqlite:{place.catalogue}"
        options += ["meta_journal_mode 'WAL'", f"meta_busy_timeout {BUSY_MS}"]
        Path(place.catalogue).parent.mkdir(parents=True, exist_ok=True)
    lake.con.execute(f"attach {quote(where)} as {NAME} ({', '.join(options)})")


def _unreachable(why: str) -> ChipledgerError:
    message = f"the catalogue cannot be reached: {' '.join(why.split())}"
    return ChipledgerError(message, source=POSTGRES, field="warehouse.url", hint=AGAIN)


def _unopened(place: Place, error: duckdb.Error) -> ChipledgerError:
    why = " ".join(str(error).rpartition(f'{place.catalogue}": ')[2].split())  # libpq's own words come last
    hint = "docs/warehouse-shared.md says what it needs; the published file answers meanwhile"
    message = f"the shared warehouse cannot be opened: {why}"
    return ChipledgerError(message, source=place.url.split(":", 2)[1], field="warehouse.url", hint=hint)


def _make_secret(
    con: duckdb.DuckDBPyConnection, place: Place, credentials: tuple[str, str, str | None], region: str | None
) -> None:
    key, secret, token = credentials
    words = {"key_id": key, "secret": secret, "region": region or "us-east-1", "scope": place.data_path.rstrip("/")}
    if token:
        words["session_token"] = token
    elsewhere = place.s3_endpoint or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if elsewhere:
        scheme, _, host = elsewhere.rstrip("/").rpartition("://")
        words |= {"endpoint": host, "url_style": "path", "use_ssl": "false" if scheme == "http" else "true"}
    supplied = ", ".join(f"{name} {quote(value)}" for name, value in words.items())
    try:
        con.execute(f"create or replace temporary secret bucket (type s3, {supplied})")
    except duckdb.Error as error:
        text = type(error).__name__
    else:
        return
    # Not from DuckDB's error: it repeats the statement, and what stands in it.
    raise ChipledgerError("DuckDB does not take the bucket's credentials", source=place.data_path, value=text)
