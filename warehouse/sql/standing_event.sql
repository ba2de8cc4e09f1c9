-- The events of the log that nothing retracts.
with retraction as (
    select
        offer_id,
        source,
        valid_from,
        retracts_recorded_at
    from core.price_event
    where retracts_recorded_at is not null
)

select e.* -- noqa: AM04
from core.price_event as e
anti join retraction as r
    on
        e.offer_id = r.offer_id
        and e.source = r.source
        and e.valid_from = r.valid_from
        and e.recorded_at = r.retracts_recorded_at
where e.retracts_recorded_at is null
