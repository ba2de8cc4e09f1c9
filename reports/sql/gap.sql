-- Priced offers of which something is not known, so that they stand in no comparison, by what it is, worst first.
with why as (
    select
        service_provider_name,
        last_observed_at,
        case
            when accelerator_name is null then null
            when accelerator_count is null then 'slice'
            when price_per_accelerator_hour is not null and price_per_accelerator_hour_usd is null then 'rate'
            when capacity_class is null then 'capacity'
            when purchase_option not in ('on_demand', 'spot', 'capacity_block') and commitment_term_hours is null
                then 'term'
        end as gap,
        case when gap = 'rate' then pricing_currency else coalesce(accelerator_label, instance_type) end as named
    from int.accelerator_hour_price
    where restriction is null
)

select
    gap,
    service_provider_name,
    list_sort(coalesce(list(distinct named) filter (where named is not null), [])) as words,
    count(*) as n_offers,
    max(last_observed_at) as last_observed_at
from why
where gap is not null
group by gap, service_provider_name
order by array_position(['rate', 'slice', 'term', 'capacity'], gap), -n_offers, service_provider_name
