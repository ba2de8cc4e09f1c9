-- How many offers the run confirmed: those that one of its good looks showed.
select count(*) as n_offers
from int.accelerator_hour_price as p
inner join core.source as s on p.source = s.source
where exists (
    select 1
    from core.scope_run as r
    where
        r.run_id = $run_id
        and r.status = 'ok'
        and r.source = p.source
        and (r.observed_at = p.last_observed_at or s.kind = 'import')
)
