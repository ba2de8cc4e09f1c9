-- How many chips of each kind a load of serving takes: one row per operating point of a model (of ref.model or of a
-- benchmark), chip, and size of unit that is sold: whole units and copies for `daily_load` output tokens a day, at the
-- peak, used to `utilisation`. Points keep `speed_asked`, tokens per second of a user (NULL: batches, none stated). A
-- run that was faster keeps it too, and its rate is "at most"; not where all its chips gave less than one user's speed:
-- that is a latency, and bounds no load. Of several topologies that of fewest chips counts: the fastest may run on more
-- than the load needs. point_rank 1 has most usual chips, then the best grade.
with paced as (
    select
        *,
        unnest(
            case
                when speed_asked is null then [interactivity_limit]
                else cost.speeds_within([1e0 * speed_asked], interactivity_from, interactivity_to, interactivity_limit)
            end
        ) as interactivity
    from int.serving_rate
    where
        model_name = case
            when model in (select t.model_name from int.throughput as t) then model
            when model in (select m.model_name from ref.model as m) then model
            else error('serving_need: no model is named ' || coalesce(model, 'NULL') || ', see ref.model')
        end
        and is_ranked
        and case
            when speed_asked is not null then task = 'serving'
            else task = 'offline' or coalesce(interactivity_from, interactivity_limit) is null
        end
),

rated as (
    select
        *,
        cost.rates_at_speed(
            interactivity, interactivity_from, interactivity_to, is_clamped, rates_from, rates
        ) as rates_then,
        cost.accelerators_for_load(
            daily_load, unit_accelerators * ceil(most_accelerators / unit_accelerators),
            rates_then['median_output_rate'], utilisation::DOUBLE
        ) as accelerators,
        count(distinct list_filter(cost.usual_chips(), lambda chip: chip = accelerator_name)[1]) over point as n_chips,
        max(evidence_grade) over point as worst_grade,
        max(measured_on) over point as newest_on
    from paced
    where speed_asked is null or interactivity_from is not null or interactivity >= speed_asked
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
    most_accelerators::DOUBLE as most_accelerators,
    accelerators,
    evidence_grade,
    measured_on,
    source_url
from rated
where
    rates_then['reach'] <> 'unreachable'
    and rates_then['median_output_rate'] is not null
    and not (rates_then['reach'] = 'at most' and most_accelerators * rates['median_output_rate'] < interactivity_to)
qualify
    row_number() over (
        partition by
            scenario, benchmark, precision, input_length, output_length, decoding, accelerator_name, chip_form_factor,
            unit_accelerators, network
        order by accelerators asc nulls last, rates_then['median_output_rate'] desc, throughput_id asc
    ) = 1
