-- The offers of what each line of the fleet names (the machine, or the chip in the form the line says), and which of
-- the line's words fit each. What a line leaves out fits anything; its word none fits an offer that has nothing there.
-- Left out are contracted prices, prices that nobody new can have, statistics over several offers (no one price is
-- paid), and prices on conditions, but for spot (the region's feed) and Capacity Blocks (published rate or one offer).
-- A node is one capacity unit; where single chips are sold and the line states the chips of a node, it is so many.
select
    l.line_number,
    o.*, -- noqa: AM04
    coalesce(lower(l.region_id) = coalesce(lower(o.region_id), 'none'), true) as is_region,
    l.purchase_option = o.purchase_option as is_option,
    coalesce(l.commitment_term_hours = coalesce(o.commitment_term_hours, 0), true)
    and coalesce(l.purchase_payment_model = coalesce(o.purchase_payment_model, 'none'), true)
    and coalesce(l.commitment_discount_type = coalesce(o.commitment_discount_type, 'none'), true)
    and coalesce(l.offering_class = coalesce(o.offering_class, 'none'), true)
    and coalesce(lower(l.tier) = coalesce(lower(o.tier), 'none'), true)
    and coalesce(lower(l.availability_zone_id) = coalesce(lower(o.availability_zone_id), 'none'), true) as is_terms,
    coalesce(l.accelerators_per_node = o.accelerator_count, true) as is_exact_count,
    o.accelerator_count * coalesce(o.minimum_quantity, 1) as least_accelerators,
    coalesce(coalesce(l.accelerators_per_node, o.accelerator_count) = least_accelerators, false) as is_least_count,
    is_exact_count or coalesce(o.capacity_unit = 'GPU' and l.accelerators_per_node >= least_accelerators, false)
        as is_count,
    coalesce(lower(l.offer) = lower(o.accelerator_label), false) as is_same_words,
    case when is_exact_count then 1 else l.accelerators_per_node::DOUBLE / o.accelerator_count::DOUBLE end::DOUBLE
        as units_per_node
from fleet_input as l
inner join prices.int.accelerator_hour_price as o
    on
        l.service_provider_name = o.service_provider_name
        and (
            l.instance_type = o.instance_type
            or (
                l.instance_type is null
                and l.accelerator_name = o.accelerator_name
                and (l.form_factor is null or l.form_factor = o.form_factor)
            )
        )
where
    o.unit_price_type = 'List'
    and o.restriction is null
    and o.statistic = 'price'
    and (o.conditions is null or o.purchase_option in ('spot', 'capacity_block'))
