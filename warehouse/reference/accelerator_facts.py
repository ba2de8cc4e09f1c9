"""What is published of each chip: the table `data/accelerator_fact.csv`, one figure of one source a row.

`data/README.md` says how it is filled. The facts are the columns of ref.accelerator, in its order.
"""

from collections import defaultdict
from decimal import Decimal
from typing import Any

from warehouse.reference.table import Broken, Model, Rule, Values, fields_of_columns, reader, record
from warehouse.schema.columns import allowed, columns
from warehouse.schema.tables import table_named

FACTS = allowed("fact")
AcceleratorFact = record(table_named("ref.accelerator_fact").columns)
"""One figure of one source about one chip."""


def _wrong_ranks(rows: list[Values]) -> Broken:
    ranks: dict[tuple[object, ...], list[int]] = defaultdict(list)
    last: dict[tuple[object, ...], int] = {}
    for place, row in enumerate(rows):
        key = row["accelerator_name"], row["form_factor"], row["fact"]
        ranks[key].append(row["fact_rank"])
        last[key] = place
    for chip, found in ranks.items():
        if sorted(found) != list(range(1, len(found) + 1)):
            named = " ".join(str(each) for each in chip if each)
            yield last[chip], "fact_rank", f"ranks {sorted(found)} of {named} are not 1, 2, 3 ..."


MODEL = Model(
    file="accelerator_fact.csv",
    key="accelerator_name",
    fields=fields_of_columns(AcceleratorFact._fields, {*AcceleratorFact._fields} - {"form_factor", "note"}),
    rules=[
        Rule("unit", f"{fact} is in {columns()[fact].unit}", f"fact <> '{fact}' or unit = '{columns()[fact].unit}'")
        for fact in FACTS
    ],
    rows=_wrong_ranks,
)

read_table = reader(AcceleratorFact, MODEL)


def wide(facts: list[Any]) -> list[tuple[str | Decimal | None, ...]]:
    """Return the rows of ref.accelerator: name, form, and the figure of rank 1 of each fact, None where none is known.

    A figure without a form holds for every form that the chip has; a chip of no form has one row with None.
    """
    forms: dict[str, set[str]] = defaultdict(set)
    known: dict[tuple[str, str | None], dict[str, Decimal]] = defaultdict(dict)
    for fact in facts:
        forms[fact.accelerator_name] |= {fact.form_factor} if fact.form_factor else set()
        if fact.fact_rank == 1:
            known[fact.accelerator_name, fact.form_factor][fact.fact] = fact.fact_value
    table: list[tuple[str | Decimal | None, ...]] = []
    for name in sorted(forms):
        of_name: list[str | None] = [*sorted(forms[name])] or [None]
        for form in of_name:
            figures = known[name, None] | known[name, form]
            table.append((name, form, *(figures.get(fact) for fact in FACTS)))
    return table
