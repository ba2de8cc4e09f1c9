-- Providers that are marketplaces, in some tier or by name: what an offer costs there is up to whoever rents it out, or
-- to the host behind it. Their prices have the shorter limit of age.
select distinct service_provider_name
from core.offer
where
    tier ilike 'marketplace%'
    -- warehouse.schema.vocabulary.MARKETPLACES
    or lower(service_provider_name) in (
        'akash', 'lium', 'prime intellect', 'prime-intellect', 'sesterce', 'sf compute', 'sfcompute', 'spheron',
        'tensordock', 'vast.ai'
    )
