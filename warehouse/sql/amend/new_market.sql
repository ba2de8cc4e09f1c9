-- Offers that have a market's price now and had none in the published file: their provider has become a marketplace.
select m.offer_id
from core.market_offer as m
anti join former.core.market_offer as b on m.offer_id = b.offer_id
anti join new_offer as n on m.offer_id = n.offer_id
