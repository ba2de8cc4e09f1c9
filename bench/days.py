"""The simulated year in short: what `python -m bench` measures of it.

Whole runs, one a day, each with its publishing and report; then the log is made again from the landing folder, and has
to be the same. bench/simulated_year.py says what is simulated, and draws a whole year.
"""

import random
import statistics
from pathlib import Path

from bench import simulated_year as year
from bench.result import Result
from flows.backup import replicas
from flows.config.settings import Settings

DAYS = 14
"""The second Monday is among them, and with it the report of a week."""


def results(folder: Path, shared: Path | None = None, *, days: int = DAYS) -> list[Result]:
    """Return what some days take, each with its publishing and report, and whether a rebuild makes the same of them.

    Raises ValueError where there is nothing to compare the rebuilt log with.
    """
    _ = shared  # nothing of it is needed
    world = year.World(random.Random(year.SEED))  # noqa: S311
    settings = Settings(data_dir=folder / "year", workers=2)
    with year.Meter(world) as meter:
        done = list(year.each_day(world, meter, settings, days))
        made = replicas.rebuild(settings, clock=lambda: world.now)
    if not made.before:
        raise ValueError(f"the log in use was not read: {made.unreadable}")
    return results_of(done, made.differing)


def results_of(done: list[year.Day], differing: list[str]) -> list[Result]:
    """Return the results of days, and of a rebuild after them; seconds are of the processor but where they say so."""
    took = {
        name: statistics.median(getattr(day, name) for day in done)
        for name in ("seconds", "elapsed", "load_seconds", "publish_seconds", "report_seconds")
    }
    steps_ = ", ".join(f"{name} {took[f'{name}_seconds']:.2f} s" for name in ("load", "publish", "report"))
    last, what = done[-1], f"{len(done)} simulated days"
    n_events, n_failed = sum(day.n_events for day in done), sum(day.n_failed for day in done)
    sizes = {
        name: getattr(last, f"{name}_mb") for name in ("journal", "documents", "packs", "build", "prices", "reports")
    }
    half = len(done) // 2
    longer = statistics.median(day.seconds for day in done[-half:]) / statistics.median(
        day.seconds for day in done[:half]
    )
    return [
        Result(f"{what}: a run", took["seconds"], "s", None, note=f"of the processor, the median: {steps_}"),
        Result(f"{what}: a run by the clock", took["elapsed"], "s", None, note=f"{n_events} events, {n_failed} failed"),
        Result(f"{what}: the later half beside the first", longer, "x", None, note="runs, by the processor"),
        Result(f"{what}: report of a week", max(day.weekly_seconds for day in done), "s", None, note="the longest"),
        Result(f"{what}: peak memory", max(day.peak_mb for day in done), "MB", None),
        Result(
            f"{what}: on disk", sum(sizes.values()), "MB", None,
            note=", ".join(f"{name} {size:.1f}" for name, size in sizes.items()),
        ),
        Result(
            f"{what}: tables that a rebuild makes otherwise", len(differing), "tables", 0, note=", ".join(differing)
        ),
    ]  # fmt: skip
