-- Changes of earlier weeks that were learnt in this one, as when history is imported: their news is in those weeks.
select
    count(*) as n_changes,
    min(c.observed_at) as earliest_at
from int.price_change as c
inner join core.price_event as e
    on c.offer_id = e.offer_id and c.source = e.source and c.observed_at = e.valid_from
where c.observed_at < $since and e.retracts_recorded_at is null and e.recorded_at >= $since and e.recorded_at < $until
