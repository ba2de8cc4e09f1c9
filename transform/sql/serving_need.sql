-- How many chips of each kind a load of serving takes: one row per operating point of a model (of ref.model or of a
-- benchmark), chip, and size of unit that is sold: whole units and copies for `daily_load` output tokens a day, at the
-- peak, used to `utilisation`. Points keep `speed_asked`, tokens per second of a user (NULL: batches, none stated). A
-- run that was faster keeps it too, and its rate is "at most". point_rank 1 has most usual chips, then the best grade.
with question as (
    select
        model as wanted,
        speed_asked::DOUBLE as speed,
        daily_load::DOUBLE as peak_load,
        utilisation::DOUBLE as used
),

paced as (
    select
        r.*,
        q.* exclude (q.wanted),
        unnest(
            case
                when q.speed is null then [r.interactivity_limit]
                else cost.speeds_within([q.speed], r.interactivity_from, r.interactivity_to, r.interactivity_limit)
            end
        ) as interactivity
    from int.serving_rate as r
    inner join question as q on r.model_name = q.wanted
    where
        r.is_ranked
        and case
            when q.speed is not null then r.task = 'serving'
            else r.task = 'offline' or coalesce(r.interactivity_from, r.interactivity_limit) is null
        end
),

rated as (
    select
        *,
        cost.rates_at_speed(
            interactivity, interactivity_from, interactivity_to, is_clamped, rates_from, rates
        ) as rates_then,
        count(distinct list_filter(cost.usual_chips(), lambda chip: chip = accelerator_name)[1]) over point as n_chips,
        max(evidence_grade) over point as worst_grade,
        max(measured_on) over point as newest_on
    from paced
    where speed is null or interactivity_from is not null or interactivity >= speed
    window point as (partition by scenario, benchmark, precision, input_length, output_length, decoding)
)

select
    model_name,
    scenario,
    benchmark,
    precision,
    input_length,
    output_length,
    decoding,
    dense_rank() over (
        order by
            n_chips desc, worst_grade asc, newest_on desc, scenario asc, benchmark asc, precision asc, input_length asc,
            output_length asc, decoding asc
    ) as point_rank,
    accelerator_name,
    chip_form_factor as form_factor,
    unit_accelerators,
    network,
    rates_then['reach'] as reach,
    rates_then['median_output_rate'] as output_rate_per_accelerator,
    cost.accelerators_for_load(
        peak_load, greatest(unit_accelerators, most_accelerators::DOUBLE), rates_then['median_output_rate'], used
    ) as accelerators,
    evidence_grade,
    measured_on,
    source_url
from rated
where rates_then['reach'] <> 'unreachable' and rates_then['median_output_rate'] is not null
qualify
    row_number() over (
        partition by
            scenario, benchmark, precision, input_length, output_length, decoding, accelerator_name, chip_form_factor,
            unit_accelerators, network
        order by rates_then['median_output_rate'] desc, throughput_id asc
    ) = 1
