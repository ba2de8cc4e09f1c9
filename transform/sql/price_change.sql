-- Every change of every offer's price, with the window in which it happened and what was offered: int.price_move says
-- what kind of change each is, by the signs that stand there.
-- A list change is part of a repricing of the whole catalogue (is_repricing) where more than half of what its source
-- showed of the provider's list under the purchase option changed on that day, three prices or more: int.repricing.
-- A price that somebody withdrew is a correction with its reason, and no move of the market: before is what was
-- withdrawn, seen at last_observed_before_at; after is the price that holds at that moment now, NULL where none does;
-- observed_at is when it was withdrawn. A price that stands as it did, as in a file that
-- replaces another one, is none; so is one that was not in the history, as a better source was then confirmed.
-- effective_at is the provider's own date of the price (core.price_detail), where it lies in the change's window.
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
),

held as (
    select
        w.offer_id,
        w.valid_from,
        any_value(h.unit_price) as unit_price,
        any_value(h.upfront_price) as upfront_price,
        any_value(h.effective_hourly_price) as effective_hourly_price
    from withdrawn as w
    inner join int.price_history as h
        on w.offer_id = h.offer_id and w.valid_from >= h.valid_from and coalesce(w.valid_from < h.valid_to, true)
    group by w.offer_id, w.valid_from
),

change as (
    select
        *,
        null::VARCHAR as reason
    from int.price_move
    union all by name
    select
        w.offer_id,
        o.purchase_option,
        w.unit_price as unit_price_before,
        h.unit_price as unit_price_after,
        w.upfront_price as upfront_price_before,
        h.upfront_price as upfront_price_after,
        w.unit_price::DOUBLE / u.hours_per_pricing_unit
        + case when w.upfront_price > 0 then w.upfront_price::DOUBLE / o.commitment_term_hours else 0 end
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
    left join held as h on w.offer_id = h.offer_id and w.valid_from = h.valid_from
    where
        (w.unit_price is distinct from h.unit_price)
        or (w.upfront_price is distinct from h.upfront_price)
),

stated as (
    select
        e.offer_id,
        e.observed_at,
        max(d.effective_at) as effective_at
    from core.price_detail as d
    inner join core.offer as o
        on
            d.service_provider_name = o.service_provider_name
            and d.purchase_option = o.purchase_option
            and d.instance_type is not distinct from o.instance_type
            and d.region_id is not distinct from o.region_id
            and d.commitment_term_hours is not distinct from o.commitment_term_hours
            and d.tier is not distinct from o.tier
    inner join change as e
        on
            o.offer_id = e.offer_id
            and d.source = e.source
            and d.effective_at > e.last_observed_before_at
            and d.effective_at <= e.observed_at
    group by e.offer_id, e.observed_at
)

select
    o.service_provider_name,
    o.region_id,
    o.availability_zone_id,
    o.instance_type,
    u.accelerator_name,
    u.accelerator_count,
    o.capacity_unit,
    o.purchase_option,
    o.commitment_term_hours,
    o.purchase_payment_model,
    o.offering_class,
    o.tier,
    o.pricing_currency,
    e.unit_price_before,
    e.unit_price_after,
    e.upfront_price_before,
    e.upfront_price_after,
    e.effective_hourly_price_before,
    e.effective_hourly_price_after,
    e.effective_hourly_price_after / e.effective_hourly_price_before - 1 as change_ratio,
    s.effective_at,
    e.last_observed_before_at,
    e.observed_at,
    e.change_kind,
    e.reason,
    case when e.change_kind = 'list_change' then r.repricing_share end as repricing_share,
    coalesce(e.change_kind = 'list_change' and r.repricing_share > 0.5, false) as is_repricing,
    e.source,
    e.source_before,
    e.document_sha256,
    e.offer_id
from change as e
inner join core.offer as o on e.offer_id = o.offer_id
inner join core.offer_unit as u on e.offer_id = u.offer_id
left join stated as s on e.offer_id = s.offer_id and e.observed_at = s.observed_at
left join int.repricing as r
    on
        e.source = r.source
        and o.service_provider_name = r.service_provider_name
        and e.purchase_option = r.purchase_option
        and e.observed_at::DATE = r.repriced_on
