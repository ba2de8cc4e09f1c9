"""vCPUs and memory of machines with accelerators: the table `data/machine_fact.csv`, one figure a row.

A machine is an instance type as AWS spells it, or a system that AWS describes without such a name: "Trainium3
UltraServer Gen1". `vcpus` count as AWS counts them, `host_memory_gib` is MiB / 1024 of DescribeInstanceTypes.
"""

from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from warehouse.reference.fact_csv import rows

TABLE = resources.files("warehouse") / "data" / "machine_fact.csv"
FACTS = ("vcpus", "host_memory_gib")


class MachineFact(NamedTuple):
    """One figure of one machine and where it stands."""

    machine: str
    fact: str
    value: float
    source_url: str
    accessed_on: str


def read_table(path: Traversable = TABLE) -> list[MachineFact]:
    """Return the facts of a table. Raises ChipledgerError, naming line, field and value, where one is not usable."""
    found: dict[tuple[str, str], MachineFact] = {}
    for row in rows(path, MachineFact._fields, key="machine", rules="warehouse/reference/machine_facts.py"):
        machine, fact = row.text("machine"), row.one_of("fact", FACTS)
        if (machine, fact) in found:
            raise row.error("fact", f"a second one of {machine}")
        if not row.cells["value"].isdecimal() or int(row.cells["value"]) == 0:
            raise row.error("value", "not a whole number above 0")
        if not row.cells["source_url"].startswith("https://"):
            raise row.error("source_url", "not an address")
        found[machine, fact] = MachineFact(
            machine, fact, float(row.cells["value"]), row.cells["source_url"], row.day("accessed_on").isoformat()
        )
    return list(found.values())


@cache
def shipped() -> tuple[MachineFact, ...]:
    """Return the facts that the package ships, read once."""
    return tuple(read_table())
