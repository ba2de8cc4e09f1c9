"""Decisions within allowed regions: as if nothing else were sold, and said so; without a setting nothing is cut."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
import simplejson
from choice_file import choice_folder
from click.testing import CliRunner
from market_file import market
from published import query

from flows.cli import main
from flows.collect.publisher import OF_ALL, write_pages
from flows.config.settings import DecisionSettings, Settings
from flows.decisions import commitments, decide
from flows.decisions import regions as allowed
from flows.decisions.decide import Load
from transform import models
from warehouse.errors import SettingsError

EAST, HERE = "20 east", "us-east-1"
PRICES = """
select cheapest_price_usd, median_price_usd, dearest_price_usd, region_id
from int.provider_price where accelerator_name = 'MI300X'
"""
REGIONS = ["eu-north-1", "eu-south-2"]
HOSTED = (
    "provider,model,input_usd_per_million,output_usd_per_million,cached_input_usd_per_million,as_of,url\n"
    "Host,llama-2-70b,0.5,2,,2026-01-01,https://example.com/pricing\n"
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with MI300X at 16, 20 and 32 USD for 8 in regions of one provider, and much of AWS in us-east-1."""
    return choice_folder(tmp_path_factory) / "prices.duckdb"


@pytest.fixture(scope="module", autouse=True)
def cut_once() -> Iterator[None]:
    """Let who opens a file cut to the same regions once more read the same one, as to cut it takes half a second."""
    cut, opened = {}, allowed.opened

    @contextmanager
    def again(file: Path, regions: Sequence[str], *machine: str | None) -> Iterator[duckdb.DuckDBPyConnection]:
        asked = (file, *regions, machine)
        if asked not in cut:
            cut[asked] = kept.enter_context(opened(file, regions, *machine))
        with cut[asked].cursor() as con:
            yield con

    with ExitStack() as kept, pytest.MonkeyPatch.context() as patch:
        patch.setattr(allowed, "opened", again)
        yield


def of_chip(file: Path, *regions: str) -> list[tuple[Any, ...]]:
    with allowed.opened(file, regions) as con:
        return con.execute(PRICES).fetchall()


def making(patch: pytest.MonkeyPatch, *marts: str) -> None:
    """Make no marts again but these and what they are made of, each as ever."""
    found = models.made_of(marts)
    patch.setattr(models, "MARTS", tuple(mart for mart in models.MARTS if mart.name in found))


def test_what_is_sold_elsewhere_is_in_no_number(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cheapest, median and dearest are of the allowed regions: by hand 20 / 8, and of two 20 / 8 to 32 / 8."""
    assert of_chip(file) == [(2, 2.5, 4, "16 east")]
    assert of_chip(file, EAST) == [(2.5, 2.5, 2.5, EAST)]
    assert of_chip(file, HERE) == []
    making(monkeypatch, "provider_price")
    assert of_chip(file, EAST, "32 east") == [(2.5, 3.25, 4, EAST)]


def test_marts_that_prices_are_in_are_made_again(file: Path) -> None:
    """Costs too, to the last row; what is no price is as it was published."""
    with allowed.opened(file, [HERE]) as con:
        for mart in ("accelerator_hour_price", "cost_price", "serving_offer", "training_offer", "commitment_option"):
            found = con.execute(f"select distinct region_id from int.{mart}").fetchall()
            assert found == [(HERE,)], mart
        for table in ("core.throughput", "int.price_history"):
            assert con.execute(f"select count(*) from {table}").fetchall() == query(
                file, f"select count(*) from {table}"
            )


def test_the_published_file_stays_as_it_is(file: Path) -> None:
    """It is read, and the cut lies in memory."""
    before = file.read_bytes()
    of_chip(file, EAST)
    assert file.read_bytes() == before


def test_what_was_left_out_is_said(file: Path) -> None:
    """By region with the number of its current prices; those that state no region are counted by themselves."""
    with allowed.opened(file, [EAST]) as con:
        found = allowed.as_dict(con, [EAST])
    sold = query(file, "select region_id, count(*) from int.accelerator_hour_price where is_current group by all")
    assert {(each["region_id"], each["n_prices"]) for each in found["left_out"]} == {
        each for each in sold if each[0] != EAST
    }
    (line,) = allowed.lines(found)
    numbers = dict(sold)
    assert line.startswith(f"Regions: only {EAST}. Current prices left out: 16 east (1), 32 east (1), us-east-1 (")
    assert line.endswith(f"no region stated ({numbers[None]}).")
    with allowed.opened(file, ()) as con:
        assert list(allowed.lines(allowed.as_dict(con, ()))) == []


@pytest.mark.parametrize(("name", "places"), [
    ("US", ["US", "us-east-1"]), ("europe", ["DE", "eu-central-1"]), ("US-East-1", ["us-east-1"]),
])  # fmt: skip
def test_a_marketplace_names_its_countries_as_others_their_regions(name: str, places: list[str]) -> None:
    """Where Lium and Vast.ai sell in "US" a country is theirs too, and not theirs alone."""
    with duckdb.connect() as con:
        con.execute("attach ':memory:' as published; create schema published.int; create schema published.ref")
        con.execute(
            "create table published.int.accelerator_hour_price as "
            "select unnest(['US', 'us-east-1', 'DE', 'eu-central-1', '20 east', null]) as region_id"
        )
        con.execute("create table published.ref.region as from (values ('us-east-1', 'US', 'North America'), "
                    "('eu-central-1', 'DE', 'Europe')) as r (region_id, country, continent)")  # fmt: skip
        assert allowed._resolved(con, [name]) == (places, [])


def test_a_country_or_a_continent_stands_for_its_regions(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of AWS, Azure and Google; a region that no cloud of them has is in no country."""
    making(monkeypatch, "accelerator_hour_price")
    for name in ("US", "North America"):
        with allowed.opened(file, [name, EAST]) as con:
            found = con.execute("select distinct region_id from int.accelerator_hour_price order by 1").fetchall()
        assert found == [(EAST,), (HERE,)], name
    with pytest.raises(SettingsError, match="no price is of this region") as error, allowed.opened(file, ["Africa"]):
        pass
    assert "us-east-1; `DE` and `Europe` stand for all regions there" in str(error.value)


def test_a_region_nobody_sells_in_is_named(file: Path) -> None:
    """With those that are known: a slip of the pen must not leave out everything."""
    with pytest.raises(SettingsError, match="us-esat-1") as error, allowed.opened(file, ["us-esat-1"]):
        pass
    assert "us-east-1" in (error.value.hint or "")


def test_pages_note_a_region_that_nobody_sells_in(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A daily run goes on, and nothing is of that region: it may be one that was not read yet."""
    making(monkeypatch, "accelerator_hour_price")
    with allowed.cut(file, ["eu-south-2"]) as (con, unpriced):
        assert con.execute("select count(*) from int.accelerator_hour_price").fetchall() == [(0,)]
    assert [each.value for each in unpriced] == ["eu-south-2"]


def test_decide_stays_within(file: Path) -> None:
    """What may be bought is sold there, and where nothing is sold for it nothing is an option."""
    load = Load(model="gpt-3-175b", training_tokens=3e11, deadline_days=365)
    here = decide.answer(file, replace(load, regions=(HERE,)))
    assert {row["region_id"] for row in here["options"]} == {HERE}
    assert here["regions"]["allowed"] == [HERE]
    with pytest.raises(SettingsError, match="no run of this model"):
        decide.answer(file, replace(load, regions=(EAST,)))
    assert decide.answer(file, load)["regions"] == {"allowed": [], "left_out": []}
    assert decide.options(file, replace(load, regions=(HERE,))) == here["options"]


def test_every_command_says_so(file: Path, tmp_path: Path) -> None:
    """Each part of `decide` prints the line, and has it in its JSON."""
    settings = tmp_path / "chipledger.toml"
    settings.write_text(f'data_dir = "{file.parent}"\n[decision]\nregions = ["{HERE}"]\n')
    hosted = tmp_path / "hosted.csv"
    hosted.write_text(HOSTED)
    sides = ["--from", "h100 sxm on_demand aws", "--to", "h200 sxm on_demand aws", "--model", "llama-2-70b"]
    serving = [
        "--tokens-per-day", "1B", "--peak", "1", "--months", "1", "--interactivity", "5", "--input-per-output", "1",
    ]  # fmt: skip
    commands = (
        ["decide", "--workload", "pretraining-175b"],
        ["decide", "move", *sides, "--engineers", "1", "--rate", "100", "--migration-weeks", "3"],
        ["decide", "--hosted", str(hosted), "--model", "llama-2-70b", "--chip", "h100", *serving],
    )
    for words in commands:
        done = CliRunner().invoke(main.main, ["--settings", str(settings), *words])
        assert done.exit_code == 0, done.output
        assert f"Regions: only {HERE}. Current prices left out: 16 east (1), 20 east (1), 32 east (1)" in done.output
        told = simplejson.loads(CliRunner().invoke(main.main, ["--settings", str(settings), *words, "--json"]).stdout)[
            "regions"
        ]
        assert told["allowed"] == [HERE]
        assert {"region_id": EAST, "n_prices": 1} in told["left_out"]


def test_a_line_of_the_fleet_elsewhere_has_no_advice() -> None:
    """It says why, before anything else is asked of it."""
    line = {"offer_id": 1, "reason": None, "region_id": "eu-west-1", "purchase_option": "on_demand", "nodes": 1}
    asked = DecisionSettings(regions=(HERE,), share_of_use=0.5)
    assert commitments._reason(line, [{}], {}, asked) == ("eu-west-1 is none of the regions that [decision] allows")
    assert commitments._reason(line | {"region_id": HERE}, [{}], {}, asked) is None


def test_the_pages_of_chips_stand_within(
    offline_run: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their prices are of the allowed regions, and they say which are left out; without the setting nothing."""
    monkeypatch.setattr("reports.pages.site.PAGES", ())  # those of all prices
    file = shutil.copy(market(tmp_path_factory), tmp_path / "prices.duckdb")
    front, _ = write_pages(Settings(data_dir=tmp_path, decision={"regions": REGIONS}), file, draw=False)
    whole, cut = ((folder / "chips/h100.html").read_text() for folder in (offline_run / "reports", front.parent))
    for words in ("Regions: only eu-north-1, eu-south-2. Current prices left out: ", OF_ALL,
                  "no price is of this region"):  # fmt: skip
        assert (words in whole, words in cut) == (False, True)
    assert ("providers/aws.html" in whole, "providers/aws.html" in cut) == (True, False)  # it sells in us-east-1 alone
    assert "Alpha" in cut
