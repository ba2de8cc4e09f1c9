-- For each chip and region at AWS: the type whose on-demand price per chip-hour is the lowest, and what the same type
-- costs under one and three years Reserved, the payment of the lowest effective price. Prices that are ranked count
-- before others, of which the last one confirmed counts. One row for each price.
--   table_cell   on_demand, reserved_1 or reserved_3
--   region_rank  1 is the region in which the chip is cheapest on demand
with priced as (
    select
        p.accelerator_name,
        p.region_id,
        p.instance_type,
        case
            when p.purchase_option = 'on_demand' then 'on_demand'
            when p.commitment_term_hours = 8760 then 'reserved_1'
            when p.commitment_term_hours = 26280 then 'reserved_3'
        end as table_cell,
        p.price_per_accelerator_hour,
        p.price_per_accelerator_hour_usd,
        p.price_per_neuron_core_hour,
        p.pricing_currency,
        p.purchase_payment_model,
        p.offering_class,
        p.last_observed_at,
        p.age_days,
        p.is_current,
        p.is_ranked,
        p.source,
        p.document_sha256,
        p.offer_id,
        case when p.is_ranked then p.price_per_accelerator_hour_usd else p.age_days end as order_in_kind
    from int.accelerator_hour_price as p
    where
        p.service_provider_name = 'AWS'
        and p.purchase_option in ('on_demand', 'reserved')
        and p.price_per_accelerator_hour is not null
        and p.availability_zone_id is null
        and p.conditions is null
        and p.unit_price_type = 'List'
),

chosen as (
    select
        accelerator_name,
        region_id,
        instance_type,
        row_number() over (
            partition by accelerator_name
            order by
                table_cell <> 'on_demand', not is_ranked, order_in_kind, price_per_accelerator_hour, region_id,
                instance_type
        ) as region_rank
    from priced
    qualify row_number() over (
        partition by accelerator_name, region_id
        order by table_cell <> 'on_demand', not is_ranked, order_in_kind, price_per_accelerator_hour, instance_type
    ) = 1
)

select
    p.* exclude (order_in_kind), -- noqa: AM04, RF02
    c.region_rank
from priced as p
inner join chosen as c
    on
        p.accelerator_name = c.accelerator_name and p.region_id is not distinct from c.region_id
        and p.instance_type = c.instance_type
where p.table_cell is not null
qualify
    row_number() over (
        partition by p.accelerator_name, p.region_id, p.table_cell
        order by row(not p.is_ranked, p.order_in_kind, p.price_per_accelerator_hour, p.offer_id)
    ) = 1
