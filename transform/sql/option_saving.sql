-- What each way to buy one AWS machine costs per chip-hour, and what it saves against on demand: the machine of
-- int.front_cell, in the region of its on-demand price; spot in its lowest and its highest zone of the US. Savings
-- Plans and Reserved Instances have rows of their own, the lowest of each term, upfront fee spread over it. One row per
-- chip and way. Only prices within the limit of age count; where there is none, unknown_reason says why.
with commitment as (
    select
        c.accelerator_name,
        c.purchase_option || case c.commitment_term_hours when 8760 then '_1y' when 26280 then '_3y' end as way_to_buy,
        c.offer_id
    from int.commitment_option as c
    inner join int.front_cell as d
        on
            c.accelerator_name = d.accelerator_name and c.instance_type = d.instance_type and c.region_id = d.region_id
            and d.cell = 'aws_on_demand'
    where c.service_provider_name = 'AWS' and c.is_ranked and c.commitment_term_hours in (8760, 26280)
    qualify
        row_number() over (
            partition by c.accelerator_name, way_to_buy order by c.price_per_accelerator_hour_usd, c.offer_id
        ) = 1
),

offered as (
    select
        f.accelerator_name,
        w.way_to_buy,
        w.way_rank,
        f.unknown_reason,
        case
            when w.way_to_buy = 'spot_highest' then f.highest_offer_id
            when w.cell in ('aws_1y', 'aws_3y') then c.offer_id
            else f.offer_id
        end as offer_id
    from int.front_cell as f
    inner join (
        values
        ('on_demand', 1, 'aws_on_demand'),
        ('savings_plan_1y', 2, 'aws_1y'),
        ('savings_plan_3y', 3, 'aws_3y'),
        ('reserved_1y', 4, 'aws_1y'),
        ('reserved_3y', 5, 'aws_3y'),
        ('spot_lowest', 6, 'aws_spot'),
        ('spot_highest', 7, 'aws_spot'),
        ('capacity_block', 8, 'aws_block')
    ) as w (way_to_buy, way_rank, cell) on f.cell = w.cell
    left join commitment as c on f.accelerator_name = c.accelerator_name and w.way_to_buy = c.way_to_buy
)

select
    o.accelerator_name,
    o.way_to_buy,
    o.way_rank,
    a.instance_type,
    a.region_id,
    a.availability_zone_id,
    a.purchase_option,
    a.commitment_discount_type,
    a.purchase_payment_model,
    a.price_per_accelerator_hour_usd,
    d.price_per_accelerator_hour_usd as on_demand_price_usd,
    1 - a.price_per_accelerator_hour_usd / d.price_per_accelerator_hour_usd as saved_share,
    z.mean_price_30d / a.accelerator_count::DOUBLE as mean_price_per_accelerator_hour_30d,
    case when a.offer_id is null then coalesce(o.unknown_reason, 'not seen') end as unknown_reason,
    a.evidence_kind,
    a.last_observed_at,
    a.age_days,
    o.offer_id
from offered as o
left join int.accelerator_hour_price as a on o.offer_id = a.offer_id
left join int.spot_zone_price as z on o.offer_id = z.offer_id
left join int.front_cell as d on o.accelerator_name = d.accelerator_name and d.cell = 'aws_on_demand'
order by o.accelerator_name, o.way_rank
