-- The offers of the machines ($types) and chips ($chips) that claims name, which anybody can have for a list price.
select
    o.offer_no,
    o.offer_id,
    o.service_provider_name,
    o.instance_type,
    u.accelerator_name,
    u.form_factor,
    o.region_id,
    o.purchase_option,
    o.commitment_term_hours,
    u.accelerator_count::DOUBLE as chips,
    u.neuron_cores_per_accelerator as cores,
    coalesce(o.statistic, 'price') = 'floor' as is_floor,
    u.hours_per_pricing_unit
from core.offer as o
inner join core.offer_unit as u on o.offer_id = u.offer_id
where
    o.pricing_currency = 'USD'
    and coalesce(o.conditions, 'published rate') = 'published rate'
    and o.unit_price_type = 'List'
    and o.restriction is null
    and (list_contains($types, lower(o.instance_type)) or list_contains($chips, u.accelerator_name))
