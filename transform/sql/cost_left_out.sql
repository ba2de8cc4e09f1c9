-- What has no cost, and why: runs of int.throughput, rows of int.provider_price without a price that costs are computed
-- with, and rows of int.cost_price, counted by the first reason.
-- Offers without a price in US dollars, or for a chip that nobody can name, are no part of int.provider_price to begin
-- with: int.accelerator_hour_price and int.unknown_accelerator have them.
-- Runs whose chip is sold in that form, and whether in units on which they fit.
with hosted as (
    select
        t.throughput_id,
        bool_or(cost.runs_on(t.accelerator_count, t.form_factor, u.unit_accelerators, u.network)) as is_big_enough
    from int.throughput as t
    inner join int.cost_price as u
        on t.accelerator_name = u.accelerator_name and t.chip_form_factor is not distinct from u.chip_form_factor
    group by t.throughput_id
),

rated as (
    select distinct unnest([throughput_id, slower_throughput_id]) as throughput_id
    from int.serving_rate
),

costed as (
    select offer_id from int.serving_offer
    union
    select offer_id from int.training_offer
),

measured as (
    select distinct
        accelerator_name,
        chip_form_factor
    from int.throughput
    where unit_of_work = 'token'
),

left_out as (
    select
        'run' as left_out_kind,
        case
            when t.unit_of_work <> 'token' then 'it counts sequences, images or samples, and no tokens'
            when not t.has_chip_facts then 'chip without published figures, or in a form that is not stated'
            when t.task = 'training' and t.total_rate_per_accelerator is null then 'no rate of training'
            when t.task <> 'training' and t.output_rate_per_accelerator is null then 'no rate of output'
            when t.evidence_grade = 'X' then 'it is faster than physics allows'
            when h.throughput_id is null then 'nobody is known to sell the chip in that form'
            when not h.is_big_enough then 'it ran on more chips than are known to be sold together'
            when t.is_superseded then 'its submitter ran the same on that chip in a later round'
            when t.task <> 'training' and t.benchmark_family <> 'mlperf_inference' and r.throughput_id is null
                then 'another run beats it in both speed for the user and rate of the chip, or stands for its repeats'
        end as reason
    from int.throughput as t
    left join hosted as h on t.throughput_id = h.throughput_id
    left join rated as r on t.throughput_id = r.throughput_id
    union all
    select
        'price' as left_out_kind,
        case
            when p.is_floor then 'a "from" price, which nobody may be offered'
            else 'chip without published figures, or in a form that is not stated'
        end as reason
    from int.provider_price as p
    anti join int.cost_price as c on p.offer_id = c.offer_id
    union all
    select
        'price' as left_out_kind,
        case
            when c.unit_accelerators < 1 then 'a part of a chip'
            when m.accelerator_name is null then 'nothing was measured in tokens on the chip in that form'
            when c.offer_id not in (select k.offer_id from costed as k)
                then 'everything measured on the chip took more of them than are sold at once'
        end as reason
    from int.cost_price as c
    left join measured as m
        on c.accelerator_name = m.accelerator_name and c.chip_form_factor is not distinct from m.chip_form_factor
    union all
    select
        'end of range' as left_out_kind,
        unnest([
            case when low_price_usd is null then 'no cheapest price, only a median' end,
            case when high_price_usd is null then 'no dearest price is told' end
        ]) as reason
    from int.cost_price
)

select
    left_out_kind,
    reason,
    count(*) as n_left_out
from left_out
where reason is not null
group by left_out_kind, reason
