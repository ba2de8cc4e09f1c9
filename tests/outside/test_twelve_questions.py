"""Twelve questions of a user: one public table each, at most six lines, asked while a run publishes again and again."""

import math
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
from published import named

TEXT = (Path(__file__).parents[2] / "docs" / "querying.md").read_text(encoding="utf-8")
PART = TEXT.partition("## Twelve questions")[2].partition("\n## ")[0]
QUESTIONS = re.findall(r"^#### (\d+)\. .*?\n\n```sql\n(.*?);\n```", PART, re.DOTALL | re.MULTILINE)
SQL = {int(number): sql for number, sql in QUESTIONS}
PUBLISHER = """
import pathlib, sys
from flows.collect import steps
from flows.config.settings import Settings
with steps.open_run(Settings(data_dir=pathlib.Path(sys.argv[1]))) as one:
    for _ in range(int(sys.argv[2])):
        pathlib.Path(sys.argv[1], "cache", "published.json").unlink(missing_ok=True)  # else nothing is new
        one.publisher.publish()
"""
PAUSE_S = 0.5
Rows = list[dict[str, Any]]


def ask(con: duckdb.DuckDBPyConnection, sql: str) -> Rows:
    """Return rows by column."""
    return named(con.execute(sql))


@pytest.fixture(scope="module")
def file(offline_run: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The published file of an offline run, read-only."""
    with duckdb.connect(str(offline_run / "prices.duckdb"), read_only=True) as con:
        yield con


def test_each_is_short_and_of_one_public_table() -> None:
    """Six lines at most, one table of mart, no join; together they ask all ten."""
    assert sorted(SQL) == list(range(1, 13))
    asked = set()
    for number, sql in SQL.items():
        (table,) = set(re.findall(r"\b(?:from|join)\s+([a-z_]+\.[a-z_]+)", sql))
        assert table.startswith("mart."), number
        assert len(sql.splitlines()) <= 6, number
        assert " join " not in sql, number
        asked.add(table.removeprefix("mart."))
    assert asked == {
        "provider_price", "commitment", "spot_zone", "price_change", "price_history", "price_index", "token_cost",
        "token_cost_history", "source_health", "price_now",
    }  # fmt: skip


def answers(file: Path) -> dict[int, list[list[str]]]:
    """Return what each question gives of the file that is now at a path, floats to nine digits."""
    with duckdb.connect(str(file), read_only=True) as con:
        return {
            number: [
                [f"{each:.9g}" if isinstance(each, float) else str(each) for each in row]
                for row in con.execute(sql).fetchall()
            ]
            for number, sql in SQL.items()
        }


@pytest.mark.prove
def test_they_are_answered_while_a_run_publishes(offline_run: Path, tmp_path: Path) -> None:
    """Another process publishes the same log anew: whenever they are asked, each file is whole and answers alike.

    In short: `test_readers_see_no_error_and_one_state` of tests/warehouse/test_publish.py.
    """
    n_publications = 3
    folder = tmp_path / "data"
    shutil.copytree(offline_run, folder, ignore=shutil.ignore_patterns("reports", "mail"))
    file = folder / "prices.duckdb"
    before = answers(file)
    assert [number for number, rows in before.items() if not rows] == []

    files, n_during = set(), 0
    writer = subprocess.Popen([sys.executable, "-c", PUBLISHER, folder, str(n_publications)])
    try:
        while writer.poll() is None:
            files.add((file.stat().st_ino, file.stat().st_mtime_ns))
            during = answers(file)
            assert {number for number in SQL if during[number] != before[number]} == set()
            n_during += writer.poll() is None
            time.sleep(PAUSE_S)
    finally:
        writer.kill()  # has ended, unless an answer differs
        writer.wait()
    assert writer.returncode == 0
    assert n_during >= 2 * n_publications
    assert len(files | {(file.stat().st_ino, file.stat().st_mtime_ns)}) == 1 + n_publications
    assert answers(file) == before


def test_the_cheapest_is_the_least_of_ranked_prices(file: duckdb.DuckDBPyConnection) -> None:
    """1: of each option and class the least ranked list price of an H100 SXM, from the wide table, by Python."""
    found = {(row["purchase_option"], row["commitment_class"]): row for row in ask(file, SQL[1])}
    offers = ask(
        file,
        "select purchase_option, decision.commitment_class(purchase_option, commitment_term_hours) as class, "
        "min(price_per_accelerator_hour_usd) as least from int.accelerator_hour_price where accelerator_name = 'H100' "
        "and form_factor = 'SXM' and is_ranked and statistic <> 'median' "
        "and coalesce(instance_type, '') not like 'ml.%' group by all",
    )
    assert found
    for each in offers:
        if each["purchase_option"] in ("on_demand", "reserved", "savings_plan"):
            row = found[each["purchase_option"], each["class"]]
            assert row["cheapest_price_usd"] == each["least"], each
    assert max(row["age_days"] for row in found.values()) <= 90


def test_what_a_year_saves_follows_from_the_log(file: duckdb.DuckDBPyConnection) -> None:
    """2: the commitment's own hour with its fee spread, over the on-demand hour of the same machine."""
    found = ask(file, SQL[2])
    assert found
    for row in found:
        assert row["saved_share"] == pytest.approx(
            1 - row["price_per_accelerator_hour_usd"] / row["on_demand_price_usd"]
        )
    prices = [row["price_per_accelerator_hour_usd"] for row in found if row["region_id"] == "us-east-1"]
    assert prices == sorted(prices)


def test_the_past_price_is_that_of_the_log(file: duckdb.DuckDBPyConnection) -> None:
    """5: 55.04 USD an hour for eight chips, as AWS lists it since its cut of June 2025."""
    (row,) = [row for row in ask(file, SQL[5]) if row["region_id"] == "us-east-1"]
    assert row["price_per_accelerator_hour"] == pytest.approx(55.04 / 8)


def test_changes_are_those_of_the_log(file: duckdb.DuckDBPyConnection) -> None:
    """4 and 10: counted in the wide table, whose rows the public one repeats."""
    last = file.execute("select max(observed_at) from int.price_change").fetchall()[0][0]
    changes = ask(file, "select observed_at, change_kind, change_ratio, service_provider_name from int.price_change")
    week = [row for row in changes if (last - row["observed_at"]).days <= 7]
    assert abs(len(ask(file, SQL[4])) - len(week)) <= len([r for r in week if (last - r["observed_at"]).days == 7])
    raised: dict[str, int] = {}
    since = last.replace(year=last.year - 1)
    for row in changes:
        if row["change_kind"] == "list_change" and row["change_ratio"] > 0 and row["observed_at"] >= since:
            raised[row["service_provider_name"]] = raised.get(row["service_provider_name"], 0) + 1
    assert {row["service_provider_name"]: row["n_raised"] for row in ask(file, SQL[10])} == raised


def test_evidence_adds_up_to_all_prices(file: duckdb.DuckDBPyConnection) -> None:
    """12: every last known price is of one kind of evidence, and none is without."""
    found = {row["evidence_kind"]: row["n_prices"] for row in ask(file, SQL[12])}
    (n,) = file.execute("select count(*) from int.accelerator_hour_price").fetchall()[0]
    assert sum(found.values()) == n
    assert set(found) <= {"provider_bytes", "transcribed"}


def test_the_costs_of_a_token_add_up(file: duckdb.DuckDBPyConnection) -> None:
    """8: the parts of each step add up to the log of its ratio."""
    rows = ask(file, SQL[8])
    assert len(rows) > 1
    for before, after in pairwise(rows):
        step = math.log(after["usd_per_million_output_tokens"] / before["usd_per_million_output_tokens"])
        parts = sum(after[name] or 0 for name in ("price_effect", "evidence_effect", "new_chip_effect"))
        assert parts == pytest.approx(step, abs=1e-9)
