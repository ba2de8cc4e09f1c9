-- The moves of int.price_move by moment and kind alone.
select
    o.offer_id,
    f.observed_at,
    k.change_kind
from core.price_move_kind as k
inner join log.scope_fetch as f on k.fetch_no = f.fetch_no
inner join core.offer as o on k.offer_no = o.offer_no
union all
select
    offer_id,
    observed_at,
    change_kind
from core.price_move_other
