-- Touched offers, and from when on transform/sql/amend/price_move.sql asks for their links: of one with two links that
-- ended in the year before its moves are judged again from that year on, else of all. Later links tell all it asks for.
with first as (
    select min(since) - interval 30 day as judged_since
    from differing_price
),

recent as (
    select p.offer_no
    from log.price_closed as p
    inner join core.fetch_cover as e on p.end_fetch_no = e.fetch_no
    inner join first as f on e.observed_at >= f.judged_since - interval 1 year and e.observed_at < f.judged_since
    group by p.offer_no
    having count(*) >= 2
)

select
    t.offer_id,
    case
        when r.offer_no is null or w.offer_id is not null or m.offer_id is not null then TIMESTAMP '-infinity'
        else f.judged_since - interval 1 year
    end as since
from touched_offer as t
inner join core.offer as o on t.offer_id = o.offer_id
left join recent as r on o.offer_no = r.offer_no
left join wanted_offer as w on t.offer_id = w.offer_id
left join new_market as m on t.offer_id = m.offer_id
cross join first as f
