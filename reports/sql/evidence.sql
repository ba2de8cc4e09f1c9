-- What each offer of $offers rests on: its amounts as stated, what they come to, the document, when it was seen, and
-- what the provider says besides (core.price_detail): since when it holds, and of which parts it is the sum.
select
    p.*, -- noqa: AM04
    p.availability_zone_id as zone_name,
    p.pricing_currency || coalesce(' a ' || lower(rtrim(p.pricing_unit, 's')), '') as stated_unit,
    d.price_parts,
    d.effective_at,
    e.source_url,
    e.accessed_on
from int.accelerator_hour_price as p
left join core.price_detail as d
    on
        p.source = d.source
        and p.service_provider_name = d.service_provider_name
        and p.purchase_option = d.purchase_option
        and p.instance_type is not distinct from d.instance_type
        and p.region_id is not distinct from d.region_id
        and p.commitment_term_hours is not distinct from d.commitment_term_hours
        and p.tier is not distinct from d.tier
        and p.last_observed_at >= d.observed_at
left join int.document_evidence as e on p.document_sha256 = e.document_sha256
where p.offer_id in (select unnest($offers))
qualify row_number() over (partition by p.offer_id order by d.observed_at desc, d.recorded_at desc) = 1
order by p.accelerator_name, p.service_provider_name, p.purchase_option, p.commitment_term_hours, p.offer_id
