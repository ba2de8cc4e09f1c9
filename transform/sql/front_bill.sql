-- What the best one-year plan and the cheapest other provider would change of one bill: 16 machines of the chip's AWS
-- machine (int.front_cell), running 80 % of the hours of a year of 8760. A plan is paid in every hour, on demand in
-- those that run. Elsewhere is the cheapest machine of the form and capacity class that int.provider_price compares.
with comparable as (
    from int.provider_price
    where purchase_option = 'on_demand' and price_rank is not null and distance_to_aws is not null
    qualify
        row_number() over (partition by accelerator_name, form_factor, capacity_class order by price_rank) = 1
),

bill as (
    select
        16 as bill_machines,
        0.8::DOUBLE as use_share,
        bill_machines * 8760 * d.accelerator_count::DOUBLE as chip_hours,
        d.accelerator_name,
        d.instance_type,
        d.region_id,
        d.price_per_accelerator_hour_usd as on_demand_usd,
        p.price_per_accelerator_hour_usd as plan_usd,
        -e.distance_to_aws as elsewhere_saving,
        e.cheapest_price_usd as elsewhere_usd,
        e.service_provider_name as elsewhere_provider_name,
        d.offer_id
    from int.front_cell as d
    inner join core.offer_unit as u on d.offer_id = u.offer_id
    left join int.front_cell as p on d.accelerator_name = p.accelerator_name and p.cell = 'aws_1y'
    left join comparable as e
        on
            d.accelerator_name = e.accelerator_name and d.form_factor is not distinct from e.form_factor
            and u.capacity_class = e.capacity_class
    where d.cell = 'aws_on_demand' and d.price_per_accelerator_hour_usd is not null
)

select
    accelerator_name,
    instance_type,
    region_id,
    bill_machines,
    use_share,
    chip_hours * use_share * on_demand_usd as on_demand_year_usd,
    chip_hours * (use_share * on_demand_usd - plan_usd) as plan_saving_usd,
    1 - plan_usd / (use_share * on_demand_usd) as plan_pays_until_fall,
    plan_usd / on_demand_usd as plan_pays_from_use,
    elsewhere_saving,
    elsewhere_usd,
    elsewhere_provider_name,
    offer_id
from bill
order by accelerator_name
