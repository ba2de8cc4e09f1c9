"""The daily flow: the parts of it that need no server. Runs on one are in tests/outside/test_month_on_schedule.py."""

import logging
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from extract import source_named
from flows.collect.summary import Summary
from flows.config.settings import Settings
from flows.scheduling import prefect_setup, run_page
from warehouse.errors import CredentialsMissing, LayoutChanged, SettingsError, SourceError, Unavailable
from warehouse.log.parsed import ScopeResult

ROOT = Path(__file__).parents[2]
NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)


# --- retries


def asked_to_wait(seconds: float) -> Unavailable:
    error = Unavailable("busy")
    error.retry_after = seconds
    return error


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (Unavailable("no answer"), True),
        (asked_to_wait(5), True),
        (asked_to_wait(3600), False),
        (LayoutChanged("no table"), False),
        (CredentialsMissing("none"), False),
        (SourceError("404"), False),
        (ValueError("ours"), False),
    ],
)
def test_passing_errors_alone_are_tried_again(prefect_home: None, error: Exception, again: bool) -> None:
    """An unavailable source is asked again, unless it wants a longer pause; nothing else is."""
    from prefect.states import Failed

    assert prefect_setup.is_passing(None, None, Failed(data=error)) is again


# --- what is shown


def summary(*results: ScopeResult) -> Summary:
    return Summary(run_id="r", started_at=NOON, results=list(results), file=Path("/data/prices.duckdb"))


def look(scope: str, status: str, **more: Any) -> ScopeResult:
    return ScopeResult(source="aws_price_list", scope=scope, observed_at=NOON, status=status, **more)


def test_page_counts_looks_and_names_what_failed() -> None:
    """What was printed: counts, refused rows, where the file is; and each failed scope with its error."""
    page = "\n".join(
        run_page.page(
            summary(
                look("us-east-1", "ok", n_rows=9, n_events=2, n_refused=1),
                look("us-west-2", "failed", error="the server | answered\n403"),
            )
        )
    )

    assert "- 2 fetches: 1 failed, 1 read; 9 rows read; 2 changes stored\n- 1 row refused: " in page
    assert r"| aws\_price\_list | us-west-2 | the server \| answered 403 |" in page
    assert "- file: /data/prices.duckdb" in page


def test_the_outcome_names_what_is_missing() -> None:
    """A run that is Completed with a page too few says so, as the command says by its exit code."""
    done = summary(look("us-east-1", "ok"), look("us-west-2", "failed"))
    done.week_faults, done.page_faults = ("drift: KeyError: x",), ("the chips: ValueError: y",)
    told = "1 fetch fresh, 0 changes; stale: aws_price_list us-west-2; could not be made: drift, the chips"
    assert run_page.outcome(done) == told


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a*b_c|d\n[e](f) <script>", r"a\*b\_c\|d \[e\](f) \<script\>"),
        ("https://me:secret@example.com/a?X-Sig=abc gone", "https://example.com/a gone"),
        ("x" * 1000, f"{'x' * 397}..."),
    ],
)
def test_text_from_elsewhere_is_made_harmless(text: str, shown: str) -> None:
    """Markdown is escaped, lines are joined, secrets in addresses are gone, long text is cut."""
    assert run_page.escaped(text) == shown


def test_maintain_waits_for_a_run(prefect_home: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backfill that goes on for hours is no fault, and fails no other flow."""
    from flows import maintain

    waits: list[float] = []
    monkeypatch.setattr(maintain.publisher, "maintain", lambda chosen, **_: waits.append(chosen.wait_seconds) or [])
    maintain.maintain.fn()
    assert waits == [4 * 3600]


@pytest.mark.parametrize(("raised", "n_waits"), [(KeyboardInterrupt, 0), (ValueError, 1)])
def test_a_signal_waits_for_no_request(
    prefect_home: None, monkeypatch: pytest.MonkeyPatch, raised: type[BaseException], n_waits: int
) -> None:
    """Leaving Prefect's runner waits for those under way; a fault of the program lets them end."""
    from flows import daily

    runner, as_completed = MagicMock(), MagicMock(side_effect=raised)
    monkeypatch.setattr(daily, "ThreadPoolTaskRunner", lambda **_: runner)
    monkeypatch.setattr(daily, "as_completed", as_completed)
    with pytest.raises(raised):
        daily.fetch_all(MagicMock(settings=Settings()), [])
    assert runner.__exit__.call_count == n_waits


def test_nothing_is_logged_after_the_flow(daily_file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prefect logs before it stops its temporary server: into a pipe whose reader has gone, that ended the stop."""
    monkeypatch.setattr(daily_file, "daily", MagicMock())
    try:
        assert daily_file.main(True, None, None, None) == 1
        assert not logging.getLogger("prefect").isEnabledFor(logging.CRITICAL)
    finally:
        logging.disable(logging.NOTSET)


def test_unknown_source_is_named() -> None:
    """A source that does not exist is an error that names those that do."""
    with pytest.raises(SettingsError, match=r"Did you mean .*aws_price_list"):
        source_named("aws")


# --- by hand


def test_prefect_gets_an_environment_of_its_own(tmp_path: Path) -> None:
    """Its home lies in the data directory and exists; no server is known but one that was named; what is set stays."""
    environ = {"PREFECT_API_URL": "", "PREFECT_PROFILE": "work", "DO_NOT_TRACK": "0"}
    named = {"PREFECT_API_URL": "http://127.0.0.1:4200/api", "PREFECT_HOME": str(tmp_path / "home")}

    prefect_setup.prepare(tmp_path / "data", environ)
    prefect_setup.prepare(tmp_path / "data", named)

    assert environ == {
        **prefect_setup.OWN_PREFECT, "DO_NOT_TRACK": "0", "PREFECT_HOME": str(tmp_path / "data/prefect"),
    }  # fmt: skip
    assert (tmp_path / "data/prefect").is_dir()
    assert named["PREFECT_API_URL"] == "http://127.0.0.1:4200/api"
    assert named["PREFECT_HOME"] == str(tmp_path / "home")


def test_wrong_setting_ends_before_prefect_starts(tmp_path: Path) -> None:
    """`python flows/daily.py` with a wrong setting exits with 2 and says which values are allowed."""
    run = subprocess.run(
        [sys.executable, str(ROOT / "flows/daily.py"), "--data-dir", str(tmp_path)],
        env={**os.environ, "CHIPLEDGER_WORKERS": "0"}, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert run.returncode == 2
    assert "workers" in run.stderr
    assert "1 or more and 64 or less" in run.stderr


def test_sigterm_ends_python_in_order(tmp_path: Path) -> None:
    """So that what Prefect registered for the exit is done: its temporary server ends with the run."""
    former = signal.getsignal(signal.SIGTERM)
    try:
        prefect_setup.prepared(["--data-dir", str(tmp_path)], {})
        with pytest.raises(SystemExit, match="143"):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, former)
