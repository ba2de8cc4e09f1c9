"""The read API, asked by the official client over stdio on a small published file."""

import json
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner
from cost_file import P5
from mcp_file import PRIVATE_FIGURE, client, doubt, published_now, put_private, replace_by

from flows.cli.main import main
from flows.config.settings import Settings
from flows.decisions import cost
from flows.read_api import answers, server

OPTIONS = ["capacity_block", "on_demand", "reserved", "savings_plan", "spot"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Return a published file with prices of this minute, beside a private file."""
    folder = tmp_path_factory.mktemp("mcp")
    published = Path(shutil.copy(published_now(tmp_path_factory) / "prices.duckdb", folder))
    doubt(published, P5)
    put_private(folder)
    return published


@pytest.fixture(scope="module")
def served(file):
    """Start the server once, and give the function that calls a tool, and the tools."""
    with client(file.parent) as talking:
        yield talking


@pytest.fixture(scope="module")
def call(served):
    return served[0]


@pytest.fixture
def later(file, monkeypatch):
    """Return a function that calls a tool as if that many hours had passed since the file was published."""
    passed = timedelta()
    monkeypatch.setattr(server.Pool, "ask", lambda pool, name, *, seconds, cancelled, **given: answers.answer(**given))
    api = server.ReadApi(lambda: file, lambda: datetime.now(UTC) + passed)

    def call(hours, tool, **given):
        nonlocal passed
        passed = timedelta(hours=hours)
        return anyio.run(api.call_tool, tool, given).structured_content

    return call


def prices(found, option):
    """Return the prices of the one list of an option."""
    (listed,) = [each for each in found["purchase_options"] if each["purchase_option"] == option]
    return listed["prices"]


def test_tools_are_listed_as_reading_only_with_their_arguments(served):
    """A client sees what each tool takes, that it takes nothing else, and that it changes nothing."""
    tools = {tool.name: tool for tool in served[1]}

    assert {*tools} == {
        "latest_price", "price_history", "cheapest", "cost_per_token", "audit_claims", "sources", "schema", "query",
    }  # fmt: skip
    assert all(tool.annotations.read_only_hint and not tool.annotations.open_world_hint for tool in tools.values())
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools.values())
    assert tools["latest_price"].input_schema["properties"].keys() == {
        "chip", "instance_type", "provider", "region", "purchase_option", "limit",
    }  # fmt: skip


def test_documented_arguments_are_those_that_there_are(served):
    """docs/exports.md has a row for each tool, which names all that it takes."""
    page = (Path(server.__file__).parents[2] / "docs/exports.md").read_text(encoding="utf-8")
    text = page.partition("### Tools")[2]
    rows = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}
    offers = {"chip", "instance_type", "provider", "region", "limit"}  # "the same", of price_history

    assert rows.keys() == {tool.name for tool in served[1]}
    for tool in served[1]:
        named = {*rows[tool.name].split("`")[3::2]} | (offers if tool.name == "price_history" else set())
        assert tool.input_schema["properties"].keys() == named


def test_latest_price_is_told_with_unit_document_and_age(call, file):
    """An observed amount keeps its digits; the rest says what it is, from where, of when, and whether it is current."""
    found = call("latest_price", instance_type=P5, purchase_option="on_demand", region="us-east-1", provider="aws")

    (price,) = prices(found, "on_demand")
    assert (price["unit_price"], price["pricing_currency"], price["price_per_accelerator_hour_usd"]) == (
        "55.04", "USD", 6.88,
    )  # fmt: skip
    assert price["document"]["document_sha256"].startswith("aws_price_list us-east-1")
    assert (price["source"], price["is_current"], price["upfront_price"]) == ("aws_price_list", True, None)
    assert price["in_doubt"]["reason"] == "it moved too far"
    assert found["units"]["price_per_accelerator_hour_usd"] == "USD per chip-hour"
    assert found["units"]["last_observed_at"] == "UTC"
    assert found["file"]["built_at"].endswith("Z") and found["file"]["age_hours"] < 1
    assert found["asked"]["read_as"]["provider"] == "AWS"


def test_purchase_options_are_lists_of_their_own(call):
    """Each list has prices of one option alone; a price that was not confirmed lately is not current, and says so."""
    found = call("latest_price", instance_type=P5)

    assert [each["purchase_option"] for each in found["purchase_options"]] == OPTIONS
    for each in found["purchase_options"]:
        assert {price["purchase_option"] for price in each["prices"]} == {each["purchase_option"]}
        assert each["n_current"] == (0 if each["purchase_option"] == "spot" else 1)
    assert {price["unit_price"] for price in prices(found, "spot")} == {"20", "30.123456789"}


def test_unknown_figures_have_a_reason_and_what_is_left_out_is_counted(call):
    """Euros without a rate have no price in dollars; chips of no stated form are not taken for SXM, as those of P5."""
    found = call("latest_price", chip="P5", provider="Toy", purchase_option="on_demand", limit=50)

    (euros,) = [each for each in prices(found, "on_demand") if each["pricing_currency"] == "EUR"]
    assert euros["price_per_accelerator_hour_usd"] is None
    assert "no reference rate of EUR" in euros["unknown"]["price_per_accelerator_hour_usd"]
    assert {each["form_factor"] for each in prices(found, "on_demand")} == {"SXM"}
    assert {"what": "prices", "n": 1, "reason": "their form of the chip is not stated"} in found["unknown"]


def test_prices_without_a_region_are_counted_where_one_is_asked_for(call):
    """Who is silent about the region may be in it or not."""
    found = call("latest_price", chip="H100 SXM", region="us-east-1", purchase_option="on_demand")

    assert {each["service_provider_name"] for each in prices(found, "on_demand")} == {"AWS"}
    (silent,) = [each for each in found["unknown"] if each["reason"] == "their region is not stated"]
    assert silent["n"] == 5


def test_another_chip_of_the_name_is_never_taken_for_it(call):
    """A100 is silent about memory: the A100 80GB is another chip here, and counted beside it."""
    found = call("latest_price", chip="A100")

    assert found["purchase_options"] == []
    assert {"what": "prices", "n": 1, "reason": "they are of A100-80GB, which is another chip here"} in found["unknown"]
    assert {"what": "prices", "n": 0, "reason": "the file has no price of these names"} in found["unknown"]


def test_what_is_gone_has_no_latest_price(call):
    """A machine that left the list is counted as gone; its history ends in a price that is unknown, with the reason."""
    latest = call("latest_price", instance_type="p4d.24xlarge")
    (series,) = call("price_history", instance_type="p4d.24xlarge", purchase_option="on_demand")["series"]

    assert latest["purchase_options"] == []
    assert latest["unknown"][0] == {"what": "offers", "n": 1, "reason": "they are no longer there"}
    assert [price["unit_price"] for price in series["prices"]] == ["32.7726", None]
    assert series["prices"][1]["unknown"]["unit_price"] == "the offer was gone"
    assert not series["prices"][1]["is_current"]


def test_price_history_is_a_series_for_each_offer_within_the_days_asked_for(call):
    """98.32 until it was 55.04, which is current; of today alone there is but the second."""
    asked = {"instance_type": P5, "region": "us-east-1", "purchase_option": "on_demand"}
    (series,) = call("price_history", **asked)["series"]
    (today,) = call("price_history", **asked, since=str(datetime.now(UTC).date()))["series"]
    by_id = call("price_history", offer_id=series["offer"]["offer_id"], until="9999-12-31")["series"]

    assert [(price["unit_price"], price["is_current"]) for price in series["prices"]] == [
        ("98.32", False), ("55.04", True),
    ]  # fmt: skip
    assert series["prices"][0]["valid_to"] == series["prices"][1]["valid_from"]
    assert all(price["document"]["document_sha256"] for price in series["prices"])
    assert today["prices"] == series["prices"][1:] and by_id == [series]


def test_cheapest_keeps_options_floors_and_medians_apart(call):
    """A from price and a median are no cheapest price, however low; spot is no on-demand price."""
    found = call("cheapest", chip="H100 SXM", commitment_class="none")
    spot = call("cheapest", chip="H100 SXM", purchase_option="spot")

    listed = {each["capacity_class"]: each for each in found["lists"]}[None]
    assert (listed["purchase_option"], listed["cheapest_price_usd"]) == ("on_demand", 2.5)
    assert [price["cheapest_price_usd"] for price in listed["ranked"]] == [2.5, 3.5]
    assert [price["cheapest_price_usd"] for price in listed["from_prices"]] == [2.1]
    assert [price["median_price_usd"] for price in listed["median_only"]] == [2.75]
    assert {each["purchase_option"] for each in spot["lists"]} == {"spot"}
    assert [(each["capacity_class"], each["cheapest_price_usd"]) for each in spot["lists"]] == [
        (None, 1.9),
        ("node", 2.5),
    ]


def test_current_is_as_of_now_and_not_of_the_building_of_the_file(later):
    """A file that nobody replaced for five days has no current price left, and says so; ranks are the file's own."""
    fresh = later(0, "cheapest", chip="H100 SXM", purchase_option="on_demand", capacity_class="node")
    stale = later(120, "cheapest", chip="H100 SXM", purchase_option="on_demand", capacity_class="node")
    price = later(120, "latest_price", instance_type=P5, purchase_option="on_demand")

    assert [each["cheapest_price_usd"] for each in fresh["lists"]] == [6.88]
    assert [(each["cheapest_price_usd"], each["ranked"][0]["is_current"]) for each in stale["lists"]] == [(6.88, False)]
    assert price["purchase_options"][0]["n_current"] == 0
    assert price["file"]["age_hours"] > 119
    assert all(each["n_current"] == 0 for each in later(200, "sources")["sources"])
    costs = later(120, "cost_per_token", model="llama-3-70b", chip="H100")["purchase_options"]
    assert [each["n_current"] for each in costs] == [0] * len(OPTIONS)


def test_cost_per_token_is_that_of_the_command_by_purchase_option(call, file):
    """Each option has its own list; the figures are those of `chipledger cost`, with price, run and what is missing."""
    found = call("cost_per_token", model="llama-3-70b", chip="H100", limit=50)
    of_command = {
        (row["offer_id"], row["throughput_id"], row["interactivity"]): row["all_in_output_usd_median"]
        for row in cost.serving(file, model="llama-3-70b", interactivity=None, tokens_per_day=None, terms=cost.Terms())[
            "rows"
        ]
        if row["utilisation"] == 1
    }

    assert [each["purchase_option"] for each in found["purchase_options"]] == OPTIONS
    for each in found["purchase_options"]:
        for row in each["costs"]:
            assert row["all_in_output_usd_median"] == pytest.approx(
                of_command[row["offer_id"], row["throughput_id"], row["interactivity"]]
            )
            assert row["document"]["document_sha256"] and row["source_url"] == "run.json"
            assert row["is_current"] == ((each["purchase_option"], row["service_provider_name"]) != ("spot", "AWS"))
    assert found["units"]["all_in_output_usd_median"] == "USD per million tokens"
    assert "egress" in found["not_included"] and found["unknown"]


def test_cost_per_token_of_one_option_and_of_a_training(call, file):
    """One option alone where one is named; a training of that many tokens costs what the command says."""
    spot = call("cost_per_token", model="llama-3-70b", purchase_option="spot", limit=1)
    found = call("cost_per_token", model="llama-3.1-8b", task="training", tokens=1e12, chip="H100 SXM", limit=50)
    of_command = cost.training(
        file, model="llama-3.1-8b", tokens=1e12, overhead=0.0, goodput=1.0, mfu=cost.ASSUMED_MFU, precision="bf16",
        terms=cost.Terms(),
    )["rows"]  # fmt: skip
    amounts = {(row["offer_id"], row["throughput_id"]): row["training_usd_median"] for row in of_command}

    assert [each["purchase_option"] for each in spot["purchase_options"]] == ["spot"]
    told = [row for each in found["purchase_options"] for row in each["costs"]]
    assert told
    assert all(row["training_usd_median"] == amounts[row["offer_id"], row["throughput_id"]] for row in told)
    assert {row["form_factor"] for row in told} == {"SXM"}
    assert found["units"]["training_usd_median"] == "USD"


def test_claims_are_audited_by_the_file(call):
    """A price as it is holds; another, of no date, never did; a unit that does not fit is refused."""
    claim = {"subject": f"{P5} us-east-1", "metric": "price_usd_per_hour_instance", "unit": "USD/hour",
             "purchase_option": "on_demand"}  # fmt: skip
    today = str(datetime.now(UTC).date())
    told = call("audit_claims", claims=[claim | {"claim_id": "a", "value": "55.04", "as_of": today},
                                        claim | {"claim_id": "b", "value": "4.00"}])  # fmt: skip
    wrong = call("audit_claims", claims=[claim | {"claim_id": "a", "value": "55.04", "unit": "tokens/s"}])

    assert "claims" in told, told
    assert [each["verdict_today"] for each in told["claims"]] == ["consistent", "inconsistent"]
    assert told["claims"][0]["unit"] == "USD/hour" and told["claims"][0]["readings"]
    assert (wrong["field"], wrong["value"]) == ("unit", "tokens/s")


def test_sources_say_how_fresh_they_are_and_which_were_never_asked(call):
    """A source without a look says that it was never asked; an old look is not current."""
    found = {each["source"]: each for each in call("sources")["sources"]}
    (scope,) = call("sources", source="aws_spot")["scopes"]

    assert (found["aws_price_list"]["n_current"], found["aws_price_list"]["unknown"]) == (1, {})
    assert found["aws_spot"]["n_current"] == 0 and found["aws_spot"]["newest_age_hours"] == pytest.approx(120, abs=1)
    assert found["aws_capacity_blocks"]["unknown"] == {"last_good_at": "it was never fetched"}
    assert (scope["scope"], scope["is_current"]) == ("us-east-1", False)


def test_schema_names_tables_macros_and_columns_with_units(call):
    """What `query` may ask of: each table, and each column with its unit."""
    whole, one = call("schema"), call("schema", table="int.accelerator_hour_price")

    assert {"core.offer", "int.price_change"} <= {each["table"] for each in whole["tables"]}
    assert {"mart.drift", "core.price_known_at"} <= {each["macro"] for each in whole["macros"]}
    units = {column["column_name"]: column["unit"] for column in one["columns"]}
    assert units["price_per_accelerator_hour_usd"] == "USD per chip-hour"


TRAINING = {"model": "llama-3-70b", "task": "training", "tokens": 1e9}


@pytest.mark.parametrize(
    ("tool", "given", "field", "hint"),
    [
        ("latest_price", {"chip": "H1000"}, "chip", "H100"),
        ("latest_price", {"chip": "H200 20GB"}, "chip", "H200 alone"),
        ("latest_price", {}, "chip", "chip or instance_type"),
        ("latest_price", {"chip": "H100", "purchase_optoin": "spot"}, "purchase_optoin", "purchase_option"),
        ("latest_price", {"chip": "H100", "purchase_option": "cheap"}, "purchase_option", "on_demand, reserved"),
        ("latest_price", {"chip": "H100", "limit": 0}, "limit", "greater than or equal to 1"),
        ("latest_price", {"instance_type": "p5.48xlarg"}, "instance_type", P5),
        ("latest_price", {"chip": "H100", "region": "us-east-9"}, "region", "us-east-1"),
        ("latest_price", {"chip": "H100", "provider": "' or 1=1 --"}, "provider", ""),
        ("price_history", {"chip": "H100"}, "purchase_option", "offer_id"),
        ("price_history", {"offer_id": 1}, "offer_id", ""),
        ("price_history", {"offer_id": 2**63}, "offer_id", "less than"),
        ("price_history", {"chip": "H100", "purchase_option": "spot", "since": "2026-02-30"}, "since", "date"),
        ("price_history", {"offer_id": 1, "since": "2026-02-02", "until": "2026-01-01"}, "since", ""),
        ("cheapest", {"chip": ""}, "chip", "at least 1 character"),
        ("cost_per_token", {"model": "llama-3-71b"}, "model", "llama-3-70b"),
        ("cost_per_token", {"model": "llama-3-70b", "utilisation": 0}, "utilisation", "0"),
        ("cost_per_token", {"model": "llama-3-70b", "task": "training"}, "tokens", ""),
        ("cost_per_token", {**TRAINING, "interactivity": 30}, "interactivity", "Leave it out"),
        ("cost_per_token", {**TRAINING, "precision": "fp8"}, "precision", "Leave it out"),
        ("cost_per_token", {**TRAINING, "tokens_per_day": 1}, "tokens_per_day", ""),
        ("audit_claims", {"article": "no such text"}, "article", "There are"),
        ("sources", {"source": "aws_pricelist"}, "source", "aws_price_list"),
        ("schema", {"table": "mart.price_changes"}, "table", "int.price_change"),
        ("query", {"sql": "select 1", "seconds": 3600}, "seconds", "less than or equal to 30"),
        ("query_all", {}, "name", "query"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_refused_and_never_guessed(call, tool, given, field, hint):
    """The error names the argument, its value, and what there is; names that look alike are a hint, and no answer."""
    found = call(tool, **given)

    assert found.keys() == {"error", "source", "field", "value", "hint"}
    assert found["field"] == field and hint in found["hint"]


def test_private_file_is_never_read(call, file):
    """Its tables are not there, it cannot be attached, and its figure stands in no answer."""
    asked = [
        call("query", sql="from private.fleet_cost"),
        call("query", sql=f"attach '{file.with_name('private.duckdb')}' as p"),
        call("query", sql=f"from read_duckdb('{file.with_name('private.duckdb')}')"),
        call("query", sql="select string_agg(database_name) from duckdb_databases()"),
        call("schema"), call("latest_price", instance_type=P5), call("sources"),
    ]  # fmt: skip

    assert ["error" in each for each in asked] == [True, True, True, False, False, False, False]
    assert "private" not in asked[3]["rows"][0][0]
    assert str(PRIVATE_FIGURE) not in json.dumps(asked)
    assert not [each for each in asked[4]["tables"] if each["table"].startswith("private")]


def test_a_replaced_file_is_answered_from(call, file):
    """What a run puts in its place is read by the next call, of SQL too."""
    before = call("sources")["file"]["version"]
    replace_by(file, "the next")
    after = call("sources")["file"]["version"], call("query", sql="select version from meta.build")["rows"]

    assert before == "test"
    assert after == ("the next", [["the next"]])


def test_without_a_file_the_answer_says_so(tmp_path):
    """The server starts before the first run; the error says how to make the file."""
    api = server.ReadApi(Settings(data_dir=tmp_path).published, lambda: datetime.now(UTC))

    found = anyio.run(api.call_tool, "sources", {})

    assert found.is_error
    assert "chipledger run" in found.structured_content["hint"]


def test_http_is_of_this_machine_alone():
    """Nobody is asked who they are, so that no address of the network is answered at."""
    refused = CliRunner().invoke(main, ["mcp", "--http", "0.0.0.0:8000"])

    assert refused.exit_code == 2
    assert "is not an address of this machine" in refused.stderr


def test_without_the_extra_the_command_says_how_to_install_it(monkeypatch):
    """The SDK is no dependency of anything else."""
    monkeypatch.delitem(sys.modules, "flows.read_api.server", raising=False)
    monkeypatch.delattr("flows.read_api.server", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("mcp", "mcp_types")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp_types", None)

    refused = CliRunner().invoke(main, ["mcp"])

    assert refused.exit_code == 2
    assert "uv sync --extra mcp" in refused.stderr


def test_no_module_of_ours_takes_the_name_of_the_sdk():
    """`import mcp` means the SDK, wherever the project is started from."""
    assert not list(Path(server.__file__).parents[2].glob("mcp*"))
