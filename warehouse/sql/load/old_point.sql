-- What the log says so far of the offers that were observed anew.
select
    p.offer_id,
    p.source,
    p.valid_from,
    p.scope,
    p.unit_price,
    p.upfront_price,
    p.document_sha256,
    p.recorded_at,
    p.is_void
from core.price_point(TIMESTAMP '9999-01-01') as p
semi join new_observation as n on p.offer_id = n.offer_id and p.source = n.source
