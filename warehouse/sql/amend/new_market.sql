-- Providers that the published file did not know as marketplaces: a provider is one by any of its offers.
select o.service_provider_name
from core.offer as o
left join new_offer as n on o.offer_id = n.offer_id
where o.tier ilike 'marketplace%'
group by o.service_provider_name
having bool_and(n.offer_id is not null)
