-- Priced instance types without a price per chip, as nothing says which accelerator they have.
select
    service_provider_name,
    instance_type,
    valid_from,
    last_observed_at,
    n_offers
from mart.unknown_accelerator
order by service_provider_name, instance_type
