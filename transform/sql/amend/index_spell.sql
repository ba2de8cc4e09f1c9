-- Offers whose items may be others than in the published file though nothing touched them: those of an import whose
-- silence means something else now.
with silent as (
    select coalesce(h.source, b.source) as source
    from core.silent_import as h
    full join former.core.silent_import as b on h.source = b.source
    where h.looked_on is distinct from b.looked_on
)

select distinct p.offer_id
from core.sku_price as p
semi join silent as s on p.source = s.source
where p.source like 'import:%'
