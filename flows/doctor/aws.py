"""What AWS credentials allow, for `chipledger doctor`: the door to prices, operations, the best options' quotas.

Where credentials are found, each operation that the sources call is asked for once, as small as it goes, so that the
answer says whether it is allowed. Without credentials no provider is asked; but the search for them is boto3's, which
on its way asks this machine's metadata service, unless AWS_EC2_METADATA_DISABLED is true.
"""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flows.config.settings import Settings
from flows.doctor.row import Row, ok, warn
from warehouse.errors import ChipledgerError

if TYPE_CHECKING:
    from flows.doctor.quotas import Quotas

CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 3, 5
"""A doctor that waits as long as a run does is not asked twice."""
QUOTAS = "service-quotas"
BOTO_NAMES = {"servicequotas": QUOTAS}
"""What botocore calls a service where policies call it otherwise."""


@dataclass(frozen=True, kw_only=True)
class Permission:
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
        action="pricing:GetProducts",
        request={"ServiceCode": "AmazonEC2", "MaxResults": 1},
        adds=f"on-demand and Reserved prices through the API: {_SAME_PRICES}",
    ),
    Permission(
        action="pricing:GetAttributeValues",
        request={"ServiceCode": "AmazonEC2", "AttributeName": "regionCode", "MaxResults": 1},
        adds="the list of regions for pricing:GetProducts",
    ),
    Permission(
        action="savingsplans:DescribeSavingsPlansOfferingRates",
        request={"savingsPlanTypes": ["Compute"], "serviceCodes": ["AmazonEC2"], "maxResults": 1},
        adds=f"Savings Plan prices through the API: {_SAME_PRICES}",
    ),
    Permission(
        action="ec2:DescribeRegions", request={}, adds='the list of the account\'s regions, where regions is "all"'
    ),
    Permission(action="ec2:DescribeSpotPriceHistory", request={"MaxResults": 1}, adds="spot prices by zone"),
    Permission(
        action="ec2:DescribeCapacityBlockOfferings",
        request={
            "InstanceType": "p5.48xlarge",
            "InstanceCount": 1,
            "CapacityDurationHours": 24,
            "MaxResults": 1,
        },
        adds="offers of Capacity Blocks, by zone",
    ),
    Permission(
        action="ec2:DescribeInstanceTypes",
        request={"MaxResults": 5},
        adds="what the API says of instance types and their accelerators",
    ),
    Permission(
        action="ec2:DescribeInstanceTypeOfferings", request={"MaxResults": 5}, adds="the zones that have each type"
    ),
    Permission(
        action="servicequotas:ListServiceQuotas",
        request={"ServiceCode": "ec2", "MaxResults": 1},
        adds="whether the account's quotas allow what the best options need",
    ),
)
"""The policy of docs/settings.md. Five is the least that EC2 takes of types."""


def checks(settings: Settings) -> list[Row]:
    """Return the door, the permissions and the quotas; AWS is asked only where credentials are found."""
    return [_door(settings), *_permissions(), *_quotas(settings)]


def _door(settings: Settings) -> Row:
    """Say which door to AWS's price list a run takes, and what credentials would add."""
    from extract.aws.price_list import places

    chosen = settings.source("aws_price_list")
    if places.door(chosen) == "api":
        return ok("AWS prices", "through the Price List API, with the credentials found")
    return ok(
        "AWS prices",
        "through the public bulk files, without credentials",
        "With credentials (pricing:GetProducts) the same prices come in fewer bytes",
    )


def _permissions() -> list[Row]:
    """Say of each operation whether the credentials allow it. Names of errors only: their messages may hold keys."""
    # Imported here: the shell must not wait for boto3 where nothing is asked.
    from extract.aws.price_list import places

    if places.door({"door": "auto"}) != "api":
        return [_note(each, "not asked: no credentials") for each in PERMISSIONS]
    import botocore.exceptions

    try:
        clients = _clients()
    except (botocore.exceptions.BotoCoreError, ValueError) as error:
        return [_note(each, f"not asked: {type(error).__name__}") for each in PERMISSIONS]
    with ThreadPoolExecutor(max_workers=len(PERMISSIONS)) as pool:
        return list(pool.map(lambda each: _permission(clients[each.service], each), PERMISSIONS))


def _quotas(settings: Settings) -> list[Row]:
    """Say of each of AWS's best options whether the account's quota allows one machine; nothing without a file."""
    from extract.aws.price_list import places
    from flows.config import decision_settings
    from flows.doctor import quotas

    file = settings.data_dir / "prices.duckdb"
    if not file.exists():
        return []
    try:
        needs = quotas.needed(file, decision_settings.read(settings))
    except ChipledgerError as error:
        return [warn("quotas", f"not asked: {error}", "`chipledger build` makes the file anew")]
    if not needs:
        return [warn("quotas", "not asked: no option of AWS is the best of any workload")]
    if places.door({"door": "auto"}) != "api":
        return quotas.checked(needs, lambda _region: "not asked: no credentials")
    return quotas.checked(needs, _quotas_of)


def _quotas_of(region: str) -> "Quotas | str":
    """Return a region's quotas, or why there is no answer, by name of the error."""
    from botocore import exceptions

    from extract.aws.client import session
    from flows.doctor import quotas

    try:
        return quotas.read(
            session(CONNECT_TIMEOUT_S, READ_TIMEOUT_S).create_client(QUOTAS, region_name=region, config=_config())
        )
    except exceptions.ClientError as error:
        answer: Any = error.response
        return f"no answer: {answer.get('Error', {}).get('Code', '')}"
    except exceptions.HTTPClientError as error:
        return f"no answer: {type(error).__name__}"
    except (exceptions.BotoCoreError, ValueError) as error:
        return f"not asked: {type(error).__name__}"


def _config() -> Any:
    from botocore.config import Config

    from extract.web.http import user_agent

    return Config(
        retries={"total_max_attempts": 1, "mode": "standard"},
        user_agent_extra=user_agent().split(" ")[0],
    )


def _clients() -> dict[str, Any]:
    """Return a client of each service in the region where the sources ask first, with one attempt and little time."""
    from extract.aws.client import session
    from extract.aws.price_list import places
    from extract.aws.spot.ec2 import HOME_REGION

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

    from extract.aws.capacity_blocks.api import REFUSALS
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
        return _note(permission, f"not asked: {type(error).__name__}")
    return ok(permission.action, "allowed")


def _note(permission: Permission, found: str) -> Row:
    return warn(permission.action, found, f"Would add {permission.adds}")
