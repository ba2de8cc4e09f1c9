"""Dated lists of Azure and Google Cloud imported: every move of a price is a change, or waited for a person.

The short form has the machines of each kind of move, the long one all of the lists.
"""

import csv
import re
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner
from few_marts import published_with
from published import query

from flows.cli.main import main

HEADER = ("observed_at_utc", "provider", "region", "pricing", "usd_per_hour", "instance_type", "source")
CHANGES = (
    "select instance_type, region_id, purchase_option, round(change_ratio, 4) "
    "from int.price_change where change_kind <> 'new_offer'"
)
Row = tuple[str, str, str, str, str, str]
"""Time, provider, region, option, price and machine."""


def imported(folder: Path, rows: list[Row]) -> Path:
    """Import rows, and return the data directory."""
    with (folder / "list.csv").open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *((*row, "a list") for row in rows)])
    with published_with("price_change", least=()):
        result = CliRunner().invoke(main, ["--data-dir", str(folder / "data"), "import", str(folder / "list.csv")])
    assert result.exit_code == 0, result.output
    return folder / "data"


def moves(rows: list[Row]) -> Counter[tuple[str, str, str, float]]:
    """Return each move of a price in the rows, by machine, region, option and ratio."""
    prices: dict[tuple[str, str, str], list[tuple[str, Decimal]]] = defaultdict(list)
    for at, _, region, option, price, machine in rows:
        prices[machine, region, option].append((at, Decimal(price)))
    return Counter(
        (*key, round(float(after / before - 1), 4))
        for key, series in prices.items()
        for (_, before), (_, after) in zip(sorted(series), sorted(series)[1:], strict=False)
        if before != after
    )


@pytest.fixture(scope="module")
def azure(shared: Path) -> list[Row]:
    """Return four lists of Azure's on-demand prices."""
    with (shared / "data" / "clouds" / "azure_on_demand_gpu_lists.csv").open() as file:
        return [
            (row["generated_at"], "azure", row["arm_region_name"], "on_demand", row["usd_per_vm_hour"],
             row["arm_sku_name"])
            for row in csv.DictReader(file)
        ]  # fmt: skip


WHOLE = pytest.mark.prove
MOVED = re.compile("MI300X|H200|NCC40|polandcentral .*(A100|H100|NV36)")


def told(rows: list[Row], *, is_whole: bool) -> list[Row]:
    """Return all rows, or those of machines of three families, and of three in the region with slip and factor."""
    return [row for row in rows if is_whole or MOVED.search(f"{row[2]} {row[-1]}")]


@pytest.mark.parametrize(
    ("is_whole", "n_moves", "n_large", "at_least"),
    [(False, 57, 50, 40), pytest.param(True, 141, 124, 90, marks=WHOLE)],
)
def test_azure_moves_as_its_lists_do(
    azure: list[Row], tmp_path: Path, is_whole: bool, n_moves: int, n_large: int, at_least: int
) -> None:
    """Of 141 moves 137 are changes, some after a person let them in; A100 of polandcentral at 7.692 never was."""
    rows = told(azure, is_whole=is_whole)
    expected = moves(rows)
    slip = {key: n for key, n in expected.items() if key[:2] in {(name, "polandcentral") for name in SLIPPED}}
    assert (expected.total(), sum(n for key, n in expected.items() if abs(key[-1]) > 0.1)) == (n_moves, n_large)
    folder = imported(tmp_path, rows)
    file = folder / "prices.duckdb"
    at_once = Counter(query(file, CHANGES))
    assert expected.total() > at_once.total() >= at_least
    mi300x = [key for key in at_once if "MI300X" in key[0]]
    assert all(-0.458 <= ratio <= -0.415 for *_, ratio in mi300x)
    assert query(file, "select count(*) from core.price_event where unit_price = 7.692") == [(0,)]

    with published_with("price_change", least=()):
        result = CliRunner().invoke(main, ["--data-dir", str(folder), "quarantine", "accept", "--all"])
    assert result.exit_code == 0, result.output
    found = Counter(query(file, CHANGES))

    back = Counter({(name, "polandcentral", "on_demand", 0.0006): 1 for name in SLIPPED})
    assert found == expected - Counter(slip) + back
    assert Counter(key[-1] for key in found if "NCC40" in key[0]) == {-0.1891: 1, 0.2332: 1}
    assert sum(1 for key in found if "MI300X" in key[0]) == 34
    h200 = sorted(round(key[-1], 2) for key in found if "H200" in key[0])
    assert (len(h200), h200[0], set(h200[1:])) == (10, -0.38, {-0.28})


SLIPPED = ("Standard_ND96ams_A100_v4", "Standard_ND96amsr_A100_v4")


@pytest.fixture(scope="module")
def google(shared: Path) -> list[Row]:
    """Return six weekly lists of Google's machines, on demand and spot."""
    with (shared / "data" / "clouds" / "gcp_gpu_machine_prices_weekly.csv").open() as file:
        return [
            (row["committed_at"], "gcp", row["region"], row["option"], f"{Decimal(row['usd_per_vm_hour']):.10f}",
             row["machine_type"])
            for row in csv.DictReader(file)
        ]  # fmt: skip


def test_google_moves_as_its_lists_do(google: list[Row], tmp_path: Path) -> None:
    """Six weeks of A3 High: spot moves in steps, by region; on demand stands still."""
    rows = [row for row in google if row[-1] == "a3-highgpu-8g"]
    expected = moves(rows)
    assert {option for _, _, option, _ in expected} == {"spot"}

    found = Counter(query(imported(tmp_path, rows) / "prices.duckdb", CHANGES))

    assert found == expected
    assert len({region for _, region, _, _ in found}) >= 5
    assert query(
        tmp_path / "data" / "prices.duckdb",
        "select distinct accelerator_name, accelerator_count::int from int.price_change",
    ) == [("H100", 8)]


@pytest.mark.usefixtures("log_alone")
@pytest.mark.parametrize(
    ("cloud", "is_whole", "n_prices"),
    [("azure", False, 78), pytest.param("azure", True, 1412, marks=WHOLE),
     pytest.param("google", True, 754, marks=WHOLE)],
)  # fmt: skip
def test_the_newest_list_after_the_others(
    cloud: str, is_whole: bool, n_prices: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Each of its prices is published as it stands in the list; none waits."""
    rows = told(request.getfixturevalue(cloud), is_whole=is_whole)
    newest = max(row[0] for row in rows)
    stated = {(row[5], row[2], row[3]): Decimal(row[4]) for row in rows if row[0] == newest}
    before = sorted({row[0] for row in rows})[-3 if not is_whole else 0 : -1]
    imported(tmp_path, [row for row in rows if row[0] in before])

    file = imported(tmp_path, [row for row in rows if row[0] == newest]) / "prices.duckdb"

    at = f"'{newest}'::timestamptz at time zone 'UTC'"
    published = query(
        file,
        "select instance_type, region_id, purchase_option, unit_price from core.sku_price "
        f"inner join core.offer using (offer_id) where valid_to is null and last_observed_at = {at}",
    )
    assert {tuple(row[:3]): Decimal(str(row[3])) for row in published} == stated
    assert len(stated) == n_prices
    assert query(file, f"select reason from core.quarantine where observed_at = {at}") == []
