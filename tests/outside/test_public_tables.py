"""The ten public tables: narrow, described, with an example that runs; and one "cheapest" on every surface."""

import email
import email.policy
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from published import named

from flows.cli.main import main
from flows.decisions import chips, cost
from reports import queries
from transform.models import ALIASES, MACROS, PUBLIC
from warehouse.schema.tables import MOVED

TEN = {
    "price_now", "price_history", "price_change", "price_index", "provider_price", "commitment", "spot_zone",
    "token_cost", "token_cost_history", "source_health",
}  # fmt: skip
MOST_COLUMNS = 15
MOST_LINES = 6
WIDTH = 100
ROOT = Path(__file__).parents[2]
KEY = "accelerator_name", "form_factor", "purchase_option", "commitment_class"
Key = tuple[Any, ...]
Offer = tuple[str, float]
LEAST = """
select accelerator_name, form_factor, purchase_option, commitment_class,
    min_by(service_provider_name, (cheapest_price_usd, service_provider_name)) as service_provider_name,
    min(cheapest_price_usd) as cheapest_price_usd
from int.provider_price
where is_ranked and not is_floor and cheapest_price_usd is not null
    and coalesce(n_machines, 1) > 0 and coalesce(n_accelerators, 1) > 0 and coalesce(stock_status, '') <> 'sold out'
group by all
"""


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
    aliases = {name: comment for name, comment in found.items() if comment.startswith("Deprecated")}
    assert found.keys() - aliases.keys() == TEN | {"data_dictionary"}
    assert aliases == {
        old.removeprefix("mart."): f"Deprecated: query {new}"
        for old, new in (ALIASES | MOVED).items()
        if old.startswith("mart.")
    }
    hashes = "select count(*), sum(hash(t)), bit_xor(hash(t)) from {} as t"
    for old, new in (ALIASES | MOVED).items():
        assert con.execute(hashes.format(old)).fetchall() == con.execute(hashes.format(new)).fetchall(), old
    macros = con.execute(
        "select function_name from duckdb_functions() where schema_name = 'mart' and function_type = 'table_macro'"
    ).fetchall()
    assert {name for (name,) in macros} == {macro.name for macro in MACROS}


def test_every_view_can_be_read_whole(con: duckdb.DuckDBPyConnection) -> None:
    """Publishing binds a view and reads no row of it: here every column of every row is made."""
    views = con.execute("select schema_name || '.' || view_name from duckdb_views() where not internal").fetchall()
    assert len(views) > len(TEN)
    for (view,) in views:
        assert con.execute(f"select count(hash(t)) = count(*) from {view} as t").fetchone() == (True,), view


def test_no_view_or_mart_holds_each_offer_against_each_other(con: duckdb.DuckDBPyConnection) -> None:
    """A join by the offer that DuckDB can carry out only by all pairs takes a time that grows with their square."""
    texts = con.execute(
        "select schema_name || '.' || view_name as name, 'from ' || name from duckdb_views() where not internal "
        "union all select name, sql from meta.model where is_table"
    ).fetchall()
    slow = []
    for name, text in texts:
        ((_, plan),) = con.execute(f"explain (format json) {text}").fetchall()
        joins = re.findall(r'"name": *"BLOCKWISE_NL_JOIN".*?"Condition": *"([^"]*)"', plan, re.DOTALL)
        slow += [name for join in joins if re.search(r"offer_(id|no) = offer_", join)]
    assert len(texts) > len(TEN)
    assert slow == []


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


@pytest.fixture(params=["offline_run", pytest.param("shared_history", marks=pytest.mark.prove)])
def published(request: pytest.FixtureRequest) -> Path:
    """The published file of the offline archive, at length that of the shared history, too."""
    folder: Path = request.getfixturevalue(request.param)
    return folder / "prices.duckdb"


def keyed(rows: Iterable[Mapping[str, Any]], price: str = "cheapest_price_usd") -> dict[Key, Offer]:
    """Return provider and price by chip, form, option and class; of one key, one row."""
    listed = [(tuple(row[name] for name in KEY), (row["service_provider_name"], row[price])) for row in rows]
    assert len({key for key, _ in listed}) == len(listed)
    return dict(listed)


def asked(con: duckdb.DuckDBPyConnection, sql: str, *values: Any) -> list[dict[str, Any]]:
    return named(con.execute(sql, *values))


def test_every_surface_has_one_cheapest(published: Path) -> None:
    """For each chip, form, option and class: public table, macro, `chips`, `cost`, page, mail and front page agree."""
    with duckdb.connect(str(published), read_only=True) as con:
        every = asked(con, "from mart.provider_price where price_rank is not null")
        first = [row for row in every if row["price_rank"] == 1]
        best = keyed(first)
        assert len({row["accelerator_name"] for row in first}) > 10
        assert max(row["age_days"] for row in every) <= 90
        least = keyed(asked(con, LEAST))
        assert {key: price for key, (_, price) in best.items()} == {key: price for key, (_, price) in least.items()}

        names = {row["accelerator_name"] for row in first}
        of_macro = [row for name in names for row in asked(con, "from mart.cheapest(?) where price_rank = 1", [name])]
        assert keyed(of_macro) == best

        mail = asked(con, (ROOT / "reports/sql/week_cheapest.sql").read_text(), {"chips": sorted(names)})
        n_forms = Counter(name for (name,) in con.execute("select accelerator_name from ref.accelerator").fetchall())
        n_mail = 0
        for row in mail:
            if row["way"] in ("on_demand", "spot", "capacity_block"):
                key = row["accelerator_name"], row["form_factor"], row["way"]
                assert (row["service_provider_name"], row["price_usd"]) in [best[k] for k in best if k[:3] == key], row
                n_mail += 1
        assert n_mail == len([key for key in best if key[2] in ("on_demand", "spot", "capacity_block")])

        others = [
            row for row in every if row["service_provider_name"] != "AWS" and row["purchase_option"] == "on_demand"
        ]
        cells = asked(
            con, "from int.front_cell where cell = 'elsewhere' and price_per_accelerator_hour_usd is not null"
        )
        machines = dict(con.execute(
            "select accelerator_name, max(form_factor) from ref.instance_type group by 1"
        ).fetchall())  # fmt: skip
        assert {row["accelerator_name"] for row in cells} <= names
        assert len(cells) > 5
        for row in cells:
            form = machines.get(row["accelerator_name"])
            alike = [
                each for each in others
                if each["accelerator_name"] == row["accelerator_name"] and form in (None, each["form_factor"])
            ]  # fmt: skip
            one = min(alike, key=lambda each: (each["cheapest_price_usd"], each["service_provider_name"]))
            assert (row["service_provider_name"], row["price_per_accelerator_hour_usd"]) == (
                one["service_provider_name"], one["cheapest_price_usd"]
            ), row  # fmt: skip
            of_form = [each["price_rank"] for each in alike if each["form_factor"] == one["form_factor"]]
            assert one["price_rank"] == min(of_form)

    with duckdb.connect(str(published), read_only=True) as con:
        page = [{**row, "cheapest_price_usd": row["price_usd"]} for row in queries.ask(con, "provider_price")]
    assert keyed(row for row in page if row["price_rank"] == 1) == best

    prices = chips.compare(published, [], base=None)["prices"]
    n_chips = 0
    for row in prices:
        chip, form, *terms = (row[name] for name in KEY)
        forms = {form, None} if n_forms[chip] == 1 else {form}  # a seller may be silent about the one form there is
        alike = [best[k] for k in best if k[0] == chip and k[2:] == tuple(terms) and (form is None or k[1] in forms)]
        if alike:
            assert row["is_ranked"], row
            assert (row["service_provider_name"], row["cheapest_price_usd"]) == min(alike, key=lambda o: (o[1], o[0]))
            n_chips += 1
        else:
            assert not row["is_ranked"]
    assert n_chips > 10

    costs = cost.serving(
        published, model="llama-2-70b", interactivity=None, tokens_per_day=None, terms=cost.Terms()
    )["rows"]  # fmt: skip
    priced = [row for row in costs if row["price_rank"] == 1]
    assert priced
    for row in priced:
        assert (row["service_provider_name"], row["low_price_usd"]) == best[tuple(row[name] for name in KEY)]
    assert [row for row in costs if row["cost_rank"] is not None and not row["is_price_ranked"]] == []


WAY = re.compile(r"(?:^|\| )(on demand|spot|Capacity Block) ([\d,.]+) ([^|]+?)(?= \||$)")


def test_the_rendered_mail_has_the_same_cheapest(offline_run: Path) -> None:
    """Each chip and form of its text, on demand, spot and in a block: provider, tier and price of the first rank."""
    (file,) = (offline_run / "mail").glob("*.eml")
    message = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
    part = message.get_body(("plain",))
    assert part is not None
    _, _, text = part.get_content().replace("\r\n", "\n").partition("CHEAPEST NOW, BY WAY TO BUY\n")
    joined = re.sub(r"\n {8,}", " ", text.partition("\n  USD per chip-hour")[0])  # a row goes on below its cells
    shown = {}
    for line in joined.splitlines():
        name, _, cells = line.strip().partition("  ")
        for way, price, who in WAY.findall(" ".join(cells.split())):
            shown[name, way.lower().replace(" ", "_")] = (price, who)
    with duckdb.connect(str(offline_run / "prices.duckdb"), read_only=True) as con:
        first = asked(
            con,
            "from mart.provider_price where price_rank is not null and offer_id in (select offer_id from "
            "int.price_history where valid_to is null and valid_from < ?) qualify row_number() over (partition by "
            "accelerator_name, form_factor, purchase_option order by price_rank) = 1",
            [datetime.fromisocalendar(int(file.stem[:4]), int(file.stem[-2:]), 7) + timedelta(days=1)],
        )  # of what was known at the end of the mail's week
        n_forms = Counter(name for (name,) in con.execute("select accelerator_name from ref.accelerator").fetchall())
    chips_shown = {name.split()[0] for name, _ in shown}
    expected = {}
    for row in first:
        chip, form, option = row["accelerator_name"], row["form_factor"], row["purchase_option"]
        if chip in chips_shown and option in ("on_demand", "spot", "capacity_block"):
            label = f"{chip} {form or '(form ?)'}" if n_forms[chip] > 1 or form else chip
            who = ", ".join(filter(None, (row["service_provider_name"], row["tier"])))
            expected[label, option] = (f"{row['cheapest_price_usd'] + 1e-9:.2f}", who)
    assert len(expected) > 20
    assert {key: (price, who[: len(expected.get(key, ("", ""))[1])]) for key, (price, who) in shown.items()} == expected
