-- What one source says of one offer at one moment, as known at `moment`. A price beats "not offered"; two prices
-- contradict each other: then the moment is void, and nothing is known of it.
with event as (
    select e.*
    from core.price_event as e
    anti join core.price_event as r
        on
            r.retracts_recorded_at is not null
            and r.recorded_at <= moment
            and e.offer_id = r.offer_id
            and e.source = r.source
            and e.valid_from = r.valid_from
            and e.recorded_at = r.retracts_recorded_at
    where e.recorded_at <= moment and e.retracts_recorded_at is null
)

select
    offer_id,
    source,
    valid_from,
    any_value(scope) as scope,
    max(unit_price) as unit_price,
    max(upfront_price) as upfront_price,
    coalesce(
        arg_min(document_sha256, recorded_at) filter (where unit_price is not null or upfront_price is not null),
        arg_min(document_sha256, recorded_at)
    ) as document_sha256,
    min(recorded_at) as recorded_at,
    coalesce(min(unit_price) < max(unit_price), false)
    or coalesce(min(upfront_price) < max(upfront_price), false) as is_void
from event
group by offer_id, source, valid_from
