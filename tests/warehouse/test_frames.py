"""What DuckDB reads of frames and rows: by itself, without pyarrow, and by pyarrow where a process has it."""

import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pytest

from warehouse.frames import shown
from warehouse.log.db import insert_rows

NAIVE = datetime(2026, 1, 2, 3, 4, 5, 678901)  # noqa: DTZ001
TESTS = Path(__file__).parent.parent
A_DAY = """
import sys
from contextlib import nullcontext
from pathlib import Path
from few_marts import published_with
from log_rows import add_documents
from looks import day, look, row
from flows.collect.publisher import publish_log
from flows.config.settings import Settings
from warehouse.log import db
from warehouse.log.load import load

with db.writer(Path(sys.argv[1])) as con, {marts}:
    seen = look(0, row("p5.48xlarge", "98.32"))
    add_documents(con, seen)
    load(con, [seen], recorded_at=day(0))
    publish_log(con, Path(sys.argv[1]), day(0), settings=Settings(data_dir=Path(sys.argv[1])))
"""
MANY_THREADS = """
import duckdb, polars as pl
from warehouse.frames import shown

con = duckdb.connect(config={"threads": 8})
frame = pl.DataFrame({"a": range(300_000), "b": ["x", "y", None] * 100_000})
for _ in range(20):
    with shown(con, "one", frame), shown(con, "other", frame):
        sums = "(select sum(a) from one) union all (select max(a) from other) union all (select count(*) from one)"
        assert con.execute("select count(*) from one where b = 'y'").fetchone() == (100_000,)
        assert len(con.execute(f"from ({sums}) as s cross join (select min(a) from other)").fetchall()) == 3
"""


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(A_DAY.format(marts="published_with('throughput', audit=True)"), id="a day"),
        pytest.param(A_DAY.format(marts="nullcontext()"), id="a day with all marts", marks=pytest.mark.prove),
        pytest.param(MANY_THREADS, id="many threads", marks=pytest.mark.prove),
    ],
)
def test_pyarrow_is_not_loaded(script: str, tmp_path: Path) -> None:
    asked = "\nimport sys\nprint('pyarrow' in sys.modules)\nimport pyarrow"  # who wants it has it afterwards
    command = [sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(TESTS)!r})\n{script}{asked}", str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=TESTS.parent)
    assert done.stdout.split() == ["False"]


def test_a_frame_is_read_where_pyarrow_is_loaded() -> None:
    """Rows of a condition, too: pyarrow cannot filter texts that polars gives as they are."""
    import pyarrow  # noqa: F401

    amounts = [Decimal("1.5"), Decimal("0.0000000001"), None]
    frame = pl.DataFrame({"number": [1, 2, 3], "name": ["a", "b", None], "amount": amounts})
    con = duckdb.connect()
    with shown(con, "given", frame):
        assert con.execute("from given semi join (select 2 as number) using (number)").fetchall() == [
            (2, "b", Decimal("0.0000000001"))
        ]
        assert con.execute("from given where name is null").fetchall() == [(3, None, None)]
    with pytest.raises(duckdb.CatalogException):
        con.execute("from given")


@pytest.mark.parametrize(
    ("of", "values"),
    [
        ("BIGINT", [1, None, -(2**63)]),
        ("HUGEINT", [1, 2**70]),
        ("DOUBLE", [0.1, None, 1e300]),
        ("BOOLEAN", [True, None, False]),
        ("VARCHAR", ["a", None, "1.50"]),
        ("DECIMAL(18, 10)", [Decimal("1E-10"), Decimal("12"), None, Decimal("1E+3")]),
        ("TIMESTAMP", [NAIVE, None]),
        ("DATE", [date(2026, 1, 2), None]),
        ("BLOB", [b"\x00a", None]),
        ("INTEGER", [None, None]),
    ],
)
def test_rows_are_stored_as_they_are(of: str, values: list[object]) -> None:
    con = duckdb.connect()
    con.execute(f"create table t (v {of})")
    insert_rows(con, "t", [(value,) for value in values])
    assert [value for (value,) in con.execute("from t").fetchall()] == values


@pytest.mark.parametrize(
    ("of", "values", "stored"),
    [
        ("VARCHAR", [1, "a", None, 2.5], ["1", "a", None, "2.5"]),
        ("DOUBLE", [1, 2.5, Decimal("0.1")], [1.0, 2.5, 0.1]),
        ("VARCHAR", [Decimal("1.50")], ["1.50"]),
        ("JSON", [["a", 1], {"b": None}], ['["a", 1]', '{"b": null}']),
        ("TIMESTAMP", [NAIVE.replace(tzinfo=UTC)], [NAIVE]),
    ],
)
def test_values_of_several_types_are_read_from_text(of: str, values: list[object], stored: list[object]) -> None:
    con = duckdb.connect()
    con.execute(f"set timezone = 'UTC'; create table t (v {of})")
    insert_rows(con, "t", [(value,) for value in values])
    assert [value for (value,) in con.execute("from t").fetchall()] == stored
