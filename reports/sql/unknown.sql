-- Priced machines and chips without a price per chip, as nothing says which accelerator they have: by the provider's
-- own words for the chip, or by the instance type.
select
    *, -- noqa: AM04
    coalesce(accelerator_label, instance_type) as named
from int.unknown_accelerator
order by service_provider_name, named
