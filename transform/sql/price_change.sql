-- Every change of every offer's price, with the window in which it happened and what was offered: mart.price_move says
-- what kind of change each is, by the signs that stand there.
-- A list change is part of a repricing of the whole catalogue (is_repricing) where more than half of what its source
-- showed of the provider's list under the purchase option changed on that day, three prices or more; repricing_share
-- says how much. What moves with the rate of exchange alone is no change: amounts are compared in their own currency.
-- Days on which a source saw three prices or more of a provider's list change, and how many it showed before and after.
with repriced as materialized (
    select
        j.source,
        o.service_provider_name,
        j.purchase_option,
        j.observed_at::DATE as repriced_on,
        count(distinct j.offer_id) as n_changed
    from mart.price_move as j
    inner join core.offer as o on j.offer_id = o.offer_id
    where j.change_kind = 'list_change'
    group by j.source, o.service_provider_name, j.purchase_option, j.observed_at::DATE
    having n_changed >= 3
),

-- Imports that never tell a price twice: their silence means that it holds.
changes_only as (
    select p.source
    from core.sku_price as p
    inner join core.source as s on p.source = s.source and s.kind = 'import'
    group by p.source
    having not bool_or(p.last_observed_at > p.valid_from)
),

unchanged as (
    select
        r.source,
        r.service_provider_name,
        r.purchase_option,
        r.repriced_on,
        count(distinct h.offer_id) as n_unchanged
    from repriced as r
    inner join core.offer as o
        on
            r.service_provider_name = o.service_provider_name
            and r.purchase_option = o.purchase_option
            and o.statistic = 'price'
            and o.tier not ilike '%marketplace%' is not false
    inner join mart.price_history as h
        on
            o.offer_id = h.offer_id
            and r.source = h.last_source
            and r.repriced_on > h.valid_from::DATE
            and (h.valid_to is null or r.repriced_on < h.valid_to::DATE)
    left join changes_only as c on r.source = c.source
    where h.unit_price is not null and (c.source is not null or r.repriced_on <= h.last_observed_at::DATE)
    group by r.source, r.service_provider_name, r.purchase_option, r.repriced_on
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
    null::TIMESTAMP as effective_at,
    e.last_observed_before_at,
    e.observed_at,
    e.change_kind,
    case
        when e.change_kind = 'list_change' then r.n_changed / (r.n_changed + coalesce(v.n_unchanged, 0))
    end as repricing_share,
    coalesce(e.change_kind = 'list_change' and repricing_share > 0.5, false) as is_repricing,
    e.source,
    e.source_before,
    e.document_sha256,
    e.offer_id
from mart.price_move as e
inner join core.offer as o on e.offer_id = o.offer_id
inner join core.offer_unit as u on e.offer_id = u.offer_id
left join repriced as r
    on
        e.source = r.source
        and o.service_provider_name = r.service_provider_name
        and e.purchase_option = r.purchase_option
        and e.observed_at::DATE = r.repriced_on
left join unchanged as v
    on
        r.source = v.source
        and r.service_provider_name = v.service_provider_name
        and r.purchase_option = v.purchase_option
        and r.repriced_on = v.repriced_on
