-- What providers asked when the file was built, as latest.json has it.
select
    accelerator_name,
    form_factor,
    service_provider_name,
    purchase_option,
    commitment_class,
    capacity_class,
    tier,
    is_floor,
    statistic,
    cheapest_price_usd,
    median_price_usd,
    price_per_accelerator_hour,
    pricing_currency,
    region_id,
    instance_type,
    is_current,
    is_ranked,
    price_rank,
    last_observed_at,
    source,
    document_sha256
from int.provider_price
order by all
