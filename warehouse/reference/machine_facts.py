"""vCPUs and memory of machines with accelerators: the table `data/machine_fact.csv`, one figure a row.

A machine is an instance type as AWS spells it, or a system that AWS describes without such a name: "Trainium3
UltraServer Gen1". `vcpus` count as AWS counts them, `host_memory_gib` is MiB / 1024 of DescribeInstanceTypes.
"""

from datetime import date
from functools import cache
from typing import NamedTuple

from warehouse.reference.table import Model, Rule, Table, fields_of

FACTS = ("vcpus", "host_memory_gib")


class MachineFact(NamedTuple):
    """One figure of one machine and where it is published."""

    machine: str
    fact: str
    value: int
    source_url: str
    accessed_on: date


MODEL = Model(
    file="machine_fact.csv",
    key="fact",
    fields=fields_of(MachineFact),
    free=("fact",),
    rules=(Rule("fact", f"not one of {', '.join(FACTS)}", f"fact in {FACTS}"),),
    unique=("machine", "fact"),
    repeated="a second one of the same machine",
)


def read_table(table: Table | None = None) -> list[MachineFact]:
    """Return the facts of a table, by default the package's. Raises ChipledgerError where one is not usable."""
    return [MachineFact(**row) for row in MODEL.read(table)]


@cache
def shipped() -> tuple[MachineFact, ...]:
    """Return the facts that the package ships, read once."""
    return tuple(read_table())
