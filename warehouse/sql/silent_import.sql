-- Imports that never tell a price twice: lists of changes, whose silence means that a price holds. told_until is
-- their last word on any offer, looked_on its day. By the names of imports DuckDB skips the prices of other sources.
select
    p.source,
    max(p.last_observed_at)::DATE as looked_on,
    max(p.last_observed_at) as told_until
from core.sku_price as p
inner join core.source as s on p.source = s.source and s.kind = 'import'
where p.source like 'import:%'
group by p.source
having not bool_or(p.last_observed_at > p.valid_from)
