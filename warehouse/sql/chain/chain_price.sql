-- Each link of log.chain_link with its offer and document. What was refused, seen alone or is told by several sources
-- may say otherwise: core.sku_price_other.
select
    c.* exclude (c.document_no), -- noqa: AM04
    o.offer_id,
    c.unit_price::DOUBLE / u.hours_per_pricing_unit
    + case when c.upfront_price > 0 then c.upfront_price::DOUBLE / o.commitment_term_hours else 0 end
        as effective_hourly_price,
    c.source as last_source,
    d.document_sha256
from log.chain_link as c
inner join core.offer as o on c.offer_no = o.offer_no
inner join core.offer_unit as u on o.offer_id = u.offer_id
left join log.document as d on c.document_no = d.document_no
