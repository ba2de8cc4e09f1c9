"""The one place for tables: each as a list of columns, whose types and meanings are in `warehouse.schema.columns`.

DDL checks, COMMENTs, the data dictionary and the row gate are derived from both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.reference import accelerator_facts, models
from warehouse.schema.columns import COLUMNS, Column


@dataclass(frozen=True)
class Table:
    """One table or view: schema, name, what a row is, and its column names in order."""

    schema: str
    name: str
    row: str
    columns: tuple[str, ...]

    @property
    def qualified(self) -> str:
        """Return schema and name joined by a dot."""
        return f"{self.schema}.{self.name}"


IDENTITY = (
    "service_provider_name", "instance_type", "accelerator_label", "accelerator_count", "capacity_unit",
    "minimum_quantity", "region_id", "availability_zone_id", "availability_zone", "purchase_option",
    "commitment_discount_type", "commitment_term_hours", "purchase_payment_model", "offering_class", "tier",
    "statistic", "conditions", "pricing_currency", "unit_price_type", "contract_id",
    "host_provider_name", "fabric", "pricing_unit", "restriction",
)  # fmt: skip
"""What makes a price the same price over time, whoever reports it.

`accelerator_label` and `accelerator_count` are part of it where the chip itself is sold, or where nothing but the
provider's words says which chips its machine has; AWS's instance types have theirs in core.instance_type. The label is
what the provider wrote: what we read in it may improve without making another price of it.
"""

OBSERVATION = (*IDENTITY, "sku_id", "sku_price_id", "unit_price", "upfront_price")
"""Columns of the frame that a source's `parse` returns. Amounts are the document's own text until the row gate."""

FACT_TABLES = (
    Table("core", "spot_advice", "What the public spot advisor says of one type in one region",
          ("region_id", "instance_type", "operating_system", "savings_percent", "interruption_band",
           "source", "observed_at", "document_sha256", "recorded_at")),
    Table("core", "instance_capability", "What DescribeInstanceTypes says of one type in one region",
          ("region_id", "instance_type", "supports_on_demand", "supports_spot", "supports_capacity_block",
           "api_accelerator_name", "api_accelerator_count", "api_accelerator_memory_gib",
           "api_neuron_cores_per_accelerator", "source", "observed_at", "document_sha256", "recorded_at")),
    Table("core", "instance_zone", "One zone in which one type is offered",
          ("region_id", "availability_zone_id", "availability_zone", "instance_type",
           "source", "observed_at", "document_sha256", "recorded_at")),
    Table("core", "capacity_block_answer", "One offer that a query for Capacity Blocks found, or one query that found none",
          ("region_id", "instance_type", "capacity_unit", "queried_hours", "queried_count",
           "capacity_block_offering_id", "availability_zone_id", "availability_zone", "starts_at", "ends_at",
           "duration_minutes", "usable_minutes", "block_fee", "pricing_currency", "answer_error",
           "source", "observed_at", "document_sha256", "recorded_at")),
    Table("core", "availability", "What one provider said it had of one kind of machine in one place",
          ("service_provider_name", "host_provider_name", "instance_type", "accelerator_label", "accelerator_count",
           "region_id", "purchase_option", "tier", "n_machines", "n_accelerators", "stock_status",
           "source", "observed_at", "document_sha256", "recorded_at")),
    Table("core", "throughput", "What one run of one benchmark measured: shipped with its source, or added by the user",
          ("throughput_id", "model_name", "task", "scenario", "benchmark", "benchmark_family", "accelerator_name",
           "form_factor", "accelerator_count", "precision", "unit_of_work", "input_length", "output_length",
           "concurrency", "batch_size", "output_rate", "input_rate", "total_rate", "interactivity",
           "interactivity_statistic", "ttft_ms", "ttft_statistic", "acceptance_length", "prefix_cache_hit_share",
           "error_share", "is_disaggregated", "parallelism", "software", "measured_by", "measured_on", "source_url",
           "evidence_grade", "note", "source", "observed_at", "document_sha256", "recorded_at")),
    Table("core", "fx_rate", "The European Central Bank's reference rate of one currency on one day",
          ("pricing_currency", "rate_date", "units_per_eur",
           "source", "observed_at", "document_sha256", "recorded_at")),
)  # fmt: skip
"""What documents say beside prices; append-only, a fact is written again only when it differs from the last one."""

FACT_KEYS = {
    "spot_advice": ("region_id", "instance_type", "operating_system"),
    "instance_capability": ("region_id", "instance_type"),
    "instance_zone": ("region_id", "availability_zone_id", "availability_zone", "instance_type"),
    "capacity_block_answer": (
        "region_id", "instance_type", "capacity_unit", "queried_hours", "queried_count", "capacity_block_offering_id",
    ),
    "availability": (
        "service_provider_name", "host_provider_name", "instance_type", "accelerator_label", "accelerator_count",
        "region_id", "purchase_option", "tier",
    ),
    "throughput": ("throughput_id",),
    "fx_rate": ("pricing_currency", "rate_date"),
}  # fmt: skip
"""What a fact of each table is about; its other columns, up to `source`, are what is said."""

TABLES = (
    Table("core", "source", "One source of prices and how far it is believed",
          ("source", "service_provider_name", "title", "kind", "precedence", "max_age_hours", "url")),
    Table("core", "document", "One document as received; its bytes lie in the landing folder under its hash",
          ("document_sha256", "source", "scope", "url", "parameters", "version_key", "fetched_at", "published_at", "size_bytes",
           "whole_size_bytes", "whole_sha256", "recorded_at")),
    Table("core", "offer", "One thing that can be bought: what makes a price the same price over time",
          ("offer_id", *IDENTITY, "sku_id", "sku_price_id", "recorded_at")),
    Table("core", "price_event", "One change of an offer's price as one source tells it, or a retraction of one; append-only. Both amounts NULL: not offered from here",
          ("offer_id", "source", "scope", "valid_from", "unit_price", "upfront_price", "document_sha256",
           "recorded_at", "retracts_recorded_at")),
    Table("core", "scope_run", "One look at one scope, successful or not; append-only",
          ("run_id", "source", "scope", "observed_at", "complete", "archived", "status", "n_rows", "n_refused",
           "document_sha256", "error", "recorded_at")),
    Table("core", "sighting", "One offer seen by a look that did not cover its whole scope; append-only",
          ("offer_id", "source", "observed_at", "document_sha256", "recorded_at")),
    Table("core", "instance_type", "Accelerators of one instance type; one row per dated fact",
          ("instance_type", "accelerator_name", "accelerator_vendor", "accelerator_kind", "accelerator_count",
           "capacity_unit", "accelerator_memory_gib", "neuron_cores_per_accelerator", "form_factor", "known_from",
           "override_reason", "source_url", "accessed_on")),
    Table("core", "quarantine", "One refused row or batch, kept with its reason; append-only, the last row of an id counts",
          ("quarantine_id", "run_id", "source", "scope", "observed_at", "gate", "reason", "field", "value",
           "offer_id", "row_json", "document_sha256", "decision", "decided_at", "decided_by", "recorded_at")),
    *FACT_TABLES,
)  # fmt: skip
"""Tables of the writer's file, in order of creation."""

REFERENCE_TABLES = (
    Table("core", "accelerator_fact", "One figure of one chip as one source states it; disagreements stand side by side",
          ("accelerator_name", "form_factor", "fact", "fact_value", "unit", "fact_rank", "note", "source_url",
           "accessed_on")),
    Table("core", "accelerator", "One chip in one form: the figures of rank 1 of core.accelerator_fact",
          accelerator_facts.WIDE_COLUMNS),
    Table("core", "model", "The shape of one model: what its weights and its cache take", models.CORE_COLUMNS),
    Table("core", "purchase_term", "What one purchase option promises; one row per dated fact",
          ("service_provider_name", "purchase_option", "commitment_discount_type", "offering_class",
           "capacity_guaranteed", "is_interruptible", "lead_time_hours", "shortest_term_hours", "longest_term_hours",
           "is_cancellable", "can_be_resold", "note", "known_from", "source_url", "accessed_on")),
    Table("core", "claim", "One number that was published about prices, throughput or savings, as its text states it",
          ("claim_id", "article", "article_title", "place", "subject", "metric", "claimed", "unit", "hedge",
           "claim_conditions", "claimed_as_of", "claimed_from", "claimed_until", "purchase_option",
           "commitment_term_hours", "region_id", "batch_size", "precision", "model_name", "claimed_tokens",
           "derived_from", "source_url")),
)  # fmt: skip
"""Tables of the published file that are read from the package's own data."""

DERIVED_TABLES = (
    Table("core", "accelerator_label", "What one provider's words for a chip mean; no name: unknown",
          ("service_provider_name", "accelerator_label", "accelerator_name", "accelerator_vendor", "form_factor",
           "accelerator_memory_gib", "accelerator_share")),
    Table("core", "offer_unit", "What one unit of one offer is: its chips, and the time that its price buys",
          ("offer_id", "accelerator_name", "accelerator_vendor", "form_factor", "accelerator_memory_gib",
           "accelerator_count", "neuron_cores_per_accelerator", "hours_per_pricing_unit", "capacity_class")),
    Table("core", "usd_rate", "US dollars for one unit of one currency on one day, by the ECB's reference rates",
          ("pricing_currency", "rate_date", "usd_per_currency_unit")),
    Table("core", "sku_price", "One interval in which one source gives one offer one price",
          ("offer_id", "source", "scope", "valid_from", "valid_to", "last_observed_at", "unit_price",
           "upfront_price", "document_sha256", "recorded_at")),
    Table("core", "current_price", "Prices in force and confirmed within their source's max_age when the file was built",
          ("offer_id", "source", "scope", "valid_from", "last_observed_at", "unit_price", "upfront_price",
           "document_sha256")),
)  # fmt: skip
"""Tables and views of the published file that follow from the log by a pure function."""


def columns_of(table: Table) -> Sequence[Column]:
    """Return the columns of a table, in order."""
    return [COLUMNS[name] for name in table.columns]
