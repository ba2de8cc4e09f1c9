"""The roles of bench/shared.py, each a process of its own: a writer, the publisher, a reader. Each writes a line of
JSON for whatever it did to a file of its own, so that a kill leaves what was measured.

A writer opens the shared warehouse as every run does, and collects, lands and loads its own scopes round after round.
The publisher publishes every so often. A reader without pause makes its file the newest publication, asks it and checks
it; one with an odd number also reads the log itself, read-only and at one snapshot, and counts in that of its file.
"""

import json
import logging
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import shared_world
import soak_roles
from shared_world import World

from flows.collect import steps
from flows.config.settings import Settings
from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake, publication
from warehouse.lake.place import Place
from warehouse.landing.folder import unstamp

FAILS_IN_A_ROW = 5
"""So many failed rounds in a row end a writer: what follows would say nothing new."""
AGAIN = "tried again"
"""What a writer's warning says of a commit that met another's."""
STATE = "select (select count(*) from core.price_event), (select count(*) from core.scope_run)"
"""What never goes back from one snapshot to the next."""

Key = tuple[str, str, datetime]
"""A look: source, scope, and the moment of it as naive UTC."""
GoOn = Callable[[], bool]


@dataclass(frozen=True, kw_only=True)
class Load:
    """What all processes of one load have in common: its folder, its world, where its warehouse lies.

    `publish_every_s`: from the end of one publication to the beginning of the next.
    """

    out: Path
    world: World
    warehouse: dict[str, str]
    publish_every_s: float = 10.0

    def settings(self, name: str) -> Settings:
        """Return the settings of one process, which has a data directory of its own."""
        return Settings(data_dir=self.out / name, workers=2, warehouse=self.warehouse)

    def save(self) -> None:
        """Write it where its processes find it."""
        text = json.dumps(asdict(self) | {"out": str(self.out)}, indent=1)
        (self.out / "load.json").write_text(text, encoding="utf-8")

    @classmethod
    def saved(cls, out: Path) -> "Load":
        """Return what was saved in a folder."""
        content = json.loads((out / "load.json").read_text(encoding="utf-8"))
        return cls(**content | {"out": Path(content["out"]), "world": World(**content["world"])})


class Told:
    """The file to which one process tells what it did."""

    def __init__(self, out: Path, name: str) -> None:
        self._file = (out / f"{name}.jsonl").open("a", encoding="utf-8")

    def __call__(self, **what: Any) -> None:
        soak_roles.tell(self._file, **what)


class Warnings(logging.Handler):
    """Counts warnings: of commits that met another's, and all others by their words."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        self.found[AGAIN if AGAIN in text else text] += 1

    def taken(self) -> dict[str, int]:
        """Return what came since this was asked last."""
        found, self.found = dict(self.found), Counter()
        return found


@contextmanager
def warned() -> Iterator[Warnings]:
    """Count the warnings of this process."""
    made = Warnings()
    logging.getLogger().addHandler(made)
    try:
        yield made
    finally:
        logging.getLogger().removeHandler(made)


# --- a writer, and the publisher


def write(load: Load, name: str, go_on: GoOn) -> None:
    """Collect, land and load round after round; a round that fails is told, and what it landed is loaded by the next.

    A round is a run of its own on the connection and the part of the journal that the first one opened.
    """
    told, turn = Told(load.out, name), [0]
    own = load.world.source(int(name.rpartition("-")[2]), lambda: turn[0])
    began, failed = time.perf_counter(), 0
    with warned() as warnings, load.world.in_place(own), steps.open_run(load.settings(name)) as first:
        told(opened_s=time.perf_counter() - began)
        one: steps.Run | None = first
        while go_on() and failed < FAILS_IN_A_ROW:
            turn[0] += 1
            began = time.perf_counter()
            try:
                one = one or steps.Run(first.settings, first.con, first.landing, steps.utc_now, lambda message: None)
                one.collector.fetch_in_threads(one.plan([own]), one.land)
                landed_s = time.perf_counter() - began
                told(landed=turn[0])
                one.load()
                told(
                    seconds=time.perf_counter() - began, landed_s=landed_s, looks=looks_of(one),
                    warnings=warnings.taken(),
                )  # fmt: skip
                failed = 0
            except Exception:  # noqa: BLE001 - whatever a writer meets is what this looks for
                failed += 1
                told(error=traceback.format_exc(), looks=looks_of(one) if one else [], warnings=warnings.taken())
            one = None


def looks_of(one: steps.Run) -> list[list[Any]]:
    """Return what a run loaded, its own looks and those that another left: key, status, rows, refusals, events."""
    return [
        [each.source, each.scope, each.observed_at, each.status, each.n_rows, each.n_refused, each.n_events]
        for each in one.summary.results if each.status != "known"
    ]  # fmt: skip


def publish(load: Load, name: str, go_on: GoOn) -> None:
    """Publish every so often, from the first look on; load what a killed writer left, as every run does."""
    told = Told(load.out, name)
    with warned() as warnings, load.world.in_place(), steps.open_run(load.settings(name)) as first:
        while go_on():
            looks: list[list[Any]] = []
            began = time.perf_counter()
            try:
                one = steps.Run(first.settings, first.con, first.landing, steps.utc_now, lambda message: None)
                looks = looks_of(one)
                if first.con.execute("select 1 from core.scope_run limit 1").fetchone():
                    one.publisher.publish()
                    told(published_s=time.perf_counter() - began, looks=looks, warnings=warnings.taken())
                elif looks:
                    told(looks=looks)
            except Exception:  # noqa: BLE001 - whatever a publisher meets is what this looks for
                told(error=traceback.format_exc(), looks=looks, warnings=warnings.taken())
            until = time.monotonic() + load.publish_every_s
            while go_on() and time.monotonic() < until:
                time.sleep(0.1)


# --- a reader


def read(load: Load, name: str, asked: list[tuple[int, str]], go_on: GoOn) -> None:
    """Read without pause; an error is told, and the next round begins. Before the first publication it waits."""
    told = Told(load.out, name)
    settings = load.settings(name)
    place = settings.place()
    reads_log = int(name.rpartition("-")[2]) % 2 == 1
    before = dict.fromkeys(("file", "log"))
    is_published = False
    with warned() as warnings:
        while go_on():
            found: dict[str, Any] = {"breaches": []}
            try:
                is_published = is_published or _is_published(settings)
                if not is_published:
                    time.sleep(0.2)
                    continue
                before["file"] = read_file(load, settings, asked, before["file"], found)
                if reads_log:
                    before["log"] = read_log(load, settings, place, before["log"], found)
            except Exception:  # noqa: BLE001 - whatever a reader meets is what this looks for
                found["error"] = traceback.format_exc()
            told(**found, warnings=warnings.taken())


def _is_published(settings: Settings) -> bool:
    try:
        settings.published()
    except ChipledgerError as error:
        if "nothing is published there yet" in error.message:
            return False
        raise
    return True


def read_file(
    load: Load, settings: Settings, asked: list[tuple[int, str]], last: Any, found: dict[str, Any]
) -> tuple[Any, int]:
    """Make the file the newest publication, ask it and check it; return its state."""
    began = time.perf_counter()
    file = settings.published()
    found["current_ms"] = _ms(began)
    began = time.perf_counter()
    with duckdb.connect(str(file), read_only=True, config={"threads": 1}) as con:
        state: tuple[Any, int] = con.execute(soak_roles.STATE).fetchall()[0]
        found["built_at"] = state[0]
        for _, sql in asked:
            con.execute(sql).fetchall()
        found["asked_ms"] = _ms(began)
        found["breaches"] += [f"file: {each}" for each in shared_world.breaches(con, load.world, shared_world.IN_FILE)]
        if last and (state[0] < last[0] or state[1] < last[1]):
            found["breaches"].append(f"file: went back from {last} to {state}")
    found["file_ms"] = _ms(began)
    return state


def read_log(load: Load, settings: Settings, place: Place, last: Any, found: dict[str, Any]) -> tuple[int, ...]:
    """Read the log at one snapshot and check it, and that the file here is the log at the snapshot it tells of."""
    began = time.perf_counter()
    note = json.loads((settings.data_dir / publication.HERE).read_text(encoding="utf-8"))
    with duckdb.connect(str(settings.published()), read_only=True, config={"threads": 1}) as con:
        # A publication may have come since the note was read: then the next round compares.
        (built_at,) = con.execute("select built_at from meta.build").fetchall()[0]
        in_file = shared_world.counts(con) if built_at == datetime.fromisoformat(note["published_at"]) else None
    with log_read_only(place) as con:
        con.begin()
        state = (ducklake.snapshot(con), *con.execute(STATE).fetchall()[0])
        found["breaches"] += [f"log: {each}" for each in shared_world.breaches(con, load.world, shared_world.IN_LOG)]
        if last and any(now < then for now, then in zip(state, last, strict=True)):
            found["breaches"].append(f"log: went back from {last} to {state}")
        again = (ducklake.snapshot(con), *con.execute(STATE).fetchall()[0])
        if again != state:
            found["breaches"].append(f"log: {state} became {again} within one transaction")
        if in_file is not None:
            found["compared"] = True
            in_log = shared_world.counts(con, f" at (version => {int(note['snapshot_id'])})")
            if in_file != in_log:
                found["breaches"].append(f"a publication has {in_file}, its snapshot {in_log}")
        con.rollback()
    found["log_ms"] = _ms(began)
    return state


@contextmanager
def log_read_only(place: Place) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the log of a lake that cannot be written through it: as `lake.connected`, but read-only."""
    with duckdb.connect(config={"threads": 1}) as con:
        one = ducklake.Lake(place, con)
        try:
            ducklake._load_extensions(con, place)
            ducklake._set(con, place)
            one.renew()
            ducklake._attach_as(one, "create_if_not_exists false, read_only")
            con.execute(f"use {ducklake.NAME}")
            con.execute("set timezone = 'UTC'")
            yield con
        finally:
            one.locks.close()


def _ms(began: float) -> float:
    return (time.perf_counter() - began) * 1000


# --- the end


def settled(load: Load, told: dict[Key, list[int]]) -> tuple[dict[str, Any], list[list[Any]]]:
    """Load what is left, and compare: what was landed, what was told to be committed, and what stands in the log.

    `told` has the rows of each look as told, once for each time it was told. Return counts, and the looks left.
    """
    settings = load.settings("end")
    with load.world.in_place(), steps.open_run(settings) as one:
        left = looks_of(one)
        rows = one.con.execute("select source, scope, observed_at, n_rows from core.scope_run").fetchall()
        in_log = Counter((source, scope, moment) for source, scope, moment, _ in rows)
        n_rows = {(source, scope, moment): number for source, scope, moment, number in rows}
        landed = Counter(
            (entry.content["source"], entry.content["scope"], _naive(unstamp(entry.content["observed_at"])))
            for entry in settings.landing().entries() if entry.kind == "look"
        )  # fmt: skip
        found = {
            "looks_landed": len(landed), "looks_in_log": len(in_log), "rows_in_log": sum(n_rows.values()),
            "looks_told": len(told), "looks_loaded_at_the_end": len(left),
            "lost": len((landed.keys() | told.keys()) - in_log.keys()),
            "doubled": sum(number > 1 for number in in_log.values())
            + sum(len(each) > 1 for each in told.values()),
            "not_landed": len(in_log.keys() - landed.keys()),
            "told_otherwise": sum(n_rows.get(key) != each[0] for key, each in told.items()),
            "breaches_at_the_end": list(shared_world.breaches(one.con, load.world, shared_world.IN_LOG)),
        }  # fmt: skip
        return found, left


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def key_of(look: list[Any]) -> Key:
    """Return the key of a look as a process told it."""
    return look[0], look[1], _naive(datetime.fromisoformat(str(look[2])))
