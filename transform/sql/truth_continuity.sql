-- Whether looks follow one another, and each resembles the one before: of live sources, over the last 30 days. Offers
-- of markets come and go by themselves; a source that is believed for a day only is one.
with look as materialized (
    select
        r.*,
        s.max_age_hours > 24 as is_list,
        max(r.observed_at) over () as newest_at,
        row_number() over (partition by r.source, r.scope order by r.observed_at desc) as nth,
        lag(r.observed_at) over (partition by r.source, r.scope order by r.observed_at) as before_at
    from log.run as r
    inner join core.source as s on r.source = s.source
    where
        s.kind = 'live' and r.status = 'ok' and not r.archived and r.n_rows > 0
        and r.observed_at >= meta.built_at() - interval 30 days
),

last_two as (
    select
        source,
        scope,
        min(observed_at) as first_at,
        max(observed_at) as last_at,
        max(observed_at, 2)[2] as before_at
    from look
    where complete and is_list
    group by source, scope
    having count(*) > 1
),

interval_near as materialized (
    select
        o.offer_id,
        p.source,
        p.scope,
        p.valid_from,
        p.valid_to,
        t.last_at,
        t.before_at
    from log.sku_price as p
    inner join core.offer as o on p.offer_no = o.offer_no
    inner join last_two as t on p.source = t.source and p.scope = t.scope
    -- first_at is of those 30 days: by the constant DuckDB skips old rows
    where
        (p.valid_to is null or p.valid_to >= meta.built_at() - interval 30 days)
        and (p.valid_to is null or p.valid_to >= t.first_at)
),

ended as (
    select
        *,
        lead(valid_from) over (partition by offer_id, source order by valid_from) as next_from
    from interval_near
    where valid_to is not null or valid_from >= before_at - interval 30 days
),

seen as (
    select
        source,
        scope,
        count(distinct offer_id) as n_offers,
        count(*) filter (where valid_from <= before_at and (valid_to is null or valid_to > before_at)) as n_before,
        count(*) filter (
            where valid_from <= before_at and valid_to > before_at and valid_to <= last_at
            and offer_id not in (
                select i.offer_id
                from interval_near as i
                where i.valid_from > i.before_at and i.valid_from <= i.last_at
            )
        ) as n_gone,
        max(offer_id) filter (
            where valid_from <= before_at and valid_to > before_at and valid_to <= last_at
        ) as offer_id,
        any_value(last_at) as last_at
    from interval_near
    group by source, scope
),

back as (
    select
        source,
        scope,
        count(distinct offer_id) as n_back,
        max(offer_id) as offer_id,
        max(next_from) as newest_at
    from ended
    where next_from > valid_to and next_from <= valid_to + interval 1 day
    group by source, scope
),

-- How long it was till the next look; the newest look of all is as far as a source can be late.
pause as (
    select
        source,
        scope,
        observed_at as ended_at,
        epoch(observed_at - before_at) / 3600 as hours
    from look
    where before_at is not null
    union all
    select
        source,
        scope,
        newest_at as ended_at,
        epoch(newest_at - observed_at) / 3600 as hours
    from look
    where nth = 1 and before_at is not null
),

shape as (
    select
        source,
        scope,
        max(n_rows) filter (where nth = 1) as n_last,
        median(n_rows) filter (where nth > 1) as n_usual,
        max(observed_at) as last_at,
        count(*) as n_looks
    from look
    where is_list
    group by source, scope
),

-- What an offer that is gone was called.
called as (
    select
        offer_id,
        concat_ws(' ', service_provider_name, coalesce(instance_type, accelerator_label), region_id, purchase_option)
            as words
    from core.offer
    where
        offer_id in (select seen.offer_id from seen)
        or offer_id in (select back.offer_id from back)
)

select
    'came_back' as check_name,
    s.source || ' ' || s.scope as subject,
    s.n_offers as n_compared,
    coalesce(b.n_back, 0) as n_differing,
    coalesce(b.n_back, 0) / s.n_offers as checked_value,
    c.words || ' was gone for less than a day until ' || strftime(b.newest_at, '%Y-%m-%d %H:%M') || ' UTC' as example,
    b.newest_at as newest_differing_at
from seen as s
left join back as b on s.source = b.source and s.scope = b.scope
left join called as c on b.offer_id = c.offer_id
union all by name
select
    'still_seen' as check_name,
    s.source || ' ' || s.scope as subject,
    s.n_before as n_compared,
    s.n_gone as n_differing,
    1 - s.n_gone / s.n_before as checked_value,
    c.words || ' is not in the fetch of ' || strftime(s.last_at, '%Y-%m-%d %H:%M') || ' UTC' as example,
    case when s.n_gone > 0 then s.last_at end as newest_differing_at
from seen as s
left join called as c on s.offer_id = c.offer_id
where s.n_before > 0
union all by name
select
    'daily_fetches' as check_name,
    p.source as subject,
    count(*) as n_compared,
    count(*) filter (where p.hours > r.limit_high) as n_differing,
    max(p.hours) as checked_value,
    arg_max(
        'scope ' || p.scope || ': ' || round(p.hours, 1) || ' hours until ' || strftime(p.ended_at, '%Y-%m-%d %H:%M')
        || ' UTC', (p.hours, p.scope)
    ) filter (where p.hours > r.limit_high) as example,
    max(p.ended_at) filter (where p.hours > r.limit_high) as newest_differing_at
from pause as p
inner join ref.truth_rule as r on r.check_name = 'daily_fetches'
group by p.source, r.limit_high
union all by name
select
    'rows_of_a_fetch' as check_name,
    s.source || ' ' || s.scope as subject,
    s.n_looks as n_compared,
    (not s.n_last / s.n_usual between r.limit_low and r.limit_high)::BIGINT as n_differing,
    s.n_last / s.n_usual as checked_value,
    case
        when not s.n_last / s.n_usual between r.limit_low and r.limit_high
            then
                s.n_last || ' prices in the fetch of ' || strftime(s.last_at, '%Y-%m-%d %H:%M') || ' UTC, '
                || s.n_usual || ' as a rule'
    end as example,
    case when not s.n_last / s.n_usual between r.limit_low and r.limit_high then s.last_at end as newest_differing_at
from shape as s
inner join ref.truth_rule as r on r.check_name = 'rows_of_a_fetch'
where s.n_looks > 3
