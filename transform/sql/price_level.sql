-- What was there on each day, and what it cost: the offers of one provider, chip and purchase option, and the middle of
-- all providers' where several had the chip on that day (service_provider_name NULL: nothing else of it is needed).
-- Each row follows from what int.index_spell holds of that day and from the reference rates up to it, and from
-- nothing else: so a published file is amended by the days of a chip and option from the first one that may differ.
-- Prices are logarithms of US dollars per chip-hour, at the day's rate (core.usd_rate_of_day). Sums are of decimals, so
-- that the order of rows does not matter.
with cell as (
    select
        service_provider_name,
        accelerator_name,
        purchase_option,
        row_number() over (order by service_provider_name, accelerator_name, purchase_option) as cell_id,
        dense_rank() over (order by accelerator_name, purchase_option) as basket_id,
        count(*) over (partition by accelerator_name, purchase_option) > 1 as is_shared_basket
    from int.index_spell
    group by service_provider_name, accelerator_name, purchase_option
),

rate as (
    select
        pricing_currency,
        rated_on as index_date,
        ln(usd_per_currency_unit) as rate_log
    from core.usd_rate_of_day
),

placed as (
    select
        c.cell_id,
        c.basket_id,
        c.is_shared_basket,
        i.pricing_currency,
        ln(i.price_per_accelerator_hour) as price_log,
        price_log::DECIMAL(18, 15) as log_decimal,
        exp(price_log)::DECIMAL(18, 10) as usd_decimal,
        i.index_date as first_date,
        i.held_to_date + 1 as ended_on,
        i.carried_from_date,
        i.is_link_start
    from int.index_spell as i
    inner join cell as c
        on
            i.service_provider_name = c.service_provider_name
            and i.accelerator_name = c.accelerator_name
            and i.purchase_option = c.purchase_option
),

-- Days on which anything of a chip and option may change, of other currencies all: between two nothing differs.
edge as materialized (
    select
        basket_id,
        index_date,
        row_number() over w as edge_number,
        lead(index_date) over w as next_date
    from (
        select distinct
            basket_id,
            unnest(
                [carried_from_date, ended_on]
                || case
                    when pricing_currency = 'USD' then [first_date, case when is_link_start then first_date + 1 end]
                    else range(first_date::TIMESTAMP, ended_on, interval 1 day)::DATE[]
                end
            ) as index_date
        from placed
    ) as named
    where index_date is not null
    window w as (partition by basket_id order by index_date)
),

-- As many rows as offers have such days, so of few columns, and never all at once.
day as not materialized (
    select
        p.cell_id,
        p.basket_id,
        p.is_shared_basket,
        p.pricing_currency,
        p.price_log,
        p.log_decimal,
        p.usd_decimal,
        k.edge_number as carried_from,
        case when p.is_link_start then s.edge_number end as begins_on,
        unnest(range(s.edge_number, e.edge_number)) as edge_number
    from placed as p
    inner join edge as s on p.basket_id = s.basket_id and p.first_date = s.index_date
    inner join edge as e on p.basket_id = e.basket_id and p.ended_on = e.index_date
    left join edge as k on p.basket_id = k.basket_id and p.carried_from_date = k.index_date
),

priced as not materialized (
    select
        cell_id,
        basket_id,
        is_shared_basket,
        edge_number,
        price_log as usd_log,
        log_decimal,
        usd_decimal,
        0::DECIMAL(18, 15) as rate_move,
        edge_number >= carried_from as is_carried,
        edge_number = begins_on as is_new
    from day
    where pricing_currency = 'USD'
    union all
    select
        d.cell_id,
        d.basket_id,
        d.is_shared_basket,
        d.edge_number,
        d.price_log + r.rate_log as usd_log,
        usd_log::DECIMAL(18, 15) as log_decimal,
        exp(usd_log)::DECIMAL(18, 10) as usd_decimal,
        (r.rate_log - b.rate_log)::DECIMAL(18, 15) as rate_move,
        d.edge_number >= d.carried_from as is_carried,
        d.edge_number = d.begins_on as is_new
    from day as d
    inner join edge as g on d.basket_id = g.basket_id and d.edge_number = g.edge_number
    left join rate as r on d.pricing_currency = r.pricing_currency and g.index_date = r.index_date
    left join rate as b on d.pricing_currency = b.pricing_currency and g.index_date - 1 = b.index_date
    where d.pricing_currency <> 'USD'
),

counted as (
    select
        cell_id,
        edge_number,
        count(*) as n_items,
        count(*) filter (where is_carried) as n_carried,
        count(usd_log) as n_usd,
        median(usd_log) as median_log,
        min(usd_log) as lowest_log,
        max(usd_log) as highest_log,
        sum(log_decimal)::DECIMAL(18, 11) as sum_log,
        sum(usd_decimal)::DECIMAL(18, 8) as sum_usd,
        avg(rate_move) filter (where is_new is not true) as currency_log
    from priced
    group by cell_id, edge_number
),

shared as (
    select
        min(cell_id) as cell_id,
        edge_number,
        median(usd_log) as median_log
    from priced
    where is_shared_basket
    group by basket_id, edge_number
    having min(cell_id) < max(cell_id)
)

select
    case when n.n_items is not null then c.service_provider_name end as service_provider_name,
    c.accelerator_name,
    c.purchase_option,
    unnest(range(g.index_date::TIMESTAMP, g.next_date::TIMESTAMP, interval 1 day))::DATE as index_date,
    n.n_items,
    n.n_carried,
    n.n_usd,
    n.median_log,
    n.lowest_log,
    n.highest_log,
    n.sum_log,
    n.sum_usd,
    n.currency_log
from (
    from counted
    union all by name
    from shared
) as n
inner join cell as c on n.cell_id = c.cell_id
inner join edge as g on c.basket_id = g.basket_id and n.edge_number = g.edge_number
