-- What the log says so far of the offers that were observed anew.
select
    offer_id,
    source,
    valid_from,
    scope,
    unit_price,
    upfront_price,
    document_sha256,
    recorded_at,
    is_void
from touched_point(TIMESTAMP '9999-01-01')
