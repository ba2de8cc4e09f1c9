"""Steps of a publication: each waits for those that it reads, and two connections carry them out side by side.

Tables of a day are too small for DuckDB to give a query two threads, so two queries run at once instead. Each step is a
transaction of its own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from threading import Condition

import duckdb

_COMMENT = re.compile(r"--.*")
_NAME = re.compile(r"\b\w+\.\w+")


@dataclass(frozen=True)
class Step:
    """A step: its name, the names of the steps that it waits for, and its work on a connection.

    `is_first`: it needs the temporary tables of the first connection, so that the second never takes it.
    """

    name: str
    reads: frozenset[str]
    work: Callable[[duckdb.DuckDBPyConnection], object]
    is_first: bool = False


def made_of(text: str, texts: Mapping[str, str]) -> frozenset[str]:
    """Return the relations with a text that a text of SQL names, and all that these name, at any remove."""
    found: set[str] = set()
    waiting = [text]
    while waiting:
        new = texts.keys() & _named(waiting.pop()) - found
        found |= new
        waiting += [texts[name] for name in new]
    return frozenset(found)


@cache
def _named(text: str) -> frozenset[str]:
    """Return the names with a schema in a text of SQL."""
    return frozenset(_NAME.findall(_COMMENT.sub("", text).replace('"', "")))


def carry_out(
    steps: Sequence[Step],
    first: duckdb.DuckDBPyConnection,
    second: duckdb.DuckDBPyConnection,
    *,
    after: Callable[[duckdb.DuckDBPyConnection], None] | None = None,
) -> None:
    """Carry out all steps; `after` follows each. The first connection is in a transaction before and after.

    Raises what a step raises, once no other is carried out any more.
    """
    names = {step.name for step in steps}
    queue = _Queue([replace(step, reads=step.reads & (names - {step.name})) for step in steps], after)
    first.commit()
    try:
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(_work, queue, second, is_first=False)
            try:
                _work(queue, first, is_first=True)
                other.result()
            except BaseException:
                second.interrupt()
                raise
    finally:
        first.begin()


def _work(queue: "_Queue", con: duckdb.DuckDBPyConnection, *, is_first: bool) -> None:
    """Carry out steps for as long as there are any that this connection may take."""
    try:
        while step := queue.take(is_first=is_first):
            con.begin()
            step.work(con)
            con.commit()
            queue.end(step)
            if queue.after:
                queue.after(con)
    except BaseException:
        with queue.changed:  # what is not begun is left out
            queue.waiting.clear()
            queue.changed.notify_all()
        with suppress(duckdb.Error):
            con.rollback()
        raise


@dataclass
class _Queue:
    """Steps that nobody has taken yet, and the names of those that are done, for several threads."""

    waiting: list[Step]
    after: Callable[[duckdb.DuckDBPyConnection], None] | None
    done: set[str] = field(default_factory=set)
    n_begun: int = 0
    changed: Condition = field(default_factory=Condition)

    def take(self, *, is_first: bool) -> Step | None:
        """Return the next step whose turn it is, once there is one; None where there is none to come.

        Steps of the first connection are taken before the others, as nobody else takes them. Raises ValueError.
        """
        with self.changed:
            while own := [step for step in self.waiting if is_first or not step.is_first]:
                ready = [step for step in self.waiting if step.reads <= self.done]
                if not ready and not self.n_begun:
                    raise ValueError(
                        f"steps that wait for one another: {', '.join(step.name for step in self.waiting)}"
                    )
                if ready := [step for step in ready if step in own]:
                    step = max(ready, key=lambda step: step.is_first)
                    self.waiting.remove(step)
                    self.n_begun += 1
                    return step
                self.changed.wait()
            return None

    def end(self, step: Step) -> None:
        """Let those begin that wait for a step."""
        with self.changed:
            self.done.add(step.name)
            self.n_begun -= 1
            self.changed.notify_all()
