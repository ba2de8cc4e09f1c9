"""One question to each public table, as a reader may copy it: at most six lines, one table, no join."""

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
