"""The questions of docs/querying.md: each runs as it stands there, and is answered where there is something to tell."""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from looks import row
from published import query
from purchase import P5, block, plan, putting, seen, spot, term

from transform.models import EXAMPLES

TEXT = (Path(__file__).parent.parent / "docs" / "querying.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^### (\d+\. .*?)\n(?:(?!###).)*?^```sql\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)
ASKED = (
    "spot_zone_price", "accelerator_hour_price", "cheapest", "provider_price", "aws_purchase_options", "price_change",
)  # fmt: skip
"""The marts and macro of questions that the archive cannot answer, and of those whose answers are known below."""
LAMBDA = {"service_provider_name": "Lambda", "region_id": None, "capacity_unit": "GPU", "accelerator_count": "1"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, offline_run: Path) -> Iterator[tuple[Path, Path]]:
    """A market of every purchase option, with the marts of ASKED, and an offline run, which has all."""
    sxm = "NVIDIA H100 SXM5 80GB"
    terms = term(P5, "10", "Partial", "90000"), term(P5, "0", "All", "170000", years=3)
    markets = [
        row(None, amount, statistic=statistic, purchase_option="spot", accelerator_label=sxm, **LAMBDA)
        for statistic, amount in (("p25", "2"), ("median", "2.5"))
    ]
    nodes = row(
        "8x", "20", service_provider_name="Nebius", region_id="eu-north1", accelerator_label=sxm, accelerator_count="8"
    )
    with putting(tmp_path_factory.mktemp("questions"), asked=ASKED) as put:
        file = put(
            seen(0, "aws_price_list", row(P5, "98.32"), row("p4d.24xlarge", "21.96")),
            seen(9, "aws_price_list", row(P5, "55.04"), *terms),
            seen(9.5, "aws_savings_plans", plan(P5, "36"), plan(P5, "24", years=3)),
            seen(9.5, "aws_spot", spot(P5, "use1-az1", "30")), seen(9.9, "aws_spot", spot(P5, "use1-az1", "20")),
            seen(9.9, "aws_capacity_blocks", block(P5, "31")),
            seen(9.9, "aws_capacity_block_rates", nodes, *markets, row(None, "9", accelerator_label="Z9000", **LAMBDA),
                 scope="others"),
            at=10,
        )  # fmt: skip
        yield file, offline_run / "prices.duckdb"


def test_there_are_twenty_and_more() -> None:
    """Numbered from 1 without a gap, none without SQL."""
    assert [int(title.partition(".")[0]) for title, _ in QUESTIONS] == list(range(1, len(QUESTIONS) + 1))
    assert len(QUESTIONS) == len(re.findall("^### ", TEXT, flags=re.MULTILINE)) >= 20


@pytest.mark.parametrize(("title", "sql"), QUESTIONS, ids=[title for title, _ in QUESTIONS])
def test_each_question_is_answered(files: tuple[Path, Path], title: str, sql: str) -> None:
    """It runs on a whole file, and has rows in that or in one of a small market."""
    small, whole = files
    if not query(whole, sql):
        try:
            found = query(small, sql)
        except duckdb.CatalogException:  # of a mart that the small file has not
            found = []
        assert found, title


def test_each_example_of_the_list_of_tables_is_answered(files: tuple[Path, Path]) -> None:
    """Of the archive; that it has no source that failed is what one of them says."""
    assert [name for name, sql in EXAMPLES.items() if not query(files[1], sql)] == ["source_health"]


def test_answers(files: tuple[Path, Path]) -> None:
    """What some of them say of the small market."""
    small, _ = files
    by_number = {title.partition(".")[0]: sql for title, sql in QUESTIONS}
    (spot_below,) = query(small, by_number["11"])
    assert [str(value) for value in spot_below[3:5]] == ["20.0000000000", "55.0400000000"]
    assert spot_below[5] == pytest.approx(1 - 20 / 55.04)
    shares = {(line[2], line[6]): line[7] for line in query(small, by_number["9"])}
    assert shares["savings_plan", 3] == pytest.approx(24 / 55.04)
    assert shares["reserved", 1] == pytest.approx((10 + 90000 / 8760) / 55.04)
    assert [line[2:4] for line in query(small, by_number["2"]) if line[0] == "on_demand"] == [(1, "Nebius"), (2, "AWS")]
    assert {line[3] for line in query(small, by_number["8"])} >= {"gone_offer", "new_offer"}


def test_a_day_between_two_fetches_that_saw_different_prices_has_no_price(files: tuple[Path, Path]) -> None:
    """As in `mart.price_on`: what was last seen before the change is not told as the price of that day."""
    (fifth,) = re.findall(r"^#### 5\. .*?^```sql\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)
    for sql in (fifth, EXAMPLES["price_history"]):
        assert query(files[1], sql)
        assert query(files[1], re.sub(r"'20\d\d-\d\d-\d\d'", "'2025-06-15'", sql)) == []


def test_the_quick_start_counts_the_questions() -> None:
    """Of both lists of docs/querying.md, each of which has its own numbers."""
    start = (Path(__file__).parent.parent / "docs/quick-start.md").read_text(encoding="utf-8")
    assert f"has {len(re.findall(r'^####? [0-9]+[.] ', TEXT, re.MULTILINE))} questions" in start
