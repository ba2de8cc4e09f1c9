"""The marts, in the order of `marts.csv`: which SELECT makes each, and whether it is kept as a table or as a view.

`changed_at`, `same` and `renewed` are of tables that are amended by offer (`warehouse.publish.building.ByOffer`).
A table where computing takes long or where a published file must answer at once; a view otherwise. The text of each
SELECT stands in the published file too, in `meta.model`, so that a reader can see and change it.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from warehouse.publish.building import ByOffer

SQL = files("transform") / "sql"
_OF_MART = re.compile(r"\b(?:int|mart)\.(\w+)")
_COMMENT = re.compile(r"--.*")


@dataclass(frozen=True)
class Mart:
    """One mart: its name, what a row of it is, and whether it is materialised."""

    name: str
    row: str
    is_table: bool = False
    by_offer: ByOffer | None = None
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
    at, same, renewed = line["changed_at"], line["same"].split(), line["renewed"].split()
    by_offer = ByOffer(at=at, same=tuple(same), renewed=tuple(renewed)) if at else None
    return Mart(line["name"], line["row"], bool(line["is_table"]), by_offer, line["schema"])


_MARTS = [_mart(line) for line in _table("marts.csv")]
MARTS: tuple[Mart, ...] = tuple(mart for mart in _MARTS if mart.schema != "mart")
PUBLIC = tuple(mart for mart in _MARTS if mart.schema == "mart")
"""The tables of the schema mart, in the order in which a reader meets them; nothing of ours reads them."""

EXAMPLES = {
    "price_now": """\
select service_provider_name, region_id, instance_type, price_per_accelerator_hour_usd, age_days, evidence_kind
from mart.price_now
where accelerator_name = 'H100' and purchase_option = 'on_demand' and is_ranked
order by price_per_accelerator_hour_usd
limit 10""",
    "price_history": """\
select region_id, offer_terms, price_per_accelerator_hour, pricing_currency, valid_from, last_observed_at
from mart.price_history
where instance_type = 'p5.48xlarge' and purchase_option = 'on_demand'
    and valid_from <= '2026-01-31' and coalesce(valid_to, 'infinity') > '2026-01-31'
order by region_id, price_per_accelerator_hour""",
    "price_change": """\
select observed_at, service_provider_name, accelerator_name, purchase_option, change_ratio
from mart.price_change
where change_kind = 'list_change' and observed_at >= (select max(observed_at) - interval 7 day from mart.price_change)
order by abs(change_ratio) desc""",
    "price_index": """\
select index_date, price_index, median_price_usd, n_items, is_thin
from mart.price_index
where index_level = 'chip' and accelerator_name = 'H100' and purchase_option = 'on_demand'
order by index_date desc
limit 365""",
    "provider_price": """\
select form_factor, purchase_option, commitment_class, service_provider_name, cheapest_price_usd, age_days
from mart.provider_price
where accelerator_name = 'H100' and price_rank = 1
order by purchase_option, commitment_class, form_factor""",
    "commitment": """\
select region_id, purchase_option, purchase_payment_model, price_per_accelerator_hour_usd,
    1 - breakeven_share_on_demand as saved_share, age_days
from mart.commitment
where instance_type = 'p5.48xlarge' and commitment_term_hours = 8760
order by price_per_accelerator_hour_usd""",
    "spot_zone": """\
select region_id, availability_zone_id, price_per_accelerator_hour, mean_price_per_accelerator_hour_30d, age_days
from mart.spot_zone
where instance_type like 'p5%'
order by mean_price_per_accelerator_hour_30d nulls last""",
    "token_cost": """\
select purchase_option, accelerator_name, service_provider_name, usd_per_million_output_tokens, cost_basis
from mart.token_cost
where model_name = 'llama-2-70b' and cost_rank = 1
order by usd_per_million_output_tokens""",
    "token_cost_history": """\
select valid_from, accelerator_name, usd_per_million_output_tokens, price_effect, evidence_effect, new_chip_effect
from mart.token_cost_history
where model_name = 'llama-2-70b' and scenario = 'Offline' and purchase_option = 'on_demand'
    and accelerator_name = 'all chips'
order by valid_from""",
    "source_health": """\
select source, scope, status, last_tried_at, last_good_at, error
from mart.source_health
where status <> 'ok'
order by last_tried_at desc""",
}
"""One question to each public table, as a reader may copy it: at most six lines, one table, no join."""

_FORMER = """
price_move repricing accelerator_hour_price truth_rule truth_price truth_second truth_continuity truth_terms
truth_unit truth_order truth_elsewhere truth_ratio truth_factor truth_twice truth_account truth_range truth_check
unknown_accelerator spot_zone_price spot_region_price aws_purchase_options commitment_option list_price_move
chip_price obtainable workload throughput cost_price serving_rate serving_offer training_rate training_offer
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
    reads = _reads()
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += reads[name]
    return found


@cache
def _reads() -> dict[str, set[str]]:
    """Return the marts and macros that each one's SELECT names itself."""
    every: tuple[Mart | MartMacro, ...] = (*MARTS, *MACROS)
    texts = {each.name: _COMMENT.sub("", each.sql) for each in every}
    return {name: set(_OF_MART.findall(text)) & texts.keys() for name, text in texts.items()}
