"""The queries of docs/purchase-options.md run on a published file, and answer."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from looks import row
from published import records
from purchase import P5, plan, putting, seen, spot

DOCUMENT = Path(__file__).parents[2] / "docs" / "purchase-options.md"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with putting(tmp_path_factory.mktemp("documented"), asked=("aws_purchase_options", "best_option")) as put:
        yield put(
            seen(0, "aws_spot", spot(P5, "use1-az1", "12")), seen(0, "aws_price_list", row(P5, "55.04")),
            seen(0, "aws_savings_plans", plan(P5, "33")), at=0,
        )  # fmt: skip


def test_every_documented_query_answers(file: Path) -> None:
    """Each query gives rows."""
    queries = re.findall(r"^```sql\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)

    assert len(queries) == 6
    assert [query for query in queries if not records(file, query)] == []


def test_every_column_is_described(file: Path) -> None:
    """The dictionary has each column of the new marts, the macro's too, which also has a comment of its own."""
    described = records(
        file,
        "select table_name, count(*) as n, bool_and(meaning <> '') as told from mart.data_dictionary "
        "where table_name in ('best_option', 'purchase_term', 'aws_purchase_options') group by all order by 1",
    )
    assert [line["table_name"] for line in described] == ["aws_purchase_options", "best_option", "purchase_term"]
    assert all(line["told"] for line in described)
    widths = {
        name: len(records(file, f"describe from {name}"))
        for name in ("int.aws_purchase_options", "mart.best_option(1, 1, 1, false, null)", "ref.purchase_term")
    }
    assert [line["n"] for line in described] == list(widths.values())
    assert records(file, "select comment from duckdb_functions() where function_name = 'best_option'") != [
        {"comment": None}
    ]
