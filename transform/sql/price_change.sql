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

-- The days on which a price stood: after the one on which it came, up to the one before it went or when last seen.
standing as (
    select
        h.last_source as source,
        o.service_provider_name,
        o.purchase_option,
        h.valid_from::DATE + 1 as first_day,
        least(h.valid_to::DATE - 1, case when c.source is null then h.last_observed_at::DATE end) as last_day
    from mart.price_history as h
    inner join core.offer as o on h.offer_id = o.offer_id
    semi join repriced as r
        on
            h.last_source = r.source
            and o.service_provider_name = r.service_provider_name
            and o.purchase_option = r.purchase_option
    left join changes_only as c on h.last_source = c.source
    where
        h.unit_price is not null
        and o.statistic = 'price'
        and o.tier not ilike '%marketplace%' is not false
        and (last_day is null or last_day >= first_day)
),

step as (
    select
        source,
        service_provider_name,
        purchase_option,
        first_day as stepped_on,
        1 as step
    from standing
    union all
    select
        source,
        service_provider_name,
        purchase_option,
        last_day + 1 as stepped_on,
        -1 as step
    from standing
    where last_day is not null
),

unchanged as (
    select
        source,
        service_provider_name,
        purchase_option,
        stepped_on,
        sum(sum(step)) over (
            partition by source, service_provider_name, purchase_option
            order by stepped_on
        )::BIGINT as n_unchanged
    from step
    group by source, service_provider_name, purchase_option, stepped_on
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
asof left join unchanged as v
    on
        r.source = v.source
        and r.service_provider_name = v.service_provider_name
        and r.purchase_option = v.purchase_option
        and r.repriced_on >= v.stepped_on
