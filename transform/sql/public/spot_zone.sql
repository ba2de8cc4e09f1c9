-- The spot price of each type in each zone, per chip-hour: now, and its mean over 7 and 30 days where those are known.
select
    accelerator_name,
    service_provider_name,
    instance_type,
    region_id,
    coalesce(availability_zone_id, availability_zone) as availability_zone_id,
    price_per_accelerator_hour,
    mean_price_7d / accelerator_count::DOUBLE as mean_price_per_accelerator_hour_7d,
    mean_price_30d / accelerator_count::DOUBLE as mean_price_per_accelerator_hour_30d,
    priced_share_30d,
    n_changes_30d,
    below_on_demand_share_30d,
    last_observed_at,
    age_days,
    is_ranked,
    offer_id
from int.spot_zone_price
