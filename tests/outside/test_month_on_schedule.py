"""A month on schedule: daily and weekly runs against prices that a generator moves, one of them killed, one missed.

The generator knows each change. The history must have each once, on the day on which it was first seen, and so must the
mail of that week, to each recipient; neither may have anything else. `chipledger deploy` makes the deployments, on a
Prefect server of the test's own, and a worker runs them. The short form has three days and one mail; a process calls
the flows on the server, as a worker's would, and its daily runs write no pages and no comments.
"""

import email
import email.policy
import functools
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import prefect_api
import pytest
from few_marts import published_with
from mail_server import Server, serving
from month_mails import near, tells
from month_prices import UNREADABLE, Event, Month, three_days, whole
from month_runs import RECIPIENTS, Runs, Shop, by_hand, deployed, environment, landed, open_shop
from prefect_server import flows_on
from standin import aws, faults

from extract import SOURCES
from extract.web.http import HttpWeb, Retries
from flows.scheduling import prefect_setup, run_page

SEED = 20261122
CRONS = {"daily": "10 6 * * *", "weekly": "10 8 * * *"}
"""Those of prefect.yaml, which are compared with those on the server in the long form."""
N_MESSAGES = {"short": 2, "long": 8}
SHOWN = ("daily", "drift", "report")
OFFLINE = {"sources": ["price_archive"], "scopes": ["verda_2026-10"]}
MAX_AGE_DAYS = 3
"""Of a price on the page that cannot be read."""
NOT_SEEN = re.compile(r"not read|unread|could not|stale", re.IGNORECASE)
HELD = "select json_extract_string(row_json, '$.unit_price')::DECIMAL(18, 2) as unit_price from core.quarantine "
PRICES = (
    "select distinct round(price_per_accelerator_hour_usd, 6)::VARCHAR from mart.price_now "
    "where service_provider_name = ? and accelerator_name = ? and purchase_option = ?"
)
HEALTH = (
    "select h.status, h.error, h.last_good_at::DATE, bool_and(p.is_current) from mart.source_health as h "
    "inner join int.accelerator_hour_price as p on h.source = p.source where h.source = ? group by all"
)


@dataclass(kw_only=True)
class Done:
    """A month that is over: where its data lie, copies of the published file by day, what became of runs and mails."""

    form: str
    month: Month
    data_dir: Path
    mail: Server
    api: str
    files: dict[date, Path] = field(default_factory=dict)
    good: dict[str, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    bad: dict[str, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    n_sent: dict[datetime, int] = field(default_factory=dict)

    def rows(self, query: str, *values: object, day: int | None = None) -> list[tuple[Any, ...]]:
        """Return what the published file says: that of a day, or the last one."""
        file = self.data_dir / "prices.duckdb" if day is None else self.files[self.month.day(day)]
        with duckdb.connect(str(file), read_only=True) as con:
            return con.execute(query, list(values)).fetchall()

    def prices(self, event: Event, day: int) -> set[Decimal]:
        """Return what the file of a day says that an offer and its like cost, per chip and hour."""
        offer = event.offer
        return {Decimal(price) for (price,) in self.rows(PRICES, offer.provider, offer.chip, offer.option, day=day)}

    def texts(self) -> dict[tuple[str, str], list[str]]:
        """Return the text parts of the messages by week and recipient."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for envelope in self.mail.taken:
            assert isinstance(envelope.content, bytes)
            message = email.message_from_bytes(envelope.content, policy=email.policy.default)
            part = message.get_body(("plain",))
            assert part is not None
            (week,) = {*re.findall(r"\b\d{4}-W\d\d\b", f"{message['Subject']} {part.get_content()}")}
            (to,) = envelope.rcpt_tos
            assert message["To"] == to
            found[week, to].append(str(part.get_content()))
        return found

    def weeks_with(self, event: Event) -> set[str]:
        """Return the weeks whose mail has a change."""
        return {week for (week, _), texts in self.texts().items() for text in texts if tells(text, event)}


def week_of(day: date) -> str:
    """Return a day's week as mails have it."""
    return "{}-W{:02}".format(*day.isocalendar())


# --- the days


def timetable(month: Month, crons: Mapping[str, str]) -> list[tuple[datetime, str]]:
    """Return the moments of a month at which the schedules start something: at a time, on all or some weekdays."""
    found = []
    for name, cron in crons.items():
        minute, hour, *every, weekdays = cron.split()
        assert every == ["*", "*"]
        for day in map(month.day, range(month.n_days)):
            if weekdays == "*" or str(day.isoweekday()) in weekdays.split(","):
                found.append((datetime.combine(day, time(int(hour), int(minute)), UTC), name))
    return sorted(found)


def go(done: Done, shop: Shop, runs: Runs) -> Done:
    """Let the days of a month pass."""
    month, messages = done.month, done.mail.taken
    for moment, name in timetable(month, {**CRONS, "weekly": "10 8 * * 1,2"}):  # the others are as Tuesdays
        day = (moment.date() - month.first).days
        shop.turn(moment)
        if day == month.missed:
            continue
        n_before = len(messages)
        if day == month.killed and name == "daily":
            is_good = runs.killed(name, moment, landed(shop, done.data_dir))
        else:
            is_good = runs.run(name, moment)
        (done.good if is_good else done.bad)[name].append(moment)
        if name == "weekly":
            done.n_sent[moment] = len(messages) - n_before
        elif is_good:
            done.files[moment.date()] = done.data_dir.parent / f"{moment:%Y%m%d}.duckdb"
            shutil.copy(done.data_dir / "prices.duckdb", done.files[moment.date()])
    return done


LONG = pytest.param("long", marks=[pytest.mark.prove, pytest.mark.timeout(3600)])
long_form = pytest.mark.parametrize("done", [LONG], indirect=True)
short_form = pytest.mark.parametrize("done", ["short"], indirect=True)
pytestmark = [pytest.mark.prefect, pytest.mark.timeout(900)]


@pytest.fixture(scope="module", params=["short", LONG])
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    """Return a month that is over, or three days, while the server that ran it goes on."""
    folder = tmp_path_factory.mktemp("month")
    month, run_by = (three_days(SEED), by_hand) if request.param == "short" else (whole(SEED), deployed)
    with (
        open_shop(month, folder) as shop,
        serving(tls="none") as mail,
        run_by(environment(shop, mail.port, folder), folder) as runs,
    ):
        assert {name: runs.cron(name) for name in CRONS} == CRONS
        days = Done(form=request.param, month=month, data_dir=folder / "data", mail=mail, api=runs.api)
        yield go(days, shop, runs)


# --- what must be so


def test_runs_are_good_but_for_the_killed_one(done: Done) -> None:
    """A run that was killed keeps no later one from its work; on a missed day there is none."""
    month = done.month
    off = {month.day(number) for number in (month.killed, month.missed) if number is not None}

    assert [moment.date() for moment in done.good["daily"]] == [
        month.day(number) for number in range(month.n_days) if month.day(number) not in off
    ]
    assert [moment.date() for moment in done.bad["daily"]] == [month.day(month.killed or 0)]
    assert not done.bad["weekly"]


def test_the_history_has_each_change_once(done: Done) -> None:
    """As drawn, dated by the first run that could see it, which may have been killed; and no other change."""
    rows = done.rows(
        "select service_provider_name, accelerator_name, purchase_option, change_kind, "
        "round(price_per_accelerator_hour_before, 6)::VARCHAR, round(price_per_accelerator_hour_after, 6)::VARCHAR, "
        "observed_at from mart.price_change"
    )
    found = Counter((*row[:4], *(Decimal(each) if each else None for each in row[4:6]), row[6].date()) for row in rows)

    assert found == Counter({
        (e.offer.provider, e.offer.chip, e.offer.option, e.kind, e.before, e.after, day): e.offer.copies
        for e, day in done.month.history()
    })  # fmt: skip
    assert {row[6].hour for row in rows} == {6}


def test_each_recipient_has_one_message_a_week(done: Done) -> None:
    """Sent on Monday, of the week that is over; Tuesday's run finds that everybody has it."""
    mondays = [moment for moment in done.n_sent if moment.isoweekday() == 1]

    assert len(done.mail.taken) == N_MESSAGES[done.form]
    assert {of: len(texts) for of, texts in done.texts().items()} == {
        (week_of(moment.date() - timedelta(days=7)), to): 1 for moment in mondays for to in RECIPIENTS
    }
    assert done.n_sent == {moment: len(RECIPIENTS) if moment in mondays else 0 for moment in done.n_sent}


def test_one_mail_has_each_change(done: Done) -> None:
    """In that of the week in which it was first seen, if that had one; a price that was there for a day in none."""
    weeks = {week for week, _ in done.texts()}
    seen = {id(event): day for event, day in done.month.history()}
    expected = {
        f"{event.offer.key}, day {event.day}": {week_of(seen[id(event)])} & weeks if id(event) in seen else set()
        for event in done.month.events
    }

    assert {
        f"{event.offer.key}, day {event.day}": done.weeks_with(event) for event in done.month.events
    } == expected  # fmt: skip
    assert {week for found in expected.values() for week in found} == weeks


def test_everybody_reads_the_same(done: Done) -> None:
    """The two texts of a week differ in nothing."""
    by_week: dict[str, set[str]] = defaultdict(set)
    for (week, _), texts in done.texts().items():
        by_week[week] |= {*texts}

    assert {week: len(texts) for week, texts in by_week.items()} == dict.fromkeys(by_week, 1)


@short_form
def test_the_server_shows_what_a_run_did(done: Done) -> None:
    """With the last one are its counts, the week's drift, and where file and report are."""
    first, last = (done.rows("select count(*) from core.price_event", day=day)[0][0] for day in (0, 2))
    page, drift, report = (prefect_api.newest_artifact(done.api, f"chipledger-{key}") for key in SHOWN)

    assert last > first
    assert f"; {last - first:,} change" in page
    assert f"- file: {run_page.escaped(str(done.data_dir / 'prices.duckdb'))}" in page
    assert '"purchase_option"' in drift
    assert (done.data_dir / "reports/index.html").as_uri() in report


@short_form
def test_the_daily_flow_retries_what_may_pass(
    done: Done, daily_file: ModuleType, standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By hand: a region that fails fails alone, one that comes back is retried; with nothing fresh the run fails."""
    data_dir = tmp_path / "data"
    settings = tmp_path / "chipledger.toml"
    settings.write_text(
        f'[sources.aws_price_list]\ndoor = "bulk"\nbulk_url = "{standin.url}"\n'
        'regions = ["us-east-1", "us-west-2", "eu-west-1"]\n'
        + "".join(
            f"[sources.{source.name}]\nenabled = false\n"
            for source in SOURCES
            if source.kind == "live" and source.name != "aws_price_list"
        )
    )
    monkeypatch.setenv("CHIPLEDGER_SETTINGS", str(settings))
    monkeypatch.setattr("extract.web.http.HttpWeb", functools.partial(HttpWeb, retries=Retries(attempts=1)))
    monkeypatch.setitem(prefect_setup.RETRIES, "retry_delay_seconds", 0)

    standin.fault("bulk:us-west-2", faults.Status(403))
    standin.fault("bulk:eu-west-1", faults.Status(503), times=1)
    with flows_on(done.api):
        with published_with("drift"):
            state = daily_file.daily(data_dir=str(data_dir), return_state=True)
        page = prefect_api.newest_artifact(done.api, "chipledger-daily")
        published = (data_dir / "prices.duckdb").stat().st_mtime_ns
        standin.fault("bulk", faults.Status(403))
        nothing = daily_file.daily(data_dir=str(data_dir), return_state=True)
    runs = prefect_api.task_runs(done.api, str(state.state_details.flow_run_id))

    assert state.is_completed()
    assert state.message.endswith("stale: aws_price_list us-west-2")
    assert r"| aws\_price\_list | us-west-2 |" in page
    assert {name: run["run_count"] for name, run in runs.items()} == {
        "fetch aws_price_list us-east-1": 1,
        "fetch aws_price_list us-west-2": 1,
        "fetch aws_price_list eu-west-1": 2,
    }
    assert runs["fetch aws_price_list us-west-2"]["state_type"] == "FAILED"
    assert nothing.is_failed()
    assert "nothing was fresh" in nothing.message
    assert (data_dir / "prices.duckdb").stat().st_mtime_ns == published
    assert prefect_api.newest_artifact(done.api, "chipledger-daily").count("| aws\\_price\\_list |") == 3


@pytest.mark.prove
@short_form
def test_the_daily_flow_adds_nothing_offline_twice(done: Done, daily_file: ModuleType, tmp_path: Path) -> None:
    """Of the archive, the second time; started by hand. In short, without Prefect: tests/flows/test_nothing_new.py."""
    n_events = []
    with flows_on(done.api), published_with("drift"):
        for _ in range(2):
            daily_file.daily(**OFFLINE, offline=True, data_dir=str(tmp_path))
            with duckdb.connect(str(tmp_path / "offline/prices.duckdb"), read_only=True) as con:
                n_events += con.execute("select count(*) from core.price_event").fetchall()

    assert n_events[0] > (0,)
    assert n_events[0] == n_events[1]
    assert "| price events | 0 |" in prefect_api.newest_artifact(done.api, "chipledger-daily")


@long_form
def test_a_jump_waits_until_it_is_repeated(done: Done) -> None:
    """Held on its day, with the old price still in force; confirmed a day later, or gone with nothing left of it."""
    jumps = [
        event
        for event in done.month.events
        if event.before and event.after and not Decimal("0.5") <= event.after / event.before <= 2
    ]
    assert sorted(event.is_short for event in jumps) == [False, True]
    for event in jumps:
        assert event.before
        assert event.after
        on_its_day, after = (done.prices(event, day) for day in (event.day, event.day + 1))
        units = 8 if event.offer.provider == "AWS" else 1

        assert done.rows(HELD, day=event.day - 1).count((event.after * units,)) == 0
        assert done.rows(f"{HELD} where decision is null", day=event.day).count((event.after * units,)) == 1
        assert (event.before in on_its_day, event.after in on_its_day) == (True, False)
        assert (event.before in after, event.after in after) == (event.is_short, not event.is_short)


@long_form
def test_a_page_that_changed_is_refused_until_it_is_well(done: Done) -> None:
    """Named with what was not found; its prices keep their day, grow old and are called so; then all is well again."""
    month = done.month
    last_good, well_again = month.day(month.unread[0] - 1), month.unread[-1] + 1
    found = {day: done.rows(HEALTH, UNREADABLE, day=day) for day in (*month.unread, well_again)}

    for day in month.unread:
        ((status, error, good_on, is_current),) = found[day]
        assert (status, good_on) == ("failed", last_good)
        assert "expected a card" in error
        days_ago = (month.day(day) - last_good).days
        assert is_current == (days_ago < MAX_AGE_DAYS) or days_ago == MAX_AGE_DAYS  # on that day seconds tell
    assert found[well_again] == [("ok", None, month.day(well_again), True)]


@long_form
def test_the_mail_says_what_was_not_seen(done: Done) -> None:
    """The week that ended with the page unread names it, and no other week does."""
    weeks = {
        week
        for (week, _), (text,) in done.texts().items()
        if any(NOT_SEEN.search(part) and UNREADABLE in "".join(part.lower().split()) for part in near(text, 2))
    }

    assert weeks == {week_of(done.month.day(done.month.unread[-1]))}
