-- Intervals as known at `moment`, of offers whose events are links of chains: each until the next recorded by then.
with unsaid as (
    select
        o.offer_no,
        q.source,
        q.scope,
        q.observed_at
    from meta.unsaid(moment) as q
    inner join core.offer as o on q.offer_id = o.offer_id
),

questioned as (
    select distinct
        offer_no,
        source
    from unsaid
),

covered as not materialized (
    from log.coverage
    where recorded_at <= moment and coalesce(withdrawn_at > moment, true)
),

-- When each scope was last covered, and whether its fetches were recorded in their order, so that at `moment` those
-- until then covered what they cover today.
scope_state as (
    select
        f.source,
        f.scope,
        max(f.observed_at) filter (
            where f.recorded_at <= moment and f.complete and f.status = 'ok' and coalesce(w.withdrawn_at > moment, true)
        ) as covered_at,
        count(w.fetch_no) = 0
        and coalesce(
            max(f.observed_at) filter (where f.recorded_at <= moment)
            < min(f.observed_at) filter (where f.recorded_at > moment),
            true
        ) as is_orderly
    from log.scope_fetch as f
    left join log.withdrawn_fetch as w on f.fetch_no = w.fetch_no
    group by f.source, f.scope
),

-- An offer by itself seen, or by fetches that did not refuse it.
seen as (
    select
        s.offer_no,
        k.source,
        k.observed_at
    from log.sighting as s
    inner join log.scope_fetch as k on s.fetch_no = k.fetch_no and k.recorded_at <= moment
    anti join unsaid as x on s.offer_no = x.offer_no and k.source = x.source and k.observed_at = x.observed_at
    anti join log.withdrawn_fetch as w on s.fetch_no = w.fetch_no and w.withdrawn_at <= moment
    union
    select
        u.offer_no,
        c.source,
        c.observed_at
    from unsaid as u
    inner join covered as c on u.source = c.source and u.scope = c.scope
    anti join unsaid as x on u.offer_no = x.offer_no and u.source = x.source and c.observed_at = x.observed_at
),

-- What had no end by then may have had one since.
open_then as (
    select c.* exclude (c.end_fetch_no)
    from log.price_closed as c
    semi join log.scope_fetch as f on c.end_fetch_no = f.fetch_no and f.recorded_at > moment
    union all by name
    select
        offer_no,
        fetch_no,
        unit_price,
        upfront_price
    from log.open_link
),

last_seen as (
    select
        offer_no,
        source,
        max(observed_at) as seen_at
    from seen
    group by offer_no, source
),

ended as (
    select
        p.* exclude (p.end_fetch_no),
        k.source,
        k.scope,
        k.recorded_at,
        k.document_no,
        k.observed_at as valid_from,
        e.observed_at as valid_to,
        case when s.is_orderly then c.covered_at end as covered_at
    from log.price_closed as p
    inner join log.scope_fetch as e on p.end_fetch_no = e.fetch_no and e.recorded_at <= moment
    inner join log.fetch_cover as c on p.end_fetch_no = c.fetch_no
    inner join log.scope_fetch as k on p.fetch_no = k.fetch_no
    left join scope_state as s on k.source = s.source and k.scope = s.scope
),

-- By the moments of fetches, where their numbers do not say it.
disorderly as (
    select c.*
    from covered as c
    anti join scope_state as s on c.source = s.source and c.scope = s.scope and s.is_orderly
),

interval as (
    select
        p.*, -- noqa: AM04
        k.source,
        k.scope,
        k.recorded_at,
        k.document_no,
        k.observed_at as valid_from,
        s.covered_at,
        n.seen_at
    from open_then as p
    inner join log.scope_fetch as k on p.fetch_no = k.fetch_no and k.recorded_at <= moment
    left join scope_state as s on k.source = s.source and k.scope = s.scope
    left join last_seen as n on p.offer_no = n.offer_no and k.source = n.source
    union all by name
    select
        i.* replace (coalesce(i.covered_at, c.observed_at) as covered_at),
        n.observed_at as seen_at
    from ended as i
    asof left join disorderly as c on i.source = c.source and i.scope = c.scope and i.valid_to > c.observed_at
    asof left join seen as n on i.offer_no = n.offer_no and i.source = n.source and i.valid_to > n.observed_at
)

select
    o.offer_id,
    i.source,
    i.scope,
    i.valid_from,
    i.valid_to,
    greatest(i.valid_from, case when q.offer_no is null then i.covered_at end, i.seen_at) as last_observed_at,
    i.unit_price,
    i.upfront_price,
    d.document_sha256,
    i.recorded_at
from interval as i
anti join log.price_other as x on i.offer_no = x.offer_no
left join core.offer as o on i.offer_no = o.offer_no
left join log.document as d on i.document_no = d.document_no
left join questioned as q on i.offer_no = q.offer_no and i.source = q.source
where i.unit_price is not null or i.upfront_price is not null
