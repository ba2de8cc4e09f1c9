-- All prices of the machines ($types) and chips ($chips) that claims name, in their order of each offer (place), with
-- the first day on which each may have held, the last on which the price before it was seen, and the last such day
-- (latest), some time after it was last seen ($floor_gap, $max_gap).
create or replace temp table claimed_price as
select
    h.offer_id,
    h.effective_hourly_price as hourly,
    h.valid_from::DATE as valid_from,
    h.valid_to::DATE as valid_to,
    h.last_observed_at::DATE as last_observed,
    h.document_sha256,
    h.last_source as source,
    h.effective_hourly_price / nullif(u.accelerator_count::DOUBLE, 0) as per_chip,
    row_number() over w as place,
    place = 1
    or lead(h.offer_id) over w is null
    or hourly = min(nullif(hourly, 0)) over (partition by h.offer_id) as is_extreme,
    if(
        lag(h.valid_to::DATE) over w = h.valid_from::DATE,
        lag(h.last_observed_at::DATE) over w,
        h.valid_from::DATE
    ) as earliest,
    coalesce(
        h.valid_to::DATE,
        h.last_observed_at::DATE + if(coalesce(o.statistic, 'price') = 'floor', $floor_gap, $max_gap)::INTEGER
    ) as latest
from int.price_history as h
inner join core.offer as o on h.offer_id = o.offer_id
inner join core.offer_unit as u on h.offer_id = u.offer_id
where
    h.effective_hourly_price is not null
    and o.pricing_currency = 'USD'
    and o.conditions is null
    and o.unit_price_type = 'List'
    and o.restriction is null
    and (list_contains($types, lower(o.instance_type)) or list_contains($chips, u.accelerator_name))
window w as (partition by h.offer_id order by h.valid_from)
