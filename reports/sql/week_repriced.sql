-- What each provider did to its list prices in a week, all chips together; those of the reader's chips first, the
-- biggest move first. A price that was free before has no percent, and counts as neither raised nor cut.
select
    service_provider_name,
    sum(n_offers)::BIGINT as n_moved,
    coalesce(sum(n_offers) filter (where change_ratio > 0), 0)::BIGINT as n_raised,
    coalesce(sum(n_offers) filter (where change_ratio < 0), 0)::BIGINT as n_cut,
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
