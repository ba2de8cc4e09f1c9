-- What each line of the fleet costs a month, at list and as contracted, side by side; a month is 730 hours.
-- On demand and spot are paid for nodes x 730 x share_of_use hours. A commitment is paid for all 730, used or not: its
-- share of use only shows what of it lies idle. A line without an offer has no list price; if a contracted rate is for
-- what the line says, it has a contracted price none the less.
select
    l.line_number,
    l.label,
    l.service_provider_name,
    l.offer,
    l.region_id,
    l.purchase_option,
    l.nodes,
    l.share_of_use,
    l.paid_hours_per_month,
    l.offer_id,
    p.effective_hourly_price * p.usd_per_currency_unit * l.units_per_node as list_price_per_node_hour,
    coalesce(
        c.contracted_usd_per_hour * l.units_per_node, r.usd_per_hour::DOUBLE,
        r.usd_per_chip_hour::DOUBLE * l.accelerators_per_node::DOUBLE
    ) as contracted_price_per_node_hour,
    coalesce(c.contract_id, r.contract_id) as contract_id,
    coalesce(c.discount, r.discount) as discount,
    coalesce(c.rule, r.rule) as rule,
    list_price_per_node_hour * (l.nodes::DOUBLE * l.paid_hours_per_month) as list_usd_per_month,
    contracted_price_per_node_hour * (l.nodes::DOUBLE * l.paid_hours_per_month) as contracted_usd_per_month,
    case when l.purchase_option not in ('on_demand', 'spot') then list_usd_per_month * (1 - l.share_of_use) end
        as list_idle_usd_per_month,
    case when l.purchase_option not in ('on_demand', 'spot') then contracted_usd_per_month * (1 - l.share_of_use) end
        as contracted_idle_usd_per_month,
    p.is_current,
    p.last_observed_at,
    l.reason || if(
        contracted_price_per_node_hour is null and r.usd_per_chip_hour is not null,
        '; its contracted rate is of a chip: give accelerators_per_node', ''
    ) as reason,
    p.document_sha256,
    l.fleet_sha256,
    b.prices_sha256
from fleet_line as l
left join prices.int.accelerator_hour_price as p on l.offer_id = p.offer_id
left join contracted_price as c on l.offer_id = c.offer_id
left join rule_match as m on l.line_number = m.thing_id and m.thing = 'line'
left join price_rule as r on m.rule = r.rule
cross join build as b
order by l.line_number
