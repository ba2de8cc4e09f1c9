-- The spot price of each type in each region: of its zones now and over 30 days, and what the public feed says.
-- Zones count where they were looked at within a day of the last look at any of them, so that an old capture of one
-- zone does not stand beside today's of another. The feed names no zone: it has its own columns and is in no mean.
with zone_price as (
    select
        * replace (if(unit_price is null, null, mean_price_30d) as mean_price_30d), -- noqa: AM04
        hash(service_provider_name, region_id, instance_type, capacity_unit, pricing_currency) as market,
        coalesce(availability_zone_id, availability_zone) as zone_name,
        max(window_end_at) over (partition by market) as ends_at
    from int.spot_zone_price
    where conditions is null
    qualify window_end_at >= ends_at - interval 1 day
),

-- The time for which each zone had each price within the 30 days.
part as (
    select
        z.market,
        z.zone_name,
        z.ends_at - interval 30 days as window_begins_at,
        h.unit_price::DOUBLE as price,
        greatest(h.valid_from, z.ends_at - interval 30 days) as begins_at,
        least(coalesce(h.valid_to, z.window_end_at), z.window_end_at) as stops_at
    from zone_price as z
    inner join int.spot_spell as h on z.offer_id = h.offer_id
    where
        h.unit_price is not null
        and h.valid_from <= z.window_end_at
        and coalesce(h.valid_to, z.window_end_at) > z.ends_at - interval 30 days
),

bound as (
    select distinct
        market,
        unnest([begins_at, stops_at]) as bound_at
    from part
),

-- Stretches in which no zone's price changes.
stretch as (
    select
        *,
        lead(bound_at) over (partition by market order by bound_at) as next_at
    from bound
),

priced as (
    select
        p.*,
        s.bound_at,
        epoch(s.next_at - s.bound_at)::DECIMAL(18, 6) as seconds
    from stretch as s
    inner join part as p on s.market = p.market and s.bound_at >= p.begins_at and s.bound_at < p.stops_at
),

moment_price as (
    select
        market,
        bound_at,
        any_value(window_begins_at) as window_begins_at,
        any_value(seconds) as seconds,
        min(price) as cheapest,
        median(price) as middle
    from priced
    group by market, bound_at
),

meant as (
    select
        market,
        sum((cheapest * seconds)::DECIMAL(38, 9))::DOUBLE / sum(seconds) as mean_cheapest,
        sum((middle * seconds)::DECIMAL(38, 9))::DOUBLE / sum(seconds) as mean_median,
        min(bound_at) = any_value(window_begins_at) as is_known
    from moment_price
    group by market
),

often as (
    select
        p.market,
        p.zone_name,
        sum(p.seconds)::DOUBLE / (30 * 86400) as share_of_time
    from priced as p
    inner join moment_price as m on p.market = m.market and p.bound_at = m.bound_at and p.price = m.cheapest
    group by p.market, p.zone_name
    qualify row_number() over (partition by p.market order by share_of_time desc, p.zone_name asc) = 1
),

present as (
    select
        market,
        any_value(service_provider_name) as service_provider_name,
        any_value(region_id) as region_id,
        any_value(instance_type) as instance_type,
        any_value(capacity_unit) as capacity_unit,
        any_value(pricing_currency) as pricing_currency,
        arg_min(zone_name, (unit_price, zone_name)) filter (where unit_price is not null) as cheapest_zone,
        min(unit_price)::DOUBLE as cheapest_zone_price,
        median(unit_price::DOUBLE) as median_zone_price,
        count(unit_price) as n_zones,
        arg_min(zone_name, (mean_price_30d, zone_name)) filter (where mean_price_30d is not null) as lowest_mean_zone,
        min(mean_price_30d) as lowest_mean_price,
        any_value(ends_at) as ends_at,
        arg_min(source, (unit_price, zone_name)) filter (where unit_price is not null) as price_source,
        arg_min(last_observed_at, (unit_price, zone_name)) filter (where unit_price is not null) as last_observed_at,
        arg_min(is_current, (unit_price, zone_name)) filter (where unit_price is not null) as is_current
    from zone_price
    group by market
),

feed as (
    select
        hash(o.service_provider_name, o.region_id, o.instance_type, o.capacity_unit, o.pricing_currency) as market,
        o.service_provider_name,
        o.region_id,
        o.instance_type,
        o.capacity_unit,
        o.pricing_currency,
        h.unit_price::DOUBLE as feed_price,
        h.last_observed_at as feed_last_observed_at
    from log.price_link as h
    inner join core.offer as o on h.offer_no = o.offer_no
    where
        o.purchase_option = 'spot'
        and o.conditions = 'region-level, public spot feed'
        and o.availability_zone is null
        and h.valid_to is null
        and h.unit_price is not null
),

either as (
    select any_value(columns(*))
    from (
        from present
        union all by name
        from feed
    ) as every
    group by market
),

advice as (
    select
        region_id,
        instance_type,
        arg_max(columns('^(interruption_band|savings_percent)$'), (observed_at, recorded_at)) as '\0' -- noqa: RF05
    from core.spot_advice
    where operating_system = 'Linux'
    group by region_id, instance_type
)

select
    e.service_provider_name,
    e.region_id,
    e.instance_type,
    t.accelerator_name,
    t.accelerator_count,
    e.capacity_unit,
    'spot' as purchase_option,
    e.pricing_currency,
    e.cheapest_zone,
    e.cheapest_zone_price,
    e.cheapest_zone_price / t.accelerator_count::DOUBLE as price_per_accelerator_hour,
    e.median_zone_price,
    coalesce(e.n_zones, 0) as n_zones,
    case when m.is_known then m.mean_cheapest end as mean_cheapest_price_30d,
    case when m.is_known then m.mean_median end as mean_median_price_30d,
    case when m.is_known then w.zone_name end as most_often_cheapest_zone,
    case when m.is_known then w.share_of_time end as most_often_cheapest_share,
    e.lowest_mean_zone,
    e.lowest_mean_price as lowest_mean_price_30d,
    a.interruption_band,
    a.savings_percent,
    e.feed_price,
    e.feed_last_observed_at,
    e.ends_at as window_end_at,
    e.price_source as source,
    e.last_observed_at,
    coalesce(e.is_current, false) as is_current
from either as e
left join meant as m on e.market = m.market
left join often as w on e.market = w.market
left join advice as a on e.region_id = a.region_id and e.instance_type = a.instance_type
left join ref.current_instance_type as t on e.service_provider_name = 'AWS' and e.instance_type = t.instance_type
