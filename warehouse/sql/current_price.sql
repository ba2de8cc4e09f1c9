-- Open intervals that their source confirmed within its max_age before the file was built.
select
    p.offer_id,
    p.source,
    p.scope,
    p.valid_from,
    p.last_observed_at,
    p.unit_price,
    p.upfront_price,
    p.document_sha256
from core.sku_price as p
inner join core.source as s on p.source = s.source
cross join meta.build as b
where p.valid_to is null and epoch(b.built_at - p.last_observed_at) / 3600 between 0 and s.max_age_hours
