"""What AWS credentials allow, for `chipledger doctor`: access to prices, operations, the best options' quotas.

Where credentials are found, each operation that the sources call is called once, as small as possible, so that the
answer shows whether it is allowed. Without credentials no provider is called; but the search for them is boto3's, which
on its way calls this machine's metadata service, unless AWS_EC2_METADATA_DISABLED is true.

EC2 counts running machines in vCPUs, by families and apart for spot: "Running On-Demand P instances", "All Trn Spot
Instance Requests". Reserved terms and Savings Plans run under the on-demand quotas. A quota that AWS does not list for
an account is unknown, not 0. What runs already is not counted: what is allowed is allowed to an account in which
nothing else of the family runs.

Sources: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html,
https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_ListServiceQuotas.html (read 2026-11-21)
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from flows.config.settings import DecisionSettings, Settings
from flows.decisions import choose
from flows.doctor.row import Row, ok, warn
from warehouse.errors import ChipledgerError
from warehouse.reference.instance_types import machine_facts

CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 3, 5
"""Shorter than those of a run."""
QUOTAS = "service-quotas"
BOTO_NAMES = {"servicequotas": QUOTAS}
"""What botocore calls a service where policies call it otherwise."""


class Permission(NamedTuple):
    """One operation that a source calls: its smallest request, and what being allowed to call it adds."""

    action: str
    request: Mapping[str, object]
    adds: str

    @property
    def service(self) -> str:
        return self.action.partition(":")[0]


_SAME_PRICES = "the same prices as the public files, in fewer bytes"
PERMISSIONS = (
    Permission(
        "pricing:GetProducts",
        {"ServiceCode": "AmazonEC2", "MaxResults": 1},
        f"on-demand and Reserved prices through the API: {_SAME_PRICES}",
    ),
    Permission(
        "pricing:GetAttributeValues",
        {"ServiceCode": "AmazonEC2", "AttributeName": "regionCode", "MaxResults": 1},
        "the list of regions for pricing:GetProducts",
    ),
    Permission(
        "savingsplans:DescribeSavingsPlansOfferingRates",
        {"savingsPlanTypes": ["Compute"], "serviceCodes": ["AmazonEC2"], "maxResults": 1},
        f"Savings Plan prices through the API: {_SAME_PRICES}",
    ),
    Permission("ec2:DescribeRegions", {}, 'the list of the account\'s regions, where regions is "all"'),
    Permission("ec2:DescribeSpotPriceHistory", {"MaxResults": 1}, "spot prices by zone"),
    Permission(
        "ec2:DescribeCapacityBlockOfferings",
        {"InstanceType": "p5.48xlarge", "InstanceCount": 1, "CapacityDurationHours": 24, "MaxResults": 1},
        "offers of Capacity Blocks, by zone",
    ),
    Permission(
        "ec2:DescribeInstanceTypes", {"MaxResults": 5}, "what the API says of instance types and their accelerators"
    ),
    Permission("ec2:DescribeInstanceTypeOfferings", {"MaxResults": 5}, "the zones that have each type"),
    Permission(
        "servicequotas:ListServiceQuotas",
        {"ServiceCode": "ec2", "MaxResults": 1},
        "whether the account's quotas allow what the best options need",
    ),
)
"""The policy of docs/settings.md. Five is the least that EC2 takes of types."""


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


def checks(settings: Settings) -> list[Row]:
    """Return access, permissions and quotas; AWS is called only where credentials are found."""
    return [_access(settings), *_permissions(), *_quotas(settings)]


def _access(settings: Settings) -> Row:
    """Return how a run reads AWS's price list, and what credentials would add."""
    from extract.aws import places

    chosen = settings.source("aws_price_list")
    if places.access(chosen, source="aws_price_list") == "api":
        return ok("AWS prices", "through the Price List API, with the credentials found")
    return ok(
        "AWS prices",
        "through the public bulk files, without credentials",
        "With credentials (pricing:GetProducts) the same prices come in fewer bytes",
    )


def _permissions() -> list[Row]:
    """Return for each operation whether it is allowed. Names of errors only: their messages may hold keys."""
    # Imported here: the shell must not wait for boto3 where nothing is called.
    from extract.aws import places

    if places.access({"access": "auto"}, source="aws_price_list") != "api":
        return [_note(each, "not checked: no credentials") for each in PERMISSIONS]
    import botocore.exceptions

    try:
        clients = _clients()
    except (botocore.exceptions.BotoCoreError, ValueError) as error:
        return [_note(each, f"not checked: {type(error).__name__}") for each in PERMISSIONS]
    with ThreadPoolExecutor(max_workers=len(PERMISSIONS)) as pool:
        return list(pool.map(lambda each: _permission(clients[each.service], each), PERMISSIONS))


def _quotas(settings: Settings) -> list[Row]:
    """Return for each of AWS's best options whether the account's quota allows one machine; nothing without a file."""
    from extract.aws import places

    file = settings.data_dir / "prices.duckdb"
    if not file.exists():
        return []
    try:
        needs = needed(file, settings.decision)
    except ChipledgerError as error:
        return [warn("quotas", f"not checked: {error}", "`chipledger build` makes the file anew")]
    if not needs:
        return [warn("quotas", "not checked: no option of AWS is the best of any workload")]
    if places.access({"access": "auto"}, source="aws_price_list") != "api":
        return checked(needs, lambda _region: "not checked: no credentials")
    return checked(needs, _quotas_of)


def _quotas_of(region: str) -> Quotas | str:
    """Return a region's quotas, or why there is no answer, by name of the error."""
    from botocore import exceptions

    from extract.aws.client import session

    try:
        return read_quotas(
            session(CONNECT_TIMEOUT_S, READ_TIMEOUT_S).create_client(QUOTAS, region_name=region, config=_config())
        )
    except exceptions.ClientError as error:
        answer: Any = error.response
        return f"no answer: {answer.get('Error', {}).get('Code', '')}"
    except exceptions.HTTPClientError as error:
        return f"no answer: {type(error).__name__}"
    except (exceptions.BotoCoreError, ValueError) as error:
        return f"not checked: {type(error).__name__}"


def _config() -> Any:
    from botocore.config import Config

    from extract.web.http import user_agent

    return Config(retries={"total_max_attempts": 1, "mode": "standard"}, user_agent_extra=user_agent().split(" ")[0])


def _clients() -> dict[str, Any]:
    """Return a client of each service in the region where the sources ask first, with one attempt and little time."""
    from extract.aws import places
    from extract.aws.client import HOME_REGION, session

    home = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or HOME_REGION
    central = places.partition_of(home).api_region
    made, config = session(CONNECT_TIMEOUT_S, READ_TIMEOUT_S), _config()
    regions = {"pricing": central, "savingsplans": central, "ec2": home, "servicequotas": home}
    return {
        name: made.create_client(BOTO_NAMES.get(name, name), region_name=region, config=config)
        for name, region in regions.items()
    }


def _permission(client: Any, permission: Permission) -> Row:
    from botocore import exceptions, xform_name

    from extract.aws.capacity_blocks import REFUSALS
    from extract.aws.client import REFUSED

    try:
        getattr(client, xform_name(permission.action.partition(":")[2]))(**permission.request)
    except exceptions.ClientError as error:
        answer: Any = error.response
        code, message = answer.get("Error", {}).get("Code", ""), answer.get("Error", {}).get("Message", "")
        if any(known in message for known in REFUSALS):  # an answer about what the region sells
            return ok(permission.action, "allowed")
        refused = code in REFUSED or answer.get("ResponseMetadata", {}).get("HTTPStatusCode") in (401, 403)
        return _note(permission, f"{'denied' if refused else 'no answer'}: {code}")
    except exceptions.HTTPClientError as error:
        return _note(permission, f"no answer: {type(error).__name__}")
    except exceptions.BotoCoreError as error:  # what remains is configuration: an SSO session that is over, a role
        return _note(permission, f"not checked: {type(error).__name__}")
    return ok(permission.action, "allowed")


def _note(permission: Permission, found: str) -> Row:
    return warn(permission.action, found, f"Would add {permission.adds}")


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


def checked(needs: Sequence[Need], read: Callable[[str], Quotas | str]) -> list[dict[str, object]]:
    """Return a row of the doctor for each machine; `read` gives the quotas of a region, or why there is no answer."""
    answers = {region: read(region) for region in sorted({need.region_id for need in needs})}
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
    facts = (fact for fact in machine_facts() if fact.machine == instance_type and fact.fact == "vcpus")
    return next((fact.value for fact in facts), None)


def read_quotas(client: Any) -> dict[str, float]:
    """Return the quotas of EC2 in a client's region, in vCPUs by name."""
    pages = client.get_paginator("list_service_quotas").paginate(ServiceCode=SERVICE)
    return {quota["QuotaName"]: quota["Value"] for page in pages for quota in page["Quotas"] if "Value" in quota}
