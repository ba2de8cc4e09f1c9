-- What a gate refused and nobody accepted, by the moments of the fetches in new_fetch.
select
    q.offer_id,
    q.source,
    q.observed_at
from core.quarantine as q
semi join new_fetch as f on q.source = f.source and q.scope = f.scope
where q.offer_id is not null
group by q.offer_id, q.source, q.observed_at
having arg_max(q.decision, q.recorded_at) is distinct from 'accept'
