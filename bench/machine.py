"""What machine this is, as a benchmark has to say it: processor, cores, memory, disk, versions, and how busy it is."""

import os
import platform
import shutil
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("chipledger", "duckdb", "polars", "pandera", "pyarrow", "gpuhunt")
LOOP = 5_000_000
BLOCK = os.urandom(1 << 20)
DISK_MB = 128


def describe(folder: Path) -> dict[str, str]:
    """Return the machine by words; the disk is that of a folder, which is written to."""
    total, _, free = shutil.disk_usage(folder)
    return {
        "processor": _line("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "memory": f"{int((_line('/proc/meminfo', 'MemTotal') or '0').split()[0]) / 1e6:.1f} GB",
        "disk": f"{total / 1e9:.0f} GB, {free / 1e9:.0f} GB free, writes {write_mb_s(folder):.0f} MB/s with fsync",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        "calibration loop": f"{loop_seconds():.3f} s of the processor",
        "load average before": load(),
    }


@cache
def loop_seconds() -> float:
    """Return the processor's seconds of five million additions in Python, the least of five times.

    Budgets in seconds are multiples of it, as machines differ by three times.
    """
    return min(_added() for _ in range(5))


def _added() -> float:
    total, began = 0, time.process_time()
    for number in range(LOOP):
        total += number
    return time.process_time() - began


def load() -> str:
    """Return the load averages of 1, 5 and 15 minutes: above the number of cores, others compete for them."""
    return " ".join(f"{value:.1f}" for value in os.getloadavg())


def memory_mb(name: str, process: int | str = "self") -> float:
    """Return VmRSS (now) or VmHWM (at its highest) of a process; 0 of one that has ended, NaN where Linux is not.

    ru_maxrss would start with that of the parent.
    """
    if not Path("/proc/self/status").exists():
        return float("nan")
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith(f"{name}:")), 0.0)


def write_mb_s(folder: Path) -> float:
    """Return how fast bytes reach the disk: written in blocks to one file, and flushed."""
    place = folder / "disk.bin"
    began = time.perf_counter()
    with place.open("wb", buffering=0) as file:
        for _ in range(DISK_MB):
            file.write(BLOCK)
        os.fsync(file.fileno())
    seconds = time.perf_counter() - began
    place.unlink()
    return DISK_MB * len(BLOCK) / 1e6 / seconds


def _line(place: str, name: str) -> str:
    file = Path(place)
    lines = file.read_text().splitlines() if file.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), "")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
