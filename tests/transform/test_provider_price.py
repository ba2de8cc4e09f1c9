"""What providers ask beside AWS: which offers stand together, which is the cheapest, and what it is compared with."""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from looks import Row, day, row
from published import records
from purchase import Put, block, plan, putting, said, seen, spot, term

from flows.shared.query import columns

ASKED = ("provider_price", "option_ladder")
NOW = 160
DOCUMENT = Path(__file__).parents[2] / "docs" / "querying.md"
H100 = "NVIDIA H100 SXM5 80GB"
COLUMNS = "cheapest_price_usd", "median_price_usd", "aws_price_usd", "distance_to_aws"


def machine(provider: str, price: str, *, label: str = H100, count: int = 8, **others: object) -> Row:
    """Return the price of a machine of a provider that is not AWS."""
    return row(
        f"{count}x", price, service_provider_name=provider, accelerator_label=label, accelerator_count=str(count),
        **others,
    )  # fmt: skip


def chip(provider: str, price: str, *, label: str = H100, least: int | None = None, **others: object) -> Row:
    """Return the price of one chip, of which at least so many have to be taken."""
    return row(
        None, price, service_provider_name=provider, accelerator_label=label, accelerator_count="1",
        capacity_unit="GPU", minimum_quantity=least and str(least), **others,
    )  # fmt: skip


def market(provider: str, price: str, statistic: str, place: str = "US") -> Row:
    return chip(provider, price, least=1, statistic=statistic, region_id=place)


def stock(provider: str, machines: int | None, place: str = "US", **others: object) -> Row:
    fact = {
        "service_provider_name": provider, "host_provider_name": None, "instance_type": None, "accelerator_label": H100,
        "accelerator_count": None, "region_id": place, "purchase_option": "on_demand", "tier": None,
        "n_machines": machines, "n_accelerators": None, "stock_status": None,
    }  # fmt: skip
    return fact | others


def p5(price: str, **others: object) -> Row:
    return row("p5.48xlarge", price, **others)


AWS = [
    p5("80"), p5("88", region_id="us-west-2"), row("p5.4xlarge", "12"), row("p6-b200.48xlarge", "120"),
    row("g6.xlarge", "0.8"), spot("p5.48xlarge", "use1-az1", "32"), block("p5.48xlarge", "40", None),
    term("p5.48xlarge", "56", "No", "0"), plan("p5.48xlarge", "48"), term("p5.48xlarge", "24", "No", "0", 3),
    # In partitions that need accounts of their own, and of other products.
    p5("8", region_id="cn-north-1"), p5("16", region_id="us-gov-west-1"), p5("24", conditions="Windows"),
    row("ml.p5.48xlarge", "32"),
    # The public feed: cheaper than the zone, of which the price is known.
    p5("24", purchase_option="spot", conditions="region-level, public spot feed"),
    # A median is nobody's price.
    row("g6.12xlarge", "4", statistic="median"),
]  # fmt: skip
"""An H100 at AWS costs 10 in a node, 12 alone, 4 as spot, 5 in a block, 6 for a year and 3 for three."""

COMMITTED: dict[str, dict[str, object]] = {
    "on demand": {},
    "spot": {"purchase_option": "spot"},
    **{f"{hours} h": {"purchase_option": "reserved", "commitment_term_hours": hours}
       for hours in (720, 8760, 17520, 26280, 43800, None)},
}  # fmt: skip
FORMS = ("NVIDIA H100 SXM5 80GB", "NVIDIA H100 PCIe 80GB", "NVIDIA H100 NVL 94GB", "NVIDIA H100")
DIFFERENT: tuple[dict[str, object], ...] = (
    {}, {"purchase_option": "spot"}, {"tier": "community"}, {"statistic": "floor"}, {"fabric": "InfiniBand"},
    {"fabric": "Ethernet"},
    {"purchase_option": "reserved", "commitment_term_hours": 8760},
    {"purchase_option": "savings_plan", "commitment_term_hours": 8760}, {"label": FORMS[1]},
)  # fmt: skip

CURRENT = [
    *AWS,
    chip("slices", "4.2", label="TPU v5p"),
    machine("node", "40"), chip("unsized", "5"), machine("B200", "60", label="B200"),
    machine("L4", "0.4", label="L4", count=1), machine("four L4", "4", label="L4", count=4),
    *(machine(f"form {label}", "40", label=label) for label in FORMS),
    *(machine(f"for {name}", "16", **others) for name, others in COMMITTED.items()),
    *(machine("apart", str(8 * n), **others) for n, others in enumerate(DIFFERENT, start=1)),
    machine("floor", "40", statistic="floor"),
    machine("confidential", "40", tier="confidential computing"), machine("confidential", "48"),
    row(
        "Standard_NCC40ads_H100_v5", "5", service_provider_name="confidential", accelerator_label=FORMS[2],
        accelerator_count="1",
    ),
    machine("left out", "8", restriction="grandfathered", region_id="a"),
    machine("left out", "8", restriction="announced", region_id="b"),
    machine("left out", "8", unit_price_type="Contracted", contract_id="c-1"),
    machine("left out", "8", label="NVIDIA Z9000"), machine("left out", "4", label="H200 20GB", count=1),
    machine("euros", "40", pricing_currency="EUR"), machine("pounds", "40", pricing_currency="GBP"),
    market("market", "2", "p25"), market("market", "3", "median"), market("market", "1.5", "p25", "CA"),
    market("market", "2.5", "median", "CA"), market("market", "0.1", "price"),
    machine("sold out", "40"), machine("sold out", "48", region_id="us-west-2"),
    machine("short", "40"), machine("short", "48", region_id="us-west-2"),
    market("median", "3", "median"),
    machine("both ages", "40"), *(chip(f"read on {at}", "2") for at in (NOW - 31, NOW - 30)),
    *(machine(f"named, read on {at}", "16") for at in (NOW - 31, NOW - 30)),
    *(machine(f"equal, {older} is older", "40", region_id=newer) for older, newer in ("ab", "ba", "cd", "dc")),
]  # fmt: skip
OLD = [
    (40, plan("p5.48xlarge", "8", years=3)),
    (0, machine("both ages", "8", region_id="old")),
    (9, machine("months", "8", region_id="a")), (10, machine("months", "16", region_id="b")),
    (40, machine("months", "32", region_id="c")),
    *((at, machine(f"seen on {at}", "40")) for at in (NOW - 91, NOW - 90, NOW - 1)),
    *((at, chip(f"read on {at}", "1", tier="api", region_id="eu")) for at in (NOW - 31, NOW - 30)),
    *((at, machine(f"named, read on {at}", "8") | {"instance_type": None}) for at in (NOW - 31, NOW - 30)),
    (NOW - 31, machine("Vast.ai", "40")), (NOW - 30, machine("Lium", "40")),
    (NOW - 31, machine("hosts", "40", tier="marketplace")),
    *((NOW - 20, machine(f"equal, {place} is older", "40", region_id=place)) for place in "abcd"),
]  # fmt: skip
RATE = {"pricing_currency": "USD", "rate_date": day(NOW - 3).date(), "units_per_eur": Decimal("1.25")}
SOLD_OUT = {"instance_type": "8x", "accelerator_count": Decimal(8), "stock_status": "shortage"}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a file of all of them, each provider of which is a case of its own."""
    places = (("sold out", "us-east-1"), ("sold out", "us-west-2"), ("short", "us-east-1"))
    sold_out = [stock(name, None, region, **SOLD_OUT) for name, region in places]
    stocks = [stock("market", 3), stock("market", 5, "CA"), stock("market", 99, "JP")]
    with putting(tmp_path_factory.mktemp("market"), asked=ASKED) as put:
        yield put(
            said(NOW, "offline_archive", "fx_rate", RATE),
            said(NOW - 1, "aws_spot", "availability", *stocks),
            said(NOW, "aws_spot", "availability", stock("market", 4), *sold_out),
            *(seen(at, "aws_price_list", old, scope=f"old {n}") for n, (at, old) in enumerate(OLD)),
            seen(NOW, "aws_price_list", *CURRENT), at=NOW, at_last=True,
        )  # fmt: skip


def asked(file: Path, provider: str) -> list[dict[str, object]]:
    return records(file, f"from int.provider_price where service_provider_name = '{provider}' order by all")


def only(file: Path, provider: str) -> dict[str, object]:
    (line,) = asked(file, provider)
    return line


def values(line: dict[str, object], *names: str) -> tuple[object, ...]:
    return tuple(line[name] for name in names or COLUMNS)


# --- what is compared with what


def test_a_node_is_compared_with_a_node_of_aws(file: Path) -> None:
    """40 for 8 chips is 5 each, AWS's 80 is 10: half. The single chip at AWS is not what it is compared with."""
    line = only(file, "node")
    assert values(line) == (5, 5, 10, -0.5)
    assert values(line, "aws_instance_type", "aws_region_id", "aws_purchase_option", "aws_is_current") == (
        "p5.48xlarge", "us-east-1", "on_demand", True
    )  # fmt: skip


def test_other_partitions_products_and_the_feed_are_not_aws_here(file: Path) -> None:
    """China and GovCloud need accounts of their own; SageMaker and Windows are other products; zones beat the feed."""
    nodes = {
        line["purchase_option"]: values(line, "cheapest_price_usd", "n_offers")
        for line in asked(file, "AWS")
        if (line["accelerator_name"], line["capacity_class"]) == ("H100", "node")
        and line["commitment_class"] != "three_years"
    }
    assert nodes == {
        "on_demand": (10, 2), "spot": (4, 1), "capacity_block": (5, 1), "reserved": (7, 1), "savings_plan": (6, 1)
    }  # fmt: skip


@pytest.mark.parametrize(("label", "expected"), list(zip(FORMS, (10, None, None, None), strict=True)))
def test_another_form_of_the_chip_or_an_unknown_one_is_not_compared(
    file: Path, label: str, expected: float | None
) -> None:
    """AWS has H100 on boards with NVSwitch; a text that does not say its form may mean a PCIe card."""
    assert values(only(file, f"form {label}"), "cheapest_price_usd", "aws_price_usd") == (5, expected)


@pytest.mark.parametrize("name", ["B200", "L4"])
def test_a_chip_of_one_form_needs_none_to_be_named(file: Path, name: str) -> None:
    assert only(file, name)["distance_to_aws"] == pytest.approx(-0.5)


def test_a_median_of_aws_is_no_price_to_compare_with(file: Path) -> None:
    assert values(only(file, "four L4")) == (1, 1, None, None)


def test_a_price_per_chip_without_a_least_number_is_not_compared(file: Path) -> None:
    """The capacity class is unknown: it may be a single chip or a node. Of TPUs it is any slice, joined in its pod."""
    line = only(file, "unsized")
    assert (line["capacity_class"], only(file, "slices")["capacity_class"]) == (None, "cluster")
    assert values(line) == (5, 5, None, None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("on demand", ("none", 10, "on_demand")),
        ("spot", ("interruptible", 4, "spot")),
        ("720 h", ("under_a_year", 5, "capacity_block")),
        ("8760 h", ("one_year", 6, "savings_plan")),
        ("17520 h", ("two_years", None, None)),
        ("26280 h", ("three_years", 3, "reserved")),
        ("43800 h", ("longer", None, None)),
        ("None h", (None, None, None)),
    ],
)
def test_commitments_are_compared_with_commitments_of_their_length(
    file: Path, name: str, expected: tuple[object, ...]
) -> None:
    """Each option of AWS has a price of its own; no other may slip in, nor the cheaper plan of day 40."""
    line = only(file, f"for {name}")
    assert values(line, "commitment_class", "aws_price_usd", "aws_purchase_option") == expected


def test_the_public_spot_feed_counts_without_prices_of_zones(put: Put) -> None:
    feed = p5("24", purchase_option="spot", conditions="region-level, public spot feed")
    file = put(seen(NOW, "aws_price_list", feed, machine("A", "16", purchase_option="spot")), at=NOW)
    assert only(file, "A")["aws_price_usd"] == 3


def test_aws_is_not_compared_with_itself(file: Path) -> None:
    lines = asked(file, "AWS")
    assert len(lines) == 11
    assert {values(line, "aws_price_usd", "distance_to_aws") for line in lines} == {(None, None)}


# --- which offers stand together


def test_purchase_options_fabrics_tiers_forms_and_floors_never_share_a_row(file: Path) -> None:
    found = asked(file, "apart")
    assert sorted(line["cheapest_price_usd"] for line in found) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert {line["n_offers"] for line in found} == {1}


def test_a_floor_is_marked_and_has_no_median(file: Path) -> None:
    line = only(file, "floor")
    assert values(line, "is_floor", "statistic", *COLUMNS) == (True, "floor", 5, None, 10, -0.5)


def test_what_nobody_new_can_have_and_what_has_no_price_per_chip_is_left_out(file: Path) -> None:
    """Grandfathered, announced and negotiated prices, an unknown chip, a slice of unknown size."""
    assert asked(file, "left out") == []
    assert len(records(file, "from int.accelerator_hour_price where service_provider_name = 'left out'")) == 5


def test_a_currency_counts_by_its_rate_and_without_one_not_at_all(file: Path) -> None:
    """40 euros for 8 chips at 1.25 dollars are 6.25 each; pounds have no rate here."""
    line = only(file, "euros")
    assert values(line) == (6.25, 6.25, 10, -0.375)
    assert values(line, "price_per_accelerator_hour", "pricing_currency", "fx_rate_date") == (
        5, "EUR", day(NOW - 3).date()
    )  # fmt: skip
    assert asked(file, "pounds") == []


# --- marketplaces


def test_a_marketplace_has_its_quartile_its_median_and_its_machines(file: Path) -> None:
    """Not the very cheapest offer, which may be one bad machine; the machines of its places, as last told."""
    line = only(file, "market")
    assert values(line, "cheapest_price_usd", "median_price_usd", "statistic", "region_id", "n_machines") == (
        1.5, 2.75, "p25", "CA", 9
    )  # fmt: skip


def test_what_is_sold_out_is_told_and_has_no_rank(file: Path) -> None:
    """In every place; where one place has it, that place's price is the cheapest."""
    found = [only(file, name) for name in ("sold out", "short")]
    assert values(found[0], "cheapest_price_usd", "stock_status", "price_rank") == (5, "shortage", None)
    assert values(found[1], "cheapest_price_usd", "region_id", "stock_status") == (6, "us-west-2", None)
    assert found[1]["price_rank"] is not None


def test_what_is_sold_out_is_no_option_of_a_decision(file: Path) -> None:
    """It is left out with the reason, and another place that has it is charged."""
    need = dict.fromkeys(columns("instance_type, unit_accelerators, network, hours, hours_left"))
    need |= {"accelerator_name": "H100", "form_factor": "SXM", "accelerators": 8, "spare_units": 0, "least_unit": 8}
    needs = f"[{need!r}]".replace("None", "null")
    ladder = f"mart.option_ladder({needs}, {{'low': 1, 'likely': 1, 'high': 1}}, 1, false, null, null)"
    found = records(file, f"from {ladder} where service_provider_name in ('sold out', 'short') order by region_id")
    assert [(row["region_id"], row["left_out"], row["charged_usd"]) for row in found] == [
        ("us-east-1", "sold out, as its provider says", None), ("us-west-2", None, 48 * 730)
    ]  # fmt: skip


def test_where_only_a_median_is_known_the_row_says_so(file: Path) -> None:
    """It is no cheapest price and has no distance, but its date and document are told."""
    line = only(file, "median")
    assert values(line) == (None, 3, 12, None)
    assert values(line, "statistic", "is_current", "age_days", "source", "region_id") == (
        "median", True, 0, "aws_price_list", "US"
    )  # fmt: skip
    assert None not in values(line, "document_sha256", "offer_id", "last_observed_at", "valid_from")


# --- age


def test_a_ranked_price_goes_before_a_cheaper_old_one(file: Path) -> None:
    line = only(file, "both ages")
    assert values(line) == (5, 5, 10, -0.5)
    assert values(line, "n_offers", "n_current", "age_days", "oldest_age_days") == (2, 1, 0, NOW)


@pytest.mark.parametrize("named", ["", "named, "])
@pytest.mark.parametrize(("at", "cheapest"), [(NOW - 31, 2), (NOW - 30, 1)])
def test_what_a_collector_read_long_before_the_last_reading_is_not_the_cheapest(
    file: Path, at: int, cheapest: float, named: str
) -> None:
    """Words of a collector, such as api, are no tier: the two are one offer, whichever region or machine each names.

    No surface ranks the older reading: explorer and `decide` read is_ranked of the price itself.
    """
    assert values(only(file, f"{named}read on {at}"), "cheapest_price_usd", "tier") == (cheapest, None)
    ranked = records(
        file,
        "select price_per_accelerator_hour_usd as usd from int.accelerator_hour_price "
        f"where service_provider_name = '{named}read on {at}' and is_ranked order by all",
    )
    assert [float(each["usd"]) for each in ranked] == [usd for usd in (1.0, 2.0) if usd >= cheapest]


def test_of_old_prices_those_of_one_month_stand_together(file: Path) -> None:
    """The newest was seen on day 40: day 10 still counts, day 9 does not, though it is the cheapest."""
    line = only(file, "months")
    assert values(line, "cheapest_price_usd", "median_price_usd", "is_current", "age_days") == (2, 3, False, 150)


@pytest.mark.parametrize(("at", "expected"), [(NOW - 91, None), (NOW - 90, -0.5), (NOW - 1, -0.5)])
def test_a_price_beyond_the_limit_of_age_has_no_distance(file: Path, at: int, expected: float | None) -> None:
    """AWS's price of today says nothing of one that was last confirmed 91 days ago."""
    line = only(file, f"seen on {at}")
    assert values(line) == (5, 5, 10, expected)
    assert line["aws_last_observed_at"] == day(NOW).replace(tzinfo=None)


@pytest.mark.parametrize(("provider", "is_ranked"), [("Vast.ai", False), ("Lium", True), ("hosts", False)])
def test_a_marketplace_has_a_shorter_limit_of_age(file: Path, provider: str, is_ranked: bool) -> None:
    """Thirty days; it is one by its name, too, as its own API names no such tier."""
    assert only(file, provider)["is_ranked"] == is_ranked


@pytest.mark.parametrize("older", list("abcd"))
def test_of_equal_prices_the_one_seen_last_stands(file: Path, older: str) -> None:
    """Whichever of the two regions it is in."""
    assert only(file, f"equal, {older} is older")["age_days"] == 0


def test_every_documented_query_of_providers_answers(file: Path) -> None:
    part = DOCUMENT.read_text(encoding="utf-8").split("## Questions that compare providers")[1]
    queries = re.findall(r"^```sql\n(.*?)^```", part, flags=re.DOTALL | re.MULTILINE)
    assert len(queries) == 4
    assert [query for query in queries if not records(file, query)] == []


def test_confidential_computing_is_a_product_of_its_own(file: Path) -> None:
    """It costs extra, like another system or tenancy: it is shown, and never ranked beside the plain machine."""
    found = records(
        file,
        "select tier, cheapest_price_usd, is_ranked, price_rank is not null as has_rank from int.provider_price "
        "where service_provider_name = 'confidential' order by cheapest_price_usd",
    )

    assert [tuple(line.values()) for line in found] == [
        (None, 5, False, False), ("confidential computing", 5, False, False), (None, 6, True, True),
    ]  # fmt: skip
