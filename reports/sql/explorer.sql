-- The last price of every offer that anybody may have, for the explorer: ranked ones first, then the newest. Not more
-- than $n, of n_offers; of the n_known of the front page n_without_price more have none in US dollars per chip, and the
-- rest is not open to everybody. The last change is that of int.price_change in two years, without mistakes.
with moved as (
    select
        offer_id,
        arg_max(change_ratio, observed_at) as change_ratio,
        max(observed_at)::DATE as changed_on
    from int.price_change
    where
        change_kind not in ('correction', 'suspected_error')
        and change_ratio <> 0
        and observed_at > meta.built_at() - interval 731 days
    group by offer_id
),

counted as (
    select
        count(*) as n_known,
        count(price_per_accelerator_hour_usd) filter (where unit_price_type = 'List' and restriction is null)
            as n_offers,
        count(*) filter (where unit_price_type = 'List' and restriction is null) - n_offers as n_without_price
    from int.accelerator_hour_price
)

select
    p.accelerator_name,
    p.form_factor,
    p.service_provider_name,
    p.purchase_option,
    p.commitment_term_hours,
    coalesce(p.availability_zone_id, p.region_id) as region_name,
    p.instance_type,
    (p.accelerator_count * coalesce(p.minimum_quantity, 1))::DOUBLE as accelerator_count,
    concat_ws(
        ', ', p.commitment_discount_type, p.purchase_payment_model, nullif(p.offering_class, 'standard'),
        decision.sold_tier(p.tier), p.fabric, p.conditions
    ) as terms,
    p.statistic,
    p.price_per_accelerator_hour_usd,
    p.last_observed_at::DATE as seen_on,
    p.is_ranked,
    m.change_ratio,
    m.changed_on,
    p.document_sha256,
    e.source_url,
    n.*
from int.accelerator_hour_price as p
cross join counted as n
left join moved as m on p.offer_id = m.offer_id
left join int.document_evidence as e on p.document_sha256 = e.document_sha256
where p.unit_price_type = 'List' and p.restriction is null and p.price_per_accelerator_hour_usd is not null
order by p.is_ranked desc, p.last_observed_at desc, p.offer_id asc
limit $n
