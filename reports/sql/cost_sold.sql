-- The chips that somebody sells on demand, by how many do, and the date of the newest price.
select
    accelerator_name,
    count(distinct service_provider_name) as n_providers,
    max(last_observed_at) as last_observed_at
from int.provider_price
where purchase_option = 'on_demand' and accelerator_name is not null
group by accelerator_name
order by n_providers desc, accelerator_name asc
