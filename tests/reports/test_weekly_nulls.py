"""A NULL in any column of an offer ends neither the page of a week nor its mail; what fails costs its section alone."""

import re
import shutil
from pathlib import Path

import duckdb
import polars as pl
import pytest
import weekly_file

from reports.weekly import facts, mail, pages, sections
from reports.weekly import page as weekly_page
from reports.weekly.calendar import Week
from warehouse.schema import tables as schemas

WEEK = Week(2026, 3)
ANSWERS = ("move", *facts.FRAMES)


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


def put(file: Path, table: str, column: str, value: str) -> None:
    with duckdb.connect(str(file)) as con:
        con.execute(
            f"update core.{table} as t set {column} = {value} from kept.{table} as k where t.offer_id = k.offer_id"
        )


@pytest.mark.parametrize(("table", "column"), columns())
def test_a_null_in_any_column_ends_no_page_and_no_mail(file: Path, table: str, column: str) -> None:
    """All offers lose the column: no section fails, and no page says None or nan."""
    put(file, table, column, "null")
    try:
        found = pages.read(file, WEEK)
        page, letter = weekly_page.render(found, draw=False), mail.letter(found, draw=False)
    finally:
        put(file, table, column, f"k.{column}")

    assert (found.faults, page.faults, letter.faults) == ({}, (), ())
    assert not re.search(r"\b(None|nan|NaN)\b", letter.subject + letter.text)


def test_a_move_of_an_unknown_chip_is_a_move_like_others(file: Path) -> None:
    """What has no known chips moves as sold: the one row that ended page and mail."""
    put(file, "offer_unit", "accelerator_count", "null")
    try:
        moves = pages.read(file, WEEK)["move"]
    finally:
        put(file, "offer_unit", "accelerator_count", "k.accelerator_count")

    assert moves["is_per_chip"].to_list() == [False] * moves.height
    assert set(moves["price_before"]) >= {80.0, 2.0}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_question_that_fails_costs_only_what_needs_it(file: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page and mail are made, say what is missing in its place, and name it for the exit code."""
    whole = sections.brief(pages.read(file, WEEK))
    ask = facts._ask

    def broken(con: duckdb.DuckDBPyConnection, asked: str, values: dict[str, object]) -> pl.DataFrame:
        if asked in (name, f"week_{name}"):
            raise KeyError(None)
        return ask(con, asked, values)

    monkeypatch.setattr(facts, "_ask", broken)
    if name == "move":
        monkeypatch.setattr(facts, "_moves", lambda con, values: broken(con, name, values))
    found = pages.read(file, WEEK)
    page, letter = weekly_page.render(found, draw=False), mail.letter(found, draw=False)

    assert found.faults[name] == "KeyError: None"
    assert page.faults or letter.faults
    assert letter.subject.isprintable()
    n_told = sum("KeyError: None" in fault for fault in letter.faults)
    assert " ".join(letter.text.split()).count("could not be made: Unanswered: KeyError: None") == n_told
    assert letter.html.count("could not be made: Unanswered: KeyError: None") == n_told
    if name != "move":
        made = sections.brief(found)
        lost = {fault.partition(":")[0] for fault in made.faults}
        same = [each for each in made.sections if each.title not in lost]
        assert same == [each for each in whole.sections if each.title not in lost]
