-- The commitments with a known end, and what is left of each from the day of the prices on: the price of the days to
-- its end, however paid. on_demand_usd_per_month is the same machines' list price without one, at their share of use.
select
    l.line_number,
    l.label,
    l.service_provider_name,
    l.offer,
    l.region_id,
    l.purchase_option,
    l.nodes,
    l.commitment_ends_on,
    l.commitment_ends_on - b.prices_built_at::DATE as days_left,
    c.list_usd_per_month,
    c.contracted_usd_per_month,
    c.list_price_per_node_hour * l.nodes::DOUBLE * 24 * greatest(days_left, 0) as list_usd_left,
    c.contracted_price_per_node_hour * l.nodes::DOUBLE * 24 * greatest(days_left, 0) as contracted_usd_left,
    p.effective_hourly_price * p.usd_per_currency_unit * l.units_per_node * l.nodes::DOUBLE * 730 * l.share_of_use
        as on_demand_usd_per_month
from fleet_line as l
inner join fleet_cost as c on l.line_number = c.line_number
left join prices.int.accelerator_hour_price as p on l.on_demand_offer_id = p.offer_id
cross join build as b
where l.commitment_ends_on is not null
