-- Each registered source, and how many of its looks failed in the 30 days before the file was built.
select
    s.*, -- noqa: AM04
    t.may_fetch,
    t.redistributable,
    t.terms_url,
    count(r.source) filter (
        where r.status <> 'ok' and r.observed_at >= meta.built_at() - interval 30 days
    ) as n_failed
from core.source as s
left join ref.source_terms as t on s.source = t.source
left join core.scope_run as r on s.source = r.source
group by all
order by s.source
