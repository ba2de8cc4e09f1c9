"""What is done and killed: each job on a folder of its own, by the real code, over a small world.

A folder holds `data` (the data directory), and beside it what a job reads or writes: backups, an import, settings.
The world is a toy source of two scopes with two documents each: a price that moves, one that ends, one that jumps and
waits, and a scope that fails. Its clock says the same moment to a run and to the next try, so that both must give equal
files, byte for byte of every value.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from packed import pack

from crash.shapes import made_older, migrations

if TYPE_CHECKING:
    from toy_source import Toy

LAST = 150
"""The day of the jobs."""
OLD_RUN = 100
SHORTENED = 200
"""Rows that are published of each of the package's own tables."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job: what makes its folder from the common one, what it does, and what the next try does."""

    name: str
    act: Callable[[Path], None]
    again: Callable[[Path], None]
    prepare: Callable[[Path], None] = lambda root: None


def warm() -> None:
    """Import all that the jobs need, and read the tables of the package once; start no thread."""
    import importlib

    for name in (
        "duckdb",
        "pandera.polars",
        "kept_data",
        "pandera.strategies.base_strategies",
        "reports.files",
        "extract.web.http",
    ):
        importlib.import_module(name)
    for name in (
        "backup.replicas", "backup.retention", "backup.snapshot", "collect.benchmarks", "collect.steps", "config.show",
        "shared.output",
    ):  # fmt: skip
        importlib.import_module(f"flows.{name}")
    import duckdb

    from warehouse.reference import instance_types

    connect = duckdb.connect

    def narrow(*given: Any, config: Mapping[str, Any] = MappingProxyType({}), **named: Any) -> Any:
        # One thread, as the tests' files are small, and so that system calls come in one order.
        return connect(*given, config={"threads": 1, **config}, **named)  # type: ignore[misc]

    duckdb.connect = narrow  # type: ignore[assignment]
    # Read before the fork, and its first rows alone: it is not under test.
    first_rows = instance_types.read_table()[:SHORTENED]
    instance_types.read_table = lambda: first_rows  # type: ignore[assignment]
    from pandera.backends.polars.register import register_polars_backends

    register_polars_backends()


def do(name: str, root: Path, *, again: bool) -> None:
    """Do a job as the command line does: an error of ours is a line on stderr and an exit code."""
    from flows.shared import output

    job = JOBS[name.removeprefix("prepare ")]
    if name.startswith("prepare "):
        job.prepare(root)
        return
    with output.errors(in_json=False):
        (job.again if again else job.act)(root)


@contextmanager
def world(root: Path, at: float) -> Iterator["Toy"]:
    """Give the toy over a folder, at a day, with two documents a look and a small report."""
    import kept_data
    import looks
    from few_marts import LEAST
    from toy_source import TOY

    from flows.collect import collector, publisher
    from flows.collect.publisher import Publisher
    from reports.files import put

    def report(run: Publisher) -> Path:
        assert run.summary.file
        for name in ("latest.html", f"daily/{run.summary.started_at:%Y-%m-%d}.html", "index.html"):
            put(run.settings.data_dir / "reports" / name, f"<!doctype html><p>{run.summary.started_at}")
        run.summary.report = run.settings.data_dir / "reports/index.html"
        return run.summary.report

    with kept_data.toy_at(root / "data", LEAST) as toy, pytest.MonkeyPatch.context() as patch:
        whole = toy.fetch

        def fetch(ctx: Any, scope: str) -> Any:
            look = whole(ctx, scope)
            (document,) = look.documents
            told = json.loads(document.body)
            parts = [told["prices"][::2], told["prices"][1::2]]
            bodies = [json.dumps({**told, "prices": part, "part": n}).encode() for n, part in enumerate(parts)]
            return replace(
                look,
                documents=tuple(replace(document, url=f"{document.url}/{n}", body=b) for n, b in enumerate(bodies)),
            )

        only = replace(toy.source(), fetch=fetch)
        for module in (collector, publisher):
            patch.setattr(module, "SOURCES", (only,))
        patch.setattr(collector, "source_named", {TOY: only}.__getitem__)
        patch.setattr(Publisher, "report", report)
        toy.at = at
        toy.world = {name: dict(prices) if prices else None for name, prices in looks_of(at).items()}
        assert looks.day(at).tzinfo == UTC
        yield toy


def looks_of(at: float) -> dict[str, dict[str, str | None] | None]:
    """Return the world's prices by scope on a day."""
    a: dict[str, str | None] = {"p5.48xlarge": "10", "p4d.24xlarge": "20", "g5.xlarge": "1", "g6.xlarge": "2"}
    b: dict[str, str | None] | None = {"p2.xlarge": "0.9", "p3.2xlarge": "3"}
    if at >= 35:
        a, b = a | {"p5.48xlarge": "11"}, None
    if at >= OLD_RUN:
        a, b = {"p5.48xlarge": "11", "p4d.24xlarge": "60", "g5.xlarge": "1"}, {"p2.xlarge": "0.9", "p3.2xlarge": "3"}
    if at >= LAST:
        a, b = a | {"p5.48xlarge": "12", "g5.xlarge": "1.1"}, {"p2.xlarge": "0.8"}
    return {"a": a, "b": b}


def history(root: Path) -> None:
    """Make the common folder: four days, of which the last was published; old pages and replaced files beside."""
    from flows.collect import steps

    for at in (0, 35, 60):
        with world(root, at) as toy, steps.open_run(toy.settings(), clock=toy.clock) as run:
            run.collect()
            run.load()
    with world(root, OLD_RUN) as toy:
        steps.run(toy.settings(), clock=toy.clock)
    data = root / "data"
    for name in ("reports/daily/2024-01-01.html", "replaced/build-20260101T000000Z.duckdb"):
        (data / name).parent.mkdir(exist_ok=True, parents=True)
        (data / name).write_text("old")
    before = data / "replaced/before-restore-20260101T000000Z"
    before.mkdir()
    for name in ("one", "two", "three"):
        (before / name).write_text("old")
    (root / "own.csv").write_text(
        "observed_at_utc,provider,region,instance_type,pricing,usd_per_hour,source\n"
        "2025-11-01T00:00:00Z,aws,us-east-1,p5.48xlarge,on_demand,98.32,notes\n"
        "2025-12-01T00:00:00Z,aws,us-east-1,p5.48xlarge,on_demand,31.464,notes\n"
    )
    (root / "chipledger.toml").write_text("workers = 3\n")


def run(root: Path) -> None:
    from flows.collect import steps

    with world(root, LAST) as toy:
        steps.run(toy.settings(), clock=toy.clock)


def build(root: Path) -> None:
    """Load what was landed, and publish."""
    from flows.collect import steps

    with world(root, LAST) as toy, steps.open_run(toy.settings(), clock=toy.clock) as run:
        run.load()
        run.publisher.publish()


def own(root: Path) -> None:
    from flows.collect import importer, steps

    with world(root, LAST) as toy, steps.open_run(toy.settings(), clock=toy.clock) as run:
        importer.land(run, importer.landed(root / "own.csv", run.clock()))
        run.load()
        run.publisher.publish()


def own_again(root: Path) -> None:
    (build if '"source": "import"' in journal(root) else own)(root)


def decide(root: Path) -> None:
    from flows.collect import steps
    from warehouse.log.quarantine import listed

    with world(root, LAST) as toy, steps.open_run(toy.settings(), clock=toy.clock) as run:
        run.decide(min(row.quarantine_id for row in listed(run.con)), "accept")
        run.publisher.publish()


def decide_again(root: Path) -> None:
    (build if '"kind": "decision"' in journal(root) else decide)(root)


def journal(root: Path) -> str:
    return (root / "data/landing/journal.jsonl").read_text()


def _backup(name: str) -> Callable[[Path], None]:
    def back_up(root: Path) -> None:
        from flows.backup import snapshot

        with world(root, LAST) as toy:
            target = root / "backups" / name
            if target.exists():  # it has its name: it is whole; and the one of another day removes what is old
                snapshot.check(target, root / "check")
                for left in target.parent.glob(".*"):
                    os.utime(left, (0, 0))
                target = target.with_name(f"next-{name}")
            snapshot.back_up(toy.settings(), target, clock=toy.clock)
            snapshot.check(target, root / "check")

    return back_up


def other_history(root: Path) -> None:
    """Back the common folder up, and put another history in its place, with a record of its own."""
    import shutil

    from flows.collect import steps

    _backup("folder")(root)
    shutil.rmtree(root / "data")
    (root / "data").mkdir()
    (root / "data/mail.jsonl").write_text('{"kind": "other"}\n')
    with world(root, 3) as toy:
        steps.run(toy.settings(), clock=toy.clock)


def restore(root: Path) -> None:
    from flows.backup import snapshot

    with world(root, LAST) as toy:
        snapshot.restore(toy.settings(), root / "backups/folder", force=True, clock=toy.clock)


def rebuild(root: Path) -> None:
    from flows.backup import replicas

    with world(root, LAST) as toy:
        done = replicas.rebuild(toy.settings(), clock=toy.clock)
        assert done.is_in_use, list(done.lines())


def prune(root: Path) -> None:
    """Remove old pages and replaced files."""
    from flows.backup import retention
    from warehouse import disk
    from warehouse.log import db

    with world(root, LAST) as toy, disk.faults(root / "data"), db.locked(root / "data"):
        retention.remove_old_files(toy.settings(), toy.clock())


def init(root: Path) -> None:
    from flows.config import show

    show.write(root / "chipledger.toml", force=True)


def older(root: Path) -> None:
    """A run dated before the last one."""
    from flows.collect import steps

    with world(root, OLD_RUN - 20) as toy:
        steps.run(toy.settings(), clock=toy.clock)


def archive(root: Path) -> None:
    """Do a whole run over the offline archive, with all marts and pages.

    One scope after the other: what a killed run has landed is loaded by itself, though of the same moment here, and
    where it is the newer part of a history, more changes are told than by all at once.
    """
    from flows.collect import steps
    from flows.config.settings import Settings

    settings = Settings(data_dir=root / "data", workers=1)
    steps.run(settings, offline=True, clock=lambda: datetime(2026, 11, 21, 9, tzinfo=UTC))


def archive_before(root: Path) -> None:
    """The day before, of one region."""
    from flows.collect import steps
    from flows.config.settings import Settings

    clock = datetime(2026, 11, 20, 9, tzinfo=UTC)
    steps.run(Settings(data_dir=root / "data"), offline=True, scopes=("us-gov-east-1",), clock=lambda: clock)


def nothing(root: Path) -> None:
    """Do nothing: for what makes a folder alone."""


def old_shape(number: int) -> Callable[[Path], None]:
    """Return what gives a folder's log the oldest shape and so many migrations."""

    def make(root: Path) -> None:
        made_older(root / "data/build.duckdb", number)

    return make


JOBS = {
    job.name: job
    for job in (
        Job(name="history", act=history, again=nothing),
        Job(name="run", act=run, again=run),
        Job(name="build", act=build, again=build),
        Job(name="import", act=own, again=own_again),
        Job(name="decide", act=decide, again=decide_again),
        Job(name="backup to a folder", act=_backup("a"), again=_backup("a")),
        Job(name="backup to .tar.zst", act=_backup("a.tar.zst"), again=_backup("a.tar.zst")),
        Job(name="restore", act=restore, again=restore, prepare=other_history),
        Job(name="rebuild", act=rebuild, again=rebuild),
        Job(name="unpack", act=build, again=build, prepare=lambda root: pack(root / "data", before="2026-03")),
        Job(name="prune", act=prune, again=prune),
        Job(name="init", act=init, again=init),
        Job(name="older", act=older, again=older),
        Job(name="archive", act=archive, again=archive, prepare=archive_before),
        *(
            Job(name=f"migrate from {number}", act=build, again=build, prepare=old_shape(number))
            for number in range(len(migrations()))
        ),
    )
}
