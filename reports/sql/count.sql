-- How many offers have a known price, and how good it is: current, stale of a live source, of an archive or import.
select
    count(*) as n_known,
    count(*) filter (where p.is_current) as n_current,
    count(*) filter (where not p.is_current and s.kind = 'live') as n_stale,
    count(*) filter (where not p.is_current and s.kind <> 'live') as n_archived,
    list(distinct p.purchase_option) as purchase_options,
    max(p.last_observed_at) as newest_at,
    min(p.last_observed_at) filter (where not p.is_current and s.kind <> 'live') as archived_from,
    max(p.last_observed_at) filter (where not p.is_current and s.kind <> 'live') as archived_to
from int.accelerator_hour_price as p
inner join core.source as s on p.source = s.source
