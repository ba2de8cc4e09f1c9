-- The prices of `queried_offer` that ended, in USD an hour of an instance, of a chip and of a core, with the fetch from
-- which each held, or its moment and document where no chain tells it.
with ended as (
    select
        c.offer_no,
        c.fetch_no,
        e.observed_at as valid_to,
        e.covered_at as last_observed_at,
        c.unit_price,
        c.upfront_price
    from log.price_closed as c
    inner join core.fetch_cover as e on c.end_fetch_no = e.fetch_no
    anti join core.price_history_replaced as r on c.offer_no = r.offer_no and c.fetch_no = r.fetch_no
    semi join queried_offer as o on c.offer_no = o.offer_no
    union all by name
    select
        o.offer_no,
        h.valid_from,
        h.valid_to,
        h.last_observed_at,
        h.unit_price,
        h.upfront_price,
        h.document_sha256
    from core.price_history_other as h
    inner join queried_offer as o on h.offer_id = o.offer_id
    where h.valid_to is not null
)

select
    h.* exclude (h.unit_price, h.upfront_price), -- noqa: AM04
    o.offer_id,
    core.hourly_price(h.unit_price, h.upfront_price, o.hours_per_pricing_unit, o.commitment_term_hours) as instance,
    instance / nullif(o.chips, 0) as chip,
    chip / nullif(o.cores, 0) as core
from ended as h
inner join queried_offer as o on h.offer_no = o.offer_no
where instance is not null
