-- One row where a price is current, else none.
select any_value(offer_id) as offer_id
from int.accelerator_hour_price
where is_current
having count(*) > 0
