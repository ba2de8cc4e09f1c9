-- Each scope of each source: the last look, the last good one, what it gave, and where the source disagrees with
-- others. Fetches later than the file's own date, by a clock that was ahead, are left out; an
-- import is dated by its newest price, and may be read later.
with run as (
    select
        r.source,
        r.scope,
        max(r.observed_at) as last_tried_at,
        max(r.observed_at) filter (where r.status = 'ok') as last_good_at,
        sum(r.n_refused) filter (where r.observed_at >= meta.built_at() - interval 30 days or r.archived) as n_refused
    from log.run as r
    where r.archived or r.observed_at <= meta.built_at()
    group by r.source, r.scope
),

-- What the last look and the last good one said: of several at one moment the one that was recorded last.
said as (
    select
        n.source,
        n.scope,
        arg_max(r.status, r.recorded_at) filter (where r.observed_at = n.last_tried_at) as status,
        arg_max(coalesce(r.error, ''), r.recorded_at) filter (where r.observed_at = n.last_tried_at) as error,
        arg_max(r.n_rows, r.recorded_at) filter (where r.observed_at = n.last_good_at and r.status = 'ok') as n_rows
    from run as n
    inner join log.run as r
        on n.source = r.source and n.scope = r.scope and r.observed_at in (n.last_tried_at, n.last_good_at)
    group by n.source, n.scope
),

-- Prices of offers that may have several sources: with a chain of each, or an event that is in none.
several as ( -- noqa: ST03
    select offer_no from log.price_open
    group by offer_no
    having min(source) < max(source)
    union
    select offer_no from log.price_other
),

compared as materialized (
    from log.sku_price_of('several')
),

-- Offers for which two sources confirmed different prices about the same time.
disagreement as (
    select
        p.source,
        p.scope,
        count(distinct p.offer_no) as n_disagreements
    from compared as p
    inner join compared as q
        on
            p.offer_no = q.offer_no
            and p.source <> q.source
            and p.valid_from <= q.last_observed_at
            and p.last_observed_at >= q.valid_from
    where
        abs(p.unit_price - q.unit_price) > q.unit_price / 10000
        or abs(p.upfront_price - q.upfront_price) > q.upfront_price / 10000
    group by p.source, p.scope
),

unknown as (
    select
        p.source,
        p.scope,
        count(distinct o.instance_type) as n_without_accelerator
    from log.sku_price as p
    inner join core.offer as o on p.offer_no = o.offer_no
    inner join core.offer_unit as u on o.offer_id = u.offer_id
    where p.valid_to is null and u.accelerator_name is null
    group by p.source, p.scope
)

select
    s.service_provider_name,
    r.source,
    s.kind,
    r.scope,
    w.status,
    r.last_tried_at,
    r.last_good_at,
    epoch(meta.built_at() - r.last_good_at) / 86400 as age_days,
    coalesce(epoch(meta.built_at() - r.last_good_at) / 3600 between 0 and s.max_age_hours, false) as is_current,
    w.n_rows,
    coalesce(r.n_refused, 0)::INTEGER as n_refused,
    coalesce(d.n_disagreements, 0) as n_disagreements,
    coalesce(u.n_without_accelerator, 0) as n_without_accelerator,
    nullif(w.error, '') as error
from run as r
inner join core.source as s on r.source = s.source
inner join said as w on r.source = w.source and r.scope = w.scope
left join disagreement as d on r.source = d.source and r.scope = d.scope
left join unknown as u on r.source = u.source and r.scope = u.scope
-- Scope "all" is a source whose scopes could not be listed: over as soon as they could; any other, 30 days after the
-- settings named it last.
qualify
    r.last_tried_at >= max(r.last_tried_at) over (partition by r.source)
    - to_days(case when r.scope = 'all' then 0 when s.kind = 'live' then 30 else 99999 end)
order by all
