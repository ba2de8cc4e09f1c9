-- The cheapest price of a chip-hour by day, under each way to buy it and for each size of unit: one row for each day
-- from which it holds; NULL where none was then known that may be ranked.
-- Of int.price_history: list prices in US dollars of anybody's, no "from" prices, medians or quartiles, which were
-- confirmed within meta.build.ranked_days (marketplaces, offers of Capacity Blocks: marketplace_days) of the day.
-- A price that a later look confirmed counts as held in between. A day has the price at its end, UTC. Spot is the price
-- itself, no mean; of Capacity Blocks it is the price of a usable hour, of 24 hours where no length is stated.
with held as (
    select
        o.offer_id,
        u.accelerator_name,
        c.form_factor as chip_form_factor,
        (u.accelerator_count * coalesce(o.minimum_quantity, 1))::DOUBLE as unit_accelerators,
        cost.network(u.capacity_class, o.service_provider_name, unit_accelerators, o.instance_type) as network,
        concat_ws('|', u.accelerator_name, coalesce(c.form_factor, '-'), unit_accelerators, coalesce(network, '-'))
            as unit_key,
        o.purchase_option,
        decision.commitment_class(o.purchase_option, o.commitment_term_hours) as commitment_class,
        core.hourly_price(h.unit_price, h.upfront_price, u.hours_per_pricing_unit, o.commitment_term_hours)
            as hourly_price,
        hourly_price / u.accelerator_count::DOUBLE
        / cost.usable_share(o.service_provider_name, o.purchase_option, o.commitment_term_hours) as price_usd,
        h.valid_from::DATE as starts_on,
        least(
            h.valid_to::DATE,
            h.last_observed_at::DATE + decision.ranked_days(
                m.service_provider_name is not null, o.purchase_option, o.commitment_term_hours, b.ranked_days,
                b.marketplace_days
            )
        ) as ends_on,
        b.built_at::DATE as built_on
    from log.price_link as h
    inner join core.offer as o on h.offer_no = o.offer_no
    inner join core.offer_unit as u on o.offer_id = u.offer_id
    inner join ref.accelerator as c
        on u.accelerator_name = c.accelerator_name and (u.form_factor = c.form_factor or c.form_factor is null)
    left join core.market as m on o.service_provider_name = m.service_provider_name
    cross join meta.build as b
    where
        starts_on < ends_on
        and h.valid_from <= b.built_at
        and hourly_price > 0
        and o.pricing_currency = 'USD'
        and o.unit_price_type = 'List'
        and o.restriction is null
        and o.statistic = 'price'
        and decision.is_open_to_all(o.service_provider_name, o.instance_type, o.region_id)
),

edge as materialized (
    select
        *,
        row_number() over () as edge_no
    from (
        select distinct
            unit_key,
            accelerator_name,
            chip_form_factor,
            unit_accelerators,
            network,
            purchase_option,
            commitment_class,
            unnest(if(ends_on <= built_on, [starts_on, ends_on], [starts_on])) as valid_from
        from held
    ) as day
),

-- By month, so that a day is compared with the prices of its month alone, not with those of all years.
monthly as not materialized (
    select
        *,
        unnest(range(date_trunc('month', starts_on), least(ends_on, built_on + 1), interval 1 month)) as month
    from held
),

-- By number, as texts take long to group by.
cheapest as (
    select
        e.edge_no,
        min({ 'price_usd': k.price_usd, 'offer_id': k.offer_id }) as price
    from edge as e
    inner join monthly as k
        on
            date_trunc('month', e.valid_from) = k.month
            and e.unit_key = k.unit_key and e.purchase_option = k.purchase_option
            and e.commitment_class is not distinct from k.commitment_class and e.valid_from >= k.starts_on
            and e.valid_from < k.ends_on
    group by e.edge_no
)

select
    e.unit_key,
    e.accelerator_name,
    e.chip_form_factor,
    e.unit_accelerators,
    e.network,
    e.purchase_option,
    e.commitment_class,
    e.valid_from::TIMESTAMP as valid_from,
    c.price['price_usd'] as price_usd,
    c.price['offer_id'] as offer_id
from edge as e
left join cheapest as c on e.edge_no = c.edge_no
window w as (partition by e.unit_key, e.purchase_option, e.commitment_class order by e.valid_from)
qualify row_number() over w = 1 or c.price['price_usd'] is distinct from lag(c.price['price_usd']) over w
