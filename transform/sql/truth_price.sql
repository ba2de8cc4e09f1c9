-- The prices that truth checks look at: of each provider the current ones and, where none is, those confirmed within 30
-- days of its newest. List prices that anybody can have now; what a price looks like beside others says nothing of
-- contracts, of old customers or of next month. terms: prices of one chip that are alike in all but size.
with newest as (
    select
        service_provider_name,
        max(last_observed_at) as newest_at,
        bool_or(is_current) as has_current
    from int.accelerator_hour_price
    group by service_provider_name
)

select
    a.*, -- noqa: AM04
    hash(
        a.service_provider_name, a.host_provider_name, a.region_id, a.accelerator_name, a.form_factor,
        a.purchase_option, a.commitment_discount_type, a.commitment_term_hours, a.purchase_payment_model,
        a.offering_class, a.tier, a.statistic, a.conditions, a.fabric, a.pricing_currency
    ) as terms
from int.accelerator_hour_price as a
inner join newest as n on a.service_provider_name = n.service_provider_name
where
    case when n.has_current then a.is_current else a.last_observed_at >= n.newest_at - interval 30 days end
    and a.unit_price_type = 'List'
    and a.restriction is null
