-- What a reader sees first of each chip: its price under each way to buy it, in USD per chip-hour, and the offer;
-- one row per chip and cell, of ranked prices alone (int.accelerator_hour_price). unknown_reason: why there is none.
--   aws_*      one machine of AWS: that of the lowest on-demand price of us-east-1, or else of the cheapest other US
--              region, the largest of equal ones; commitments (lowest of each term, upfront fee spread)
--              and Capacity Blocks (published rates, and offers of a date) of the same machine in the same region
--   aws_spot   of the same machine: its lowest zone of the US, and the highest (highest_price_usd): the last price of
--              each; n_means: how many of these zones have a mean of 7 or 30 days besides
--   elsewhere  the lowest on-demand price of any other provider for a chip of the form that AWS's machines have, priced
--              or not
with listed as (
    select
        *,
        case
            when service_provider_name <> 'AWS' and purchase_option = 'on_demand' then 'elsewhere'
            when service_provider_name <> 'AWS' then null
            when purchase_option = 'on_demand' then 'aws_on_demand'
            when purchase_option = 'capacity_block' then 'aws_block'
            when purchase_option = 'spot' then 'aws_spot'
            when commitment_term_hours = 8760 then 'aws_1y'
            when commitment_term_hours = 26280 then 'aws_3y'
        end as cell
    from int.accelerator_hour_price
    where unit_price_type = 'List' and accelerator_name is not null
),

aws as (
    from listed
    where
        service_provider_name = 'AWS'
        and statistic = 'price'
        and instance_type not like 'ml.%'
        and region_id like 'us-%'
        and not regexp_matches(region_id, '^us-(gov|iso)')
),

machine as (
    from aws
    where is_ranked and conditions is null
    qualify
        row_number() over (
            partition by accelerator_name
            order by
                purchase_option <> 'on_demand' asc, region_id <> 'us-east-1' asc, price_per_accelerator_hour_usd asc,
                accelerator_count desc, instance_type asc, offer_id asc
        ) = 1
),

-- The spot prices of the machine by zone; the public feed, which knows regions only, where no zone is known.
spot as (
    select
        a.*,
        coalesce(a.availability_zone_id, a.region_id) as place,
        coalesce(greatest(z.priced_share_7d, z.priced_share_30d) >= 0.5, false) as has_mean
    from aws as a
    inner join machine as m on a.accelerator_name = m.accelerator_name and a.instance_type = m.instance_type
    left join int.spot_zone_price as z on a.offer_id = z.offer_id
    where a.purchase_option = 'spot' and a.is_ranked
    qualify
        a.conditions is null
        or count(*) filter (where a.conditions is null) over (partition by a.accelerator_name) = 0
),

sold as (
    select
        accelerator_name,
        accelerator_vendor,
        form_factor as aws_form_factor,
        'AWS' as seller_name
    from ref.instance_type
    union all by name
    select
        u.accelerator_name,
        u.accelerator_vendor,
        o.service_provider_name as seller_name
    from core.offer_unit as u
    inner join core.offer as o on u.offer_id = o.offer_id
    union all by name
    select accelerator_name from ref.accelerator
),

chip as (
    select
        accelerator_name,
        coalesce(bool_or(seller_name = 'AWS'), false) as is_at_aws,
        coalesce(bool_or(accelerator_vendor = 'AWS'), false) as is_of_aws,
        max(aws_form_factor) as form_factor,
        count(seller_name) > 0 as is_sold
    from sold
    where accelerator_name is not null
    group by accelerator_name
),

shown as (
    select
        a.accelerator_name,
        a.cell,
        a.price_per_accelerator_hour_usd as price_usd,
        a.offer_id,
        a.last_observed_at
    from aws as a
    inner join machine as m
        on a.accelerator_name = m.accelerator_name and a.instance_type = m.instance_type and a.region_id = m.region_id
    where
        a.cell is not null
        and a.is_ranked
        and a.purchase_option <> 'spot'
        and (a.conditions is null or a.purchase_option = 'capacity_block')
    qualify
        row_number() over (
            partition by a.accelerator_name, a.cell order by a.price_per_accelerator_hour_usd, a.offer_id
        ) = 1
    union all by name
    select
        accelerator_name,
        'aws_spot' as cell,
        min(price_per_accelerator_hour_usd) as price_usd,
        max(price_per_accelerator_hour_usd) as highest_price_usd,
        count(distinct place) as n_places,
        count(distinct place) filter (where has_mean) as n_means,
        bool_and(availability_zone_id is not null) as is_by_zone,
        arg_min(offer_id, (price_per_accelerator_hour_usd, offer_id)) as offer_id,
        arg_max(offer_id, (price_per_accelerator_hour_usd, -offer_id)) as highest_offer_id,
        min(last_observed_at) as last_observed_at
    from spot
    group by accelerator_name
    union all by name
    select
        p.accelerator_name,
        'elsewhere' as cell,
        p.cheapest_price_usd as price_usd,
        p.offer_id,
        p.last_observed_at
    from int.provider_price as p
    left join chip as c on p.accelerator_name = c.accelerator_name
    where
        p.service_provider_name <> 'AWS'
        and p.purchase_option = 'on_demand'
        and p.price_rank is not null
        and (c.form_factor is null or p.form_factor = c.form_factor)
    qualify
        row_number() over (
            partition by p.accelerator_name order by p.cheapest_price_usd, p.service_provider_name, p.offer_id
        ) = 1
),

-- The newest unranked price of each way to buy a chip; whether one of them is young enough, but a "from" price, and
-- whether there is a ranked one, which is of another form where it is not shown.
seen as (
    select
        accelerator_name,
        cell,
        max(last_observed_at) filter (where not is_ranked) as last_observed_at,
        bool_or(statistic = 'floor' and not is_too_old and not is_ranked) as is_from,
        bool_or(is_ranked) as is_ranked
    from listed
    group by accelerator_name, cell
)

select
    c.accelerator_name,
    w.cell,
    s.price_usd as price_per_accelerator_hour_usd,
    s.highest_price_usd,
    s.n_places,
    s.n_means,
    s.is_by_zone,
    case
        when s.price_usd is not null then null
        when not c.is_sold then 'unknown'
        when w.cell like 'aws%' and not c.is_at_aws and not c.is_of_aws then 'not sold'
        when w.cell = 'elsewhere' and e.is_ranked then 'other form'
        when e.is_from then 'only from prices'
        when e.last_observed_at is not null then strftime(e.last_observed_at, 'last seen %Y-%m-%d')
        when w.cell <> 'elsewhere' then 'not collected yet'
        else if(c.is_of_aws, 'AWS only', 'not seen')
    end as unknown_reason,
    o.service_provider_name,
    o.region_id,
    coalesce(o.instance_type, m.instance_type) as instance_type,
    if(w.cell like 'aws%', c.form_factor, o.form_factor) as form_factor,
    coalesce(o.accelerator_count, m.accelerator_count) as accelerator_count,
    o.purchase_option,
    o.commitment_discount_type,
    o.commitment_term_hours,
    o.purchase_payment_model,
    o.offering_class,
    decision.sold_tier(o.tier) as tier,
    o.statistic,
    s.last_observed_at,
    epoch(meta.built_at() - s.last_observed_at) / 86400 as age_days,
    s.offer_id,
    s.highest_offer_id
from chip as c
cross join (
    values
    ('aws_on_demand', 1), ('aws_1y', 2), ('aws_3y', 3), ('aws_block', 4), ('aws_spot', 5), ('elsewhere', 6)
) as w (cell, cell_rank)
left join shown as s on c.accelerator_name = s.accelerator_name and w.cell = s.cell
left join seen as e on c.accelerator_name = e.accelerator_name and w.cell = e.cell
left join machine as m on c.accelerator_name = m.accelerator_name and w.cell like 'aws%'
left join int.accelerator_hour_price as o on s.offer_id = o.offer_id
order by c.accelerator_name, w.cell_rank
