-- The prices that truth checks look at: of each provider the current ones and, where none is, those confirmed within 30
-- days of its newest. List prices that anybody can have now; what a price looks like beside others says nothing of
-- contracts, of old customers or of next month.
with newest as (
    select
        service_provider_name,
        max(last_observed_at) as newest_at,
        bool_or(is_current) as has_current
    from int.accelerator_hour_price
    group by service_provider_name
)

select
    a.offer_id,
    a.service_provider_name,
    a.host_provider_name,
    a.region_id,
    a.availability_zone_id,
    a.instance_type,
    a.accelerator_label,
    a.accelerator_name,
    a.form_factor,
    a.accelerator_count,
    a.capacity_unit,
    a.minimum_quantity,
    a.fabric,
    a.purchase_option,
    a.commitment_discount_type,
    a.commitment_term_hours,
    a.purchase_payment_model,
    a.offering_class,
    a.tier,
    a.statistic,
    a.conditions,
    a.pricing_currency,
    a.pricing_unit,
    a.unit_price,
    a.upfront_price,
    a.effective_hourly_price,
    a.price_per_accelerator_hour,
    a.price_per_accelerator_hour_usd,
    a.usd_per_currency_unit,
    a.source,
    a.valid_from,
    a.last_observed_at,
    a.document_sha256
from int.accelerator_hour_price as a
inner join newest as n on a.service_provider_name = n.service_provider_name
where
    case when n.has_current then a.is_current else a.last_observed_at >= n.newest_at - interval 30 days end
    and a.unit_price_type = 'List'
    and a.restriction is null
