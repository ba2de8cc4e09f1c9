"""A published file of six weeks of a small market, each with one thing to tell, and a provider of hostile words.

W02 (5 to 11 January 2026): two sources see RunPod raise H100 PCIe, the second of them on the Monday after. W03: AWS
cuts a type, an offer goes, and a price rises that is back in W04. W05: nothing happens. W06: nobody looks.
"""

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from typing import Any

import kept
import polars as pl
import pytest
from few_marts import formulas_of
from log_rows import add_documents
from looks import ParsedFetch, Row, day, row
from purchase import SOURCES, seen

from reports.currency import USD
from reports.weekly import facts
from reports.weekly.calendar import CHIPS, MIN_CHANGE, Week
from reports.weekly.facts import WeekFacts
from transform.models import MACROS, MARTS, Mart, MartMacro
from warehouse.log import db
from warehouse.log.events import naive
from warehouse.log.load import load
from warehouse.publish import published_file

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>=cmd()\r\nBcc: victim@example.com'
BUILT_DAY = 42.5
LATE = ((6, "5"), (9, "6"))
LATE_DAY = 20
"""What an archive tells of W02, and when it was read: in W04."""
READ = facts.read
AS_EVER = {"chips": CHIPS, "least": MIN_CHANGE, "shown_in": USD}
"""What a week is read with unless the settings say otherwise."""


def with_frames(facts: Any, **frames: pl.DataFrame) -> Any:
    """Return the same facts of a day or a week with other answers."""
    return replace(facts, frames={**facts.frames, **frames})


def chip(provider: str, price: str, label: str, **others: object) -> Row:
    return row(
        None, price, service_provider_name=provider, accelerator_label=label, accelerator_count="1",
        capacity_unit="GPU", minimum_quantity="1", **({"region_id": None} | others),
    )  # fmt: skip


def aws(p5: str = "80") -> list[Row]:
    return [row("p5.48xlarge", p5), *(row(name, "20") for name in ("p4d.24xlarge", "p4de.24xlarge", "g6.48xlarge"))]


def first(at: float, *, pcie: str = "2.39", p5: str = "80", h200: str = "4", gone: bool = False) -> ParsedFetch:
    """Return a look of the first source at everybody."""
    return seen(
        at, "aws_price_list", *aws(p5), chip("RunPod", pcie, "NVIDIA H100 PCIe", tier="secure"),
        chip("RunPod", h200, "NVIDIA H200 SXM", tier="secure"),
        chip("RunPod", "2.69", "NVIDIA H100 SXM", tier="secure"),
        chip("Alpha", "1.5", "NVIDIA A100 80GB PCIe"), chip("Alpha", "0.04", "NVIDIA L4"),
        *([] if gone else [chip("Beta", "3", "NVIDIA H100 SXM")]),
        chip(HOSTILE, "2" if at < 12 else "2.2", "NVIDIA H100 SXM", tier=HOSTILE),
    )  # fmt: skip


def second(at: float, *, pcie: str) -> ParsedFetch:
    """Return a look of the second source, which has other words for the same chip."""
    return seen(at, "aws_spot_feed", chip("RunPod", pcie, "H100 PCIe", tier="secure"), scope="second")


def weeks(base: pytest.TempPathFactory) -> Path:
    """Return the file of the weeks, made once for all tests: read it, or copy its folder."""
    return kept.once(base, "weeks", publish_weeks) / "prices.duckdb"


def told(base: pytest.TempPathFactory, week: str, *, known_then: bool = False) -> WeekFacts:
    """Return the facts of one of the weeks, read once for all tests."""
    file = weeks(base)

    def read(folder: Path) -> None:
        found = READ(file, Week.parse(week), known_then=known_then)
        (folder / "told.pickle").write_bytes(pickle.dumps(found))

    folder = kept.once(base, f"told-{week}{'-then' if known_then else ''}", read)
    return pickle.loads((folder / "told.pickle").read_bytes())  # noqa: S301 (written above)


@contextmanager
def read_once(base: pytest.TempPathFactory) -> Iterator[None]:
    """Let what is asked of the file of the weeks, or of a copy, be read once for all tests: a week takes half a second.

    A week that is not over when the file was built is read each time.
    """
    built = naive(day(BUILT_DAY))

    def read(
        file: Path, week: Week | None = None, *, now: datetime | None = None, known_then: bool = False, **how: Any
    ) -> WeekFacts:
        week = week or Week.last_before(max(built, now or built))
        if week.until <= built and how == AS_EVER:
            return told(base, str(week), known_then=known_then)
        return READ(file, week, now=now, known_then=known_then, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facts, "read", read)
        yield


def publish_weeks(
    folder: Path, before: Sequence[ParsedFetch] = (), *,
    marts: tuple[Mart, ...] = MARTS, macros: tuple[MartMacro, ...] = MACROS,
) -> Path:  # fmt: skip
    """Publish the weeks into a folder and return the file; with all marts, unless some are given; without comments."""
    looks = [
        *before, first(5), second(5, pcie="2.39"),
        second(10.5, pcie="2.89"),
        first(11.5, pcie="2.89"),
        first(13, pcie="2.89", p5="60", gone=True),
        first(16, pcie="2.89", p5="60", h200="5", gone=True), second(16, pcie="2.89"),
        first(19, pcie="2.89", p5="60", gone=True), second(19, pcie="2.89"),
        *(seen(at, "offline_archive", chip("Late", price, "NVIDIA L40S"), scope="late") for at, price in LATE),
        first(27, pcie="2.89", p5="60", gone=True), second(27, pcie="2.89"),
    ]  # fmt: skip
    with db.writer(folder) as con:
        for recorded_at, together in groupby(
            looks, key=lambda one: day(LATE_DAY) if one.scope == "late" else one.observed_at
        ):
            every = list(together)
            add_documents(con, *every, urls=["https://x.test/"] * len(every))
            load(con, every, recorded_at=recorded_at)
        return published_file.publish(
            con, folder, marts=marts, macros=macros, formulas=formulas_of((*marts, *macros)), sources=SOURCES,
            built_at=day(BUILT_DAY), version="test",
        )  # fmt: skip


class Tags(HTMLParser):
    """The tags of a page with their attributes, and its words as a reader sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)
