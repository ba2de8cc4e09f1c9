-- Offers that have a market's price and none of a list: the middle or the least of several (statistic p25, median,
-- floor), and those of marketplaces, by tier, or of core.market (but not its spot).
select offer_id
from core.offer
where
    statistic <> 'price'
    or tier ilike '%marketplace%'
    or (purchase_option <> 'spot' and service_provider_name in (from core.market))
