"""Negotiated prices of a `prices.toml`, or the same as a CSV: dated discounts and contracted rates.

A TOML file has tables `[[discount]]` and `[[rate]]`; a CSV has one line each, its column `kind` says which. How one
rule goes before another is in `transform/sql/private/rule_match.sql`; what no rule may be is refused here.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from decimal import Decimal
from itertools import combinations
from typing import Any

from flows.private.names import MEANINGS, VOCABULARY, Names, Thing, checked, rules, term_hours
from flows.shared.query import columns
from warehouse.errors import ChipledgerError
from warehouse.reference import instance_types, table
from warehouse.reference.table import Line, Model, UserFile, Values

DISCOUNT, RATE = "discount", "rate"
SERVICES = ("EC2", "SageMaker")
"""AWS's two ways to rent a machine; those of the second are called ml.<type>."""
COMMON = ("rule", "provider", "region", "option", "valid_from", "valid_to", "contract_id")
FIELDS = {
    DISCOUNT: (*COMMON, "service", "family", "chip", "percent"),
    RATE: (*COMMON, "offer", "term", "payment", "tier", "usd_per_hour", "usd_per_chip_hour"),
}
TYPES: dict[str, Any] = {"kind": str, "provider": str, "valid_from": date, "valid_to": date | None}
TYPES |= dict.fromkeys(("percent", "usd_per_hour", "usd_per_chip_hour"), Decimal | None)
TYPES = {name: TYPES.get(name, str | None) for name in ("kind", *FIELDS[DISCOUNT], *FIELDS[RATE])}
WORDS = {**VOCABULARY, "kind": tuple(FIELDS), "service": SERVICES}
MODEL = Model(
    key="rule",
    fields=TYPES,
    help="docs/fleet.md",
    advice="Correct the rule",
    exact=False,
    closed=True,
    required=("kind", "provider", "valid_from"),
    unique=("rule",),
    repeated="another rule has this name",
    meanings={
        **MEANINGS,
        "kind": f"one of {', '.join(FIELDS)}",
        "service": f"one of {', '.join(SERVICES)}",
        "family": "an AWS family with accelerators, such as p5 or trn1n",
        "chip": "a chip, such as H100 SXM; a contracted rate may name a machine as its offer",
        "percent": "percent off the list price, above 0, up to 100, with up to 6 digits after the point",
        "valid_from": "the first day on which it holds, such as 2026-11-21",
        "valid_to": "the last day on which it holds, such as 2026-12-31; empty: no end is agreed",
        "contract_id": "the number of the contract that has the rate",
        "usd_per_hour": "USD per hour of the machine that `offer` names, such as 33.75; or give usd_per_chip_hour",
        "usd_per_chip_hour": "USD per hour of one chip, such as 1.95",
    },
    rules=(
        *rules(TYPES, WORDS),
        *(
            table.Rule(name, f"means nothing for a {kind}", f"kind <> '{kind}' or {name} is null")
            for kind, own in FIELDS.items()
            for name in TYPES
            if name not in ("kind", *own)
        ),
        *(
            table.Rule(name, f"required for a {kind}", f"kind <> '{kind}' or {name} is not null")
            for kind, name in ((DISCOUNT, "percent"), (RATE, "offer"), (RATE, "option"), (RATE, "contract_id"))
        ),
        table.Rule("percent", "above 100", "percent <= 100"),
        table.Rule("valid_to", "before valid_from", "valid_to >= valid_from"),
        table.Rule(
            "usd_per_hour",
            "give this or usd_per_chip_hour, not both",
            "kind <> 'rate' or (usd_per_hour is null) <> (usd_per_chip_hour is null)",
        ),
    ),
)

CRITERIA = columns("""
service_provider_name, service, family, accelerator_name, form_factor, instance_type, region_id, purchase_option,
commitment_term_hours, purchase_payment_model, tier
""")
RULE_COLUMNS = (
    *("rule", "kind", *CRITERIA, "valid_from", "valid_to", "discount", "usd_per_hour", "usd_per_chip_hour"),
    *("contract_id", "place"),
)
Rule = table.record(RULE_COLUMNS)
"""One rule, by the columns of `price_rule`: what it is for (None: anything), when it holds, the discount or the rate.

`discount` is a share of the list price. One of the two rates is set: USD per hour of one machine, or of one chip.
The last day of `valid_to` is included; None: no end is agreed."""


def read(file: str, body: bytes, names: Names) -> list[Any]:
    """Return the rules of a file, TOML or CSV by the end of its name. Raises ChipledgerError."""
    readers = {".csv": _from_csv, ".toml": _from_toml}
    reader = readers.get(file.lower()[file.rfind(".") :])
    if reader is None:
        raise ChipledgerError("neither TOML nor CSV", source=file, field="name", hint="Call it .toml or .csv")
    lines = list(reader(file, body))
    if not lines:
        raise ChipledgerError("no rule in it", source=file, field="file", hint="docs/fleet.md shows one")
    found = [_rule(line, row, names) for line, row in zip(lines, checked(lines, WORDS), strict=True)]
    for first, second in combinations(found, 2):
        if _are_alike(first, second):
            message = f"{first.place} and {second.place}: both are for the same on the same days"
            hint = "End one before the other begins, or take one out"
            raise ChipledgerError(message, source=file, field="rule", value=f"{first.rule}, {second.rule}", hint=hint)
    return found


def _are_alike(first: Any, second: Any) -> bool:
    """Return whether two rules are for the same, and both hold on some day."""
    latest = max(first.valid_from, second.valid_from)
    return all(getattr(first, name) == getattr(second, name) for name in ("kind", *CRITERIA)) and all(
        rule.valid_to is None or latest <= rule.valid_to for rule in (first, second)
    )


def _from_toml(file: str, body: bytes) -> Iterator[Line]:
    """Yield each entry as a line whose place is its kind, number and first line."""
    try:
        text = body.decode("utf-8-sig")
        tables = tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ChipledgerError(f"not TOML: {error}", source=file, field="file") from error
    for kind, entries in tables.items():
        if kind not in FIELDS or not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
            hint = "Write [[discount]] or [[rate]]"
            raise ChipledgerError("unknown table", source=file, field=kind, value=entries, hint=hint)
        starts = [n for n, line in enumerate(text.splitlines(), 1) if re.match(rf"\s*\[\[\s*{kind}\s*\]\]", line)]
        for number, entry in enumerate(entries, start=1):
            place = f"{kind} {number}" + (f", line {starts[number - 1]}" if len(starts) == len(entries) else "")
            line = Line(place, entry, file, MODEL)
            for name, value in entry.items():
                if name not in FIELDS[kind]:
                    raise line.error(name, f"unknown field; known are {', '.join(FIELDS[kind])}")
                if isinstance(value, bool | list | dict):
                    raise line.error(name, "must be text, a number or a date")
            cells = {name: str(value).strip() for name, value in entry.items()}
            yield line._replace(cells={"kind": kind, **cells, "rule": cells.get("rule") or f"{kind} {number}"})


def _from_csv(file: str, body: bytes) -> Iterator[Line]:
    for line in table.lines(UserFile(file, body), MODEL):
        yield line._replace(cells={**line.cells, "rule": line.cells.get("rule") or line.place})


def _rule(line: Line, row: Values, names: Names) -> Any:
    """Return the rule of a checked line. Raises ChipledgerError for a provider, machine, chip or family unknown."""
    provider = names.known_provider(line, row)
    thing, percent, family = Thing(), row["percent"], row["family"]
    if percent is not None and percent != round(percent, 6):
        raise line.error("percent", "more than 6 digits after the point")
    for field in ("service", "family"):
        if row[field] is not None and provider != "AWS":
            raise line.error(field, "of AWS alone: name a chip instead")
    if family is not None and family not in {
        row.instance_type.partition(".")[0] for row in instance_types.read_table()
    }:
        raise line.error("family", "no family of AWS with accelerators has this name")
    for field in ("chip", "offer"):
        if row[field] is not None:
            thing = names.known_thing(line, row, field, provider)
    if row["chip"] is not None and thing.accelerator_name is None:
        raise line.error("chip", "a machine, and no chip")
    if row["usd_per_hour"] is not None and thing.instance_type is None:
        raise line.error("usd_per_hour", "a chip is no machine: give usd_per_chip_hour, or name the machine")
    same = ("rule", "kind", "service", "family", "tier", "valid_from", "valid_to", "contract_id")
    return Rule(
        **{name: row[name] for name in (*same, "usd_per_hour", "usd_per_chip_hour")},
        **asdict(thing),
        service_provider_name=provider,
        region_id=row["region"],
        purchase_option=row["option"],
        commitment_term_hours=term_hours(row["term"]),
        purchase_payment_model=row["payment"],
        discount=None if percent is None else percent / 100,
        place=line.place,
    )
