-- Priced machines and chips without a price per chip, as nothing says which accelerator they have: by the provider's
-- own words for the chip, or by the instance type.
select
    service_provider_name,
    coalesce(accelerator_label, instance_type) as named,
    valid_from,
    last_observed_at,
    n_offers
from int.unknown_accelerator
order by service_provider_name, named
