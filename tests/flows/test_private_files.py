"""What a price file and a fleet file may say: every refusal names file, entry, field and value."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from fleet_file import NAMES

from flows.private import fleet_file, prices
from warehouse.errors import ChipledgerError

DISCOUNT = {"provider": "'aws'", "percent": "12.5", "valid_from": "2026-01-01"}
RATE = {
    "provider": "'CoreWeave'", "offer": "'H100 SXM'", "option": "'on_demand'", "contract_id": "'C-1'",
    "usd_per_chip_hour": "1.95", "valid_from": "2026-01-01",
}  # fmt: skip


def toml(kind: str, **values: str | None) -> bytes:
    base = DISCOUNT if kind == "discount" else RATE
    lines = [f"{name} = {value}" for name, value in (base | values).items() if value is not None]
    return "\n".join((f"[[{kind}]]", *lines, "")).encode()


def read(body: bytes, file: str = "prices.toml") -> list[prices.Rule]:
    return prices.read(file, body, NAMES)


def test_a_price_file() -> None:
    """Amounts keep their digits; names are read as people write them."""
    body = toml("discount", family="'p5'", option="'Savings Plan'", valid_to="2026-12-31") + toml(
        "rate", usd_per_chip_hour="1.0000000001", term="'1 year'", rule="'ours'"
    )
    discount, rate = read(body)

    assert (discount.rule, discount.service_provider_name, discount.family, discount.purchase_option) == (
        "discount 1", "AWS", "p5", "savings_plan"
    )  # fmt: skip
    assert (discount.discount, discount.valid_to) == (Decimal("0.125"), date(2026, 12, 31))
    assert (rate.rule, rate.accelerator_name, rate.form_factor) == ("ours", "H100", "SXM")
    assert (rate.usd_per_chip_hour, rate.commitment_term_hours) == (Decimal("1.0000000001"), 8760)


def test_the_same_as_csv() -> None:
    """A CSV has one line for each, and gives the same rules."""
    text = (
        "kind,provider,percent,family,offer,option,contract_id,usd_per_chip_hour,valid_from\n"
        "discount,aws,12.5,p5,,,,,2026-01-01\nrate,coreweave,,,H100 SXM,on_demand,C-1,1.95,2026-01-01\n"
    )
    from_csv = read(text.encode(), "prices.csv")
    from_toml = read(toml("discount", family="'p5'") + toml("rate"))

    assert [rule.place for rule in from_csv] == ["line 2", "line 3"]
    marked = [read(b"\xef\xbb\xbf" + text.encode(), "prices.csv"), read(b"\xef\xbb\xbf" + toml("discount"))]
    assert [rules[0].discount for rules in marked] == [Decimal("0.125")] * 2  # as Windows marks UTF-8
    for name in prices.CRITERIA:
        assert [getattr(rule, name) for rule in from_csv] == [getattr(rule, name) for rule in from_toml]
    assert [(rule.discount, rule.usd_per_chip_hour) for rule in from_csv] == [
        (Decimal("0.125"), None), (None, Decimal("1.95")),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "values", "field", "message"),
    [
        ("discount", {"provider": "'Amazn'"}, "provider", "unknown provider"),
        ("discount", {"percent": "0"}, "percent", "not above 0"),
        ("discount", {"percent": "100.1"}, "percent", "above 100"),
        ("discount", {"percent": "'a tenth'"}, "percent", "not a number"),
        ("discount", {"percent": "true"}, "percent", "must be text, a number or a date"),
        ("discount", {"percent": "1.1234567"}, "percent", "6 digits"),
        ("discount", {"percent": None}, "percent", "required"),
        ("discount", {"chip": "'H1000'"}, "chip", "nor a chip has this name"),
        ("discount", {"chip": "'p5.48xlarge'"}, "chip", "a machine, and no chip"),
        ("discount", {"family": "'p99'"}, "family", "no family of AWS"),
        ("discount", {"family": "'p5'", "provider": "'RunPod'"}, "family", "of AWS alone"),
        ("discount", {"service": "'RDS'"}, "service", "not one of EC2, SageMaker"),
        ("discount", {"option": "'sometimes'"}, "option", "not one of on_demand, reserved"),
        ("discount", {"valid_from": None}, "valid_from", "not a date"),
        ("discount", {"valid_from": "'1.1.2026'"}, "valid_from", "not a date"),
        ("discount", {"valid_to": "2025-12-31"}, "valid_to", "before valid_from"),
        ("discount", {"offer": "'p5.48xlarge'"}, "offer", "unknown field"),
        ("rate", {"offer": "'X9'"}, "offer", "neither a machine of CoreWeave nor a chip"),
        ("rate", {"contract_id": None}, "contract_id", "required"),
        ("rate", {"option": None}, "option", "required"),
        ("rate", {"usd_per_chip_hour": None}, "usd_per_hour", "or usd_per_chip_hour, not both"),
        ("rate", {"usd_per_hour": "2"}, "usd_per_hour", "or usd_per_chip_hour, not both"),
        ("rate", {"usd_per_hour": "2", "usd_per_chip_hour": None}, "usd_per_hour", "a chip is no machine"),
        ("rate", {"usd_per_chip_hour": "1.00000000001"}, "usd_per_chip_hour", "does not fit DECIMAL.18,10."),
        ("rate", {"usd_per_chip_hour": "nan"}, "usd_per_chip_hour", "not a number"),
        ("rate", {"term": "'long'"}, "term", "not a term"),
        ("rate", {"term": "'24'"}, "term", "not a term"),
        ("rate", {"tier": "'a\u200bb'"}, "tier", "non-printable"),
        ("rate", {"percent": "1"}, "percent", "unknown field; known are rule, provider"),
        ("rate", {"payment": "'Half Upfront'"}, "payment", "not one of No Upfront"),
    ],
)
def test_wrong_rules(kind: str, values: dict[str, str | None], field: str, message: str) -> None:
    """Each is refused with its place and what to do; the message itself holds no value of the file."""
    with pytest.raises(ChipledgerError, match=message) as refusal:
        read(toml(kind, **values))

    error = refusal.value
    assert (error.source, error.field) == ("prices.toml", field)
    assert error.message.startswith(f"{kind} 1, line 1: ")
    assert error.hint
    given = str((values.get(field) or "").strip("'"))
    assert str(error.value).lower() == given.lower()
    assert len(given) < 5 or given not in error.message


def test_what_is_near_is_named() -> None:
    """A misspelt name comes with those that it may have meant."""
    with pytest.raises(ChipledgerError) as provider:
        read(toml("rate", provider="'CoreWeve'"))
    with pytest.raises(ChipledgerError) as machine:
        read(toml("rate", offer="'bg200-4x'"))

    assert "CoreWeave" in provider.value.hint
    assert "gb200-4x" in machine.value.hint


@pytest.mark.parametrize(
    ("file", "body", "message"),
    [
        ("prices.toml", b"[[discount]", "not TOML"),
        ("prices.toml", b"", "no rule in it"),
        ("prices.toml", b"[discount]\npercent = 1\n", "unknown table"),
        ("prices.yaml", b"", "neither TOML nor CSV"),
        ("prices.csv", b"kind,provider,valid_from,secret\n", "unknown columns; known are kind, rule"),
        ("prices.csv", b"kind,provider\n", "columns are absent"),
        ("prices.csv", b"kind,provider,valid_from,percent\ndiscount,AWS,2026-01-01\n", "fewer cells"),
        ("prices.csv", b"kind,provider,valid_from\ndonation,AWS,2026-01-01\n", "not one of discount, rate"),
        ("prices.csv", b"kind,provider,valid_from,percent,tier\ndiscount,AWS,2026-01-01,1,x\n", "means nothing"),
        ("prices.csv", b"kind,provider,valid_from\n\xff", "not UTF-8"),
    ],
)
def test_wrong_price_files(file: str, body: bytes, message: str) -> None:
    with pytest.raises(ChipledgerError, match=message) as refusal:
        read(body, file)

    assert refusal.value.source == file


def test_two_rules_for_the_same_days() -> None:
    """Two of one kind for the same are refused by name, unless one ends before the other begins."""
    first = toml("discount", rule="'old'", valid_to="2026-05-31")

    with pytest.raises(ChipledgerError, match="both are for the same") as refusal:
        read(first + toml("discount", rule="'new'", valid_from="2026-05-31"))

    assert refusal.value.value == "old, new"
    assert len(read(first + toml("discount", rule="'new'", valid_from="2026-06-01"))) == 2
    with pytest.raises(ChipledgerError, match="another rule has this name"):
        read(first + toml("discount", rule="'old'", valid_from="2026-06-01"))


HEADER = "provider,offer,region,option,nodes,share_of_use,commitment_end,term\n"


def line(text: str, header: str = HEADER) -> Any:
    (only,) = fleet_file.read("fleet.csv", (header + text + "\n").encode(), NAMES)
    return only


def test_a_line_of_a_fleet() -> None:
    """What is left out is not given; a share that is left out is all the time."""
    told = line("amazon,P5.48xlarge,us-east-1,Savings-Plan,6,,2026-12-31,3 years")

    assert (told.service_provider_name, told.instance_type, told.purchase_option) == (
        "AWS", "p5.48xlarge", "savings_plan"
    )  # fmt: skip
    assert (str(told.nodes), told.share_of_use, told.commitment_term_hours) == ("6", 1.0, 3 * 8760)
    assert (told.commitment_ends_on, told.tier, told.line_number) == (date(2026, 12, 31), None, 2)


@pytest.mark.parametrize(
    ("text", "field", "message"),
    [
        ("AWS,p5.48xlarge,us-east-1,on_demand,0,1,,", "nodes", "not above 0"),
        ("AWS,p5.48xlarge,us-east-1,on_demand,,1,,", "nodes", "empty"),
        ("AWS,p5.48xlarge,us-east-1,on_demand,1e4004,1,,", "nodes", "does not fit DECIMAL"),
        ("AWS,p5.48xlarge,us-east-1,on_demand,1,1.2,,", "share_of_use", "not from 0 to 1"),
        ("AWS,p5.48xlarge,us-east-1,on_demand,1,70%,,", "share_of_use", "not a number"),
        ("AWS,p5.48xlarge,us-east-1,on_demand,1,1e400,,", "share_of_use", "not from 0 to 1"),
        ("AWS,p5.48xlarge,us-east-1,rented,1,1,,", "option", "not one of on_demand"),
        ("AWS,p5.48xlarge,us-east-1,,1,1,,", "option", "empty"),
        ("AWS,p5.48xlarge,us-east-1,spot,1,1,2026-12-31,", "commitment_end", "no commitment"),
        ("AWS,p5.48xlarge,us-east-1,reserved,1,1,soon,", "commitment_end", "not a date"),
        (",p5.48xlarge,us-east-1,on_demand,1,1,,", "provider", "empty"),
        ("AWS,,us-east-1,on_demand,1,1,,", "offer", "empty"),
        ("AWS,p5.48xlarge,us-east-1,on_demand,1,1,,a year", "term", "not a term"),
        ("AWS,p5.48xlarge,us-east-1,on_demand,1,1,", "line", "fewer cells"),
    ],
)
def test_wrong_lines(text: str, field: str, message: str) -> None:
    with pytest.raises(ChipledgerError, match=message) as refusal:
        line(text)

    assert (refusal.value.source, refusal.value.field) == ("fleet.csv", field)
    assert refusal.value.message.startswith("line 2: ")


def test_an_unknown_machine_is_no_error() -> None:
    """It is a line without a price, which says why: a fleet may hold what nobody here knows."""
    told = line("Oracle,BM.GPU.H100.8,,on_demand,1,1,,")

    assert (told.service_provider_name, told.instance_type) == ("Oracle", None)
