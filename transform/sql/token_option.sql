-- What a million output tokens costs under each way to have the chips: int.token_rate and int.cost_option, the machine
-- fully used and paid only while it runs (commitments count as used in every hour, spot as never interrupted).
-- is_cost_ranked: of a ranked price, and of a rate that was measured at the speed or on both sides of it.
with costed as (
    select
        r.* exclude (r.chip_form_factor, r.network, r.is_ranked),
        p.point_rank,
        o.* exclude (
            o.accelerator_name, o.chip_form_factor, o.unit_accelerators, o.network, o.on_demand_price_usd,
            o.evidence_kind
        ),
        cost.usd_per_million_tokens(o.price_usd, 1, r.output_rate_per_paid_accelerator, 1)
            as usd_per_million_output_tokens,
        cost.usd_per_million_tokens(o.price_usd, 1, r.high_output_rate, 1) as usd_per_million_low,
        cost.usd_per_million_tokens(o.price_usd, 1, r.low_output_rate, 1) as usd_per_million_high,
        cost.usd_per_million_tokens(o.on_demand_price_usd, 1, r.output_rate_per_paid_accelerator, 1) as usd_to_beat,
        r.is_ranked and o.is_price_ranked and o.price_usd is not null and r.reach in ('measured', 'between two runs')
            as is_cost_ranked
    from int.token_rate as r
    inner join int.cost_option as o
        on
            r.accelerator_name = o.accelerator_name and r.chip_form_factor is not distinct from o.chip_form_factor
            and r.unit_accelerators = o.unit_accelerators and r.network is not distinct from o.network
    left join int.model_point as p
        on
            r.model_name = p.model_name and r.task = p.task and r.scenario = p.scenario and r.benchmark = p.benchmark
            and r.precision is not distinct from p.precision and r.input_length is not distinct from p.input_length
            and r.output_length is not distinct from p.output_length and r.decoding is not distinct from p.decoding
            and r.interactivity is not distinct from p.interactivity
            and r.interactivity_statistic is not distinct from p.interactivity_statistic
)

select
    *, -- noqa: AM04
    case
        when reach = 'unreachable' then 'unknown: no run is as fast for a user'
        when unknown_reason = 'not collected yet' and purchase_option = 'savings_plan'
            then
                'unknown: not collected yet; pays below ' || printf('%.3g', usd_to_beat) || ' x share of its hours used'
        when unknown_reason = 'not collected yet'
            then 'unknown: not collected yet; on demand costs ' || printf('%.3g', usd_to_beat)
        when unknown_reason is not null then 'unknown: ' || unknown_reason
        else reach
    end as cost_basis
from costed
