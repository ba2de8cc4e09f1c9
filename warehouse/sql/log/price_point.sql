-- What one source says of one offer at one moment, as known at `moment`. A price beats "not offered"; two prices
-- contradict each other: then the moment is void, and nothing is known of it.
select
    e.offer_id,
    e.source,
    e.valid_from,
    any_value(e.scope) as scope,
    max(e.unit_price) as unit_price,
    max(e.upfront_price) as upfront_price,
    coalesce(
        arg_min(e.document_sha256, e.recorded_at) filter (
            where e.unit_price is not null or e.upfront_price is not null
        ),
        arg_min(e.document_sha256, e.recorded_at)
    ) as document_sha256,
    min(e.recorded_at) as recorded_at,
    coalesce(min(e.unit_price) < max(e.unit_price), false)
    or coalesce(min(e.upfront_price) < max(e.upfront_price), false) as is_void
from core.price_event as e
anti join core.price_event as r
    on
        r.retracts_recorded_at is not null
        and r.recorded_at <= moment
        and e.offer_id = r.offer_id
        and e.source = r.source
        and e.valid_from = r.valid_from
        and e.recorded_at = r.retracts_recorded_at
        and e.unit_price is not distinct from r.unit_price and e.upfront_price is not distinct from r.upfront_price
        and e.document_sha256 is not distinct from r.document_sha256
where e.recorded_at <= moment and e.retracts_recorded_at is null
group by e.offer_id, e.source, e.valid_from
