-- One chip on the same terms sold elsewhere: by its provider in another currency, or by a reseller of a host that has a
-- list of its own. One row a pair of prices.
select
    'two_currencies' as check_name,
    f.service_provider_name as subject,
    f.offer_id,
    d.offer_id as other_offer_id,
    f.price_per_accelerator_hour_usd / d.price_per_accelerator_hour_usd as ratio,
    greatest(f.valid_from, d.valid_from) as began_at
from int.truth_price as f
inner join int.truth_price as d
    on
        f.service_provider_name = d.service_provider_name and d.pricing_currency = 'USD'
        and f.accelerator_name = d.accelerator_name and f.accelerator_count = d.accelerator_count
        and f.form_factor is not distinct from d.form_factor and f.purchase_option = d.purchase_option
        and f.statistic = d.statistic and f.commitment_term_hours is not distinct from d.commitment_term_hours
        and f.instance_type is not distinct from d.instance_type
        and f.last_observed_at between d.last_observed_at - interval 7 days and d.last_observed_at + interval 7 days
where
    f.pricing_currency <> 'USD' and f.price_per_accelerator_hour_usd > 0 and d.price_per_accelerator_hour_usd > 0
union all
select
    'resold' as check_name,
    p.service_provider_name || ': ' || p.host_provider_name as subject,
    p.offer_id,
    l.offer_id as other_offer_id,
    p.price_per_accelerator_hour_usd / l.price_per_accelerator_hour_usd as ratio,
    greatest(p.valid_from, l.valid_from) as began_at
from int.truth_price as p
inner join int.truth_price as l
    on
        regexp_replace(lower(p.host_provider_name), '[ -]ai$|[^a-z0-9]', '', 'g')
        = regexp_replace(lower(l.service_provider_name), '[ -]ai$|[^a-z0-9]', '', 'g')
        and p.service_provider_name <> l.service_provider_name and p.accelerator_name = l.accelerator_name
        and p.purchase_option = l.purchase_option and p.form_factor is not distinct from l.form_factor
        and p.commitment_term_hours is not distinct from l.commitment_term_hours
        and l.last_observed_at between p.last_observed_at - interval 7 days and p.last_observed_at + interval 7 days
where p.host_provider_name is not null and l.statistic = 'price'
qualify row_number() over (partition by p.offer_id order by abs(ln(ratio)), l.offer_id) = 1
