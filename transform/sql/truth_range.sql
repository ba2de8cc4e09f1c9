-- Each chip's prices per chip-hour beside the range of int.truth_band. A chip without a range, or a price without a
-- rate of its currency, was not checked, and is counted. Interruptible prices may be a fifth of the lower limit.
with priced as (
    select
        p.accelerator_name || case when p.purchase_option = 'spot' then ', spot' else '' end as subject,
        p.offer_id,
        p.valid_from,
        p.price_per_accelerator_hour_usd as price,
        b.limit_low / case when p.purchase_option = 'spot' then 5 else 1 end as limit_low,
        b.limit_high::DOUBLE as limit_high
    from int.truth_price as p
    left join int.truth_band as b on p.accelerator_name = b.accelerator_name
    where p.accelerator_name is not null
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
from priced
group by subject, limit_low, limit_high
