-- The last known prices of providers that are older than the limit of age, for each purchase option: they are counted
-- and shown apart, each with its date, newest first, and are in no ranking. AWS's own stand among the others.
select
    p.*, -- noqa: AM04
    b.ranked_days,
    b.marketplace_days
from int.provider_price as p
cross join meta.build as b
where
    not p.is_ranked
    and p.cheapest_price_usd is not null
    and p.service_provider_name <> 'AWS'
    and (not p.is_floor or p.last_observed_at < b.built_at - to_days(b.ranked_days))
order by
    p.purchase_option asc,
    p.last_observed_at desc,
    p.accelerator_name asc,
    p.service_provider_name asc,
    p.offer_id asc
