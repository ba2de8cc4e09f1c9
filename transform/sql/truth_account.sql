-- Whether the log adds up: what looks count, what stands in the quarantine, what intervals say, over the last days.
with look as materialized (
    select
        r.*,
        row_number() over (
            partition by r.source, r.scope, r.complete and r.status = 'ok' order by r.observed_at desc
        ) as nth
    from log.run as r
    inner join core.source as s on r.source = s.source
    where s.kind = 'live' and not r.archived and r.observed_at >= meta.built_at() - interval 30 days
),

-- A fetch that was refused and then accepted was loaded twice, and refuses the same rows each time.
counted as (
    select
        run_id,
        source,
        scope,
        observed_at,
        max(n_refused) as n_refused
    from look
    group by run_id, source, scope, observed_at
),

-- A row that waits is written again when it is seen again: it counts for the look that saw it. One that was accepted is
-- in no look's rows.
refused as (
    select
        q.run_id,
        q.source,
        q.scope,
        q.observed_at,
        count(distinct q.quarantine_id) filter (where q.decision is distinct from 'accept') as n_rows,
        count(distinct q.quarantine_id) filter (where q.decision = 'accept' and q.row_json <> '{}') as n_accepted
    from core.quarantine as q
    where q.observed_at >= meta.built_at() - interval 30 days
    group by q.run_id, q.source, q.scope, q.observed_at
),

held as (
    select
        p.source,
        p.scope,
        count(*) - coalesce(any_value(q.n_accepted), 0) as n_prices
    from log.sku_price as p
    inner join look as l
        on p.source = l.source and p.scope = l.scope and p.last_observed_at >= l.observed_at
    left join refused as q
        on l.run_id = q.run_id and l.source = q.source and l.scope = q.scope and l.observed_at = q.observed_at
    where l.nth = 1 and l.complete and l.status = 'ok' and p.valid_from <= l.observed_at and p.valid_to is null
    group by p.source, p.scope
),

-- Where all of an offer's events are links of its chains none is retracted, and no document is read to know it.
standing as (
    select
        e.*, -- noqa: AM04
        f.source,
        f.observed_at as valid_from
    from log.begun_link as e
    anti join log.price_other as o on e.offer_no = o.offer_no
    inner join log.scope_fetch as f on e.fetch_no = f.fetch_no
    union all by name
    from log.other_standing(TIMESTAMP '9999-01-01')
),

event as (
    select
        e.source,
        count(*) as n_events,
        count(*) filter (where e.unit_price is not null or e.upfront_price is not null) as n_prices
    from standing as e
    inner join core.source as s on e.source = s.source
    where e.valid_from >= meta.built_at() - interval 2 days and s.kind = 'live'
    group by e.source
),

begun as (
    select
        p.source,
        count(*) as n_begun
    from log.sku_price as p
    where
        p.valid_from >= meta.built_at() - interval 2 days
        and (p.valid_to is null or p.valid_to >= meta.built_at() - interval 2 days)
    group by p.source
)

select
    'refused_rows_add_up' as check_name,
    l.source as subject,
    count(*) as n_compared,
    count(*) filter (where l.n_refused <> coalesce(q.n_rows, 0)) as n_differing,
    sum(abs(l.n_refused - coalesce(q.n_rows, 0)))::DOUBLE as checked_value,
    arg_max(
        'scope ' || l.scope || ', ' || strftime(l.observed_at, '%Y-%m-%d %H:%M') || ' UTC: ' || l.n_refused
        || ' refused by the fetch, ' || coalesce(q.n_rows, 0) || ' in the quarantine',
        (abs(l.n_refused - coalesce(q.n_rows, 0)), l.observed_at, l.scope)
    ) filter (where l.n_refused <> coalesce(q.n_rows, 0)) as example,
    max(l.observed_at) filter (where l.n_refused <> coalesce(q.n_rows, 0)) as newest_differing_at
from counted as l
left join refused as q
    on l.run_id = q.run_id and l.source = q.source and l.scope = q.scope and l.observed_at = q.observed_at
group by l.source
union all by name
select
    'accepted_rows_add_up' as check_name,
    l.source as subject,
    sum(l.n_rows)::BIGINT as n_compared,
    sum(abs(l.n_rows - coalesce(h.n_prices, 0)))::BIGINT as n_differing,
    arg_max(
        (l.n_rows - coalesce(h.n_prices, 0)) / l.n_rows,
        (abs(l.n_rows - coalesce(h.n_prices, 0)), l.observed_at, l.scope)
    ) as checked_value,
    arg_max(
        'scope ' || l.scope || ', ' || strftime(l.observed_at, '%Y-%m-%d %H:%M') || ' UTC: ' || l.n_rows
        || ' prices accepted, ' || coalesce(h.n_prices, 0) || ' hold since',
        (abs(l.n_rows - coalesce(h.n_prices, 0)), l.observed_at, l.scope)
    ) filter (where l.n_rows <> coalesce(h.n_prices, 0)) as example,
    max(l.observed_at) filter (where l.n_rows <> coalesce(h.n_prices, 0)) as newest_differing_at
from look as l
left join held as h on l.source = h.source and l.scope = h.scope
where l.nth = 1 and l.complete and l.status = 'ok' and l.n_rows > 0
group by l.source
union all by name
select
    'events_are_changes' as check_name,
    e.source as subject,
    e.n_events as n_compared,
    abs(e.n_prices - coalesce(b.n_begun, 0)) as n_differing,
    (e.n_prices - coalesce(b.n_begun, 0))::DOUBLE as checked_value,
    case
        when e.n_prices <> coalesce(b.n_begun, 0)
            then e.n_prices || ' events with a price, ' || coalesce(b.n_begun, 0) || ' intervals that begin'
    end as example,
    case when e.n_prices <> coalesce(b.n_begun, 0) then meta.built_at() end as newest_differing_at
from event as e
left join begun as b on e.source = b.source
