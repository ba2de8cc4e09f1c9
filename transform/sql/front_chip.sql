-- The front page's line of each chip, in US dollars per chip-hour: the prices of int.front_cell side by side, the
-- change of 90 days over all providers on demand (int.drift_report), what a million output tokens costs at
-- int.headline_point, at AWS where it sells the chip and else elsewhere, and the age of the oldest of these prices.
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
        max(age_days) filter (where cell <> 'elsewhere_median') as oldest_age_days,
        case when bool_or(unknown_reason = 'not sold' and cell = 'aws_on_demand') then 'elsewhere' else 'AWS' end
            as token_place
    from int.front_cell
    group by accelerator_name
),

token as (
    select
        accelerator_name,
        place,
        max(usd_per_million_output_tokens) filter (where option_kind = 'on_demand') as on_demand_usd,
        max(usd_per_million_output_tokens) filter (where option_kind = 'one_year') as one_year_usd,
        max(usd_per_million_output_tokens) filter (where option_kind = 'spot') as spot_usd
    from int.headline_token_cost
    group by accelerator_name, place
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
    t.on_demand_usd as token_on_demand_usd,
    t.one_year_usd as token_1y_usd,
    t.spot_usd as token_spot_usd,
    p.token_place,
    p.oldest_age_days
from priced as p
left join token as t on p.accelerator_name = t.accelerator_name and p.token_place = t.place
left join int.drift_report as d
    on
        p.accelerator_name = d.accelerator_name and d.index_level = 'chip' and d.purchase_option = 'on_demand'
        and d.window_days = 90
order by p.accelerator_name
