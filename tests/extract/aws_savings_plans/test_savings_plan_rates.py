"""What Savings Plan documents say: every rate of them, and which rates are prices of accelerators."""

import csv
import gzip
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from savings_plan_files import HEADER, PREAMBLE, csv_file, document, page, rates, result

from extract.aws.savings_plans import SOURCE
from extract.base import Parsed
from warehouse.errors import LayoutChanged
from warehouse.log.batch import _offer_of
from warehouse.log.gates import row_gate


def parsed(*lines: dict[str, str], scope: str = "us-east-1") -> Parsed:
    return SOURCE.parse(document(csv_file(*lines), scope))


def of_api(*results: dict[str, Any], scope: str = "us-east-1") -> Parsed:
    return SOURCE.parse(document(page(*results), scope))


# --- every rate


def test_rates_alone_are_an_answer() -> None:
    """`--query searchResults` of the AWS CLI leaves the list without its name."""
    assert rates(document(page(result())[18:-1])).equals(rates(document(page(result()))))


def test_real_duplicates_that_differ_in_operation_stay_two(shared: Path) -> None:
    """Trap 15: the same usage type and rate for two operations are two rates, whatever is done with them later."""
    real = shared / "data" / "aws_samples" / "savings_plan_offering_rates_duplicate_operation_20260719.json"

    found = rates(document(real.read_bytes(), "ap-northeast-1"))

    assert found["operation"].to_list() == ["CreateDBInstance:0035", "CreateDBInstance:0029"]
    assert found["usage_type"].unique().to_list() == ["APN1-InstanceUsage:db.m7i.12xl"]
    assert found["amount"].unique().to_list() == ["4.7424000000"]


def test_a_real_file_gives_as_many_rates_as_it_has_lines(shared: Path) -> None:
    """No rate is merged with another or left out: rows and texts are those of a plain reading as CSV."""
    real = shared / "data" / "aws_samples" / "savings_plan_bulk_AWSDatabaseSavingsPlans_ap-south-2_20260422.csv"
    plain = list(csv.DictReader(real.read_text().splitlines()[5:]))

    found = rates(document(real.read_bytes(), "ap-south-2"))

    assert found.height == len(plain) == 455
    assert found["rate_code"].to_list() == [line["RateCode"] for line in plain]
    assert found["amount"].to_list() == [line["DiscountedRate"] for line in plain]
    assert [each or "" for each in found["instance_type"]] == [line["DiscountedInstanceType"] for line in plain]


def test_database_plans_are_no_prices_of_accelerators(shared: Path) -> None:
    """A known plan of another kind is counted, and nothing of it is unknown."""
    real = shared / "data" / "aws_samples" / "savings_plan_bulk_AWSDatabaseSavingsPlans_ap-south-2_20260422.csv"

    said = SOURCE.parse(document(real.read_bytes(), "ap-south-2"))

    assert (said.rows.height, said.ignored, said.unknown) == (0, {"other_plan": 455}, ())


def test_the_real_rate_of_a_local_zone_is_of_its_zone(shared: Path) -> None:
    """Trap 16: us-west-2's file carries DEN1 rates, whose Region Code is the zone's."""
    real = shared / "data" / "aws_samples" / "savings_plan_bulk_json_excerpt_us-west-2-den-1_20260623.json"

    said = SOURCE.parse(document(real.read_bytes(), "us-west-2"))

    assert rates(document(real.read_bytes(), "us-west-2"))["region"].to_list() == ["us-west-2-den-1"]
    assert (said.rows.height, said.ignored) == (0, {"other_region": 1})


def test_an_operation_more_is_a_rate_more() -> None:
    """Rates of one usage type, one for each operation, stay apart; last does not win."""
    codes = ("RunInstances", "RunInstances:0002", "RunInstances:0800", "RunInstances")

    found = rates(document(csv_file(*({"DiscountedOperation": code} for code in codes))))

    assert found["operation"].to_list() == list(codes)


# --- the price


def test_a_price_in_full() -> None:
    """All that an observation says of one rate."""
    (row,) = parsed({}).rows.to_dicts()

    assert {name: value for name, value in row.items() if value is not None} == {
        "service_provider_name": "AWS",
        "instance_type": "p5.48xlarge",
        "capacity_unit": "instance",
        "region_id": "us-east-1",
        "purchase_option": "savings_plan",
        "commitment_discount_type": "Compute",
        "commitment_term_hours": 8760,
        "purchase_payment_model": "No Upfront",
        "statistic": "price",
        "pricing_currency": "USD",
        "unit_price_type": "List",
        "sku_id": "BB8PM5YDQ3ZXCVBN",
        "sku_price_id": "PLAN.P5",
        "unit_price": "40.1792",
    }


def test_both_forms_are_one_offer() -> None:
    """The API's page and the file's line say the same, but for the codes that the API does not tell."""
    codes = ["sku_id", "sku_price_id"]

    assert of_api(result()).rows.drop(codes).equals(parsed({}).rows.drop(codes))
    assert of_api(result()).rows.select(codes).row(0) == (None, None)


@pytest.mark.parametrize("payment", ["No Upfront", "Partial Upfront", "All Upfront"])
@pytest.mark.parametrize(("years", "hours"), [("1", 8760), ("3", 26280)])
def test_terms_and_payments(payment: str, years: str, hours: int) -> None:
    """One and three years, three payments; the rate contains the upfront part, so that none stands beside it."""
    rows = parsed({"PurchaseOption": payment, "LeaseContractLength": years}).rows
    accepted, refused = row_gate(rows)

    assert refused == []
    assert accepted.select("purchase_payment_model", "commitment_term_hours", "upfront_price").row(0) == (
        payment,
        hours,
        None,
    )


@pytest.mark.parametrize(
    ("family", "kind"),
    [("ComputeSavingsPlans", "Compute"), ("EC2InstanceSavingsPlans", "EC2Instance")],
)
def test_kinds_of_plan_stay_apart(family: str, kind: str) -> None:
    """Trap 17: Compute and EC2 Instance plans have rates of their own."""
    assert parsed({"Product Family": family}).rows["commitment_discount_type"].to_list() == [kind]


@pytest.mark.parametrize("family", ["SageMakerSavingsPlans", "MachineLearningSavingsPlans"])
def test_sagemaker_sells_machines_of_its_own(family: str) -> None:
    """Trap 17: ml.p5.48xlarge is no p5.48xlarge, and each component has a rate of its own."""
    ml = {
        "Product Family": family,
        "DiscountedServiceCode": "AmazonSageMaker",
        "DiscountedOperation": "RunInstance",
    }
    usages = {
        "USE1-Train:ml.p5.48xlarge": "ml.p5.48xlarge",
        "USE1-Cluster-Reserved:ml.p5.48xlarge": "ml.p5.48xlarge",
        "USE1-Studio:KernelGateway-ml.p3.2xlarge": "",
    }

    said = parsed(*({**ml, "DiscountedUsageType": use, "DiscountedInstanceType": kind} for use, kind in usages.items()))

    told = said.rows.select("instance_type", "commitment_discount_type", "conditions").rows()
    assert told == [
        ("ml.p3.2xlarge", "SageMaker", "SageMaker Studio:KernelGateway"),
        ("ml.p5.48xlarge", "SageMaker", "SageMaker Cluster-Reserved"),
        ("ml.p5.48xlarge", "SageMaker", "SageMaker Train"),
    ]


@pytest.mark.parametrize("stated", ["p5.48xlarge", "P5", "p5", ""])
def test_the_usage_type_names_the_type_where_the_rate_does_not(stated: str) -> None:
    """`discountedInstanceType` may hold a family or be empty."""
    assert parsed({"DiscountedInstanceType": stated}).rows["instance_type"].to_list() == ["p5.48xlarge"]


def test_the_region_is_stated_and_never_derived() -> None:
    """A usage type without prefix in another region is of that region; DEN1- is of us-west-2 where AWS says so."""
    other, same = {"DiscountedRegionCode": "us-west-2"}, {"DiscountedUsageType": "DEN1-BoxUsage:p5.48xlarge"}

    said = parsed(other, same, {"DiscountedRegionCode": ""})

    assert said.rows["region_id"].to_list() == ["us-east-1"]
    assert said.ignored == {"no_region": 1, "other_region": 1}


def test_a_zone_is_a_scope_of_its_own() -> None:
    """Read for the zone, a region's file gives the zone's rates and counts the region's."""
    zone = {"DiscountedRegionCode": "us-west-2-den-1", "DiscountedUsageType": "DEN1-BoxUsage:p5.48xlarge"}

    said = parsed({}, zone, scope="us-west-2-den-1")

    assert said.rows["region_id"].to_list() == ["us-west-2-den-1"]
    assert said.ignored == {"other_region": 1}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"DiscountedOperation": "RunInstances:0010"}, "other_operation"),
        ({"DiscountedOperation": "RunInstances:CB"}, "other_operation"),
        ({"DiscountedUsageType": "DedicatedUsage:p5.48xlarge"}, "other_tenancy"),
        ({"DiscountedUsageType": "HostBoxUsage:p5.48xlarge"}, "other_tenancy"),
        ({"DiscountedUsageType": "UnusedBox:p5.48xlarge"}, "unused_reservation"),
        ({"DiscountedUsageType": "BoxUsage:m5.xlarge", "DiscountedInstanceType": "m5.xlarge"}, "not_accelerator"),
        ({"DiscountedServiceCode": "AmazonECS", "DiscountedInstanceType": ""}, "other_service"),
        ({"DiscountedUsageType": "EBS:VolumeUsage", "DiscountedInstanceType": ""}, "no_instance_type"),
        ({"DiscountedUsageType": "HostUsage:p5", "DiscountedInstanceType": ""}, "other_tenancy"),
        (
            {"DiscountedUsageType": "Lambda-GB-Second", "Product Family": "New", "DiscountedServiceCode": "AWSLambda"},
            "other_service",
        ),
        (
            {"DiscountedUsageType": "LeasedBox:p5.48xlarge", "DiscountedOperation": "RunInstances:0002"},
            "other_operation",
        ),
    ],
)
def test_what_is_no_price_is_counted(changes: dict[str, str], reason: str) -> None:
    """Other systems, tenancies, services, Capacity Blocks and CPUs: counted by reason, nothing of them unknown."""
    said = parsed(changes)

    assert (said.rows.height, said.ignored, said.unknown) == (0, {reason: 1}, ())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"properties": {"productDescription": "Windows"}}, "other_os"),
        ({"properties": {"tenancy": "dedicated"}}, "other_tenancy"),
        ({"operation": "RunInstances:0800"}, "other_operation"),
        ({"properties": {"region": "us-west-2"}}, "other_region"),
    ],
)
def test_what_the_api_says_more(changes: dict[str, Any], reason: str) -> None:
    """Product description and tenancy of the API decide too."""
    said = of_api(result(**changes), result())

    assert (said.rows.height, said.ignored) == (1, {reason: 1})


# --- nothing is guessed


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"Product Family": "QuantumSavingsPlans"}, "plan 'QuantumSavingsPlans'"),
        ({"DiscountedUsageType": "BoxUsage:p9.gigantic", "DiscountedInstanceType": "P9"}, "instance type 'P9'"),
    ],
)
def test_unknown_words_are_named_and_give_no_price(changes: dict[str, str], named: str) -> None:
    """A plan or a type without a rule is reported by name, never taken for a known one.

    Whose price it is nobody knows: one rate of each name is refused, so that the fetch ends no offer.
    """
    said = parsed(changes, {**changes, "DiscountedRate": "30"}, {})
    accepted, (refused,) = row_gate(said.rows)

    assert accepted["unit_price"].to_list() == [Decimal("40.1792")]
    assert _offer_of(said.rows[refused.row]).is_empty()
    assert len(said.unknown) == 1
    assert said.unknown[0].startswith(named)


def test_a_rate_of_an_unknown_usage_is_refused() -> None:
    """It is named; its offer stays, and the row gate refuses the price, unless the offer has a plain one."""
    new = {"DiscountedUsageType": "LeasedBox:p5.48xlarge"}
    said = parsed(new)
    accepted, (refused,) = row_gate(said.rows)

    assert (accepted.height, refused.field) == (0, "unit_price")
    assert refused.value.endswith(" of the usage 'LeasedBox'")
    assert said.unknown == ("usage 'LeasedBox' (such as LeasedBox:p5.48xlarge)",)
    assert parsed(new, {}).rows.equals(parsed({}).rows)


@pytest.mark.parametrize(
    ("changes", "named", "field"),
    [
        ({"LeaseContractLength": "2"}, "duration '2 year'", "commitment_term_hours"),
        ({"LeaseContractLengthUnit": "month"}, "duration '1 month'", "commitment_term_hours"),
        ({"PurchaseOption": "Half Upfront"}, "payment option 'Half Upfront'", "purchase_payment_model"),
        ({"Unit": "Quantity"}, "unit 'Quantity'", "unit_price"),
    ],
)
def test_unknown_terms_are_named_and_refused(changes: dict[str, str], named: str, field: str) -> None:
    """A duration, a payment or a unit without a rule is named, and the row gate refuses the price for it."""
    said = parsed(changes)
    accepted, (refused,) = row_gate(said.rows)

    assert said.unknown[0].startswith(named)
    assert accepted.height == 0
    assert refused.field == field


@pytest.mark.parametrize(("amount", "price"), [("4.0E+1", "40"), ("40.1792000000", "40.1792")])
def test_amounts_are_plain_decimals(amount: str, price: str) -> None:
    """Exponents and needless zeros go; the digits stay."""
    assert parsed({"DiscountedRate": amount}).rows["unit_price"].to_list() == [price]


@pytest.mark.parametrize("amount", ["0.0000000000", "NaN", "-1", "", "1.12345678901"])
def test_amounts_that_are_none_reach_the_gate(amount: str) -> None:
    """Zero, nonsense and more digits than are kept go on as they are, and are refused there."""
    accepted, refused = row_gate(parsed({"DiscountedRate": amount}).rows)

    assert accepted.height == 0
    assert [each.field for each in refused] == ["unit_price"]


# --- the layout


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"{}",
        b"[]",
        b'{"searchResults": {}}',
        b'{"searchResults": [{}]}',
        page(result(rate=40.17)),
        page(result(usageType=None)),
        csv_file({})[:-1],
        csv_file({}).replace(b"AmazonEC2", b"Amazon,EC2"),
        csv_file({}, header=HEADER.replace("DiscountedRate,", "")),
        csv_file({}, header=HEADER + ",Unit"),
        PREAMBLE.encode(),
        gzip.compress(csv_file({}))[:-9],
        csv_file({}).replace(b"No Upfront", b"No\xffUpfront"),
    ],
)
def test_another_layout_is_refused(body: bytes) -> None:
    """HTML, nothing, other JSON, bare numbers, cut files, ragged lines, columns that are gone or stand twice."""
    with pytest.raises(LayoutChanged):
        SOURCE.parse(document(body))


def test_columns_may_move() -> None:
    """Columns are found by name."""
    moved = ",".join(reversed(HEADER.replace("SKU,RateCode", "RateCode").split(",")))

    assert parsed({}).rows.equals(SOURCE.parse(document(csv_file({}, header="SKU," + moved))).rows)


def test_a_compressed_document_is_the_same() -> None:
    """A document may be kept as gzip."""
    assert SOURCE.parse(document(gzip.compress(csv_file({})))).rows.equals(parsed({}).rows)
