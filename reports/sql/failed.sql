-- The looks that failed in the 30 days before the file was built, newest first.
select
    r.source,
    r.scope,
    r.observed_at,
    r.error
from core.scope_run as r
where r.status <> 'ok' and r.observed_at >= meta.built_at() - interval 30 days
order by -epoch_us(r.observed_at), r.source, r.scope
