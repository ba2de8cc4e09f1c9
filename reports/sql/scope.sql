-- Each scope of each source with one word for its state, and the newest date that its prices carry.
-- A failure to list the scopes of a source (scope all) is settled once any scope of it was read later.
with newest as (
    select
        source,
        scope,
        max(last_observed_at) as newest_price_at
    from core.sku_price
    group by source, scope
)

select
    h.*, -- noqa: AM04
    case
        when h.kind <> 'live' then 'archived'
        when h.last_good_at is null then 'missing'
        when not h.is_current then 'stale'
        when h.status <> 'ok' then 'retry'
        else 'fresh'
    end as state,
    n.newest_price_at
from int.source_health as h
left join newest as n on h.source = n.source and h.scope = n.scope
qualify
    h.scope <> 'all'
    or h.last_good_at is not null
    or coalesce(h.last_tried_at > max(h.last_good_at) over (partition by h.source), true)
order by h.source, h.scope
