-- The log's last word on each offer, by source. It is a chain's where all of the offer's events are links of chains,
-- and plain where it is a price besides: then it needs no more thought. Of other offers core.price_point says what
-- holds.
with other as (
    select distinct
        e.offer_no,
        f.source
    from log.price_other as e
    inner join log.scope_fetch as f on e.fetch_no = f.fetch_no
),

other_offer as (
    select distinct offer_no from other
),

state as (
    select
        p.* exclude (p.fetch_no, p.recorded_at),
        o.offer_no is null as is_chain
    from log.open_link as p
    left join other_offer as o on p.offer_no = o.offer_no
    union all by name
    select
        o.offer_no,
        o.source,
        false as is_chain
    from other as o
    anti join log.open_link as p on o.offer_no = p.offer_no and o.source = p.source
)

select
    s.* exclude (s.offer_no), -- noqa: AM04
    o.offer_id,
    s.is_chain and (s.unit_price is not null or s.upfront_price is not null) as is_plain
from state as s
inner join core.offer as o on s.offer_no = o.offer_no
