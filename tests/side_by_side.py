"""Many small markets in one published file: each case has regions of its own, and its last day is that of the file.

To publish takes longer than most tests ask for, and nothing of one region depends on another.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import kept
import polars as pl
import pytest
from looks import START, ParsedFetch
from published import records
from purchase import putting


class World:
    """The cases of one module, published together on day 0; `file` is there once it is published."""

    def __init__(self, name: str, *asked: str) -> None:
        self.name, self.asked = name, asked
        self.looks: list[ParsedFetch] = []
        self.n_cases = 0
        self.file = Path()

    def case(self, *looks: ParsedFetch, at: float) -> "Case":
        """Add looks, as if they were published alone on this day; regions and documents get the case's number."""
        self.n_cases += 1
        own = [_moved(look, str(self.n_cases), timedelta(days=at)) for look in looks]
        self.looks += own
        regions = {look.scope for look in own}.union(*(look.rows["region_id"] for look in own if look.rows.height))
        return Case(self, self.n_cases, tuple(sorted(regions)))

    def shown(self, *looks: ParsedFetch, at: float) -> pytest.MarkDecorator:
        """Return what gives a test the case of these looks, as `case`."""
        return pytest.mark.parametrize("case", [self.case(*looks, at=at)], ids=["shown"])

    def publish(self, base: pytest.TempPathFactory) -> None:
        """Publish all cases, once for all workers."""

        def make(folder: Path) -> None:
            with putting(folder, asked=self.asked) as put:
                put(*sorted(self.looks, key=lambda each: each.observed_at), at=0, at_last=True)

        self.file = kept.once(base, f"{self.name}-{self.n_cases}", make) / "prices.duckdb"


@dataclass(frozen=True)
class Case:
    """One case of a world, with its regions, whose names end with its number."""

    world: World
    number: int
    names: tuple[str, ...]

    def region(self, name: str) -> str:
        """Return the name that a region has in the file."""
        return f"{name}-{self.number}"

    @property
    def regions(self) -> str:
        """Return a list of its regions, in SQL."""
        return str([*self.names])

    def records(self, sql: str) -> list[dict[str, object]]:
        """Return the rows of a query on the file, where `$own` is a condition on region_id; regions without number."""
        found = records(self.world.file, sql.replace("$own", f"list_contains({self.regions}, region_id)"))
        return [{name: self._plain(value) for name, value in line.items()} for line in found]

    def _plain(self, value: object) -> object:
        return value.removesuffix(f"-{self.number}") if value in self.names and isinstance(value, str) else value


def _moved(look: ParsedFetch, number: str, by: timedelta) -> ParsedFetch:
    observed_at, document = look.observed_at - by, f"{look.document_sha256} {number}"

    def own(frame: pl.DataFrame) -> pl.DataFrame:
        if frame.is_empty():
            return frame
        return frame.with_columns(pl.format("{}-{}", "region_id", pl.lit(number)), document_sha256=pl.lit(document))

    return replace(
        look,
        run_id=f"run {(observed_at - START).days}",
        scope=f"{look.scope}-{number}",
        observed_at=observed_at,
        document_sha256=document,
        rows=own(look.rows),
        facts={table: own(frame) for table, frame in look.facts.items()},
    )
