"""Service Quotas: ListServiceQuotas as JSON 1.1 over POST, over the quotas of EC2 in each region.

    standin.quotas.applied["us-east-1"]["Running On-Demand P instances"] = 0
    standin.quotas.page_size = 1
    standin.fault("quotas:us-west-2", faults.THROTTLED)

Labels: quotas  quotas:<operation>  quotas:<region>  quotas:<operation>:<region>.

Written from the service model and AWS's documentation; the codes are those that accounts show. Assumed, for want of a
capture: the token's form.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from standin import api
from standin.exchange import Answer

TARGET_PREFIX = "ServiceQuotasV20190624."
CODES = {
    "Running On-Demand P instances": "L-417A185B",
    "Running On-Demand Trn instances": "L-2C3B7624",
    "Running On-Demand Inf instances": "L-1945791B",
    "Running On-Demand G and VT instances": "L-DB2E81BA",
    "All P5 Spot Instance Requests": "L-C4BD4855",
    "All P4, P3 and P2 Spot Instance Requests": "L-7212CCBC",
    "All Trn Spot Instance Requests": "L-6B0D517C",
    "EC2-VPC Elastic IPs": "L-0263D0A3",
}
MOST = 100


def _usual() -> dict[str, dict[str, float]]:
    return {"us-east-1": dict.fromkeys(CODES, 192.0), "us-west-2": dict.fromkeys(CODES, 0.0)}


@dataclass(kw_only=True)
class ServiceQuotas:
    """The applied quotas of EC2 by region and name; may be changed while the stand-in runs."""

    applied: dict[str, dict[str, float]] = field(default_factory=_usual)
    page_size: int = MOST


def labels(operation: str, region: str) -> tuple[str, ...]:
    return ("quotas", f"quotas:{operation}", f"quotas:{region}", f"quotas:{operation}:{region}")


def answer(operation: str, parameters: Mapping[str, object], region: str, key: str, quotas: ServiceQuotas) -> Answer:
    """Return the answer to a call."""
    try:
        return _answer(operation, parameters, region, key, quotas)
    except api.ApiFailureError as failure:
        return failure.answer()


def _answer(operation: str, parameters: Mapping[str, object], region: str, key: str, quotas: ServiceQuotas) -> Answer:
    if key != api.ACCESS_KEY:
        raise api.ApiFailureError(
            "UnrecognizedClientException", "The security token included in the request is invalid."
        )
    if operation != "ListServiceQuotas":
        raise api.ApiFailureError("UnknownOperationException", "")
    if parameters.get("ServiceCode") != "ec2":
        raise api.ApiFailureError("NoSuchResourceException", "The request failed because the service does not exist.")
    names = sorted(quotas.applied.get(region, {}))
    offset = int(str(parameters.get("NextToken") or 0))
    end = offset + min(int(str(parameters.get("MaxResults") or MOST)), quotas.page_size)
    listed = [
        {
            "ServiceCode": "ec2", "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)",
            "QuotaArn": f"arn:aws:servicequotas:{region}:111122223333:ec2/{CODES[name]}", "QuotaCode": CODES[name],
            "QuotaName": name, "Value": quotas.applied[region][name], "Unit": "None", "Adjustable": True,
            "GlobalQuota": False,
        }
        for name in names[offset:end]
    ]  # fmt: skip
    more = {"NextToken": str(end)} if end < len(names) else {}
    return Answer(body=json.dumps({"Quotas": listed, **more}).encode(), content_type=api.CONTENT_TYPE, gzip="never")
