"""What Voltage Park has free, beside its prices."""

from neoclouds.cases.voltagepark import CASE


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
