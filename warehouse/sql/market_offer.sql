-- Offers that have a market's price and none of a list: the middle or the least of several (statistic p25, median,
-- floor), and those of marketplaces, by tier, or by a provider that is one, by name or in some tier (but not its spot).
with marketplace as (
    select service_provider_name
    from core.offer
    where
        tier ilike 'marketplace%'
        -- warehouse.schema.vocabulary.MARKETPLACES
        or lower(service_provider_name) in (
            'akash', 'lium', 'prime intellect', 'sesterce', 'sf compute', 'sfcompute', 'spheron', 'tensordock',
            'vast.ai'
        )
)

select offer_id
from core.offer
where
    statistic <> 'price'
    or tier ilike '%marketplace%'
    or (purchase_option <> 'spot' and service_provider_name in (from marketplace))
