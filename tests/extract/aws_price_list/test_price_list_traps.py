"""The traps of the price list, one test each, through both doors; numbers are those of the project's research notes.

Each has misled a published tool. 7 and 8 have more tests in test_price_list_doors.py, 13 and 16 too.
"""

import pytest
from price_list_files import P5, Read, document, page_of, prices, reserved, same

from extract.aws.price_list import parse
from warehouse.errors import LayoutChanged
from warehouse.log.gates import row_gate

CAPACITY_BLOCK = P5 | {
    "SKU": "5Q7AP3RH7KTVUNCJ",
    "RateCode": "5Q7AP3RH7KTVUNCJ.JRTCKXETXF.6YS6EN2CT7",
    "PricePerUnit": "0.0000000000",
    "operation": "RunInstances:CB",
    "MarketOption": "CapacityBlock",
}
P5_ON_DEMAND = ("p5.48xlarge", "on_demand", "55.04", None)


# --- the traps


@pytest.mark.parametrize("date", ["2026-11-22", "2027-01-01T00:00:00Z"])
def test_trap_10_a_price_to_come_is_not_the_price(read: Read, date: str) -> None:
    """One that holds from a day after the fetch waits where the offer has no other, so that the offer does not end."""
    later = P5 | {"OfferTermCode": "LATER", "RateCode": "LATER", "EffectiveDate": date, "PricePerUnit": "27.5"}
    parsed, alone = read(P5, later), read(later)

    assert prices(parsed) == [P5_ON_DEMAND]
    assert parsed.ignored == alone.ignored == {"no_rule": 1}
    assert parsed.unknown == (f"EffectiveDate {date!r} (such as p5.48xlarge)",)
    ((refused,),) = [row_gate(alone.rows)[1]]
    assert (refused.field, refused.value) == ("unit_price", f"27.5 with EffectiveDate {date!r}")


@pytest.mark.parametrize("date", ["2026-11-21", "2026-11-01T00:00:00Z", "12/1/2026", ""])
def test_trap_10_a_price_of_today_counts(read: Read, date: str) -> None:
    """The first day counts; what is no date of the list's form dates nothing."""
    assert prices(read(P5 | {"EffectiveDate": date})) == [P5_ON_DEMAND]


@pytest.mark.parametrize("differs", [{"operation": "RunInstances"}, {"MarketOption": "OnDemand"}, {}])
def test_trap_1_capacity_blocks_are_not_free(read: Read, differs: dict[str, str]) -> None:
    """A Capacity Block product at 0, like the on-demand one in all else, gives no price; either sign tells it."""
    parsed = read(P5, CAPACITY_BLOCK | differs)

    assert prices(parsed) == [P5_ON_DEMAND]
    assert parsed.ignored == {"capacity_block": 1}


def test_trap_1_a_type_sold_as_capacity_block_only_has_no_price(read: Read) -> None:
    """trn2 is listed, at 0 and as Capacity Block: it has no on-demand price, and nobody invents one."""
    parsed = read(CAPACITY_BLOCK | {"Instance Type": "trn2.48xlarge", "GPU": ""})

    assert parsed.rows.height == 0
    assert parsed.ignored == {"capacity_block": 1}


def test_trap_2_another_zero_is_passed_on(read: Read) -> None:
    """An on-demand 0 reaches the row gate, which refuses it by name; it is not silently left out."""
    assert prices(read(P5 | {"PricePerUnit": "0.0000000000"})) == [("p5.48xlarge", "on_demand", "0", None)]


@pytest.mark.parametrize("status", ["UnusedCapacityReservation", "AllocatedCapacityReservation"])
def test_trap_3_reservations_are_not_machines(read: Read, status: str) -> None:
    """An unused or allocated Capacity Reservation is another product, though one of them has the same number."""
    parsed = read(P5, P5 | {"SKU": "UNUSED", "CapacityStatus": status, "usageType": "UnusedBox:p5.48xlarge"})

    assert prices(parsed) == [P5_ON_DEMAND]
    assert parsed.ignored == {"unused_reservation": 1}


@pytest.mark.parametrize("tenancy", ["Dedicated", "Host", "Reserved"])
def test_trap_4_only_shared_tenancy(read: Read, tenancy: str) -> None:
    """Other tenancies have other prices."""
    parsed = read(P5, P5 | {"SKU": "OTHER", "Tenancy": tenancy})

    assert prices(parsed) == [P5_ON_DEMAND]
    assert parsed.ignored == {"other_tenancy": 1}


def test_trap_4_bare_metal_counts(read: Read) -> None:
    """Bare metal is a product family of its own, and its machines have accelerators like others."""
    metal = P5 | {"Instance Type": "g4dn.metal", "Product Family": "Compute Instance (bare metal)"}

    assert prices(read(metal)) == [("g4dn.metal", "on_demand", "55.04", None)]


@pytest.mark.parametrize(
    ("differs", "reason"),
    [
        ({"Operating System": "Windows", "operation": "RunInstances:0002"}, "other_os"),
        ({"Operating System": "RHEL", "operation": "RunInstances:0010"}, "other_os"),
        ({"Pre Installed S/W": "SQL Std", "operation": "RunInstances:0004"}, "other_software"),
        ({"License Model": "Bring your own license"}, "license"),
        ({"operation": "RunInstances:0g00"}, "other_operation"),
    ],
)
def test_trap_5_no_software_and_no_licence(read: Read, differs: dict[str, str], reason: str) -> None:
    """Only Linux without anything installed is compared; each other row is counted under its reason."""
    parsed = read(P5, P5 | {"SKU": "OTHER"} | differs)

    assert prices(parsed) == [P5_ON_DEMAND]
    assert parsed.ignored == {reason: 1}


def test_trap_5_software_may_be_empty(read: Read) -> None:
    """Bulk files write no software as NA or as nothing."""
    assert prices(read(P5 | {"Pre Installed S/W": ""})) == [P5_ON_DEMAND]


def test_trap_6_the_free_tier_is_no_machine(read: Read) -> None:
    """The pseudo product of the free tier has no instance type and a price of 0."""
    nothing = dict.fromkeys(
        ("Instance Type", "Instance Family", "GPU", "Tenancy", "Operating System", "CapacityStatus", "MarketOption",
         "Pre Installed S/W", "License Model", "Region Code"), "",
    )  # fmt: skip
    free = P5 | nothing | {"SKU": "FREE", "OfferTermCode": "A429C66SYZ", "Location": "Any", "PricePerUnit": "0"}

    parsed = read(P5, free)

    assert prices(parsed) == [P5_ON_DEMAND]
    assert parsed.ignored == {"no_instance_type": 1}


@pytest.mark.parametrize("location", ["EU (Ireland)", "Europe (Ireland)", "Anything"])
def test_trap_7_region_code_not_location(read: Read, location: str) -> None:
    """The Region Code is the region, whatever the location is called this year."""
    parsed = read(P5 | {"Region Code": "eu-west-1", "Location": location}, scope="eu-west-1")

    assert parsed.rows["region_id"].to_list() == ["eu-west-1"]


def test_trap_7_local_zones_are_scopes_of_their_own(read: Read) -> None:
    """A row of a Local Zone in its region's file is of another scope, and keeps its whole code in its own."""
    local = P5 | {"SKU": "LOCAL", "Region Code": "us-east-1-atl-1", "Location Type": "AWS Local Zone"}

    assert read(P5, local).ignored == {"other_region": 1}
    assert read(P5, local, scope="us-east-1-atl-1").rows["region_id"].to_list() == ["us-east-1-atl-1"]


def test_trap_8_china_is_priced_in_yuan(read: Read) -> None:
    """The currency is the document's own; CNY never stands under USD."""
    china = P5 | {"Instance Type": "g4dn.xlarge", "PricePerUnit": "5.2230000000", "Currency": "CNY",
                  "Region Code": "cn-northwest-1", "OfferTermCode": "5Y9WH78GDR"}  # fmt: skip

    rows = read(china, scope="cn-northwest-1").rows

    assert rows.select("pricing_currency", "unit_price").rows() == [("CNY", "5.223")]


def test_trap_8_govcloud_is_a_region_like_others(read: Read) -> None:
    """GovCloud prices come from the global list, in USD."""
    gov = P5 | {"Region Code": "us-gov-west-1", "PricePerUnit": "66.0480000000"}

    rows = read(gov, scope="us-gov-west-1").rows

    assert rows.select("region_id", "pricing_currency", "unit_price").rows() == [("us-gov-west-1", "USD", "66.048")]


@pytest.mark.parametrize("per_unit", ["55.04", 55.04, None, [], {}, {"USD": 55.04}, {"USD": None}])
def test_trap_9_price_per_unit_is_a_map_of_texts(per_unit: object) -> None:
    """Anything but a map of currencies to texts is another layout, and the document is refused."""
    rate = {"unit": "Hrs", "rateCode": "R", "pricePerUnit": per_unit}
    terms = {"OnDemand": {"T": {"offerTermCode": "T", "priceDimensions": {"R": rate}}}}
    product = {"sku": "S", "attributes": {"instanceType": "p5.48xlarge"}}

    with pytest.raises(LayoutChanged) as caught:
        parse(document(page_of([{"product": product, "terms": terms}])))

    assert caught.value.field.startswith("pricePerUnit")


def test_trap_10_effective_date_is_not_read(read: Read) -> None:
    """The same prices under another month's EffectiveDate are the same observations."""
    assert same(read(P5).rows, read(P5 | {"EffectiveDate": "2026-10-01"}).rows)


@pytest.mark.parametrize(
    ("instance_type", "family", "gpu"),
    [
        ("inf2.xlarge", "Machine Learning ASIC Instances", "1"),
        ("trn1n.32xlarge", "Machine Learning ASIC Instances", ""),
        ("g6f.large", "GPU instance", "0.125"),
        ("f2.6xlarge", "FPGA Instances", ""),
        ("vt1.3xlarge", "Media Accelerator Instances", ""),
        ("dl1.24xlarge", "GPU instance", "NA"),
        ("m9.large", "General purpose", "1"),
        ("p7.48xlarge", "General purpose", ""),
    ],
)
def test_trap_11_accelerators_are_known_by_any_sign(read: Read, instance_type: str, family: str, gpu: str) -> None:
    """GPU count, family or name: one is enough, and a fraction of a GPU is one; no chip is inferred from it."""
    rows = read(P5 | {"Instance Type": instance_type, "Instance Family": family, "GPU": gpu}).rows

    found = rows.select("instance_type", "accelerator_label", "accelerator_count").rows()
    assert found == [(instance_type, None, None)]


@pytest.mark.parametrize("gpu", ["", "NA", "0"])
def test_trap_11_a_cpu_machine_is_none(read: Read, gpu: str) -> None:
    """A machine of a known CPU family without a GPU is counted and left out."""
    parsed = read(P5 | {"Instance Type": "m5.xlarge", "Instance Family": "General purpose", "GPU": gpu})

    assert parsed.rows.height == 0
    assert parsed.ignored == {"not_accelerator": 1}
    assert parsed.unknown == ()


def test_trap_11_an_unknown_family_is_named(read: Read) -> None:
    """A family without a rule is reported with an example; it is not taken for a CPU, nor guessed to be a chip."""
    parsed = read(P5 | {"Instance Type": "q1.large", "Instance Family": "Quantum instances", "GPU": ""})

    assert parsed.rows.height == 0
    assert parsed.ignored == {"unknown_family": 1}
    assert parsed.unknown == ("instance family 'Quantum instances' (such as q1.large)",)


def test_trap_11_a_renamed_accelerator_family_is_named_and_priced(read: Read) -> None:
    """The name of the type still tells; that the family is new is reported."""
    parsed = read(P5 | {"Instance Family": "Accelerated computing"})

    assert prices(parsed) == [P5_ON_DEMAND]
    assert parsed.unknown == ("instance family 'Accelerated computing' (such as p5.48xlarge)",)


def test_trap_12_retired_types_stay(read: Read) -> None:
    """A type that AWS still lists is listed, however old."""
    assert prices(read(P5 | {"Instance Type": "g2.2xlarge", "GPU": "1"})) == [
        ("g2.2xlarge", "on_demand", "55.04", None)
    ]


PARTIAL = {"lease": "1yr", "payment": "Partial Upfront", "hourly": "0.0300000000", "upfront": "263"}


@pytest.mark.parametrize("backwards", [False, True])
def test_trap_14_a_reserved_term_is_one_row(read: Read, backwards: bool) -> None:
    """Partial Upfront has two amounts and two rate codes; order decides nothing, the hourly code stays."""
    lines = reserved(P5, **PARTIAL)

    rows = read(*(reversed(lines) if backwards else lines)).rows

    assert rows.select("unit_price", "upfront_price", "commitment_term_hours", "sku_price_id").rows() == [
        ("0.03", "263", 8760, "3D4V8UAYEMB38GU2.1PUSXXXXXX.6YS6EN2CT7")
    ]


def test_trap_14_all_twelve_terms(read: Read) -> None:
    """1 and 3 years, standard and convertible, three ways to pay: twelve rows, told apart by what they say."""
    amounts = {"No Upfront": ("0.5", None), "Partial Upfront": ("0.2", "99"), "All Upfront": ("0.0000000000", "150")}
    lines = [
        line
        for lease in ("1yr", "3yr")
        for klass in ("standard", "convertible")
        for payment, (hourly, upfront) in amounts.items()
        for line in reserved(P5, lease=lease, payment=payment, hourly=hourly, upfront=upfront, klass=klass)
    ]

    rows = read(*lines).rows

    identity = ("commitment_term_hours", "offering_class", "purchase_payment_model", "unit_price", "upfront_price")
    assert set(rows.select(identity).rows()) == {
        (hours, klass, payment, hourly, upfront)
        for hours in (8760, 26280)
        for klass in ("standard", "convertible")
        for payment, hourly, upfront in (
            ("No Upfront", "0.5", "0"), ("Partial Upfront", "0.2", "99"), ("All Upfront", "0", "150"),
        )
    }  # fmt: skip
    assert rows.height == 12


@pytest.mark.parametrize(
    ("payment", "hourly", "upfront", "expected"),
    [
        ("Partial Upfront", "0.03", None, ("0.03", None)),
        ("Partial Upfront", None, "263", (None, "263")),
        ("All Upfront", None, "263", (None, "263")),
        ("All Upfront", "0", None, ("0", None)),
        ("No Upfront", None, "263", (None, "263")),
    ],
)
def test_trap_14_a_missing_amount_is_not_guessed(
    read: Read, payment: str, hourly: str | None, upfront: str | None, expected: tuple[str | None, str | None]
) -> None:
    """A term that lacks one of its amounts has NULL there, for the row gate to refuse; never 0."""
    rows = read(*reserved(P5, lease="1yr", payment=payment, hourly=hourly, upfront=upfront)).rows

    assert rows.select("unit_price", "upfront_price").rows() == [expected]


def test_trap_14_unknown_words_are_passed_on(read: Read) -> None:
    """A payment model or class that nobody knows reaches the gate by its name, and a term by its hours."""
    rows = read(
        *reserved(P5, lease="5yr", payment="Heavy Utilization", hourly="0.1", upfront="9", klass="flexible")
    ).rows

    columns = ("commitment_term_hours", "purchase_payment_model", "offering_class")
    assert rows.select(columns).rows() == [(43800, "Heavy Utilization", "flexible")]


def test_trap_14_an_unreadable_term_is_named(read: Read) -> None:
    """A length without years is NULL in its row and reported in its own words."""
    parsed = read(*reserved(P5, lease="until cancelled", payment="No Upfront", hourly="0.1", upfront=None))

    assert parsed.rows["commitment_term_hours"].to_list() == [None]
    assert parsed.unknown == ("LeaseContractLength 'until cancelled' (such as p5.48xlarge)",)


@pytest.mark.parametrize("foreign", ["us-west-2-den-1", "us-east-2"])
def test_trap_16_rows_of_other_zones_are_left_out(read: Read, foreign: str) -> None:
    """A region's file may hold other zones' rows; only those of the scope count. (15 and 17 are about plans.)"""
    parsed = read(P5, P5 | {"SKU": "OTHER", "Region Code": foreign})

    assert prices(parsed) == [P5_ON_DEMAND]
    assert parsed.ignored == {"other_region": 1}


# --- amounts and duplicates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("55.0400000000", "55.04"), ("263", "263"), ("100", "100"), ("0.0000000000", "0"), ("1E-7", "0.0000001"),
        ("1.5e+2", "150"), ("-1.50", "-1.5"), ("007.10", "7.1"), ("NaN", "NaN"), ("Infinity", "Infinity"),
        ("1,5", "1,5"), ("free", "free"), ("1e999999999", "1e999999999"), ("0.12345678901234", "0.12345678901234"),
    ],
)  # fmt: skip
def test_amounts_are_plain_text_to_the_last_digit(read: Read, text: str, expected: str) -> None:
    """A number loses needless zeros and its exponent, nothing else; what is no number is passed on as it stands."""
    assert read(P5 | {"PricePerUnit": text}).rows["unit_price"].to_list() == [expected]


def test_another_unit_is_not_an_hourly_price(read: Read) -> None:
    """A price per second reaches the gate with its unit, and is refused there; it is not taken as hourly."""
    assert read(P5 | {"Unit": "Second"}).rows["unit_price"].to_list() == ["55.0400000000 per Second"]


def test_two_prices_for_one_offer_are_both_there(read: Read) -> None:
    """No maximum, no last one: both rows reach the batch gate, which refuses them."""
    rival = P5 | {"SKU": "RIVAL", "PricePerUnit": "44"}

    assert sorted(row[2] for row in prices(read(P5, rival))) == ["44", "55.04"]


def test_ultraservers_are_sold_as_such(read: Read) -> None:
    """A price of a u- type buys an UltraServer, not one of its instances."""
    rows = read(P5 | {"Instance Type": "u-p6e-gb200x72"}).rows

    assert rows["capacity_unit"].to_list() == ["UltraServer"]


NEW_WORDS = [
    ("MarketOption", "Flex"), ("TermType", "Promotion"), ("CapacityStatus", "InUse"), ("Pre Installed S/W", "CUDA"),
    ("License Model", "Free"),
]  # fmt: skip


@pytest.mark.parametrize(("column", "word"), NEW_WORDS)
def test_a_price_in_words_without_a_rule_is_refused(read: Read, column: str, word: str) -> None:
    """A new way to buy is reported and never becomes on-demand: the row gate refuses the price, and the offer stays."""
    parsed = read(P5 | {column: word})

    accepted, (refused,) = row_gate(parsed.rows)
    assert accepted.is_empty()
    assert (refused.field, refused.value) == ("unit_price", f"55.0400000000 with {column} {word!r}")
    assert parsed.rows.select("instance_type", "purchase_option").rows() == [("p5.48xlarge", "on_demand")]
    assert parsed.ignored == {"no_rule": 1}
    assert parsed.unknown == (f"{column} {word!r} (such as p5.48xlarge)",)


@pytest.mark.parametrize(("column", "word"), NEW_WORDS)
def test_beside_a_plain_price_words_without_a_rule_are_reported_alone(read: Read, column: str, word: str) -> None:
    """As Capacity Blocks came: what is new is no second price of the offer, whichever stands first."""
    new = P5 | {"SKU": "NEW", column: word}
    for lines in ((P5, new), (new, P5)):
        parsed = read(*lines)

        assert prices(parsed) == [P5_ON_DEMAND]
        assert parsed.unknown == (f"{column} {word!r} (such as p5.48xlarge)",)


def test_reserved_terms_in_words_without_a_rule_are_refused(read: Read) -> None:
    """Both amounts, and beside a plain on-demand price too."""
    new = reserved(P5 | {"MarketOption": "Flex"}, lease="1yr", payment="Partial Upfront", hourly="9", upfront="80000")

    accepted, (refused,) = row_gate(read(P5, *({**line, "SKU": "NEW"} for line in new)).rows)

    assert accepted["purchase_option"].to_list() == ["on_demand"]
    assert refused.value == "9 with MarketOption 'Flex'"
    assert '"upfront_price":"80000 with MarketOption' in refused.content.replace(": ", ":")
