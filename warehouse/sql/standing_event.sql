-- The events of the log that nothing retracts.
select e.* -- noqa: AM04
from core.price_event as e
anti join core.price_event as r
    on
        r.retracts_recorded_at is not null
        and e.offer_id = r.offer_id
        and e.source = r.source
        and e.valid_from = r.valid_from
        and e.recorded_at = r.retracts_recorded_at
where e.retracts_recorded_at is null
