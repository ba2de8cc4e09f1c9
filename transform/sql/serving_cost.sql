-- What serving `model` costs on each offer with evidence: at each point of at least `least_interactivity` tokens per
-- second and user (NULL: every point, and frontiers at 20, 30, 50, 75 and 100), used to `utilisation`. `commitment_use`
-- is hours used / hours committed of whatever is committed to (NULL: 1), `spot_running_share` 1 - loss of spot; on
-- demand is paid as it runs. Idle time is charged there, once, and never again in utilisation. `tokens_a_day` (NULL:
-- not stated) are output tokens: whole units and copies are paid all month, as few as carry it at that utilisation;
-- usd_per_million_at_load is the cost of a million of them. Points slower than `least_interactivity`, or of unknown
-- speed, are left out; columns are those of int.token_cost, its comment holds here too.
with shape as (
    select model_name
    from ref.model
    where model_name = lower(model) or list_contains(string_split(aliases, '; '), lower(model))
    union
    select model_name
    from int.throughput
    where model_name = model
),

wanted as (
    select
        case
            when (select count(*) from shape) = 1 then (select s.model_name from shape as s)
            else error('serving_cost: no model is named ' || coalesce(model, 'NULL') || ', see ref.model')
        end as model_wanted
),

paced as (
    select
        *,
        unnest(
            cost.speeds_within(
                if(least_interactivity is null, cost.usual_speeds(), [least_interactivity::DOUBLE]),
                interactivity_from, interactivity_to, interactivity_limit
            )
        ) as interactivity
    from int.serving_offer
    where model_name = (select w.model_wanted from wanted as w)
),

asked as (
    select
        * exclude (rates, usable_share),
        utilisation::DOUBLE as used_share,
        tokens_a_day::DOUBLE as tokens_per_day,
        case
            when purchase_option = 'on_demand' then 1
            when purchase_option = 'spot' then spot_running_share
            else usable_share * coalesce(commitment_use, 1)
        end::DOUBLE as running_share,
        cost.rates_at_speed(
            interactivity, interactivity_from, interactivity_to, is_clamped, rates_from, rates
        ) as rates
    from paced
    where interactivity_from is not null or least_interactivity is null or interactivity >= least_interactivity
),

counted as (
    select
        * exclude (
            interactivity_limit, interactivity_from, interactivity_to, is_clamped, rates_from, chip_form_factor,
            network, measured_weight
        ),
        cost.serving_costs(
            low_price_usd, price_usd, high_price_usd, rates, measured_weight, output_length, unit_accelerators,
            used_share, running_share
        ) as amounts,
        cost.accelerators_for_load(
            tokens_per_day, unit_accelerators * ceil(most_accelerators / unit_accelerators),
            rates['median_output_rate'], used_share
        ) as paid_accelerators
    from asked
),

costed as (
    select
        * exclude (rates, amounts),
        unnest(rates) as rates,
        unnest(amounts) as amounts
    from counted
)

select
    * exclude (used_share), -- noqa: AM04
    used_share as utilisation,
    paid_accelerators * cost.monthly(paid_rate_usd) as usd_per_month_at_load,
    usd_per_month_at_load / (tokens_per_day * 730 / 24 / 1e6) as usd_per_million_at_load,
    case
        when is_ranked and is_price_ranked and reach in ('measured', 'between two runs')
            then rank() over (
                partition by
                    scenario, benchmark_family, benchmark, precision, input_length, output_length, decoding,
                    interactivity, interactivity_statistic, purchase_option, commitment_class,
                    is_ranked and is_price_ranked and reach in ('measured', 'between two runs')
                order by coalesce(usd_per_million_at_load, all_in_output_usd_median)
            )
    end as cost_rank
from costed
