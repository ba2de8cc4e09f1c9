-- Prices of spot in each zone in the 30 days before the last good look at it (its source's last complete look at its
-- scope, or a later sighting: window_end_at), and prices of machines on demand in any of those days.
with market as materialized (
    select
        offer_no,
        offer_id,
        { 'provider': service_provider_name, 'region': region_id, 'type': instance_type } as machine,
        purchase_option = 'spot' as is_spot
    from core.offer
    where
        statistic = 'price'
        and unit_price_type = 'List'
        and (
            (purchase_option = 'spot' and coalesce(availability_zone_id, availability_zone) is not null)
            or (purchase_option = 'on_demand' and conditions is null and tier is null)
        )
),

-- The source and scope that confirmed the price of each offer last. Of an offer that is gone, the last confirmation
-- before the fetch that did not show it.
last_source as (
    select
        p.offer_no,
        arg_max(p.source, coalesce(e.covered_at, p.last_observed_at)) as source,
        arg_max(p.scope, coalesce(e.covered_at, p.last_observed_at)) as scope
    from log.last_link as p
    semi join market as m on p.offer_no = m.offer_no and m.is_spot
    left join core.fetch_cover as e
        on case when p.unit_price is null and p.upfront_price is null then p.fetch_no end = e.fetch_no
    group by p.offer_no
),

-- In the last 60 days: all that a window reads of what was looked at in the last 30.
recent as materialized (
    select p.* exclude (p.document_no, p.document_sha256) -- noqa: AM04
    from log.price_link as p
    semi join market as m on p.offer_no = m.offer_no
    where p.valid_to is null or p.valid_to >= meta.built_at() - interval 60 days
),

window_end as materialized (
    select
        t.offer_no,
        greatest(any_value(l.covered_at), max(s.last_observed_at)) as window_end_at
    from last_source as t
    inner join recent as s on t.offer_no = s.offer_no
    left join core.scope_cover as l on t.source = l.source and t.scope = l.scope
    group by t.offer_no
),

-- Offers all of whose older prices are read, too: those last fetched longer ago, the same machines on demand, and those
-- with prices that are no links of a chain.
whole as materialized (
    select m.offer_no
    from market as m
    inner join market as z on m.machine = z.machine
    inner join window_end as w on z.offer_no = w.offer_no
    where w.window_end_at < meta.built_at() - interval 30 days
    union
    select o.offer_no
    from core.price_history_other as h
    inner join core.offer as o on h.offer_id = o.offer_id
    union
    select offer_no from core.price_history_replaced
),

recent_spot as (
    from recent as p semi join market as m on p.offer_no = m.offer_no and m.is_spot
),

-- Of all other spot offers the one price before those.
older_link as (
    from log.price_closed as c semi join whole as w on c.offer_no = w.offer_no
    union
    from log.price_closed as c semi join recent_spot as s on c.offer_no = s.offer_no and c.end_fetch_no = s.fetch_no
),

older as (
    select
        c.offer_no,
        f.observed_at as valid_from,
        e.observed_at as valid_to,
        c.unit_price
    from older_link as c
    inner join log.scope_fetch as f on c.fetch_no = f.fetch_no
    inner join core.fetch_cover as e on c.end_fetch_no = e.fetch_no
    anti join core.price_history_replaced as r on c.offer_no = r.offer_no and c.fetch_no = r.fetch_no
    union all
    select
        o.offer_no,
        h.valid_from,
        h.valid_to,
        h.unit_price
    from core.price_history_other as h
    inner join core.offer as o on h.offer_id = o.offer_id
),

price as (
    from recent
    union all by name
    from older
    where valid_to < meta.built_at() - interval 60 days
)

select
    m.offer_id,
    m.is_spot,
    p.valid_from,
    p.valid_to,
    p.last_observed_at,
    p.unit_price,
    p.last_source,
    case when m.is_spot then lag(p.unit_price) over (partition by p.offer_no order by p.valid_from) end
        as unit_price_before,
    w.window_end_at
from price as p
inner join market as m on p.offer_no = m.offer_no
left join window_end as w on p.offer_no = w.offer_no
where w.window_end_at is not null or not m.is_spot
qualify
    p.valid_from <= coalesce(w.window_end_at, 'infinity')
    and coalesce(p.valid_to, 'infinity')
    >= coalesce(w.window_end_at, (select min(e.window_end_at) from window_end as e)) - interval 30 days
