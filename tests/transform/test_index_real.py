"""The drift index of AWS's real on-demand list, us-east-1, 2022 to 2026: one day's fall, and a mean that rose."""

import re
from datetime import date
from pathlib import Path
from types import ModuleType

import kept
import pytest
from few_marts import published_with
from published import query
from scripts import script

BENCH = Path(__file__).parents[2] / "bench" / "price_index.py"
DOCUMENT = Path(__file__).parents[2] / "docs" / "methodology.md"
CUT = date(2025, 6, 23)


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """Return the script that imports files and asks when the index moved."""
    return script("bench/price_index.py")


@pytest.fixture(scope="module")
def file(bench: ModuleType, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the published file of the list's changes."""

    def make(folder: Path) -> None:
        east = bench.of_region(shared / "data" / bench.AWS, "us-east-1", folder / "us_east_1.csv")
        with published_with("drift"):
            bench.build([east], folder / "warehouse")

    return kept.once(tmp_path_factory, "aws", make) / "warehouse" / "prices.duckdb"


def test_one_move_in_four_years(bench: ModuleType, file: Path) -> None:
    """71 types: -2.33 % with types equal, -9.38 % with their 17 chips equal, on 23 June 2025 and on no other day."""
    ((at, n_items, types_equal, chips_equal, n_chips, _),) = bench.fall(file)
    assert (at, n_items, n_chips) == (CUT, 71, 17)
    assert round(types_equal, 2) == -2.33
    assert round(chips_equal, 2) == -9.38


def test_four_types_moved_it(file: Path) -> None:
    """p4d, p4de, p5 and p5en: each by what the list says; F1, F2 and VT1 are not in the index."""
    moved = query(
        file,
        "select o.instance_type, round(100 * (exp(i.log_relative) - 1), 1) from int.price_index_item as i "
        "join core.offer as o using (offer_id) where i.log_relative <> 0 order by 1",
    )
    assert moved == [("p4d.24xlarge", -33), ("p4de.24xlarge", -33), ("p5.48xlarge", -44), ("p5en.48xlarge", -25.4)]
    left_out = query(
        file,
        "select distinct split_part(instance_type, '.', 1) from core.offer "
        "anti join int.price_index_item using (offer_id) order by 1",
    )
    assert left_out == [("f1",), ("f2",), ("vt1",)]


def test_the_mean_of_the_list_rose_while_its_prices_fell(file: Path) -> None:
    """Dear types that were added raise the mean per chip-hour by a third and more; the index has what prices did."""
    ((first, last, index, rise, mix),) = query(
        file,
        "select min(index_date), max(index_date), arg_max(price_index, index_date), "
        "arg_max(mean_price_usd, index_date) / arg_min(mean_price_usd, index_date) - 1, exp(sum(mix_effect)) - 1 "
        "from int.price_index where index_level = 'all'",
    )
    assert (first, last) == (date(2022, 6, 22), date(2026, 7, 20))
    assert round(float(str(index)), 2) == 90.62
    assert float(str(rise)) > 1 / 3
    assert float(str(mix)) > 0.3


def test_the_documented_queries_run(file: Path) -> None:
    """The moves are those of the one day, and the week around it has their four chips."""
    text = DOCUMENT.read_text(encoding="utf-8")
    week, moves = re.findall(r"^```sql\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert [line[0] for line in query(file, moves)] == [CUT] * 4
    past = week.replace("'2026-10-07', '2026-10-14'", f"date '{CUT}' - 1, date '{CUT}' + 6")
    assert {line[0] for line in query(file, past) if abs(float(str(line[2]))) > 0} == {
        "A100-40GB", "A100-80GB", "H100", "H200",
    }  # fmt: skip
