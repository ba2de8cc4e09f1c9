-- Days on which a source saw three prices or more of a provider's list under one purchase option change, and how much
-- of the list that was: repricing_share is n_changed over that and the prices that stood unchanged on that day, before
-- and after. A price stands after the day on which it came, up to the day before it went or the day when it was last
-- seen. What moves with the rate of exchange alone is no change: amounts are compared in their own currency.
with repriced as materialized (
    select
        j.source,
        o.service_provider_name,
        j.purchase_option,
        j.observed_at::DATE as repriced_on,
        count(distinct j.offer_id) as n_changed
    from int.price_move as j
    inner join core.offer as o on j.offer_id = o.offer_id
    where j.change_kind = 'list_change'
    group by j.source, o.service_provider_name, j.purchase_option, j.observed_at::DATE
    having n_changed >= 3
),

-- The days on which a price stood: after the one on which it came, up to the one before it went or when last seen.
standing as (
    select
        h.last_source as source,
        o.service_provider_name,
        o.purchase_option,
        h.valid_from::DATE + 1 as first_day,
        least(h.valid_to::DATE - 1, case when c.source is null then h.last_observed_at::DATE end) as last_day,
        unnest([first_day, last_day + 1]) as stepped_on,
        unnest([1, -1]) as step
    from log.price_link as h
    inner join core.offer as o on h.offer_no = o.offer_no
    semi join repriced as r
        on
            h.last_source = r.source and o.service_provider_name = r.service_provider_name
            and o.purchase_option = r.purchase_option
    left join core.silent_import as c on h.last_source = c.source
    where
        h.unit_price is not null
        and o.statistic = 'price'
        and o.tier not ilike '%marketplace%' is not false
        and (last_day is null or last_day >= first_day)
),

unchanged as (
    select
        source,
        service_provider_name,
        purchase_option,
        stepped_on,
        sum(sum(step)) over (partition by source, service_provider_name, purchase_option order by stepped_on)::BIGINT
            as n_unchanged
    from standing
    where stepped_on is not null
    group by source, service_provider_name, purchase_option, stepped_on
)

select
    r.source,
    r.service_provider_name,
    r.purchase_option,
    r.repriced_on,
    r.n_changed,
    r.n_changed / (r.n_changed + coalesce(v.n_unchanged, 0)) as repricing_share
from repriced as r
asof left join unchanged as v
    on
        r.source = v.source and r.service_provider_name = v.service_provider_name
        and r.purchase_option = v.purchase_option and r.repriced_on >= v.stepped_on
