"""What OpenCost, Karpenter and dbt read of us, read back by their own rules: per node and hour, one price a machine."""

import csv
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
import yaml
from click.testing import CliRunner, Result
from looks import row
from published import query
from purchase import P5, putting, seen, spot

from flows.cli.main import main
from flows.export import exporting, machines
from transform.models import PUBLIC
from warehouse.errors import ChipledgerError

ROOT = Path(__file__).parents[2]
DBT = ("dbt-core==1.10.15", "dbt-duckdb==1.10.0", "duckdb==1.5.5")
NODES = """
select region_id, instance_type, price_per_accelerator_hour * accelerator_count::DOUBLE as usd_per_node_hour
from int.accelerator_hour_price
where
    purchase_option = 'on_demand' and is_current and conditions is null and tier is null and statistic = 'price'
    and restriction is null and capacity_unit = 'instance' and instance_type not like 'ml.%'
    and region_id not like '% %' and instance_type not like '% %' and pricing_currency = 'USD' and region_id is not null
    and accelerator_count > 0
"""
"""Node-hours by another way than the exports: the price per chip-hour, times the chips."""

# opencost/opencost pkg/cloud/provider/csvprovider.go at 11d3017f: its columns in order, and NodePricing's class match.
OPENCOST = "EndTimestamp,InstanceID,Region,AssetClass,InstanceIDField,InstanceType,MarketPriceHourly,Version"

# kubernetes-sigs/karpenter pkg/apis/v1alpha1/nodeoverlay.go at 0546b80b and nodeoverlay_validation.go at 06c1cf12.
NODE_OVERLAY = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "additionalProperties": False,
    "properties": {
        "apiVersion": {"const": "karpenter.sh/v1alpha1"},
        "kind": {"const": "NodeOverlay"},
        "metadata": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string", "maxLength": 253, "pattern": r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"},
                "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        },
        "spec": {
            "type": "object",
            "required": ["requirements"],
            "additionalProperties": False,
            "oneOf": [{"required": ["price"]}, {"required": ["priceAdjustment"]}],
            "properties": {
                "weight": {"type": "integer", "minimum": 1, "maximum": 10000},
                "price": {"type": "string", "pattern": r"^\d+(\.\d+)?$"},
                "priceAdjustment": {
                    "type": "string",
                    "pattern": r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$",
                },
                "requirements": {
                    "type": "array",
                    "maxItems": 100,
                    "items": {
                        "type": "object",
                        "required": ["key", "operator", "values"],
                        "additionalProperties": False,
                        "properties": {
                            "key": {"type": "string"},
                            "operator": {"const": "In"},
                            "values": {
                                "type": "array",
                                "minItems": 1,
                                "items": {
                                    "type": "string",
                                    "maxLength": 63,
                                    "pattern": r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}


@pytest.fixture
def call(offline_run: Path) -> Callable[..., Result]:
    """A function that runs a command on the file of one offline run."""
    return lambda *words: CliRunner().invoke(main, ["--data-dir", str(offline_run), *(str(word) for word in words)])


def read_as_opencost(file: Path) -> dict[str, float]:
    """Return the price of each class as DownloadPricingData keeps it: by `region,type,node`, the first of several."""
    prices: dict[str, float] = {}
    with file.open(encoding="utf-8", newline="") as text:
        for fields in csv.reader(text):
            assert len(fields) == 8  # a line of another number is skipped by OpenCost
            line = dict(zip(OPENCOST.split(","), fields, strict=True))
            if line["AssetClass"] != "node":
                assert fields == OPENCOST.split(",")  # only the header, which its decoder reads as a row
                continue
            assert line["InstanceIDField"] == "metadata.labels.node.kubernetes.io/instance-type"
            key = f"{line['Region']},{line['InstanceType']},node"
            assert key not in prices  # a second row of one class would be lost
            prices[key] = float(line["MarketPriceHourly"])
    return prices


def overlays(folder: Path) -> list[dict[str, Any]]:
    """Return every overlay in a folder's files, valid by the schema."""
    files = sorted(folder.rglob("*.yaml"))
    found = [each for file in files for each in yaml.load_all(file.read_text(), yaml.CSafeLoader)]
    valid = jsonschema.Draft202012Validator(NODE_OVERLAY)
    for each in found:
        valid.validate(each)
    return found


def adjusted(found: list[dict[str, Any]], labels: dict[str, str], price: Decimal) -> Decimal:
    """Return what Karpenter makes of its own price of an offering: the overlay of the highest weight counts."""
    fitting = [
        each["spec"] for each in found
        if all(labels.get(need["key"]) in need["values"] for need in each["spec"]["requirements"])
    ]  # fmt: skip
    weights = [spec["weight"] for spec in fitting]
    assert len(set(weights)) == len(weights)  # equal weights on one offering are a conflict
    if not fitting:
        return price
    spec = max(fitting, key=lambda each: each["weight"])
    if "price" in spec:
        return Decimal(spec["price"])
    return price * (1 + Decimal(spec["priceAdjustment"].removesuffix("%")) / 100)


def test_opencost_reads_node_hours(call: Callable[..., Result], offline_run: Path, tmp_path: Path) -> None:
    """Every current machine once, per node and hour, as the price per chip-hour times its chips has it."""
    answer = call("export", tmp_path / "out", "--as", "opencost", "--json")
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "out/on_demand.csv").read_text().splitlines()[0] == OPENCOST
    prices = read_as_opencost(tmp_path / "out/on_demand.csv")
    told = {f"{region},{machine},node": price for region, machine, price in query(offline_run / "prices.duckdb", NODES)}
    assert len(told) > 50
    assert {key: prices[key] for key in told} == pytest.approx(told)
    assert sum(written["rows"] for written in json.loads(answer.stdout)) >= len(prices) > 50
    spots = read_as_opencost(tmp_path / "out/spot.csv")
    assert spots
    # a month's price in place of an hour's would be 730 times as much
    assert {key: True for key in spots if key in prices} == {
        key: spots[key] <= 2 * prices[key] for key in spots if key in prices
    }


def test_karpenter_reads_every_overlay(call: Callable[..., Result], offline_run: Path, tmp_path: Path) -> None:
    """Valid by its schema, no name twice, no conflict; a node has its price, and one of another zone has not."""
    assert call("export", tmp_path / "out", "--as", "karpenter").exit_code == 0
    found = overlays(tmp_path / "out")
    names = [each["metadata"]["name"] for each in found]
    assert len(names) == len(set(names)) > 100
    assert {each["metadata"]["annotations"]["chipledger-unit"] for each in found} == {"USD per node-hour"}
    told = query(offline_run / "prices.duckdb", NODES)
    providers = {path.parent.name for path in (tmp_path / "out").rglob("*.yaml")}
    assert providers == {"aws", "azure"}
    matched = 0
    for region, machine, price in told:
        labels = {machines.INSTANCE_TYPE: str(machine), machines.REGION: str(region)}
        on_demand = adjusted(found, labels | {machines.CAPACITY_TYPE: "on-demand"}, Decimal(-1))
        matched += on_demand != -1
        assert on_demand == -1 or float(on_demand) == pytest.approx(price)
    assert matched > 50


SINGLE = row(P5, "55.04"), row("g6.xlarge", "0.00000081"), row("p4d.24xlarge", "22")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a published file of few machines, of which one has two prices, and one is spot in three zones; copy it."""
    double = row("p4de.24xlarge", "22"), row("p4de.24xlarge", "21", fabric="EFA")
    with putting(tmp_path_factory.mktemp("few"), asked=("accelerator_hour_price", "spot_region_price")) as put:
        return put(
            seen(0, "aws_price_list", *SINGLE, *double),
            seen(0, "aws_spot", spot(P5, "use1-az1", "30.5"), spot(P5, "use1-az2", "30.5"), spot(P5, "use1-az6", "41")),
            at=0.1,
        )


@pytest.fixture
def file(published: Path, tmp_path: Path) -> Path:
    """Return a copy of it, which may be changed."""
    (tmp_path / "data").mkdir()
    file = Path(shutil.copy(published, tmp_path / "data"))
    file.chmod(0o644)
    return file


def test_prices_of_zones_and_contracts(file: Path, tmp_path: Path) -> None:
    """Spot by zone, equal zones together; a contracted price before the list's, on request, for its owner alone.

    Two prices of one machine are none.
    """
    offers = dict(query(file, "select instance_type, offer_id from core.offer where purchase_option = 'on_demand'"))
    with duckdb.connect(str(file.with_name("private.duckdb"))) as con:
        con.execute(
            "create table contracted_price (offer_id BIGINT, contracted_unit_price DECIMAL(18, 10), "
            "discount DECIMAL(9, 8), rule VARCHAR)"
        )
        con.executemany(
            "insert into contracted_price values (?, ?, ?, 'agreed')",
            [[offers[P5], "40.9", None], [offers["p4d.24xlarge"], "19.25", "0.125"]],
        )
    for make, kind in ((machines.opencost, "csv"), (machines.karpenter, "yaml")):
        make(file, tmp_path / "public" / kind)
        make(file, tmp_path / "own" / kind, with_private=True)
    assert not list((tmp_path / "public").rglob("private"))
    listed = {f"us-east-1,{each['instance_type']},node" for each in SINGLE}
    assert {*read_as_opencost(tmp_path / "public/csv/on_demand.csv")} == listed
    agreed = tmp_path / "own/csv/private/contracted.csv"
    assert stat.S_IMODE(agreed.stat().st_mode) == 0o600
    assert read_as_opencost(agreed) == {"us-east-1,p5.48xlarge,node": 40.9, "us-east-1,p4d.24xlarge,node": 19.25}
    assert read_as_opencost(tmp_path / "own/csv/on_demand.csv")["us-east-1,g6.xlarge,node"] == 0.00000081
    assert read_as_opencost(tmp_path / "own/csv/spot.csv") == {"us-east-1,p5.48xlarge,node": 30.5}
    public, own = overlays(tmp_path / "public/yaml"), overlays(tmp_path / "own/yaml")

    def price(found: list[dict[str, Any]], machine: str, capacity: str, zone: str = "use1-az1") -> Decimal:
        labels = {machines.INSTANCE_TYPE: machine, machines.REGION: "us-east-1", machines.ZONE_ID: zone}
        return adjusted(found, labels | {machines.CAPACITY_TYPE: capacity}, Decimal(100))

    spots = [price(own, P5, "spot", f"use1-az{number}") for number in (1, 2, 6, 3)]
    assert spots == [Decimal("30.5"), Decimal("30.5"), 41, 100]
    assert sum(each["metadata"]["annotations"]["chipledger-price"] == "list" for each in own) == len(public) == 5
    assert [price(each, P5, "on-demand") for each in (public, own)] == [Decimal("55.04"), Decimal("40.9")]
    assert [price(each, "p4d.24xlarge", "on-demand") for each in (public, own)] == [22, Decimal("87.5")]
    assert price(own, "g6.xlarge", "on-demand") == Decimal("0.00000081")  # no exponent


def test_old_prices_are_not_exported(file: Path, tmp_path: Path) -> None:
    """A file without a current price is an error that says why."""
    with duckdb.connect(str(file)) as con:
        for mart in ("accelerator_hour_price", "spot_region_price"):
            con.execute(f"update int.{mart} set is_current = false")
    for make in (machines.opencost, machines.karpenter):
        with pytest.raises(ChipledgerError, match="no price of a machine is current"):
            make(file, tmp_path / "old")
    assert not (tmp_path / "old").exists()


def test_dbt_has_every_public_table(call: Callable[..., Result], offline_run: Path, tmp_path: Path) -> None:
    """Each public table and column with its description; what the tests ask holds of the file."""
    assert call("export", tmp_path / "sources.yml", "--as", "dbt").exit_code == 0
    told = yaml.load((tmp_path / "sources.yml").read_text(), yaml.CSafeLoader)
    ((source,), version) = told["sources"], told["version"]
    assert (version, source["name"], source["schema"]) == (2, "chipledger", "mart")
    file = offline_run / "prices.duckdb"
    in_file = defaultdict(set)
    for table, column in query(file, "select table_name, column_name from duckdb_columns() where schema_name = 'mart'"):
        in_file[table].add(column)
    names = {table["name"] for table in source["tables"]}
    assert names == {mart.name for mart in PUBLIC}
    asked = 0
    with duckdb.connect(str(file), read_only=True) as con:
        for table in source["tables"]:
            assert {column["name"] for column in table["columns"]} == in_file[table["name"]]
            assert table["description"]
            for column in table["columns"]:
                assert column["description"]
                for test in column.get("data_tests", ()):
                    asked += 1
                    assert failing(con, table["name"], column["name"], test) == []
    assert asked >= sum(len(each) for each in exporting.ALWAYS.values())


def failing(con: duckdb.DuckDBPyConnection, table: str, column: str, test: str | dict[str, Any]) -> list[Any]:
    """Return rows that a generic test of dbt finds."""
    if test == "not_null":
        return con.execute(f"from mart.{table} where {column} is null").fetchall()
    if test == "unique":
        return con.execute(f"select {column} from mart.{table} group by all having count(*) > 1").fetchall()
    assert isinstance(test, dict)
    values = test["accepted_values"]["arguments"]["values"]
    return con.execute(f"select {column} from mart.{table} where not list_contains({values!r}, {column})").fetchall()


@pytest.mark.prove
@pytest.mark.timeout(900)
def test_dbt_tests_our_sources(call: Callable[..., Result], offline_run: Path, tmp_path: Path) -> None:
    """dbt itself, of a released version in an environment of its own, parses the file and runs its tests."""
    uv = shutil.which("uv") or str(ROOT / ".tools/bin/uv")
    place = tmp_path / "dbt"
    (place / "models").mkdir(parents=True)
    assert call("export", place / "models/sources.yml", "--as", "dbt").exit_code == 0
    (place / "dbt_project.yml").write_text("name: x\nversion: '1.0'\nprofile: x\nmodel-paths: [models]\n")
    path = json.dumps(str(offline_run / "prices.duckdb"))
    (place / "profiles.yml").write_text(
        "x:\n  target: x\n  outputs:\n    x:\n      type: duckdb\n"
        f"      path: {path}\n      config_options: {{access_mode: READ_ONLY}}\n"
    )
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, place / "v"], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", place / "v/bin/python", *DBT], check=True)
    own = {"HOME": str(place), "PATH": os.environ["PATH"], "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    done = subprocess.run(
        [place / "v/bin/dbt", "test", "--profiles-dir", ".", "--no-use-colors"], cwd=place, env=own,
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    passed, warned = re.search(r"PASS=(\d+) WARN=(\d+) ERROR=0", done.stdout).groups()
    assert (int(passed) >= 20, int(warned)) == (True, 0)
