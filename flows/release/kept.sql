-- The fetches of `published` that a row of `licence` names, and the providers whose own terms all forbid a release.
create temp table forbidden as
select s.service_provider_name
from published.core.source as s
left join published.ref.source_terms as t on s.source = t.source
group by s.service_provider_name
having bool_and(coalesce(t.redistributable = 'no', false));

create temp table kept_fetch as
select f.fetch_no
from published.log.scope_fetch as f
inner join licence as l on f.source = l.source and coalesce(f.scope = l.scope, true);
