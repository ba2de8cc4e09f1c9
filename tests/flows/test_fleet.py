"""What a fleet costs, what moves of prices do to it and what ends: each number worked out by hand beside it."""

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import doc_blocks
import duckdb
import fleet_file
import looks
import pytest
from click.testing import CliRunner
from fleet_file import NOW, settings

from flows.cli import main
from flows.config.settings import Settings
from flows.private import fleet, private_file
from warehouse.errors import ChipledgerError, SettingsError
from warehouse.landing.folder import Landing


@pytest.fixture(scope="module")
def data(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with the prices of the fleet's machines published."""
    folder = tmp_path_factory.mktemp("fleet")
    fleet_file.publish_fleet(folder, shared)
    return folder


@pytest.fixture(scope="module")
def found(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return all that is told of the fleet, nine days after the prices: days count from these."""
    chosen = settings(data, tmp_path_factory.mktemp("files"))
    return fleet.cost(chosen, since=looks.day(-1000), renewals=True, now=NOW + timedelta(9))


def line(found: dict[str, Any], label: str, part: str = "lines") -> dict[str, Any]:
    (one,) = (each for each in found[part] if each["label"] == label)
    return dict(one)


def test_a_month_at_list_and_as_contracted(found: dict[str, Any]) -> None:
    """730 hours; a commitment is paid for all of them, what is on demand for those in which it runs."""
    training, serving, batch = (line(found, label) for label in ("training", "serving", "batch"))

    # 6 nodes x 730 h x USD 40 of the plan, whether used or not; a tenth is idle. As agreed: 33.75.
    assert training["list_usd_per_month"] == pytest.approx(175_200.00)
    assert training["list_idle_usd_per_month"] == pytest.approx(17_520.00)
    assert (training["contracted_usd_per_month"], training["contract_id"]) == (pytest.approx(147_825.00), "PPA-7731")
    assert training["contracted_idle_usd_per_month"] == pytest.approx(14_782.50)
    # 32 chips x 730 h x USD 3.29; nothing is agreed with RunPod
    assert serving["list_usd_per_month"] == pytest.approx(76_854.40)
    assert (serving["contracted_usd_per_month"], serving["rule"]) == (None, None)
    # 4 nodes x 730 h x a quarter x USD 21.50; less 12 %: 18.92
    assert batch["list_usd_per_month"] == pytest.approx(15_695.00)
    assert batch["contracted_usd_per_month"] == pytest.approx(13_811.60)
    assert (batch["rule"], batch["list_idle_usd_per_month"]) == ("discount 1", None)


def test_sums_are_of_the_lines_that_have_a_price(found: dict[str, Any]) -> None:
    """List 175,200 + 76,854.40 + 15,695 over three of four lines, contracted 147,825 + 13,811.60 over two."""
    total = found["totals"]

    assert (total["n_lines"], total["n_with_list_price"], total["n_with_contracted_price"]) == (4, 3, 2)
    assert total["list_usd_per_month"] == pytest.approx(267_749.40)
    assert total["contracted_usd_per_month"] == pytest.approx(161_636.60)
    assert total["n_not_current"] == 0
    assert line(found, "elsewhere")["list_usd_per_month"] is None


def test_runpods_move_of_2026_05_19(found: dict[str, Any]) -> None:
    """H100 SXM from 2.99 to 3.29: 0.30 x 32 chips x 730 h = USD 7,008 more a month, at once; the window is kept."""
    move = line(found, "serving", "moves")

    assert (move["list_price_before"], move["list_price_after"]) == (pytest.approx(2.99), pytest.approx(3.29))
    assert move["usd_per_month_change"] == pytest.approx(7_008.00)
    assert move["change_kind"] == "list_change"
    assert f"{move['last_observed_before_at']:%m-%d %H:%M} {move['observed_at']:%m-%d %H:%M}" == (
        "05-19 04:34 05-19 19:18"
    )
    assert (move["move_of"], f"{move['paid_from']}") == ("line", "2026-05-19")


def test_aws_cut_of_june_2025(found: dict[str, Any]) -> None:
    """p5.48xlarge from 98.32 to 55.04 on demand: 43.28 x 6 x 730 h x 0.9 = 170,609.76 less, once the plan is over."""
    move = line(found, "training", "moves")

    assert (move["list_price_before"], move["list_price_after"]) == (pytest.approx(98.32), pytest.approx(55.04))
    assert move["usd_per_month_change"] == pytest.approx(-170_609.76)
    assert f"{move['observed_at']:%Y-%m-%d}" == "2025-06-23"
    assert (move["move_of"], f"{move['paid_from']}") == ("on_demand", "2026-06-21")


def test_renewals_due(found: dict[str, Any]) -> None:
    """31 days from 20 May to 20 June: 31 x 24 h x 6 x 40 = 178,560 left at list, x 33.75 = 150,660 as agreed."""
    (renewal,) = found["renewals"]

    assert (renewal["label"], renewal["days_left"]) == ("training", 31)
    assert renewal["list_usd_left"] == pytest.approx(178_560.00)
    assert renewal["contracted_usd_left"] == pytest.approx(150_660.00)
    # without a plan: 55.04 x 6 x 730 h x 0.9
    assert renewal["on_demand_usd_per_month"] == pytest.approx(216_967.68)


def test_moves_since_a_day(data: Path, tmp_path: Path) -> None:
    """Only moves seen from that day on are told."""
    moves = fleet.cost(settings(data, tmp_path), since=looks.day(0), now=NOW)["moves"]

    assert [move["label"] for move in moves] == ["serving"]


REASONS = [
    ("Oracle,H100 SXM,,on_demand,1", "no price of this provider is known"),
    ("AWS,p99.48xlarge,us-east-1,on_demand,1", "no machine of this provider and no chip is called so"),
    ("AWS,p4d.24xlarge,us-east-1,on_demand,1", "this provider has no price of it"),
    ("AWS,trn1.32xlarge,us-east-1,spot,1", "not sold so; known: on_demand"),
    ("AWS,trn1.32xlarge,eu-west-1,on_demand,1", "not sold so there; known: us-east-1"),
    ("RunPod,H100 SXM,,on_demand,1", "2 offers fit; say more of: tier (community, secure)"),
    ("AWS,p5.48xlarge,us-east-1,savings_plan,1", "2 offers fit; say more of: term (26280h, 8760h)"),
    (
        "OVHcloud,H100 SXM,,on_demand,1",
        "2 offers fit, and differ in what no line says: host, network, currency or least purchase; a [[rate]] of the "
        "price file gives the line a price",
    ),
    ("RunPod,H100 SXM,us,on_demand,1", "its prices name no region: leave it empty"),
]


def test_why_a_line_has_no_price(data: Path, tmp_path: Path) -> None:
    """Each line says why; where several offers fit, in what they differ, and none is taken."""
    text = "provider,offer,region,option,nodes\n" + "".join(f"{words}\n" for words, _ in REASONS)
    told = fleet.cost(settings(data, tmp_path, fleet=text, prices=None), now=NOW)

    assert [each["reason"] for each in told["lines"]] == [reason for _, reason in REASONS]
    assert {each["list_usd_per_month"] for each in told["lines"]} == {None}
    assert told["totals"]["list_usd_per_month"] is None


def test_what_a_line_adds_decides(data: Path, tmp_path: Path) -> None:
    """Term and tier single one offer out; a node of eight chips is eight of those that are sold singly, or by eight."""
    text = (
        "provider,offer,region,option,nodes,term,tier,accelerators_per_node\n"
        "AWS,p5.48xlarge,us-east-1,savings_plan,1,3 years,,8\n"
        "runpod,h100 sxm,,on_demand,2,,secure,8\n"
        "nebius,h100 sxm,,on_demand,2,,,8\n"
        "nebius,h100 sxm,,on_demand,2,,,\n"
    )
    told = fleet.cost(settings(data, tmp_path, fleet=text, prices=None), now=NOW)

    assert [each["list_price_per_node_hour"] for each in told["lines"]] == pytest.approx([26, 8 * 3.29, 8 * 3.99, 4.29])
    assert [each["list_usd_per_month"] for each in told["lines"]][:2] == pytest.approx([18_980, 2 * 8 * 3.29 * 730])


def test_a_contracted_rate_needs_no_list_price(data: Path, tmp_path: Path) -> None:
    """Lambda is not among the prices; what is agreed is known all the same: 1.95 x 8 chips x 730 h = 11,388."""
    text = "provider,offer,region,option,nodes,accelerators_per_node\n" + "lambda,H100 SXM,us,on_demand,1,8\n" * 2
    prices = fleet_file.PRICES.replace("2026-06-01", "2026-05-20")
    told, short = fleet.cost(settings(data, tmp_path, fleet=text[:-2] + "\n", prices=prices), now=NOW)["lines"]

    assert (told["list_usd_per_month"], told["reason"]) == (None, "no price of this provider is known")
    assert (told["contracted_usd_per_month"], told["contract_id"]) == (pytest.approx(11_388.00), "LAM-1")
    assert short["contracted_usd_per_month"] is None
    assert short["reason"].endswith("known; its contracted rate is of a chip: give accelerators_per_node")


@pytest.mark.parametrize(
    ("rules", "rule", "price", "spot"),
    [
        (["percent=10", "percent=30,family='p5'"], "discount 2", 0.7 * 55.04, None),
        (["percent=10,family='p5'", "percent=30,family='p5',region='us-east-1'"], "discount 2", 0.7 * 55.04, None),
        (["percent=10,chip='H100'", "percent=20"], "discount 1", 0.9 * 55.04, None),
        (["percent=10,option='spot'", "percent=20,service='SageMaker'"], None, None, 18),
        (["percent=10,valid_to=2026-05-19"], None, None, None),
        (["percent=10,valid_to=2026-05-20"], "discount 1", 0.9 * 55.04, None),
    ],
)
def test_which_rule_counts(
    data: Path, tmp_path: Path, rules: list[str], rule: str | None, price: float | None, spot: float | None
) -> None:
    """The rule that names more, on the day of the prices, whenever one asks; its name stands beside the price.

    On spot, which costs 20 a node-hour, none counts that does not say so.
    """
    named = settings(data, tmp_path, fleet=P5 + "AWS,p5.48xlarge,us-east-1,spot,1\n", prices=discounts(rules))
    own, cheap = fleet.cost(named, now=NOW + timedelta(days=90))["lines"]

    assert own["rule"] == rule
    assert (own["list_price_per_node_hour"], cheap["list_price_per_node_hour"]) == (55.04, 20)
    assert own["contracted_price_per_node_hour"] == (price and pytest.approx(price))
    assert cheap["contracted_price_per_node_hour"] == spot


P5 = "provider,offer,region,option,nodes\nAWS,p5.48xlarge,us-east-1,on_demand,1\n"


def discounts(rules: list[str]) -> str:
    """Return a price file of AWS's discounts since 2026."""
    return "".join(
        "[[discount]]\nprovider = 'AWS'\nvalid_from = 2026-01-01\n" + rule.replace(",", "\n") + "\n" for rule in rules
    )


@pytest.mark.parametrize("more", ["", ",option='on_demand'"])
def test_a_tie_is_refused_by_name(data: Path, tmp_path: Path, more: str) -> None:
    """Neither a region, nor a region and an option, names the family that the other names."""
    region = f"percent=10,rule='by region',region='us-east-1'{more}"
    prices = discounts([region, "percent=30,rule='by family',family='p5'"])

    with pytest.raises(ChipledgerError, match="both fit one offer") as refusal:
        fleet.cost(settings(data, tmp_path, fleet=P5, prices=prices), now=NOW)

    assert (refusal.value.source, refusal.value.value) == ("prices.toml", "by family, by region")


def test_the_private_file(data: Path, tmp_path: Path) -> None:
    """It is its owner's alone, describes itself, keeps list beside contracted, and leads back to the bytes."""
    chosen = settings(data, tmp_path)
    file = private_file.build(chosen, NOW)

    assert file == data / "private.duckdb"
    assert file.stat().st_mode & 0o777 == 0o600
    with duckdb.connect(str(file), read_only=True) as con:
        prices = con.execute(
            "select offer_id in (select offer_id from fleet_line where reason is null), list_unit_price, "
            "contracted_unit_price, discount, contract_id from contracted_price "
            "order by contracted_unit_price, list_unit_price desc"
        ).fetchall()
        (sha,) = con.execute("select distinct prices_sha256 from contracted_price").fetchone() or ()
        silent = con.execute("select column_name from duckdb_columns() where comment is null and not internal")
        assert silent.fetchall() == []
        assert con.execute("select count(*) from data_dictionary where meaning is null").fetchone() == (0,)
    # trn1 21.5 less 12 %, the plans' 40 and 26 at the agreed rate, p5 on demand 55.04 less 12 %
    assert [tuple(str(value) for value in line) for line in prices] == [
        ("True", "21.5000000000", "18.9200000000", "0.12000000", "EDP-0042"),
        ("True", "40.0000000000", "33.7500000000", "None", "PPA-7731"),
        ("False", "26.0000000000", "33.7500000000", "None", "PPA-7731"),
        ("False", "55.0400000000", "48.4352000000", "0.12000000", "EDP-0042"),
    ]
    kept = data / "landing" / sha[:2] / f"{sha}.gz"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert Landing(data / "landing").body(sha) == fleet_file.PRICES.encode()


def test_no_file_named_no_private_file(data: Path, tmp_path: Path) -> None:
    """What was built goes when nothing is named any more."""
    private_file.build(settings(data, tmp_path), NOW)

    assert private_file.build(settings(data, tmp_path, fleet=None, prices=None), NOW) is None
    assert not (data / "private.duckdb").exists()


def test_the_commands(data: Path, tmp_path: Path) -> None:
    """`fleet` tells counts before sums, `check` what is not matched and why, `query` has the tables as private.*.

    Lines of one machine are told apart by how it is bought, and how many.
    """
    chosen = settings(data, tmp_path)
    toml = tmp_path / "chipledger.toml"
    named = chosen.private.model_dump(exclude_unset=True)
    toml.write_text(f"data_dir = '{data}'\n[private]\n" + "".join(f"{name} = '{named[name]}'\n" for name in named))

    def call(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(main.main, ["--settings", str(toml), *words])
        return result.exit_code, result.output

    code, text = call("fleet")
    assert code == 0
    assert "at list: USD 267,749.40 a month for 3 of 4 lines" in text
    hidden = text.partition("Not shown: ")[2].split(";")[0].split()
    shown = {"purchase_option,", "nodes,", "list_usd_per_month,", "contracted_usd_per_month,", "reason,"}
    assert shown.isdisjoint(hidden)
    assert "no price of this provider is known" in " ".join(call("fleet", "check")[1].split())
    code, text = call("fleet", "check", "--json")
    assert code == 1
    told = json.loads(text)
    assert [(each["label"], each["reason"]) for each in told["lines"]] == [
        ("elsewhere", "no price of this provider is known")
    ]
    assert "rate 2" in [each["rule"] for each in told["rules"]]
    (data / "private.duckdb").unlink(missing_ok=True)
    assert call("query", "from private.fleet_cost")[0] == 2
    assert call("query", "select 1 as one")[0] == 0
    private_file.build(chosen, NOW)
    code, text = call("query", "--json", "select label from private.fleet_cost where list_usd_per_month > 1e5")
    assert (code, json.loads(text)) == (0, [{"label": "training"}])
    assert "private.renewal" in call("query", "--list")[1]


def test_what_doctor_says(data: Path, tmp_path: Path) -> None:
    """The lines without a price are a note, a fault is wrong, and nobody without private files hears of them."""
    (note,) = fleet.doctor(settings(data, tmp_path))
    (wrong,) = fleet.doctor(settings(data, tmp_path, fleet="provider\n"))

    assert (note["result"], note["found"]) == ("warn", "line 5: no price of this provider is known")
    assert (wrong["result"], "columns are absent" in str(wrong["found"])) == ("fail", True)
    assert fleet.doctor(settings(data, tmp_path, fleet=None, prices=None)) == []


def test_a_fleet_as_written(data: Path, tmp_path: Path) -> None:
    """A file that is named and is not there is told; none named at all, too."""
    gone = settings(data, tmp_path)
    (tmp_path / "fleet.csv").unlink()

    with pytest.raises(ChipledgerError, match=r"fleet\.csv: not a regular file"):
        fleet.cost(gone, now=NOW)
    with pytest.raises(SettingsError, match="no private file is named"):  # exit code 2
        fleet.cost(settings(data, tmp_path, fleet=None, prices=None), now=NOW)


def test_the_files_of_the_docs_have_a_price_on_the_archive(
    offline_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever copies fleet.csv and prices.toml from docs/fleet.md sees what each line costs, at list."""
    page = Path(__file__).parents[2] / "docs/fleet.md"
    monkeypatch.chdir(tmp_path)
    Path("fleet.csv").write_text(doc_blocks.block(page, "fleet.csv", begins="provider,", language="csv"))
    Path("prices.toml").write_text(doc_blocks.block(page, "prices.toml", begins="[[discount]]", language="toml"))
    named = {"fleet": Path("fleet.csv"), "prices": Path("prices.toml")}
    shutil.copy(offline_run / "prices.duckdb", "prices.duckdb")
    checked = fleet.check(Settings(data_dir=tmp_path, private=named), now=NOW)
    assert checked == {"lines": [], "rules": [], "commitments_without_end": []}
