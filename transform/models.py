"""The marts, in the order of `marts.csv`: which SELECT makes each, and whether it is kept as a table or as a view.

A table where computing takes long or where a published file must answer at once; a view otherwise. The text of each
SELECT stands in the published file too, in `meta.model`, so that a reader can see and change it.
"""

import csv
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from warehouse.publish import steps

SQL = files("transform") / "sql"


@dataclass(frozen=True)
class Mart:
    """One mart: its name, what a row of it is, and whether it is materialised."""

    name: str
    row: str
    is_table: bool = False
    schema: str = "int"

    @property
    def qualified(self) -> str:
        """Return schema and name joined by a dot."""
        return f"{self.schema}.{self.name}"

    @property
    def sql(self) -> str:
        """Return the mart's SELECT."""
        folder = SQL / {"mart": "public", "focus": "focus"}.get(self.schema, "")
        return (folder / f"{self.name}.sql").read_text()

    @property
    def example(self) -> str | None:
        """Return a question to a public table, as a reader may copy it."""
        return EXAMPLES.get(self.name) if self.schema == "mart" else None

    @property
    def amended(self) -> str | None:
        """Return the SELECT of what else a change makes again: offers, or days; None: nothing."""
        file = SQL / "amend" / f"{self.name}.sql"
        return file.read_text() if self.schema == "int" and file.is_file() else None


@dataclass(frozen=True)
class MartMacro:
    """A mart that takes parameters: its name, what a row of it is, and its parameters, each with an example."""

    name: str
    row: str
    parameters: Mapping[str, str]

    @property
    def sql(self) -> str:
        """Return the mart's SELECT, in which the parameters stand as names."""
        return (SQL / f"{self.name}.sql").read_text()


def _table(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(files("transform").joinpath(name).read_text(encoding="utf-8").splitlines(), strict=True))


def _mart(line: Mapping[str, str]) -> Mart:
    return Mart(line["name"], line["row"], bool(line["is_table"]), line["schema"])


_MARTS = [_mart(line) for line in _table("marts.csv")]
MARTS: tuple[Mart, ...] = tuple(mart for mart in _MARTS if mart.schema != "mart")
PUBLIC = tuple(mart for mart in _MARTS if mart.schema == "mart")
"""The tables of the schema mart, in the order in which a reader meets them; nothing of ours reads them."""

EXAMPLES: Mapping[str, str] = tomllib.loads(files("transform").joinpath("examples.toml").read_text(encoding="utf-8"))
"""One question to each public table, as a reader may copy it: at most six lines, one table, no join."""

_FORMER = """
price_move repricing accelerator_hour_price truth_price truth_second truth_continuity
truth_unit truth_order truth_elsewhere truth_ratio truth_factor truth_twice truth_account truth_range truth_check
unknown_accelerator spot_zone_price spot_region_price aws_purchase_options commitment_option
chip_price obtainable throughput cost_price serving_rate serving_offer training_rate training_offer
training_cost cost_left_out price_index_item administered_spot price_level claim_audit claim_contradiction
"""
ALIASES = {f"mart.{name}": f"int.{name}" for name in _FORMER.split()} | {
    f"{schema}.focus_sku_price": "focus.sku_price" for schema in ("int", "mart")
}
"""Names that tables had before, with those of now: kept as views for one release."""

MACROS: tuple[MartMacro, ...] = tuple(
    MartMacro(line["name"], line["row"], dict(each.split(" = ") for each in line["parameters"].split("; ")))
    for line in _table("macros.csv")
)
"""Table macros over the marts, for questions with numbers of one's own."""


def made_of(names: Iterable[str]) -> set[str]:
    """Return marts and macros by name, with all that they are made of, at whatever remove. Raises KeyError."""
    roots, texts = {*names}, _texts()
    found = (each for name in roots for each in steps.made_of(texts[f"int.{name}"], texts))
    return roots | {each.partition(".")[2] for each in found}


@cache
def _texts() -> dict[str, str]:
    """Return the SELECT of each mart and macro, by its name in either schema."""
    every: tuple[Mart | MartMacro, ...] = (*MARTS, *MACROS)
    return {f"{schema}.{each.name}": each.sql for each in every for schema in ("int", "mart")}
