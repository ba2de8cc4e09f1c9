-- Some offers ($offers) of `claimed_offer`.
create or replace temp table queried_offer as
from claimed_offer
where offer_no in (select unnest(from_json($offers, '["BIGINT"]')))
