"""Accelerators of each instance type: the dated table `data/instance_type.csv`, one fact a row, its errors named.

How the table is filled:

1. `accelerator_name` is the chip alone, in the words that price lists share (H100, not H100-SXM: the form factor is
   its own column everywhere). Memory is its own column too, unless it makes another product: A100-40GB (HBM2,
   1.6 TB/s) and A100-80GB (HBM2e, 2.0 TB/s) are two, V100 with 16 or 32 GiB is one. No spaces: RTX-PRO-6000,
   which AWS calls RTX PRO Server 6000. First generations carry a 1 (Trainium1, Inferentia1, Gaudi1).
2. `accelerator_count` follows AWS where a board holds several chips: p2.xlarge is 1, one of the two of a K80 board;
   g2 and g3 count the chips of K520 and M60 boards in the same way. Fractions are exact: g6f.large is 0.125.
3. `accelerator_memory_gib` is what DescribeInstanceTypes reports, MiB / 1024, unless it is wrong. NVIDIA's GB are GiB:
   AWS gives the "80 GB" of an H100 as 81920 MiB, 80 GiB. Of A10G, L4 and L40S it gives 24 and 48 x 10^9 bytes
   instead, less than the chips hold, so these are overridden. B200 and B300 are what the driver shows (179 and 269
   GiB), less than the marketed 180 and 270 GB. Of a fraction it is the fraction's share. Of M2050, VU9P, U30 and
   GB200 it is unknown to us and empty.
4. `override_reason` stands wherever a value differs from DescribeInstanceTypes, and nowhere else; a test holds the
   table against a capture of that call in both directions.
5. UltraServers stand twice where the price list and the Capacity Block page spell them differently
   (`u-p6e-gb200x72.metal`, `u-p6e-gb200x72`). Their count is that of the whole UltraServer.
6. Trainium3 has no row: AWS has published no instance type of it. A new row is all that one takes.
7. `form_factor` is SXM where AWS says that the family's chips reach one another over NVLink and NVSwitch
   (https://aws.amazon.com/ec2/instance-types/p3/ , /p4/ , /p5/ , /p6/), which no other form of these chips has; Server
   is the RTX PRO edition that AWS calls RTX PRO Server 6000. Elsewhere it is empty: AWS is silent, or there is one
   form.
8. A fact that changes gets a second row of the same type with its `known_from`; empty means always.
"""

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from warehouse.reference.fact_csv import Row, rows
from warehouse.schema.columns import CAPACITY_UNITS

TABLE = resources.files("warehouse") / "data" / "instance_type.csv"
ACCELERATOR_KINDS = ("gpu", "neuron", "gaudi", "inference", "fpga", "media")
MAX_DECIMALS = 4
"""Of DECIMAL(10,4) in `warehouse.schema.tables`; more digits are refused, as they would be rounded."""

ACCELERATOR_TYPE = re.compile(r"(?:ml\.|u-)?(?:p|gr?|inf|trn|dl|vt|f|cg)\d")
"""How names of accelerator families begin, among all of AWS's (u7i and u-6tb1 are memory, not UltraServers)."""


class InstanceType(NamedTuple):
    """One dated fact about one instance type, in the order of the columns of `core.instance_type`."""

    instance_type: str
    accelerator_name: str
    accelerator_vendor: str
    accelerator_kind: str
    accelerator_count: Decimal
    capacity_unit: str
    accelerator_memory_gib: Decimal | None
    neuron_cores_per_accelerator: int | None
    form_factor: str | None
    known_from: date | None
    override_reason: str | None
    source_url: str
    accessed_on: date


def read_table(path: Traversable = TABLE) -> list[InstanceType]:
    """Return the facts in a table. Raises ChipledgerError, naming line, field and value, where one is not usable."""
    seen: set[tuple[str, date | None]] = set()
    facts = []
    for row in rows(path, InstanceType._fields, key="instance_type", rules="warehouse/reference/instance_types.py"):
        fact = _fact(row)
        key = fact.instance_type, fact.known_from
        if key in seen:
            raise row.error("instance_type", "a second row for the same type and known_from")
        seen.add(key)
        facts.append(fact)
    return facts


def missing(instance_types: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are of an accelerator family without entry, sorted; they must not pass for CPU types."""
    return tuple(sorted(name for name in set(instance_types) - _known() if ACCELERATOR_TYPE.match(name)))


@cache
def _known() -> frozenset[str]:
    return frozenset(fact.instance_type for fact in read_table())


def _fact(row: Row) -> InstanceType:
    if not row.cells["source_url"].startswith("https://"):
        raise row.error("source_url", "no public address to check the fact at")
    return InstanceType(
        instance_type=row.text("instance_type"),
        accelerator_name=row.text("accelerator_name"),
        accelerator_vendor=row.text("accelerator_vendor"),
        accelerator_kind=row.one_of("accelerator_kind", ACCELERATOR_KINDS),
        accelerator_count=_positive(row, "accelerator_count"),
        capacity_unit=row.one_of("capacity_unit", CAPACITY_UNITS),
        accelerator_memory_gib=_positive_or_none(row, "accelerator_memory_gib"),
        neuron_cores_per_accelerator=_whole_or_none(row, "neuron_cores_per_accelerator"),
        form_factor=row.cells["form_factor"] or None,
        known_from=row.day("known_from") if row.cells["known_from"] else None,
        override_reason=row.cells["override_reason"] or None,
        source_url=row.cells["source_url"],
        accessed_on=row.day("accessed_on"),
    )


def _positive(row: Row, field: str) -> Decimal:
    try:
        number = Decimal(row.cells[field])
    except InvalidOperation:
        raise row.error(field, "not a number") from None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or number <= 0:
        raise row.error(field, "not above 0")
    if -exponent > MAX_DECIMALS:
        raise row.error(field, f"more than {MAX_DECIMALS} decimals")
    return number


def _positive_or_none(row: Row, field: str) -> Decimal | None:
    return _positive(row, field) if row.cells[field] else None


def _whole_or_none(row: Row, field: str) -> int | None:
    number = _positive_or_none(row, field)
    if number is None:
        return None
    if number != int(number):
        raise row.error(field, "not a whole number")
    return int(number)
