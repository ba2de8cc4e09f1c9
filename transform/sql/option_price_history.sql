-- The cheapest price of a chip-hour by day, under each way to buy it and for each size of unit: one row for each day
-- from which it holds; NULL where none was then known that may be ranked.
-- Of int.price_history: list prices in US dollars of anybody's, no "from" prices, medians or quartiles, no confidential
-- computing, which were confirmed within the limit of age before the day (decision.ranked_days).
-- A price that a later look confirmed counts as held in between. A day has the price at its end, UTC. Spot is the price
-- itself, no mean; of Capacity Blocks it is the price of a usable hour, of 24 hours where no length is stated.
-- By number (series), as texts take long to group and to join by.
with item as materialized (
    select
        o.offer_no,
        o.offer_id,
        u.accelerator_name,
        c.form_factor as chip_form_factor,
        (u.accelerator_count * coalesce(o.minimum_quantity, 1))::DOUBLE as unit_accelerators,
        cost.network(u.capacity_class, o.service_provider_name, unit_accelerators, o.instance_type) as network,
        concat_ws('|', u.accelerator_name, coalesce(c.form_factor, '-'), unit_accelerators, coalesce(network, '-'))
            as unit_key,
        o.purchase_option,
        decision.commitment_class(o.purchase_option, o.commitment_term_hours) as commitment_class,
        hash(unit_key, o.purchase_option, commitment_class) as series,
        o.commitment_term_hours,
        u.hours_per_pricing_unit,
        u.accelerator_count::DOUBLE as accelerator_count,
        cost.usable_share(o.service_provider_name, o.purchase_option, o.commitment_term_hours, o.instance_type)
            as usable_share,
        decision.ranked_days(
            m.service_provider_name is not null, o.purchase_option, o.commitment_term_hours, b.ranked_days,
            b.marketplace_days
        ) as age_limit,
        b.built_at
    from core.offer as o
    inner join core.offer_unit as u on o.offer_id = u.offer_id
    inner join ref.accelerator as c
        on u.accelerator_name = c.accelerator_name and (u.form_factor = c.form_factor or c.form_factor is null)
    left join core.market as m on o.service_provider_name = m.service_provider_name
    cross join meta.build as b
    where
        o.pricing_currency = 'USD'
        and o.unit_price_type = 'List'
        and o.restriction is null
        and not decision.is_confidential(o.tier, o.instance_type)
        and o.statistic = 'price'
        and decision.is_open_to_all(o.service_provider_name, o.instance_type, o.region_id)
),

held as materialized (
    select
        o.series,
        o.offer_id,
        core.hourly_price(h.unit_price, h.upfront_price, o.hours_per_pricing_unit, o.commitment_term_hours)
            as hourly_price,
        hourly_price / o.accelerator_count / o.usable_share as price_usd,
        h.valid_from::DATE as starts_on,
        least(h.valid_to::DATE, h.last_observed_at::DATE + o.age_limit) as ends_on,
        o.built_at::DATE as built_on
    from log.price_link as h
    inner join item as o on h.offer_no = o.offer_no
    where starts_on < ends_on and h.valid_from <= o.built_at and hourly_price > 0
),

edge as materialized (
    select distinct
        series,
        unnest(if(ends_on <= built_on, [starts_on, ends_on], [starts_on])) as valid_from
    from held
),

-- By month, so that a day is compared with the prices of its month alone, not with those of all years.
monthly as (
    select
        *,
        unnest(range(date_trunc('month', starts_on), least(ends_on, built_on + 1), interval 1 month))::DATE as month
    from held
),

-- What the cheapest of those that hold for the whole of a month costs: no dearer one is ever the cheapest in it.
whole_month as (
    select
        series,
        month,
        min(price_usd) as price_usd
    from monthly
    where starts_on <= month and ends_on >= month + interval 1 month
    group by series, month
),

cheap as (
    select m.*
    from monthly as m
    left join whole_month as w on m.series = w.series and m.month = w.month
    where m.price_usd <= w.price_usd or w.price_usd is null
),

cheapest as (
    select
        e.series,
        e.valid_from,
        min({ 'price_usd': k.price_usd, 'offer_id': k.offer_id }) filter (where k.offer_id is not null) as price
    from edge as e
    left join cheap as k
        on
            e.series = k.series
            and date_trunc('month', e.valid_from) = k.month
            and e.valid_from >= k.starts_on
            and e.valid_from < k.ends_on
    group by e.series, e.valid_from
),

named as (
    select distinct
        series,
        unit_key,
        accelerator_name,
        chip_form_factor,
        unit_accelerators,
        network,
        purchase_option,
        commitment_class
    from item
)

select
    n.* exclude (n.series), -- noqa: AM04
    c.valid_from::TIMESTAMP as valid_from,
    c.price['price_usd'] as price_usd,
    c.price['offer_id'] as offer_id
from cheapest as c
inner join named as n on c.series = n.series
window w as (partition by c.series order by c.valid_from)
qualify row_number() over w = 1 or c.price['price_usd'] is distinct from lag(c.price['price_usd']) over w
