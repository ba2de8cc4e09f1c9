"""Every column of the warehouse, with its type, meaning and unit, and the words that some of them may hold.

A column means the same wherever its name stands. Names are FOCUS 1.4 columns (and of the SkuPrice dataset of the 1.5
draft) in snake_case where the meaning is FOCUS's. `warehouse.schema.tables` says which tables have which of them.
"""

from dataclasses import dataclass

from warehouse.reference.accelerator_facts import FACTS
from warehouse.schema.audit_columns import AUDIT
from warehouse.schema.commitment_columns import COMMITMENT
from warehouse.schema.cost_columns import COST
from warehouse.schema.decision_columns import DECISION
from warehouse.schema.focus_columns import FOCUS
from warehouse.schema.front_columns import FRONT
from warehouse.schema.index_columns import INDEX
from warehouse.schema.query_columns import QUERY
from warehouse.schema.truth_columns import TRUTH

PURCHASE_OPTIONS = ("on_demand", "reserved", "savings_plan", "spot", "capacity_block")
PAYMENT_MODELS = ("No Upfront", "Partial Upfront", "All Upfront")
OFFERING_CLASSES = ("standard", "convertible")
CAPACITY_UNITS = ("instance", "UltraServer", "GPU")
STATISTICS = ("price", "floor", "p25", "median")
"""Of several offers; `floor` is a "from" price: the least that anybody pays, and not what everybody does."""
PRICING_UNITS = ("Minutes", "Months")
"""Times that a price may buy instead of an hour; sql/offer_unit.sql has the hours of each."""
RESTRICTIONS = ("grandfathered", "announced")
"""Prices that nobody new can have now: of existing customers only, or of a later date."""
UNIT_PRICE_TYPES = ("List", "Contracted")
CURRENCIES = ("USD", "CNY", "EUR", "GBP")
HOURS_PER_YEAR = 8760
"""AWS's own convention for spreading an upfront fee: 365 days, no leap day."""

FOCUS_PRICING_CATEGORY = {
    "on_demand": "Standard",
    "capacity_block": "Standard",
    "reserved": "Committed",
    "savings_plan": "Committed",
    "spot": "Dynamic",
}
"""FOCUS PricingCategory of each purchase option."""


@dataclass(frozen=True)
class Column:
    """One column: its name, DuckDB type, meaning, and unit (empty where it has none)."""

    name: str
    type: str
    meaning: str
    unit: str = ""

    @property
    def comment(self) -> str:
        """Return the text of the column's COMMENT: the meaning and, in brackets, the unit."""
        return f"{self.meaning} [{self.unit}]" if self.unit else self.meaning


MONEY = "DECIMAL(18,10)"

# fmt: off
_COLUMNS = (
    # identity of a price
    Column("offer_id", "BIGINT", "Hash of the identity columns of core.offer, 52 bits, exact in a double"),
    Column("service_provider_name", "VARCHAR", "Who sells it (FOCUS ServiceProviderName)"),
    Column("instance_type", "VARCHAR", "The provider's name of the machine; NULL where the chip itself is sold"),
    Column("accelerator_name", "VARCHAR", "Chip, such as H100 or Trainium2; NULL where unknown"),
    Column("accelerator_count", "DECIMAL(10,4)", "Chips in one capacity unit; fractions exist", "chips"),
    Column("capacity_unit", "VARCHAR", "What one price buys: " + ", ".join(CAPACITY_UNITS)),
    Column("minimum_quantity", "DECIMAL(10,4)", "Least number of capacity units sold; NULL where none is stated", "units"),
    Column("host_provider_name", "VARCHAR", "Whose machines they are, where the seller is a reseller or marketplace that says so (FOCUS HostProviderName)"),
    Column("accelerator_label", "VARCHAR", "The chip in the provider's own words, which core.accelerator_label reads; NULL where the instance type says it"),
    Column("fabric", "VARCHAR", "Network between machines as the provider names it, such as InfiniBand; NULL where it is silent"),
    Column("pricing_unit", "VARCHAR", "Time that unit_price buys (FOCUS PricingUnit): " + ", ".join(PRICING_UNITS) + "; NULL: one hour"),
    Column("restriction", "VARCHAR", "Who or what the price is kept for: " + ", ".join(RESTRICTIONS) + "; NULL: anybody, now"),
    Column("region_id", "VARCHAR", "Region in the provider's own code; for AWS the price list's Region Code"),
    Column("availability_zone_id", "VARCHAR", "Zone id, the same for every account (use1-az1); NULL where the price is regional"),
    Column("availability_zone", "VARCHAR", "Zone name, for captures that carry no zone id; it differs between accounts"),
    Column("purchase_option", "VARCHAR", "How it is bought: " + ", ".join(PURCHASE_OPTIONS)),
    Column("commitment_discount_type", "VARCHAR", "Kind of plan (Compute, EC2Instance, SageMaker); NULL outside plans"),
    Column("commitment_term_hours", "INTEGER", "Length of the commitment, a year being 8760", "hours"),
    Column("purchase_payment_model", "VARCHAR", "How a commitment is paid: " + ", ".join(PAYMENT_MODELS)),
    Column("offering_class", "VARCHAR", "Reserved offering class: " + ", ".join(OFFERING_CLASSES)),
    Column("tier", "VARCHAR", "The provider's tier, in its own words; NULL where it has none"),
    Column("statistic", "VARCHAR", "What the amount is of several offers: " + ", ".join(STATISTICS)),
    Column("conditions", "VARCHAR", "What else the price depends on; NULL means Linux/UNIX, shared tenancy, no software"),
    Column("pricing_currency", "VARCHAR", "ISO 4217 code of the amounts (FOCUS PricingCurrency)"),
    Column("unit_price_type", "VARCHAR", "List or Contracted (FOCUS UnitPriceType)"),
    Column("contract_id", "VARCHAR", "The contract of a contracted price; NULL for list prices"),
    # attributes of an offer
    Column("sku_id", "VARCHAR", "The provider's product code (FOCUS SkuId); NULL where not stated"),
    Column("sku_price_id", "VARCHAR", "The provider's code of the recurring rate (FOCUS SkuPriceId); NULL where not stated"),
    # amounts
    Column("unit_price", MONEY, "Recurring price of one capacity unit", "pricing currency per hour, or per pricing_unit"),
    Column("upfront_price", MONEY, "Price paid once for the term; 0 where none is paid, NULL where the option has no such notion", "pricing currency"),
    # the log
    Column("source", "VARCHAR", "Short name of the source, as in core.source; of a measured run, which is no price and has no row there: catalogue, or benchmark: and its label"),
    Column("scope", "VARCHAR", "The part of the source that succeeds or fails alone, such as a region"),
    Column("valid_from", "TIMESTAMP", "First moment at which the price was seen", "UTC"),
    Column("valid_to", "TIMESTAMP", "First moment at which it was seen no more; NULL while it holds", "UTC"),
    Column("last_observed_at", "TIMESTAMP", "Last moment at which the source confirmed it", "UTC"),
    Column("observed_at", "TIMESTAMP", "Moment at which the source was looked at, or the date its archive states", "UTC"),
    Column("recorded_at", "TIMESTAMP", "Moment at which we learnt it", "UTC"),
    Column("retracts_recorded_at", "TIMESTAMP", "Set on a retraction: recorded_at of the event of this offer, source and valid_from that no longer counts", "UTC"),
    Column("document_sha256", "VARCHAR", "SHA-256 of the document that says so, as in core.document"),
    Column("run_id", "VARCHAR", "The run that did it, named by its start in UTC"),
    Column("complete", "BOOLEAN", "Whether the answer covered the whole scope, so that absence means gone"),
    Column("status", "VARCHAR", "What became of it"),
    Column("n_rows", "INTEGER", "Prices accepted", "rows"),
    Column("n_refused", "INTEGER", "Prices refused", "rows"),
    Column("error", "VARCHAR", "Why it failed; NULL where it did not"),
    Column("archived", "BOOLEAN", "Whether the prices are of a past date: from an archive or an import"),
    # documents and sources
    Column("url", "VARCHAR", "Address, or operation of the API"),
    Column("parameters", "VARCHAR", "Parameters of the call, as JSON"),
    Column("version_key", "VARCHAR", "Address of content that never changes; NULL where the address is reused"),
    Column("fetched_at", "TIMESTAMP", "When the bytes came", "UTC"),
    Column("published_at", "TIMESTAMP", "The provider's own date of the content; NULL where it states none", "UTC"),
    Column("size_bytes", "BIGINT", "Size of the kept bytes", "bytes"),
    Column("whole_size_bytes", "BIGINT", "Size of the file that the kept excerpt was cut from; NULL where all was kept", "bytes"),
    Column("whole_sha256", "VARCHAR", "SHA-256 of the file that the kept excerpt was cut from; NULL where all was kept"),
    Column("kind", "VARCHAR", "live, archive or import"),
    Column("precedence", "INTEGER", "Where sources overlap and differ, the lowest number is believed"),
    Column("max_age_hours", "INTEGER", "Age beyond which the source's prices are no longer called current; NULL: never current", "hours"),
    Column("title", "VARCHAR", "What the source is, in words"),
    # facts of machines
    Column("accelerator_vendor", "VARCHAR", "Maker of the chip"),
    Column("accelerator_kind", "VARCHAR", "gpu, neuron, gaudi, tpu, inference, fpga or media"),
    Column("accelerator_memory_gib", "DECIMAL(10,4)", "Memory of one chip, or of the fraction sold; NULL where unknown", "GiB"),
    Column("neuron_cores_per_accelerator", "INTEGER", "NeuronCores of one chip; NULL where it has none or it is unknown", "cores"),
    Column("form_factor", "VARCHAR", "SXM, PCIe, NVL and the like; NULL where the provider is silent"),
    Column("known_from", "DATE", "First day on which the fact is held to be true; NULL: always", "UTC"),
    Column("override_reason", "VARCHAR", "Why the value differs from what the provider's API says; NULL where it does not"),
    Column("source_url", "VARCHAR", "Where the fact stands"),
    Column("accessed_on", "DATE", "When it was read there", "UTC"),
    # quarantine
    Column("quarantine_id", "BIGINT", "Hash of source, scope, moment, offer and reason, 52 bits"),
    Column("gate", "VARCHAR", "Which gate refused it: row, batch or history"),
    Column("reason", "VARCHAR", "Why, in words"),
    Column("field", "VARCHAR", "The field concerned"),
    Column("value", "VARCHAR", "The value that was refused"),
    Column("row_json", "VARCHAR", "The refused row, as JSON"),
    Column("decision", "VARCHAR", "accept or refuse, once somebody or a confirmation settled it; NULL while open"),
    Column("decided_at", "TIMESTAMP", "When it was settled", "UTC"),
    Column("decided_by", "VARCHAR", "Who or what settled it"),
    # facts beside prices
    Column("operating_system", "VARCHAR", "Operating system that the fact is about"),
    Column("savings_percent", "INTEGER", "Saving of spot against on-demand that the provider advertises", "percent"),
    Column("interruption_band", "VARCHAR", "Share of spot instances that were interrupted in the last month, as the provider bands it"),
    Column("supports_on_demand", "BOOLEAN", "Whether the provider's API says it is sold on demand here"),
    Column("supports_spot", "BOOLEAN", "Whether the provider's API says it is sold as spot here"),
    Column("supports_capacity_block", "BOOLEAN", "Whether the provider's API says it is sold in Capacity Blocks here"),
    Column("api_accelerator_name", "VARCHAR", "Chip as the provider's API names it"),
    Column("api_accelerator_count", "DECIMAL(10,4)", "Chips as the provider's API counts them", "chips"),
    Column("api_accelerator_memory_gib", "DECIMAL(10,4)", "Memory of one chip as the provider's API states it", "GiB"),
    Column("api_neuron_cores_per_accelerator", "INTEGER", "NeuronCores of one chip as the provider's API states them", "cores"),
    Column("capacity_block_offering_id", "VARCHAR", "The provider's id of one offer of a Capacity Block; empty text where the query found none"),
    Column("queried_hours", "INTEGER", "Duration that was asked for", "hours"),
    Column("queried_count", "INTEGER", "Instances, or UltraServers, that were asked for", "units"),
    Column("starts_at", "TIMESTAMP", "Start of the block", "UTC"),
    Column("ends_at", "TIMESTAMP", "End of the block", "UTC"),
    Column("duration_minutes", "INTEGER", "Paid length of the block; NULL where the answer lacks the minutes", "minutes"),
    Column("usable_minutes", "INTEGER", "Paid length less the 30 minutes before the end in which instances are ended", "minutes"),
    Column("block_fee", MONEY, "Fee of the whole block", "pricing currency"),
    Column("answer_error", "VARCHAR", "The error that the query met; NULL where it met none"),
    Column("n_machines", "BIGINT", "Machines offered; NULL where not told", "machines"),
    Column("n_accelerators", "BIGINT", "Chips offered; NULL where not told", "chips"),
    Column("stock_status", "VARCHAR", "What the provider says of its stock, in its own words"),
    Column("rate_date", "DATE", "Day of the reference rate", "UTC"),
    Column("units_per_eur", MONEY, "Reference rate: units of the currency for one euro", "units"),
    # what one unit of an offer is
    Column("accelerator_share", "DECIMAL(10,4)", "Part of a chip that one of this label is; NULL: a slice of unknown size", "chips"),
    Column("hours_per_pricing_unit", "DOUBLE", "Hours that unit_price buys", "hours"),
    Column("capacity_class", "VARCHAR", "What is bought at once: fraction, single, several (of one machine), node (8 or more), cluster (machines on one fabric), rack; NULL: not stated"),
    # marts
    # providers side by side
    Column("commitment_class", "VARCHAR", "none, interruptible, under_a_year, one_year, two_years, three_years or longer; NULL: a commitment of a length that is not stated"),
    Column("is_floor", "BOOLEAN", "Whether it is a \"from\" price: the least that anybody pays"),
    Column("n_current", "BIGINT", "Offers of them whose price is current", "offers"),
    Column("cheapest_price_usd", "DOUBLE", "Cheapest price seen, current ones first; of a marketplace the 25th percentile over its machines", "USD per chip-hour"),
    Column("price_per_accelerator_hour_before", "DOUBLE", "effective_hourly_price_before / accelerator_count", "pricing currency per chip-hour"),
    Column("price_per_accelerator_hour_after", "DOUBLE", "effective_hourly_price_after / accelerator_count", "pricing currency per chip-hour"),
    Column("mean_price_per_accelerator_hour_7d", "DOUBLE", "Mean over the last 7 days, weighted by time; NULL where the price at their start is unknown", "pricing currency per chip-hour"),
    Column("mean_price_per_accelerator_hour_30d", "DOUBLE", "Mean over the last 30 days, weighted by time; NULL where the price at their start is unknown", "pricing currency per chip-hour"),
    Column("usd_per_million_output_tokens", "DOUBLE", "Cost of a million output tokens, all of the machine charged to them, fully used", "USD"),
    Column("is_ranked", "BOOLEAN", "Whether it may be called cheapest: a list price anybody can have, confirmed within the limit of age"),
    Column("evidence_kind", "VARCHAR", "provider_bytes: the provider's own answer; transcribed: typed or published again by somebody"),
    Column("offer_terms", "VARCHAR", "Plan, class, payment, tier and other terms of the offer, in words; NULL: none"),
    Column("median_price_usd", "DOUBLE", "Median over the offers, or over the machines of a marketplace", "USD per chip-hour"),
    Column("aws_price_usd", "DOUBLE", "AWS's cheapest price for the same chip, commitment class and capacity class", "USD per chip-hour"),
    Column("aws_purchase_option", "VARCHAR", "Purchase option of that price of AWS's"),
    Column("aws_instance_type", "VARCHAR", "Instance type of that price of AWS's"),
    Column("aws_region_id", "VARCHAR", "Region of that price of AWS's"),
    Column("aws_last_observed_at", "TIMESTAMP", "Last moment at which that price of AWS's was confirmed", "UTC"),
    Column("aws_is_current", "BOOLEAN", "Whether that price of AWS's was current when the file was built"),
    Column("distance_to_aws", "DOUBLE", "cheapest_price_usd / aws_price_usd - 1; NULL where AWS has nothing on the same terms, or only of another date", "ratio"),
    Column("oldest_age_days", "DOUBLE", "Age of the oldest of the prices", "days"),
    Column("commitment_term_years", "DOUBLE", "Length of the commitment", "years of 8760 hours"),
    Column("effective_hourly_price", "DOUBLE", "unit_price / hours_per_pricing_unit, plus upfront_price / commitment_term_hours", "pricing currency per hour"),
    Column("price_per_accelerator_hour", "DOUBLE", "effective_hourly_price / accelerator_count", "pricing currency per chip-hour"),
    Column("price_per_neuron_core_hour", "DOUBLE", "price_per_accelerator_hour / neuron_cores_per_accelerator; NULL where there are none", "pricing currency per core-hour"),
    Column("price_per_accelerator_hour_usd", "DOUBLE", "price_per_accelerator_hour x usd_per_currency_unit; NULL without a rate of the ten days before", "USD per chip-hour"),
    Column("usd_per_currency_unit", "DOUBLE", "US dollars for one unit of the pricing currency: 1 for USD, else by the ECB's reference rates of fx_rate_date", "USD"),
    Column("fx_rate_date", "DATE", "Day of the reference rates used; NULL for USD and where there is none", "UTC"),
    Column("is_current", "BOOLEAN", "Whether the source confirmed it within its max_age before the file was built"),
    Column("age_days", "DOUBLE", "Time from last_observed_at to the building of the file", "days"),
    Column("unit_price_before", MONEY, "Recurring price before the change; NULL: not offered", "pricing currency per hour"),
    Column("unit_price_after", MONEY, "Recurring price after the change; NULL: not offered", "pricing currency per hour"),
    Column("upfront_price_before", MONEY, "Upfront price before the change", "pricing currency"),
    Column("upfront_price_after", MONEY, "Upfront price after the change", "pricing currency"),
    Column("effective_hourly_price_before", "DOUBLE", "effective_hourly_price before the change; NULL: not offered", "pricing currency per hour"),
    Column("effective_hourly_price_after", "DOUBLE", "effective_hourly_price after the change; NULL: not offered", "pricing currency per hour"),
    Column("change_ratio", "DOUBLE", "Effective hourly price after / before, minus 1; NULL for new and gone offers", "ratio"),
    Column("repricing_share", "DOUBLE", "Of a list change: the share of the provider's list under the purchase option, as its source showed it, that changed on that day; NULL where fewer than three prices did", "ratio"),
    Column("repriced_on", "DATE", "Day on which the source saw the changes", "UTC"),
    Column("n_changed", "BIGINT", "Offers of the list that changed on that day", "offers"),
    Column("looked_on", "DATE", "Day of the last word that an import has on any offer", "UTC"),
    Column("is_repricing", "BOOLEAN", "Whether a list change is part of a repricing of the whole catalogue: repricing_share above one half"),
    Column("last_changed_at", "TIMESTAMP", "When the price last changed, or the offer came or came back, corrections and suspected errors left out; NULL: never seen to change", "UTC"),
    Column("effective_at", "TIMESTAMP", "When the provider says it took effect; NULL: it does not say", "UTC"),
    Column("last_observed_before_at", "TIMESTAMP", "Start of the observation window: last time the old price was seen", "UTC"),
    Column("change_kind", "VARCHAR", "list_change, market_move, spot_move, new_offer, gone_offer, returned_offer; correction and suspected_error are no change of price"),
    Column("last_source", "VARCHAR", "Source that last confirmed it"),
    Column("source_before", "VARCHAR", "Source that last showed the old price; differs from source where histories are spliced"),
    Column("scopes_failed", "INTEGER", "Scopes whose last look failed", "scopes"),
    Column("last_good_at", "TIMESTAMP", "Last look that gave accepted prices", "UTC"),
    Column("last_tried_at", "TIMESTAMP", "Last look, whatever became of it", "UTC"),
    Column("n_disagreements", "BIGINT", "Offers for which this source and another differ about the same moment", "offers"),
    Column("n_without_accelerator", "BIGINT", "Instance types of this source with no entry in core.instance_type", "types"),
    Column("n_types", "BIGINT", "Instance types or chips priced", "types"),
    Column("n_offers", "BIGINT", "Offers priced", "offers"),
    # drift index
    *(Column(*each) for each in INDEX),
    # facts of chips and models
    Column("fact", "VARCHAR", "Which figure of a chip it is; each is a column of core.accelerator"),
    Column("fact_value", "DECIMAL(12,6)", "The figure", "unit"),
    Column("unit", "VARCHAR", "Unit of the figure"),
    Column("fact_rank", "INTEGER", "1: the figure that is computed with; 2 and above: what other sources say"),
    *(Column(name, "DECIMAL(12,6)", kind.meaning, kind.unit) for name, kind in FACTS.items()),
    Column("aliases", "VARCHAR", "Other exact names of the model, parted by semicolons"),
    Column("parameters_total", "BIGINT", "Parameters of the model", "parameters"),
    Column("parameters_active", "BIGINT", "Parameters that one token passes through", "parameters"),
    Column("shared_parameters", "BIGINT", "Parameters that every token passes through; of a dense model less its embeddings", "parameters"),
    Column("layers", "BIGINT", "Layers", "layers"),
    Column("hidden_size", "BIGINT", "Width of a layer", "numbers"),
    Column("attention_size", "BIGINT", "Heads x head size", "numbers"),
    Column("kv_heads", "BIGINT", "Heads whose keys and values are kept; NULL with latent attention", "heads"),
    Column("head_size", "BIGINT", "Size of one head", "numbers"),
    Column("kv_latent_size", "BIGINT", "Numbers that latent attention keeps of one token and layer; NULL without it", "numbers"),
    Column("windowed_layers", "BIGINT", "Layers that see a window only", "layers"),
    Column("window_tokens", "BIGINT", "Tokens of that window", "tokens"),
    Column("moe_layers", "BIGINT", "Layers with routed experts; NULL for a dense model", "layers"),
    Column("experts", "BIGINT", "Routed experts of such a layer", "experts"),
    Column("experts_per_token", "BIGINT", "Experts of a layer that one token is routed to", "experts"),
    Column("expert_parameters", "BIGINT", "Parameters of one expert of one layer", "parameters"),
    Column("max_context_tokens", "BIGINT", "Longest context the model takes", "tokens"),
    Column("modality", "VARCHAR", "What the model reads: text, image"),
    Column("kv_values_per_layer", "BIGINT", "Numbers that one layer keeps of one token", "numbers"),
    Column("kv_bytes_per_token", "BIGINT", "Bytes kept of one token at 16 bits a number", "bytes"),
    # what fits on a chip
    Column("weight_precision", "VARCHAR", "Precision of the weights"),
    Column("weights_gb", "DOUBLE", "Weights in that precision", "GB of 10^9 bytes"),
    Column("kv_cache_gb", "DOUBLE", "Keys and values of all sequences in flight, at 16 bits a number", "GB of 10^9 bytes"),
    Column("memory_needed_gb", "DOUBLE", "weights_gb + kv_cache_gb; nothing is set aside for activations and the runtime", "GB of 10^9 bytes"),
    Column("accelerators_needed", "BIGINT", "Least number of chips whose memory holds it; NULL where the memory is unknown", "chips"),
    Column("headroom_gb", "DOUBLE", "Memory of so many chips less memory_needed_gb", "GB of 10^9 bytes"),
    Column("peak_tflops", "DOUBLE", "Dense peak of one chip in that precision; NULL where none is published", "TFLOP/s"),
    Column("bandwidth_bound", "DOUBLE", "Output that the memory bandwidth of so many chips allows", "tokens per second"),
    Column("compute_bound", "DOUBLE", "Output that the peak of so many chips allows", "tokens per second"),
    Column("output_rate_bound", "DOUBLE", "The lower of both bounds", "tokens per second"),
    Column("binding_bound", "VARCHAR", "Which bound is the lower one: bandwidth or compute"),
    # what a unit of power costs
    Column("n_providers", "BIGINT", "Providers with a price", "providers"),
    Column("best_dense_tflops", "DOUBLE", "Fastest dense peak of one chip published in any precision", "TFLOP/s"),
    Column("price_per_pflop_hour", "DOUBLE", "cheapest_price_usd / best_dense_tflops", "USD per PFLOP/s and hour"),
    Column("price_per_bf16_pflop_hour", "DOUBLE", "cheapest_price_usd / dense_bf16_tflops", "USD per PFLOP/s and hour"),
    Column("price_per_tb_s_hour", "DOUBLE", "cheapest_price_usd / memory_bandwidth_tb_s", "USD per TB/s and hour"),
    Column("price_per_gb_hour", "DOUBLE", "cheapest_price_usd / memory_gb", "USD per GB and hour"),
    Column("tflops_per_watt", "DOUBLE", "best_dense_tflops / tdp_w", "TFLOP/s per W"),
    Column("gb_s_per_watt", "DOUBLE", "Memory bandwidth / tdp_w", "GB/s per W"),
    # throughput: what one run of one benchmark measured
    Column("throughput_id", "BIGINT", "Hash of the run, its conditions and figures, 52 bits"),
    Column("model_name", "VARCHAR", "Model, as in core.model; another name where that has no entry"),
    Column("task", "VARCHAR", "serving (under load), offline (batch inference) or training"),
    Column("scenario", "VARCHAR", "What the benchmark calls the way of asking: Offline, Server, Interactive, 1k/1k"),
    Column("benchmark", "VARCHAR", "Benchmark with its version or round"),
    Column("benchmark_family", "VARCHAR", "Runs of one family are compared with each other, and with no other"),
    Column("precision", "VARCHAR", "Numbers that most of the arithmetic is done in: fp4, fp8, bf16 and the like"),
    Column("unit_of_work", "VARCHAR", "What is counted: token, sequence, image or sample"),
    Column("input_length", "DOUBLE", "Mean input of one request; of training the length of a sequence", "units of work"),
    Column("output_length", "DOUBLE", "Mean output of one request", "units of work"),
    Column("concurrency", "DOUBLE", "Requests in flight; NULL where not stated", "requests"),
    Column("batch_size", "DOUBLE", "Requests, or sequences, of one step; NULL where not stated", "sequences"),
    Column("output_rate", "DOUBLE", "Output of the whole system", "units of work per second"),
    Column("input_rate", "DOUBLE", "Input read by the whole system; NULL where not told", "units of work per second"),
    Column("total_rate", "DOUBLE", "Input and output of the whole system; of training what was learnt from", "units of work per second"),
    Column("interactivity", "DOUBLE", "Output for one user", "units of work per second and user"),
    Column("interactivity_statistic", "VARCHAR", "Statistic over requests that the interactivity is: median, mean, p99"),
    Column("ttft_ms", "DOUBLE", "Time to the first token", "milliseconds"),
    Column("ttft_statistic", "VARCHAR", "Statistic over requests that the time to the first token is"),
    Column("acceptance_length", "DOUBLE", "Tokens of one step with speculative decoding; 1: without it, NULL: not stated", "tokens"),
    Column("prefix_cache_hit_share", "DOUBLE", "Share of the input that was cached; NULL where not stated", "share"),
    Column("error_share", "DOUBLE", "Share of the requests that failed; NULL where not stated", "share"),
    Column("is_disaggregated", "BOOLEAN", "Whether prefill and decode ran on chips of their own"),
    Column("parallelism", "VARCHAR", "How the model was spread over the chips"),
    Column("software", "VARCHAR", "What it ran on, with versions"),
    Column("measured_by", "VARCHAR", "Who measured it"),
    Column("measured_on", "DATE", "When it was measured or published", "UTC"),
    Column("evidence_grade", "VARCHAR", "A official and linked, B a vendor's document with configuration, C others with configuration, D without it, X breaks a bound of physics"),
    # cost
    *(Column(*each) for each in COST),
    # commitments
    *(Column(*each) for each in COMMITMENT),
    # decisions
    *(Column(*each) for each in DECISION),
    *(Column(*each) for each in FRONT),
    *(Column(*each) for each in QUERY),
    # claims
    *(Column(*each) for each in AUDIT),
    *(Column(*each) for each in TRUTH),
    # what a purchase option promises; NULL: the provider's pages do not say, or there is no such notion
    Column("capacity_guaranteed", "BOOLEAN", "Whether what is bought is sure to be there when it is used"),
    Column("is_interruptible", "BOOLEAN", "Whether the provider may end it for want of capacity"),
    Column("lead_time_hours", "INTEGER", "Least time from purchase to use", "hours"),
    Column("shortest_term_hours", "INTEGER", "Shortest term sold", "hours"),
    Column("longest_term_hours", "INTEGER", "Longest term sold", "hours"),
    Column("is_cancellable", "BOOLEAN", "Whether it can be ended at any time without paying on"),
    Column("can_be_resold", "BOOLEAN", "Whether it can be sold on"),
    Column("note", "VARCHAR", "What else is to know of it"),
    # spot over time; the window of N days ends at window_end_at, means are weighted by time
    Column("window_end_at", "TIMESTAMP", "End of the windows: last good look at it", "UTC"),
    Column("mean_price_1d", "DOUBLE", "Mean over 1 day; NULL where the price in force at its start is unknown", "pricing currency per hour"),
    Column("mean_price_7d", "DOUBLE", "Mean over 7 days; NULL where the price in force at their start is unknown", "pricing currency per hour"),
    Column("mean_price_30d", "DOUBLE", "Mean over 30 days; NULL where the price in force at their start is unknown", "pricing currency per hour"),
    Column("median_price_30d", "DOUBLE", "Least price that held, or was undercut, for half of the time priced in 30 days", "pricing currency per hour"),
    Column("p95_price_30d", "DOUBLE", "Least price that held, or was undercut, for 95 % of the time priced in 30 days", "pricing currency per hour"),
    Column("max_price_30d", "DOUBLE", "Highest price in 30 days", "pricing currency per hour"),
    Column("priced_share_30d", "DOUBLE", "Share of the 30 days in which it was offered", "share"),
    Column("below_on_demand_share_30d", "DOUBLE", "Share of the time priced in 30 days in which it was below the on-demand price then in force; NULL without one", "share"),
    Column("last_changed_at", "TIMESTAMP", "When the price in force was first seen in place of another; NULL: no change was seen", "UTC"),
    Column("n_changes_30d", "BIGINT", "Changes of price in 30 days", "changes"),
    Column("cheapest_zone", "VARCHAR", "Zone of the lowest current price; its id, or its name where the id is unknown"),
    Column("cheapest_zone_price", "DOUBLE", "Lowest current price of any zone", "pricing currency per hour"),
    Column("median_zone_price", "DOUBLE", "Median of the zones' current prices", "pricing currency per hour"),
    Column("n_zones", "BIGINT", "Zones with a current price", "zones"),
    Column("mean_cheapest_price_30d", "DOUBLE", "Mean over 30 days of the lowest price of any zone at each moment", "pricing currency per hour"),
    Column("mean_median_price_30d", "DOUBLE", "Mean over 30 days of the zones' median price at each moment", "pricing currency per hour"),
    Column("most_often_cheapest_zone", "VARCHAR", "Zone that was cheapest for most of 30 days; of equals the first by name"),
    Column("most_often_cheapest_share", "DOUBLE", "Share of the 30 days in which that zone was (one of) the cheapest", "share"),
    Column("lowest_mean_zone", "VARCHAR", "Zone whose own mean over 30 days is lowest"),
    Column("lowest_mean_price_30d", "DOUBLE", "Lowest mean over 30 days of a single zone: what staying in that zone cost", "pricing currency per hour"),
    Column("feed_price", "DOUBLE", "Price of the whole region in AWS's public spot feed, which names no zone", "pricing currency per hour"),
    Column("feed_last_observed_at", "TIMESTAMP", "Last moment at which the feed confirmed it", "UTC"),
    # purchase options side by side
    Column("cash_upfront", "DOUBLE", "Paid on the day of purchase for one capacity unit: the upfront price; of a plan rate x hours x 1, 0.5 or 0 (All, Partial, No Upfront); of a block rate x hours; NULL where nothing is bought in advance", "pricing currency"),
    Column("breakeven_share_on_demand", "DOUBLE", "effective_hourly_price / on-demand price: share of use above which the commitment is cheaper than on-demand; above 1: never", "share"),
    Column("breakeven_share_spot", "DOUBLE", "effective_hourly_price / lowest_mean_price_30d: share of use above which the commitment is cheaper than spot; above 1: never", "share"),
    Column("price_fall_that_erases", "DOUBLE", "1 - effective_hourly_price / on-demand price: fall of the on-demand price that would make the commitment a loss", "share"),
    Column("is_contradicted", "BOOLEAN", "Whether a later sighting of it was refused and waits in core.quarantine"),
    Column("unknown_reason", "VARCHAR", "Why there is no price; NULL where there is one"),
    # the best option
    Column("nodes", "DOUBLE", "Capacity units that are paid", "units"),
    Column("charged_hours", "DOUBLE", "Hours that are paid for each capacity unit", "hours"),
    Column("hourly_price", "DOUBLE", "Price that is paid for each of these hours", "USD per hour"),
    Column("price_basis", "VARCHAR", "What that price is, in words"),
    Column("total_cost", "DOUBLE", "nodes x charged_hours x hourly_price", "USD"),
    Column("runner_up", "VARCHAR", "The cheapest option of another kind, in words"),
    Column("runner_up_region_id", "VARCHAR", "Region of the runner-up"),
    Column("runner_up_cost", "DOUBLE", "Total cost of the runner-up", "USD"),
    Column("runner_up_last_observed_at", "TIMESTAMP", "Last moment at which the runner-up's price was confirmed", "UTC"),
    Column("runner_up_is_current", "BOOLEAN", "Whether the runner-up's price was current when the file was built"),
    Column("margin", "DOUBLE", "runner_up_cost - total_cost", "USD"),
    Column("left_out", "VARCHAR", "What was left out, why, and how many of each; NULL where nothing was"),
)
# fmt: on

COLUMNS: dict[str, Column] = {column.name: column for column in _COLUMNS}

FOCUS_COLUMNS: dict[str, Column] = {each[0]: Column(*each) for each in FOCUS}
"""Columns of int.focus_sku_price, in FOCUS's own spelling."""
