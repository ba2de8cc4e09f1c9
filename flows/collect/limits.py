"""How many scopes of a family of sources all processes together collect side by side, by Prefect's global limits."""

LIMITS = {"chipledger-aws-pricing": 16, "chipledger-aws-ec2": 32, "chipledger-gpuhunt": 4}
"""How many scopes of a family are collected side by side by all processes together; `chipledger deploy` makes the
limits. The price list and the savings plans have one host for all regions; EC2 has one for each."""
FAMILIES = {
    "aws_price_list": "chipledger-aws-pricing",
    "aws_savings_plans": "chipledger-aws-pricing",
    "aws_spot": "chipledger-aws-ec2",
    "aws_capacity_blocks": "chipledger-aws-ec2",
    "aws_instance_types": "chipledger-aws-ec2",
    "gpuhunt": "chipledger-gpuhunt",
}
"""The limit that a source counts towards; polite sources stay with the run, which knows the pauses of each host."""
