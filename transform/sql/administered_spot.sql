-- Providers whose spot prices are administered: one constant share of their on-demand prices for two chips or more, or
-- never moved in 30 days or more. No market made them, so they say nothing of volatility.
-- Pairs of offers, spot and on-demand, of the same machine and region.
with machine as (
    select
        o.service_provider_name,
        o.offer_id as spot_id,
        p.offer_id as on_demand_id
    from core.offer as o
    inner join core.offer as p
        on
            o.service_provider_name = p.service_provider_name and o.instance_type is not distinct from p.instance_type
            and o.accelerator_label is not distinct from p.accelerator_label
            and o.accelerator_count is not distinct from p.accelerator_count
            and o.region_id is not distinct from p.region_id and o.statistic = p.statistic
            and o.pricing_currency = p.pricing_currency and p.purchase_option = 'on_demand'
    where o.purchase_option = 'spot'
),

-- Prices of the last 30 days: they show of most providers that their spot prices are not administered. All years are
-- read of the others alone.
recent as (
    select
        *,
        price_per_accelerator_hour as price
    from int.index_spell
    where held_to_date >= meta.built_at()::DATE - 30
),

-- Providers whose shares differ by more than `constant` allows around any one share.
varied as (
    select m.service_provider_name
    from machine as m
    inner join recent as s on m.spot_id = s.offer_id
    inner join recent as d
        on m.on_demand_id = d.offer_id and s.index_date between d.index_date and d.held_to_date
    group by m.service_provider_name
    having
        max(least(s.price / d.price / 1.0051, (s.price - 0.0051) / d.price))
        > min(greatest(s.price / d.price / 0.9949, (s.price + 0.0051) / d.price))
),

-- The share of spot in the on-demand price of such a pair, on each day on which one of its spot prices begins.
shared as (
    select
        m.service_provider_name,
        s.accelerator_name,
        s.price_per_accelerator_hour as spot_price,
        s.price_per_accelerator_hour / d.price_per_accelerator_hour as spot_share,
        median(spot_share) over (partition by m.service_provider_name) as usual_share
    from machine as m
    anti join varied as v on m.service_provider_name = v.service_provider_name
    inner join int.index_spell as s on m.spot_id = s.offer_id
    inner join int.index_spell as d
        on m.on_demand_id = d.offer_id and s.index_date between d.index_date and d.held_to_date
),

constant as (
    select service_provider_name
    from shared
    group by service_provider_name
    having
        count(distinct accelerator_name) >= 2
        -- half a per cent, or half a cent on a price rounded to cents
        and bool_and(abs(spot_share - usual_share) <= greatest(0.005 * usual_share, 0.005 * spot_share / spot_price))
),

quiet as (
    select service_provider_name from core.offer
    where purchase_option = 'spot'
    except
    select service_provider_name from recent
    where is_moved and purchase_option = 'spot'
),

still as (
    select i.service_provider_name
    from int.index_spell as i
    inner join quiet as q on i.service_provider_name = q.service_provider_name -- of none no years are read
    where i.purchase_option = 'spot'
    group by i.service_provider_name
    having max(i.held_to_date) - min(i.index_date) >= 30 and not bool_or(i.is_moved)
)

from constant
union
from still
