-- What a million tokens costs: each operating point on each provider's terms, at 30, 50, 70 and 100 % utilisation.
-- Where a benchmark has several speeds for a user, at 20, 30, 50, 75 and 100 tokens per second and user; the macro
-- mart.serving_cost takes any. An option that is too slow for a user has a row that says so (reach), and no cost.
--   all_in_output_usd_*  all of the machine charged to output tokens; total_usd_*: to input and output alike
--   output_usd, input_usd  the machine shared between both; formulas in transform/sql/cost/serving_costs.sql
-- low, median and high are over the price (cheapest, median) and over the runs at the point; on a frontier the rates
-- are those of the runs on either side. Commitments count as used in every hour, spot as never interrupted
-- (price_basis); mart.serving_cost takes another share. cost_rank compares offers of one purchase option, commitment
-- class and utilisation at one operating point of one benchmark, current prices apart from others.
-- Not included: egress, storage, support, tax, cost of capital.
with asked as (
    select
        o.*,
        coalesce(o.interactivity_limit, i.speed) as interactivity,
        u.utilisation,
        1e0 as running_share,
        case when i.speed = o.interactivity_to then o.low_output_rate else o.high_output_rate end as high_rate,
        coalesce(
            o.median_output_rate,
            cost.interpolated(
                i.speed, o.interactivity_from, o.high_output_rate, o.interactivity_to, o.low_output_rate
            )
        ) as median_rate,
        o.low_output_rate as low_rate,
        case when i.speed = o.interactivity_to then o.low_input_rate else o.high_input_rate end as high_input,
        coalesce(
            o.median_input_rate,
            cost.interpolated(i.speed, o.interactivity_from, o.high_input_rate, o.interactivity_to, o.low_input_rate)
        ) as median_input,
        o.low_input_rate as low_input
    from mart.serving_offer as o
    cross join (values (0.3e0), (0.5e0), (0.7e0), (1e0)) as u (utilisation)
    left join (values (20e0), (30e0), (50e0), (75e0), (100e0)) as i (speed)
        on o.interactivity_from < i.speed and i.speed <= coalesce(o.interactivity_to, i.speed)
    where o.interactivity_from is null or i.speed is not null
),

counted as (
    select
        *,
        case
            when interactivity_from is null then 'measured'
            when low_output_rate is null then 'unreachable'
            when is_clamped then 'at the slowest run'
            when interactivity = interactivity_to then 'measured'
            else 'between two runs'
        end as reach,
        cost.serving_costs(
            low_price_usd,
            median_price_usd,
            high_rate,
            median_rate,
            low_rate,
            high_input,
            median_input,
            low_input,
            measured_weight,
            output_length,
            unit_accelerators,
            utilisation,
            running_share
        ) as amounts
    from asked
)

select
    counted.model_name,
    counted.task,
    counted.scenario,
    counted.benchmark_family,
    counted.benchmark,
    counted.precision,
    counted.input_length,
    counted.output_length,
    counted.decoding,
    counted.interactivity,
    counted.interactivity_statistic,
    counted.ttft_ms,
    counted.ttft_statistic,
    counted.reach,
    counted.accelerator_name,
    counted.form_factor,
    counted.service_provider_name,
    counted.host_provider_name,
    counted.purchase_option,
    counted.commitment_class,
    counted.capacity_class,
    counted.fabric,
    counted.tier,
    counted.region_id,
    counted.instance_type,
    counted.unit_accelerators,
    counted.utilisation,
    counted.running_share,
    counted.price_basis,
    counted.low_price_usd,
    counted.median_price_usd,
    counted.high_rate as high_output_rate,
    counted.median_rate as median_output_rate,
    counted.low_rate as low_output_rate,
    counted.high_input as high_input_rate,
    counted.median_input as median_input_rate,
    counted.low_input as low_input_rate,
    counted.amounts.paid_rate_usd,
    counted.amounts.all_in_output_usd_low,
    counted.amounts.all_in_output_usd_median,
    counted.amounts.all_in_output_usd_high,
    counted.amounts.total_usd_low,
    counted.amounts.total_usd_median,
    counted.amounts.total_usd_high,
    counted.amounts.input_weight,
    counted.amounts.input_weight_basis,
    counted.amounts.output_usd,
    counted.amounts.input_usd,
    counted.amounts.usd_per_request,
    counted.amounts.usd_per_1000_requests,
    counted.amounts.usd_per_month_per_accelerator,
    counted.amounts.usd_per_month_per_unit,
    counted.amounts.output_rate_per_unit,
    counted.scaling_efficiency,
    counted.rate_bound_per_accelerator,
    counted.binding_bound,
    counted.share_of_bound,
    counted.evidence_grade,
    counted.is_ranked,
    case
        when counted.is_ranked and amounts.all_in_output_usd_median is not null
            then rank() over (
                partition by
                    counted.model_name,
                    counted.task,
                    counted.scenario,
                    counted.benchmark_family,
                    counted.benchmark,
                    counted.precision,
                    counted.input_length,
                    counted.output_length,
                    counted.decoding,
                    counted.interactivity,
                    counted.interactivity_statistic,
                    counted.purchase_option,
                    counted.commitment_class,
                    counted.utilisation,
                    counted.is_current,
                    counted.is_ranked and amounts.all_in_output_usd_median is not null
                order by amounts.all_in_output_usd_median
            )
    end as cost_rank,
    counted.n_runs,
    counted.fewest_accelerators,
    counted.most_accelerators,
    counted.software,
    counted.measured_by,
    counted.measured_from,
    counted.measured_on,
    counted.throughput_id,
    counted.source_url,
    counted.slower_throughput_id,
    counted.slower_source_url,
    counted.n_offers,
    counted.is_current,
    counted.age_days,
    counted.valid_from,
    counted.last_observed_at,
    counted.price_source,
    counted.price_document_sha256,
    counted.offer_id
from counted
