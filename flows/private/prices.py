"""Negotiated prices of a `prices.toml`, or the same as a CSV: dated discounts and contracted rates.

A TOML file has tables `[[discount]]` and `[[rate]]`; a CSV has one line each, its column `kind` says which. How one
rule goes before another is in `transform/sql/private/rule_match.sql`; what no rule may say is refused here.
"""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from datetime import date
from decimal import Decimal
from itertools import combinations
from typing import Any

from flows.private.entry import Entry, csv_entries
from flows.private.names import Names, Thing
from flows.shared.query import columns
from warehouse.errors import ChipledgerError
from warehouse.reference import instance_types
from warehouse.schema.vocabulary import PURCHASE_OPTIONS

DISCOUNT, RATE = "discount", "rate"
SERVICES = ("EC2", "SageMaker")
"""AWS's two ways to rent a machine; those of the second are called ml.<type>."""

COMMON = ("rule", "provider", "region", "option", "valid_from", "valid_to", "contract_id")
FIELDS = {
    DISCOUNT: (*COMMON, "service", "family", "chip", "percent"),
    RATE: (*COMMON, "offer", "term", "payment", "tier", "usd_per_hour", "usd_per_chip_hour"),
}
COLUMNS = ("kind", *dict.fromkeys((*FIELDS[DISCOUNT], *FIELDS[RATE])))
PERCENT_DIGITS = Decimal("0.000001")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule: what it is for (None: anything), when it holds, and the discount or the rate.

    `discount` is a share of the list price. One of the two rates is set: USD per hour of one machine, or of one chip.
    The last day of `valid_to` is included; None: no end is agreed. The fields are columns of `price_rule`.
    """

    rule: str
    kind: str
    service_provider_name: str
    service: str | None = None
    family: str | None = None
    accelerator_name: str | None = None
    form_factor: str | None = None
    instance_type: str | None = None
    region_id: str | None = None
    purchase_option: str | None = None
    commitment_term_hours: int | None = None
    purchase_payment_model: str | None = None
    tier: str | None = None
    valid_from: date
    valid_to: date | None = None
    discount: Decimal | None = None
    usd_per_hour: Decimal | None = None
    usd_per_chip_hour: Decimal | None = None
    contract_id: str | None = None
    place: str

    @property
    def criteria(self) -> dict[str, object]:
        """Return what the rule is for, by column."""
        return {name: value for name in CRITERIA if (value := getattr(self, name)) is not None}

    def overlaps(self, other: "Rule") -> bool:
        """Return whether both hold on some day."""
        latest = max(self.valid_from, other.valid_from)
        return all(rule.valid_to is None or latest <= rule.valid_to for rule in (self, other))


RULE_COLUMNS = tuple(field.name for field in fields(Rule))
CRITERIA = columns("""
service_provider_name, service, family, accelerator_name, form_factor, instance_type, region_id, purchase_option,
commitment_term_hours, purchase_payment_model, tier
""")


def read(file: str, body: bytes, names: Names) -> list[Rule]:
    """Return the rules of a file, TOML or CSV by the end of its name. Raises ChipledgerError."""
    if file.lower().endswith(".csv"):
        entries = list(_from_csv(file, body))
    elif file.lower().endswith(".toml"):
        entries = list(_from_toml(file, body))
    else:
        raise ChipledgerError("neither TOML nor CSV", source=file, field="name", hint="Call it .toml or .csv")
    if not entries:
        raise ChipledgerError("no rule in it", source=file, field="file", hint="docs/fleet.md shows one")
    rules: dict[str, Rule] = {}
    for kind, entry in entries:
        rule = _rule(kind, entry, names)
        if rule.rule in rules:
            raise entry.error("rule", f"also the name of the rule at {rules[rule.rule].place}", "Name it otherwise")
        rules[rule.rule] = rule
    _refuse_twins(file, rules.values())
    return list(rules.values())


def _from_toml(file: str, body: bytes) -> Iterator[tuple[str, Entry]]:
    try:
        tables = tomllib.loads(body.decode("utf-8"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ChipledgerError(f"not TOML: {error}", source=file, field="file") from error
    for kind, entries in tables.items():
        if kind not in FIELDS or not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
            raise ChipledgerError(
                "unknown table", source=file, field=kind, value=entries, hint="Write [[discount]] or [[rate]]"
            )
        for number, values in enumerate(entries, start=1):
            entry = Entry(file, f"{kind} {number}", values)
            for name in values:
                if name not in FIELDS[kind]:
                    raise entry.error(name, "unknown field", f"Known: {', '.join(FIELDS[kind])}")
            yield kind, entry


def _from_csv(file: str, body: bytes) -> Iterator[tuple[str, Entry]]:
    for entry in csv_entries(file, body, columns=COLUMNS, required=("kind", "provider", "valid_from")):
        kind = entry.one_of("kind", FIELDS)
        if kind is None:
            raise entry.error("kind", "required", "Allowed: discount, rate")
        for name in entry.values:
            if name != "kind" and name not in FIELDS[kind] and entry.text(name) is not None:
                raise entry.error(name, f"means nothing for a {kind}", f"Known: {', '.join(FIELDS[kind])}")
        yield kind, entry


def _rule(kind: str, entry: Entry, names: Names) -> Rule:
    provider = names.provider(entry)
    valid_from, valid_to = entry.day("valid_from"), entry.day("valid_to")
    if valid_from is None:
        raise entry.error("valid_from", "required", "The first day on which it holds")
    if valid_to is not None and valid_to < valid_from:
        raise entry.error("valid_to", "before valid_from")
    own = _discount(entry, provider, names) if kind == DISCOUNT else _rate(entry, provider, names)
    return Rule(
        rule=entry.text("rule") or entry.place,
        kind=kind,
        service_provider_name=provider,
        region_id=entry.text("region"),
        purchase_option=entry.one_of("option", PURCHASE_OPTIONS),
        valid_from=valid_from,
        valid_to=valid_to,
        contract_id=entry.text("contract_id"),
        place=entry.place,
        **own,
    )


def _discount(entry: Entry, provider: str, names: Names) -> dict[str, Any]:
    percent = entry.number("percent", above=Decimal(0), most=Decimal(100))
    if percent is None:
        raise entry.error("percent", "required", "Percent off the list price")
    if percent != percent.quantize(PERCENT_DIGITS):
        raise entry.error("percent", "more than 6 digits after the point")
    service, family = entry.one_of("service", SERVICES), entry.text("family")
    for field, value in (("service", service), ("family", family)):
        if value is not None and provider != "AWS":
            raise entry.error(field, "AWS alone has them", "Name a chip instead")
    if family is not None and family not in _families():
        raise entry.error("family", "no family of AWS with accelerators is called so", "Write it as p5 or trn1n")
    chip = Thing()
    if entry.text("chip") is not None:
        chip = names.known_thing(entry, "chip", provider)
        if chip.accelerator_name is None:
            raise entry.error("chip", "a machine, and no chip", "A contracted rate may name a machine as its offer")
    return {
        "discount": percent / 100,
        "service": service,
        "family": family,
        **asdict(chip),
    }


def _rate(entry: Entry, provider: str, names: Names) -> dict[str, Any]:
    thing = names.known_thing(entry, "offer", provider)
    for field in ("option", "contract_id"):
        entry.required(field)
    hourly, chip_hourly = (entry.number(name, above=Decimal(0)) for name in ("usd_per_hour", "usd_per_chip_hour"))
    if (hourly is None) == (chip_hourly is None):
        raise entry.error("usd_per_hour", "give this or usd_per_chip_hour, not both")
    if hourly is not None and thing.instance_type is None:
        raise entry.error("usd_per_hour", "a chip is no machine", "Give usd_per_chip_hour, or name the machine")
    return {
        "usd_per_hour": hourly,
        "usd_per_chip_hour": chip_hourly,
        **asdict(thing),
        "commitment_term_hours": entry.term_hours("term"),
        "purchase_payment_model": entry.payment("payment"),
        "tier": entry.text("tier"),
    }


def _families() -> set[str]:
    return {row.instance_type.partition(".")[0] for row in instance_types.read_table()}


def _refuse_twins(file: str, rules: Iterable[Rule]) -> None:
    """Raise where two rules are for the same and hold on the same day: nothing says which one counts."""
    for first, second in combinations(rules, 2):
        if first.kind == second.kind and first.criteria == second.criteria and first.overlaps(second):
            message = f"{first.place} and {second.place}: both are for the same on the same days"
            hint = "End one before the other begins, or take one out"
            raise ChipledgerError(message, source=file, field="rule", value=f"{first.rule}, {second.rule}", hint=hint)
