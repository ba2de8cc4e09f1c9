"""Each truth check bites on a planted fault of its kind, holds where there is none, and is not made on nothing."""

import csv
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from looks import ParsedFetch, Row, day, row
from published import query
from purchase import said, spot
from scripts import script
from truth_file import (
    MONTH_HOURS,
    NOW,
    RATE,
    TWELVE,
    Outcome,
    at,
    cloud,
    days_of,
    outcomes,
    plan,
    published,
    reserved,
)

from warehouse.log.events import naive

Case = tuple[str, list[ParsedFetch], list[ParsedFetch]]


def capability(count: str) -> dict[str, object]:
    """Return EC2's answer of a type that no other case has, with so many chips."""
    return {"region_id": "north", "instance_type": "p4d.24xlarge", "api_accelerator_count": Decimal(count)}


CASES: dict[str, Case] = {
    "two sources tell one offer": (
        "two_sources",
        [at(39, cloud("a", "20")), at(40, cloud("a", "20"), source="cloud_api")],
        [at(39, cloud("a", "20")), at(40, cloud("a", "21"), source="cloud_api")],
    ),
    "a page and an API under other names": (
        "another_reading",
        [at(39, cloud("a", "20"), cloud("b", "12", 4)), at(40, cloud("x", "10", 4), source="cloud_api")],
        [at(39, cloud("a", "20"), cloud("b", "12", 4)), at(40, cloud("x", "1.25", 4), source="cloud_api")],
    ),
    "a reseller far from the host's own list": (
        "resold",
        [at(40, cloud("a", "20")), at(40, cloud("r", "24", service_provider_name="Reseller",
                                                host_provider_name="cloud-ai"), source="reseller")],
        [at(40, cloud("a", "20")), at(40, cloud("r", "2.5", service_provider_name="Reseller",
                                                host_provider_name="cloud-ai"), source="reseller")],
    ),
    "an offer vanishes and is back the next day": (
        "came_back",
        days_of(*TWELVE),
        [at(37, *TWELVE), at(38, *TWELVE), at(39, *TWELVE[1:]), at(40, *TWELVE)],
    ),
    "a sixth of the offers is gone": (
        "still_seen",
        days_of(*TWELVE),
        [*days_of(*TWELVE, days=(38, 39)), at(40, *TWELVE[2:])],
    ),
    "regions under other names": (
        "still_seen",
        days_of(*TWELVE),
        [*days_of(*TWELVE, days=(38, 39)), at(40, *(one | {"region_id": f"new {one['region_id']}"} for one in TWELVE))],
    ),
    "nobody looked for three days": (
        "daily_fetches",
        days_of(*TWELVE, source="market"),
        days_of(*TWELVE, source="market", days=(36, 39, 40)),
    ),
    "a source stopped while others went on": (
        "daily_fetches",
        [*days_of(*TWELVE), *days_of(cloud("x", "20"), source="reseller")],
        [*days_of(*TWELVE), *days_of(cloud("x", "20"), source="reseller", days=(36, 37))],
    ),
    "a look with half as many rows again": (
        "rows_of_a_fetch",
        days_of(*TWELVE),
        [*days_of(*TWELVE[:8], days=(37, 38, 39)), at(40, *TWELVE)],
    ),
    "a size costs ten times as much a chip": (
        "sizes_agree",
        [at(40, cloud("a", "20"), cloud("b", "2.6", 1))],
        [at(40, cloud("a", "20"), cloud("b", "26", 1))],
    ),
    "the small P type is read as the large one": (
        "training_sizes_agree",
        [at(40, row("p5.48xlarge", "55.04"), row("p5.4xlarge", "6.88"), source="aws_price_list")],
        [at(40, row("p5.48xlarge", "55.04"), row("p5.4xlarge", "7.88"), source="aws_price_list")],
    ),
    "EC2 answers half the chips of a type": (
        "chip_count",
        [said(40, "aws_instance_types", "instance_capability", capability("8"))],
        [said(40, "aws_instance_types", "instance_capability", capability("4"))],
    ),
    "one region costs three times as much": (
        "regions_agree",
        [at(40, *(cloud("a", "20", region_id=each) for each in "abcd"))],
        [at(40, *(cloud("a", "60" if each == "d" else "20", region_id=each) for each in "abcd"))],
    ),
    "a price of the machine as that of a chip": (
        "unit_factor",
        [at(40, cloud("a", "20"), cloud("b", "2.6", 1))],
        [at(40, cloud("a", "20"), cloud("b", "20", 1))],
    ),
    "a month's price as an hour's": (
        "month_and_hour",
        [at(40, cloud("a", "20"), cloud("a", str(14 * MONTH_HOURS), pricing_unit="Months"))],
        [at(40, cloud("a", "20"), cloud("a", str(28 * MONTH_HOURS), pricing_unit="Months"))],
    ),
    "one machine under two spellings of its chip": (
        "told_twice",
        [at(40, cloud("a", "20"), cloud("b", "20"))],
        [at(40, cloud("a", "20"), cloud("a", "20", accelerator_label="H100 SXM"))],
    ),
    "spot dearer than on demand": (
        "spot_below_on_demand",
        [at(40, row("p5.48xlarge", "55"), spot("p5.48xlarge", "use1-az1", "20"),
            spot("p5.48xlarge", "use1-atl2-az1", "56"), source="aws_price_list")],
        [at(40, row("p5.48xlarge", "55"), spot("p5.48xlarge", "use1-az1", "56"), source="aws_price_list")],
    ),
    "a commitment dearer than none": (
        "commitment_below_on_demand",
        [at(40, row("p5.48xlarge", "55"), reserved("40"), source="aws_price_list")],
        [at(40, row("p5.48xlarge", "55"), reserved("60"), source="aws_price_list")],
    ),
    "three years dearer than one": (
        "longer_is_cheaper",
        [at(40, reserved("40"), reserved("30", 26280), source="aws_price_list")],
        [at(40, reserved("30"), reserved("40", 26280), source="aws_price_list")],
    ),
    "an upfront fee of three years over one": (
        "paid_earlier_is_cheaper",
        [at(40, reserved("40"), reserved("19", payment="Partial Upfront", upfront=str(19 * 8760)),
            source="aws_price_list")],
        [at(40, reserved("40"), reserved("19", payment="Partial Upfront", upfront=str(19 * 26280)),
            source="aws_price_list")],
    ),
    "an EC2 Instance plan of another price than standard Reserved": (
        "plan_like_reserved",
        [at(40, reserved("40"), plan("40.3"), source="aws_price_list")],
        [at(40, reserved("40"), plan("41"), source="aws_price_list")],
    ),
    "a Compute plan of another price than convertible Reserved": (
        "plan_like_reserved",
        [at(40, reserved("40"), reserved("44", offering_class="convertible"),
            plan("43.8", commitment_discount_type="Compute"), source="aws_price_list")],
        [at(40, reserved("40"), reserved("44", offering_class="convertible"),
            plan("40", commitment_discount_type="Compute"), source="aws_price_list")],
    ),
    "euros in the column of dollars": (
        "two_currencies",
        [said(NOW, "ecb_rates", "fx_rate", RATE),
         at(40, cloud("a", "20"), cloud("a", "16.5", pricing_currency="EUR", region_id="south"))],
        [said(NOW, "ecb_rates", "fx_rate", RATE),
         at(40, cloud("a", "20"), cloud("a", "24", pricing_currency="EUR", region_id="south"))],
    ),
    "an H100 for a cent": (
        "plausible_price",
        [at(40, cloud("a", "20"))],
        [at(40, cloud("a", "0.08"))],
    ),
}  # fmt: skip


SOURCE = {"nobody looked for three days": "market", "a source stopped while others went on": "reseller"}
"""Of which source a case is, where its check is of whole sources. All cases stand in one file, each with a provider, a
region and scopes of its own.
"""


def moved(number: int, looks: Sequence[ParsedFetch]) -> list[ParsedFetch]:
    """Return the looks of a case with its number in provider, host, region, scope and document."""
    mark = pl.lit(f" {number}")
    provider = pl.col("service_provider_name")
    return [
        each
        if "fx_rate" in each.facts
        else replace(
            each, scope=f"case {number}", document_sha256=f"{each.document_sha256} {number}",
            rows=each.rows.with_columns(
                service_provider_name=pl.when(provider == "AWS").then(provider).otherwise(provider + mark),
                host_provider_name=pl.col("host_provider_name").str.replace("cloud-ai", f"cloud {number}-ai"),
                region_id=pl.when(provider == "AWS").then(pl.lit(f"region-{number}")).otherwise(pl.col("region_id")),
                document_sha256=pl.col("document_sha256") + mark,
            ),
        )
        for each in looks
    ]  # fmt: skip


def world(place: int) -> list[ParsedFetch]:
    """Return the looks of all cases, well (1) or ill (2), the oldest first."""
    cases = [moved(n, case[place]) for n, case in enumerate(CASES.values())]
    return sorted((each for looks in cases for each in looks), key=lambda each: each.observed_at)


@pytest.fixture(scope="module")
def well(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file in which all is well."""
    return published(tmp_path_factory.mktemp("well"), world(1))


@pytest.fixture(scope="module")
def ill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with every fault."""
    return published(tmp_path_factory.mktemp("ill"), world(2))


def bites(found: list[Outcome], name: str) -> None:
    """Hold that one subject differs, with the worst case in words and something to do."""
    (worst,) = [each for each in found if each["result"] == "differs" and is_of(name, each)]
    assert worst["example"]
    assert worst["advice"]
    assert worst["n_differing"] <= worst["n_compared"]  # type: ignore[operator]
    assert worst["reason"] is None
    assert not worst["limit_low"] <= worst["checked_value"] <= worst["limit_high"]  # type: ignore[operator]
    assert worst["newest_differing_at"] is not None
    assert worst["checked_at"] == naive(day(NOW + 0.1))


def is_of(name: str, found: Outcome) -> bool:
    """Say whether a subject is one of a case: its source, provider or scope, or AWS or a chip, in which it has part."""
    subject = str(found["subject"])
    if name in SOURCE:
        return subject == SOURCE[name]
    return subject in ("AWS", "H100") or subject.split(":")[0].endswith(f" {[*CASES].index(name)}")


@pytest.mark.parametrize("name", CASES)
def test_a_check_holds(name: str, well: Path) -> None:
    """Of every case where there is no fault, and of all others beside it."""
    found = outcomes(well, CASES[name][0])
    assert {each["result"] for each in found if is_of(name, each)} == {"holds"}
    assert "differs" not in {each["result"] for each in found}


@pytest.mark.parametrize("name", CASES)
def test_a_check_bites(name: str, ill: Path) -> None:
    """On the fault that was planted for it."""
    bites(outcomes(ill, CASES[name][0]), name)


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file without a price."""
    yield published(tmp_path_factory.mktemp("nothing"), [])


def test_what_has_nothing_to_compare_is_not_checked(nothing: Path) -> None:
    """Every check stands there, as not checked, with the reason; none holds on nothing."""
    found = query(nothing, "select check_name, result, reason, n_compared, subject from int.truth_check")
    rules = query(nothing, "select check_name, nothing_to_compare from ref.truth_rule")
    assert len(found) == len(rules) > 20
    assert {(name, reason) for name, _, reason, _, _ in found} == set(rules)
    assert {(result, n, subject) for _, result, _, n, subject in found} == {("not_checked", 0, "all")}


def test_every_check_has_a_case(nothing: Path) -> None:
    """No check that was never seen to bite."""
    rules = {name for (name,) in query(nothing, "select check_name from ref.truth_rule")}
    tested = {check for check, *_ in CASES.values()}
    assert rules - tested == {
        "two_doors", "refused_rows_add_up", "accepted_rows_add_up", "events_are_changes", "generation",
    }  # fmt: skip


def test_every_pair_that_is_judged_is_shown(ill: Path) -> None:
    """The pairs of each check and subject are those that were compared, and of the worst one stands its ratio."""
    pairs = "from int.truth_order union all by name from int.truth_unit union all by name from int.truth_elsewhere"
    shown = query(ill, f"select check_name, subject, count(*) from ({pairs}) group by all order by all")
    judged = query(ill, "select check_name, subject, n_compared from int.truth_ratio order by all")
    ((n_worst,),) = query(
        ill,
        f"select count(distinct (check_name, subject)) from ({pairs}) as p semi join int.truth_check as c "
        "on p.check_name = c.check_name and p.subject = c.subject and p.ratio = c.checked_value",
    )

    assert len({name for name, *_ in judged}) == 11
    assert shown == judged
    assert n_worst == len(judged)


def test_differing_withholds_no_price(ill: Path) -> None:
    """It is said aloud, and the price stands."""
    prices = query(ill, "select unit_price from core.current_price where unit_price < 0.1")
    assert prices == [(Decimal("0.08"),)]


@pytest.mark.prove
def test_publishing_twice_gives_the_same_checks(ill: Path, tmp_path: Path) -> None:
    """Ties are broken by the offers' ids, and not by luck."""
    again = published(tmp_path, world(2))
    first, second = (query(file, "from int.truth_check") for file in (ill, again))
    assert len(first) > 50
    assert first == second


def test_the_page_says_what_each_check_asks(nothing: Path) -> None:
    """The page of truth checks has a row for each, as ref.truth_rule has it."""
    rules = query(
        nothing, "select check_name, check_group, meaning, limit_low, limit_high, unit, advice from ref.truth_rule"
    )
    wanted = [
        f"| `{name}` | {group} | {meaning} | {'by chip' if low is None else f'{low:g} to {high:g}'} {unit} | {advice} |"
        for name, group, meaning, low, high, unit, advice in rules
    ]
    page = script("tools/docs_site.py").truth_rules()
    assert len(wanted) > 20
    assert [line for line in page.splitlines() if line.startswith("| `")] == wanted


SHARES = {"no": ("No Upfront", 0), "partial": ("Partial Upfront", Decimal("0.5")), "all": ("All Upfront", 1)}
"""Ways to pay by their short names in the table of June 2023, and what part is paid at the start."""


def committed(line: dict[str, str], kind: str, years: int, short: str) -> Row:
    """Return a price of the table, which has effective rates: of a Reserved one the hourly part and the fee."""
    hours, rate = years * 8760, Decimal(line[f"{kind}_{years}y_{short}"])
    payment, share = SHARES[short]
    terms = {"commitment_term_hours": hours, "purchase_payment_model": payment}
    if kind.startswith("sp_"):
        plan = {"sp_compute": "Compute", "sp_ec2instance": "EC2Instance"}[kind]
        columns: dict[str, object] = {"purchase_option": "savings_plan", "commitment_discount_type": plan}
        return row(line["instance_type"], f"{rate:.10f}", **terms, **columns)
    columns = {"offering_class": {"ri_std": "standard", "ri_conv": "convertible"}[kind]}
    columns |= {"purchase_option": "reserved", "upfront_price": f"{rate * share * hours:.6f}"}
    return row(line["instance_type"], f"{rate * (1 - share):.10f}", **terms, **columns)


def test_aws_prices_plans_like_reservations(shared: Path, tmp_path: Path) -> None:
    """All 636 pairs of June 2023 in Virginia, 53 types: Compute plans as convertible ones, EC2 Instance as standard."""
    kinds = ("ri_std", "ri_conv", "sp_compute", "sp_ec2instance")
    with (shared / "data/aws2/aws_us_east_1_commitments_202306.csv").open() as file:
        rows = [
            committed(line, *one) for line in csv.DictReader(file) for one in itertools.product(kinds, (1, 3), SHARES)
        ]

    (found,) = outcomes(published(tmp_path, [at(40, *rows, source="aws_price_list")]), "plan_like_reserved")

    assert (found["result"], found["n_compared"], found["n_differing"]) == ("holds", 636, 0)
