-- For each purchase option, chip and provider: the lowest price per chip-hour among those confirmed in the 90 days
-- before the newest one under that option. A current price is preferred to an older one. Options are never mixed.
with priced as (
    select
        p.*,
        s.kind,
        max(p.last_observed_at) over (partition by p.purchase_option) as newest_at
    from mart.accelerator_hour_price as p
    inner join core.source as s on p.source = s.source
    where
        p.accelerator_name is not null
        and p.price_per_accelerator_hour_usd is not null
        and p.unit_price_type = 'List'
        and p.purchase_option <> 'reserved'
),

lowest as (
    select
        *,
        count(*) over (partition by purchase_option, accelerator_name) as n_offers
    from priced
    where last_observed_at > newest_at - interval 90 days
    qualify row_number() over (
        partition by purchase_option, accelerator_name, service_provider_name
        order by not is_current, price_per_accelerator_hour_usd, -epoch_us(last_observed_at), offer_id
    ) = 1
),

ranked as (
    select
        *,
        count(*) over (partition by purchase_option, accelerator_name) as n_providers,
        row_number() over (
            partition by purchase_option, accelerator_name
            order by price_per_accelerator_hour_usd, service_provider_name
        ) as provider_rank
    from lowest
)

select
    purchase_option,
    accelerator_name,
    service_provider_name,
    instance_type,
    accelerator_count,
    coalesce(availability_zone_id, region_id) as place,
    tier,
    statistic,
    price_per_accelerator_hour_usd,
    last_observed_at,
    age_days,
    is_current,
    kind,
    source,
    document_sha256,
    newest_at - interval 90 days as since_at,
    n_offers,
    n_providers,
    provider_rank,
    dense_rank() over (partition by purchase_option order by -n_providers, accelerator_name) as chip_rank
from ranked
order by purchase_option, chip_rank, provider_rank
