"""YOU and DO of the weekly mail: what a week does to the user's fleet, told from a small private file."""

from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import duckdb
import pytest

from reports.weekly import fleet
from reports.weekly.calendar import Week
from reports.weekly.facts import WeekFacts
from reports.weekly.fleet import FleetNews
from reports.wording import MINUS

TABLES = """
create table build (built_at timestamp, prices_built_at timestamp);
create table fleet_line (line_number bigint, label varchar, purchase_option varchar);
create table fleet_cost (line_number bigint, list_usd_per_month double, contracted_usd_per_month double);
create table fleet_move (
    line_number bigint, move_of varchar, observed_at timestamp, change_kind varchar, usd_per_month_change double
);
create table renewal (
    line_number bigint, label varchar, nodes decimal(10, 4), commitment_ends_on date, on_demand_usd_per_month double
);
insert into fleet_line values (1, 'serving', 'on_demand'), (2, 'training', 'savings_plan'), (3, 'lab', 'spot');
insert into fleet_cost values (1, 40000, 30000), (2, 20000, null), (3, null, null);
"""


@pytest.fixture
def newest() -> WeekFacts:
    """Return what is asked of a week's facts: a week that was over days before the file was built."""
    week = Week.parse("2026-W05")
    built_at = week.until + timedelta(days=3)
    return cast("WeekFacts", SimpleNamespace(week=week, built_at=built_at, as_of=week.until, is_newest=True))


def private(folder: Path, found: WeekFacts, *more: str, built_at: datetime | None = None) -> Path:
    file = folder / "private.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute(TABLES)
        con.execute("insert into build values (?, ?)", [found.built_at, built_at or found.built_at])
        for statement in more:
            con.execute(statement)
    return file


def moved(found: WeekFacts, line: int, change: float | None, *, kind: str = "list_change", of: str = "line",
          days: float = 1) -> str:  # fmt: skip
    at = found.week.since + timedelta(days=days)
    return (
        f"insert into fleet_move values ({line}, '{of}', '{at}', '{kind}', {change if change is not None else 'null'})"
    )


def ends(found: WeekFacts, line: int, label: str, days: int, on_demand: str = "73000") -> str:
    on = found.as_of.date() + timedelta(days=days)
    return f"insert into renewal values ({line}, $${label}$$, 2, '{on}', {on_demand})"


def told(tmp_path: Path, found: WeekFacts, *more: str, with_contracted: bool = False) -> FleetNews:
    news = fleet.read(private(tmp_path, found, *more), found, with_contracted=with_contracted)
    assert news is not None
    return news


def test_what_a_week_does_to_the_bill(tmp_path: Path, newest: WeekFacts) -> None:
    """What is on demand or spot at once, a commitment once it ends; other weeks and other machines not at all."""
    news = told(
        tmp_path, newest,
        moved(newest, 1, 312.4), moved(newest, 3, -12.5, kind="spot_move"), moved(newest, 2, -2000),
        moved(newest, 1, 9999, days=-1), moved(newest, 1, 9999, days=7), moved(newest, 2, 9999, of="on_demand"),
        moved(newest, 1, 9999, kind="returned_offer"), moved(newest, 3, None, kind="gone_offer"),
    )  # fmt: skip
    assert news.you == (
        "+300 USD a month at list from now on, on 2 lines",
        f"{MINUS}2,000 USD a month at list once commitments end, on 1 line",
        "1 line no longer offered",
        "fleet 60,000 USD a month at list, 1 line without a price left out",
    )


def test_a_move_without_dollars_is_counted(tmp_path: Path, newest: WeekFacts) -> None:
    assert told(tmp_path, newest, moved(newest, 1, None)).you[0] == "1 move without a dollar price from now on"


def test_contracted_amounts_are_told_only_where_asked(tmp_path: Path, newest: WeekFacts) -> None:
    """Beside those at list, never in their place, and never summed with them."""
    for with_contracted in (False, True):
        folder = tmp_path / str(with_contracted)
        folder.mkdir()
        you = told(folder, newest, with_contracted=with_contracted).you
        assert you[0] == "no move of this week touches your 3 lines"
        assert ("30,000" in " ".join(you)) is with_contracted
    assert you[-1] == "of it 1 line under contract: 30,000 USD contracted, 40,000 at list"


def test_what_is_due_within_sixty_days(tmp_path: Path, newest: WeekFacts) -> None:
    """With its date and the rate to beat: 73,000 a month over 2 nodes of 730 hours is 50 an hour."""
    last = newest.as_of.date()
    news = told(
        tmp_path, newest, ends(newest, 1, "serving", 60), ends(newest, 2, "lab", 1, "null"), ends(newest, 3, "x", 61),
        ends(newest, 3, "over", -1),
    )  # fmt: skip
    assert news.due == (
        f"lab ends {last + timedelta(days=1)}, in 1 day; rate to beat unknown",
        f"serving ends {last + timedelta(days=60)}, in 60 days; beat 50.00 USD a node-hour",
    )


def test_nothing_is_due(newest: WeekFacts) -> None:
    assert fleet.due([], newest.as_of) == ("nothing: no commitment known to us ends within 60 days",)


def test_only_the_newest_week_and_the_same_file(tmp_path: Path, newest: WeekFacts) -> None:
    """A fleet is known as it is now; amounts of another published file are not told beside this one's."""
    assert fleet.read(tmp_path / "private.duckdb", newest, with_contracted=True) is None
    past = cast("WeekFacts", SimpleNamespace(is_newest=False))
    file = private(tmp_path, newest, built_at=datetime(2026, 1, 1))  # noqa: DTZ001 (the file's times are naive)
    assert fleet.read(file, past, with_contracted=True) is None
    news = fleet.read(file, newest, with_contracted=True)
    late = ("not computed for this file; last for that of 2026-01-01 00:00 UTC",)
    assert news == FleetNews(you=late, due=late)
