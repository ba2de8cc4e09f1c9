"""The gate of first sight: chips far outside the prices of all providers, and counts that their names deny."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from importlib import resources

import duckdb
import pytest
from looks import Read, Row, at_once, day, look, memory, refused, row

from warehouse.log.events import naive
from warehouse.log.first_sight import counts_in
from warehouse.log.load import decide, load
from warehouse.log.parsed import ScopeResult
from warehouse.log.quarantine import Quarantined, listed
from warehouse.reference.price_bands import MODEL, read_table

BAND = {(each.accelerator_name, each.purchase_option): each for each in read_table()}
H100 = BAND["H100", "on_demand"]


def machine(price: str | Decimal, count: int = 1, **others: object) -> Row:
    own = {"accelerator_label": "NVIDIA H100 SXM", "accelerator_count": str(count), "service_provider_name": "Acme"}
    return row(None, str(price), **(own | others))


OUTSIDE = [("2328.70", 1, "2329"), ("25.52", 1, "25.52"), ("0.40", 1, "0.4"), ("3.19", 8, "0.3987")]
"""Prices of so many chips, and what they are a chip."""


DENIED = {
    ("B300-SXM-2-288G", 1): "2", ("B300-SXM-2-288G", 16): "2", ("B300-SXM-2-288G", 2): None,
    ("NVIDIA HGX H100", 1): "8", ("NVIDIA HGX H100", 8): None,
}  # fmt: skip
"""Names with a number of chips, and what the name says where it is another."""
DRIFT = ("1.21", "0.67", "0.37", "0.37")
STORIES = (
    *(look(at, machine(price, count, region_id=price), machine("2.99", region_id="b"), scope=price)
      for price, count, _ in OUTSIDE for at in range(3)),
    *(look(at, machine("30", region_id="let in"), complete=False, scope="let in") for at in range(2)),
    *(look(at, machine(price, region_id="let in"), scope="let in") for at, price in ((2, "30"), (3, "31"), (4, "70"))),
    *(look(at, machine(price, region_id=where), scope=where)
      for where in ("drift", "drift and back") for at, price in enumerate(DRIFT)),
    look(9, machine("0.66", region_id="drift and back"), scope="drift and back"),
    *(
        look(
            at,
            row(
                name, str(7 * count), service_provider_name="Acme", accelerator_label="NVIDIA H100",
                capacity_unit="instance", accelerator_count=str(count), region_id=f"{name} {count}",
            ),
            scope=f"{name} {count}",
        )
        for name, count in DENIED for at in range(2)
    ),
)  # fmt: skip
"""What is seen from day to day, each in a scope and region of its own."""
ACCEPTED = day(1.5)


@pytest.fixture(scope="module")
def told() -> Iterator[tuple[duckdb.DuckDBPyConnection, list[ScopeResult]]]:
    """Give a log of the stories, in which a person let one price in, and the results of its loads."""
    with memory() as con:
        results = []
        for moment, together in at_once(sorted(STORIES, key=lambda each: each.observed_at)):
            results += load(con, together, recorded_at=moment)
            if moment == day(1):
                number = next(each.quarantine_id for each in listed(con) if each.scope == "let in")
                decide(con, number, "accept", decided_by="a person", recorded_at=ACCEPTED)
        yield con, results


@pytest.fixture(scope="module")
def read(told: tuple[duckdb.DuckDBPyConnection, list[ScopeResult]]) -> Read:
    """Return what the log of the stories says."""
    return Read(told[0])


def test_a_known_chip_out_of_range_is_held_on_first_sight(
    told: tuple[duckdb.DuckDBPyConnection, list[ScopeResult]], read: Read
) -> None:
    """3.19 an hour, taken for a month's, a node's or an eighth: it waits for a person, however often it is shown."""
    for price, _, said in OUTSIDE:
        results = [(each.status, each.n_rows, each.n_refused) for each in told[1] if each.scope == price]
        assert results == [("ok", 1, 1)] * 3
        reason = f"{said} USD per chip-hour of H100, on demand: outside 0.498 to 23.9 of all providers"
        assert read.refused(price) == [("band", "unit_price", f"{reason}; waits for a person")] * 3
        assert read.history(price) == []
    assert {line[-1] for line in read.history("b")} == {"2.99"}


LIMITS = {"low": (H100.limit_low, Decimal("0.999")), "high": (H100.limit_high, Decimal("1.001"))}
SPOT: Row = {"purchase_option": "spot"}
RESERVED: Row = {"purchase_option": "reserved", "commitment_term_hours": 8760}
COUNTS = {
    "per chip": {1: "2.99", 2: "2.99", 4: "2.99"},
    "by machine": {1: "2.99", 2: "5.98", 4: "11.96"},
    "two of three": {1: "1.60", 2: "2.99", 4: "2.99"},
}
"""Prices of machines, by their number of chips."""
TPU: Row = {"service_provider_name": "Google Cloud", "capacity_unit": "instance", "accelerator_label": "TPU v6e"}
FIRST = (
    *(look(0, machine(limit, region_id=name), machine(limit * more, region_id=f"{name} b"), scope=name)
      for name, (limit, more) in LIMITS.items()),
    look(0, machine("0.30", **SPOT), machine("0.30"), machine("0.11", **RESERVED),
         machine("0.09", tier="t", **RESERVED), scope="options"),
    look(0, row("p5.48xlarge", "40179.20"), row("p4d.24xlarge", "21.96"), archived=True, complete=False, scope="past"),
    look(0, *(machine(price, n, region_id=place) for place, sizes in COUNTS.items() for n, price in sizes.items()),
         *(machine("2.99", n, service_provider_name="Vast.ai") for n in (1, 2)), scope="counts"),
    look(0, machine("2328.70", region_id="trusted"), trusted=True, scope="trusted"),
    look(0, row("v6e-8", "21.6", accelerator_count="8", region_id="tpu", **TPU),
         row("v6e-4", "10.8", accelerator_count="1", region_id="tpu", **TPU),
         row("v6e-1", "700.0", accelerator_count="1", region_id="tpu", **TPU), scope="tpu"),
)  # fmt: skip
"""First looks, each at a scope and at offers of its own."""


@dataclass(frozen=True)
class Seen:
    """What became of the first looks: the results of the load by scope, what the log says, and what is held."""

    results: dict[str, ScopeResult]
    read: Read
    held: list[Quarantined]

    def held_of(self, scope: str) -> list[Quarantined]:
        return [each for each in self.held if each.scope == scope]


@pytest.fixture(scope="module")
def first() -> Seen:
    """Load the first looks, once."""
    with memory() as con:
        results = load(con, FIRST, recorded_at=day(0))
        return Seen({each.scope: each for each in results}, Read(con), listed(con))


def test_the_limits_are_within(first: Seen) -> None:
    """What is on a limit passes; a tenth of a percent beyond does not."""
    for name in LIMITS:
        assert (first.results[name].n_rows, first.results[name].n_refused) == (1, 1)
        assert len(first.read.history(name)) == 1


def test_a_person_lets_it_in_for_good(told: tuple[duckdb.DuckDBPyConnection, list[ScopeResult]], read: Read) -> None:
    """Accepted, it is a price from its first sighting to its last; a small move of it is nothing new, a large waits."""
    then = Read(told[0], str(naive(ACCEPTED))).history("let in")
    assert [line[1:] for line in then] == [(0, None, 1, "30.0")]
    assert [line[1:] for line in read.history("let in")] == [(0, 3, 2, "30.0"), (3, None, 3, "31.0")]
    assert [gate for gate, _, _ in read.refused("let in")] == ["history"]


def test_a_price_that_moves_out_of_range_waits(read: Read) -> None:
    """However it got there: each step of a drift is inside the bounds of a single move; back within, none waits."""
    assert [line[-1] for line in read.history("drift") if line[2] is None] == ["0.67"]
    assert {reason.partition(" USD")[0] for _, _, reason in read.refused("drift")} == {"0.37"}
    assert read.refused("drift and back") == []


def test_other_options_have_ranges_of_their_own(first: Seen) -> None:
    """Spot and commitments may be cheaper; without a range of their own it is a fifth of the lowest on demand."""
    assert BAND["H100", "spot"].limit_low < H100.limit_low
    assert ("H100", "reserved") not in BAND
    assert sorted(each.value for each in first.held_of("options")) == ["0.09", "0.3"]


def test_what_cannot_be_compared_is_not_judged() -> None:
    """A chip that nobody reads, and a currency without a rate, have no price per chip in dollars."""
    unknown = machine("9999", accelerator_label="NVIDIA Z9000")
    with memory() as con:
        load(con, [look(0, unknown, machine("9999", pricing_currency="EUR"))], recorded_at=day(0))
        assert refused(con) == []

        con.execute(
            "insert into core.fx_rate (pricing_currency, rate_date, units_per_eur, recorded_at) "
            "values ('USD', '2026-01-01', 1.1587, '2026-01-02')"
        )
        load(con, [look(1, machine("9998", pricing_currency="EUR", region_id="b"), complete=False)], recorded_at=day(1))
        assert [gate for gate, _, _ in refused(con)] == ["band"]


def test_past_prices_are_judged_too(first: Seen) -> None:
    """A month's price in an import, of a chip and a machine that are known."""
    assert [each.value for each in first.held_of("past")] == ["40179.2"]


def test_an_import_is_judged_by_what_its_provider_charges() -> None:
    """Beyond three times it, or a third of it, in whatever place or size; by no other provider, and no import."""
    charged = {"Acme": ["7.00", "9.00"], "Vast.ai": ["7.00"], "Spot": ["7.00"]}
    seen = [
        *(("desk", "Acme", price) for price in ("2.40", "27.2")), ("desk", "Bcme", "2.30"), ("desk", "Spot", "1.00"),
        ("b", "Acme", "2.30"), ("b", "Vast.ai", "1"),
    ]  # fmt: skip

    def priced(name: str, price: str, count: int) -> Row:
        option = "spot" if name == "Spot" else "on_demand"
        total = Decimal(price) * count
        return machine(total, count, region_id=price, service_provider_name=name, purchase_option=option)

    with memory() as con:
        looks = [
            look(0, *(priced(name, price, 1) for name, prices in charged.items() for price in prices)),
            *(
                look(1, priced(name, price, 8), source=f"import:{desk}", scope=f"{name} {price}", complete=False,
                     archived=True)
                for desk, name, price in seen
            ),
        ]  # fmt: skip
        load(con, looks[:1], recorded_at=day(2))
        load(con, looks[1:], recorded_at=day(2))

        reason = (
            "2.3 USD per chip-hour of H100, on demand: outside 2.333 to 23.9, a third and 3 times what Acme charges"
        )
        held = {each.scope: each.reason for each in listed(con)}
        assert held["Acme 2.30"] == f"{reason}; waits for a person"
        assert set(held) == {"Acme 2.30", "Acme 27.2"}


def test_one_price_for_several_counts_is_held(first: Seen) -> None:
    """Prices per chip, taken for those of machines, made four chips the cheapest of all; hosts may agree."""
    every = first.held_of("counts")
    held = {(json.loads(each.row_json)["region_id"], each.reason.partition(";")[0]) for each in every}
    assert len(every) == 5
    assert held == {("per chip", "one price for 1 and 4 chips"), ("two of three", "one price for 2 and 4 chips")}


def test_a_person_vouches_for_a_trusted_fetch(first: Seen) -> None:
    """It passes this gate as well."""
    assert first.held_of("trusted") == []
    assert [line[-1] for line in first.read.history("trusted")] == ["2328.7"]


@pytest.mark.parametrize(
    ("machine_name", "label", "said"),
    [
        (None, "8xH100", {8}), (None, "8x NVIDIA H100 SXM", {8}), ("gpu_8x_h100_sxm5", None, {8}),
        ("1H100.80S.30V", None, {1}), ("8B200.240V", None, {8}), ("B300-SXM-2-288G", None, {2}),
        ("H100-SXM-8-80G", None, {8}), ("NVIDIA H100 x 8", None, {8}), ("gpu-h100x8-640gb", None, {8}),
        ("gpu-mi300x1-192gb", None, {1}), ("H100_sxm5x8", None, {8}), ("a3-highgpu-8g", None, {8}),
        ("NVIDIA HGX B200", "NVIDIA HGX B200 180GB", {8}),
        (None, "tpu-v6e-8", {8}), ("v5litepod-16", "TPU v5e", {16}), ("v5p-8", "TPU v5p", {4}), ("v4-8", None, {4}),
        (None, "tpu7x-8", {8, 4}), (None, "TPU v7-16", {16, 8}), ("tpu7x-standard-4t", None, set()),
        (None, "H100 (8 GPUs)", {8}), (None, "H100 8-GPU", {8}), (None, "8 H100", {8}), (None, "H100 \u00d7 8", {8}),
        (None, "8*H100", {8}), (None, "H100 640GB 8x", {8}), ("l4-1-gpu", None, {1}), (None, "16 GB GPU", set()),
        (None, "TPU v6e", set()), (None, "M60 (half card = 1 GPU)", set()), ("vbm-256c-3072gb-8-b200-gpu", None, set()),
        (None, "NVIDIA HGX H100", set()), (None, "NVIDIA H100 SXM 80GB", set()), (None, "MI300X", set()),
        (None, "L40S", set()), ("Standard_ND96isr_H100_v5", None, set()), (None, "RTX 4090", set()),
        ("vcg-a16-6c-64g-16vram", "NVIDIA A16", set()), (None, "A100 (80 GB)", set()), (None, "RTX PRO 6000", set()),
    ],
)  # fmt: skip
def test_counts_in_names(machine_name: str | None, label: str | None, said: set[int]) -> None:
    """How price lists write a count; numbers of models, memories and cores are none."""
    assert counts_in(machine_name, label) == said


def test_a_count_that_the_name_denies_is_held(read: Read) -> None:
    """A price per chip would be out by the one number over the other."""
    for (name, count), said in DENIED.items():
        words = ("batch", "accelerator_count", f"the name says {said} chips; waits for a person")
        assert read.refused(f"{name} {count}") == ([words] * 2 if said else [])
        assert bool(read.history(f"{name} {count}")) is (said is None)


def test_the_table_of_ranges_is_whole() -> None:
    """Every row passes its model; a chip with an option of its own has one on demand too."""
    assert len(read_table(resources.files("warehouse") / "data" / MODEL.file)) == len(BAND) > 90
    assert {chip for chip, _ in BAND} == {chip for chip, option in BAND if option == "on_demand"}


def test_a_slice_of_tpus_is_priced_by_its_chips(first: Seen) -> None:
    """v6e-8 at 21.60 is 2.70 a chip; as one chip it waits, and so does 700.0, a stand-in for unknown."""
    assert sorted(each.reason.partition(";")[0] for each in first.held_of("tpu")) == [
        "700 USD per chip-hour of TPU-v6e, on demand: outside 0.1 to 15 of all providers", "the name says 4 chips",
    ]  # fmt: skip
    assert [line[-1] for line in first.read.history("tpu")] == ["21.6"]
