-- Intervals as known at `moment`: which price each source gave each offer, from when to when, and when last confirmed.
-- A pure function of the events (core.price_point), the coverage (core.scope_run, core.sighting) and what was refused:
-- of any events, where sql/log/price_known_at.sql is of chains.
-- The first of each run of equal prices. Absence before the first price says nothing, and falls out here.
with changed as (
    from core.price_point(moment)
    where not is_void
    window w as (partition by offer_id, source order by valid_from)
    qualify
        unit_price is distinct from lag(unit_price) over w
        or upfront_price is distinct from lag(upfront_price) over w
),

spell as (
    select
        *,
        lead(valid_from) over (partition by offer_id, source order by valid_from) as valid_to
    from changed
),

unsaid as (
    from meta.unsaid(moment)
    union
    select
        offer_id,
        source,
        scope,
        valid_from
    from core.price_point(moment)
    where is_void
),

covered as (
    select
        r.source,
        r.scope,
        r.observed_at
    from core.scope_run as r
    semi join spell as s on r.source = s.source
    where
        r.complete
        and r.recorded_at <= moment
        and (r.status = 'ok' or (r.status = 'withdrawn' and r.withdrawn_at > moment))
),

seen as (
    select
        s.offer_id,
        s.source,
        s.observed_at
    from core.sighting as s
    anti join unsaid as x on s.offer_id = x.offer_id and s.source = x.source and s.observed_at = x.observed_at
    where s.recorded_at <= moment and coalesce(s.withdrawn_at > moment, true)
    union
    select
        u.offer_id,
        c.source,
        c.observed_at
    from unsaid as u
    inner join covered as c on u.source = c.source and u.scope = c.scope
    anti join unsaid as x
        on u.offer_id = x.offer_id and u.source = x.source and c.observed_at = x.observed_at
),

questioned as (
    select distinct
        offer_id,
        source
    from unsaid
)

select
    s.offer_id,
    s.source,
    s.scope,
    s.valid_from,
    s.valid_to,
    greatest(
        s.valid_from,
        case when q.offer_id is null then c.observed_at end,
        n.observed_at
    ) as last_observed_at,
    s.unit_price,
    s.upfront_price,
    s.document_sha256,
    s.recorded_at
from spell as s
left join questioned as q
    on s.offer_id = q.offer_id and s.source = q.source
asof left join covered as c
    on
        s.source = c.source
        and s.scope = c.scope
        and coalesce(s.valid_to, TIMESTAMP '9999-01-01') > c.observed_at
asof left join seen as n
    on
        s.offer_id = n.offer_id
        and s.source = n.source
        and coalesce(s.valid_to, TIMESTAMP '9999-01-01') > n.observed_at
where s.unit_price is not null or s.upfront_price is not null
