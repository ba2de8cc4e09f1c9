-- Each line of the fleet with the one offer that it means, or the reason why no price is found for it.
-- Of the offers that fit all that a line says, current prices go before others, machines with exactly the chips of a
-- node before single chips, a least purchase of so many (none stated: of one) before others, and the provider's own
-- words for a chip before other words for it. If several are left, none is taken, and the reason says in what they
-- differ. on_demand_offer_id is the same machine in the same place on demand, of what is bought otherwise.
with fitting as (
    from fleet_candidate
    where is_region and is_option and is_terms and is_count
    qualify rank() over (
        partition by line_number order by not is_current, not is_exact_count, not is_least_count, not is_same_words
    ) = 1
),

found as (
    select
        line_number,
        count(*) as n_offers,
        min(offer_id) as offer_id,
        min(units_per_node) as units_per_node,
        case when n_offers = 1 then min(commitment_term_hours) end as term_hours,
        bool_or(usd_per_currency_unit is null) as is_without_rate,
        min(pricing_currency) as pricing_currency,
        [
            { 'name': 'region', 'found': list(distinct coalesce(region_id, 'none')) },
            { 'name': 'zone', 'found': list(distinct coalesce(availability_zone_id, 'none')) },
            { 'name': 'term', 'found': list(distinct coalesce(commitment_term_hours || 'h', 'none')) },
            { 'name': 'payment', 'found': list(distinct coalesce(purchase_payment_model, 'none')) },
            { 'name': 'plan', 'found': list(distinct coalesce(commitment_discount_type, 'none')) },
            { 'name': 'offering_class', 'found': list(distinct coalesce(offering_class, 'none')) },
            { 'name': 'tier', 'found': list(distinct coalesce(tier, 'none')) },
            {
                'name': 'accelerators_per_node',
                'found': list(distinct coalesce(format('{:g}', least_accelerators::DOUBLE), 'unknown'))
            },
            { 'name': 'the form in offer', 'found': list(distinct coalesce(form_factor, 'unknown')) },
            {
                'name': 'the words of offer',
                'found': list(distinct coalesce(instance_type, accelerator_label, 'unknown'))
            }
        ] as words,
        [
            w['name'] || ' (' || array_to_string(list_sort(w['found'])[1:6], ', ') || ')'
            for w in words if len(w['found']) > 1
        ] as additions
    from fitting
    group by line_number
),

near as (
    select
        line_number,
        bool_or(is_option) as is_sold_so,
        bool_or(is_option and is_region) as is_sold_there,
        bool_or(is_option and is_region and is_count) as is_sold_by_count,
        list_sort(list(distinct purchase_option)) as known_options,
        list_sort(list(distinct coalesce(region_id, 'none')) filter (where is_option)) as regions
    from fleet_candidate
    group by line_number
),

on_demand as (
    select
        f.line_number,
        min(o.offer_id) as offer_id
    from fitting as f
    inner join prices.int.accelerator_hour_price as p on f.offer_id = p.offer_id
    inner join prices.int.accelerator_hour_price as o
        on
            p.service_provider_name = o.service_provider_name and p.instance_type is not distinct from o.instance_type
            and p.accelerator_label is not distinct from o.accelerator_label
            and p.region_id is not distinct from o.region_id
            and p.accelerator_count is not distinct from o.accelerator_count and p.capacity_unit = o.capacity_unit
            and p.host_provider_name is not distinct from o.host_provider_name
    where
        p.purchase_option <> 'on_demand'
        and o.purchase_option = 'on_demand'
        and o.unit_price_type = 'List'
        and o.restriction is null
        and o.statistic = 'price'
        and o.conditions is null
    group by f.line_number
    having count(distinct o.offer_id) = 1
)

select
    l.line_number,
    l.label,
    l.service_provider_name,
    l.offer,
    coalesce(l.instance_type, p.instance_type) as instance_type,
    coalesce(l.accelerator_name, p.accelerator_name) as accelerator_name,
    coalesce(l.form_factor, p.form_factor) as form_factor,
    coalesce(l.accelerators_per_node, p.accelerator_count)::DECIMAL(10, 4) as accelerators_per_node,
    coalesce(l.region_id, p.region_id) as region_id,
    coalesce(l.availability_zone_id, p.availability_zone_id) as availability_zone_id,
    l.purchase_option,
    coalesce(nullif(l.commitment_term_hours, 0), f.term_hours) as commitment_term_hours,
    prices.decision.commitment_class(
        l.purchase_option, coalesce(nullif(l.commitment_term_hours, 0), f.term_hours)
    ) as commitment_class,
    coalesce(nullif(l.purchase_payment_model, 'none'), p.purchase_payment_model) as purchase_payment_model,
    coalesce(nullif(l.tier, 'none'), p.tier) as tier,
    l.nodes::DECIMAL(18, 10) as nodes,
    l.share_of_use,
    730 * case when l.purchase_option in ('on_demand', 'spot') then l.share_of_use else 1 end::DOUBLE
        as paid_hours_per_month,
    l.commitment_ends_on,
    p.offer_id,
    f.units_per_node,
    d.offer_id as on_demand_offer_id,
    case
        when f.n_offers > 1 and len(f.additions) = 0
            then
                f.n_offers || ' offers fit, and differ in what no line says: host, network, currency or least purchase'
                || '; a [[rate]] of the price file gives the line a price'
        when f.n_offers > 1 then f.n_offers || ' offers fit; say more of: ' || array_to_string(f.additions, '; ')
        when f.is_without_rate then 'no exchange rate of ' || f.pricing_currency || ' of these days'
        when f.n_offers = 1 then null
        when
            l.service_provider_name not in (
                select a.service_provider_name from prices.int.accelerator_hour_price as a
            )
            then 'no price of this provider is known'
        when l.instance_type is null and l.accelerator_name is null
            then 'no machine of this provider and no chip is called so'
        when n.line_number is null then 'this provider has no price of it'
        when not n.is_sold_so then 'not sold so; known: ' || array_to_string(n.known_options, ', ')
        when not n.is_sold_there and n.regions = ['none'] then 'its prices name no region: leave it empty'
        when not n.is_sold_there then 'not sold so there; known: ' || array_to_string(n.regions[1:6], ', ')
        when not n.is_sold_by_count then 'not sold with so many chips a node'
        else 'no offer has all of term, payment, plan, offering_class, tier and zone as the line says'
    end as reason,
    l.billed_list_cost,
    l.billed_contracted_cost,
    l.billed_effective_cost,
    l.billed_currency,
    l.billed_hours,
    b.fleet_sha256
from fleet_input as l
left join found as f on l.line_number = f.line_number
left join near as n on l.line_number = n.line_number
left join prices.int.accelerator_hour_price as p on f.n_offers = 1 and f.offer_id = p.offer_id
left join on_demand as d on l.line_number = d.line_number and p.offer_id is not null
cross join build as b
