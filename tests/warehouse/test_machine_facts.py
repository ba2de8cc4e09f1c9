"""The table of machines: what is in it, and what is refused by name."""

import pytest

from warehouse.errors import ChipledgerError
from warehouse.reference import instance_types

HEADER = "machine,fact,value,source_url,accessed_on\n"
GOOD = "p5.48xlarge,vcpus,192,https://example.org/p5,2026-11-21\n"


def test_each_machine_has_both_figures():
    """Every machine of the shipped table has vCPUs and memory with an address."""
    facts = instance_types.machine_facts()
    machines = {one.machine for one in facts}
    assert len(machines) > 80
    assert {(name, fact) for name in machines for fact in instance_types.MACHINE_FIGURES} == {
        (f.machine, f.fact) for f in facts
    }
    assert [(f.fact, f.value) for f in facts if f.machine == "p5.48xlarge"] == [
        ("vcpus", 192.0), ("host_memory_gib", 2048.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (GOOD, "fact"),
        ("p5,cores,192,https://example.org,2026-11-21\n", "fact"),
        ("p5,vcpus,0,https://example.org,2026-11-21\n", "value"),
        ("p5,vcpus,many,https://example.org,2026-11-21\n", "value"),
        ("p5,vcpus,192,nowhere,2026-11-21\n", "source_url"),
        ("p5,vcpus,192,https://example.org,today\n", "accessed_on"),
        (",vcpus,192,https://example.org,2026-11-21\n", "machine"),
    ],
)
def test_a_wrong_cell_is_refused_by_name(tmp_path, line, field):
    """An unusable cell names its line and field."""
    file = tmp_path / "machine_fact.csv"
    file.write_text(HEADER + GOOD + line, encoding="utf-8")
    with pytest.raises(ChipledgerError) as caught:
        instance_types.MACHINE_FACTS.read(file)
    assert (caught.value.field, "line 3" in caught.value.message) == (field, True)
