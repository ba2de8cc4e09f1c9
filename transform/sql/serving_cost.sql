-- What serving `model` costs on each offer with evidence: at each point of at least `least_interactivity` tokens per
-- second and user (NULL: every point, and frontiers at 20, 30, 50, 75 and 100), used to `utilisation`.
-- `commitment_use` is hours used / hours committed of whatever is committed to, `spot_running_share` 1 - loss of spot;
-- on demand is paid as it runs. Idle time is charged there, once, and never again in utilisation.
-- `tokens_a_day` (NULL: not asked) are output tokens: whole units are paid all month, so many that the load fits at
-- that utilisation; usd_per_million_at_load is what a token then costs. Points that promise less speed than asked, or
-- none, are left out; columns are those of mart.token_cost, its comment holds here too.
with shape as (
    select model_name
    from core.model
    where model_name = lower(model) or list_contains(string_split(aliases, '; '), lower(model))
    union
    select model_name
    from mart.throughput
    where model_name = model
),

question as (
    select
        case
            when (select count(*) from shape) = 1 then (select s.model_name from shape as s)
            else error('serving_cost: no model is named ' || coalesce(model, 'NULL') || ', see core.model')
        end as wanted,
        least_interactivity::DOUBLE as least_speed,
        utilisation::DOUBLE as used_share,
        commitment_use::DOUBLE as committed_share,
        spot_running_share::DOUBLE as spot_share,
        tokens_a_day::DOUBLE as daily_load
),

pace as (
    select
        unnest(
            case when least_speed is null then [20e0, 30e0, 50e0, 75e0, 100e0] else [least_speed] end
        ) as speed
    from question
),

asked as (
    select
        o.*,
        coalesce(o.interactivity_limit, i.speed) as interactivity,
        q.used_share,
        q.daily_load as tokens_per_day,
        case
            when o.purchase_option = 'on_demand' then 1
            when o.purchase_option = 'spot' then q.spot_share
            else q.committed_share
        end::DOUBLE as running_share,
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
    inner join question as q on o.model_name = q.wanted
    left join pace as i
        on o.interactivity_from < i.speed and i.speed <= coalesce(o.interactivity_to, i.speed)
    where
        i.speed is not null
        or (o.interactivity_from is null and (q.least_speed is null or o.interactivity_limit >= q.least_speed))
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
            used_share,
            running_share
        ) as amounts,
        cost.accelerators_for_load(tokens_per_day, unit_accelerators, median_rate, used_share)
            as paid_accelerators
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
    counted.used_share as utilisation,
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
    counted.tokens_per_day,
    counted.paid_accelerators,
    counted.paid_accelerators * cost.monthly(amounts.paid_rate_usd) as usd_per_month_at_load,
    counted.paid_accelerators
    * cost.monthly(amounts.paid_rate_usd)
    / (counted.tokens_per_day * 730 / 24 / 1e6) as usd_per_million_at_load,
    counted.scaling_efficiency,
    counted.rate_bound_per_accelerator,
    counted.binding_bound,
    counted.share_of_bound,
    counted.evidence_grade,
    counted.is_ranked,
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
