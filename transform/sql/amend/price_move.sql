-- Which moves are judged beside other prices: offers whose kinds of change may be others than in the published file, as
-- what they are judged beside differs (is_anew), and what is judged beside any of those made anew. The rules of
-- int.price_move look from the moment of a move at what other offers then cost and had last cost. (An offer is new by
-- the first look at its scope, and that can be another only where the scope's offers are touched, or an offer's first
-- price is that early.)
with anew as (
    select offer_id
    from touched_offer
    union
    select o.offer_id
    from (
        from log.price_closed
        union all by name
        from log.price_open
    ) as p
    semi join log.scope_fetch as f
        on p.fetch_no = f.fetch_no and f.observed_at >= (select min(since) from differing_price)
    inner join core.offer as o on p.offer_no = o.offer_no
    union
    select offer_id
    from core.price_history_other
    where valid_from >= (select min(since) from differing_price)
    union
    from new_market
),

-- Chips that are told by name, of the providers of such chips.
label as (
    select distinct o.service_provider_name
    from core.offer as o
    semi join anew as a on o.offer_id = a.offer_id
    where o.accelerator_label is not null
),

-- Chips of which a price ever moved more than fourfold.
jump as (
    select distinct u.accelerator_name
    from (
        select
            h.offer_id,
            h.effective_hourly_price / lag(h.effective_hourly_price) over w as fold
        from int.price_history as h
        semi join anew as a on h.offer_id = a.offer_id
        where h.effective_hourly_price > 0
        window w as (partition by h.offer_id order by h.valid_from)
    ) as moved
    inner join core.offer_unit as u on moved.offer_id = u.offer_id
    where moved.fold not between 0.251 and 3.99
)

select
    offer_id,
    true as is_anew
from anew
union all
select
    o.offer_id,
    false as is_anew
from core.offer as o
inner join core.offer_unit as u on o.offer_id = u.offer_id
anti join anew as a on o.offer_id = a.offer_id
where
    (o.accelerator_label is not null and o.service_provider_name in (from label))
    or u.accelerator_name in (from jump)
