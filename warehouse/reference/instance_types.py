"""Accelerators of each instance type: `data/instance_type.csv`, one dated fact a row, and figures of whole machines.

`data/README.md` says how both tables are filled; `disagreements` compares the first with EC2's own answers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

import duckdb

from warehouse.errors import SettingsError, did_you_mean
from warehouse.reference import accelerators
from warehouse.reference.table import Model, Rule, reader

if TYPE_CHECKING:
    import polars as pl

ACCELERATOR_TYPE = re.compile(r"(?:ml\.|u-)?(?:p|gr?|inf|trn|dl|vt|f|cg)\d")
"""How names of accelerator families begin, among all of AWS's (u7i and u-6tb1 are memory, not UltraServers)."""


class InstanceType(NamedTuple):
    """One dated fact about one instance type, in the order of the columns of `ref.instance_type`."""

    instance_type: str
    accelerator_name: str
    accelerator_vendor: str
    accelerator_kind: str
    accelerator_count: Decimal
    capacity_unit: str
    accelerator_memory_gib: Decimal | None
    neuron_cores_per_accelerator: int | None
    form_factor: str | None
    known_from: date | None
    override_reason: str | None
    source_url: str
    accessed_on: date


MODEL = Model(
    file="instance_type.csv",
    key="instance_type",
    fields=get_type_hints(InstanceType),
    unique=("instance_type", "known_from"),
    repeated="a second row for the same type and known_from",
    rules=(Rule("accelerator_kind", "a kind that AWS does not sell", "accelerator_kind <> 'tpu'"),),
)

read_table = reader(InstanceType, MODEL)


@cache
def chips() -> Mapping[str, tuple[str, str | None]]:
    """Return chip and form of each AWS type, and of each family whose types all have one."""
    found: dict[str, set[tuple[str, str | None]]] = {}
    for fact in read_table():
        for name in {fact.instance_type, fact.instance_type.partition(".")[0]}:
            found.setdefault(name, set()).add((fact.accelerator_name, fact.form_factor))
    return {name: next(iter(each)) for name, each in found.items() if len(each) == 1}


def chip_named(text: str, field: str = "chip") -> tuple[str, str | None]:
    """Return name and form of the chip that a text names, or that an AWS type or family of types has.

    Raises SettingsError for what is neither, with the names that it may have meant.
    """
    if (chip := accelerators.resolve(text)) is not None:
        many = "a number of chips" if accelerators.has_count(text) else None
        if wrong := many or ("a part of a chip" if chip.accelerator_share != 1 else None):
            raise SettingsError(wrong, field=field, value=text, hint=f"Give {chip.accelerator_name} alone")
        return chip.accelerator_name, chip.form_factor
    if text.lower() in chips():
        return chips()[text.lower()]
    hint = did_you_mean(text, (*accelerators.names(), *chips()), "`chipledger chips` lists the known ones")
    raise SettingsError("unknown chip", field=field, value=text, hint=hint)


def chips_named(text: str, field: str) -> list[tuple[str, str | None]]:
    """Return names and form as `chip_named`: "A100" is one of any memory."""
    name, form = chip_named(text, field)
    return [(each, form) for each in accelerators.names() if re.fullmatch(rf"{re.escape(name)}(-\d+GB)?", each)]


MACHINE_FIGURES = ("vcpus", "host_memory_gib")


class MachineFact(NamedTuple):
    """One figure of one machine and where it is published.

    A machine is an instance type as AWS spells it, or a system that AWS describes without such a name: "Trainium3
    UltraServer Gen1". `vcpus` count as AWS counts them, `host_memory_gib` is MiB / 1024 of DescribeInstanceTypes.
    """

    machine: str
    fact: str
    value: int
    source_url: str
    accessed_on: date


MACHINE_FACTS = Model(
    file="machine_fact.csv",
    key="fact",
    fields=get_type_hints(MachineFact),
    free=("fact",),
    rules=(Rule("fact", f"not one of {', '.join(MACHINE_FIGURES)}", f"fact in {MACHINE_FIGURES}"),),
    unique=("machine", "fact"),
    repeated="a second one of the same machine",
)


@cache
def machine_facts() -> tuple[MachineFact, ...]:
    """Return the facts of machines that the package ships, read once."""
    return tuple(MachineFact(**row) for row in MACHINE_FACTS.read())


FIRST_GENERATIONS = {"trainium1": "trainium", "inferentia1": "inferentia", "gaudi1": "gaudi"}
"""Chips that the API names without the number that our table gives them."""


class Disagreement(NamedTuple):
    """One value of the dated table that the API contradicts; None: that side says nothing, or has no such type."""

    instance_type: str
    region_id: str
    field: str
    table_value: str | None
    api_value: str | None

    def __str__(self) -> str:
        table, api = self.table_value or "nothing", self.api_value or "nothing"
        return f"{self.instance_type} in {self.region_id}: {self.field} is {table} in the table, {api} in the API"


def disagreements(capability: "pl.DataFrame", table_rows: Iterable[InstanceType]) -> tuple[Disagreement, ...]:
    """Return what the API says otherwise than the dated table, or of types not in it, where no override says why.

    `capability` has the columns of core.instance_capability. Of several rows of a type the latest `known_from` counts.
    An override explains all differences of its type; memory that the table leaves out is one too.
    """
    table = {fact.instance_type: fact for fact in sorted(table_rows, key=lambda each: each.known_from or date.min)}
    return tuple(
        Disagreement(row["instance_type"], row["region_id"], field, _shown(kept), _shown(answer))
        for row in capability.sort("instance_type", "region_id").iter_rows(named=True)
        for field, kept, answer in _differences(row, table.get(row["instance_type"]))
    )


def chip_counts(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the instance types whose number of chips EC2's last answer and the table give differently: why, by type.

    Types that EC2 answers without a count are left out, as are those with an override.
    """
    import polars as pl

    last = pl.DataFrame(
        con.sql(
            "select * from core.instance_capability qualify api_accelerator_count is not null and row_number() over "
            "(partition by region_id, instance_type order by observed_at desc, recorded_at desc) = 1",
            params=[],
        )
    )
    if last.is_empty():
        return {}
    found = disagreements(last, read_table())
    return {each.instance_type: str(each) for each in reversed(found) if each.field == "accelerator_count"}


def _differences(row: Mapping[str, Any], fact: InstanceType | None) -> Iterator[tuple[str, object, object]]:
    if fact is None:
        yield "instance_type", None, row["instance_type"]
        return
    if fact.override_reason:
        return
    answer = row["api_accelerator_name"]
    if answer is None or not _same_chip(fact.accelerator_name, answer):
        yield "accelerator_name", fact.accelerator_name, answer
    for field in ("accelerator_count", "accelerator_memory_gib", "neuron_cores_per_accelerator"):
        kept, answer = getattr(fact, field), row[f"api_{field}"]
        if kept != answer:
            yield field, kept, answer


def _same_chip(kept: str, answer: str) -> bool:
    """Return whether two names are of one chip: the API's may say more, or lack the number of a first generation."""
    words = [word for word in kept.casefold().split("-") if not re.fullmatch(r"\d+gb", word)]
    text = re.findall(r"[a-z0-9]+", answer.casefold())
    return all(FIRST_GENERATIONS.get(word, word) in text for word in words)


def _shown(value: object) -> str | None:
    return format(value.normalize(), "f") if isinstance(value, Decimal) else None if value is None else str(value)
