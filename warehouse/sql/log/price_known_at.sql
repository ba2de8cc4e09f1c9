-- Intervals as known at `moment`, of offers whose events are links of chains: each until the next recorded by then.
with known as not materialized (
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

numbered as (
    select
        max(fetch_no) filter (where recorded_at <= moment) as last_known,
        coalesce(min(fetch_no) filter (where recorded_at > moment), 2147483647) as first_unknown
    from log.scope_fetch
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
    select
        k.source,
        k.scope,
        k.observed_at
    from known as k
    anti join withdrawn as w on k.fetch_no = w.fetch_no
    where k.is_covered
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

-- What had no end by then may have had one since; the numbers of fetches sort out most rows before any is looked at.
unended as (
    select
        offer_no,
        fetch_no,
        unit_price,
        upfront_price
    from log.open_link
    union all
    select
        c.offer_no,
        c.fetch_no,
        c.unit_price,
        c.upfront_price
    from log.price_closed as c
    anti join known as e on c.end_fetch_no = e.fetch_no
    cross join numbered as u
    where c.end_fetch_no >= u.first_unknown and c.fetch_no <= u.last_known
),

priced as (
    select
        c.*,
        e.observed_at as valid_to
    from log.price_closed as c
    inner join known as e on c.end_fetch_no = e.fetch_no
    union all by name
    select
        *,
        null::TIMESTAMP as valid_to
    from unended
),

interval as (
    select
        p.* exclude (p.fetch_no, p.end_fetch_no),
        k.* exclude (k.fetch_no, k.is_covered, k.observed_at),
        k.observed_at as valid_from
    from priced as p
    inner join known as k on p.fetch_no = k.fetch_no
    anti join log.price_other as o on p.offer_no = o.offer_no
    where p.unit_price is not null or p.upfront_price is not null
)

select
    o.offer_id,
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
    d.document_sha256,
    i.recorded_at
from interval as i
left join core.offer as o on i.offer_no = o.offer_no
left join log.document as d on i.document_no = d.document_no
left join questioned as q on i.offer_no = q.offer_no and i.source = q.source
asof left join covered as c
    on
        i.source = c.source
        and i.scope = c.scope
        and coalesce(i.valid_to, TIMESTAMP '9999-01-01') > c.observed_at
asof left join seen as n
    on
        i.offer_no = n.offer_no
        and i.source = n.source
        and coalesce(i.valid_to, TIMESTAMP '9999-01-01') > n.observed_at
