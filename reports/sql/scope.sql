-- Each scope of each source with one word for its state, and the newest date that its prices carry.
-- A failure to list the scopes of a source (scope all) is settled once any scope of it was read later.
select
    h.*, -- noqa: AM04
    case
        when h.kind <> 'live' then 'archived'
        when h.last_good_at is null then 'missing'
        when not h.is_current then 'stale'
        when h.status <> 'ok' then 'retry'
        else 'fresh'
    end as state,
    (
        select max(p.last_observed_at)
        from core.sku_price as p
        where p.source = h.source and p.scope = h.scope
    ) as newest_price_at
from int.source_health as h
qualify
    h.scope <> 'all'
    or h.last_good_at is not null
    or coalesce(h.last_tried_at > max(h.last_good_at) over (partition by h.source), true)
order by h.source, h.scope
