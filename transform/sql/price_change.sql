-- Every change of every offer's price, with the window in which it happened: the old price was last seen at
-- last_observed_before_at, the new one first at observed_at. The first sight of an offer is a new offer only where its
-- source had looked at that scope before.
with step as (
    select
        h.offer_id,
        h.valid_from as observed_at,
        h.unit_price as unit_price_after,
        h.upfront_price as upfront_price_after,
        h.source,
        h.document_sha256,
        lag(h.unit_price) over w as unit_price_before,
        lag(h.upfront_price) over w as upfront_price_before,
        lag(h.last_observed_at) over w as last_observed_before_at,
        lag(h.last_source) over w as source_before,
        lag(h.unit_price, 2) over w as unit_price_two_before,
        lag(h.upfront_price, 2) over w as upfront_price_two_before,
        lag(h.valid_from) over w as changed_before_at
    from mart.price_history as h
    window w as (partition by h.offer_id order by h.valid_from)
),

looked as (
    select
        source,
        scope,
        observed_at
    from core.scope_run
    where status = 'ok'
    union all
    select
        source,
        scope,
        valid_from as observed_at
    from core.sku_price
),

first_look as (
    select
        source,
        scope,
        min(observed_at) as observed_at
    from looked
    group by source, scope
),

effective as (
    select
        s.*,
        o.purchase_option,
        s.unit_price_before::DOUBLE
        + coalesce(s.upfront_price_before::DOUBLE / o.commitment_term_hours, 0) as hourly_before,
        s.unit_price_after::DOUBLE
        + coalesce(s.upfront_price_after::DOUBLE / o.commitment_term_hours, 0) as hourly_after,
        f.observed_at as first_look_at
    from step as s
    inner join core.offer as o on s.offer_id = o.offer_id
    left join core.sku_price as p
        on s.offer_id = p.offer_id and s.source = p.source and s.observed_at = p.valid_from
    left join first_look as f on p.source = f.source and p.scope = f.scope
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
    e.hourly_after / e.hourly_before - 1 as change_ratio,
    null::TIMESTAMP as effective_at,
    e.last_observed_before_at,
    e.observed_at,
    case
        when e.hourly_before is null then 'new_offer'
        when e.hourly_after is null then 'gone_offer'
        when
            (e.unit_price_after is not distinct from e.unit_price_two_before)
            and (e.upfront_price_after is not distinct from e.upfront_price_two_before)
            and e.observed_at - e.changed_before_at <= interval 7 days
            and e.purchase_option <> 'spot' then 'correction'
        when e.purchase_option = 'spot' then 'spot_move'
        else 'list_change'
    end as change_kind,
    e.source,
    e.source_before,
    e.document_sha256,
    e.offer_id
from effective as e
inner join core.offer as o on e.offer_id = o.offer_id
inner join core.offer_unit as u on e.offer_id = u.offer_id
where
    not (e.hourly_before is null and e.hourly_after is null)
    and (e.hourly_before is not null or e.source_before is not null or e.observed_at > e.first_look_at)
