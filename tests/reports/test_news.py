"""The sentence of news has a number, a direction and a scope, and claims no more than was looked at."""

from dataclasses import replace
from datetime import datetime, timedelta

import polars as pl
import pytest
from weekly_file import with_frames

from reports.pages import daily_page
from reports.pages.daily_page import Facts

NOW = datetime(2026, 11, 21, 9)  # noqa: DTZ001
CHANGES = {
    "service_provider_name": pl.String, "offered": pl.String, "region_id": pl.String, "purchase_option": pl.String,
    "commitment_term_hours": pl.Int64, "purchase_payment_model": pl.String, "offering_class": pl.String,
    "tier": pl.String, "change_ratio": pl.Float64, "change_kind": pl.String, "is_since": pl.Boolean,
    "is_recent": pl.Boolean,
}  # fmt: skip


def move(region: str, ratio: float | None, *, offered: str = "p5.48xlarge", kind: str = "list_change") -> tuple:
    return ("AWS", offered, region, "on_demand", None, None, None, None, ratio, kind, True, True)


def scopes(*states: str) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "service_provider_name": ["AWS"] * len(states),
            "source": ["aws"] * len(states),
            "scope": ["all" if state == "retry" else f"r-{n}" for n, state in enumerate(states)],
            "kind": ["archive" if state == "archived" else "live" for state in states],
            "state": list(states),
            "last_good_at": [NOW] * len(states),
            "age_days": [5.0] * len(states),
            "error": ["aws: r-0: it broke"] * len(states),
        },
        schema_overrides={"scope": pl.String},
    )


def counts(*, current: int = 0, stale: int = 0, archived: int = 0) -> dict[str, object]:
    past = (NOW - timedelta(days=100), NOW - timedelta(days=72)) if archived else (None, None)
    return {
        "n_known": current + stale + archived, "n_current": current, "n_stale": stale, "n_archived": archived,
        "n_confirmed": current, "purchase_options": ["on_demand"], "newest_at": NOW, "archived_from": past[0],
        "archived_to": past[1],
    }  # fmt: skip


@pytest.fixture
def quiet() -> Facts:
    """Return the facts of a second live run in which nothing moved."""
    return Facts(
        built_at=NOW,
        version="1",
        counts=counts(current=132),
        frames={
            "run": pl.DataFrame({"run_id": ["b", "a"]}),
            "scope": scopes("fresh", "fresh"),
            "change": pl.DataFrame(schema=CHANGES),
        },
        sparks={},
    )


def with_moves(facts: Facts, *moves: tuple) -> Facts:
    return with_frames(facts, change=pl.DataFrame(list(moves), schema=CHANGES, orient="row"))


def test_a_quiet_day_says_so_with_what_was_checked(quiet: Facts) -> None:
    assert daily_page.headline(quiet) == "No AWS list price moved since the last run; 132 prices checked."


def test_one_move_is_told_with_size_place_and_option(quiet: Facts) -> None:
    moved = with_moves(quiet, move("us-east-1", -0.44))
    expected = "p5.48xlarge fell 44.0 % in us-east-1 since the last run (on-demand list price); 132 prices checked."
    assert expected == daily_page.headline(moved)


def test_one_move_in_many_regions_is_one_piece_of_news(quiet: Facts) -> None:
    moved = with_moves(
        quiet,
        move("us-east-1", -0.44),
        move("us-west-2", -0.44),
        move("us-east-1", 0.1, offered="g6.xlarge"),
        move("us-east-1", None, offered="g7.xlarge", kind="new_offer"),
    )
    assert daily_page.headline(moved) == (
        "p5.48xlarge fell 44.0 % in 2 regions since the last run (on-demand list price), "
        "1 more list price moved (1 up); 1 new offer; 132 prices checked."
    )


def test_places_that_were_not_read_stand_in_the_news(quiet: Facts) -> None:
    limited = with_frames(quiet, scope=scopes("fresh", "stale", "missing", "retry", "archived"))
    assert daily_page.headline(limited).endswith("132 prices checked; 3 of 4 live scopes not read.")


def test_a_first_run_compares_with_nothing(quiet: Facts) -> None:
    first = with_frames(quiet, run=pl.DataFrame({"run_id": ["a"]}))
    assert daily_page.headline(first) == "132 current prices; nothing earlier to compare them with."


def test_archived_prices_are_dated_and_never_current(quiet: Facts) -> None:
    past = with_frames(replace(quiet, counts=counts(archived=132)), scope=scopes("archived"))
    assert daily_page.headline(past) == (
        "No change known in the last 30 days, 132 prices checked, all of past dates, the newest of 2026-09-10; "
        "none is current."
    )


def test_nothing_fresh_is_the_news_itself(quiet: Facts) -> None:
    stale = with_frames(replace(quiet, counts=counts(stale=29, archived=3)), scope=scopes("stale", "missing"))
    assert daily_page.headline(stale) == (
        "None of 32 prices is current: every live source is stale or missing; 2 of 2 live scopes not read."
    )


def test_nothing_known_is_said(quiet: Facts) -> None:
    assert "nothing was read yet" in daily_page.headline(replace(quiet, counts=counts()))


def test_what_limits_conclusions_is_listed_worst_first() -> None:
    assert daily_page.troubles(scopes("fresh", "retry", "stale", "missing")) == [
        ("aws r-3 is missing: it was never read", "r-0: it broke"),
        ("aws r-2 is stale: last read 2026-11-21, 5.0 days ago", "r-0: it broke"),
        ("aws was not read by the last run: its prices are of 2026-11-21", "r-0: it broke"),
    ]
