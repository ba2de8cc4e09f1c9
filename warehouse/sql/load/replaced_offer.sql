-- New offers of live answers beside those of the log of one scope, machine, place and terms, but of another count, unit
-- or currency; and whether the answer still shows these, as both cannot be right. Beside them, of list prices that no
-- market moves ($marketplaces), the same offer at the place whose price is nearest (is_elsewhere).
with added as (
    select
        r.*,
        row(r.region_id, r.availability_zone_id, r.availability_zone) as place
    from differing_row as r
    anti join offer_state as s on r.offer_id = s.offer_id and r.source = s.source
    where not r.is_past_gates and not r.is_archived and r.unit_price is not null
),

known as (
    select distinct
        o.*,
        row(o.region_id, o.availability_zone_id, o.availability_zone) as place,
        s.source,
        s.scope,
        s.unit_price
    from offer_state as s
    inner join core.offer as o on s.offer_id = o.offer_id
    semi join added as a
        on
            s.source = a.source
            and o.service_provider_name = a.service_provider_name
            and coalesce(o.instance_type, o.accelerator_label) = coalesce(a.instance_type, a.accelerator_label)
    where s.unit_price is not null
)

select
    a.row_number,
    a.fetch_number,
    a.source,
    a.observed_at,
    a.offer_id,
    k.offer_id as known_offer_id,
    coalesce(a.instance_type, a.accelerator_label) as machine,
    a.instance_type is not null as is_named,
    shown.offer_id is not null as is_shown,
    a.unit_price,
    k.unit_price as known_unit_price,
    a.accelerator_count,
    k.accelerator_count as known_accelerator_count,
    a.capacity_unit,
    k.capacity_unit as known_capacity_unit,
    coalesce(a.pricing_unit, 'Hours') as pricing_unit,
    coalesce(k.pricing_unit, 'Hours') as known_pricing_unit,
    a.pricing_currency,
    k.pricing_currency as known_pricing_currency,
    (a.place is distinct from k.place) as is_elsewhere,
    coalesce(a.region_id, 'no region') as region_id,
    coalesce(k.region_id, 'no region') as known_region_id
from added as a
inner join known as k
    on
        a.source = k.source
        and a.service_provider_name = k.service_provider_name
        and a.instance_type is not distinct from k.instance_type
        and a.accelerator_label is not distinct from k.accelerator_label
        and (
            (a.place is not distinct from k.place and coalesce(a.scope = k.scope, true))
            or (
                row(a.accelerator_count, a.capacity_unit, a.pricing_unit, a.pricing_currency)
                is not distinct from row(k.accelerator_count, k.capacity_unit, k.pricing_unit, k.pricing_currency)
                and a.purchase_option not in ('spot', 'capacity_block')
                and a.statistic = 'price'
                and least(a.unit_price, k.unit_price) > 0
                and coalesce(a.tier, '') not ilike '%marketplace%'
                and not list_contains($marketplaces, lower(a.service_provider_name))
            )
        )
        and row(
            a.purchase_option, a.commitment_discount_type, a.commitment_term_hours, a.purchase_payment_model,
            a.offering_class, a.tier, a.statistic, a.conditions, a.unit_price_type, a.contract_id, a.host_provider_name,
            a.fabric, a.restriction
        ) is not distinct from row(
            k.purchase_option, k.commitment_discount_type, k.commitment_term_hours, k.purchase_payment_model,
            k.offering_class, k.tier, k.statistic, k.conditions, k.unit_price_type, k.contract_id, k.host_provider_name,
            k.fabric, k.restriction
        )
left join observed_row as shown on a.fetch_number = shown.fetch_number and k.offer_id = shown.offer_id
window
    nearest as (
        partition by a.row_number, (a.place is distinct from k.place)
        order by greatest(a.unit_price, k.unit_price) / nullif(least(a.unit_price, k.unit_price), 0), k.offer_id
    )
qualify a.place is not distinct from k.place or row_number() over nearest = 1
order by a.row_number, k.offer_id
