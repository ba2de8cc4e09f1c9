-- Every truth check of every subject, those that differ first, then those that had nothing to compare. One that differs
-- for nothing of the file's last day is known (is_known).
select
    c.*, -- noqa: AM04
    coalesce(c.newest_differing_at < meta.built_at() - interval 1 day, false) as is_known
from int.truth_check as c
order by
    case c.result when 'differs' then 0 when 'not_checked' then 1 else 2 end,
    c.check_group,
    c.check_name,
    c.subject
