-- Which cluster trains a model (of ref.model or a benchmark) by a deadline: of each chip and size of unit the smallest
-- that was measured and ends in `deadline_days` (NULL: the smallest), or where none does the fastest, marked.
-- `overhead` is other work as a share of the measured one, `goodput` the share of running time that makes progress.
with question as (
    select
        model as wanted,
        training_tokens::DOUBLE as tokens,
        deadline_days::DOUBLE * 24 as hours_left,
        overhead::DOUBLE as overhead_share,
        goodput::DOUBLE as goodput_share
),

timed as (
    select
        r.*,
        q.hours_left,
        cost.training_hours(
            q.tokens, r.accelerator_count::DOUBLE, r.median_rate, q.overhead_share, q.goodput_share
        ) as hours
    from int.training_rate as r
    inner join question as q on r.model_name = q.wanted
    where r.is_ranked and r.evidence_grade <= 'C'
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
    hours,
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
