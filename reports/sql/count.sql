-- How many offers have a known price, and how good it is: current, stale of a live source, of an archive or import; and
-- how many the run confirmed: those that one of its good looks showed.
with looked as (
    select distinct
        source,
        observed_at
    from core.scope_run
    where run_id = $run_id and status = 'ok'
)

select
    count(*) as n_known,
    count(*) filter (where p.is_current) as n_current,
    count(*) filter (
        where row(p.source, p.last_observed_at) in (select row(l.source, l.observed_at) from looked as l)
        or (s.kind = 'import' and p.source in (select l.source from looked as l))
    ) as n_confirmed,
    count(*) filter (where not p.is_current and s.kind = 'live') as n_stale,
    count(*) filter (where not p.is_current and s.kind <> 'live') as n_archived,
    list(distinct p.purchase_option) as purchase_options,
    max(p.last_observed_at) as newest_at,
    min(p.last_observed_at) filter (where not p.is_current and s.kind <> 'live') as archived_from,
    max(p.last_observed_at) filter (where not p.is_current and s.kind <> 'live') as archived_to
from int.accelerator_hour_price as p
inner join core.source as s on p.source = s.source
