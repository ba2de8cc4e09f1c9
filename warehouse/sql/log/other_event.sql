-- All events of the offers of which not every event is a link of a chain.
with other as (
    select distinct offer_no from log.price_other
),

event as (
    select
        c.offer_no,
        c.fetch_no,
        c.unit_price,
        c.upfront_price,
        null::TIMESTAMP as retracts_recorded_at
    from log.price_closed as c
    semi join other as o on c.offer_no = o.offer_no
    union all
    select
        p.offer_no,
        p.fetch_no,
        p.unit_price,
        p.upfront_price,
        null::TIMESTAMP as retracts_recorded_at
    from log.open_link as p
    semi join other as o on p.offer_no = o.offer_no
    union all
    select
        p.offer_no,
        p.fetch_no,
        p.unit_price,
        p.upfront_price,
        p.retracts_recorded_at
    from log.price_other as p
    semi join other as o on p.offer_no = o.offer_no
)

select
    o.offer_id,
    f.source,
    f.scope,
    f.observed_at as valid_from,
    e.unit_price,
    e.upfront_price,
    d.document_sha256,
    f.recorded_at,
    e.retracts_recorded_at
from event as e
inner join log.scope_fetch as f on e.fetch_no = f.fetch_no
left join core.offer as o on e.offer_no = o.offer_no
left join log.document as d on f.document_no = d.document_no
