"""What is taken over from the file before is what would have been made, whatever the history."""

import logging
import random
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest
from few_marts import needed, undescribed
from log_days import put as put_log
from log_days import rate, told
from looks import Row, look, row

from warehouse.log import db
from warehouse.log.parsed import ParsedFetch
from warehouse.publish import published_file

SOURCES = [
    ("aws_price_list", "AWS", "The price list", "live", 10, 72, "https://x.test"),
    ("aws_spot", "AWS", "Spot", "live", 10, 24, "https://x.test"),
    ("nebius", "Nebius", "A page", "live", 20, 72, "https://x.test"),
    ("offline_archive", "AWS", "The archive", "archive", 50, None, "https://x.test"),
]
MARTS, _ = needed("price_index")
put = partial(put_log, marts=MARTS, sources=SOURCES)
INDEX = ("price_level", "price_index")
TYPES = ("p5.48xlarge", "p4d.24xlarge", "g6.xlarge", "trn1.2xlarge")


@pytest.fixture(autouse=True)
def plain() -> Iterator[None]:
    """Leave out comments: they are tested elsewhere."""
    with undescribed():
        yield


class World:
    """Made-up prices of a few offers in two currencies, which move, go, come back, and are learnt late."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 - chance, no secret
        self.price = {name: self.dice.uniform(1, 50) for name in (*TYPES, "H100", "H200")}

    def looks(self, at: int) -> Iterator[tuple[ParsedFetch, float]]:
        """Yield the looks that are learnt on a day, each with when it was learnt."""
        dice = self.dice
        for name in self.price:
            if dice.random() < 0.15:
                self.price[name] *= dice.choice((0.8, 0.95, 1.05, 1.3))
        now = at + 0.25
        if dice.random() < 0.9:
            yield look(now, *self.aws(), scope="us-east-1"), now
        if dice.random() < 0.9:
            yield look(now, *self.aws(purchase_option="spot", tier=None), scope="spot", source="aws_spot"), now
        if dice.random() < 0.8:
            yield look(now, *self.nebius(), scope="nebius", source="nebius"), now
        if at > 6 and dice.random() < 0.15:
            past = at - dice.uniform(2, 6)
            rows = self.aws(region_id="us-west-2")
            yield look(past, *rows, complete=False, archived=True, source="offline_archive", scope="old"), now

    def aws(self, **others: object) -> list[Row]:
        shown = [name for name in TYPES if self.dice.random() < 0.95] or [TYPES[0]]
        return [row(name, f"{self.price[name]:.4f}", **others) for name in shown]

    def nebius(self) -> list[Row]:
        return [
            row(
                None, f"{self.price[chip]:.2f}", service_provider_name="Nebius", accelerator_label=f"NVIDIA {chip}",
                accelerator_count="1", capacity_unit="GPU", pricing_currency="EUR", region_id=None,
            )
            for chip in ("H100", "H200")
        ]  # fmt: skip


def rows(file: Path, mart: str) -> list[str]:
    with duckdb.connect(str(file), read_only=True) as con:
        return sorted(map(repr, con.execute(f"from int.{mart}").fetchall()))


def compare(tmp_path: Path, *, seed: int, days: int, every: int, first: int = 0, since: int = 0) -> None:
    """Publish a made-up history day by day, and every so many days also where no file stands; compare the two.

    The history begins on day `first`; what is learnt before day `since` is published with it.
    """
    world = World(seed)
    with db.writer(tmp_path / "writer") as con:
        for at in range(first, days):
            for each, learnt in world.looks(at):
                told(con, each, learnt=learnt)
            if world.dice.random() < 0.8:
                late = world.dice.choice((0, 0, 0, 3))
                rate(con, at - late, world.dice.uniform(1.0, 1.2), learnt=at + 0.3)
            if at < since:
                continue
            daily = put(con, tmp_path / "daily", at + 0.5)
            if at % every == every - 1:
                (tmp_path / "once" / published_file.FILE_NAME).unlink(missing_ok=True)
                once = put(con, tmp_path / "once", at + 0.5)
                for mart in INDEX:
                    assert rows(daily, mart) == rows(once, mart), f"day {at}: int.{mart}"
    assert len(rows(daily, "price_level")) > days


def test_a_history_published_day_by_day_is_the_one_published_at_once(tmp_path: Path) -> None:
    compare(tmp_path, seed=4, days=9, every=9, first=5, since=7)


@pytest.mark.prove
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(1, 9))
def test_long_histories_published_day_by_day_are_those_published_at_once(tmp_path: Path, seed: int) -> None:
    compare(tmp_path, seed=seed, days=30, every=2)


def spoil(file: Path, sql: str) -> None:
    """Change a published file, as nobody may."""
    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        con.execute(sql)


def nine_days(folder: Path) -> Path:
    """Make a data directory of nine days, published on the ninth, and return it."""
    with undescribed(), db.writer(folder) as con:
        for at in range(9):
            told(con, look(at + 0.25, row("p5.48xlarge", "10")), learnt=at + 0.25)
        put(con, folder, 8.5)
    return folder


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory, warehouse: Any) -> Path | None:
    """Return such a directory to copy; None where its log would be a lake, and would not be copied with it."""
    return None if warehouse else nine_days(tmp_path_factory.mktemp("published"))


@pytest.fixture
def published(once: Path | None, tmp_path: Path) -> Path:
    """Return such a directory of the test's own."""
    folder = tmp_path / "data"
    return nine_days(folder) if once is None else Path(shutil.copytree(once, folder))


def a_day_later(folder: Path, between: str = "", *, price: str = "10", learnt: float = 9.25) -> list[int]:
    """Spoil the levels of a published file, and publish the day after; return the n_items of price_level by day."""
    file = folder / published_file.FILE_NAME
    spoil(file, f"update int.price_level set n_items = 77; {between}")
    with db.writer(folder) as con:
        told(con, look(learnt, row("p5.48xlarge", price)), learnt=9.25)
        put(con, folder, 9.5)
    with duckdb.connect(str(file), read_only=True) as con:
        return [n for (n,) in con.execute("select n_items from int.price_level order by index_date").fetchall()]


def test_only_days_that_may_differ_are_made_again(published: Path) -> None:
    """The day of the file before is carried on to the next; the ones before it are not looked at."""
    assert a_day_later(published) == [77] * 9 + [1]


def test_a_price_learnt_late_makes_its_days_again(published: Path) -> None:
    assert a_day_later(published, price="11", learnt=5.5) == [77] * 5 + [1] * 5


@pytest.mark.parametrize(
    "between",
    [
        "update meta.build set version = 'another'",
        "update meta.build set sql_sha256 = 'another'",
        pytest.param("alter table meta.build drop column sql_sha256", marks=pytest.mark.prove),
        pytest.param("drop table meta.build", marks=pytest.mark.prove),
    ],
)
def test_nothing_is_taken_over_from_another_version_or_other_marts(published: Path, between: str) -> None:
    assert a_day_later(published, between) == [1] * 10


def test_a_file_before_that_cannot_be_read_is_no_fault(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / published_file.FILE_NAME).write_bytes(b"no database")
    with caplog.at_level(logging.WARNING), db.writer(tmp_path) as con:
        told(con, look(0.25, row("p5.48xlarge", "10")), learnt=0.25)
        file = put(con, tmp_path, 0.5)
    assert "not used" in caplog.text
    assert len(rows(file, "price_level")) == 1
