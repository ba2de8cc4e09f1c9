-- Offers of whose rows more may differ from the file before than how long the last price has held: what is told of them
-- there and here is compared, row by row: an alias of a table is all of its columns.
with row_here as (
    select
        offer_id,
        hash(e) as digest
    from core.price_event as e -- noqa: AL05
    union all
    select
        offer_id,
        hash(q) as digest
    from core.quarantine as q -- noqa: AL05
    where offer_id is not null
    union all
    select
        o.offer_id,
        hash(o, u) as digest -- noqa: RF02
    from core.offer as o
    inner join core.offer_unit as u on o.offer_id = u.offer_id
),

row_there as (
    select
        offer_id,
        hash(e) as digest
    from before.core.price_event as e -- noqa: AL05
    union all
    select
        offer_id,
        hash(q) as digest
    from before.core.quarantine as q -- noqa: AL05
    where offer_id is not null
    union all
    select
        o.offer_id,
        hash(o, u) as digest -- noqa: RF02
    from before.core.offer as o
    inner join before.core.offer_unit as u on o.offer_id = u.offer_id
),

-- The sum of the hashes of its rows, here less there: of an offer whose rows are the same it is nothing.
compared as (
    select
        offer_id,
        digest::HUGEINT as digest
    from row_here
    union all
    select
        offer_id,
        -digest::HUGEINT as digest
    from row_there
),

told as (
    select distinct
        offer_id,
        source,
        scope
    from core.price_event
),

-- Looks that say something of a moment that was told of before: late ones, those of an archive, and those that went.
look_here as (
    select
        source,
        scope,
        observed_at,
        complete,
        archived
    from core.scope_run
    where status = 'ok'
),

look_there as (
    select
        source,
        scope,
        observed_at,
        complete,
        archived
    from before.core.scope_run
    where status = 'ok'
),

told_until as (
    select
        source,
        scope,
        max(observed_at) as observed_at
    from (
        select
            source,
            scope,
            observed_at
        from look_there
        union all
        select
            source,
            scope,
            coalesce(valid_to, valid_from) as observed_at
        from before.core.sku_price
    ) as moment
    group by source, scope
),

new_look as (
    from look_here
    except all
    from look_there
),

gone_look as (
    from look_there
    except all
    from look_here
),

disturbed as (
    select
        l.source,
        l.scope
    from new_look as l
    left join told_until as t on l.source = t.source and l.scope = t.scope
    where l.archived or l.observed_at <= t.observed_at
    union
    select
        source,
        scope
    from gone_look
),

new_sighting as (
    select
        s.offer_id,
        s.source,
        s.observed_at
    from core.sighting as s
    anti join before.core.sighting as b
        on s.offer_id = b.offer_id and s.source = b.source and s.observed_at = b.observed_at
),

-- An import's sighting is a look at all that it has of the provider.
imported as (
    select distinct
        s.source,
        o.service_provider_name
    from new_sighting as s
    inner join core.source as f on s.source = f.source and f.kind = 'import'
    inner join core.offer as o on s.offer_id = o.offer_id
)

select offer_id
from compared
group by offer_id
having sum(digest) <> 0
union
select offer_id
from told
group by offer_id
having min(source) <> max(source)
union
select t.offer_id
from told as t
semi join disturbed as d on t.source = d.source and t.scope = d.scope
union
select s.offer_id
from new_sighting as s
inner join offer_tail as t on s.offer_id = t.offer_id
where s.observed_at < t.since
union
select b.offer_id
from before.core.sighting as b
anti join core.sighting as s
    on b.offer_id = s.offer_id and b.source = s.source and b.observed_at = s.observed_at
union
select t.offer_id
from told as t
inner join core.offer as o on t.offer_id = o.offer_id
semi join imported as i on t.source = i.source and o.service_provider_name = i.service_provider_name
