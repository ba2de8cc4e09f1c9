-- What a million tokens costs: each operating point on each provider's terms, at 30, 50, 70 and 100 % utilisation.
-- Where a benchmark has several speeds for a user, at 20, 30, 50, 75 and 100 tokens per second and user; the macro
-- mart.serving_cost takes any. An option that is too slow for a user has a row that says so (reach), and no cost.
--   all_in_output_usd_*  all of the machine charged to output tokens; total_usd_*: to input and output alike
--   output_usd, input_usd  the machine shared between both, at the input weight, and at 0.1 and 0.5; formulas in
--                          transform/sql/cost/serving_costs.sql
-- The cost (median) is of the offer named and the middle of the runs at the point, low of the fastest, high of the
-- slowest at the seller's dearest price (NULL: unstated, price_range_basis). Commitments count as used in every usable
-- hour, spot as never interrupted (price_basis); mart.serving_cost takes another share. cost_rank compares offers of a
-- purchase option, commitment class and utilisation at one operating point of one benchmark. Never ranked are prices
-- beyond the limit of age or sold out (is_price_ranked), and rates below the slowest run, which are "at most" (reach).
-- Not included: egress, storage, support, tax, cost of capital.
with paced as (
    select
        *,
        unnest(
            cost.speeds_within(cost.usual_speeds(), interactivity_from, interactivity_to, interactivity_limit)
        ) as interactivity
    from int.serving_offer
),

asked as (
    select
        o.* exclude (o.rates, o.usable_share),
        u.utilisation,
        o.usable_share as running_share,
        cost.rates_at_speed(
            o.interactivity, o.interactivity_from, o.interactivity_to, o.is_clamped, o.rates_from, o.rates
        ) as rates
    from paced as o
    cross join (values (0.3e0), (0.5e0), (0.7e0), (1e0)) as u (utilisation)
),

-- A struct that is a column already is computed once; unnested where it is made, once for each of its fields.
counted as (
    select
        * exclude (
            interactivity_limit, interactivity_from, interactivity_to, is_clamped, rates_from, chip_form_factor,
            network, measured_weight
        ),
        cost.serving_costs(
            low_price_usd, price_usd, high_price_usd, rates, measured_weight, output_length, unit_accelerators,
            utilisation, running_share
        ) as amounts
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
    *, -- noqa: AM04
    case
        when is_ranked and is_price_ranked and reach in ('measured', 'between two runs')
            then rank() over (
                partition by
                    model_name, task, scenario, benchmark_family, benchmark, precision, input_length, output_length,
                    decoding, interactivity, interactivity_statistic, purchase_option, commitment_class, utilisation,
                    is_ranked and is_price_ranked and reach in ('measured', 'between two runs')
                order by all_in_output_usd_median
            )
    end as cost_rank
from costed
