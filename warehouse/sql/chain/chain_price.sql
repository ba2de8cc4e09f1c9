-- Each link of the chains of log.price_closed and log.price_open with its moments, confirmed for as long as its scope
-- was covered. What was refused, seen alone or is told by several sources may say otherwise: core.sku_price_other.
with link as (
    select
        c.offer_no,
        c.fetch_no,
        c.end_fetch_no,
        f.source,
        f.scope,
        f.observed_at as valid_from,
        e.observed_at as valid_to,
        e.covered_at,
        c.unit_price,
        c.upfront_price,
        f.document_no,
        f.recorded_at
    from log.price_closed as c
    inner join log.scope_fetch as f on c.fetch_no = f.fetch_no
    inner join core.fetch_cover as e on c.end_fetch_no = e.fetch_no
    union all by name
    select
        p.*,
        s.covered_at,
        f.document_no
    from log.price_open as p
    inner join log.scope_fetch as f on p.fetch_no = f.fetch_no
    left join core.scope_cover as s on p.source = s.source and p.scope = s.scope
)

select
    c.offer_no,
    c.fetch_no,
    c.end_fetch_no,
    o.offer_id,
    c.source,
    c.scope,
    c.valid_from,
    c.valid_to,
    greatest(c.valid_from, c.covered_at) as last_observed_at,
    c.unit_price,
    c.upfront_price,
    c.unit_price::DOUBLE / u.hours_per_pricing_unit
    + case when c.upfront_price > 0 then c.upfront_price::DOUBLE / o.commitment_term_hours else 0 end
        as effective_hourly_price,
    c.source as last_source,
    d.document_sha256,
    c.recorded_at
from link as c
inner join core.offer as o on c.offer_no = o.offer_no
inner join core.offer_unit as u on o.offer_id = u.offer_id
left join log.document as d on c.document_no = d.document_no
