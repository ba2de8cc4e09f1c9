"""The ten public tables: narrow, described, with an example that runs; and one "cheapest" on every surface."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from flows import chips, cost
from flows.cli import main
from reports import facts
from transform.models import MACROS, PUBLIC

TEN = {
    "price_now", "price_history", "price_change", "price_index", "provider_price", "commitment", "spot_zone",
    "token_cost", "token_cost_history", "source_health",
}  # fmt: skip
MOST_COLUMNS = 15
MOST_LINES = 6
WIDTH = 100


@pytest.fixture(scope="module")
def con(offline_run: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The published file of an offline run, read-only."""
    with duckdb.connect(str(offline_run / "prices.duckdb"), read_only=True) as opened:
        yield opened


@pytest.fixture
def call(offline_run: Path, tmp_path: Path) -> Callable[..., str]:
    """A function that gives what a command prints of a copy of that file, which nobody has open."""
    shutil.copy(offline_run / "prices.duckdb", tmp_path)

    def called(*words: str) -> str:
        result = CliRunner().invoke(main, ["--data-dir", str(tmp_path), *words])
        assert result.exit_code == 0, result.output
        return result.stdout

    return called


def test_mart_has_the_ten_tables_the_macros_and_deprecated_names(con: duckdb.DuckDBPyConnection) -> None:
    """Nothing else; each deprecated name is the table of int of that name."""
    assert {model.name for model in PUBLIC} == TEN
    found = dict(
        con.execute(
            "select table_name, comment from duckdb_tables() where schema_name = 'mart' union all "
            "select view_name, comment from duckdb_views() where schema_name = 'mart'"
        ).fetchall()
    )
    aliases = {name for name, comment in found.items() if comment.startswith("Deprecated")}
    assert found.keys() - aliases == TEN | {"data_dictionary"}
    inner = con.execute(
        "select table_name from duckdb_tables() where schema_name = 'int' union all "
        "select view_name from duckdb_views() where schema_name = 'int'"
    ).fetchall()
    assert aliases == {name for (name,) in inner} - TEN
    macros = con.execute(
        "select function_name from duckdb_functions() where schema_name = 'mart' and function_type = 'table_macro'"
    ).fetchall()
    assert {name for (name,) in macros} == {macro.name for macro in MACROS}


@pytest.mark.parametrize("model", PUBLIC, ids=lambda model: model.name)
def test_a_public_table_is_narrow_and_described(con: duckdb.DuckDBPyConnection, model: Any) -> None:
    """At most 15 columns, each with what it means; one sentence; an example of six lines, on it alone, that runs."""
    columns = con.execute(
        "select column_name, comment from duckdb_columns() where schema_name = 'mart' and table_name = ?", [model.name]
    ).fetchall()
    assert 0 < len(columns) <= MOST_COLUMNS
    assert [name for name, comment in columns if not comment] == []
    assert "." not in model.row
    assert len(model.example.splitlines()) <= MOST_LINES
    assert " join " not in model.example
    assert model.example.count("mart.") == model.example.count(f"mart.{model.name}") > 0
    con.execute(model.example).fetchall()


def test_the_list_is_short_and_hides_what_is_deprecated(call: Callable[..., str]) -> None:
    """Public tables and macros with their examples; all of int and core with --all."""
    shown = call("query", "--list")
    names = [line["name"] for line in json.loads(call("query", "--list", "--json"))]
    every = [line["name"] for line in json.loads(call("query", "--list", "--all", "--json"))]
    examples = {f"        {line}" for model in PUBLIC for line in model.example.splitlines()}
    assert set(names) == {f"mart.{name}" for name in (*TEN, "data_dictionary")} | {
        f"mart.{macro.name}()" for macro in MACROS
    }
    assert names[0] == "mart.price_now"
    assert [line for line in shown.splitlines() if len(line) > WIDTH and line not in examples] == []
    assert examples <= set(shown.splitlines())
    assert {"int.price_history", "core.offer"} <= set(every)
    assert "mart.accelerator_hour_price" not in every


def test_every_surface_has_one_cheapest(con: duckdb.DuckDBPyConnection, offline_run: Path) -> None:
    """For each chip, form, option and class: macro, `chips`, prices of `cost`, page and public table agree."""
    file = offline_run / "prices.duckdb"
    ranked = con.execute(
        "select accelerator_name, form_factor, purchase_option, commitment_class, service_provider_name, "
        "cheapest_price_usd, age_days from mart.provider_price where price_rank = 1"
    ).fetchall()
    best = {row[:4]: row[4:6] for row in ranked}
    assert len({row[0] for row in ranked}) > 10
    assert max(row[6] for row in ranked) <= 90

    of_macro = {}
    for chip in {row[0] for row in ranked}:
        for line in con.execute(
            "select accelerator_name, form_factor, purchase_option, commitment_class, service_provider_name, "
            "cheapest_price_usd from mart.cheapest(?) where price_rank = 1",
            [chip],
        ).fetchall():
            of_macro[line[:4]] = line[4:]
    assert of_macro == best

    n_chips = 0
    for row in chips.compare(file, [], base=None)["prices"]:
        key = tuple(row[name] for name in ("accelerator_name", "form_factor", "purchase_option", "commitment_class"))
        if row["is_ranked"] and row["form_factor"] is not None and key in best:
            silent = best.get((key[0], None, *key[2:]))  # of a chip with one form, a seller that is silent about it
            wanted = min(each for each in (best[key], silent) if each) if silent else best[key]
            assert row["cheapest_price_usd"] <= best[key][1], key
            assert (row["service_provider_name"], row["cheapest_price_usd"]) in (best[key], silent, wanted), key
            n_chips += 1
    assert n_chips > 10

    page = facts.read(file).provider_prices
    for row in page.filter(page["price_rank"] == 1).iter_rows(named=True):
        key = tuple(row[name] for name in ("accelerator_name", "form_factor", "purchase_option", "commitment_class"))
        assert (row["service_provider_name"], row["cheapest_price_usd"]) == best[key]

    costs = cost.serving(file, model="llama-2-70b", interactivity=None, tokens_per_day=None, terms=cost.Terms())["rows"]
    assert any(row["price_rank"] == 1 for row in costs)
    for row in costs:
        key = tuple(row[name] for name in ("accelerator_name", "form_factor", "purchase_option", "commitment_class"))
        if row["price_rank"] == 1:
            assert (row["service_provider_name"], row["low_price_usd"]) == best[key]
        assert row["is_price_ranked"] or row["cost_rank"] is None
