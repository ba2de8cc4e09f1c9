"""Whether the account's quotas allow what the best options need: one machine of each, in vCPUs, in its region.

EC2 counts running machines in vCPUs, by families and apart for spot: "Running On-Demand P instances", "All Trn Spot
Instance Requests". Reserved terms and Savings Plans run under the on-demand quotas. A quota that AWS does not list for
an account is not known, and is not taken for 0; what runs already is not asked, so that what is allowed is allowed to
an account in which nothing else of the family runs.

Sources: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html,
https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_ListServiceQuotas.html (read 2026-11-21)
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from flows.config.decision_settings import DecisionSettings
from flows.decisions import choose
from warehouse.errors import ChipledgerError
from warehouse.reference import machine_facts

SERVICE = "ec2"
ON_DEMAND = re.compile(r"Running On-Demand (?P<families>.+) instances")
SPOT = re.compile(r"All (?P<families>.+) Spot Instance Requests")
NAMES = {"on_demand": ON_DEMAND, "reserved": ON_DEMAND, "savings_plan": ON_DEMAND, "spot": SPOT}
"""Which quotas count for a purchase option. What a Capacity Block needs is not documented in vCPUs, so it has none."""
FAMILY = re.compile(r"(?P<letters>[a-z]+)(?P<generation>\d*)")

Quotas = Mapping[str, float]
"""The quotas of one region: vCPUs by name of the quota."""


@dataclass(frozen=True, order=True)
class Need:
    """One of AWS's machines that is the best option, or the next, for some workloads."""

    instance_type: str
    region_id: str
    purchase_option: str
    is_seen: bool
    workloads: str

    @property
    def words(self) -> str:
        return f"{self.instance_type} {self.purchase_option} in {self.region_id}"


def needed(file: Path, decision: DecisionSettings) -> list[Need]:
    """Return the machines of AWS's best options for the workloads. Raises ChipledgerError where the file has none."""
    try:
        found = choose.answer(file, choose.Query(providers=("AWS",)), decision)
    except duckdb.Error as error:
        raise ChipledgerError(str(error).splitlines()[0], source=str(file)) from error
    machines: dict[tuple[str, str, str], tuple[bool, set[str]]] = {}
    for workload in found["workloads"]:
        for row in workload["choices"]:
            if row["instance_type"] is None or row["region_id"] is None:
                continue
            key = row["instance_type"], row["region_id"], row["purchase_option"]
            seen, names = machines.setdefault(key, (not row["is_never_seen_obtainable"], set()))
            machines[key] = seen, names | {workload["workload"]}
    return sorted(Need(*key, is_seen, ", ".join(sorted(names))) for key, (is_seen, names) in machines.items())


def quota_of(need: Need, quotas: Quotas) -> tuple[str, float] | None:
    """Return the quota that counts for a machine, by name and in vCPUs; None where none of those listed names it.

    AWS names families by letters (P, Trn, "G and VT"), and some of spot by generation too ("P5", "P4, P3 and P2").
    """
    form = NAMES.get(need.purchase_option)
    family = FAMILY.match(need.instance_type)
    if form is None or family is None:
        return None
    by_family = {
        name.lower(): quota
        for quota in quotas
        if (match := form.fullmatch(quota))
        for name in re.split(r", | and ", match["families"])
    }
    for name in (family["letters"] + family["generation"], family["letters"]):
        if name in by_family:
            return by_family[name], quotas[by_family[name]]
    return None


def checked(needs: Sequence[Need], ask: Callable[[str], Quotas | str]) -> list[dict[str, object]]:
    """Return a row of the doctor for each machine; `ask` gives the quotas of a region, or why there is no answer."""
    answers = {region: ask(region) for region in sorted({need.region_id for need in needs})}
    return [_row(need, answers[need.region_id]) for need in needs]


def _row(need: Need, quotas: Quotas | str) -> dict[str, object]:
    found, result, advice = "", "warn", f"Best, or best of AWS, for {need.workloads}"
    vcpus = _vcpus(need.instance_type)
    if isinstance(quotas, str):
        found = quotas
    elif need.purchase_option not in NAMES:
        found = f"no quota in vCPUs is known for {need.purchase_option}"
    elif (quota := quota_of(need, quotas)) is None:
        found = "the account lists no quota that names its family"
    elif vcpus is None:
        found = f"{quota[0]}: {quota[1]:g} vCPUs; how many it needs is not known"
    elif quota[1] >= vcpus:
        result, found = "ok", f"{quota[0]}: {quota[1]:g} vCPUs, one needs {vcpus:g}"
    else:
        found = f"NOT ALLOWED. {quota[0]}: {quota[1]:g} vCPUs, one needs {vcpus:g}"
        advice = f"Ask AWS for {vcpus:g} or more. {advice}"
    unseen = "" if need.is_seen else "; never seen obtainable"
    return {"check": f"quota: {need.words}", "result": result, "found": found + unseen, "advice": advice}


def _vcpus(instance_type: str) -> float | None:
    return next(
        (fact.value for fact in machine_facts.shipped() if fact.machine == instance_type and fact.fact == "vcpus"),
        None,
    )


def read(client: Any) -> dict[str, float]:
    """Return the quotas of EC2 in a client's region, in vCPUs by name."""
    pages = client.get_paginator("list_service_quotas").paginate(ServiceCode=SERVICE)
    return {quota["QuotaName"]: quota["Value"] for page in pages for quota in page["Quotas"] if "Value" in quota}
