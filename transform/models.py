"""The marts, in order of creation: which SELECT makes each, and whether it is kept as a table or as a view.

A table where computing takes long or where a published file must answer at once; a view otherwise. The text of each
SELECT stands in the published file too, in `meta.model`, so that a reader can see and change it.
"""

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


MARTS = (
    Mart(
        "price_history",
        "One price of one offer from one moment to another, spliced from all sources",
        is_table=True,
        by_offer=ByOffer(
            same=(
                "valid_to",
                "unit_price",
                "upfront_price",
                "effective_hourly_price",
                "source",
                "last_source",
                "document_sha256",
            ),
            renewed=("last_observed_at",),
        ),
    ),
    Mart(
        "price_move",
        "One change of one offer's price, and what kind of change it is",
        is_table=True,
        by_offer=ByOffer(at="observed_at"),
    ),
    Mart("repricing", "One day on which prices of one provider's list changed, as one source saw it", is_table=True),
    Mart("price_change", "One change of one offer's price, with the window in which it happened"),
    Mart("document_evidence", "What kind of evidence one document is, and where its figures stand"),
    Mart("accelerator_hour_price", "The last known price of one offer, per chip-hour", is_table=True),
    Mart("source_health", "One scope of one source: its last fetch and the result", is_table=True),
    Mart("truth_rule", "One truth check: what it asks, its limits, what to do where it differs", is_table=True),
    Mart("truth_price", "One list price that truth checks read", is_table=True),
    Mart("truth_second", "Prices that two sources tell, one row a check and subject", is_table=True),
    Mart("truth_continuity", "Consecutive fetches and offers, one row a check and subject", is_table=True),
    Mart("truth_terms", "One list price per chip, and which others are of one chip on the same terms"),
    Mart("truth_unit", "Two prices per chip of one chip, across sizes, places and units"),
    Mart("truth_order", "Two ways to buy one machine in one place"),
    Mart("truth_elsewhere", "Two prices per chip of one chip, in two currencies or of a reseller and its host"),
    Mart("truth_ratio", "Pairs of comparable prices, one row a check and subject", is_table=True),
    Mart("truth_factor", "Prices that are a unit's factor apart, one row a check and subject", is_table=True),
    Mart("truth_twice", "Duplicate prices, one row a check and subject", is_table=True),
    Mart("truth_count", "Numbers of chips in EC2's answers that the reference table contradicts", is_table=True),
    Mart("truth_account", "Whether the log adds up, one row a check and subject", is_table=True),
    Mart("truth_range", "Prices per chip-hour and their plausible range, one row a chip", is_table=True),
    Mart("truth_check", "One truth check of one subject: what was compared, what differed, by how much", is_table=True),
    Mart("unknown_accelerator", "One priced instance type with no entry in ref.instance_type"),
    Mart("spot_zone_price", "Spot price of one type in one zone, now and over 1, 7 and 30 days", is_table=True),
    Mart(
        "spot_region_price", "Spot price of one type in one region, of its zones and of the public feed", is_table=True
    ),
    Mart("aws_purchase_options", "One way to buy one AWS type in one region, or why it has no price", is_table=True),
    Mart(
        "aws_chip_price",
        "One price of one chip in one region of AWS: on demand, and the same machine Reserved",
        is_table=True,
    ),
    Mart(
        "provider_price",
        "One provider's price of one chip at one kind of terms, with AWS's at the same terms",
        is_table=True,
    ),
    Mart("commitment_option", "One commitment and the on-demand price of the same machine in the same place"),
    Mart("list_price_move", "How one provider's on-demand list prices of one chip have moved", is_table=True),
    Mart("chip_price", "What a unit of one chip's power costs under one purchase option"),
    Mart("obtainable", "Whether one provider was ever seen to have one chip to sell under one purchase option"),
    Mart("workload", "One workload that published comparisons decide for: a model, a task and a load"),
    Mart("throughput", "One run of one benchmark per chip, with what physics allows it", is_table=True),
    Mart(
        "cost_price",
        "One price of int.provider_price that costs are computed with, and the size of a purchase",
        is_table=True,
    ),
    Mart(
        "cost_option",
        "One way to have chips that a token's cost is computed with, or why it has no price",
        is_table=True,
    ),
    Mart(
        "serving_rate",
        "How fast one operating point runs on one size of unit, or one stretch of speeds for a user",
        is_table=True,
    ),
    Mart("token_rate", "How many tokens a paid chip gives at one operating point, before any price", is_table=True),
    Mart("token_option", "What a million output tokens costs at one operating point under one way to have the chips"),
    Mart("headline_point", "The one operating point that a front page speaks of", is_table=True),
    Mart(
        "headline_token_cost",
        "What a million output tokens costs at the headline's point on one chip, or why there is no cost",
        is_table=True,
    ),
    Mart(
        "option_price_history",
        "The cheapest price of a chip in one size of unit under one way to buy, from one day on",
        is_table=True,
    ),
    Mart(
        "token_rate_history", "How many tokens a paid chip gives at one operating point, from one day on", is_table=True
    ),
    Mart("token_cost_history", "What a million output tokens cost at best from one day to another", is_table=True),
    Mart("serving_offer", "One operating point on one provider's terms", is_table=True),
    Mart(
        "token_cost", "What a million tokens costs at one operating point, on one provider's terms, at one utilisation"
    ),
    Mart("training_rate", "How fast one training runs on one size of unit", is_table=True),
    Mart("training_offer", "One measured training on one provider's terms", is_table=True),
    Mart(
        "training_cost",
        "What training on 10^12 tokens costs: one measured training on one provider's terms",
        is_table=True,
    ),
    Mart("cost_left_out", "Runs or prices without a cost, by the reason", is_table=True),
    Mart(
        "price_index_item",
        "One day on which one offer entered the index, moved, or held till its end",
        is_table=True,
        by_offer=ByOffer(
            at="index_date",
            same=("price_per_accelerator_hour", "pricing_currency", "is_link_end"),
            renewed=("held_to_date", "carried_from_date"),
        ),
    ),
    Mart("administered_spot", "One provider whose spot prices follow its on-demand prices, or never move"),
    Mart(
        "price_level",
        "What one provider, or all of them, had of one chip under one purchase option on one day, and its prices",
        is_table=True,
    ),
    Mart("price_index", "The like-for-like drift and the level of one series on one day", is_table=True),
    Mart("drift_report", "What one series did over 7, 30, 90 or 365 days, like for like", is_table=True),
    Mart("token_drift", "What one cost per token did over 7, 30, 90 or 365 days, and why", is_table=True),
    Mart("front_cell", "One price of the front page: one chip, one way to buy it", is_table=True),
    Mart("option_saving", "One way to buy one AWS machine, and what it saves against on demand"),
    Mart("front_chip", "The front page's line of one chip", is_table=True),
    Mart("front_bill", "What a plan or another provider would change of one bill"),
    Mart("front_move", "Whose list prices moved in 90 days, and the largest move", is_table=True),
    Mart("front_line", "One span in which one line of the front page's chart is level"),
    Mart("sku_price", "One price record in the columns of FOCUS SkuPrice (1.5 draft)", schema="focus"),
)

PUBLIC = (
    Mart("price_now", "The last known price of one offer, per chip-hour, with its age", schema="mart"),
    Mart("price_history", "One price of one offer from one moment to another, per chip-hour", schema="mart"),
    Mart("price_change", "One change of one offer's price, with the window in which it happened", schema="mart"),
    Mart("price_index", "The like-for-like index of one series on one day", schema="mart"),
    Mart("provider_price", "What one provider asks for one chip at one kind of terms, with its rank", schema="mart"),
    Mart("commitment", "One commitment and the on-demand price of the same machine", schema="mart"),
    Mart("spot_zone", "The spot price of one machine in one zone, now and over 7 and 30 days", schema="mart"),
    Mart("token_cost", "What a million output tokens costs at one point under one way to buy the chips", schema="mart"),
    Mart("token_cost_history", "What a million output tokens cost at best from one day to another", schema="mart"),
    Mart("source_health", "One scope of one source: when it was last fetched, and what came of it", schema="mart"),
)
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

ALIASES = {
    f"mart.{name}": f"int.{name}"
    for name in (
        "price_move",
        "repricing",
        "accelerator_hour_price",
        "truth_rule",
        "truth_price",
        "truth_second",
        "truth_continuity",
        "truth_terms",
        "truth_unit",
        "truth_order",
        "truth_elsewhere",
        "truth_ratio",
        "truth_factor",
        "truth_twice",
        "truth_account",
        "truth_range",
        "truth_check",
        "unknown_accelerator",
        "spot_zone_price",
        "spot_region_price",
        "aws_purchase_options",
        "commitment_option",
        "list_price_move",
        "chip_price",
        "obtainable",
        "workload",
        "throughput",
        "cost_price",
        "serving_rate",
        "serving_offer",
        "training_rate",
        "training_offer",
        "training_cost",
        "cost_left_out",
        "price_index_item",
        "administered_spot",
        "price_level",
        "claim_audit",
        "claim_contradiction",
    )
} | {f"{schema}.focus_sku_price": "focus.sku_price" for schema in ("int", "mart")}
"""Names that tables had before, with those of now: kept as views for one release."""

MACROS = (
    MartMacro(
        "best_option",
        "The cheapest way to have machines of one AWS type for a time, and the runner-up",
        {
            "horizon_hours": "4380",
            "share_of_use": "1.0",
            "nodes": "1",
            "tolerates_interruption": "false",
            "regions": "null::VARCHAR[]",
        },
    ),
    MartMacro(
        "serving_cost",
        "What serving one model costs at one operating point, on one provider's terms",
        {
            "model": "'llama-2-70b'",
            "least_interactivity": "null",
            "utilisation": "1.0",
            "commitment_use": "1.0",
            "spot_running_share": "1.0",
            "tokens_a_day": "null",
        },
    ),
    MartMacro(
        "training_run_cost",
        "What training one model costs: one training, measured or assumed, on one provider's terms",
        {
            "model": "'llama-3.1-8b'",
            "training_tokens": "1e12",
            "overhead": "0.0",
            "goodput": "1.0",
            "commitment_use": "1.0",
            "spot_running_share": "1.0",
            "assumed_mfu": "null",
            "precision_name": "'bf16'",
        },
    ),
    MartMacro(
        "choice",
        "The cheapest feasible option for one workload at one yardstick, the runner-up, and what would change it",
        {
            "task_asked": "'training'",
            "model_asked": "'llama-3.1-8b'",
            "tokens_asked": "3e11",
            "speed_asked": "null",
            "months_asked": "36",
            "use_asked": "1.0",
            "tolerates_asked": "false",
            "spot_loss_asked": "null",
            "providers_asked": "null",
            "load_asked": "null",
            "utilisation_asked": "1.0",
            "overhead_asked": "0.0",
            "goodput_asked": "1.0",
            "days_asked": "null",
        },
    ),
    MartMacro(
        "drift",
        "Like-for-like drift of one series from one day to another, with the change of its level",
        {"since": "'2026-01-01'", "until": "'2026-01-08'"},
    ),
    MartMacro(
        "price_on",
        "What one offer cost at one moment, as far as is known today",
        {"moment": "'2026-01-01'"},
    ),
    MartMacro(
        "cheapest",
        "One provider's standing price of one chip on one kind of terms, the cheapest of each way to buy it first",
        {"chip": "'H100'"},
    ),
    MartMacro(
        "fit",
        "One chip: how many hold a model, and how fast that many can generate at most",
        {"model": "'llama-3.1-8b'", "precision_name": "'bf16'", "context_tokens": "8192", "batch": "1"},
    ),
    MartMacro(
        "break_even",
        "Whether a move from one cost per token to another pays: when, at which spend, and over a horizon",
        {
            "from_usd": "0.61",
            "to_usd": "0.28",
            "tokens_a_day": "1e9",
            "weeks": "3",
            "engineers": "2",
            "engineer_hour": "150",
            "upkeep": "0",
            "dual_weeks": "0",
            "stranded": "0",
            "late_weeks": "0",
            "late_usd": "0",
            "horizon": "12",
        },
    ),
    MartMacro(
        "make_or_buy",
        "One stretch of loads in which whole units of one's own are cheaper than a hosted model",
        {"unit_month": "10000", "unit_load": "1e9", "hosted_usd": "0.9"},
    ),
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
    texts = {each.name: _COMMENT.sub("", each.sql) for each in (*MARTS, *MACROS)}
    return {name: set(_OF_MART.findall(text)) & texts.keys() for name, text in texts.items()}
