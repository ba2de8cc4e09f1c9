-- What the best one-year plan and the cheapest other provider would change of one bill: 16 machines of the chip's AWS
-- machine (int.front_cell), running 80 % of the hours of a year of 8760. A plan is paid in every hour, on demand in
-- those that run.
with bill as (
    select
        16 as bill_machines,
        0.8::DOUBLE as use_share,
        8760 as hours,
        d.accelerator_name,
        d.instance_type,
        d.region_id,
        d.accelerator_count::DOUBLE as chips,
        d.price_per_accelerator_hour_usd as on_demand_usd,
        p.price_per_accelerator_hour_usd as plan_usd,
        e.price_per_accelerator_hour_usd as elsewhere_usd,
        e.service_provider_name as elsewhere_provider_name,
        d.offer_id
    from int.front_cell as d
    left join int.front_cell as p on d.accelerator_name = p.accelerator_name and p.cell = 'aws_1y'
    left join int.front_cell as e on d.accelerator_name = e.accelerator_name and e.cell = 'elsewhere'
    where d.cell = 'aws_on_demand' and d.price_per_accelerator_hour_usd is not null
)

select
    accelerator_name,
    instance_type,
    region_id,
    bill_machines,
    use_share,
    chips * bill_machines * hours * use_share * on_demand_usd as on_demand_year_usd,
    chips * bill_machines * hours * (use_share * on_demand_usd - plan_usd) as plan_saving_usd,
    1 - plan_usd / (use_share * on_demand_usd) as plan_pays_until_fall,
    plan_usd / on_demand_usd as plan_pays_from_use,
    1 - elsewhere_usd / on_demand_usd as elsewhere_saving,
    elsewhere_usd,
    elsewhere_provider_name,
    offer_id
from bill
order by accelerator_name
