-- Offers of a scope that a complete fetch did not show: the only ones of which it may say that they are gone.
select distinct
    e.offer_id,
    e.source
from core.price_event as e
inner join new_fetch as l on e.source = l.source and e.scope = l.scope
anti join new_observation as o on e.offer_id = o.offer_id and l.source = o.source and l.observed_at = o.observed_at
where l.complete
