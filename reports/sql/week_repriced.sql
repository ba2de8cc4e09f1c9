-- What each provider did to its list prices in a week, all chips together; those of the reader's chips first, the
-- biggest move first. A price that was free before has no percent, and counts as neither raised nor cut.
select
    service_provider_name,
    len(list_distinct(flatten(list(offer_ids)))) as n_moved,
    len(list_distinct(flatten(list(offer_ids) filter (where change_ratio > 0)))) as n_raised,
    len(list_distinct(flatten(list(offer_ids) filter (where change_ratio < 0)))) as n_cut,
    min(abs(change_ratio)) as least_change,
    max(abs(change_ratio)) as most_change,
    coalesce(bool_or(list_contains($chips, accelerator_name)), false) as is_of_chips
from week.move
where change_kind = 'list_change'
group by service_provider_name
order by
    is_of_chips desc,
    max(abs(change_ratio)) filter (where list_contains($chips, accelerator_name)) desc nulls last,
    most_change desc nulls last,
    service_provider_name asc
