-- The front page's line of each chip, in US dollars per chip-hour: the prices of int.front_cell side by side, the
-- change of 90 days over all providers on demand (int.drift_report), and the age of the oldest of these prices.
with priced as (
    select
        accelerator_name,
        max(price_per_accelerator_hour_usd) filter (where cell = 'aws_on_demand') as aws_on_demand_usd,
        max(price_per_accelerator_hour_usd) filter (where cell = 'aws_1y') as aws_1y_usd,
        max(price_per_accelerator_hour_usd) filter (where cell = 'aws_3y') as aws_3y_usd,
        max(price_per_accelerator_hour_usd) filter (where cell = 'aws_block') as aws_block_usd,
        max(price_per_accelerator_hour_usd) filter (where cell = 'aws_spot') as aws_spot_lowest_usd,
        max(highest_price_usd) filter (where cell = 'aws_spot') as aws_spot_highest_usd,
        max(n_places) filter (where cell = 'aws_spot') as n_spot_places,
        max(price_per_accelerator_hour_usd) filter (where cell = 'elsewhere') as elsewhere_usd,
        max(service_provider_name) filter (where cell = 'elsewhere') as elsewhere_provider_name,
        max(price_per_accelerator_hour_usd) filter (where cell = 'elsewhere_median') as elsewhere_median_usd,
        max(instance_type) filter (where cell = 'aws_on_demand') as instance_type,
        max(age_days) filter (where cell <> 'elsewhere_median') as oldest_age_days
    from int.front_cell
    group by accelerator_name
)

select
    p.accelerator_name,
    p.instance_type,
    p.aws_on_demand_usd,
    p.aws_1y_usd,
    p.aws_3y_usd,
    p.aws_block_usd,
    p.aws_spot_lowest_usd,
    p.aws_spot_highest_usd,
    p.n_spot_places,
    p.elsewhere_usd,
    p.elsewhere_provider_name,
    p.elsewhere_median_usd,
    d.drift as drift_90d,
    p.oldest_age_days
from priced as p
left join int.drift_report as d
    on
        p.accelerator_name = d.accelerator_name
        and d.index_level = 'chip'
        and d.purchase_option = 'on_demand'
        and d.window_days = 90
order by p.accelerator_name
