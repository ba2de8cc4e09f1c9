"""What was checked, on the pages and in the mail: what differs first, escaped; what was not checked, counted."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hostile_site import WEEK
from weekly_file import HOSTILE

from flows.collect import truth
from flows.collect.summary import Summary
from reports.pages import daily_page
from reports.queries import Row
from reports.tables import truth_tables
from reports.weekly import facts, mail

CHECK = {
    "check_name": "plausible_price", "check_group": "range", "meaning": "Dearest price", "subject": HOSTILE,
    "n_compared": 3, "n_differing": 1, "checked_value": 99.5, "limit_low": 0.2, "limit_high": 25.0,
    "unit": "USD per chip-hour", "result": "differs", "reason": None, "example": f"{HOSTILE}: 99.5",
    "newest_differing_at": None, "advice": "Read the document", "is_known": False,
}  # fmt: skip
WELL = CHECK | {"subject": "H200", "result": "holds", "example": None, "advice": None}
UNMADE = CHECK | {"subject": "all", "result": "not_checked", "reason": "no range is stated", "n_compared": 0}


def warnings(checks: Sequence[Row] | None) -> str:
    return daily_page.warnings(checks, pl.DataFrame(schema=["state", "source"]), unknown=pl.DataFrame())


def test_what_differs_stands_first_and_is_escaped() -> None:
    """The worst case, the limits and what to do; words from outside are words."""
    text = truth_tables.part([CHECK, UNMADE, WELL])

    assert "1 of 3 truth checks differ, 1 hold, 1 had nothing to compare" in text
    assert HOSTILE not in text + warnings([CHECK])
    assert text.index('id="differing"') < text.index('id="checks"')
    for words in ("99.5", "0.2 to 25 USD per chip-hour", "Read the document", "no range is stated"):
        assert words in text


def test_a_file_without_checks_says_so() -> None:
    assert truth_tables.sentence(None) == "No truth check was made for this file."
    assert not warnings(None).strip()
    assert "No check differs." in truth_tables.part([WELL])


def test_the_overview_leads_to_what_was_checked(hostile_reports: Path) -> None:
    """The overview and the day say how many hold and differ, with a link to the part of the page of sources."""
    overview, sources = ((hostile_reports / name).read_text() for name in ("index.html", "sources.html"))
    assert 'href="sources.html#checked"' in overview
    assert 'id="checked"' in sources
    trust = re.search(r'<p class="trust">(.*?)</p>', overview)
    with duckdb.connect(str(hostile_reports.with_name("prices.duckdb")), read_only=True) as con:
        sql = "select count(*) filter (result = 'differs'), count(*) from int.truth_check"
        differing, every = con.execute(sql).fetchall()[0]
    assert differing > 0
    assert trust is not None
    assert f'<a href="sources.html#checked">{differing} of {every} truth checks differ.</a>' in trust[1]
    assert "plausible_<wbr>price" in sources


def test_the_mail_tells_what_newly_differs(hostile_reports: Path) -> None:
    """Among what could not be seen, in both parts; nothing where nothing does."""
    found = facts.read(hostile_reports.with_name("prices.duckdb"), WEEK)
    quiet = mail.letter(replace(found, checks=()), draw=False)
    made = mail.letter(replace(found, checks=(CHECK, CHECK)), draw=False)

    assert "2 truth checks newly differ: plausible_price" in " ".join(made.text.split())
    assert "newly differ" in made.html
    assert "newly differ" not in quiet.text
    assert HOSTILE not in made.html


def test_the_doctor_and_the_run_name_what_differs(hostile_reports: Path, tmp_path: Path) -> None:
    """A line for each kind, with what to do; a file without checks is told, too."""
    file = hostile_reports.with_name("prices.duckdb")
    found = truth.differing(file)
    rows = truth.doctor(file)

    assert rows[0]["check"] == "truth checks"
    assert {str(row["check"]) for row in rows[1:]} == {f"truth: {each['check_name']}" for each in found}
    assert all(row["advice"] for row in rows[1:])
    assert truth.lines(found * 20)[-1].startswith("and ") if found else truth.lines(found) == []


def test_what_differed_before_is_counted(hostile_reports: Path, tmp_path: Path) -> None:
    """By a run, against the file that it replaces, and by a page, for its last day."""
    file = hostile_reports.with_name("prices.duckdb")
    first = Summary(run_id="a", started_at=datetime.now(UTC), file=file, known_truth=truth.known(tmp_path / "none"))
    n = len(truth.differing(file))
    again = replace(first, known_truth=truth.known(file))

    assert n > 0
    assert first.truth == truth.lines(truth.differing(file))
    assert again.truth == [f"{n:,} known: `chipledger doctor` says of each"]
    (new, known) = warnings([CHECK, CHECK | {"is_known": True}]).split("<li>")[1:]
    assert ("differs: " in new, "1 truth check differs as before" in known) == (True, True)


def test_a_line_of_what_differs_is_one_line() -> None:
    """Without control characters, and not longer than a screen is wide."""
    line = truth.line(CHECK | {"subject": "b\n\x1b[31m", "example": "x" * 999})
    assert line.isprintable()
    assert len(line) <= truth.MAX_LETTERS


@pytest.mark.parametrize("n", [0, 1, 24])
def test_warnings_are_few(n: int) -> None:
    """A machine that was off lets a check of each source differ: that is one line."""
    items = warnings([CHECK | {"subject": f"source {i}"} for i in range(n)]).split("<li>")[1:]
    assert len(items) == min(n, 1)
    assert ("source 0, 1 of 3 compared; 23 more." in "".join(items)) is (n > 1)
