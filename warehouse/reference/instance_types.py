"""Accelerators of each instance type: `data/instance_type.csv`, one dated fact a row, and figures of whole machines.

`data/README.md` says how both tables are filled.
"""

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from warehouse.reference.table import Model, Rule, Table, fields_of

ACCELERATOR_TYPE = re.compile(r"(?:ml\.|u-)?(?:p|gr?|inf|trn|dl|vt|f|cg)\d")
"""How names of accelerator families begin, among all of AWS's (u7i and u-6tb1 are memory, not UltraServers)."""


class InstanceType(NamedTuple):
    """One dated fact about one instance type, in the order of the columns of `ref.instance_type`."""

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


MODEL = Model(
    file="instance_type.csv",
    key="instance_type",
    fields=fields_of(InstanceType),
    unique=("instance_type", "known_from"),
    repeated="a second row for the same type and known_from",
    rules=(Rule("accelerator_kind", "a kind that AWS does not sell", "accelerator_kind <> 'tpu'"),),
)


def read_table(table: Table | None = None) -> list[InstanceType]:
    """Return the facts of a table, by default the package's. Raises ChipledgerError where one is not usable."""
    return [InstanceType(**row) for row in MODEL.read(table)]


def missing(instance_types: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are of an accelerator family without entry, sorted; they must not pass for CPU types."""
    return tuple(sorted(name for name in set(instance_types) - _known() if ACCELERATOR_TYPE.match(name)))


@cache
def _known() -> frozenset[str]:
    return frozenset(fact.instance_type for fact in read_table())
