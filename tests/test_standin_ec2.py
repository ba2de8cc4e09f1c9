"""The stand-in for EC2, asked by unmodified boto3: what it answers, and how it goes wrong."""

import functools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import botocore.exceptions
import pytest
from standin import aws, ec2_cloud
from standin.reading import client

Connect = Callable[..., Any]


@pytest.fixture
def connect(standin: aws.StandIn) -> Connect:
    """Return a maker of boto3's own EC2 clients, without retries."""
    return functools.partial(client, "ec2")


def code_of(call: Callable[..., Any], **parameters: object) -> str:
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        call(**parameters)
    return str(caught.value.response["Error"]["Code"])


def test_machines_come_back_as_boto3_shows_them(connect: Connect) -> None:
    """The XML is what botocore reads: nothing of a machine is lost on the way."""
    listed = connect().describe_instance_types()["InstanceTypes"]

    assert listed == [dict(each) for each in ec2_cloud.MACHINES]


def test_machines_are_paged_and_filtered(connect: Connect) -> None:
    """Paginator, wildcards in filters, and limits as documented."""
    client = connect()
    pages = list(client.get_paginator("describe_instance_types").paginate(MaxResults=5))

    assert [len(page["InstanceTypes"]) for page in pages] == [5, 5, 3]
    wanted = [{"Name": "instance-type", "Values": ["trn2*", "p5.*"]}]
    found = client.describe_instance_types(Filters=wanted)["InstanceTypes"]
    assert [each["InstanceType"] for each in found] == [
        "p5.48xlarge",
        "trn2.48xlarge",
        "trn2.3xlarge",
        "trn2u.48xlarge",
    ]
    assert code_of(client.describe_instance_types, MaxResults=101) == "InvalidParameterValue"
    assert code_of(client.describe_instance_types, InstanceTypes=["p5.47xlarge"]) == "InvalidInstanceType"


def test_spot_history_ends_with_an_empty_token(standin: aws.StandIn, connect: Connect) -> None:
    """Pages may be short or empty and have a successor; the last token is the empty string."""
    standin.cloud.page_sizes = (2, 0)
    client, tokens, records = connect(), [], []
    parameters: dict[str, str] = {}
    while True:
        page = client.describe_spot_price_history(**parameters)
        tokens.append(page["NextToken"])
        records += page["SpotPriceHistory"]
        if not page["NextToken"]:
            break
        parameters = {"NextToken": page["NextToken"]}

    assert tokens[-1] == ""
    assert len(tokens) > 4
    assert len(records) == len(standin.cloud.regions["us-east-1"].spot)


def test_spot_history_begins_with_the_price_in_force(standin: aws.StandIn, connect: Connect) -> None:
    """The last record before StartTime comes too, one for each series; now gives the current prices."""
    found = connect().describe_spot_price_history(
        StartTime=standin.cloud.now, InstanceTypes=["p5.48xlarge"], ProductDescriptions=["Linux/UNIX"]
    )["SpotPriceHistory"]

    assert {each["AvailabilityZoneId"]: each["SpotPrice"] for each in found} == {
        "use1-az1": "55.040000",
        "use1-az6": "12.500000",
    }


def test_spot_history_reaches_ninety_days_back(standin: aws.StandIn, connect: Connect) -> None:
    """Of older records only the one in force ninety days ago comes."""
    now = standin.cloud.now
    spot = tuple(
        ec2_cloud.Spot(
            zone_id="use1-az1", instance_type="p5.48xlarge", price=f"{days}.0", at=now - timedelta(days=days)
        )
        for days in (200, 100, 80)
    )
    standin.cloud.change("us-east-1", spot=spot)

    found = connect().describe_spot_price_history(StartTime=now - timedelta(days=365))["SpotPriceHistory"]

    assert [each["SpotPrice"] for each in found] == ["80.0", "100.0"]


def test_a_wrong_type_is_an_empty_answer(connect: Connect) -> None:
    """Trap 23: no error for a type that does not exist."""
    assert connect().describe_spot_price_history(InstanceTypes=["p5.48xlargep5e.48xlarge"])["SpotPriceHistory"] == []


def test_capacity_blocks_have_hours_and_minutes(connect: Connect) -> None:
    """308.14 is 8 h 37 min; no offer is an empty answer; types and more than two calls are refused in AWS's words."""
    found = connect("ap-south-2").describe_capacity_block_offerings(
        InstanceType="trn2.48xlarge", InstanceCount=1, CapacityDurationHours=24
    )["CapacityBlockOfferings"]
    ohio = connect("us-east-2").describe_capacity_block_offerings

    stated = [
        (each["UpfrontFee"], each["CapacityBlockDurationHours"], each["CapacityBlockDurationMinutes"]) for each in found
    ]
    assert stated == [("308.14", 8, 37), ("858.26", 24, 0)]
    assert ohio(InstanceType="trn2.48xlarge", InstanceCount=1, CapacityDurationHours=48)["CapacityBlockOfferings"] == []
    assert code_of(ohio, InstanceType="trn2.3xlarge", CapacityDurationHours=24) == "InvalidParameterValue"
    assert code_of(ohio, UltraserverType="u-trn2x64", CapacityDurationHours=24) == "CapacityBlockDescribeLimitExceeded"
    hyderabad = connect("ap-south-2").describe_capacity_block_offerings
    assert code_of(hyderabad, UltraserverType="u-trn2x64", CapacityDurationHours=24) == "UnauthorizedOperation"
    melbourne = connect("ap-southeast-4").describe_capacity_block_offerings
    assert code_of(melbourne, InstanceType="trn2.48xlarge", CapacityDurationHours=25) == "InvalidParameterValue"
