"""A fleet read from an export of costs, worked out by hand; what is not read is told with its cost.

The export is made up in the columns of AWS's FOCUS 1.2 table. Its unit prices are AWS's of us-east-1: on demand
p5.48xlarge 55.04 and trn1.32xlarge 21.50 since 2025 (github.com/aws/karpenter-provider-aws), trn1.32xlarge reserved for
a year without upfront 13.22895 (github.com/tsaol/aws-gpu, data/all_gpu_instances.js, 2025-11-30).
"""

import csv
import io
import json
import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from fleet_file import NAMES

from flows.cli import main
from flows.private import fleet_file
from warehouse.errors import ChipledgerError

THIRDS = {1: ("2026-04-01", "2026-04-11"), 2: ("2026-04-11", "2026-04-21"), 3: ("2026-04-21", "2026-05-01")}
"""April in periods of 240 hours."""


def charge(third: int, meter: str, hours: str, costs: tuple[str, str, str], **others: str) -> dict[str, str]:
    """Return a charge; `costs` are ListCost, ContractedCost and EffectiveCost."""
    starts, ends = THIRDS[third]
    return {
        "ServiceProviderName": "Amazon Web Services", "ServiceCategory": "Compute", "ChargeCategory": "Usage",
        "ChargeClass": "", "ChargePeriodStart": f"{starts}T00:00:00Z", "ChargePeriodEnd": f"{ends}T00:00:00Z",
        "RegionId": "us-east-1", "SkuMeter": meter, "x_Operation": "RunInstances", "PricingCategory": "Standard",
        "CommitmentDiscountType": "", "CommitmentDiscountStatus": "", "PricingQuantity": hours, "PricingUnit": "Hrs",
        "ListCost": costs[0], "ContractedCost": costs[1], "EffectiveCost": costs[2], "BillingCurrency": "USD",
    } | others  # fmt: skip


RESERVED = {
    "PricingCategory": "Committed", "CommitmentDiscountStatus": "Used",
    "CommitmentDiscountType": "EC2 Reserved Instance",
}  # fmt: skip
SPOT = {"PricingCategory": "Dynamic", "RegionId": "us-west-2", "x_Operation": "RunInstances:SV052"}
CHARGES = [
    # two p5 for 240 hours, one for 240: 480 x 55.04 and 240 x 55.04, 12 % off as agreed
    charge(1, "BoxUsage:p5.48xlarge", "480", ("26419.20", "23248.896", "23248.896")),
    charge(2, "BoxUsage:p5.48xlarge", "240", ("13209.60", "11624.448", "11624.448")),
    # one trn1 on spot for 100 hours, at a made-up price
    charge(1, "USW2-SpotUsage:trn1.32xlarge", "100", ("2150", "645", "645"), **SPOT),
    # two trn1 reserved for the whole month: 480 x 21.5 at list, 480 x 13.22895 effective
    *(charge(n, "BoxUsage:trn1.32xlarge", "480", ("10320", "10320", "6349.896"), **RESERVED) for n in THIRDS),
    # not read
    charge(1, "BoxUsage:m5.large", "240", ("23.04", "23.04", "23.04")),
    charge(1, "EBS:VolumeUsage.gp3", "10", ("0.8", "0.8", "0.8"), PricingUnit="GB-Mo"),
    charge(1, "BoxUsage:p5.48xlarge", "1", ("60", "60", "60"), x_Operation="RunInstances:0002"),
    charge(1, "USE2-BoxUsage:p5en.48xlarge", "48", ("0", "0", "0"), x_Operation="RunInstances:CB"),
    charge(1, "Virtual Machines ND H100 v5", "1", ("98.32",) * 3, ServiceProviderName="Microsoft"),
    charge(1, "USE2-UnusedBox:p5.48xlarge", "1", ("55.04", "55.04", "55.04")),
    charge(1, "BoxUsage:p5.48xlarge", "-24", ("-1320.96", "-1320.96", "-1320.96"), ChargeClass="Correction"),
    charge(1, "", "", ("0", "0", "77.5"), PricingCategory="Committed", CommitmentDiscountStatus="Unused"),
    charge(1, "", "", ("9", "9", "9"), ChargeCategory="Tax"),
    charge(1, "BoxUsage:p5.48xlarge", "many", ("1", "1", "1")),
    charge(1, "BoxUsage:p5.48xlarge", "1", ("1", "", "1")),
    charge(1, "BoxUsage:p5.48xlarge", "1", ("1", "1", "1"), PricingCategory="Other"),
    charge(1, "Requests", "1", ("5", "5", "5"), ServiceCategory="Storage"),
    charge(1, "USE1-Cluster:ml.p5.48xlarge", "1", ("63", "63", "63"), ServiceCategory="AI and Machine Learning"),
]


def text(charges: list[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, charges[0])
    writer.writeheader()
    writer.writerows(charges)
    return out.getvalue()


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("focus") / "focus.csv"
    file.write_text(text(CHARGES), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def imported(export: Path) -> fleet_file.Imported:
    return fleet_file.read_focus(export)


def test_machines_of_an_export(imported: fleet_file.Imported) -> None:
    """April has 720 hours. p5: 720 hours, at most two at once, so two for half the time; trn1 reserved: 1440 / 720."""
    told = [
        (row["offer"], row["region"], row["option"], str(row["nodes"].normalize()), f"{row['share_of_use']:.10f}")
        for row in imported.lines
    ]

    assert told == [
        ("p5.48xlarge", "us-east-1", "on_demand", "2", "0.5000000000"),
        ("trn1.32xlarge", "us-east-1", "reserved", "2", "1.0000000000"),
        ("trn1.32xlarge", "us-west-2", "spot", "1", "0.1388888889"),
    ]


def test_the_three_costs_stay_apart(imported: fleet_file.Imported) -> None:
    """720 x 55.04 = 39,628.80 at list, less 12 % 34,873.344; 1440 x 21.5 = 30,960 and 1440 x 13.22895 = 19,049.688."""
    p5, reserved, _ = imported.lines
    assert reserved["plan"] is None  # of EC2, and no Savings Plan
    names = ("billed_list_cost", "billed_contracted_cost", "billed_effective_cost", "billed_hours")

    assert [p5[name] for name in names] == [
        Decimal("39628.80"), Decimal("34873.344"), Decimal("34873.344"), Decimal(720),
    ]  # fmt: skip
    assert [reserved[name] for name in names] == [
        Decimal(30960), Decimal(30960), Decimal("19049.688"), Decimal(1440),
    ]  # fmt: skip


def test_an_export_is_longer_than_the_use_of_a_chip(tmp_path: Path) -> None:
    """Two p5 ran for 240 of the 720 hours of which the export has charges of machines. March is not of it."""
    march = {"ChargeClass": "Correction", "ChargePeriodStart": "2026-03-01T00:00:00Z"}
    file = tmp_path / "focus.csv"
    used = [
        charge(2, "BoxUsage:p5.48xlarge", "480", ("26419.20",) * 3),
        *(charge(third, "BoxUsage:m5.large", "240", ("23.04",) * 3) for third in THIRDS),
    ]
    file.write_text(text([*used, charge(1, "BoxUsage:p5.48xlarge", "-1", ("-1",) * 3, **march)]), encoding="utf-8")

    (line,) = fleet_file.read_focus(file).lines
    assert (line["nodes"], f"{line['share_of_use']:.10f}") == (2, "0.3333333333")


def test_a_large_bill(tmp_path: Path) -> None:
    """10,000 machines for ten days are 132,096,000 USD: no amount of a bill is too large. Its name is no pattern."""
    file = tmp_path / "focus[1].csv"
    (tmp_path / "focus1.csv").write_text(text(CHARGES), encoding="utf-8")
    file.write_text(text([charge(1, "BoxUsage:p5.48xlarge", "2400000", ("132096000",) * 3)]), encoding="utf-8")

    assert fleet_file.read_focus(file).lines[0]["billed_list_cost"] == 132_096_000


def test_quotes_that_come_late(tmp_path: Path) -> None:
    """A cell is quoted where it needs to be, be it after 21,000 lines without a quote."""
    line = {"BillingCurrency": "USD", "Tags": ""}
    whole = text([line | charge(1, "BoxUsage:p5.48xlarge", "1", ("55.04",) * 3)])
    file = tmp_path / "focus.csv"
    late = charge(1, "BoxUsage:p5.48xlarge", "2", ("110.08",) * 3, Tags='{"team": "a, b"}')
    file.write_text(
        whole + whole.partition("\n")[2] * 21_000 + text([line | late]).partition("\n")[2], encoding="utf-8"
    )

    assert fleet_file.read_focus(file).lines[0]["billed_hours"] == 21_003


def test_what_was_not_read(imported: fleet_file.Imported) -> None:
    """Every other charge is counted by its reason, with its costs: 6 of 20 are in lines, 14 here."""
    told = {row["reason"]: (row["n_charges"], row["effective_cost"]) for row in imported.left_out}

    assert told == {
        "a machine without accelerators": (1, Decimal("23.04")),
        "no hours of a machine of shared tenancy: storage, transfer, hosts and the like": (1, Decimal("0.8")),
        "not stated to be plain Linux": (1, Decimal(60)),
        "hours within a Capacity Block, which is paid as a purchase": (1, Decimal(0)),
        "of Microsoft, not of AWS": (1, Decimal("98.32")),
        "the unused part of a capacity reservation, paid as on demand": (1, Decimal("55.04")),
        "a correction of an earlier bill": (1, Decimal("-1320.96")),
        "the unused part of a commitment, which names no machine": (1, Decimal("77.5")),
        "no usage: a purchase, tax, credit or adjustment": (1, Decimal(9)),
        "its quantity is no number above 0": (1, Decimal(1)),
        "a cost is no number": (1, Decimal(1)),
        "how it was bought is not known": (1, Decimal(1)),
        "not of the service category Compute": (1, Decimal(5)),
        "hours of a machine of SageMaker, whatever its kind": (1, Decimal(63)),
    }


def test_focus_1_0_and_parquet(export: Path, imported: fleet_file.Imported, tmp_path: Path) -> None:
    """The older column names and Parquet give the same; so does a bill in several files, none of which counts twice."""
    file, rest = tmp_path / "focus.parquet", tmp_path / "rest.csv"
    with duckdb.connect() as con:
        con.execute(
            'copy (select * exclude (ServiceProviderName, SkuMeter, ListCost), ListCost as "list""cost", '
            'ServiceProviderName as "ProviderName", '
            f"SkuMeter as \"x_UsageType\" from read_csv('{export}', all_varchar = true) limit 5) to '{file}'"
        )
    rest.write_text(text(CHARGES[5:]), encoding="utf-8")

    assert fleet_file.read_focus(file, rest) == imported
    with pytest.raises(ChipledgerError, match="twice"):
        fleet_file.read_focus(file, rest, rest)
    with pytest.raises(ChipledgerError, match="not a regular file"):  # a pipe can be read once
        fleet_file.read_focus(tmp_path)


def detailed(costs: tuple[str, str, str], *, details: str = "", **others: str) -> dict[str, str]:
    """Return 24 hours of a p5 whose meter is no usage type, as of a bill that another tool made of AWS's."""
    said = details or '{"InstanceType": "p5.48xlarge", "CoreCount": 192, "OperatingSystem": "Linux"}'
    same = {"x_Operation": "", "CapacityReservationStatus": "", "SkuPriceDetails": said}
    return charge(1, "Compute", "24", costs) | same | others


AT_LIST = ("1320.96",) * 3
DETAILED = [
    detailed(AT_LIST, CapacityReservationStatus="Used"),
    detailed(("1320.96", "1320.96", "990.72"), **RESERVED),
    detailed(("1320.96", "396.288", "396.288"), PricingCategory="Dynamic"),
    # not read
    detailed(AT_LIST, CapacityReservationStatus="Unused"),
    detailed(("0",) * 3),  # within a Capacity Block, and nothing says so
    detailed(AT_LIST, details='{"InstanceType": "p5.48xlarge", "OperatingSystem": "RHEL"}'),
    detailed(AT_LIST, details='{"InstanceType": "p5.48xlarge"}'),
    detailed(AT_LIST, details='{"InstanceType": "ml.p5.48xlarge", "OperatingSystem": "Linux"}'),
    detailed(("1",) * 3, SkuMeter="EBSOptimized:p5.48xlarge"),
    detailed(AT_LIST, details="", SkuMeter="BoxUsage:p5.48xlarge", SkuPriceDetails=""),
]
"""24 x 55.04 = 1320.96. FOCUS has InstanceType and OperatingSystem among the keys of SkuPriceDetails since 1.2
(https://focus.finops.org/focus-specification/v1-2/, accessed on 2026-11-28)."""


@pytest.mark.parametrize("kind", ["JSON in CSV", "a map in Parquet", "a map as Athena writes it"])
def test_a_machine_that_the_details_of_its_price_name(tmp_path: Path, kind: str) -> None:
    """It counts where they say all that a usage type and an operation do; what they leave open is counted apart."""
    file = written(tmp_path / "focus.csv", DETAILED)
    if kind == "a map in Parquet":
        map_of_texts = "SkuPriceDetails::JSON::MAP(VARCHAR, VARCHAR) as SkuPriceDetails"
        read = f"select * replace ({map_of_texts}) from read_csv('{file}', all_varchar = true)"
        file = tmp_path / "focus.parquet"
        duckdb.sql(f"copy ({read}) to '{file}'")
    elif kind == "a map as Athena writes it":
        maps = [line["SkuPriceDetails"].replace('": ', "=").replace('"', "") for line in DETAILED]
        written(file, [line | {"SkuPriceDetails": text} for line, text in zip(DETAILED, maps, strict=True)])
    found = fleet_file.read_focus(file)

    told = [(row["offer"], row["option"], row["billed_hours"], row["billed_effective_cost"]) for row in found.lines]
    assert told == [
        ("p5.48xlarge", "on_demand", 24, Decimal("1320.96")),
        ("p5.48xlarge", "reserved", 24, Decimal("990.72")),
        ("p5.48xlarge", "spot", 24, Decimal("396.288")),
    ]
    assert {row["reason"]: row["n_charges"] for row in found.left_out} == {
        "the unused part of a capacity reservation, paid as on demand": 1,
        "its list cost is 0, as within a Capacity Block": 1,
        "not stated to be plain Linux": 3,
        "no hours of a machine of shared tenancy: storage, transfer, hosts and the like": 2,
    }


LINES = text(CHARGES[:2]).replace("\r\n", "\n")
WIDER = text([line | {"Tags": "x"} for line in CHARGES[1:3]]).replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (LINES + WIDER, "Line: 4 Expected Number of Columns: 18 Found: 19"),
        (LINES + WIDER + WIDER.partition("\n")[2] * 9, "Line: 4 Expected Number of Columns: 18 Found: 19"),
        (WIDER + LINES, "Line: 4 Expected Number of Columns: 19 Found: 18"),
        (LINES + "Total,39628.80\n", "Line: 4 Expected Number of Columns: 18 Found: 2"),
        (LINES.replace("\n", "\r\n") + "\n", "its lines ended alike"),
    ],
)
def test_lines_that_are_none_of_the_first_ones_table(tmp_path: Path, body: str, message: str) -> None:
    """Two exports one after the other in one file, of other columns: no charge of either is passed over in silence."""
    file = tmp_path / "focus.csv"
    file.write_bytes(body.encode())

    with pytest.raises(ChipledgerError, match=message):
        fleet_file.read_focus(file)


@pytest.mark.parametrize(
    "body",
    [
        LINES + "\n\n",
        LINES.replace("\n", "\r\n") + "\r\n",
        "\ufeff" + LINES.rstrip("\n"),
        LINES.replace(",", ";"),
        text([line | {"resourceTags/user:Name": "a", "resourceTags/user:name": "b"} for line in CHARGES[:2]]),
    ],
)
def test_how_a_csv_may_be_written(tmp_path: Path, body: str) -> None:
    """Blank lines at its end, a mark of its encoding before it, semicolons, tags whose names differ in case."""
    file = tmp_path / "focus.csv"
    file.write_bytes(body.encode())

    assert fleet_file.read_focus(file).lines[0]["billed_hours"] == 720


CUR = {
    "bill/BillingEntity": "AWS", "lineItem/ProductCode": "AmazonEC2", "lineItem/LineItemType": "Usage",
    "lineItem/UsageStartDate": "2026-04-01T00:00:00Z", "lineItem/UsageEndDate": "2026-04-11T00:00:00Z",
    "product/regionCode": "us-east-1", "lineItem/UsageType": "BoxUsage:p5.48xlarge",
    "lineItem/Operation": "RunInstances", "lineItem/UsageAmount": "240", "pricing/unit": "Hrs",
    "pricing/publicOnDemandCost": "13209.60", "lineItem/UnblendedCost": "13209.60",
    "lineItem/NetUnblendedCost": "11624.448", "lineItem/CurrencyCode": "USD", "reservation/EffectiveCost": "0",
    "savingsPlan/SavingsPlanEffectiveCost": "0", "savingsPlan/OfferingType": "", "savingsPlan/PurchaseTerm": "",
    "savingsPlan/PaymentOption": "", "savingsPlan/EndTime": "", "pricing/LeaseContractLength": "",
    "pricing/PurchaseOption": "", "pricing/OfferingClass": "",
}  # fmt: skip
"""A p5 for 240 hours at 55.04, and 12 % less as agreed, in the names of the former Cost and Usage Report."""
RESERVED_FEE = {"lineItem/LineItemType": "RIFee", "lineItem/UsageType": "HeavyUsage:p5.48xlarge"}
PLANNED = {
    "lineItem/LineItemType": "SavingsPlanCoveredUsage", "savingsPlan/OfferingType": "ComputeSavingsPlans",
    "savingsPlan/SavingsPlanEffectiveCost": "10402.56", "savingsPlan/PurchaseTerm": "1yr",
    "savingsPlan/PaymentOption": "No Upfront", "savingsPlan/EndTime": "2027-04-01T00:00:00.000Z",
}  # fmt: skip
CUR_LINES = [
    CUR, CUR | PLANNED, CUR | {"lineItem/LineItemType": "SavingsPlanNegation"}, CUR | RESERVED_FEE,
    CUR | {"lineItem/LineItemType": "DiscountedUsage", "lineItem/UnblendedCost": "0", "lineItem/NetUnblendedCost": "0",
           "reservation/EffectiveCost": "5706.552", "pricing/LeaseContractLength": "3yr",
           "pricing/PurchaseOption": "All Upfront", "pricing/OfferingClass": "standard"},
    CUR | {"lineItem/UsageType": "USE2-SpotUsage:p5.48xlarge", "lineItem/Operation": "RunInstances:SV052"},
    CUR | {"lineItem/LineItemType": "EdpDiscount", "lineItem/UnblendedCost": "-1585.152"},
]  # fmt: skip


@pytest.mark.parametrize("is_former", [True, False])
def test_a_cost_and_usage_report(tmp_path: Path, is_former: bool) -> None:
    """What ran counts once; what covers it is paid by the hour. What reserved machines cost on demand is not in it."""
    names = {name: re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).replace("/", "_").lower() for name in CUR}
    file = tmp_path / "cur.csv"
    file.write_text(
        text([{name if is_former else names[name]: cell for name, cell in line.items()} for line in CUR_LINES]),
        encoding="utf-8",
    )
    found = fleet_file.read_focus(file)
    costs = ("billed_list_cost", "billed_contracted_cost", "billed_effective_cost")
    terms = ("plan", "term", "payment", "offering_class", "commitment_end")
    told = [(row["option"], *(row[name] and f"{row[name]:.3f}" for name in costs)) for row in found.lines]

    assert told == [
        ("on_demand", "13209.600", "11624.448", "11624.448"),
        ("reserved", "13209.600", None, "5706.552"),
        ("savings_plan", "13209.600", "11624.448", "10402.560"),
        ("spot", "13209.600", "11624.448", "11624.448"),
    ]
    assert [tuple(row[name] for name in terms) for row in found.lines] == [
        (None,) * 5,
        (None, "3yr", "All Upfront", "standard", None),
        ("Compute", "1yr", "No Upfront", None, date(2027, 3, 31)),
        (None,) * 5,
    ]  # fmt: skip
    assert {(row["provider"], row["nodes"], row["billed_hours"]) for row in found.lines} == {("AWS", 1, 240)}
    assert [(row["reason"], row["n_charges"]) for row in found.left_out] == [
        ("no usage: a purchase, tax, credit or adjustment", 3)
    ]


def test_a_month_delivered_twice(tmp_path: Path) -> None:
    """A later delivery holds the hours of the former, and some more: one machine has no 48 hours a day."""
    one = {"ResourceId": "i-1", "ChargePeriodEnd": "2026-04-02T00:00:00Z"}
    day = charge(1, "BoxUsage:p5.48xlarge", "24", ("1320.96",) * 3, **one)
    next_day = day | {"ChargePeriodStart": "2026-04-02T00:00:00Z", "ChargePeriodEnd": "2026-04-03T00:00:00Z"}
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text(text([day]), encoding="utf-8")
    second.write_text(text([day, next_day, next_day | {"ResourceId": "i-2"}]), encoding="utf-8")

    assert fleet_file.read_focus(second).lines[0]["billed_hours"] == 72
    with pytest.raises(ChipledgerError, match=r"twice.*one delivery of each month"):
        fleet_file.read_focus(first, second)


def written(file: Path, charges: list[dict[str, str]]) -> Path:
    if file.suffix == ".csv":
        file.write_text(text(charges), encoding="utf-8")
    else:
        duckdb.sql(
            f"copy (from read_csv('{written(file.with_suffix('.csv'), charges)}', all_varchar = true)) to '{file}'"
        )
    return file


HALF_A_DAY = [
    charge(1, "BoxUsage:p5.48xlarge", "1", ("55.04",) * 3, ResourceId="i-1")
    | {"ChargePeriodStart": f"2026-04-01T{hour:02}:00:00Z", "ChargePeriodEnd": f"2026-04-01T{hour + 1:02}:00:00Z"}
    for hour in range(12)
]
CORRECTED = {"ContractedCost": "50", "EffectiveCost": "50"}


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (CHARGES, CHARGES[::-1]),
        (CHARGES, [line | CORRECTED for line in CHARGES[:3]]),
        (HALF_A_DAY, [line | CORRECTED for line in HALF_A_DAY[6:]]),
        (HALF_A_DAY, [line | RESERVED for line in HALF_A_DAY]),
    ],
)
def test_a_bill_given_again(tmp_path: Path, first: list[dict[str, str]], again: list[dict[str, str]]) -> None:
    """In another format or order, in part, corrected, or put under a commitment since: no hour counts twice."""
    files = [written(tmp_path / "a.parquet", first), written(tmp_path / "b.csv", again)]

    assert all(fleet_file.read_focus(file).lines for file in files)
    with pytest.raises(ChipledgerError, match=r"twice.*one delivery of each month"):
        fleet_file.read_focus(*files)


@pytest.mark.parametrize(("hour", "is_named"), [(0, True), (23, True), (23, False)])
def test_a_month_by_the_hour_and_by_the_day(tmp_path: Path, hour: int, is_named: bool) -> None:
    """An hour is within the day of another export; without names of machines too. Another account's or day's is not."""
    resource = {"ResourceId": "i-1"} if is_named else {"SubAccountId": "1"}
    one = charge(1, "BoxUsage:p5.48xlarge", "1", ("55.04",) * 3, **resource)
    day = one | {"ChargePeriodStart": "2026-04-01T00:00:00Z", "ChargePeriodEnd": "2026-04-02T00:00:00Z"}
    begins = {"ChargePeriodStart": f"2026-04-01T{hour:02}:00:00Z"}
    ends = {"ChargePeriodEnd": f"2026-04-01T{hour + 1:02}:00:00Z" if hour < 23 else "2026-04-02T00:00:00Z"}
    other = dict.fromkeys(resource, "other")
    later = {"ChargePeriodStart": "2026-04-02T00:00:00Z", "ChargePeriodEnd": "2026-04-02T01:00:00Z"}
    daily, hourly = written(tmp_path / "a.csv", [day]), written(tmp_path / "b.csv", [one | begins | ends])
    apart = written(tmp_path / "c.csv", [one | begins | ends | other, one | later])

    assert fleet_file.read_focus(daily, apart).lines[0]["billed_hours"] == 3
    for files in ((daily, hourly), (hourly, daily)):
        with pytest.raises(ChipledgerError, match=r"twice.*by the hour or by the day"):
            fleet_file.read_focus(*files)


@pytest.mark.parametrize("hours", [1, 24])
def test_a_month_with_names_of_machines_and_without(tmp_path: Path, hours: int) -> None:
    """What names no machine is the sum of those that another export of the month names; not of another month."""
    ends = {1: "2026-04-01T01:00:00Z", 24: "2026-04-02T00:00:00Z"}[hours]
    one = charge(1, "BoxUsage:p5.48xlarge", str(hours), ("55.04",) * 3, ChargePeriodEnd=ends)
    before = one | {"ChargePeriodStart": "2026-03-31T00:00:00Z", "ChargePeriodEnd": f"2026-03-31T{hours - 1:02}:59:59Z"}
    named = written(tmp_path / "a.csv", [line | {"ResourceId": "i-1"} for line in HALF_A_DAY])
    other = written(tmp_path / "b.csv", [before])
    same = written(tmp_path / "c.csv", [one | {"ResourceId": ""}])

    assert fleet_file.read_focus(named, other).lines[0]["billed_hours"] == 12 + hours
    for files in ((named, same), (same, named)):
        with pytest.raises(ChipledgerError, match=r"twice.*with ResourceId or without"):
            fleet_file.read_focus(*files)


@pytest.mark.parametrize("wrong", ["0226-04-01", "226-04-01", "2016-04-01", "2126-04-01"])
@pytest.mark.parametrize("machine", ["p5.48xlarge", "m5.large"])
def test_a_period_that_cannot_be(tmp_path: Path, wrong: str, machine: str) -> None:
    """A charge is of a month at most: a year that lacks a digit leaves the hours of the export as they are."""
    odd = charge(1, f"BoxUsage:{machine}", "1", ("55.04",) * 3, ChargePeriodStart=f"{wrong}T00:00:00Z")
    if wrong.startswith("2126"):
        odd |= {"ChargePeriodEnd": "2126-04-02T00:00:00Z"}
    file = written(tmp_path / "focus.csv", [odd, *CHARGES[:6]])

    found = fleet_file.read_focus(file)

    assert [str(row["nodes"].normalize()) for row in found.lines] == ["2", "2", "1"]
    assert [row["n_charges"] for row in found.left_out] == [1]


FOREIGN = {"ServiceProviderName": "Microsoft", "BillingCurrency": "EUR"}


def test_a_bill_of_another_provider(tmp_path: Path) -> None:
    """Its name and its cost are said, also where it lacks the columns that AWS adds, and beside AWS's own."""
    azure = [charge(1, "ND H100 v5", "1", ("98.32",) * 3, **FOREIGN)] * 2
    whole = written(tmp_path / "azure.csv", azure)
    of_before = written(tmp_path / "former.csv", [{k: v for k, v in row.items() if k != "SkuMeter"} for row in azure])
    aws = written(tmp_path / "aws.csv", CHARGES[:1])

    for file in (whole, of_before):
        with pytest.raises(ChipledgerError, match=r"2 charges of 196\.64 EUR: of Microsoft, not of AWS"):
            fleet_file.write(fleet_file.read_focus(file), tmp_path / "fleet.csv", label="x", force=False)
        both = fleet_file.read_focus(aws, file)
        assert [row["offer"] for row in both.lines] == ["p5.48xlarge"]
        (left_out,) = both.left_out
        assert (left_out["effective_cost"], left_out["billing_currency"]) == (Decimal("196.64"), "EUR")


@pytest.mark.parametrize("column", ["SubAccountId", "AvailabilityZone", "Tags", "CommitmentDiscountId", "ResourceId"])
def test_charges_of_one_bill_that_are_alike(tmp_path: Path, column: str) -> None:
    """Two teams run a machine each for the same hours, and a bill in parts names them in two files."""
    files = [written(tmp_path / f"{one}.csv", [CHARGES[1] | {column: one}]) for one in ("a", "b")]

    assert fleet_file.read_focus(*files).lines[0]["billed_hours"] == 480


def test_a_former_report_of_spot(tmp_path: Path) -> None:
    """Reports had product/region before product/regionCode, and need not say what spot would cost on demand.

    A list cost that one charge lacks is unknown, and not the sum of the others.
    """
    spot = CUR | {"lineItem/UsageType": "SpotUsage:p5.48xlarge", "lineItem/Operation": "RunInstances:SV052"}
    later = {"lineItem/UsageStartDate": "2026-04-11T00:00:00Z", "lineItem/UsageEndDate": "2026-04-21T00:00:00Z"}
    lines = [spot, spot | {"pricing/publicOnDemandCost": ""}, spot | later]
    file = tmp_path / "cur.csv"
    file.write_text(text(lines).replace("product/regionCode", "product/region"), encoding="utf-8")
    found = fleet_file.read_focus(file)

    assert [
        (row["region"], row["billed_hours"], row["billed_list_cost"], row["billed_effective_cost"])
        for row in found.lines
    ] == [("us-east-1", 720, None, Decimal("34873.344"))]
    assert found.left_out == []


def test_the_command_writes_a_fleet(export: Path, tmp_path: Path) -> None:
    """The file is a fleet, its owner's alone, and is not written over unasked; what was not read is told."""
    out = tmp_path / "fleet.csv"
    words = ["fleet", "import", str(export), "--out", str(out)]
    result = CliRunner().invoke(main.main, [*words, "--json"])

    assert result.exit_code == 0
    assert out.stat().st_mode & 0o777 == 0o600
    out.chmod(0o644)  # what takes its place is its owner's all the same
    assert len(json.loads(result.stdout)["left_out"]) == 14
    narrow, wide = (CliRunner().invoke(main.main, [*words, "--replace", *more]).stdout for more in ([], ["--wide"]))
    assert "billed_list_cost" in wide
    assert all(reason in text for text in (narrow, wide) for reason in ("billed", "a correction of an earlier bill"))
    assert out.stat().st_mode & 0o777 == 0o600
    lines = fleet_file.read("fleet.csv", out.read_bytes(), NAMES)
    assert [(each.offer, each.purchase_option, int(each.nodes)) for each in lines] == [
        ("p5.48xlarge", "on_demand", 2), ("trn1.32xlarge", "reserved", 2), ("trn1.32xlarge", "spot", 1),
    ]  # fmt: skip
    assert lines[0].billed_effective_cost == Decimal("34873.344")
    again = CliRunner().invoke(main.main, words)
    assert (again.exit_code, "is there already" in again.output) == (1, True)
    assert CliRunner().invoke(main.main, [*words, "--replace"]).exit_code == 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a,b\n1,2\n", "no bill of AWS in columns of FOCUS or CUR"),
        ("", "no bill of AWS in columns of FOCUS"),
        ("\n", "no bill of AWS in columns of FOCUS"),
        pytest.param("a" * 200_000, "cannot be read.*field larger than", id="one cell"),
        ("line_item_usage_type,pricing_unit\nx,Hrs\n", "value bill_billing_entity, line_item_product_code"),
        (text([CHARGES[0] | {"Tags": "B\udcfcro"}]), "Line: 2 Invalid unicode"),
        (text([CHARGES[-1]]), r"no hours of a machine with acc.*1 charge of 63 USD: hours of a machine of SageMaker"),
    ],
)
def test_no_export(tmp_path: Path, body: str, message: str) -> None:
    file = tmp_path / "focus.csv"
    file.write_text(body, encoding="utf-8", errors="surrogateescape")

    with pytest.raises(ChipledgerError, match=message):
        fleet_file.write(fleet_file.read_focus(file), tmp_path / "fleet.csv", label="x", force=False)
