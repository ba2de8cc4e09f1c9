-- How fast each operating point runs on each size of unit that is sold, per paid chip: one row per point, chip,
-- topology and unit and, where a benchmark measured several speeds for a user, per stretch between two of them.
-- Points are equal model, task, scenario, benchmark, precision, lengths, decoding and statistic of the speed; rounds of
-- MLPerf are one benchmark, of which a submitter's newest counts. Rates are STRUCTs of low, median and high:
--   MLPerf              over the submitters at that limit of speed; grades apart, so previews and results never mix
--   a curve of speeds   over repeats of a configuration (chips, concurrency, parallelism, software)
--   no speed known      over repeats of the best configuration; likewise of what may not be ranked
-- A run on n chips counts for units of at least n of that chip, in as many whole copies as fit, and for more units than
-- one only where a network joins them (cost_price.network; a run on an NVL72 needs a rack). Chips of a unit that no
-- copy fits on are paid and idle: rates are divided by all.
-- Stretches (interactivity_from to interactivity_to, tokens per second and user) make up a frontier: configurations
-- that no other beats in both speed for the user and rate of the chip. In between lies the straight line from
-- rates_from to rates. Below the slowest run that was measured its rate stands as the least that the chip gives
-- (is_clamped), so that a cost is "at most"; beyond the fastest there is no rate: unreachable.
-- Elsewhere interactivity_limit is what every run kept, by the benchmark's rules.
with host as (
    select distinct
        accelerator_name,
        chip_form_factor,
        unit_accelerators,
        network
    from int.cost_price
    where unit_accelerators >= 1
),

hosted as (
    select
        t.* exclude (t.input_weight),
        t.input_weight as measured_weight,
        t.output_rate_per_accelerator * cost.working_share(t.accelerator_count, h.unit_accelerators) as output_rate,
        t.input_rate_per_accelerator * cost.working_share(t.accelerator_count, h.unit_accelerators) as input_rate,
        case
            when t.is_ranked and t.interactivity_statistic <> 'p99 limit' then 'curve'
            when t.benchmark_family = 'mlperf_inference' then 'limit'
            else 'best'
        end as known_as,
        {
            'model_name': t.model_name, 'task': t.task, 'scenario': t.scenario, 'benchmark_family': t.benchmark_family,
            'benchmark': case when known_as = 'limit' then 'MLPerf Inference' else t.benchmark end,
            'precision': t.precision, 'input_length': t.input_length, 'output_length': t.output_length,
            'decoding': t.decoding, 'interactivity_statistic': t.interactivity_statistic,
            'evidence_grade': case when known_as <> 'curve' then t.evidence_grade end,
            'accelerator_name': t.accelerator_name, 'chip_form_factor': t.chip_form_factor, 'topology': t.topology,
            'unit_accelerators': h.unit_accelerators, 'network': h.network
        } as op,
        case
            when known_as = 'limit' then { 'speed': t.interactivity, 'ttft_ms': t.ttft_ms, 'software': null }
            else {
                'speed': t.concurrency,
                'ttft_ms': t.accelerator_count,
                'software': concat_ws('|', t.parallelism, t.software, t.batch_size)
            }
        end as setup
    from int.throughput as t
    inner join host as h
        on
            t.accelerator_name = h.accelerator_name and t.chip_form_factor is not distinct from h.chip_form_factor
            and cost.runs_on(t.accelerator_count, t.form_factor, h.unit_accelerators, h.network)
    where
        t.has_chip_facts
        and t.unit_of_work = 'token'
        and t.task <> 'training'
        and not t.is_superseded
        and t.evidence_grade <> 'X'
        and t.output_rate_per_accelerator is not null
),

-- By number, as to compare the names of a point with one another takes long.
configuration as (
    select
        op,
        known_as,
        setup,
        median(output_rate) as middle,
        row_number() over () as configuration_no
    from hosted
    group by op, known_as, setup
),

sized as (
    select
        h.*,
        c.configuration_no,
        c.middle
    from hosted as h
    inner join configuration as c on h.op = c.op and h.known_as = c.known_as and h.setup = c.setup
),

-- Repeats of a configuration, or submitters at a limit; what is told of all is told of the run nearest to the middle.
repeated as (
    select
        any_value(op) as op,
        any_value(known_as) as known_as,
        median(interactivity) as interactivity,
        {
            'high_output_rate': max(output_rate),
            'median_output_rate': median(output_rate),
            'low_output_rate': min(output_rate),
            'high_input_rate': arg_max(input_rate, output_rate),
            'median_input_rate': case when count(input_rate) = count(*) then median(input_rate) end,
            'low_input_rate': arg_min(input_rate, output_rate)
        } as rates,
        median(measured_weight) as measured_weight,
        count(*) as n_runs,
        min(accelerator_count) as fewest_accelerators,
        max(accelerator_count) as most_accelerators,
        max(share_of_bound) as share_of_bound,
        max(evidence_grade) as evidence_grade,
        bool_and(is_ranked) as is_ranked,
        string_agg(distinct measured_by, ', ' order by measured_by) as measured_by,
        min(measured_on) as measured_from,
        max(measured_on) as measured_on,
        arg_min(
            {
                'ttft_ms': ttft_ms, 'ttft_statistic': ttft_statistic, 'throughput_id': throughput_id,
                'rate_bound_per_accelerator': rate_bound / accelerator_count::DOUBLE, 'binding_bound': binding_bound,
                'software': software, 'source_url': source_url
            },
            (abs(output_rate - middle), throughput_id)
        ) as nearest
    from sized
    group by configuration_no
),

knot as (
    select
        *,
        min(interactivity) over (partition by op) as slowest_measured
    from repeated
    where known_as = 'curve'
    qualify
        row_number() over (
            partition by op, interactivity
            order by rates['median_output_rate'] desc, nearest['throughput_id'] asc
        ) = 1
        and rates['median_output_rate'] > coalesce(
            max(rates['median_output_rate']) over (
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
        lag({
            'interactivity': interactivity, 'rates': rates, 'measured_weight': measured_weight, 'n_runs': n_runs,
            'fewest': fewest_accelerators, 'most': most_accelerators, 'share_of_bound': share_of_bound,
            'evidence_grade': evidence_grade, 'measured_from': measured_from, 'measured_on': measured_on,
            'throughput_id': nearest['throughput_id'], 'source_url': nearest['source_url']
        }) over along as slower,
        lead(interactivity) over along is null as is_fastest
    from knot
    window along as (partition by op order by interactivity)
),

-- The first stretch of a frontier ends at its slowest run. Where a run that it beats was slower still, speeds down to
-- that one lie between two runs; below every run they do not.
every as (
    select
        * replace (
            coalesce((measured_weight + slower['measured_weight']) / 2, measured_weight) as measured_weight,
            n_runs + coalesce(slower['n_runs'], 0) as n_runs,
            least(fewest_accelerators, slower['fewest']) as fewest_accelerators,
            greatest(most_accelerators, slower['most']) as most_accelerators,
            greatest(share_of_bound, slower['share_of_bound']) as share_of_bound,
            greatest(evidence_grade, slower['evidence_grade']) as evidence_grade,
            least(measured_from, slower['measured_from']) as measured_from,
            greatest(measured_on, slower['measured_on']) as measured_on
        ),
        coalesce(slower['interactivity'], slowest_measured) as interactivity_from,
        interactivity as interactivity_to,
        coalesce(slower['rates'], rates) as rates_from,
        false as is_clamped
    from linked
    where slower is not null or slowest_measured < interactivity
    union all by name
    select
        *,
        0 as interactivity_from,
        slowest_measured as interactivity_to,
        rates as rates_from,
        true as is_clamped
    from linked
    where slower is null
    union all by name
    select
        op,
        known_as,
        nearest,
        evidence_grade,
        is_ranked,
        interactivity as interactivity_from,
        0 as n_runs
    from linked
    where is_fastest
    union all by name
    select
        *,
        interactivity as interactivity_limit
    from repeated
    where known_as <> 'curve'
    qualify
        known_as = 'limit'
        or row_number() over (
            partition by op, known_as
            order by rates['median_output_rate'] desc, nearest['throughput_id'] asc
        ) = 1
)

select
    op.* exclude (evidence_grade), -- noqa: AM04, RF01, RF03
    every.* exclude (
        every.op, every.known_as, every.nearest, every.slower, every.interactivity, every.slowest_measured,
        every.is_fastest, every.is_clamped
    ),
    coalesce(every.is_clamped, false) as is_clamped,
    nearest.*, -- noqa: RF01
    every.slower['throughput_id'] as slower_throughput_id,
    every.slower['source_url'] as slower_source_url
from every
