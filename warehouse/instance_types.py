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
7. A fact that changes gets a second row of the same type with its `known_from`; empty means always.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from warehouse.errors import ChipledgerError
from warehouse.schemas import CAPACITY_UNITS

TABLE = resources.files("warehouse") / "data" / "instance_type.csv"
ACCELERATOR_KINDS = ("gpu", "neuron", "gaudi", "inference", "fpga", "media")
MAX_DECIMALS = 4
"""Of DECIMAL(10,4) in `warehouse.schemas`; more digits are refused, as they would be rounded."""

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
    known_from: date | None
    override_reason: str | None
    source_url: str
    accessed_on: date


def read_table(path: Traversable = TABLE) -> list[InstanceType]:
    """Return the facts in a table. Raises ChipledgerError, naming line, field and value, where one is not usable."""
    reader = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline=""), strict=True)
    try:
        if tuple(reader.fieldnames or ()) != InstanceType._fields:
            strange = sorted(set(reader.fieldnames or ()) ^ set(InstanceType._fields))
            raise _error(path, 1, "header", ", ".join(strange) or "order", "columns unknown, absent or out of order")
        facts = list(_facts(path, reader))
    except csv.Error as error:
        raise _error(path, reader.line_num, "line", "", f"not CSV: {error}") from error
    if not facts:
        raise _error(path, 1, "instance_type", "", "the table is empty")
    return facts


def missing(instance_types: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are of an accelerator family without entry, sorted; they must not pass for CPU types."""
    return tuple(sorted(name for name in set(instance_types) - _known() if ACCELERATOR_TYPE.match(name)))


@cache
def _known() -> frozenset[str]:
    return frozenset(fact.instance_type for fact in read_table())


def _facts(path: Traversable, reader: "csv.DictReader[str]") -> Iterator[InstanceType]:
    seen: set[tuple[str, date | None]] = set()
    for cells in reader:
        row = _Row(path, reader.line_num, cells)
        fact = row.fact()
        key = fact.instance_type, fact.known_from
        if key in seen:
            raise row.error("instance_type", "a second row for the same type and known_from")
        seen.add(key)
        yield fact


class _Row:
    """One line of the table and how its cells are read."""

    def __init__(self, path: Traversable, line: int, cells: Mapping[str, str]) -> None:
        self.path, self.line, self.cells = path, line, cells

    def fact(self) -> InstanceType:
        # A DictReader puts surplus cells under None, and None under names without a cell.
        if None in self.cells or None in self.cells.values():
            raise self.error("instance_type", "more or fewer cells than columns")
        if not self.cells["source_url"].startswith("https://"):
            raise self.error("source_url", "no public address to check the fact at")
        return InstanceType(
            instance_type=self.text("instance_type"),
            accelerator_name=self.text("accelerator_name"),
            accelerator_vendor=self.text("accelerator_vendor"),
            accelerator_kind=self.one_of("accelerator_kind", ACCELERATOR_KINDS),
            accelerator_count=self.positive("accelerator_count"),
            capacity_unit=self.one_of("capacity_unit", CAPACITY_UNITS),
            accelerator_memory_gib=self.positive_or_none("accelerator_memory_gib"),
            neuron_cores_per_accelerator=self.whole_or_none("neuron_cores_per_accelerator"),
            known_from=self.day("known_from") if self.cells["known_from"] else None,
            override_reason=self.cells["override_reason"] or None,
            source_url=self.cells["source_url"],
            accessed_on=self.day("accessed_on"),
        )

    def text(self, field: str) -> str:
        if not self.cells[field].strip():
            raise self.error(field, "empty")
        return self.cells[field]

    def one_of(self, field: str, allowed: tuple[str, ...]) -> str:
        if self.cells[field] not in allowed:
            raise self.error(field, f"not one of {', '.join(allowed)}")
        return self.cells[field]

    def positive(self, field: str) -> Decimal:
        try:
            number = Decimal(self.cells[field])
        except InvalidOperation:
            raise self.error(field, "not a number") from None
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int) or number <= 0:
            raise self.error(field, "not above 0")
        if -exponent > MAX_DECIMALS:
            raise self.error(field, f"more than {MAX_DECIMALS} decimals")
        return number

    def positive_or_none(self, field: str) -> Decimal | None:
        return self.positive(field) if self.cells[field] else None

    def whole_or_none(self, field: str) -> int | None:
        number = self.positive_or_none(field)
        if number is None:
            return None
        if number != int(number):
            raise self.error(field, "not a whole number")
        return int(number)

    def day(self, field: str) -> date:
        try:
            return date.fromisoformat(self.cells[field])
        except ValueError:
            raise self.error(field, "not a date such as 2026-11-21") from None

    def error(self, field: str, reason: str) -> ChipledgerError:
        return _error(self.path, self.line, field, self.cells.get(field, ""), reason)


def _error(path: Traversable, line: int, field: str, value: str, reason: str) -> ChipledgerError:
    return ChipledgerError(
        f"line {line}: {reason}",
        source=path.name,
        field=field,
        value=value,
        hint="Correct the table; its rules stand in warehouse/instance_types.py",
    )
