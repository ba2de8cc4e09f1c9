-- Priced instance types that core.instance_type does not know: they have a price and no price per chip.
select
    o.service_provider_name,
    o.instance_type,
    min(p.valid_from) as valid_from,
    max(p.last_observed_at) as last_observed_at,
    count(distinct p.offer_id) as n_offers
from core.sku_price as p
inner join core.offer as o on p.offer_id = o.offer_id
anti join core.current_instance_type as t on regexp_replace(o.instance_type, '^ml[.]', '') = t.instance_type
where o.instance_type is not null and o.accelerator_name is null and p.valid_to is null
group by all
order by all
