-- The price that is named, and what it rests on; of several offers the lowest that is ranked; of a day that of its day.
select
    o.*, -- noqa: AM04
    h.* exclude (h.offer_id, h.valid_to, h.last_observed_at),
    h.last_observed_at as seen_until,
    h.valid_to as changed_by,
    s.valid_from as observed_at,
    p.accelerator_name,
    u.accelerator_count as n_chips,
    u.hours_per_pricing_unit,
    e.* exclude (e.document_sha256),
    d.* exclude (d.document_sha256, d.source, d.recorded_at),
    d.source as document_source,
    count(*) over () as n_offers
from mart.price_history as p
inner join core.offer as o on p.offer_id = o.offer_id
inner join int.price_history as h on p.offer_id = h.offer_id and p.valid_from = h.valid_from
inner join core.offer_unit as u on p.offer_id = u.offer_id
left join int.accelerator_hour_price as a on p.offer_id = a.offer_id and $until is null
cross join meta.build as b
left join int.document_evidence as e on h.document_sha256 = e.document_sha256
left join core.document as d on h.document_sha256 = d.document_sha256
asof inner join core.sku_price as s on h.offer_id = s.offer_id and h.source = s.source and h.valid_from >= s.valid_from
where
    p.price_per_accelerator_hour is not null
    and coalesce(p.offer_id = $offer_id, lower(p.accelerator_name) = lower($chip))
    and coalesce(lower(p.service_provider_name) = lower($provider), $provider is null)
    and coalesce(p.purchase_option = $option, $option is null) and coalesce(p.region_id = $region, $region is null)
    and coalesce(p.instance_type = $instance_type, $instance_type is null)
    and if($until is null, p.valid_to is null, p.valid_from < $until and coalesce(p.valid_to >= $until, true))
order by
    p.pricing_currency <> 'USD',
    not coalesce(
        a.is_ranked,
        o.unit_price_type = 'List' and o.restriction is null and o.statistic <> 'floor'
        and not decision.is_confidential(o.tier, o.instance_type)
        and p.last_observed_at >= $until::TIMESTAMP - to_days(decision.ranked_days(
            o.service_provider_name in (from core.market), o.purchase_option, o.commitment_term_hours, b.ranked_days,
            b.marketplace_days
        ))
    ),
    p.price_per_accelerator_hour, p.offer_id
