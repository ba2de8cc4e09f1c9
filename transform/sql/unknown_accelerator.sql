-- Machines and chips with a price whose accelerator is not known: an instance type with no entry in ref.instance_type,
-- or words for a chip that ref.accelerator_label cannot read. They have a price and no price per chip.
select
    o.service_provider_name,
    o.instance_type,
    o.accelerator_label,
    min(p.valid_from) as valid_from,
    max(p.last_observed_at) as last_observed_at,
    count(distinct p.offer_id) as n_offers
from core.sku_price as p
inner join core.offer as o on p.offer_id = o.offer_id
inner join core.offer_unit as u on p.offer_id = u.offer_id
where u.accelerator_name is null and p.valid_to is null
group by all
order by all
