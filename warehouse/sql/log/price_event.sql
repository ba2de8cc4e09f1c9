-- Each change of a price as it was recorded: what the links of the chains begin with, and the events that are no links.
with event as (
    select * from log.price_other
    union all by name
    select * from log.begun_link
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
