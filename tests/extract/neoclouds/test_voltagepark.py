"""What Voltage Park has free, beside its prices."""

import json
from typing import Any

import pytest
from neoclouds.case import HERE, MOMENT, rows
from neoclouds.cases.voltagepark import CASE
from neoclouds.servers import open_sites

from extract.base import Context
from extract.web.http import HttpWeb
from warehouse.errors import LayoutChanged
from warehouse.log.gates import row_gate

PRESETS: list[dict[str, Any]] = json.loads((HERE / "fixtures/voltagepark-presets.json").read_bytes())
"""The presets of one and of eight chips as on 2026-08-25 (markrusch/Compute-Indices,
tests/fixtures/computable/voltagepark/instant_deploy_presets.json), one of them free, which none was."""


def test_free_chips_are_told_by_network():
    """None free is a fact about today, and no reason to drop the price."""
    facts = CASE.parse(CASE.body).facts["availability"]
    told = facts.select("region_id", "tier", "n_accelerators").rows()
    assert told == [
        ("a3111bd4-550a-47d0-838a-0a52bff2ae3f", "bare metal, Ethernet", 0),
        ("a3111bd4-550a-47d0-838a-0a52bff2ae3f", "bare metal, InfiniBand", 16),
        ("b0000000-0000-0000-0000-000000000002", "bare metal, Ethernet", 24),
        ("b0000000-0000-0000-0000-000000000002", "bare metal, InfiniBand", 0),
    ]


def test_a_price_per_chip_is_never_multiplied():
    """Eight chips are the least that is sold; the price stays that of one."""
    row = CASE.parse(CASE.body).rows.row(0, named=True)
    assert (row["unit_price"], row["accelerator_count"], row["minimum_quantity"]) == ("1.99", "1", "8")


def presets(*changes: dict[str, Any]) -> Any:
    found = [one | change for one, change in zip(PRESETS, changes or [{}] * 2, strict=False)]
    return CASE.parse(json.dumps(found).encode(), "presets")


def test_virtual_machines_are_paid_with_their_disks():
    """1.89 + 0.10 an hour of one chip, 15.12 + 0.80 of the whole machine of eight: 1.99 a chip, as the site prints."""
    found = presets()

    told = [(row["accelerator_label"], row["accelerator_count"], row["unit_price"], row["tier"]) for row in rows(found)]
    assert told == [
        ("h100-sxm5-80gb", "1", "1.99", "virtual machine"),
        ("h100-sxm5-80gb", "8", "15.92", "virtual machine"),
    ]
    assert found.rows["region_id"].null_count() == 2
    assert row_gate(found.rows)[1] == []
    facts = found.facts["availability"].select("region_id", "accelerator_count", "tier", "stock_status").rows()
    assert facts == [("a3111bd4-550a-47d0-838a-0a52bff2ae3f", 1, "virtual machine", "available")]


@pytest.mark.parametrize(
    "change",
    [
        {"compute_rate_hourly": "0"}, {"compute_rate_hourly": 1.89}, {"compute_rate_hourly": None},
        {"storage_rate_hourly": None}, {"network_rate_hourly": "0.01"}, {"operating_system": None},
        {"resources": {"gpus": {}}}, {"resources": {"gpus": {"a": {"count": 1}, "b": {"count": 1}}}},
        {"resources": {"gpus": {"a": {"count": 80}}}},
    ],
)  # fmt: skip
def test_a_preset_of_another_form_is_refused(change: dict[str, Any]):
    with pytest.raises(LayoutChanged):
        presets({}, change)


def test_a_preset_of_another_system_is_not_read():
    found = presets({}, {"operating_system": "Windows Server 2022"})

    assert (len(found.rows), found.ignored) == (1, {"another system than Linux": 1})


def test_each_scope_has_an_address():
    """They succeed or fail alone."""
    with open_sites([CASE]) as sites:
        site = sites["voltagepark"]
        ctx = Context(web=HttpWeb(), settings=site.settings, now=lambda: MOMENT)
        fetched = [CASE.source.fetch(ctx, scope) for scope in CASE.source.scopes(ctx)]

    assert [(one.scope, one.complete) for one in fetched] == [("all", True), ("presets", True)]
    assert site.asked == [("GET", "/api/v1/bare-metal/locations"), ("GET", "/api/v1/instant-deploy-presets/")]
    assert [len(CASE.source.parse(one.documents[0]).rows) for one in fetched] == [4, 2]
