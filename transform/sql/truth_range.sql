-- Each chip's prices per chip-hour beside the range of ref.price_band, by the rule of the gate of first sight. A chip
-- without a range, or a price without a rate of its currency, was not checked, and is counted.
with priced as (
    select
        accelerator_name,
        offer_id,
        valid_from,
        price_per_accelerator_hour_usd as price,
        case
            when purchase_option in ('reserved', 'savings_plan') then 'reserved'
            when purchase_option = 'spot' then 'spot'
            else 'on_demand'
        end as purchase_option
    from int.truth_price
    where accelerator_name is not null
),

ranged as (
    select
        p.accelerator_name || case when p.purchase_option = 'on_demand' then '' else ', ' || p.purchase_option end
            as subject,
        p.offer_id,
        p.valid_from,
        p.price,
        coalesce(own.limit_low, general.limit_low / 5) as limit_low,
        coalesce(own.limit_high, general.limit_high) as limit_high
    from priced as p
    left join ref.price_band as own
        on p.accelerator_name = own.accelerator_name and p.purchase_option = own.purchase_option
    left join ref.price_band as general
        on p.accelerator_name = general.accelerator_name and general.purchase_option = 'on_demand'
)

select
    'plausible_price' as check_name,
    subject,
    case when limit_low is null then 0 else count(price) end as n_compared,
    count(*) filter (where not price between limit_low and limit_high) as n_differing,
    arg_max(price, (greatest(price / limit_high, limit_low / price), offer_id)) as checked_value,
    limit_low,
    limit_high,
    arg_max(offer_id, (greatest(price / limit_high, limit_low / price), offer_id)) as offer_id,
    max(valid_from) filter (where not price between limit_low and limit_high) as newest_differing_at
from ranged
group by subject, limit_low, limit_high
