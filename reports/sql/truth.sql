-- Every truth check of every subject, those that differ first, then those that had nothing to compare.
select
    check_name,
    check_group,
    meaning,
    subject,
    n_compared,
    n_differing,
    checked_value,
    limit_low,
    limit_high,
    unit,
    result,
    reason,
    example,
    newest_differing_at,
    advice
from int.truth_check
order by
    case result when 'differs' then 0 when 'not_checked' then 1 else 2 end,
    check_group,
    check_name,
    subject
