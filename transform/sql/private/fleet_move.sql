-- What each move of a list price does to each line of the fleet, in dollars a month at its present size.
-- move_of says whose price moved: the line's own offer, or, for a commitment, the same machine on demand, which is what
-- it would cost without one. A commitment that runs keeps its price: paid_from is the day on which the move can reach
-- the line, the one after its last, and NULL where that is not known. Both prices are taken at one rate of exchange,
-- the present one, so that the move is the price's and not the currency's. The two kinds of move_of are never summed.
with watched as (
    select
        line_number,
        offer_id,
        'line' as move_of,
        paid_hours_per_month as hours
    from fleet_line
    where offer_id is not null
    union all
    select
        line_number,
        on_demand_offer_id as offer_id,
        'on_demand' as move_of,
        730 * share_of_use as hours
    from fleet_line
    where on_demand_offer_id is not null and purchase_option <> 'spot'
)

select
    l.line_number,
    l.label,
    w.offer_id,
    w.move_of,
    c.last_observed_before_at,
    c.observed_at,
    case
        when l.purchase_option in ('on_demand', 'spot') then c.observed_at::DATE
        when l.commitment_ends_on is not null then greatest(l.commitment_ends_on + 1, c.observed_at::DATE)
    end as paid_from,
    c.change_kind,
    c.effective_hourly_price_before * p.usd_per_currency_unit * l.units_per_node as list_price_before,
    c.effective_hourly_price_after * p.usd_per_currency_unit * l.units_per_node as list_price_after,
    list_price_before * l.nodes::DOUBLE * w.hours as usd_per_month_before,
    list_price_after * l.nodes::DOUBLE * w.hours as usd_per_month_after,
    usd_per_month_after - usd_per_month_before as usd_per_month_change,
    c.source,
    c.document_sha256
from watched as w
inner join fleet_line as l on w.line_number = l.line_number
inner join prices.int.price_change as c on w.offer_id = c.offer_id
inner join prices.int.accelerator_hour_price as p on w.offer_id = p.offer_id
where c.change_kind not in ('correction', 'suspected_error')
order by c.observed_at, l.line_number, w.move_of
