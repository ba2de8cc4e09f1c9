-- How many offers have a known price, by what kind of source last confirmed it and whether that is recent enough.
select
    s.kind,
    p.is_current,
    count(*) as n_offers,
    min(p.last_observed_at) as oldest_at,
    max(p.last_observed_at) as newest_at
from int.accelerator_hour_price as p
inner join core.source as s on p.source = s.source
group by s.kind, p.is_current
order by s.kind, p.is_current
