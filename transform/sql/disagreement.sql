-- Each confirmed price beside the nearest of every other source in force with it: of the same offer, or, but at AWS, of
-- the same chip on the same terms under whatever names. Where any of those is equal it agrees: a source may learn of a
-- change late. is_wrong: the provider's own answer (provider_bytes) on the other side contradicts a transcription; two
-- of a kind that differ decide nothing. Spot, marketplaces and statistics move by the hour, and are no second reading.
with teller as (
    select
        o.offer_id,
        p.source
    from log.last_link as p
    inner join core.offer as o on p.offer_no = o.offer_no
    union all
    select
        offer_id,
        source
    from core.sku_price_other
),

source_range as (
    select
        offer_id,
        min(source) as first_source,
        max(source) as last_source
    from teller
    group by offer_id
),

offered as materialized (
    select
        o.*,
        u.* exclude (u.offer_id, u.accelerator_count),
        u.accelerator_count as chips,
        hash(
            o.service_provider_name, u.accelerator_name, u.accelerator_count, o.purchase_option,
            o.commitment_discount_type, o.commitment_term_hours, o.purchase_payment_model, o.offering_class, o.fabric,
            o.pricing_currency, o.statistic, o.unit_price_type,
            -- other tiers are words of collectors: page, api, hand_curated
            case when o.tier in ('secure', 'community', 'confidential computing', 'bare metal') then o.tier end,
            case when o.service_provider_name = 'AWS' then o.offer_id end
        ) as terms
    from core.offer as o
    inner join core.offer_unit as u on o.offer_id = u.offer_id
    inner join source_range as t on o.offer_id = t.offer_id
    where
        o.purchase_option <> 'spot'
        and o.statistic in ('price', 'floor')
        and o.restriction is null
        and o.service_provider_name not in (from core.market)
        and u.accelerator_name is not null
        and chips > 0
    qualify min(t.first_source) over (partition by terms) < max(t.last_source) over (partition by terms)
),

observed as materialized (
    select
        p.source,
        p.valid_from,
        p.last_observed_at,
        p.document_sha256,
        e.evidence_kind,
        core.hourly_price(p.unit_price, p.upfront_price, o.hours_per_pricing_unit, o.commitment_term_hours)
        / o.chips::DOUBLE as chip_hour,
        o.*
    from core.sku_price as p
    inner join offered as o on p.offer_id = o.offer_id
    left join int.document_evidence as e on p.document_sha256 = e.document_sha256
    where chip_hour > 0
)

select
    p.service_provider_name,
    p.accelerator_name,
    p.form_factor,
    p.instance_type,
    p.region_id,
    p.purchase_option,
    p.source,
    q.source as other_source,
    p.chip_hour as price_per_accelerator_hour,
    q.chip_hour as other_price_per_accelerator_hour,
    p.pricing_currency,
    abs(p.chip_hour - q.chip_hour)
    <= greatest(q.chip_hour / 10000, case when p.offer_id = q.offer_id then 0 else 0.005 end) as is_equal,
    case
        when
            q.evidence_kind <> 'provider_bytes' or not (is_equal or (p.form_factor is not distinct from q.form_factor))
            then null
        when p.evidence_kind <> 'provider_bytes' then not is_equal
        when is_equal then false
    end as is_wrong,
    greatest(p.valid_from, q.valid_from) as began_at,
    least(p.last_observed_at, q.last_observed_at) as last_confirmed_at,
    p.document_sha256,
    q.document_sha256 as other_document_sha256,
    p.offer_id,
    q.offer_id as other_offer_id
from observed as p
inner join observed as q
    on
        p.terms = q.terms
        and p.source <> q.source
        and p.valid_from <= q.last_observed_at
        and p.last_observed_at >= q.valid_from
where
    p.offer_id = q.offer_id
    or (
        coalesce(p.instance_type = q.instance_type, true)
        and coalesce(nullif(p.region_id, 'global') = nullif(q.region_id, 'global'), true)
        and coalesce(p.form_factor = q.form_factor, true)
    )
qualify row_number() over (
    partition by p.offer_id, p.source, p.valid_from, q.source
    order by p.offer_id <> q.offer_id, not is_equal, abs(ln(p.chip_hour / q.chip_hour)), q.offer_id, q.valid_from
) = 1
