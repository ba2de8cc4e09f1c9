-- Offers of markets, where moves of one day are judged beside one another.
select offer_id
from core.offer
where purchase_option = 'spot' and (statistic <> 'price' or tier ilike '%marketplace%')
union
select o.offer_id
from core.offer as o
semi join core.price_move_kind as k on o.offer_no = k.offer_no and k.change_kind = 'market_move'
union
select offer_id
from core.price_move_other
where change_kind = 'market_move'
