"""What Hyperbolic's options say beside their price."""

import json

from neoclouds.cases.hyperbolic import CASE


def test_what_cannot_be_rented_or_read_is_counted():
    """An option that is off, and one whose nodes contradict it, have no price here."""
    assert CASE.parse(CASE.body).ignored == {
        "an option that is not enabled": 1, "an option whose nodes have another number of chips": 1,
    }  # fmt: skip


def test_free_chips_are_told_where_the_number_has_one_meaning():
    """2 of a one-chip option are 2 chips; 3 of an option of 8 are 3 or 24, so nothing is said."""
    (fact,) = CASE.parse(CASE.body).facts["availability"].iter_rows(named=True)
    assert (fact["accelerator_label"], fact["region_id"], fact["n_accelerators"]) == ("h100 pcie", "ca-east-1", 2)


def test_free_chips_of_two_options_are_not_told():
    """Both would be one row: whether they are the same chips is not said."""
    options = json.loads(CASE.body)
    options.append(options[2] | {"nodes": [options[2]["nodes"][0] | {"vcpuCount": 14}], "totalAvailable": 5})
    assert CASE.parse(json.dumps(options).encode()).facts == {}


def test_cents_become_dollars_exactly():
    """A price that has parts of a cent keeps them, and the whole option stays whole."""
    body = CASE.body.replace(b'"costPerHourCents": 2552', b'"costPerHourCents": 2552.125', 1)
    found = CASE.parse(body).rows.filter(CASE.parse(body).rows["region_id"] == "eu-west-3").row(0, named=True)
    assert (found["unit_price"], found["accelerator_count"], found["capacity_unit"]) == ("25.52125", "8", "instance")
