-- Each offer whose last known price differs from that of the release before.
select
    if(b.offer_id is null, 'new', if(a.offer_id is null, 'gone', 'changed')) as difference,
    coalesce(a.service_provider_name, b.service_provider_name) as service_provider_name,
    coalesce(a.accelerator_name, b.accelerator_name) as accelerator_name,
    coalesce(a.instance_type, b.instance_type) as instance_type,
    coalesce(a.purchase_option, b.purchase_option) as purchase_option,
    coalesce(a.pricing_currency, b.pricing_currency) as pricing_currency,
    b.unit_price as unit_price_before,
    a.unit_price as unit_price_after,
    coalesce(a.offer_id, b.offer_id) as offer_id
from int.accelerator_hour_price as a
full join before.int.accelerator_hour_price as b on a.offer_id = b.offer_id
where (a.unit_price, a.upfront_price) is distinct from (b.unit_price, b.upfront_price)
order by all
