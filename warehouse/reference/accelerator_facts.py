"""What is published of each chip: the table `data/accelerator_fact.csv`, one figure of one source a row, errors named.

How the table is filled:

1. `accelerator_name` is a name of `core.instance_type` (H100, A100-80GB, Trainium2); `form_factor` is empty where the
   figure holds for every form in which the chip is sold. H100 is three products: SXM, PCIe and NVL.
2. `rank` 1 is the figure that we compute with. Other sources that say otherwise keep their row, as 2, 3 ...: a
   disagreement is shown with the reason in `note`, never averaged. Every figure has exactly one rank 1.
3. Dense and sparse are two facts. NVIDIA's datasheets headline sparse figures, twice the dense ones, and many pages
   copy those as dense. Trainium3's 2,517 BF16 is sparse and its dense BF16 671; its FP8 is 2,517 dense.
4. Memory is that of one chip in the vendor's own number, and what the driver shows where that is less than the stacks
   hold: B200 180, B300 270, GB200 186, GB300 278. Vendors' GB are often GiB; formulas take 10^9 bytes, so that what is
   said to fit, fits.
5. `interconnect_gb_s` is per chip and one direction; figures of both directions are halved and say so.
6. Nothing is filled in by analogy. A chip that is sold with two memories under one name (V100, GH200) has no memory.
   What no citable page says has no row, and is NULL.
"""

from collections import defaultdict
from datetime import date
from decimal import Decimal, InvalidOperation
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from warehouse.reference.fact_csv import Row, rows

TABLE = resources.files("warehouse") / "data" / "accelerator_fact.csv"


class FactKind(NamedTuple):
    """One kind of fact: the unit of its values and what it holds."""

    unit: str
    meaning: str


FACTS = {
    "dense_bf16_tflops": FactKind("TFLOP/s", "Peak of matrix multiplication in BF16 without sparsity"),
    "dense_fp16_tflops": FactKind("TFLOP/s", "Peak of matrix multiplication in FP16 without sparsity"),
    "dense_fp8_tflops": FactKind("TFLOP/s", "Peak of matrix multiplication in an 8-bit float without sparsity"),
    "dense_fp4_tflops": FactKind("TFLOP/s", "Peak of matrix multiplication in a 4-bit float without sparsity"),
    "dense_int8_tops": FactKind("TOP/s", "Peak of matrix multiplication in INT8 without sparsity"),
    "sparse_bf16_tflops": FactKind("TFLOP/s", "Peak in BF16 that counts the zeros of structured sparsity"),
    "sparse_fp16_tflops": FactKind("TFLOP/s", "Peak in FP16 that counts the zeros of structured sparsity"),
    "sparse_fp8_tflops": FactKind("TFLOP/s", "Peak in an 8-bit float that counts the zeros of structured sparsity"),
    "sparse_fp4_tflops": FactKind("TFLOP/s", "Peak in a 4-bit float that counts the zeros of structured sparsity"),
    "sparse_int8_tops": FactKind("TOP/s", "Peak in INT8 that counts the zeros of structured sparsity"),
    "memory_gb": FactKind("GB", "Memory of one chip as its vendor counts it"),
    "memory_bandwidth_tb_s": FactKind("TB/s", "Bandwidth of that memory"),
    "tdp_w": FactKind("W", "Power that the cooling must be made for"),
    "cores_per_accelerator": FactKind("cores", "Cores that software addresses: NeuronCores, SMs, compute units"),
    "interconnect_gb_s": FactKind("GB/s", "Bandwidth to other chips of the scale-up domain, per chip, one direction"),
    "scale_up_domain": FactKind("accelerators", "Chips that reach one another at that bandwidth, at most"),
    "release_year": FactKind("year", "Year of its release"),
}
"""The vocabulary of facts; they are the columns of core.accelerator too, in this order."""

MAX_DECIMALS = 6
MOST_DIGITS = 12


class AcceleratorFact(NamedTuple):
    """One figure of one source about one chip, in the order of the columns of `core.accelerator_fact`."""

    accelerator_name: str
    form_factor: str | None
    fact: str
    value: Decimal
    unit: str
    rank: int
    note: str | None
    source_url: str
    accessed_on: date


WIDE_COLUMNS = ("accelerator_name", "form_factor", *FACTS)
"""The columns of core.accelerator."""


def read_table(path: Traversable = TABLE) -> list[AcceleratorFact]:
    """Return the facts of a table. Raises ChipledgerError, naming line, field and value, where one is not usable."""
    facts = []
    ranks: dict[tuple[str, str | None, str], list[int]] = defaultdict(list)
    last: dict[tuple[str, str | None, str], Row] = {}
    for row in rows(
        path, AcceleratorFact._fields, key="accelerator_name", rules="warehouse/reference/accelerator_facts.py"
    ):
        fact = _fact(row)
        key = fact.accelerator_name, fact.form_factor, fact.fact
        if fact.rank in ranks[key]:
            raise row.error("rank", "a second row of this rank for the same chip, form and fact")
        ranks[key].append(fact.rank)
        last[key] = row
        facts.append(fact)
    for key, seen in ranks.items():
        if sorted(seen) != list(range(1, len(seen) + 1)):
            raise last[key].error("rank", f"ranks {sorted(seen)} of {' '.join(filter(None, key))} are not 1, 2, 3 ...")
    return facts


def wide(facts: list[AcceleratorFact]) -> list[tuple[str | Decimal | None, ...]]:
    """Return the rows of core.accelerator: name, form, and the figure of rank 1 of each fact, None where none is known.

    A figure without a form holds for every form that the chip has; a chip of no form has one row with None.
    """
    forms: dict[str, set[str]] = defaultdict(set)
    known: dict[tuple[str, str | None], dict[str, Decimal]] = defaultdict(dict)
    for fact in facts:
        forms[fact.accelerator_name] |= {fact.form_factor} if fact.form_factor else set()
        if fact.rank == 1:
            known[fact.accelerator_name, fact.form_factor][fact.fact] = fact.value
    table: list[tuple[str | Decimal | None, ...]] = []
    for name in sorted(forms):
        of_name: list[str | None] = [*sorted(forms[name])] or [None]
        for form in of_name:
            figures = known[name, None] | known[name, form]
            table.append((name, form, *(figures.get(fact) for fact in FACTS)))
    return table


def _fact(row: Row) -> AcceleratorFact:
    kind = row.one_of("fact", tuple(FACTS))
    if row.cells["unit"] != FACTS[kind].unit:
        raise row.error("unit", f"{kind} is in {FACTS[kind].unit}")
    if not row.cells["source_url"].startswith("https://"):
        raise row.error("source_url", "no public address to check the fact at")
    rank = row.cells["rank"]
    if not (rank.isascii() and rank.isdigit() and int(rank) > 0):
        raise row.error("rank", "not a whole number above 0")
    return AcceleratorFact(
        accelerator_name=row.text("accelerator_name"),
        form_factor=row.cells["form_factor"] or None,
        fact=kind,
        value=_value(row),
        unit=row.cells["unit"],
        rank=int(rank),
        note=row.cells["note"] or None,
        source_url=row.cells["source_url"],
        accessed_on=row.day("accessed_on"),
    )


def _value(row: Row) -> Decimal:
    try:
        number = Decimal(row.cells["value"])
    except InvalidOperation:
        raise row.error("value", "not a number") from None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or number <= 0:
        raise row.error("value", "not above 0")
    if -exponent > MAX_DECIMALS or number >= 10 ** (MOST_DIGITS - MAX_DECIMALS):
        raise row.error("value", f"does not fit DECIMAL({MOST_DIGITS},{MAX_DECIMALS})")
    return number
