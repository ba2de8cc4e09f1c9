-- Which cluster trains a model (of ref.model or a benchmark) by a deadline: of each chip and size of unit the smallest
-- that was measured and ends in `deadline_days` (NULL: the smallest), or where none does the fastest, marked.
-- `overhead` is other work / the measured one, `goodput` the share of time in progress (NULL: cost.training_goodput).
with timed as (
    select
        *,
        coalesce(goodput::DOUBLE, cost.training_goodput(accelerator_count::DOUBLE)) as goodput_share,
        deadline_days::DOUBLE * 24 as hours_left,
        cost.training_hours(
            training_tokens::DOUBLE, accelerator_count::DOUBLE, median_rate, overhead::DOUBLE,
            coalesce(goodput::DOUBLE, cost.training_goodput(accelerator_count::DOUBLE))
        ) as hours
    from int.training_rate
    where
        is_ranked and evidence_grade <= 'C' and model_name = case
            when model in (select t.model_name from int.throughput as t) then model
            when model in (select m.model_name from ref.model as m) then model
            else error('training_need: no model is named ' || coalesce(model, 'NULL') || ', see ref.model')
        end
)

select
    model_name,
    benchmark,
    precision,
    accelerator_name,
    chip_form_factor as form_factor,
    unit_accelerators,
    network,
    accelerator_count::DOUBLE as accelerators,
    median_rate as rate_per_accelerator,
    goodput_share,
    hours,
    hours_left,
    coalesce(hours <= hours_left, true) as is_in_time,
    evidence_grade,
    measured_on,
    source_url
from timed
qualify
    row_number() over (
        partition by accelerator_name, chip_form_factor, unit_accelerators, network
        order by
            is_in_time desc, case when is_in_time then accelerator_count end asc, hours asc, measured_on desc,
            throughput_id asc
    ) = 1
