-- Some offers ($offers) of `claimed_offer`.
from claimed_offer
where offer_no in (select unnest(from_json($offers, '["BIGINT"]')))
