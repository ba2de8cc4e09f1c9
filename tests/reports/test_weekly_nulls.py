"""A NULL in any column of an offer ends neither the page of a week nor its mail; what fails costs its section alone."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import duckdb
import polars as pl
import pytest
import weekly_file

from reports.weekly import facts, mail, sections
from reports.weekly import page as weekly_page
from reports.weekly.calendar import Week
from warehouse.schema import tables as schemas

WEEK = Week(2026, 3)
ANSWERS = ("move", *facts.FRAMES)
ASKED_IN_VAIN = ("move", "biggest", "refused")
"""Also in the short form: what others are made of, one of a week's own, and one that is cut after it is asked."""
ROUNDS = [(first, 2) for first in range(2)] + [pytest.param(first, 4, marks=pytest.mark.prove) for first in range(4)]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the weeks that tests may write into, with what they need to put a column back."""
    copy = tmp_path_factory.mktemp("nulls") / "prices.duckdb"
    shutil.copy(weekly_file.weeks(tmp_path_factory), copy)
    with duckdb.connect(str(copy)) as con:
        con.execute("create schema kept")
        for table in ("offer", "offer_unit"):
            con.execute(f"create table kept.{table} as from core.{table}")
    return copy


def columns() -> list[tuple[str, str]]:
    """Return every column of an offer and of its unit but what identifies it."""
    tables = [each for each in (*schemas.TABLES, *schemas.DERIVED_TABLES) if each.name in ("offer", "offer_unit")]
    return [(table.name, column) for table in tables for column in table.columns if column != "offer_id"]


def put(file: Path, table: str, values: dict[str, str]) -> None:
    changes = ", ".join(f"{column} = {value}" for column, value in values.items())
    with duckdb.connect(str(file)) as con:
        con.execute(f"update core.{table} as t set {changes} from kept.{table} as k where t.offer_id = k.offer_id")


def check(file: Path) -> None:
    """Make page and mail of the week: no section fails, and neither says None or nan."""
    found = facts.read(file, WEEK)
    page, letter = weekly_page.render(found, draw=False), mail.letter(found, draw=False)

    assert (found.faults, page.faults, letter.faults) == ({}, (), ())
    assert not re.search(r"\b(None|nan|NaN)\b", letter.subject + letter.text)


@pytest.mark.parametrize(("first", "n_rounds"), ROUNDS)
def test_a_null_in_any_column_ends_no_page_and_no_mail(file: Path, first: int, n_rounds: int) -> None:
    """Each offer loses one column of so many, and another the next one: after all rounds each has lost each column."""
    with duckdb.connect(str(file)) as con:
        offers = [number for (number,) in con.execute("select offer_id from kept.offer order by all").fetchall()]
        for place, (table, column) in enumerate(columns()):
            lost = [offer for number, offer in enumerate(offers) if (place + number) % n_rounds == first]
            con.execute(f"update core.{table} set {column} = null where offer_id in (select unnest(?))", [lost])
    try:
        check(file)
    finally:
        for table in ("offer", "offer_unit"):
            put(file, table, {column: f"k.{column}" for of, column in columns() if of == table})


@pytest.mark.prove
@pytest.mark.parametrize(("table", "column"), columns())
def test_all_offers_may_lose_a_column(file: Path, table: str, column: str) -> None:
    """At length: one column of all at once."""
    put(file, table, {column: "null"})
    try:
        check(file)
    finally:
        put(file, table, {column: f"k.{column}"})


def test_a_move_of_an_unknown_chip_is_a_move_like_others(file: Path) -> None:
    """What has no known chips moves as sold: the one row that ended page and mail."""
    put(file, "offer_unit", {"accelerator_count": "null"})
    try:
        moves = facts.read(file, WEEK)["move"]
    finally:
        put(file, "offer_unit", {"accelerator_count": "k.accelerator_count"})

    assert moves["is_per_chip"].to_list() == [False] * moves.height
    assert set(moves["price_before"]) >= {80.0, 2.0}


@pytest.fixture(scope="module")
def whole(file: Path) -> facts.WeekFacts:
    """Return the facts of the week, of which no question failed."""
    return facts.read(file, WEEK)


def without(whole: facts.WeekFacts, name: str) -> facts.WeekFacts:
    """Return the facts as they are where one question failed, but for what is asked by its answer."""
    frames = {asked: frame for asked, frame in whole.frames.items() if asked != name}
    return replace(whole, frames=frames, faults={name: "KeyError: None"})


@pytest.mark.parametrize("name", ANSWERS[1:])
def test_a_question_that_fails_costs_only_what_needs_it(whole: facts.WeekFacts, name: str) -> None:
    """Page and mail are made, say what is missing in its place, and name it for the exit code."""
    found = without(whole, name)
    check_told(found)
    made, all_told = sections.brief(found), sections.brief(whole)
    lost = {fault.partition(":")[0] for fault in made.faults}
    same = [each for each in made.sections if each.title not in lost]
    assert same == [each for each in all_told.sections if each.title not in lost]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in ASKED_IN_VAIN else pytest.mark.prove) for name in ANSWERS]
)
def test_a_question_that_fails_is_a_fault_of_the_week(
    file: Path, whole: facts.WeekFacts, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked in vain, it is left out of what is read, by its own fault, and others answer; at length each of them."""
    ask = facts.frame

    def broken(con: duckdb.DuckDBPyConnection, asked: str, **values: object) -> pl.DataFrame:
        if asked in (name, f"week_{name}"):
            raise KeyError(None)
        return ask(con, asked, **values)

    monkeypatch.setattr(facts, "frame", broken)
    if name == "move":
        monkeypatch.setattr(facts, "_moves", lambda con, values: broken(con, name, **values))
    found = facts.read(file, WEEK)

    assert found.faults[name] == "KeyError: None"
    check_told(found)
    if name != "move":
        expected = without(whole, name)
        assert (found.faults, found.frames.keys()) == (expected.faults, expected.frames.keys())
        assert sections.brief(found) == sections.brief(expected)


def check_told(found: facts.WeekFacts) -> None:
    """Make page and mail: what could not be asked is said in its place, once; charts, which take long, of no moves."""
    draw = "move" in found.faults
    page, letter = weekly_page.render(found, draw=draw), mail.letter(found, draw=draw)
    assert page.faults or letter.faults
    assert letter.subject.isprintable()
    n_told = sum("KeyError: None" in fault for fault in letter.faults)
    assert " ".join(letter.text.split()).count("could not be made: Unanswered: KeyError: None") == n_told
    assert letter.html.count("could not be made: Unanswered: KeyError: None") == n_told
