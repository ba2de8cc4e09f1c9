-- What one source says of one offer at one moment, as known at `moment`. A price beats "not offered"; two prices
-- contradict each other: then the moment is void, and nothing is known of it.
select
    offer_id,
    source,
    valid_from,
    any_value(scope) as scope,
    max(unit_price) as unit_price,
    max(upfront_price) as upfront_price,
    coalesce(
        arg_min(document_sha256, recorded_at) filter (
            where unit_price is not null or upfront_price is not null
        ),
        arg_min(document_sha256, recorded_at)
    ) as document_sha256,
    min(recorded_at) as recorded_at,
    coalesce(min(unit_price) < max(unit_price), false)
    or coalesce(min(upfront_price) < max(upfront_price), false) as is_void
from core.standing_event(moment)
group by offer_id, source, valid_from
