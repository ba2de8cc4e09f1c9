"""What was tried and what it cost, by class: printed after the tests, and written as JSON where a folder is named."""

import json
import os
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from crash.zygote import Ended

FOLDER = "CHIPLEDGER_PROOF_DIR"
"""Variable of the environment: the folder that the table goes to, as crash.json."""


@dataclass
class Count:
    """One class: how often it was tried, how often the process was killed in it, and what came of it."""

    tried: int = 0
    killed: int = 0
    failed: int = 0
    files_lost: int = 0
    rows_lost: int = 0
    rows_doubled: int = 0
    wrong_rows: int = 0
    longest_s: float = 0.0
    most_mb: float = 0.0

    def took(self, ended: Ended) -> None:
        """Count what a child needed."""
        self.longest_s = round(max(self.longest_s, ended.seconds), 3)
        self.most_mb = round(max(self.most_mb, ended.memory_mb), 1)


@dataclass
class Tally:
    """All classes."""

    classes: dict[str, Count] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def trying(self, of: str, ended: Ended) -> Iterator[Count]:
        """Give the counts of one try, which are added to those of its class, also where a check fails."""
        one = Count(tried=1, killed=int(ended.status == -9))
        one.took(ended)
        try:
            yield one
        except BaseException:
            one.failed = 1
            raise
        finally:
            with self.lock:
                whole = self.classes.setdefault(of, Count())
                for name, value in asdict(one).items():
                    kept = getattr(whole, name)
                    setattr(whole, name, max(kept, value) if name in ("longest_s", "most_mb") else kept + value)
                self._save()

    def lines(self) -> Iterator[str]:
        """Yield the table."""
        names = list(Count.__dataclass_fields__)
        width = max(map(len, self.classes), default=5)
        yield "  ".join(["class".ljust(width), *names])
        for of, count in self.classes.items():
            yield "  ".join([of.ljust(width), *(str(getattr(count, name)).rjust(len(name)) for name in names)])

    def write(self) -> None:
        """Print the table."""
        if self.classes:
            print("\n" + "\n".join(self.lines()))

    def _save(self) -> None:
        """Write the table where the environment names a folder, after each try: these runs are long."""
        if folder := os.environ.get(FOLDER):
            worker = os.environ.get("PYTEST_XDIST_WORKER", "")
            target = Path(folder) / f"crash{worker and '-' + worker}.json"
            target.parent.mkdir(parents=True, exist_ok=True)
            told = {"machine": f"{platform.system()} {platform.release()}, {os.cpu_count()} processors"}
            told |= {"classes": {of: asdict(count) for of, count in self.classes.items()}}  # type: ignore[dict-item]
            target.write_text(json.dumps(told, indent=1) + "\n")


TALLY = Tally()
