"""The two roles of bench/soak.py, each a process of its own: the writer, and a reader. Each writes a line of JSON for
each round to a file of its own, so that a kill leaves what was measured.

The writer imports histories once, and then does whole runs one after the other over the sources of
bench/simulated_year.py, the clock moved on by a day each. A reader opens the published file anew each round, asks
questions and checks what must hold of every file and from one file to the next, and closes it. Every HOLDS_EVERY rounds
it keeps the file open until another one is published, and asks once more: the answers must be those of the file it has.
"""

import json
import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TextIO

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

import duckdb  # noqa: E402

QUESTIONS = (1, 2, 3, 4, 5, 6, 7, 17, 20, 22)
"""Numbers of questions in docs/querying.md."""
FIRST_DAY = 325
"""Days from the beginning of the simulated year to the first run, on 2026-11-22: after all that is imported."""
HOLDS_EVERY = 20
FAILS_IN_A_ROW = 3
"""So many failed runs in a row end the writer: what follows would say nothing new."""

INVARIANTS = (
    (
        "an offer has two open intervals from one source",
        "select offer_id from core.sku_price where valid_to is null group by offer_id, source having count(*) > 1",
    ),
    (
        "intervals of one offer and source overlap",
        "select offer_id from core.sku_price qualify valid_from < lag(coalesce(valid_to, TIMESTAMP '9999-01-01')) over "
        "(partition by offer_id, source order by valid_from)",
    ),
    (
        "a price event has no document",
        "select offer_id from core.price_event anti join core.document using (document_sha256)",
    ),
)
"""What must hold of each file: a name and a SELECT that must give no row."""
STATE = "select (select max(built_at) from meta.build), (select count(*) from core.price_event)"
"""What never goes back from one file to the next."""


def running(out: Path) -> Callable[[], bool]:
    """Return a function that says whether to go on: as long as the flag stands, and who began this process lives."""
    parent = os.getppid()
    return lambda: (out / "running").exists() and os.getppid() == parent


def tell(file: TextIO, **what: Any) -> None:
    """Write one line of JSON, out of this process at once."""
    file.write(json.dumps({"at": time.time(), **what}, default=str) + "\n")
    file.flush()


# --- the writer


def write(out: Path, histories: list[Path]) -> None:
    """Do runs until told to stop; a run that fails is told, and the next begins."""
    import simulated_year as year

    from flows.collect import steps
    from flows.config.settings import Settings
    from flows.mail import weekly_steps

    settings = Settings(data_dir=out / "data", workers=2)
    go_on = running(out)
    world = year.World(random.Random(year.SEED))  # noqa: S311
    with (out / "writer.jsonl").open("a") as told, year.Meter(world) as meter:
        _import(settings, histories, year.START + timedelta(days=FIRST_DAY - 1), told)
        failed = 0
        number = FIRST_DAY
        while go_on() and failed < FAILS_IN_A_ROW:
            world.turn(number)
            meter.start()
            began = time.perf_counter()
            try:
                summary = steps.run(settings, clock=lambda: world.now)
                seconds = time.perf_counter() - began
                if world.now.weekday() == 0 and summary.file:
                    weekly_steps.report(settings, None)
                failed = 0
            except Exception:  # noqa: BLE001 - whatever a run raises is what this looks for
                failed += 1
                tell(told, error=traceback.format_exc())
            else:
                tell(
                    told,
                    seconds=seconds,
                    weekly_seconds=time.perf_counter() - began - seconds,
                    published=summary.file is not None,
                    events=summary.n_events,
                    failed_looks=len(summary.failed),
                    day=f"{world.now:%Y-%m-%d}",
                    processor=meter.taken,
                )
            number += 1


def _import(settings: Any, histories: list[Path], now: datetime, told: TextIO) -> None:
    """Import files once; a data directory that has a published file already is gone on with."""
    from flows.collect import importer, steps

    if not histories or (settings.data_dir / "prices.duckdb").exists():
        return
    began = time.perf_counter()
    with steps.open_run(settings, clock=lambda: now) as one:
        for file in histories:
            importer.land(one, importer.landed(file, one.clock()))
        one.load()
        one.publisher.publish()
    tell(told, imported=[file.name for file in histories], seconds=time.perf_counter() - began)


# --- a reader


def read(out: Path, name: str, asked: list[tuple[int, str]]) -> None:
    """Ask without pause until told to stop; an error is told, and the next round begins."""
    file = out / "data" / "prices.duckdb"
    go_on = running(out)
    while go_on() and not file.exists():
        time.sleep(0.05)
    last: tuple[Any, int] | None = None
    number = 0
    with (out / f"{name}.jsonl").open("a") as told:
        while go_on():
            number += 1
            found: dict[str, Any] = {"breaches": []}
            try:
                holds = go_on if number % HOLDS_EVERY == 0 else None
                last = _round(file, asked, found, last, holds=holds, say=lambda **what: tell(told, **what))
            except Exception:  # noqa: BLE001 - whatever a reader meets is what this looks for
                found["error"] = traceback.format_exc()
            tell(told, **found)


def _round(
    file: Path,
    asked: list[tuple[int, str]],
    found: dict[str, Any],
    last: tuple[Any, int] | None,
    *,
    holds: Callable[[], bool] | None,
    say: Callable[..., None],
) -> tuple[Any, int]:
    """Open, ask, check and close; put what was found into `found`; return the state of the file.

    With `holds` the file is kept open until the next publish, or until that says no; `say` tells what is asked then.
    """
    began = time.perf_counter()
    with duckdb.connect(str(file), read_only=True, config={"threads": 1}) as con:
        found["open_ms"] = (time.perf_counter() - began) * 1000
        state = con.execute(STATE).fetchall()[0]
        found["built_at"] = state[0]
        found["ms"], found["rows"] = _ask(con, asked)
        began = time.perf_counter()
        found["breaches"] += breaches(con, state, last)
        found["checks_ms"] = (time.perf_counter() - began) * 1000
        if holds:
            inode = file.stat().st_ino
            while holds() and file.stat().st_ino == inode:
                took, rows = _ask(con, asked)
                say(ms=took, rows=rows, breaches=[])
            found["held"] = True
            if _ask(con, asked)[1] != found["rows"] or con.execute(STATE).fetchall()[0] != state:
                found["breaches"].append("a file that was kept open answers otherwise after another one was published")
    return state


def breaches(con: duckdb.DuckDBPyConnection, state: tuple[Any, int], last: tuple[Any, int] | None) -> Iterator[str]:
    """Yield what does not hold of a file, and what went back since the last one."""
    for words, query in INVARIANTS:
        if con.execute(f"{query} limit 1").fetchone():
            yield words
    if last and state[0] < last[0]:
        yield f"built_at went back from {last[0]} to {state[0]}"
    if last and state[1] < last[1]:
        yield f"{last[1]} price events became {state[1]}"


def _ask(con: duckdb.DuckDBPyConnection, asked: list[tuple[int, str]]) -> tuple[dict[int, float], dict[int, int]]:
    """Return the milliseconds and the rows of each question."""
    took, rows = {}, {}
    for number, sql in asked:
        began = time.perf_counter()
        rows[number] = len(con.execute(sql).fetchall())
        took[number] = (time.perf_counter() - began) * 1000
    return took, rows
