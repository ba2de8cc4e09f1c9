-- The list prices that anybody can have, in US dollars per chip-hour, whatever their age: int.accelerator_hour_price
-- without prices that nobody new can have (grandfathered, announced, for reservations) and negotiated ones, and of AWS
-- without SageMaker, partitions that need an account of their own (China, GovCloud and the like), and the public spot
-- feed where zones have prices. price_order is the one order of cheapest: what is not sold out comes first, then a
-- marketplace's 25th percentile over its machines, then prices, then medians alone.
with zone_spot as (
    from int.accelerator_hour_price
    where
        service_provider_name = 'AWS'
        and purchase_option = 'spot'
        and conditions is null
        and is_current
        and region_id is not null
        and instance_type is not null
),

-- The last word on how much of each thing there is; a fact without a count of chips is of all sizes.
stock as (
    from core.availability
    qualify
        row_number() over (
            partition by
                service_provider_name, host_provider_name, instance_type, accelerator_label, accelerator_count,
                region_id, purchase_option, tier
            order by observed_at desc, recorded_at desc
        ) = 1
),

status as (
    select
        o.offer_id,
        list(a) as facts, -- noqa: RF02
        arg_max(a.stock_status, a.observed_at) as stock_status,
        bool_and(coalesce(
            a.n_machines = 0 or a.n_accelerators = 0
            or lower(a.stock_status) in ('sold out', 'unavailable', 'not available', 'shortage'), false
        )) as has_none
    from core.offer as o
    inner join stock as a
        on
            o.service_provider_name = a.service_provider_name and o.purchase_option = a.purchase_option
            and o.accelerator_label is not distinct from a.accelerator_label
            and o.region_id is not distinct from a.region_id
            and o.host_provider_name is not distinct from a.host_provider_name
            and o.instance_type is not distinct from a.instance_type
            and (a.accelerator_count is null or o.accelerator_count = a.accelerator_count)
            and (o.tier is not distinct from a.tier or concat_ws(', ', o.tier, o.fabric) = a.tier)
    group by o.offer_id
)

select
    {
        'accelerator_name': p.accelerator_name, 'form_factor': decision.sold_form(p.accelerator_name, p.form_factor),
        'service_provider_name': p.service_provider_name, 'purchase_option': p.purchase_option,
        'commitment_class': decision.commitment_class(p.purchase_option, p.commitment_term_hours),
        'capacity_class': p.capacity_class, 'fabric': p.fabric, 'tier': decision.sold_tier(p.tier),
        'is_floor': p.statistic = 'floor'
    } as price_terms,
    p.* replace (price_terms['form_factor'] as form_factor, price_terms['tier'] as tier), -- noqa: AM04
    price_terms['commitment_class'] as commitment_class,
    (p.accelerator_count * coalesce(p.minimum_quantity, 1))::DOUBLE as unit_accelerators,
    cost.network(p.capacity_class, p.service_provider_name, unit_accelerators, p.instance_type) as network,
    s.facts as stock_facts,
    s.stock_status,
    coalesce(s.has_none, false) as is_sold_out,
    {
        'is_sold_out': is_sold_out, 'is_median': p.statistic = 'median', 'is_no_quartile': p.statistic <> 'p25',
        'usd': p.price_per_accelerator_hour_usd, 'age': floor(p.age_days), 'offer_id': p.offer_id
    } as price_order
from int.accelerator_hour_price as p
left join status as s on p.offer_id = s.offer_id
where
    p.unit_price_type = 'List'
    and p.restriction is null
    and p.accelerator_name is not null
    and p.price_per_accelerator_hour_usd is not null
    and decision.is_open_to_all(p.service_provider_name, p.instance_type, p.region_id)
    and (
        p.service_provider_name <> 'AWS'
        or p.conditions is null
        or p.purchase_option = 'capacity_block'
        or (
            p.conditions = 'region-level, public spot feed'
            and (p.region_id, p.instance_type) not in (select (z.region_id, z.instance_type) from zone_spot as z)
        )
    )
