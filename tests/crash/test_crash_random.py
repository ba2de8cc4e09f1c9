"""Killed at any moment, before any change of a file, or at any system call: nothing is lost, the next try mends."""

import random
import shutil

import pytest

from crash.bench import KILLED, Bench

MOMENTS = {"run": 200, "import": 25, "decide": 25, "build": 15, "migrate from 0": 15, "backup to .tar.zst": 20,
           "restore": 20, "rebuild": 8, "unpack": 20, "prune": 10, "archive": 5}  # fmt: skip
"""How often each job is killed at a random moment."""
CHANGED = ("run", "import", "decide", "backup to a folder", "backup to .tar.zst", "restore", "rebuild", "unpack",
           "prune", "init")  # fmt: skip
"""Jobs that are killed before each single change of a file."""
CALLED = {"run": 150, "restore": 60, "migrate from 0": 60, "unpack": 40, "rebuild": 20, "import": 40}
"""How many system calls of each job are killed at, spread over all of them."""


def moments(bench: Bench, job: str, number: int, *, seed: int) -> None:
    """Kill a job so many times, each at a random share of what an undisturbed try takes of a processor.

    Where it was ended already it was not killed, and another share is tried.
    """
    chance = random.Random(f"{seed} {job}")  # noqa: S311 - chance, no secret
    takes = bench.before(job).undisturbed.processor_s

    def kill(_: int) -> None:
        for _ in range(20):
            ended = bench.kill(job, f"random moments of {job}", after_s=chance.uniform(0.01, 0.98) * takes)
            if ended.status == KILLED:
                return
        raise AssertionError(f"{job} ends before it can be killed: {ended}")

    bench.each(range(number), kill)


@pytest.mark.prove
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("job", MOMENTS)
def test_killed_at_hundreds_of_random_moments(bench: Bench, job: str) -> None:
    """Hundreds in all, over every kind of job."""
    moments(bench, job, MOMENTS[job], seed=1)


@pytest.mark.prove
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("job", CHANGED)
def test_killed_before_each_change_of_a_file(bench: Bench, job: str) -> None:
    """Each opening for writing, flush, rename and removal that Python does is once the one that is never done."""
    n_changes = bench.before(job).undisturbed.changes
    assert n_changes

    def kill(number: int) -> None:
        assert bench.kill(job, f"changes of files in {job}", change=number).status == KILLED

    bench.each(range(1, n_changes + 1), kill)


@pytest.mark.prove
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("job", CALLED)
def test_killed_at_system_calls(bench: Bench, job: str) -> None:
    """DuckDB's writes too: killed at every so manieth call that changes a file. Without strace nothing of this runs."""
    if not shutil.which("strace"):
        pytest.fail("strace is not installed: system calls cannot be killed at")
    with bench.copy(job) as root:
        most = bench.well(bench.zygote.do(job, root, traced=True)).calls
    calls = [(name, number) for name, n in sorted(most.items()) for number in range(1, n + 1)]
    assert len(calls) > 10
    killed = []

    def kill(call: tuple[str, int]) -> None:
        name, number = call
        killed.append(bench.kill(job, f"system calls of {job}", call_name=name, call=number).status)

    bench.each(calls[:: max(1, len(calls) // CALLED[job])], kill)
    # How many calls there are varies by a few.
    assert killed.count(KILLED) >= 0.9 * len(killed)
