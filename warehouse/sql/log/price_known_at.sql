-- Intervals as known at `moment`, of offers whose events are links of chains: what was recorded by then, each until the
-- next that was. The numbers of fetches sort out most rows before any is looked at.
with known as (
    select
        fetch_no,
        source,
        scope,
        observed_at,
        recorded_at,
        document_no,
        complete and status = 'ok' as is_covered
    from log.scope_fetch
    where recorded_at <= moment
),

withdrawn as (
    select fetch_no
    from log.withdrawn_fetch
    where withdrawn_at <= moment
),

last_known as (
    select max(fetch_no) as fetch_no
    from log.scope_fetch
    where recorded_at <= moment
),

first_unknown as (
    select coalesce(min(fetch_no), 2147483647) as fetch_no
    from log.scope_fetch
    where recorded_at > moment
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
        source
    from unsaid
),

covered as (
    select distinct
        k.source,
        k.scope,
        k.observed_at
    from known as k
    anti join withdrawn as w on k.fetch_no = w.fetch_no
    where k.is_covered
),

last_covered as (
    select
        source,
        scope,
        max(observed_at) as observed_at
    from covered
    group by source, scope
),

-- An offer by itself seen, or by fetches that did not refuse it.
seen as (
    select
        s.offer_no,
        k.source,
        k.observed_at
    from log.sighting as s
    inner join known as k on s.fetch_no = k.fetch_no
    anti join unsaid as x on s.offer_no = x.offer_no and k.source = x.source and k.observed_at = x.observed_at
    anti join withdrawn as w on s.fetch_no = w.fetch_no
    union
    select
        u.offer_no,
        c.source,
        c.observed_at
    from unsaid as u
    inner join covered as c on u.source = c.source and u.scope = c.scope
    anti join unsaid as x on u.offer_no = x.offer_no and u.source = x.source and c.observed_at = x.observed_at
),

last_seen as (
    select
        offer_no,
        source,
        max(observed_at) as observed_at
    from seen
    group by offer_no, source
),

-- What had no end by then: it may have had one since.
unended as (
    select
        offer_no,
        fetch_no,
        unit_price,
        upfront_price
    from log.open_link
    where recorded_at <= moment and (unit_price is not null or upfront_price is not null)
    union all
    select
        c.offer_no,
        c.fetch_no,
        c.unit_price,
        c.upfront_price
    from log.price_closed as c
    anti join known as e on c.end_fetch_no = e.fetch_no
    cross join last_known as l
    cross join first_unknown as u
    where
        c.end_fetch_no >= u.fetch_no
        and c.fetch_no <= l.fetch_no
        and (c.unit_price is not null or c.upfront_price is not null)
),

open_interval as (
    select
        u.offer_no,
        k.source,
        k.scope,
        k.observed_at as valid_from,
        null::TIMESTAMP as valid_to,
        greatest(
            k.observed_at,
            case when q.offer_no is null then l.observed_at end,
            n.observed_at
        ) as last_observed_at,
        u.unit_price,
        u.upfront_price,
        k.document_no,
        k.recorded_at
    from unended as u
    inner join known as k on u.fetch_no = k.fetch_no
    left join questioned as q on u.offer_no = q.offer_no and k.source = q.source
    left join last_covered as l on k.source = l.source and k.scope = l.scope
    left join last_seen as n on u.offer_no = n.offer_no and k.source = n.source
    anti join other as o on u.offer_no = o.offer_no
),

ended as (
    select
        c.offer_no,
        k.source,
        k.scope,
        k.observed_at as valid_from,
        e.observed_at as valid_to,
        c.unit_price,
        c.upfront_price,
        k.document_no,
        k.recorded_at
    from log.price_closed as c
    inner join known as k on c.fetch_no = k.fetch_no
    inner join known as e on c.end_fetch_no = e.fetch_no
    anti join other as o on c.offer_no = o.offer_no
    where c.unit_price is not null or c.upfront_price is not null
),

closed_interval as (
    select
        i.offer_no,
        i.source,
        i.scope,
        i.valid_from,
        i.valid_to,
        greatest(
            i.valid_from,
            case when q.offer_no is null then c.observed_at end,
            n.observed_at
        ) as last_observed_at,
        i.unit_price,
        i.upfront_price,
        i.document_no,
        i.recorded_at
    from ended as i
    left join questioned as q on i.offer_no = q.offer_no and i.source = q.source
    asof left join covered as c
        on i.source = c.source and i.scope = c.scope and i.valid_to > c.observed_at
    asof left join seen as n
        on i.offer_no = n.offer_no and i.source = n.source and i.valid_to > n.observed_at
),

interval as (
    select * from open_interval
    union all
    select * from closed_interval
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
from interval as i
left join core.offer as o on i.offer_no = o.offer_no
left join log.document as d on i.document_no = d.document_no
