-- The spot price of each type in each zone, now and over 1, 7 and 30 days. AWS's Local Zones (usw2-lax1-az1)
-- are under their region, and have on-demand prices of their own, with which they are not compared.
-- Windows end at the last good look at the offer (its source's last complete look at its scope, or a later sighting).
-- Means are weighted by time; a window is blank where the price in force at its start is unknown. Time in which a zone
-- was not offered counts in no mean, and priced_share_30d says how much was left. Zones that were not offered in the
-- last 30 days are left out.
-- What of each spell lies in the last 30 days, in seconds of the window of 30, 7 and 1 days.
with part as (
    select
        s.*,
        s.unit_price::DOUBLE as price,
        s.window_end_at as ends_at,
        greatest(s.valid_from, s.window_end_at - interval 30 days) as begins_at,
        least(coalesce(s.valid_to, s.window_end_at), s.window_end_at) as stops_at,
        epoch(stops_at - begins_at)::DECIMAL(18, 6) as seconds_30d,
        greatest(0, epoch(stops_at - greatest(begins_at, ends_at - interval 7 days)))::DECIMAL(18, 6) as seconds_7d,
        greatest(0, epoch(stops_at - greatest(begins_at, ends_at - interval 1 day)))::DECIMAL(18, 6) as seconds_1d
    from int.spot_spell as s
    where s.is_spot
),

ranked as (
    select
        offer_id,
        price,
        sum(seconds_30d) over (partition by offer_id order by price)
        / sum(seconds_30d) over (partition by offer_id) as share_up_to
    from part
    where price is not null and seconds_30d > 0
),

quantile as (
    select
        offer_id,
        min(price) filter (where share_up_to >= 0.5 - 1e-12) as median_price,
        min(price) filter (where share_up_to >= 0.95 - 1e-12) as p95_price,
        max(price) as max_price
    from ranked
    group by offer_id
),

meant as (
    select
        offer_id,
        sum((price * seconds_1d)::DECIMAL(38, 9))::DOUBLE
        / nullif(sum(seconds_1d) filter (where price is not null), 0) as mean_1d,
        sum((price * seconds_7d)::DECIMAL(38, 9))::DOUBLE
        / nullif(sum(seconds_7d) filter (where price is not null), 0) as mean_7d,
        sum((price * seconds_30d)::DECIMAL(38, 9))::DOUBLE
        / nullif(sum(seconds_30d) filter (where price is not null), 0) as mean_30d,
        sum(seconds_30d) filter (where price is not null) / (30 * 86400) as priced_share,
        sum(seconds_7d) filter (where price is not null) / (7 * 86400) as priced_share_7d,
        count(*) filter (where unit_price <> unit_price_before and valid_from > ends_at - interval 30 days)
            as n_changes,
        bool_or(price is not null and valid_from <= ends_at - interval 1 day and stops_at > ends_at - interval 1 day)
            as knows_1d,
        bool_or(price is not null and valid_from <= ends_at - interval 7 days and stops_at > ends_at - interval 7 days)
            as knows_7d,
        bool_or(
            price is not null and valid_from <= ends_at - interval 30 days and stops_at > ends_at - interval 30 days
        ) as knows_30d
    from part
    group by offer_id
),

overlap as (
    select
        p.offer_id,
        p.price < d.unit_price::DOUBLE as is_below,
        greatest(
            0, epoch(least(p.stops_at, d.valid_to) - greatest(p.begins_at, d.valid_from))
        )::DECIMAL(18, 6) as seconds
    from part as p
    inner join core.offer as o on p.offer_id = o.offer_id
    inner join core.offer as q
        on
            o.service_provider_name = q.service_provider_name
            and o.region_id = q.region_id
            and o.instance_type = q.instance_type
            and o.pricing_currency = q.pricing_currency
    inner join int.spot_spell as d on q.offer_id = d.offer_id and not d.is_spot
    where
        p.price is not null and d.unit_price is not null
        and not regexp_matches(coalesce(o.availability_zone_id, o.availability_zone, ''), '[0-9]-[a-z].*-')
),

compared as (
    select
        offer_id,
        coalesce(sum(seconds) filter (where is_below), 0)::DOUBLE / nullif(sum(seconds), 0) as below_share
    from overlap
    group by offer_id
)

select
    o.service_provider_name,
    o.region_id,
    o.availability_zone_id,
    o.availability_zone,
    o.instance_type,
    u.accelerator_name,
    u.accelerator_count,
    o.capacity_unit,
    o.purchase_option,
    o.conditions,
    o.pricing_currency,
    l.unit_price,
    l.unit_price::DOUBLE / u.accelerator_count::DOUBLE as price_per_accelerator_hour,
    case when m.knows_1d then m.mean_1d end as mean_price_1d,
    case when m.knows_7d then m.mean_7d end as mean_price_7d,
    case when m.knows_30d then m.mean_30d end as mean_price_30d,
    case when m.knows_30d then q.median_price end as median_price_30d,
    case when m.knows_30d then q.p95_price end as p95_price_30d,
    case when m.knows_30d then q.max_price end as max_price_30d,
    case when m.knows_7d then m.priced_share_7d end as priced_share_7d,
    case when m.knows_30d then m.priced_share end as priced_share_30d,
    case when m.knows_30d then c.below_share end as below_on_demand_share_30d,
    case when l.unit_price <> l.unit_price_before then l.valid_from end as last_changed_at,
    case when m.knows_30d then m.n_changes end as n_changes_30d,
    l.window_end_at,
    l.last_source as source,
    l.last_observed_at,
    epoch(meta.built_at() - l.last_observed_at) / 86400 as age_days,
    coalesce(a.is_ranked, false) as is_ranked,
    coalesce(epoch(meta.built_at() - l.last_observed_at) / 3600 between 0 and s.max_age_hours, false) as is_current,
    o.offer_id
from int.spot_spell as l
inner join meant as m on l.offer_id = m.offer_id
inner join core.offer as o on l.offer_id = o.offer_id
inner join core.source as s on l.last_source = s.source
left join int.accelerator_hour_price as a on l.offer_id = a.offer_id
left join quantile as q on l.offer_id = q.offer_id
left join compared as c on l.offer_id = c.offer_id
inner join core.offer_unit as u on l.offer_id = u.offer_id
where l.is_spot and l.valid_to is null and (l.unit_price is not null or m.priced_share > 0)
