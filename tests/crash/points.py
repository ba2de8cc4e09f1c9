"""The named points at which a child dies: before or after a function of ours, or at a statement of DuckDB's."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any


def die() -> None:
    """End this process at once, as a loss of power ends it for the program."""
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True, kw_only=True)
class Point:
    """A place to die at, and the job that comes by; `put` places it in this process."""

    job: str
    put: Callable[[], None]


def _target(where: str) -> tuple[Any, str]:
    """Return owner and name of `package.module:Class.name` or `package.module:name`. Raises AttributeError."""
    module, _, path = where.partition(":")
    *owners, name = path.split(".")
    owner: Any = import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    getattr(owner, name)  # raises where it is there no more
    return owner, name


def before(where: str, times: int = 1, when: Callable[..., bool] = lambda *given, **named: True) -> Callable[[], None]:
    """Return what lets the call of that number never begin, of those whose arguments `when` takes."""

    def put() -> None:
        owner, name = _target(where)
        original, left = getattr(owner, name), [times]

        def call(*given: Any, **named: Any) -> Any:
            left[0] -= when(*given, **named)
            if not left[0]:
                die()
            return original(*given, **named)

        setattr(owner, name, call)

    return put


def after(where: str, times: int = 1) -> Callable[[], None]:
    """Return what lets the process die when the call of that number has ended."""

    def put() -> None:
        owner, name = _target(where)
        original, left = getattr(owner, name), [times]

        def call(*given: Any, **named: Any) -> Any:
            result = original(*given, **named)
            left[0] -= 1
            if not left[0]:
                die()
            return result

        setattr(owner, name, call)

    return put


def replacing(end: str) -> Callable[[], None]:
    """Return what dies before a file is renamed to a path that ends so."""
    return before("pathlib:Path.replace", when=lambda path, target: str(target).endswith(end))


def flushing(start: str) -> Callable[[], None]:
    """Return what dies before a file or folder is flushed whose name begins so."""
    return before("warehouse.disk:flush", when=lambda path: path.name.startswith(start))


class Watched:
    """A connection of DuckDB's that dies before or after a statement that has certain words."""

    def __init__(self, con: Any, words: str, *, when: str, n_done: int = 0) -> None:
        self._con, self._words, self._when, self._n_done = con, words, when, n_done

    def __getattr__(self, name: str) -> Any:
        return getattr(self._con, name)

    def __enter__(self) -> "Watched":
        self._con.__enter__()
        return self

    def __exit__(self, *told: Any) -> Any:
        return self._con.__exit__(*told)

    def execute(self, sql: str, *given: Any) -> Any:
        hit = self._words in sql
        if hit and self._when == "before":
            die()
        if hit and self._when == "within":
            # The first statements of several, and then no more.
            self._con.execute(";".join(sql.split(";")[: self._n_done or max(1, sql.count(";") // 2)]))
            die()
        result = self._con.execute(sql, *given)
        if hit:
            die()
        return result

    def commit(self) -> Any:
        hit = self._words == "commit"
        if hit and self._when == "before":
            die()
        result = self._con.commit()
        if hit:
            die()
        return result


def statement(
    words: str, when: str = "before", where: str = "warehouse.log.db:migrate", *, n_done: int = 0
) -> Callable[[], None]:
    """Return what lets a function, whose first argument is a connection, die at a statement with these words.

    `n_done` is how many of several statements are done when it dies within them; 0: half.
    """

    def put() -> None:
        owner, name = _target(where)
        original = getattr(owner, name)

        def call(con: Any, *given: Any, **named: Any) -> Any:
            return original(Watched(con, words, when=when, n_done=n_done), *given, **named)

        setattr(owner, name, call)

    return put


def half(where: str, place: Callable[[tuple[Any, ...]], Path], text: str) -> Callable[[], None]:
    """Return what writes half a file in place of a call, and dies."""

    def put() -> None:
        owner, name = _target(where)

        def call(*given: Any, **named: Any) -> None:
            target = place(given)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            die()

        setattr(owner, name, call)

    return put


def _torn_line() -> None:
    """Write half of the journal's next line, and die."""
    owner, name = _target("warehouse.landing.folder:Landing.record")

    def call(landing: Any, *given: Any, **named: Any) -> None:
        with landing.journal.file(landing.part).open("ab") as file:
            file.write(b'{"kind": "look", "recorded_at": "2026-05-3')
        die()

    setattr(owner, name, call)


def _half_a_part() -> None:
    """Let what was put into the part be written, and die before its prices are."""
    owner, name = _target("warehouse.publish.chains:put")
    original = getattr(owner, name)

    def call(con: Any, table: str, select: str) -> None:
        if table == "int.price_history":
            con.execute("checkpoint published")
            die()
        original(con, table, select)

    setattr(owner, name, call)


def _in_checkpoint() -> None:
    """Let the log be flushed and die before the connection is closed: the .wal is there, and its end is not."""
    owner, name = _target("flows.collect.publisher:publish")

    def call(con: Any, *given: Any, **named: Any) -> None:
        con.execute("checkpoint")
        con.execute("create table meta.scrap as select range as n, md5(range::VARCHAR) as words from range(200000)")
        con.execute("drop table meta.scrap")
        die()

    setattr(owner, name, call)


def _part_of(given: tuple[Any, ...]) -> Path:
    target: Path = given[0]
    return target.with_name(f".{target.name}.{os.getpid()}.part")


ARCHIVE = {
    "after landing a body": after("warehouse.landing.folder:Landing.store"),
    "after writing the journal": after("warehouse.landing.folder:Landing.record", times=3),
    "before loading": before("warehouse.log.load:load"),
    "inside the load's transaction": after("warehouse.log.load:append_events"),
    "after loading, before the position": after("warehouse.log.load:load"),
    "before publishing": before("flows.collect.publisher:publish"),
    "at the labels": before("warehouse.publish.building:read_labels"),
    "in the middle of the part file": _half_a_part,
    "after the part, before the rename": before("warehouse.publish.published_file:_put_in_place"),
    "after the rename, before the report": before("flows.collect.publisher:Publisher.report"),
    "in the report": half("reports.pages.site:write", lambda given: given[1] / "index.html", "<!doctype html><ht"),
}
"""Points of a run over the offline archive, with all marts and pages."""

RUN = {
    "between the documents of a look": after("warehouse.landing.folder:Landing.store", times=3),
    "between a document's part and its rename": before("pathlib:Path.replace"),
    "in a line of the journal": _torn_line,
    "in the load, between events and coverage": after("warehouse.log.load:append_events"),
    "in the load, before its commit": statement("commit", "before", "warehouse.log.load:load"),
    "in the load, after its commit": statement("commit", "after", "warehouse.log.load:load"),
    "before the position is written": statement(
        "core.journal_position values", "before", "flows.collect.ingest:catch_up"
    ),
    "after the position is written": statement(
        "core.journal_position values", "after", "flows.collect.ingest:catch_up"
    ),
    "after a checkpoint, with a .wal": _in_checkpoint,
    "in publishing, between what the log has learnt": before("warehouse.publish.chains:append", times=2),
    "in publishing, at the tables of the package": after("warehouse.publish.amending:_Amendment._renew_references"),
    "in publishing, between marts": after("warehouse.publish.amending:_Amendment._amend_moves"),
    "in publishing, after the check": after("warehouse.publish.published_file:_verify"),
    "in publishing, at the flush": flushing("prices.duckdb."),
    "in publishing, between the .wal and the rename": replacing("data/prices.duckdb"),
    "in publishing, before the folder's flush": flushing("data"),
    "between two pages": after("reports.files:put", times=1),
    "in a page": half("reports.files:put", _part_of, "<!doctype html><ht"),
    "after the last page, before old files are removed": before("flows.backup.retention:remove_old_files"),
}
"""Points of a run of the small world."""

OTHERS: dict[str, dict[str, Callable[[], None]]] = {
    "import": {
        "in import, after its document": after("warehouse.landing.folder:Landing.store"),
        "in import, after its line": after("warehouse.landing.folder:Landing.record"),
        "in import, in its transaction": after("warehouse.log.load:append_events"),
        "in import, before publishing": before("flows.collect.publisher:publish"),
    },
    "decide": {
        "in a decision, before its line": before("warehouse.landing.folder:Landing.record"),
        "in a decision, after its line": after("warehouse.landing.folder:Landing.record"),
        "in a decision, in its transaction": before("warehouse.log.load:record"),
        "in a decision, after its commit": after("warehouse.log.load:decide"),
        "in a decision, before publishing": before("flows.collect.publisher:publish"),
    },
    "backup to a folder": {
        "in backup, at the copy of the log": after("flows.backup.snapshot:_copy_log"),
        "in backup, between files": after("flows.backup.snapshot:_copy", times=3),
        "in backup, before the manifest": before("flows.backup.snapshot:Manifest.text"),
        "in backup, before it is read back": before("flows.backup.snapshot:_read_back"),
        "in backup, before its name": before("pathlib:Path.rename"),
        "in backup, after its name": after("pathlib:Path.rename"),
    },
    "backup to .tar.zst": {
        "in an archive, between files": after("flows.backup.snapshot:_add", times=4),
        "in an archive, before it is read back": before("flows.backup.snapshot:_read_back"),
    },
    "restore": {
        "in restore, between files": after("flows.backup.snapshot:_receive_one", times=3),
        "in restore, before anything is moved": before("pathlib:Path.rename"),
        **{f"in restore, after {n} moves": after("pathlib:Path.rename", times=n) for n in range(1, 3)},
        **{f"in restore, after {n} files set aside": after("os:link", times=n) for n in range(1, 4)},
        "in restore, before the new log's place": replacing("data/build.duckdb"),
        "in restore, before loading": before("flows.collect.steps:Run.load"),
        "in restore, before publishing": before("flows.collect.publisher:publish"),
    },
    "rebuild": {
        "in rebuild, between the tables of the new log": statement("create table core.withdrawal", "after"),
        "in rebuild, before the new log's tables are committed": statement("commit", "before"),
        "in rebuild, after the new log's tables are committed": statement("commit", "after"),
        "in rebuild, after the new log": after("flows.collect.ingest:catch_up"),
        "in rebuild, at the log's copy": statement("log.sighting", "before", "warehouse.publish.building:_copy_log"),
        "in rebuild, after the new file": after("flows.collect.publisher:publish_log"),
        "in rebuild, after the old file": after("flows.collect.publisher:publish_log", times=2),
        "in rebuild, before the old log is set aside": before("flows.backup.replicas:_set_aside"),
        "in rebuild, after the old log is set aside": after("flows.backup.replicas:_set_aside"),
        "in rebuild, before the new file's place": replacing("data/prices.duckdb"),
    },
    "unpack": {
        "in unpacking, before any document": before("warehouse.landing.folder:Landing.store_body"),
        "in unpacking, between documents": after("warehouse.landing.folder:Landing.store_body", times=1),
        "in unpacking, before packs are removed": before("os:sync"),
        "in unpacking, between a list and its pack": after("pathlib:Path.unlink", times=1),
        "in unpacking, before the folder is removed": before("pathlib:Path.rmdir"),
    },
    "prune": {
        "in pruning, before a page": before("flows.backup.retention:remove"),
        "in pruning, between files": after("flows.backup.retention:remove", times=1),
        "in pruning, in a folder": before("os:rmdir"),
    },
    "init": {
        "in settings, before the file": before("pathlib:Path.open"),
        "in settings, in the file": half("flows.config.show:text", lambda given: Path("/dev/null"), ""),
    },
}

POINTS = {name: Point(job="archive", put=put) for name, put in ARCHIVE.items()}
POINTS |= {name: Point(job="run", put=put) for name, put in RUN.items()}
POINTS |= {name: Point(job=job, put=put) for job, puts in OTHERS.items() for name, put in puts.items()}


INTERVALS = "0009_intervals.sql"
"""The migration that makes every row of the log anew: it is killed after each of its statements."""


def _migrations() -> None:
    from crash.shapes import migrations

    names = migrations()
    for number, name in enumerate(names):
        text = (import_module("warehouse.log.db").MIGRATIONS / name).read_text()
        # A log of intervals has views of the version that made it: what comes after them is reached from before.
        job = f"migrate from {min(number, names.index(INTERVALS))}"
        for when in ("before", "within", "after"):
            POINTS[f"{when} migration {name}"] = Point(job=job, put=statement(text, when))
        if name == INTERVALS:
            for n_done in range(1, text.count(";")):
                POINTS[f"within migration {name}, after {n_done} statements"] = Point(
                    job=job, put=statement(text, "within", n_done=n_done)
                )
        # Its name is written in the same transaction: killed there, the file lacks all.
        POINTS[f"before the commit of migration {name}"] = Point(job=job, put=statement("commit", "before"))


_migrations()
