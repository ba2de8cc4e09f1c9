-- Providers whose spot prices are administered: one constant share of their on-demand prices for two chips or more, or
-- never moved in 30 days or more. No market made them, so they say nothing of volatility.
-- Spot beside on-demand of the same machine, place and day.
with shared as (
    select
        s.service_provider_name,
        s.accelerator_name,
        s.price_per_accelerator_hour as spot_price,
        s.price_per_accelerator_hour / d.price_per_accelerator_hour as spot_share
    from int.index_spell as s
    inner join core.offer as o on s.offer_id = o.offer_id
    inner join core.offer as p
        on
            o.service_provider_name = p.service_provider_name and o.instance_type is not distinct from p.instance_type
            and o.accelerator_label is not distinct from p.accelerator_label
            and o.accelerator_count is not distinct from p.accelerator_count
            and o.region_id is not distinct from p.region_id and o.statistic = p.statistic
            and o.pricing_currency = p.pricing_currency and p.purchase_option = 'on_demand'
    inner join int.index_spell as d
        on p.offer_id = d.offer_id and s.index_date between d.index_date and d.held_to_date
    where s.purchase_option = 'spot'
),

constant as (
    select service_provider_name
    from (
        select
            *,
            median(spot_share) over (partition by service_provider_name) as usual_share
        from shared
    ) as compared
    group by service_provider_name
    having
        count(distinct accelerator_name) >= 2
        -- half a per cent, or half a cent on a price rounded to cents
        and bool_and(abs(spot_share - usual_share) <= greatest(0.005 * usual_share, 0.005 * spot_share / spot_price))
),

still as (
    select service_provider_name
    from int.index_spell
    where purchase_option = 'spot'
    group by service_provider_name
    having max(held_to_date) - min(index_date) >= 30 and not bool_or(is_moved)
)

select service_provider_name
from constant
union
select service_provider_name
from still
