-- Of which offers fetches say nothing, as known at `moment`: what a gate refused of them and nobody accepted. What was
-- taken back has no say.
select
    q.offer_id,
    q.source,
    q.scope,
    q.observed_at
from core.quarantine as q
anti join core.withdrawal as w
    on
        q.source = w.source and q.scope = w.scope
        and coalesce(q.observed_at = w.observed_at, q.document_sha256 = w.document_sha256)
        and w.recorded_at between q.recorded_at and moment
where q.offer_id is not null and q.recorded_at <= moment
group by q.offer_id, q.source, q.scope, q.observed_at
having arg_max(q.decision, q.recorded_at) is distinct from 'accept'
