-- What a week's looks confirmed, by provider: known are the prices that were confirmed in the week or in ranked_days
-- before it, of marketplaces too, and were not gone when it began. A provider of which nothing was confirmed has 0.
-- n_listed are all list prices that were not gone when it began and confirmed in the 400 days before; what is said of a
-- provider's whole list needs nearly all of them.
with priced as (
    select
        o.service_provider_name,
        p.offer_id,
        p.source,
        p.last_observed_at,
        p.last_observed_at >= $since as is_checked,
        p.last_observed_at >= $since::TIMESTAMP - to_days((select b.ranked_days from meta.build as b)) as is_known,
        o.purchase_option <> 'spot' and o.statistic = 'price' and o.unit_price_type = 'List' as is_listed
    from core.sku_price as p
    inner join core.offer as o on p.offer_id = o.offer_id
    where
        coalesce(p.valid_to >= $since, true)
        and p.last_observed_at >= $since::TIMESTAMP - interval 400 days
)

select
    service_provider_name,
    count(distinct offer_id) filter (where is_checked) as n_checked,
    count(distinct offer_id) filter (where is_known) as n_known,
    count(distinct offer_id) filter (where is_checked and is_listed) as n_listed_checked,
    count(distinct offer_id) filter (where is_listed) as n_listed,
    list_sort(coalesce(list(distinct source) filter (where is_checked), [])) as sources,
    max(last_observed_at) as last_observed_at,
    max(last_observed_at) filter (where is_listed) as last_listed_at
from priced
group by service_provider_name
having n_known > 0
order by n_checked > 0, service_provider_name <> 'AWS', -n_checked, service_provider_name
