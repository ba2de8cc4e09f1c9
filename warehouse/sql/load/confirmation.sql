-- When those offers were inspected and found as the log says: by complete fetches at their scope, or by sightings.
-- A fetch that showed the offer but had it refused confirms nothing, nor does a moment with two prices.
with unsaid as (
    from meta.unsaid(TIMESTAMP '9999-01-01')
    union
    select
        offer_id,
        source,
        scope,
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
),

confirmed as (
    select
        f.offer_id,
        f.source,
        c.observed_at,
        c.document_no
    from first_seen as f
    inner join later_fetch as c
        on f.source = c.source and f.scope = c.scope and f.observed_at <= c.observed_at
    where c.is_covered
    union all
    select
        o.offer_id,
        c.source,
        c.observed_at,
        c.document_no
    from later_fetch as c
    inner join log.sighting as s on c.fetch_no = s.fetch_no
    inner join core.offer as o on s.offer_no = o.offer_no
    semi join first_seen as f on o.offer_id = f.offer_id and c.source = f.source
)

select
    c.offer_id,
    c.source,
    c.observed_at,
    min(d.document_sha256) as document_sha256
from confirmed as c
left join log.document as d on c.document_no = d.document_no
anti join unsaid as r on c.offer_id = r.offer_id and c.source = r.source and c.observed_at = r.observed_at
group by c.offer_id, c.source, c.observed_at
