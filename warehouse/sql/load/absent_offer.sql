-- Offers of a scope that a complete fetch did not show: the only ones of which it may say that they are gone. Those
-- that are gone already are left out; of one whose past matters, as the fetch is late, all events are wanted.
with other as (
    select distinct
        e.offer_no,
        f.source,
        f.scope
    from log.price_other as e
    inner join log.scope_fetch as f on e.fetch_no = f.fetch_no
),

other_offer as (
    select distinct offer_no from other
),

told as (
    select
        p.offer_no,
        l.source,
        l.observed_at,
        o.offer_no is not null or p.valid_from > l.observed_at as is_whole
    from log.open_link as p
    inner join new_fetch as l on p.source = l.source and p.scope = l.scope
    left join other_offer as o on p.offer_no = o.offer_no
    where
        l.complete
        and (
            p.unit_price is not null
            or p.upfront_price is not null
            or o.offer_no is not null
            or p.valid_from > l.observed_at
        )
    union all
    select
        e.offer_no,
        l.source,
        l.observed_at,
        true as is_whole
    from other as e
    inner join new_fetch as l on e.source = l.source and e.scope = l.scope
    where l.complete
)

select
    o.offer_id,
    t.source,
    bool_or(t.is_whole) as is_whole
from told as t
inner join core.offer as o on t.offer_no = o.offer_no
anti join observed_row as n on o.offer_id = n.offer_id and t.source = n.source and t.observed_at = n.observed_at
group by o.offer_id, t.source
