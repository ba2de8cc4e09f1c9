"""Every number in the text of a week's mail is found by SQL in prices.duckdb, and a wrong one is noticed."""

import email
import functools
import re
from collections.abc import Callable
from datetime import UTC, datetime
from email import policy
from pathlib import Path
from typing import Any

import duckdb
import pytest
from mail_numbers import NUMBER, unproved

from flows.config.settings import Settings
from flows.mail import weekly_steps
from reports.weekly import facts
from reports.weekly.calendar import Week

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
WEEKS = ("2026-W15", *(pytest.param(week, marks=pytest.mark.prove) for week in ("2025-W26", "2026-W22")))
"""The busiest week of 2026; at length that of AWS's cut of June 2025, and another busy one."""
Write = Callable[[str], tuple[Path, tuple[str, ...]]]


@pytest.fixture(scope="module")
def imported(shared_history: Path) -> Settings:
    """Return the settings of a data directory with the shared history in it."""
    return Settings(data_dir=shared_history)


def text_of(file: Path) -> tuple[str, str]:
    """Return week and text of a message, its subject in the first line."""
    message = email.message_from_bytes(file.read_bytes(), policy=policy.default)
    body = message.get_body(("plain",))  # type: ignore[attr-defined]
    return file.stem, f"Subject: {message['Subject']}\n{body.get_content()}"


@pytest.fixture(scope="module")
def written(imported: Settings) -> Write:
    """Return what writes the message of a week, once for all tests: its file, and what failed in it."""
    return functools.cache(
        lambda week: weekly_steps.put_message(imported, weekly_steps.report(imported, week), clock=lambda: NOW)
    )


def wrong_in(data_dir: Path, week: str, text: str) -> list[str]:
    with duckdb.connect(str(data_dir / "prices.duckdb"), read_only=True) as con:
        return unproved(con, Week.parse(week).since, text)


@pytest.mark.parametrize("week", WEEKS)
def test_every_number_of_a_week_of_the_past_is_in_the_file(imported: Settings, written: Write, week: str) -> None:
    file, faults = written(week)
    _, text = text_of(file)

    assert faults == ()
    assert len(NUMBER.findall(text)) > 60
    assert wrong_in(imported.data_dir, week, text) == []


def test_a_wrong_number_is_noticed(imported: Settings, written: Write) -> None:
    """Each number that is no name, unit or rule, one more at its last digit: every one is unproved then."""
    file, _ = written(WEEKS[0])
    week, text = text_of(file)
    places = [m.span() for m in NUMBER.finditer(text) if not re.match(r"[\w-]", text[m.start() - 1 : m.start()])]
    since, unnoticed = Week.parse(week).since, []
    answers: dict[str, list[Any]] = {}
    with duckdb.connect(str(imported.data_dir / "prices.duckdb"), read_only=True) as con:
        assert unproved(con, since, text, answers) == []
        for start, end in places[:: max(len(places) // 12, 1)]:
            digit = (int(text[end - 1]) + 1) % 10
            false = f"{text[: end - 1]}{digit}{text[end:]}"
            if not unproved(con, since, false, answers):
                unnoticed.append(text[start - 30 : end + 30])

    assert unnoticed == []


def test_every_number_of_the_first_run_is_in_the_file(offline_run: Path) -> None:
    """The run itself writes the message of its last full week, and the page; what moved the cheapest token is in it."""
    (file,) = (offline_run / "mail").glob("*.eml")
    week, text = text_of(file)

    assert (offline_run / "reports" / "weeks" / f"{week}.html").exists()
    assert "The lowest seen on demand, on any chip: " in " ".join(text.split())
    assert wrong_in(offline_run, week, text) == []


def test_what_was_seen_when_the_file_was_built_is_of_its_week(offline_run: Path) -> None:
    """The archive is as of its newest observation, of a week that is not over."""
    found = facts.read(offline_run / "prices.duckdb", Week(2026, 42))

    assert (found.n_checked, f"{found.as_of:%F %T}") == (43, "2026-10-15 00:00:00")


def test_a_cost_of_a_token_is_of_no_day_after_the_file(offline_run: Path) -> None:
    """A week that was over before anybody read anything again: the 90 days are those to the file's own day."""
    found = facts.read(offline_run / "prices.duckdb", Week(2026, 46), now=NOW.replace(tzinfo=None))

    assert [f"{each:%F}" for each in found["token_split"]["window_begins_on"]] == ["2026-07-17"]
