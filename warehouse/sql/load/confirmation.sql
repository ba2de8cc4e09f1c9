-- When those offers were inspected and found as the log says: by complete fetches at their scope, or by sightings.
-- A fetch that showed the offer but had it refused confirms nothing, nor does a moment with two prices.
with unsaid as (
    select
        offer_id,
        source,
        observed_at
    from core.quarantine
    where offer_id is not null
    group by offer_id, source, observed_at
    having arg_max(decision, recorded_at) is distinct from 'accept'
    union
    select
        offer_id,
        source,
        valid_from
    from old_point
    where is_void
),

first_seen as (
    select
        offer_id,
        source,
        scope,
        min(observed_at) as observed_at
    from new_observation
    group by offer_id, source, scope
)

select
    f.offer_id,
    f.source,
    c.observed_at,
    c.document_sha256
from first_seen as f
inner join core.scope_run as c
    on f.source = c.source and f.scope = c.scope and f.observed_at <= c.observed_at
anti join unsaid as r on f.offer_id = r.offer_id and f.source = r.source and c.observed_at = r.observed_at
where c.complete and c.status = 'ok'
union all
select
    s.offer_id,
    s.source,
    s.observed_at,
    s.document_sha256
from core.sighting as s
semi join first_seen as f on s.offer_id = f.offer_id and s.source = f.source
anti join unsaid as r on s.offer_id = r.offer_id and s.source = r.source and s.observed_at = r.observed_at
