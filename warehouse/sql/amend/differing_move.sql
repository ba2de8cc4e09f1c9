-- When those moves are, or were, of the offers that are made again whose kind differs from the file before's.
select any_value(f.observed_at) as since
from (
    from core.price_move_kind
    union all
    from former.core.price_move_kind
) as k
semi join remade_offer as r on k.offer_no = r.offer_no
inner join log.scope_fetch as f on k.fetch_no = f.fetch_no
group by k.offer_no, k.fetch_no, k.change_kind
having count(*) = 1
union all
select k.observed_at as since
from (
    from core.price_move_other
    union all
    from former.core.price_move_other
) as k
semi join remade_offer as r on k.offer_id = r.offer_id
group by k.offer_id, k.observed_at, k.change_kind
having count(*) = 1
