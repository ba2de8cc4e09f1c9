"""A clock that is wrong: what it fetched is refused with words, nothing later than the file is current, and mended."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from few_marts import published_with
from looks import day
from moved_clock.sitecustomize import Moved
from neoclouds.case import cases
from toy_source import TOY, Toy, installed
from web_site import Site, open_site, send

from extract import SOURCES
from extract.base import Memo
from extract.web import answer_dates
from extract.web.http import HttpWeb
from flows.cli.main import main
from flows.collect import fetch_times, steps
from flows.collect.collector import FetchResult
from flows.doctor import checks
from warehouse.errors import ChipledgerError
from warehouse.log.withdraw import selected

DAYS_AHEAD = 400
SHOWN = (
    "select unit_price::VARCHAR, last_observed_at, is_current, is_ranked from mart.accelerator_hour_price "
    "where accelerator_label = 'h100-sxm5-80gb' and fabric = 'Ethernet'"
)


@dataclass
class Shop:
    """A provider that dates its answers rightly, and a machine whose clock may be wrong; the true day is `today`."""

    folder: Path
    site: Site
    begun: datetime
    today: int = 0

    def ask(self, price: str) -> None:
        body = next(case for case in cases() if case.source.name == "voltagepark").body
        date = format_datetime(self.begun + timedelta(days=self.today), usegmt=True)
        self.site.answers["/robots.txt"] = [send(status=404)]
        self.site.answers["/"] = [send(body.replace(b'"1.99"', f'"{price}"'.encode()))]
        handler: Any = self.site.server.RequestHandlerClass
        handler.date_time_string = lambda self, timestamp=None: date

    def type(self, *words: str, days_wrong: int = 0, is_right: bool = True) -> str:
        """Run a command with this machine's clock so many days wrong; return what it printed."""
        ahead = self.begun + timedelta(days=self.today + days_wrong) - datetime.now(UTC)
        (self.folder / "clock").write_text(str(ahead.total_seconds()))
        done = CliRunner().invoke(main, words)
        assert (done.exit_code == 0) == is_right, done.output
        return done.output

    def shown(self) -> tuple[Any, ...]:
        with duckdb.connect(str(self.folder / "data/prices.duckdb"), read_only=True) as con:
            (row,) = con.execute(SHOWN).fetchall()
            return tuple(row)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """Return a shop; the product's clocks, its own and the one compared with the servers', are those of its machine."""
    for module in ("flows.collect.collector", "extract.web.answer_dates"):
        monkeypatch.setattr(f"{module}.datetime", Moved)
    monkeypatch.setenv("MOVED_CLOCK", str(tmp_path / "clock"))
    monkeypatch.setenv("CHIPLEDGER_SETTINGS", str(tmp_path / "chipledger.toml"))
    with open_site() as site, published_with("accelerator_hour_price", least=()):
        lines = [
            f'data_dir = "{tmp_path / "data"}"',
            *(f"[sources.{one.name}]\nenabled = false" for one in SOURCES if one.name != "voltagepark"),
            "[sources.voltagepark]", "enabled = true", f'url = "{site.url}/"',
        ]  # fmt: skip
        (tmp_path / "chipledger.toml").write_text("\n".join(lines))
        yield Shop(tmp_path, site, datetime.now(UTC).replace(microsecond=0))


COLLECT = "collect", "--source", "voltagepark"


@pytest.mark.parametrize("again", [(), pytest.param(("data", "rebuild"), marks=pytest.mark.prove)])
def test_a_run_with_a_clock_that_is_ahead_changes_nothing(shop: Shop, again: tuple[str, ...]) -> None:
    """Steps of a review: the clock 400 days ahead for a run; the next day's price is current, at length rebuilt."""
    shop.ask("2.00")
    shop.type(*COLLECT)
    told = shop.type(*COLLECT, days_wrong=DAYS_AHEAD, is_right=False)
    assert "this machine's clock is 400 days, 0:00:0" in told
    assert "ahead of the Date headers of the answers" in told
    assert "nothing was published; the last file is unchanged" in told
    assert "this machine's clock is 400 days" in shop.type("quarantine", "list")
    assert shop.shown()[0] == "2.0000000000"
    shop.today = 1
    shop.ask("2.20")
    shop.type(*COLLECT)
    price, seen_at, is_current, is_ranked = shop.shown()
    assert (price, is_current, is_ranked) == ("2.2000000000", True, True)
    assert abs(seen_at.replace(tzinfo=UTC) - (shop.begun + timedelta(days=1))) < timedelta(minutes=5)
    if again:  # in short: test_which_times_are_refused
        back = shop.type(*COLLECT, days_wrong=-DAYS_AHEAD, is_right=False)
        assert "behind the Date headers of the answers" in back
        assert shop.shown()[:2] == (price, seen_at)
        assert "equal" in shop.type(*again)
        assert shop.shown()[:2] == (price, seen_at)


@pytest.mark.parametrize(
    ("date", "age", "ahead_s"),
    [(-3600, "", 3600), (-3600, "3600", 0), (-3600, "soon", 3600), (60, "", -60), (None, "", None)],
)
def test_an_answer_says_how_far_the_clock_is_ahead(
    date: int | None, age: str, ahead_s: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an answer from a cache, Age is added to its Date; without a Date nothing is said."""
    at = datetime(2026, 11, 23, tzinfo=UTC)
    monkeypatch.setattr(answer_dates, "machine_now", lambda: at)
    text = "" if date is None else format_datetime(at + timedelta(seconds=date), usegmt=True)
    with open_site() as site:
        handler: Any = site.server.RequestHandlerClass
        handler.date_time_string = lambda self, timestamp=None: text
        site.answers["/"] = [send(b"x", Age=age)]
        memo = Memo()
        for _ in range(2):  # the second fetch uses what the first one read
            with answer_dates.measured() as found:
                memo.once("", lambda: HttpWeb().get(f"{site.url}/"))
            assert found == ([] if ahead_s is None else [ahead_s])


REFUSED = (
    (299.0, 0, ""),
    (301.0, 0, "0:05:01 ahead of the Date headers"),
    (-301.0, 0, "0:05:01 behind the Date headers"),
    (None, 1, "lies in the future: it is 2026-01-03"),
    (None, -1, ""),
    (None, -25, "lies before the last fetch of this scope, 2026-01-02"),
    (None, -24 - 9 / 3600, ""),
    (None, -24 - 11 / 3600, "lies before the last fetch of this scope, 2026-01-02"),
)


def test_which_times_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five minutes are allowed; a fetch is neither later than now nor earlier than the last one. Archives may be.

    Ten seconds are what the clocks of two machines may differ by.
    """
    toy = installed(monkeypatch, tmp_path)
    toy.learn(1, one={"p5.48xlarge": "51.00"})
    toy.at = 2
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        for ahead_s, hours, words in REFUSED:
            ctx = replace(run.collector.context(toy.source()), now=lambda hours=hours: day(2) + timedelta(hours=hours))
            fetch = replace(toy.fetch(ctx, "one"), clock_ahead_s=ahead_s)
            why = fetch_times.fault(run.con, fetch, toy.clock())
            assert words in why, (ahead_s, hours)
            assert bool(why) == bool(words), (ahead_s, hours)
            assert fetch_times.fault(run.con, replace(fetch, archived=True), toy.clock()) == ""


@pytest.mark.prove
@pytest.mark.usefixtures("log_alone")
def test_a_person_may_accept_one_that_was_not_of_the_future(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes are kept: where the server's clock was wrong, its fetch is accepted; one of the future never is."""
    toy = installed(monkeypatch, tmp_path)
    toy.learn(0, one={"p5.48xlarge": "51.00"})
    toy.world["one"] = {"p5.48xlarge": "51.10"}
    for at, ahead_s in ((1.0, 600.0), (9.0, None)):
        with steps.open_run(toy.settings(), clock=toy.clock) as run:
            ctx = replace(run.collector.context(toy.source()), now=lambda at=at: day(at))
            toy.at = min(at, 2)
            fetch = replace(toy.fetch(ctx, "one"), clock_ahead_s=ahead_s)
            run.land(FetchResult(source=TOY, scope="one", fetches=(fetch,)))
            run.load()
            (result,) = run.summary.results
            assert result.status == "refused"
    accepted, future = ids(toy)
    with pytest.raises(ChipledgerError, match="its time lies in the future"):
        toy.decide(2, future, "accept", publish=False)
    toy.decide(2, accepted, "accept")
    assert prices(toy) == [("51.0000000000", day(0)), ("51.1000000000", day(1))]
    toy.rebuild(3)
    assert prices(toy) == [("51.0000000000", day(0)), ("51.1000000000", day(1))]


@pytest.mark.parametrize("anew", [False, pytest.param(True, marks=pytest.mark.prove)])
@published_with("accelerator_hour_price", "option_price_history", "source_health", least=())
def test_a_log_that_has_learnt_the_future_says_how_to_take_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, anew: bool
) -> None:
    """As versions before wrote one: it is current nowhere, doctor and the next run name the command, which mends it."""
    toy = installed(monkeypatch, tmp_path)
    toy.learn(0, one={"p5.48xlarge": "51.00"})
    toy.learn(400, one={"p5.48xlarge": "51.10"})
    with steps.open_run(toy.settings(), clock=lambda: day(1)) as run:
        run.publisher.publish()
    with duckdb.connect(str(tmp_path / "prices.duckdb"), read_only=True) as con:
        count = "select count(*) from mart.accelerator_hour_price where is_current or is_ranked"
        assert con.execute(count).fetchone() == (0,)
        assert con.execute(
            "select count(*) from int.option_price_history where valid_from > $1", [day(1)]
        ).fetchone() == (0,)
        assert con.execute("select is_current, last_good_at from int.source_health").fetchall() == [
            (True, day(0).replace(tzinfo=None))
        ]
    command = f"`chipledger withdraw '{TOY}/one/{day(400):%Y-%m-%d}' --reason TEXT`"
    (row,) = [row for row in checks.data_files(toy.settings(), day(1)) if row["check"] == "times of fetches"]
    assert row["result"] == "fail"
    assert command in str(row)
    (refused,) = toy.learn(2, one={"p5.48xlarge": "51.20"}).results
    assert refused.status == "refused"
    assert command in str(refused.error)

    request.getfixturevalue("log_alone")
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        run.withdraw(selected(run.con, f"{TOY}/one/{day(400):%Y-%m-%d}"), "the clock was ahead")
    toy.run(3, one={"p5.48xlarge": "51.30"})
    assert prices(toy) == [("51.0000000000", day(0)), ("51.3000000000", day(3))]
    assert not [row for row in checks.data_files(toy.settings(), day(3)) if row["check"] == "times of fetches"]
    if anew:  # in short: test_withdraw, where another machine's clock is ahead
        toy.rebuild(4)
        assert prices(toy) == [("51.0000000000", day(0)), ("51.3000000000", day(3))]


def ids(toy: Toy) -> list[int]:
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        rows = run.con.execute("select quarantine_id from core.quarantine order by observed_at").fetchall()
        return [number for (number,) in rows]


def prices(toy: Toy) -> list[tuple[str, datetime]]:
    with duckdb.connect(str(toy.data_dir / "prices.duckdb"), read_only=True) as con:
        rows = con.execute("select unit_price::VARCHAR, valid_from from core.sku_price order by 2").fetchall()
        return [(price, at.replace(tzinfo=UTC)) for price, at in rows]
