"""A disk that fills, is read-only or may not be written: a clear error, the old file stays, and the next run mends."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crash import checks
from crash.bench import Bench
from crash.zygote import Ended

NOBODY = 65534


def test_no_file_may_grow(bench: Bench) -> None:
    """Everywhere: a limit on the size of files stands in for a full disk; the error names it, and nothing is lost."""
    _limited(bench, 3_000_000)


@pytest.mark.prove
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("limit", [200, 3_000, 10_000, 100_000, 1_000_000, 2_000_000, 4_000_000, 5_000_000])
def test_no_file_may_grow_beyond_any_size(bench: Bench, limit: int) -> None:
    """From the first document to the published file."""
    _limited(bench, limit)


def _limited(bench: Bench, limit: int) -> None:
    with bench.copy("run") as root:
        ended = bench.zygote.do("run", root, file_bytes=limit)
        told(ended, root, "larger than this process may write")
        bench.look("run", root, "disk full: limit on files", ended)


def told(ended: Ended, root: Path, message: str) -> None:
    """Check that a child ended with exit code 1 and one line that says what, where and on which disk."""
    assert ended.status in (0, 1), ended.printed
    if ended.status == 0:
        return
    lines = [line for line in ended.printed.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, ended.printed
    assert message in lines[0]
    assert str(root) in lines[0]
    assert "MB free" in lines[0]
    assert "Traceback" not in ended.printed


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[Path]:
    """Give a folder that is a disk of so many bytes; mounting needs root."""
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "chipledger", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


ROOMS_KB = (0, 4, 8, 16, 24, 32, 64, 128, 256, 512, 1000, 2000, 3000, 4000, 5000, 6000, 8000, 12000, 24000, 64000)
"""What is left on the disk when a job begins."""


def can_mount(tmp_path: Path) -> bool:
    """Return whether this user may mount a disk here."""
    if os.geteuid() or not shutil.which("mount"):
        return False
    try:
        with small_disk(tmp_path / "try", 1 << 20):
            return True
    except subprocess.CalledProcessError:
        return False


@pytest.mark.prove
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("job", ["run", "import", "decide", "restore", "rebuild", "unpack", "backup to .tar.zst"])
def test_a_small_disk_fills(bench: Bench, tmp_path: Path, job: str) -> None:
    """With no room, a little and more, so that it fills at every step; then there is room again."""
    if not can_mount(tmp_path):
        pytest.fail("no disk can be mounted here: run as root, or rely on the limits on files")
    statuses = []
    for room_kb in ROOMS_KB:
        with small_disk(tmp_path / "disk", 128 << 20) as disk:
            shutil.copytree(bench.before(job).root, disk / "root")
            with (disk / "filler").open("wb") as filler:
                filler.write(bytes(max(0, shutil.disk_usage(disk).free - room_kb * 1024)))
            ended = bench.zygote.do(job, disk / "root")
            told(ended, disk, "the disk is full")
            statuses.append(ended.status)
            (disk / "filler").unlink()
            bench.look(job, disk / "root", f"disk full in {job}", ended)
    assert 0 in statuses
    assert 1 in statuses


@pytest.mark.prove
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_writes_fail_from_any_call_on(bench: Bench, error: str) -> None:
    """DuckDB's too: from every so manieth write on all fail; what is said is true, and the next run mends."""
    if not shutil.which("strace"):
        pytest.fail("strace is not installed: system calls cannot be failed")
    with bench.copy("run") as root:
        n_calls = max(bench.well(bench.zygote.do("run", root, traced=True)).calls.values())

    def fail(number: int) -> None:
        with bench.copy("run") as root:
            ended = bench.zygote.do("run", root, call=number, error=error)
            assert ended.status != 70 or "Traceback" not in ended.printed, ended.printed
            bench.look("run", root, f"{error} from a call on", ended)

    bench.each(range(1, n_calls, max(1, n_calls // 30)), fail)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become nobody; as another user the modes hold anyway")
@pytest.mark.parametrize("folder", ["data", pytest.param("data/landing", marks=pytest.mark.prove)])
def test_a_folder_that_may_not_be_written(bench: Bench, folder: str) -> None:
    """As a user without rights: the error names the folder; published file and landing stay as they are."""
    with bench.copy("run") as root:
        _give(root)
        (root / folder).chmod(0o555)
        for parent in root.parents:
            if not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o011)
        before = checks.files_of(root / "data")
        ended = bench.zygote.do("run", root, user=NOBODY)
        assert ended.status == 1, ended.printed
        told(ended, root, "may not be read or written")
        left = checks.files_of(root / "data")
        assert {name: left[name] for name in before if name in left and "build" not in name} == {
            name: digest for name, digest in before.items() if "build" not in name
        }
        (root / folder).chmod(0o755)
        bench.look("run", root, "a folder that may not be written", ended)


def _give(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
