-- The prices of `claimed_offer` that ended, in USD an hour, with the fetches between which each held, or its moments and
-- document where no chain tells it.
create or replace temp table ended_price as
with ended as (
    select
        offer_no,
        fetch_no,
        end_fetch_no,
        unit_price,
        upfront_price
    from log.price_closed
    anti join core.price_history_replaced using (offer_no, fetch_no)
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
    inner join claimed_offer as o on h.offer_id = o.offer_id
    where h.valid_to is not null
)

select
    h.* exclude (h.unit_price, h.upfront_price),
    h.unit_price::DOUBLE / o.hours_per_pricing_unit
    + case when h.upfront_price > 0 then h.upfront_price::DOUBLE / o.commitment_term_hours else 0 end as hourly
from ended as h
inner join claimed_offer as o on h.offer_no = o.offer_no
where hourly is not null
