-- Each commitment that a provider sells, beside the on-demand price of the same machine in the same place, in US
-- dollars per chip-hour with an upfront fee spread over the term.
select
    accelerator_name,
    service_provider_name,
    region_id,
    instance_type,
    purchase_option,
    commitment_discount_type,
    offering_class,
    commitment_term_hours,
    purchase_payment_model,
    price_per_accelerator_hour_usd,
    on_demand_price_usd,
    breakeven_share_on_demand,
    price_rank,
    age_days,
    offer_id
from int.commitment_option
