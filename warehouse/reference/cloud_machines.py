"""Machines of Azure, Google Cloud and Oracle Cloud: `data/cloud_machine.csv`, what one size has, one size a row.

`data/README.md` says how it is filled.
"""

from datetime import date
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from warehouse.reference.table import Model, Rule, fields_of


class CloudMachine(NamedTuple):
    """One size of a cloud: its chips as the provider's page names them, and what else its price may be made of.

    `local_ssd_gb` is what a price must include; None where no page says it.
    """

    service_provider_name: str
    instance_type: str
    accelerator_label: str
    accelerator_count: Decimal
    fabric: str | None
    vcpus: int
    host_memory_gib: Decimal
    local_ssd_gb: int | None
    source_url: str
    accessed_on: date


MODEL = Model(
    file="cloud_machine.csv",
    key="instance_type",
    fields=fields_of(CloudMachine),
    unique=("service_provider_name", "instance_type"),
    repeated="a second row for the same machine",
    may_be_zero=("local_ssd_gb",),
    rules=(Rule("source_url", "no public address to check the fact at", "source_url like 'https://%'"),),
)


ALIASES = {"Standard_ND96asr_A100_v4": "Standard_ND96asr_v4", "Standard_NG32adms_V620": "Standard_NG32adms_V620_v1"}
"""Other names of machines, in Azure's price lists, for the same machine."""


def known(provider: str | None, name: str | None) -> CloudMachine | None:
    """Return a machine by either of its names; None where it is not known."""
    return machines(provider).get(ALIASES.get(name, name)) if provider and name else None


@cache
def machines(provider: str) -> dict[str, CloudMachine]:
    """Return the machines of a provider by their names."""
    rows = (CloudMachine(**row) for row in MODEL.read())
    return {row.instance_type: row for row in rows if row.service_provider_name == provider}
