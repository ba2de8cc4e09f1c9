-- The events recorded by `moment` that nothing recorded by then retracts.
select e.* -- noqa: AM04
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
