-- All prices of the machines ($types) and chips ($chips) that claims name, in their order of each offer (place), with
-- the first day on which each may have held, the last on which the price before it was seen, and the last such day
-- (latest), some time after it was last seen ($floor_gap, $max_gap).
create or replace temp table claimed_price as
select
    o.offer_id,
    h.unit_price::DOUBLE / u.hours_per_pricing_unit
    + case when h.upfront_price > 0 then h.upfront_price::DOUBLE / o.commitment_term_hours else 0 end as per_instance,
    h.valid_from::DATE as valid_from,
    h.valid_to::DATE as valid_to,
    h.last_observed_at::DATE as last_observed,
    h.document_no,
    h.document_sha256,
    h.last_source as source,
    per_instance / nullif(u.accelerator_count::DOUBLE, 0) as per_chip,
    per_chip / nullif(u.neuron_cores_per_accelerator, 0) as per_core,
    row_number() over w as place,
    place = 1
    or lead(h.offer_no) over w is null
    or per_instance = min(nullif(per_instance, 0)) over (partition by h.offer_no) as is_extreme,
    if(
        lag(h.valid_to::DATE) over w = h.valid_from::DATE,
        lag(h.last_observed_at::DATE) over w,
        h.valid_from::DATE
    ) as earliest,
    coalesce(
        h.valid_to::DATE,
        h.last_observed_at::DATE + if(coalesce(o.statistic, 'price') = 'floor', $floor_gap, $max_gap)::INTEGER
    ) as latest
from log.price_link as h
inner join core.offer as o on h.offer_no = o.offer_no
inner join core.offer_unit as u on o.offer_id = u.offer_id
where
    per_instance is not null
    and o.pricing_currency = 'USD'
    and o.conditions is null
    and o.unit_price_type = 'List'
    and o.restriction is null
    and (list_contains($types, lower(o.instance_type)) or list_contains($chips, u.accelerator_name))
window w as (partition by h.offer_no order by h.valid_from)
