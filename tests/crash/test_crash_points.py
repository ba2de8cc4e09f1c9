"""A process killed at a named point leaves a whole published file, old or new, and the next try mends the rest."""

import pytest

from crash import points
from crash.bench import KILLED, Bench
from crash.points import ARCHIVE, INTERVALS, POINTS

SHORT = ("in the load, between events and coverage", f"within migration {INTERVALS}")
"""The points at which every run of the tests kills; all of them are for the long proofs."""


@pytest.mark.parametrize(
    "point", [point if point in SHORT else pytest.param(point, marks=pytest.mark.prove) for point in POINTS]
)
def test_a_process_killed_at_a_point_is_mended(bench: Bench, point: str) -> None:
    """It dies there for certain; a reader finds the file before or the file after, and the next try makes the rest."""
    job = POINTS[point].job
    of = "migrations" if job.startswith("migrate") else job
    ended = bench.kill(job, f"named points of {of}", point=point)

    assert (ended.status, ended.printed) == (KILLED, "")


def test_every_point_is_in_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that has another name has no kill before it: the long proofs would tell, seldom run as they are."""
    monkeypatch.setattr(points, "setattr", lambda *_: None, raising=False)  # found, and left as it is
    for point in POINTS.values():
        point.put()


def test_the_points_of_a_whole_run_are_eleven() -> None:
    """None was lost on the way; that no job dies without a point shows when its folder is made."""
    assert len(ARCHIVE) == 11
    assert set(SHORT) <= set(POINTS)
