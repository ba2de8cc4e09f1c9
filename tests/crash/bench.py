"""Trying a job: on a copy of the common folder it is killed or hindered, looked at, and tried again."""

import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from published import Content

from crash import checks
from crash.jobs import JOBS, Job
from crash.tally import TALLY
from crash.zygote import Ended, Zygote

KILLED = -9


@dataclass
class Before:
    """A job's folder before it, and what an undisturbed try makes of it."""

    job: Job
    root: Path
    after: Path
    undisturbed: Ended
    lock: Any = field(default_factory=threading.Lock)

    @cached_property
    def made(self) -> dict[str, object]:
        return checks.outcome(self.after, self.after.parent / "scratch")

    @cached_property
    def published(self) -> list[dict[str, Any]]:
        """Return the contents that a reader may find: the file before, and the file after."""
        files = [root / "data/prices.duckdb" for root in (self.root, self.after)]
        return [checks.published(file) for file in files if file.exists()]

    @cached_property
    def rows(self) -> Content:
        return checks.rows(self.after / "data/prices.duckdb")

    @cached_property
    def kept(self) -> dict[str, str]:
        return checks.bodies(self.root / "data/landing")


class Bench:
    """Folders to try jobs on, below `path`; each thread has a zygote of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._all: list[Zygote] = []
        self._before: dict[str, Before] = {}
        self._lock = threading.Lock()
        self._number = 0
        self._pool = ThreadPoolExecutor(max_workers=2)

    @property
    def zygote(self) -> Zygote:
        """Return the zygote of this thread."""
        if not hasattr(self._local, "zygote"):
            self._local.zygote = Zygote()
            self._all.append(self._local.zygote)
        found: Zygote = self._local.zygote
        return found

    def close(self) -> None:
        """End all zygotes."""
        self._pool.shutdown()
        for zygote in self._all:
            zygote.close()

    def before(self, job: str) -> Before:
        """Return a job's folder and what an undisturbed try makes of it, made when first asked for."""
        with self._lock:
            if job not in self._before:
                self._before[job] = self._make(JOBS[job])
            return self._before[job]

    def _make(self, job: Job) -> Before:
        common = self.path / "history"
        if not common.exists():
            common.mkdir(parents=True)
            self.well(self.zygote.do("history", common))
        root, after = self.path / job.name / "before", self.path / job.name / "after"
        if job.name == "archive":
            (root / "data").mkdir(parents=True)
        else:
            shutil.copytree(common, root)
        self.well(self.zygote.do(f"prepare {job.name}", root))
        shutil.copytree(root, after)
        undisturbed = self.well(self.zygote.do(job.name, after))
        return Before(job=job, root=root, after=after, undisturbed=undisturbed)

    @staticmethod
    def well(ended: Ended) -> Ended:
        """Return how a child ended, after checking that it ended well."""
        assert ended.status == 0, ended.printed
        return ended

    @contextmanager
    def copy(self, job: str) -> Iterator[Path]:
        """Give a copy of a job's folder, gone afterwards."""
        with self._lock:
            self._number += 1
            root = self.path / "tried" / str(self._number)
        shutil.copytree(self.before(job).root, root / "root", symlinks=True)
        try:
            yield root / "root"
        finally:
            shutil.rmtree(root)

    def kill(self, job: str, of: str, **how: Any) -> Ended:
        """Kill a job once, look at what is left, let the next try mend it, and count; return how the child ended.

        One that ended before it was killed is not counted.
        """
        with self.copy(job) as root:
            ended = self.zygote.do(job, root, **how)
            assert ended.status in (0, KILLED), ended.printed
            if ended.status == KILLED:
                self.look(job, root, of, ended)
        return ended

    def look(self, job: str, root: Path, of: str, ended: Ended) -> None:
        """Check what a hindered child left, then let the next try mend it, and count all of it as of a class."""
        before = self.before(job)
        scratch = root.parent / "scratch"
        with TALLY.trying(of, ended) as count:
            count.files_lost += self._lost(before, root)
            count.wrong_rows += self._wrong(before, root)
            data = root / "data"
            if (data / "build.duckdb").exists() and (data / "landing/journal.jsonl").exists():
                checks.log(data / "build.duckdb", data / "landing", scratch)
            again = self.zygote.do(job, root, again=True)
            self.well(again)
            count.took(again)
            found = checks.outcome(root, scratch)
            differing = sorted(
                name for name in {*found, *before.made} if found.get(name) != before.made.get(name)
            )  # fmt: skip
            if differing and (data / "prices.duckdb").exists():
                lost, more = checks.differing_rows(before.rows, checks.rows(data / "prices.duckdb"))
                count.rows_lost += lost
                count.rows_doubled += more
            count.files_lost += self._lost(before, root)
            told = [f"{name}: {before.made.get(name)} and not {found.get(name)}" for name in differing]
            assert not told, "\n".join([f"{job}, {ended}", *told])
            assert (count.files_lost, count.wrong_rows) == (0, 0)

    def _lost(self, before: Before, root: Path) -> int:
        """Return how many documents of before are nowhere, and how many journal lines."""
        landing = root / "data/landing"
        places = [landing] if before.job.name != "restore" else [landing, *(root / "data/replaced").glob("*/landing")]
        there: dict[str, str] = {}
        told: set[str] = set()
        for place in places:
            if place.exists():
                there |= checks.bodies(place)
                told |= set(checks.lines(place))
        lines = set(checks.lines(before.root / "data/landing"))
        return len(before.kept.keys() - there.keys()) + len(lines - told)

    def _wrong(self, before: Before, root: Path) -> int:
        """Return how many rows a reader finds that neither the file before nor the one after has."""
        file = root / "data/prices.duckdb"
        if not file.exists():
            # A restoration sets it aside before it publishes what it brought.
            assert before.job.name == "restore"
            return 0
        if checks.published(file) in before.published:
            return 0
        left = checks.rows(file)
        return min(
            checks.differing_rows(checks.rows(each / "data/prices.duckdb"), left)[1]
            for each in (before.root, before.after)
        )

    def each(self, what: Iterable[Any], do: Callable[[Any], object]) -> None:
        """Do something for each of many, two at a time; the first failure is raised when all are done.

        Two are done one after the other, in this thread, as starting a zygote for each other takes longer.
        """
        what = list(what)
        if len(what) <= 2:
            for one in what:
                do(one)
            return
        done = [self._pool.submit(do, each) for each in what]
        wait(done)
        for each in done:
            each.result()
