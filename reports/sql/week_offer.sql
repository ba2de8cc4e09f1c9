-- What came, came back and went in a week: one row for each chip of a provider on the same terms.
select
    c.service_provider_name,
    coalesce(c.accelerator_name, c.instance_type, o.accelerator_label) as offered,
    c.purchase_option,
    decision.sold_tier(c.tier) as tier,
    c.change_kind,
    count(*) as n_offers,
    min(
        coalesce(c.effective_hourly_price_after, c.effective_hourly_price_before) / u.accelerator_count::DOUBLE
    ) filter (where u.accelerator_count > 0 and c.pricing_currency = 'USD') as least_price_usd,
    min(c.last_observed_before_at) as event_from,
    min(c.observed_at) as event_at,
    list_sort(list(distinct c.source)) as sources,
    arg_min(c.document_sha256, c.observed_at) as document_sha256
from int.price_change as c
inner join core.offer as o on c.offer_id = o.offer_id
inner join core.offer_unit as u on c.offer_id = u.offer_id
where
    c.change_kind in ('new_offer', 'returned_offer', 'gone_offer')
    and c.observed_at >= $since
    and c.observed_at < $until
group by c.service_provider_name, offered, c.purchase_option, decision.sold_tier(c.tier), c.change_kind
order by
    array_position(['gone_offer', 'new_offer', 'returned_offer'], c.change_kind),
    c.purchase_option <> 'on_demand',
    c.service_provider_name <> 'AWS',
    -count(*),
    c.service_provider_name,
    offered,
    c.purchase_option,
    decision.sold_tier(c.tier)
