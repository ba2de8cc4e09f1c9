-- How many output tokens per second a paid chip gives at one operating point by the runs known on a day: one row per
-- point, chip and unit for each day from which that rate holds. Of InferenceX and MLPerf serving, ranked runs alone,
-- frontiers at the usual speeds over all topologies; a rate below the slowest run, a limit, is none. Of MLPerf each
-- grade of evidence is apart, so that previews and results never mix; of a frontier it is NULL: the runs are official,
-- A or B. A run is known from the day on which it was measured (MLPerf: its round published). Rounds of MLPerf are one
-- point: of the rounds known the one with the best median over submitters. A frontier is read as in int.serving_rate:
-- on the straight line between the fastest run in tokens per second at this speed or above, and the nearest slower run
-- that beats it there. point_number and unit_key number what must be equal; they hold within one file.
with host as (
    select distinct * exclude (purchase_option, commitment_class, valid_from, price_usd, offer_id)
    from int.option_price_history
    where unit_accelerators >= 1
),

pointed as (
    select
        h.unit_key,
        h.accelerator_name,
        t.benchmark,
        t.interactivity,
        t.interactivity_statistic,
        t.measured_on,
        t.throughput_id,
        t.output_rate_per_accelerator * cost.working_share(t.accelerator_count, h.unit_accelerators) as output_rate,
        {
            'model_name': t.model_name, 'scenario': t.scenario, 'benchmark_family': t.benchmark_family,
            'precision': t.precision, 'input_length': t.input_length, 'output_length': t.output_length,
            'decoding': t.decoding,
            'evidence_grade': case when t.benchmark_family = 'mlperf_inference' then t.evidence_grade end
        } as op,
        dense_rank() over (
            order by
                op, t.interactivity_statistic,
                case when t.interactivity_statistic = 'p99 limit' then t.interactivity end
        ) as curve_number
    from int.throughput as t
    inner join host as h
        on
            t.accelerator_name = h.accelerator_name and t.chip_form_factor is not distinct from h.chip_form_factor
            and cost.runs_on(t.accelerator_count, t.form_factor, h.unit_accelerators, h.network)
    where
        t.benchmark_family in ('inferencex', 'mlperf_inference')
        and t.task = 'serving'
        and t.is_ranked
        and t.evidence_grade in ('A', 'B')
        and t.has_chip_facts
        and t.output_rate_per_accelerator is not null
        and t.measured_on is not null
),

-- One speed, kept by every run: of each round the median, of the rounds known the best.
middle as (
    select
        *,
        median(output_rate) over (partition by curve_number, unit_key, benchmark) as rate
    from pointed
    where interactivity_statistic = 'p99 limit'
),

round as (
    select
        curve_number,
        unit_key,
        interactivity,
        max(measured_on) as known_from,
        any_value(rate) as rate,
        arg_min(throughput_id, (abs(output_rate - rate), throughput_id)) as throughput_id
    from middle
    group by curve_number, unit_key, interactivity, benchmark
),

limited as (
    select
        *,
        max({ 'rate': rate, 'throughput_id': throughput_id }) over (
            partition by curve_number, unit_key
            order by known_from
            range between unbounded preceding and current row
        ) as best
    from round
),

-- Several speeds: the frontier of the runs known on each day on which one came.
news as (
    select
        curve_number,
        unit_key,
        measured_on as known_from,
        min(min(interactivity)) over (
            partition by curve_number, unit_key
            order by measured_on
        ) as slowest
    from pointed
    where interactivity_statistic <> 'p99 limit'
    group by curve_number, unit_key, measured_on
),

faster as (
    select
        n.curve_number,
        n.unit_key,
        n.known_from,
        s.speed,
        max({ 'rate': p.output_rate, 'speed': p.interactivity, 'throughput_id': p.throughput_id }) as fast
    from news as n
    inner join unnest(cost.usual_speeds()) as s (speed) on n.slowest <= s.speed
    inner join pointed as p
        on
            n.curve_number = p.curve_number and n.unit_key = p.unit_key and n.known_from >= p.measured_on
            and s.speed <= p.interactivity
    group by n.curve_number, n.unit_key, n.known_from, s.speed
),

slower as (
    select
        f.*,
        max({ 'speed': p.interactivity, 'rate': p.output_rate }) filter (
            where f.fast.rate < p.output_rate and f.fast.speed > f.speed
        ) as slow
    from faster as f
    left join pointed as p
        on
            f.curve_number = p.curve_number and f.unit_key = p.unit_key and f.known_from >= p.measured_on
            and f.speed > p.interactivity
    group by all
),

read_off as (
    select
        curve_number,
        unit_key,
        speed as interactivity,
        known_from,
        coalesce(
            cost.interpolated(speed, slow['speed'], slow['rate'], fast['speed'], fast['rate']), fast['rate']
        ) as rate,
        fast['throughput_id'] as throughput_id
    from slower
    union all
    select
        curve_number,
        unit_key,
        interactivity,
        known_from,
        best['rate'] as rate,
        best['throughput_id'] as throughput_id
    from limited
    group by all
),

changed as (
    from read_off
    qualify
        rate is distinct from lag(rate) over (partition by curve_number, unit_key, interactivity order by known_from)
),

curve as (
    select distinct
        curve_number,
        unit_key,
        op,
        interactivity_statistic,
        accelerator_name
    from pointed
)

select
    dense_rank() over (order by c.curve_number, r.interactivity) as point_number,
    op.*, -- noqa: AM04, RF01
    r.interactivity,
    c.interactivity_statistic,
    c.accelerator_name,
    c.unit_key,
    r.known_from,
    r.rate as output_rate_per_paid_accelerator,
    r.throughput_id
from changed as r
inner join curve as c on r.curve_number = c.curve_number and r.unit_key = c.unit_key
