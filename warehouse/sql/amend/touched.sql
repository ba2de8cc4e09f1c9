-- Offers of whose rows more may differ from the published file than how long the last price has held, by what the log
-- has learnt since (the temporary tables new_...): their prices and refusals, several sources that price them, fetches
-- and sightings of a moment that was known already, and an import's fetch, which is one of all that it has.
with known as (
    select
        offer_no,
        source
    from log.price_open
    union
    select
        p.offer_no,
        f.source
    from log.price_other as p
    inner join log.scope_fetch as f on p.fetch_no = f.fetch_no
),

disturbed as (
    select
        f.source,
        f.scope
    from new_scope_fetch as f
    left join former.core.scope_cover as u on f.source = u.source and f.scope = u.scope
    where f.status = 'ok' and (f.archived or f.observed_at <= u.last_fetched_at)
),

disturbed_fetch as (
    select f.fetch_no
    from log.scope_fetch as f
    semi join disturbed as d on f.source = d.source and f.scope = d.scope
),

sighted as (
    select
        o.offer_no,
        o.offer_id,
        o.service_provider_name,
        f.source,
        f.observed_at
    from new_sighting as s
    inner join new_scope_fetch as f on s.fetch_no = f.fetch_no
    inner join core.offer as o on s.offer_no = o.offer_no
),

imported as (
    select distinct
        s.source,
        s.service_provider_name
    from sighted as s
    inner join core.source as f on s.source = f.source and f.kind = 'import'
),

touched_number as (
    select offer_no
    from known
    group by offer_no
    having min(source) <> max(source)
    union all
    select e.offer_no
    from (
        from log.price_closed
        union all by name
        from log.price_open
        union all by name
        from log.price_other
    ) as e
    semi join disturbed_fetch as d on e.fetch_no = d.fetch_no
    union all
    select s.offer_no
    from sighted as s
    inner join offer_tail as t on s.offer_id = t.offer_id
    where s.observed_at < t.since
    union all
    select k.offer_no
    from known as k
    inner join core.offer as o on k.offer_no = o.offer_no
    semi join imported as i on k.source = i.source and o.service_provider_name = i.service_provider_name
)

select offer_id
from new_price
union
select offer_id
from new_quarantine
where offer_id is not null
union
select o.offer_id
from core.offer as o
semi join touched_number as t on o.offer_no = t.offer_no
