-- What each offer of $offers rests on: its amounts as stated, what they come to, the document, and when it was seen.
select
    p.offer_id,
    p.accelerator_name,
    p.accelerator_count,
    p.service_provider_name,
    p.region_id,
    coalesce(o.availability_zone_id, o.availability_zone) as zone_name,
    p.instance_type,
    p.purchase_option,
    p.commitment_discount_type,
    p.commitment_term_hours,
    p.purchase_payment_model,
    p.offering_class,
    p.tier,
    p.unit_price,
    p.upfront_price,
    p.pricing_currency,
    p.price_per_accelerator_hour_usd,
    p.valid_from,
    p.last_observed_at,
    p.source,
    p.evidence_kind,
    p.document_sha256,
    e.source_url,
    e.accessed_on
from int.accelerator_hour_price as p
inner join core.offer as o on p.offer_id = o.offer_id
left join int.document_evidence as e on p.document_sha256 = e.document_sha256
where p.offer_id in (select unnest($offers))
order by p.accelerator_name, p.service_provider_name, p.purchase_option, p.commitment_term_hours, p.offer_id
