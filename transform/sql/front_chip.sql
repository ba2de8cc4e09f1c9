-- The front page's line of each chip, in US dollars per chip-hour: the prices of int.front_cell side by side, and what
-- a million output tokens costs on demand at int.headline_point: at AWS where it has any price, and else elsewhere.
with priced as (
    select
        accelerator_name,
        max(form_factor) filter (where cell in ('aws_on_demand', 'elsewhere')) as form_factor,
        max(price_per_accelerator_hour_usd) filter (where cell = 'aws_on_demand') as aws_on_demand_usd,
        max(price_per_accelerator_hour_usd) filter (where cell = 'aws_1y') as aws_1y_usd,
        max(price_per_accelerator_hour_usd) filter (where cell = 'aws_3y') as aws_3y_usd,
        max(price_per_accelerator_hour_usd) filter (where cell = 'aws_spot') as aws_spot_lowest_usd,
        max(highest_price_usd) filter (where cell = 'aws_spot') as aws_spot_highest_usd,
        max(price_per_accelerator_hour_usd) filter (where cell = 'elsewhere') as elsewhere_usd,
        max(service_provider_name) filter (where cell = 'elsewhere') as elsewhere_provider_name,
        if(count(price_per_accelerator_hour_usd) filter (cell like 'aws%') = 0, 'elsewhere', 'AWS') as token_place
    from int.front_cell
    group by accelerator_name
)

select
    p.accelerator_name,
    p.form_factor,
    p.aws_on_demand_usd,
    p.aws_1y_usd,
    p.aws_3y_usd,
    p.aws_spot_lowest_usd,
    p.aws_spot_highest_usd,
    p.elsewhere_usd,
    p.elsewhere_provider_name,
    t.usd_per_million_output_tokens as token_on_demand_usd,
    p.token_place
from priced as p
left join int.headline_token_cost as t
    on p.accelerator_name = t.accelerator_name and p.token_place = t.place and t.option_kind = 'on_demand'
order by p.accelerator_name
