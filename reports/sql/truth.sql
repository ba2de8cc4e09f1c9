-- Every truth check of every subject, those that differ first, then those that had nothing to compare.
select * -- noqa: AM04
from int.truth_check
order by
    case result when 'differs' then 0 when 'not_checked' then 1 else 2 end,
    check_group,
    check_name,
    subject
