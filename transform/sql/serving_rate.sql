-- How fast each operating point runs on each size of unit that is sold, per paid chip: one row per point, chip, unit
-- and, where a benchmark measured several speeds for a user, per stretch between two of them.
-- Points are equal model, task, scenario, benchmark, precision, lengths, decoding, statistic and grade; runs of several
-- submitters at one point give low, median and high. Previews (grade B) and official results never mix.
-- A run on n chips counts for units of at least n of that chip, in as many whole copies as fit, and for more units than
-- one only where a network joins them (cost_price.network; a run on an NVL72 needs a rack). Chips of a unit that no
-- copy fits on are paid and idle: rates are divided by all.
-- Stretches (interactivity_from to interactivity_to, tokens per second and user) make up a frontier: runs that no other
-- beats in both speed for the user and rate of the chip. In between lies the straight line. Below the slowest run that
-- was measured its rate stands as the least that the chip gives (is_clamped), so that a cost is "at most"; beyond the
-- fastest there is no rate: unreachable. Runs that may not be ranked are no part of a frontier.
-- Elsewhere interactivity_limit is what every run kept, by the benchmark's rules.
with host as (
    select
        accelerator_name,
        chip_form_factor,
        unit_accelerators,
        network
    from int.cost_price
    where unit_accelerators >= 1
    union
    select
        accelerator_name,
        chip_form_factor,
        unit_accelerators,
        network
    from int.cost_option
    where unit_accelerators >= 1
),

hosted as (
    select
        t.accelerator_count,
        t.interactivity,
        t.ttft_ms,
        t.ttft_statistic,
        t.output_rate_per_accelerator,
        t.rate_bound,
        t.binding_bound,
        t.share_of_bound,
        t.is_ranked,
        t.software,
        t.measured_by,
        t.measured_on,
        t.throughput_id,
        t.source_url,
        t.input_weight as measured_weight,
        t.output_rate_per_accelerator * cost.working_share(t.accelerator_count, h.unit_accelerators) as output_rate,
        t.input_rate_per_accelerator * cost.working_share(t.accelerator_count, h.unit_accelerators) as input_rate,
        coalesce(t.is_ranked and t.interactivity_statistic <> 'p99 limit', false) as is_on_curve,
        {
            'model_name': t.model_name, 'task': t.task, 'scenario': t.scenario, 'benchmark_family': t.benchmark_family,
            'benchmark': t.benchmark, 'precision': t.precision, 'input_length': t.input_length,
            'output_length': t.output_length, 'decoding': t.decoding,
            'interactivity_statistic': t.interactivity_statistic, 'evidence_grade': t.evidence_grade,
            'accelerator_name': t.accelerator_name, 'chip_form_factor': t.chip_form_factor,
            'unit_accelerators': h.unit_accelerators, 'network': h.network
        } as op
    from int.throughput as t
    inner join host as h
        on
            t.accelerator_name = h.accelerator_name and t.chip_form_factor is not distinct from h.chip_form_factor
            and cost.runs_on(t.accelerator_count, t.form_factor, h.unit_accelerators, h.network)
    where
        t.has_chip_facts
        and t.unit_of_work = 'token'
        and t.task <> 'training'
        and t.output_rate_per_accelerator is not null
),

knot as (
    select
        *,
        min(interactivity) over (partition by op) as slowest_measured
    from hosted
    where is_on_curve
    qualify
        row_number() over (partition by op, interactivity order by output_rate desc, throughput_id asc) = 1
        and output_rate > coalesce(
            max(output_rate) over (
                partition by op
                order by interactivity desc
                range between unbounded preceding and 1e-9 preceding
            ),
            0
        )
),

linked as (
    select
        *,
        lag(interactivity) over along as slower_interactivity,
        lag(output_rate) over along as slower_output_rate,
        lag(input_rate) over along as slower_input_rate,
        lag(measured_weight) over along as slower_weight,
        lag(throughput_id) over along as slower_id,
        lag(source_url) over along as slower_url,
        lag(measured_on) over along as slower_measured_on,
        lag(accelerator_count) over along as slower_count,
        lag(share_of_bound) over along as slower_share,
        lead(interactivity) over along is null as is_fastest
    from knot
    window along as (partition by op order by interactivity)
),

-- The first stretch of a frontier ends at its slowest run. Where a run that it beats was slower still, speeds down to
-- that one lie between two runs; below every run they do not.
bounded as (
    select
        *,
        coalesce(slower_interactivity, slowest_measured) as stretch_from,
        interactivity as stretch_to,
        false as is_below
    from linked
    where slower_interactivity is not null or slowest_measured < interactivity
    union all
    select
        *,
        0 as stretch_from,
        slowest_measured as stretch_to,
        true as is_below
    from linked
    where slower_interactivity is null
),

stretch as (
    select
        op,
        stretch_from as interactivity_from,
        stretch_to as interactivity_to,
        is_below as is_clamped,
        coalesce(slower_output_rate, output_rate) as high_output_rate,
        output_rate as low_output_rate,
        coalesce(slower_input_rate, input_rate) as high_input_rate,
        input_rate as low_input_rate,
        case when slower_id is null then measured_weight else (measured_weight + slower_weight) / 2 end
            as measured_weight,
        ttft_ms,
        ttft_statistic,
        case when slower_id is null then 1 else 2 end as n_runs,
        least(slower_count, accelerator_count) as fewest_accelerators,
        greatest(slower_count, accelerator_count) as most_accelerators,
        rate_bound / accelerator_count::DOUBLE as rate_bound_per_accelerator,
        binding_bound,
        greatest(slower_share, share_of_bound) as share_of_bound,
        is_ranked,
        software,
        measured_by,
        least(slower_measured_on, measured_on) as measured_from,
        greatest(slower_measured_on, measured_on) as measured_on,
        throughput_id,
        source_url,
        slower_id as slower_throughput_id,
        slower_url as slower_source_url
    from bounded
),

unreachable as (
    select
        op,
        interactivity as interactivity_from,
        0 as n_runs,
        is_ranked,
        throughput_id,
        source_url
    from linked
    where is_fastest
),

sized as (
    select
        *,
        min(accelerator_count) over same_point as fewest,
        max(accelerator_count) over same_point as most,
        median(output_rate) over same_point as middle
    from hosted
    where not is_on_curve
    window same_point as (partition by op, interactivity, ttft_ms, ttft_statistic)
),

settled as (
    select
        op,
        interactivity as interactivity_limit,
        false as is_clamped,
        max(output_rate) as high_output_rate,
        median(output_rate) as median_output_rate,
        min(output_rate) as low_output_rate,
        arg_max(input_rate, output_rate) as high_input_rate,
        case when count(input_rate) = count(*) then median(input_rate) end as median_input_rate,
        arg_min(input_rate, output_rate) as low_input_rate,
        median(measured_weight) as measured_weight,
        ttft_ms,
        ttft_statistic,
        case
            when any_value(most) > any_value(fewest)
                then
                    median(output_rate_per_accelerator) filter (where accelerator_count = most)
                    / median(output_rate_per_accelerator) filter (where accelerator_count = fewest)
        end as scaling_efficiency,
        count(*) as n_runs,
        min(accelerator_count) as fewest_accelerators,
        max(accelerator_count) as most_accelerators,
        arg_min(rate_bound / accelerator_count::DOUBLE, (abs(output_rate - middle), throughput_id))
            as rate_bound_per_accelerator,
        arg_min(binding_bound, (abs(output_rate - middle), throughput_id)) as binding_bound,
        max(share_of_bound) as share_of_bound,
        bool_and(is_ranked) as is_ranked,
        arg_min(software, (abs(output_rate - middle), throughput_id)) as software,
        string_agg(distinct measured_by, ', ' order by measured_by) as measured_by,
        min(measured_on) as measured_from,
        max(measured_on) as measured_on,
        arg_min(throughput_id, (abs(output_rate - middle), throughput_id)) as throughput_id,
        arg_min(source_url, (abs(output_rate - middle), throughput_id)) as source_url
    from sized
    group by op, interactivity, ttft_ms, ttft_statistic
),

every as (
    from settled
    union all by name
    from stretch
    union all by name
    from unreachable
)

select
    e.op.model_name,
    e.op.task,
    e.op.scenario,
    e.op.benchmark_family,
    e.op.benchmark,
    e.op.precision,
    e.op.input_length,
    e.op.output_length,
    e.op.decoding,
    e.op.interactivity_statistic,
    e.interactivity_limit,
    e.interactivity_from,
    e.interactivity_to,
    coalesce(e.is_clamped, false) as is_clamped,
    e.ttft_ms,
    e.ttft_statistic,
    e.op.evidence_grade,
    e.is_ranked,
    e.op.accelerator_name,
    e.op.chip_form_factor,
    e.op.unit_accelerators,
    e.op.network,
    e.high_output_rate,
    e.median_output_rate,
    e.low_output_rate,
    e.high_input_rate,
    e.median_input_rate,
    e.low_input_rate,
    e.measured_weight,
    e.scaling_efficiency,
    e.n_runs,
    e.fewest_accelerators,
    e.most_accelerators,
    e.rate_bound_per_accelerator,
    e.binding_bound,
    e.share_of_bound,
    e.software,
    e.measured_by,
    e.measured_from,
    e.measured_on,
    e.throughput_id,
    e.source_url,
    e.slower_throughput_id,
    e.slower_source_url
from every as e
