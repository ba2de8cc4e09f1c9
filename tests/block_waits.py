"""Queries for Capacity Blocks at another speed of time."""

import pytest
from standin import aws

from extract.aws import capacity_blocks


def faster(standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch, times: float) -> None:
    """Let a second be shorter on both sides: in EC2's bucket and in what the source waits, four times more if refused.

    A slow machine delays one query and not the next, so that the bucket is filled a little faster; its own pace is
    that of `test_the_bucket_of_an_account_is_enough_for_every_query`.
    """
    standin.cloud.block_refill_per_s = 0.8 * times
    monkeypatch.setattr(capacity_blocks, "PACE_S", capacity_blocks.PACE_S / times)
    monkeypatch.setattr(capacity_blocks, "BACK_OFF_S", tuple(each / times / 4 for each in capacity_blocks.BACK_OFF_S))
