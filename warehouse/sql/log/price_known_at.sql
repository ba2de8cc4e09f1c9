-- Intervals as known at `moment`, of offers whose events are links of chains: what was recorded by then, each until the
-- next that was. What was open then is told apart from what had ended, so that a question for one does not read the
-- other; the numbers of fetches sort out most rows before any is looked at.
with bound as (
    select
        max(fetch_no) filter (where recorded_at <= moment) as last_known,
        coalesce(min(fetch_no) filter (where recorded_at > moment), 2147483647) as first_unknown
    from log.scope_fetch
),

other as (
    select distinct offer_no from log.price_other
),

unsaid as (
    select
        o.offer_no,
        q.source,
        q.scope,
        q.observed_at
    from core.quarantine as q
    inner join core.offer as o on q.offer_id = o.offer_id
    where q.recorded_at <= moment
    group by o.offer_no, q.source, q.scope, q.observed_at
    having arg_max(q.decision, q.recorded_at) is distinct from 'accept'
),

questioned as (
    select distinct
        offer_no,
        source,
        scope
    from unsaid
),

questioned_offer as (
    select distinct
        offer_no,
        source
    from questioned
),

-- An offer by itself seen, or by fetches that did not refuse it.
seen as (
    select
        s.offer_no,
        f.source,
        f.observed_at
    from log.sighting as s
    inner join log.scope_fetch as f on s.fetch_no = f.fetch_no
    anti join unsaid as x on s.offer_no = x.offer_no and f.source = x.source and f.observed_at = x.observed_at
    where f.recorded_at <= moment
    union all
    select
        u.offer_no,
        f.source,
        f.observed_at
    from questioned as u
    inner join log.scope_fetch as f on u.source = f.source and u.scope = f.scope
    anti join unsaid as x on u.offer_no = x.offer_no and f.source = x.source and f.observed_at = x.observed_at
    where f.complete and f.status = 'ok' and f.recorded_at <= moment
),

last_seen as (
    select
        offer_no,
        source,
        max(observed_at) as observed_at
    from seen
    group by offer_no, source
),

last_covered as (
    select
        source,
        scope,
        max(observed_at) as observed_at
    from log.scope_fetch
    where complete and status = 'ok' and recorded_at <= moment
    group by source, scope
),

-- What had no end by then: it may have had one since.
unended as materialized (
    select
        p.offer_no,
        p.fetch_no,
        p.unit_price,
        p.upfront_price
    from log.open_link as p
    anti join other as o on p.offer_no = o.offer_no
    where p.recorded_at <= moment and (p.unit_price is not null or p.upfront_price is not null)
    union all
    select
        c.offer_no,
        c.fetch_no,
        c.unit_price,
        c.upfront_price
    from log.price_closed as c
    cross join bound as b
    anti join log.scope_fetch as e on c.end_fetch_no = e.fetch_no and e.recorded_at <= moment
    anti join other as o on c.offer_no = o.offer_no
    where
        c.end_fetch_no >= b.first_unknown
        and c.fetch_no <= b.last_known
        and (c.unit_price is not null or c.upfront_price is not null)
),

begun as materialized (
    select f.*
    from log.scope_fetch as f
    semi join unended as u on f.fetch_no = u.fetch_no
    where f.recorded_at <= moment
),

ended as (
    select
        c.offer_no,
        c.fetch_no,
        e.source,
        e.scope,
        e.observed_at as valid_to,
        e.last_complete_at,
        c.unit_price,
        c.upfront_price
    from log.price_closed as c
    inner join log.scope_fetch as e on c.end_fetch_no = e.fetch_no
    anti join other as o on c.offer_no = o.offer_no
    where e.recorded_at <= moment and (c.unit_price is not null or c.upfront_price is not null)
),

-- Where fetches of a scope were not recorded in their order, last_complete_at says nothing.
late_scope as (
    select distinct
        source,
        scope
    from log.scope_fetch
    where is_late
),

late_covered as (
    select
        f.source,
        f.scope,
        f.observed_at
    from log.scope_fetch as f
    semi join late_scope as l on f.source = l.source and f.scope = l.scope
    where f.complete and f.status = 'ok' and f.recorded_at <= moment
),

told_interval as (
    select
        u.offer_no,
        b.source,
        b.scope,
        b.observed_at as valid_from,
        null::TIMESTAMP as valid_to,
        greatest(
            b.observed_at,
            case when q.offer_no is null then l.observed_at end,
            n.observed_at
        ) as last_observed_at,
        u.unit_price,
        u.upfront_price,
        b.document_no,
        b.recorded_at
    from unended as u
    inner join begun as b on u.fetch_no = b.fetch_no
    left join questioned_offer as q on u.offer_no = q.offer_no and b.source = q.source
    left join last_covered as l on b.source = l.source and b.scope = l.scope
    left join last_seen as n on u.offer_no = n.offer_no and b.source = n.source
    union all
    select
        e.offer_no,
        e.source,
        e.scope,
        b.observed_at as valid_from,
        e.valid_to,
        greatest(
            b.observed_at,
            case when q.offer_no is null then if(l.scope is null, e.last_complete_at, c.observed_at) end,
            n.observed_at
        ) as last_observed_at,
        e.unit_price,
        e.upfront_price,
        b.document_no,
        b.recorded_at
    from ended as e
    left join log.scope_fetch as b on e.fetch_no = b.fetch_no
    left join questioned_offer as q on e.offer_no = q.offer_no and e.source = q.source
    left join late_scope as l on e.source = l.source and e.scope = l.scope
    asof left join late_covered as c
        on e.source = c.source and e.scope = c.scope and e.valid_to > c.observed_at
    asof left join seen as n
        on e.offer_no = n.offer_no and e.source = n.source and e.valid_to > n.observed_at
)

select
    o.offer_id,
    i.source,
    i.scope,
    i.valid_from,
    i.valid_to,
    i.last_observed_at,
    i.unit_price,
    i.upfront_price,
    d.document_sha256,
    i.recorded_at
from told_interval as i
left join core.offer as o on i.offer_no = o.offer_no
left join log.document as d on i.document_no = d.document_no
