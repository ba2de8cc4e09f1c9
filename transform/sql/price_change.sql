-- Every change of every offer's price, with the window in which it happened and what was offered: int.price_move says
-- what kind of change each is, by the signs that stand there.
-- effective_at is the provider's own date of the price (core.price_detail), where it lies in the change's window.
with change as (
    from int.price_move
    union all by name
    from int.price_correction
),

stated as (
    select
        o.offer_id,
        d.source,
        list(d.effective_at) as effective_dates
    from core.price_detail as d
    inner join core.offer as o
        on
            d.service_provider_name = o.service_provider_name
            and d.purchase_option = o.purchase_option
            and d.instance_type is not distinct from o.instance_type
            and d.region_id is not distinct from o.region_id
            and d.commitment_term_hours is not distinct from o.commitment_term_hours
            and d.tier is not distinct from o.tier
    group by o.offer_id, d.source
)

select
    o.service_provider_name,
    o.region_id,
    coalesce(o.availability_zone_id, o.availability_zone) as availability_zone_id,
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
    list_max(
        list_filter(
            s.effective_dates,
            lambda stated_at: stated_at > e.last_observed_before_at and stated_at <= e.observed_at -- noqa: RF02
        )
    ) as effective_at,
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
left join stated as s on e.offer_id = s.offer_id and e.source = s.source
left join int.repricing as r
    on
        e.source = r.source
        and o.service_provider_name = r.service_provider_name
        and e.purchase_option = r.purchase_option
        and e.observed_at::DATE = r.repriced_on
