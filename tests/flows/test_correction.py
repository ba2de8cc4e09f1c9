"""A withdrawn price is a correction with its reason, is no move of the market, and is named in report and mail."""

import shutil
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import paging
import published
import pytest
from few_marts import OF_WEEK, published_with
from toy_source import TOY, Toy, installed

from flows.collect import steps
from reports.pages import daily_page
from reports.weekly import calendar, facts, sections
from warehouse.log.withdraw import selected
from warehouse.publish.published_file import FILE_NAME

REASON = "prices per node <b>&"
WRONG = {"p5.48xlarge": "50.00", "g5.xlarge": "1.00"}
RIGHT = {"p5.48xlarge": "60.00", "g5.xlarge": "1.00"}
CHANGES = (
    "select instance_type, change_kind, unit_price_before, unit_price_after, strftime(last_observed_before_at, '%d'), "
    "strftime(observed_at, '%d'), reason from int.price_change where reason is not null order by all"
)


LATER = {"p5.48xlarge": "62.00", "g5.xlarge": "1.00"}
CORRECTION = ("p5.48xlarge", "correction", Decimal(50), Decimal(60), "02", "04", REASON)


def asked(file: Path, sql: str) -> list[tuple[Any, ...]]:
    return published.reader(file).execute(sql).fetchall()


@cache
def week(file: Path, number: int, *, known_then: bool) -> facts.WeekFacts:
    """Return what the file says of a week of 2026; it is read once, as that takes half a second."""
    return facts.read(file, calendar.Week(2026, number), known_then=known_then, chips=("H100",), least=0)


def withdraw(toy: Toy, at: float, days: str) -> Path:
    """Withdraw what some days said, and publish, as the command does."""
    toy.at = at
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        run.withdraw(selected(run.con, f"{TOY}/one/{days}"), REASON)
        return run.publisher.publish()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return published files of a price of 60.00 that was read as 50.00 on 2 and 3 January.

    `withdrawn`: that was withdrawn on the 4th. `later`: it was 62.00 on the 6th. `old`: so it was on the 14th.
    `never`: as `later`, of a log that never had what was withdrawn.
    """
    folder, found = tmp_path_factory.mktemp("correction"), {}
    with published_with(*OF_WEEK, least=()), pytest.MonkeyPatch.context() as patch:
        toy = installed(patch, folder / "toy")
        file = toy.data_dir / FILE_NAME
        toy.learn(0, one=RIGHT)
        toy.learn(1, one=WRONG)
        toy.learn(2)
        found["withdrawn"] = shutil.copy(withdraw(toy, 3.5, "2026-01-02..2026-01-03"), folder / "withdrawn.duckdb")
        toy.run(5, one=LATER)
        found["later"] = shutil.copy(file, folder / "later.duckdb")
        with published_with(*OF_WEEK[2:], least=()):
            toy.run(13)
        never = installed(patch, folder / "never")
        never.learn(0, one=RIGHT)
        never.run(5, one=LATER)
    return found | {"old": file, "never": never.data_dir / FILE_NAME}


def test_it_is_a_correction_with_its_reason(files: dict[str, Path]) -> None:
    """Before is what was withdrawn, after what holds at that moment now; also after the next day was added."""
    assert asked(files["withdrawn"], CHANGES) == [CORRECTION]
    assert asked(files["later"], CHANGES) == [CORRECTION]
    assert asked(
        files["later"],
        "select price_per_accelerator_hour_before, price_per_accelerator_hour_after, reason from mart.price_change "
        "where change_kind = 'correction'",
    ) == [(6.25, 7.5, REASON)]


@published_with("price_change", least=())
def test_nothing_holds_where_nothing_else_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first price is withdrawn: after is NULL, never 0; the price that stands as it did is no correction."""
    toy = installed(monkeypatch, tmp_path)
    toy.learn(0, one={"p5.48xlarge": "60.00"})
    file = withdraw(toy, 1, "2026-01-01")

    assert asked(file, CHANGES) == [("p5.48xlarge", "correction", Decimal(60), None, "01", "02", REASON)]


def test_it_is_no_move(files: dict[str, Path]) -> None:
    """Every other mart and the weeks are those of a log that never had the fetches."""
    at = "date '2026-01-01'"
    marts = (
        "select * exclude (document_sha256, offer_id) from int.price_change where reason is null",
        f"select * exclude (offer_id) from int.price_index_item where index_date >= {at}",
        f"from int.price_index where index_date >= {at}",
        "from int.drift_report",
    )
    found, expected = (
        [asked(files[name], f"select * from ({sql}) order by all") for sql in marts] for name in ("later", "never")
    )
    for sql, rows, others in zip(marts, found, expected, strict=True):
        assert rows == others != [], sql
    told = week(files["later"], 1, known_then=False)
    assert (told["taken_back"].height, told["move"].height, told["late"].row(0)) == (0, 0, (0, None))


@pytest.mark.parametrize("known_then", [False, True])
def test_the_mail_names_it(files: dict[str, Path], known_then: bool) -> None:
    """What we published, of which days, until when, what it was, and why."""
    weeks = [sections.brief(week(files["later"], n, known_then=known_then)) for n in (1, 2)]
    told = [[s for part in week.sections if part.key == "wrong" for s in part.sentences] for week in weeks]

    assert told == [
        [
            "H100 SXM at AWS: until 4 Jan we published 6.25 USD of 2 Jan to 4 Jan; it was 7.50, because: "
            "prices per node <b>&."
        ],
        [],
    ]


def test_the_daily_page_names_it(files: dict[str, Path]) -> None:
    """With the reason escaped; a page eight days later no more."""
    found = paging.of(files["later"], daily_page.read)
    (page,) = daily_page.render(found, ["index.html"])
    text = " ".join(page.split())

    assert (
        "H100 SXM at AWS: until 4 Jan we published 6.25 USD of 2 Jan to 4 Jan; it was 7.50, because: "
        "prices per node &lt;b&gt;&amp;." in text
    )
    assert "correction" not in daily_page.headline(found)
    (later,) = daily_page.render(paging.of(files["old"], daily_page.read), ["index.html"])
    assert "we published" not in later
