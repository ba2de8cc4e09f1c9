-- A price that somebody withdrew is a correction with its reason, and no move of the market: before is what was
-- withdrawn, seen at last_observed_before_at; after is the price that holds at that moment now, NULL where none does;
-- observed_at is when it was withdrawn. A price that stands as it did, as in a file that
-- replaces another one, is none; so is one that was not in the history, as a better source was then confirmed.
with withdrawn as (
    select distinct
        e.offer_id,
        e.source,
        e.valid_from,
        e.unit_price,
        e.upfront_price,
        e.document_sha256,
        e.recorded_at as observed_at,
        w.reason
    from core.price_event as e
    inner join core.withdrawal as w
        on e.source = w.source and e.scope = w.scope and e.recorded_at = w.recorded_at
    where e.retracts_recorded_at is not null and (e.unit_price is not null or e.upfront_price is not null)
),

better as (
    select distinct
        w.offer_id,
        w.source,
        w.valid_from
    from withdrawn as w
    inner join core.sku_price as p
        on w.offer_id = p.offer_id and w.valid_from >= p.valid_from and w.valid_from <= p.last_observed_at
    inner join core.source as s on w.source = s.source
    inner join core.source as b on p.source = b.source
    where b.precedence < s.precedence
)

select
    w.offer_id,
    o.purchase_option,
    w.unit_price as unit_price_before,
    h.unit_price as unit_price_after,
    w.upfront_price as upfront_price_before,
    h.upfront_price as upfront_price_after,
    core.hourly_price(w.unit_price, w.upfront_price, u.hours_per_pricing_unit, o.commitment_term_hours)
        as effective_hourly_price_before,
    h.effective_hourly_price as effective_hourly_price_after,
    w.valid_from as last_observed_before_at,
    w.observed_at,
    'correction' as change_kind,
    w.source,
    w.source as source_before,
    w.document_sha256,
    w.reason
from withdrawn as w
anti join better as b on w.offer_id = b.offer_id and w.source = b.source and w.valid_from = b.valid_from
inner join core.offer as o on w.offer_id = o.offer_id
inner join core.offer_unit as u on w.offer_id = u.offer_id
left join int.price_history as h
    on
        w.offer_id = h.offer_id
        and w.valid_from >= h.valid_from
        and w.valid_from < coalesce(h.valid_to, TIMESTAMP 'infinity')
where
    (w.unit_price is distinct from h.unit_price)
    or (w.upfront_price is distinct from h.upfront_price)
