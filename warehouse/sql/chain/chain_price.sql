-- Each link of log.chain_link with its offer and document. What was refused, seen alone or is told by several sources
-- may say otherwise: core.sku_price_other.
select
    c.* exclude (c.document_no), -- noqa: AM04
    o.offer_id,
    core.hourly_price(c.unit_price, c.upfront_price, u.hours_per_pricing_unit, o.commitment_term_hours)
        as effective_hourly_price,
    c.source as last_source,
    d.document_sha256
from log.chain_link as c
inner join core.offer as o on c.offer_no = o.offer_no
inner join core.offer_unit as u on o.offer_id = u.offer_id
left join log.document as d on c.document_no = d.document_no
