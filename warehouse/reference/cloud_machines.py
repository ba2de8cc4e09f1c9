"""Machines of Azure, Google Cloud and Oracle Cloud: `data/cloud_machine.csv`, what one size has, one size a row.

`data/README.md` says how it is filled.
"""

import re
from datetime import date
from decimal import Decimal
from functools import cache
from typing import NamedTuple, get_type_hints

from warehouse.reference.table import Model

PROVIDERS = {
    **dict.fromkeys(("AWS", "AWS EC2", "Amazon", "Amazon AWS", "Amazon EC2", "Amazon Web Services"), "AWS"),
    **dict.fromkeys(("GCP", "Google", "Google Cloud Platform"), "Google Cloud"),
    **dict.fromkeys(("OCI", "Oracle", "Oracle Cloud Infrastructure"), "Oracle Cloud"),
    **{"DataCrunch": "Verda", "Verda (DataCrunch)": "Verda", "Microsoft Azure": "Azure", "TensorDock": "tensordock"},
}
"""What people and collectors call providers."""


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
    fields=get_type_hints(CloudMachine),
    unique=("service_provider_name", "instance_type"),
    repeated="a second row for the same machine",
    may_be_zero=("local_ssd_gb",),
)

ALIASES = {"Standard_ND96asr_A100_v4": "Standard_ND96asr_v4", "Standard_NG32adms_V620": "Standard_NG32adms_V620_v1"}
"""Other names of machines, in Azure's price lists, for the same machine."""
_SIZE = re.compile(r"(Standard_N[A-Z]+\d+)([a-z]+)((?:_[A-Za-z]+)?)_([A-Z]+\d+X?_v\d+)")
"""A size of Azure that names its chip: vCPUs, features, a word about the network, chip and version."""


def known(provider: str | None, name: str | None) -> CloudMachine | None:
    """Return a machine by either of its names, or by that of the same server; None where it is not known."""
    if not provider or not name:
        return None
    name = ALIASES.get(name, name)
    found = machines(provider).get(name) or _servers(provider).get(_server(name))
    if found is None or found.instance_type == name:
        return found
    return found._replace(instance_type=name, fabric=found.fabric if "r" in name.split("_")[1] else None)


def _server(name: str) -> tuple[str, ...] | None:
    """Return what tells the server of a size: its name without r, which is RDMA.

    An isolated size (i) is a whole server, so that f, noIB, flex and NDR tell no other one. The letters are those of
    https://github.com/MicrosoftDocs/azure-compute-docs/blob/028a4dc4/articles/virtual-machines/vm-naming-conventions.md
    and isolation.md beside it.
    """
    if (found := _SIZE.fullmatch(name)) is None:
        return None
    size, letters, word, chip = found.groups()
    letters = letters.replace("r", "")
    return (size, letters.replace("f", ""), chip) if "i" in letters else (size, letters, word, chip)


@cache
def _servers(provider: str) -> dict[tuple[str, ...] | None, CloudMachine]:
    return {server: one for name, one in machines(provider).items() if (server := _server(name))}


@cache
def machines(provider: str) -> dict[str, CloudMachine]:
    """Return the machines of a provider by their names."""
    rows = (CloudMachine(**row) for row in MODEL.read())
    return {row.instance_type: row for row in rows if row.service_provider_name == provider}
