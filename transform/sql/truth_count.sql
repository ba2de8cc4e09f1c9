-- Instance types of AWS whose number of chips EC2's last answer and the reference table give differently, where no
-- override explains it. Prices per chip are divided by the table's number.
with api as (
    from core.instance_capability
    qualify row_number() over (partition by region_id, instance_type order by observed_at desc, recorded_at desc) = 1
),

compared as (
    select
        a.*,
        i.accelerator_count,
        a.api_accelerator_count <> i.accelerator_count as is_off
    from api as a
    inner join ref.current_instance_type as i on a.instance_type = i.instance_type
    where a.api_accelerator_count is not null and i.override_reason is null
)

select
    'chip_count' as check_name,
    'AWS' as subject,
    count(*) as n_compared,
    count(*) filter (where is_off) as n_differing,
    (count(*) filter (where is_off))::DOUBLE as checked_value,
    arg_min(
        instance_type || ' in ' || region_id || ': ' || printf('%g', accelerator_count::DOUBLE)
        || ' chips in the table, ' || printf('%g', api_accelerator_count::DOUBLE) || ' in EC2''s answer',
        (instance_type, region_id)
    ) filter (where is_off) as example,
    max(observed_at) filter (where is_off) as newest_differing_at
from compared
having count(*) > 0
