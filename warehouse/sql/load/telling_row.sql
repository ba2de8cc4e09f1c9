-- What was observed of offers of which something is new. A row that comes after the log's last word on its offer and
-- repeats it says nothing new.
with telling as (
    select
        r.offer_id,
        r.source
    from observed_row as r
    left join offer_state as s on r.offer_id = s.offer_id and r.source = s.source
    where
        not coalesce(s.is_plain, false)
        or s.valid_from > r.observed_at
        or r.unit_price is distinct from s.unit_price
        or r.upfront_price is distinct from s.upfront_price
    union
    select
        offer_id,
        source
    from new_observation
)

select
    r.offer_id,
    r.source,
    r.scope,
    r.observed_at,
    r.unit_price,
    r.upfront_price,
    r.document_sha256
from observed_row as r
semi join telling as t on r.offer_id = t.offer_id and r.source = t.source
