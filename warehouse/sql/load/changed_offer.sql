-- Offers with something new to tell. Where all of it comes after the last link of a chain, that link is all that
-- matters.
select
    n.offer_id,
    n.source,
    coalesce(bool_or(not s.is_chain or n.observed_at <= s.valid_from), false) as is_whole
from new_observation as n
left join offer_state as s on n.offer_id = s.offer_id and n.source = s.source
group by n.offer_id, n.source
