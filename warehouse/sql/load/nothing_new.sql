-- Offers whose new observations all come after the log's last word on them and repeat it: they say nothing new.
select
    n.offer_id,
    n.source
from new_observation as n
inner join offer_state as s on n.offer_id = s.offer_id and n.source = s.source
group by n.offer_id, n.source
having
    bool_and(
        s.is_plain
        and s.valid_from <= n.observed_at
        and n.unit_price is not distinct from s.unit_price
        and n.upfront_price is not distinct from s.upfront_price
    )
