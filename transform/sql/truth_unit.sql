-- Prices per chip of one chip beside one another: sizes, regions, hours and months. One row a pair of prices.
with listed as materialized (
    select
        *,
        case when service_provider_name = 'AWS' then split_part(regexp_replace(instance_type, '^ml[.]', ''), '.', 1) end
            as family
    from int.truth_price
    where price_per_accelerator_hour > 0 and (purchase_option = 'on_demand' or pricing_unit = 'Months')
)

select
    case when family similar to '(p|trn)[0-9].*' then 'training_sizes_agree' else 'sizes_agree' end as check_name,
    service_provider_name as subject,
    offer_id,
    arg_min(offer_id, (price_per_accelerator_hour, offer_id)) over family_terms as other_offer_id,
    price_per_accelerator_hour / min(price_per_accelerator_hour) over family_terms as ratio,
    valid_from as began_at
from listed
where purchase_option = 'on_demand' and statistic = 'price'
window family_terms as (partition by terms, family, capacity_unit, instance_type like 'ml.%')
qualify count(*) over family_terms > 1
union all
select
    'regions_agree' as check_name,
    service_provider_name as subject,
    offer_id,
    arg_max(offer_id, (last_observed_at, offer_id)) over machine as other_offer_id,
    effective_hourly_price / median(effective_hourly_price) over machine as ratio,
    valid_from as began_at
from listed
where purchase_option = 'on_demand' and statistic = 'price' and instance_type is not null
window
    machine as (
        partition by
            service_provider_name, host_provider_name, instance_type, accelerator_label, accelerator_count, tier,
            conditions, pricing_currency, capacity_unit
    )
qualify count(*) over machine > 2
union all
select
    'month_and_hour' as check_name,
    m.service_provider_name as subject,
    m.offer_id,
    h.offer_id as other_offer_id,
    m.price_per_accelerator_hour / h.price_per_accelerator_hour as ratio,
    greatest(m.valid_from, h.valid_from) as began_at
from listed as m
inner join listed as h
    on
        m.service_provider_name = h.service_provider_name and m.accelerator_name = h.accelerator_name
        and m.accelerator_count = h.accelerator_count and m.region_id is not distinct from h.region_id
        and m.instance_type is not distinct from h.instance_type and m.pricing_currency = h.pricing_currency
        and h.purchase_option = 'on_demand' and h.pricing_unit is null
where m.pricing_unit = 'Months' and m.statistic = 'price' and h.statistic = 'price'
