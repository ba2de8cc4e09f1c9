-- What has no cost, and why: runs of int.throughput and rows of int.provider_price, counted by the first reason.
-- Offers without a price in US dollars, or for a chip that nobody can name, are no part of int.provider_price to begin
-- with: int.accelerator_hour_price and int.unknown_accelerator have them.
-- end of range: prices of int.cost_price whose costs have no low or no high, as nobody tells that price.
with run as (
    select
        t.throughput_id,
        case
            when t.unit_of_work <> 'token' then 'it counts sequences, images or samples, and no tokens'
            when not t.has_chip_facts then 'chip without published figures, or in a form that is not stated'
            when t.task = 'training' and t.total_rate_per_accelerator is null then 'no rate of training'
            when t.task <> 'training' and t.output_rate_per_accelerator is null then 'no rate of output'
            when
                not exists (
                    select 1
                    from int.cost_price as p
                    where
                        p.accelerator_name = t.accelerator_name
                        and p.chip_form_factor is not distinct from t.chip_form_factor
                )
                then 'nobody is known to sell the chip in that form'
            when
                not exists (
                    select 1
                    from int.cost_price as p
                    where
                        p.accelerator_name = t.accelerator_name
                        and p.chip_form_factor is not distinct from t.chip_form_factor
                        and (
                            t.accelerator_count <= p.unit_accelerators
                            or p.network = 'rack'
                            or (p.network = 'cluster' and t.form_factor is distinct from 'NVL72')
                        )
                )
                then 'it ran on more chips than are known to be sold together'
            when
                t.is_ranked
                and t.task <> 'training'
                and t.interactivity_statistic <> 'p99 limit'
                and not exists (
                    select 1 from int.serving_rate as r
                    where t.throughput_id in (r.throughput_id, r.slower_throughput_id)
                )
                then 'another run beats it in both speed for the user and rate of the chip'
        end as reason
    from int.throughput as t
),

price as (
    select
        p.offer_id,
        case
            when p.is_floor then 'a "from" price, which nobody may be offered'
            when p.median_price_usd is null then 'no median price'
            when c.offer_id is null then 'chip without published figures, or in a form that is not stated'
            when c.unit_accelerators < 1 then 'a part of a chip'
            when
                not exists (
                    select 1
                    from int.throughput as t
                    where
                        t.accelerator_name = p.accelerator_name
                        and t.chip_form_factor is not distinct from c.chip_form_factor
                        and t.unit_of_work = 'token'
                )
                then 'nothing was measured in tokens on the chip in that form'
            when
                not exists (
                    select 1 from int.serving_offer as o
                    where o.offer_id = p.offer_id
                )
                and not exists (
                    select 1 from int.training_offer as o
                    where o.offer_id = p.offer_id
                )
                then 'everything measured on the chip took more of them than are sold at once'
        end as reason
    from int.provider_price as p
    left join int.cost_price as c on p.offer_id = c.offer_id
),

untold as (
    select
        unnest([
            case when low_price_usd is null then 'no cheapest price, only a median' end,
            case when high_price_usd is null then 'no dearest price is told' end
        ]) as reason
    from int.cost_price
)

select
    'run' as left_out_kind,
    reason,
    count(*) as n_left_out
from run
where reason is not null
group by reason
union all
select
    'end of range' as left_out_kind,
    reason,
    count(*) as n_left_out
from untold
where reason is not null
group by reason
union all
select
    'price' as left_out_kind,
    reason,
    count(*) as n_left_out
from price
where reason is not null
group by reason
