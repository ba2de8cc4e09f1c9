-- Every price of every offer from one moment to another, per chip-hour in the currency of the price, spliced from all
-- sources. The price is NULL while the offer was not sold; it ends where valid_to is NULL only by not being looked at.
-- Few documents are not the provider's bytes: a join with all would put years of prices into a hash table.
with other as (
    select
        d.document_sha256,
        max(core.evidence_kind(d.parameters, s.kind)) as evidence_kind
    from core.document as d
    left join core.source as s on d.source = s.source
    where core.evidence_kind(d.parameters, s.kind) <> 'provider_bytes'
    group by d.document_sha256
    union all
    select
        d.document_sha256,
        null as evidence_kind
    from log.document as d
    anti join core.document as k on d.document_sha256 = k.document_sha256
    where d.recorded_at is null
)

select
    u.accelerator_name,
    o.service_provider_name,
    o.region_id,
    coalesce(o.availability_zone_id, o.availability_zone) as availability_zone_id,
    o.instance_type,
    o.purchase_option,
    o.commitment_term_hours,
    decision.offer_terms(
        o.commitment_discount_type, o.offering_class, o.purchase_payment_model, o.tier, o.fabric, o.conditions,
        o.statistic
    ) as offer_terms,
    h.effective_hourly_price / u.accelerator_count::DOUBLE as price_per_accelerator_hour,
    o.pricing_currency,
    h.valid_from,
    h.valid_to,
    h.last_observed_at,
    case
        when e.document_sha256 is not null then e.evidence_kind
        when h.document_sha256 is not null then 'provider_bytes'
    end as evidence_kind,
    h.offer_id
from int.price_history as h
inner join core.offer as o on h.offer_id = o.offer_id
inner join core.offer_unit as u on h.offer_id = u.offer_id
left join other as e on h.document_sha256 = e.document_sha256
