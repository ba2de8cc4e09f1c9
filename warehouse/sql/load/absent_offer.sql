-- Offers of a scope that a complete fetch did not show: the only ones of which it may say that they are gone. Those
-- that are gone already are left out; of one whose past matters, as the fetch is late, all events are wanted.
with told as (
    select
        s.offer_id,
        l.source,
        l.observed_at,
        not s.is_chain or s.valid_from > l.observed_at as is_whole
    from offer_state as s
    inner join new_fetch as l on s.source = l.source and s.scope = l.scope
    where l.complete and (s.unit_price is not null or s.upfront_price is not null or is_whole)
    union all
    select
        o.offer_id,
        l.source,
        l.observed_at,
        true as is_whole
    from log.price_other as e
    inner join log.scope_fetch as f on e.fetch_no = f.fetch_no
    inner join core.offer as o on e.offer_no = o.offer_no
    inner join new_fetch as l on f.source = l.source and f.scope = l.scope
    where l.complete
)

select
    t.offer_id,
    t.source,
    bool_or(t.is_whole) as is_whole
from told as t
anti join observed_row as n on t.offer_id = n.offer_id and t.source = n.source and t.observed_at = n.observed_at
group by t.offer_id, t.source
