-- Where things stood on demand when a week ended: of each chip and form the cheapest price that anybody was seen to ask
-- in that week, whatever the size of the machine, the median of the providers' cheapest, and AWS's cheapest, with its
-- date. Floors and what is sold out are left out; so is what only has a median.
with asked as (
    select
        p.accelerator_name,
        p.form_factor,
        p.service_provider_name,
        min(p.cheapest_price_usd) filter (where p.last_observed_at >= $since) as price_usd,
        arg_min(p.tier, (p.cheapest_price_usd, p.offer_id)) filter (where p.last_observed_at >= $since) as tier,
        arg_min(p.document_sha256, (p.cheapest_price_usd, p.offer_id)) filter (
            where p.last_observed_at >= $since
        ) as document_sha256,
        min(p.cheapest_price_usd) as last_price_usd,
        arg_min(p.last_observed_at, (p.cheapest_price_usd, p.offer_id)) as last_observed_at
    from int.provider_price as p
    where
        p.purchase_option = 'on_demand'
        and not p.is_floor
        and p.cheapest_price_usd is not null
        and not coalesce(p.n_machines = 0 or p.n_accelerators = 0 or p.stock_status = 'sold out', false)
    group by p.accelerator_name, p.form_factor, p.service_provider_name
)

select
    accelerator_name,
    form_factor,
    count(price_usd) as n_providers,
    min(price_usd) as cheapest_price_usd,
    arg_min(service_provider_name, (price_usd, service_provider_name)) as cheapest_provider,
    arg_min(tier, (price_usd, service_provider_name)) as cheapest_tier,
    arg_min(document_sha256, (price_usd, service_provider_name)) as document_sha256,
    median(price_usd) as median_price_usd,
    min(case when service_provider_name = 'AWS' then last_price_usd end) as aws_price_usd,
    max(case when service_provider_name = 'AWS' then last_observed_at end) as aws_last_observed_at
from asked
group by accelerator_name, form_factor
having count(price_usd) > 0
order by -count(price_usd), -min(price_usd), accelerator_name, form_factor
