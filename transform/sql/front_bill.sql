-- What the best plan of one and of three years, a row each, and the cheapest other provider would change of one bill:
-- 16 of the chip's AWS machine (int.front_cell), running 80 % of the hours of a year of 8760. A plan is paid in
-- every hour, on demand in those that run. Elsewhere: of the form and capacity class that int.provider_price compares.
with comparable as (
    from int.provider_price
    where purchase_option = 'on_demand' and price_rank is not null and distance_to_aws is not null
    qualify
        row_number() over (partition by accelerator_name, form_factor, capacity_class order by price_rank) = 1
)

select
    d.accelerator_name,
    d.instance_type,
    d.region_id,
    p.commitment_term_hours,
    16 as bill_machines,
    0.8::DOUBLE as use_share,
    d.price_per_accelerator_hour_usd * d.accelerator_count::DOUBLE * bill_machines * use_share * 8760
        as on_demand_year_usd,
    on_demand_year_usd * (1 - p.price_per_accelerator_hour_usd / (use_share * d.price_per_accelerator_hour_usd))
        as plan_saving_usd,
    plan_saving_usd / on_demand_year_usd as plan_pays_until_fall,
    p.price_per_accelerator_hour_usd / d.price_per_accelerator_hour_usd as plan_pays_from_use,
    -e.distance_to_aws as elsewhere_saving,
    e.cheapest_price_usd as elsewhere_usd,
    e.service_provider_name as elsewhere_provider_name,
    d.offer_id
from int.front_cell as d
inner join core.offer_unit as u on d.offer_id = u.offer_id
left join int.front_cell as p on d.accelerator_name = p.accelerator_name and p.cell in ('aws_1y', 'aws_3y')
left join comparable as e
    on
        d.accelerator_name = e.accelerator_name and d.form_factor is not distinct from e.form_factor
        and u.capacity_class = e.capacity_class
where d.cell = 'aws_on_demand' and d.price_per_accelerator_hour_usd is not null
order by d.accelerator_name, p.cell
