-- What was there on each day, and what it cost: the offers of one provider, chip and purchase option, and the middle of
-- all providers' where several had the chip on that day (service_provider_name NULL: nothing else of it is needed).
-- Each row follows from what int.index_spell holds of that day and from the reference rates up to it, and from
-- nothing else: so a published file is amended by the days of a chip and option from the first one that may differ.
-- Prices are logarithms of US dollars per chip-hour, at the ECB's rate of the day or of up to ten days before. Sums are
-- of decimals, so that the order of rows does not matter; rows of a series follow one another, so that they take less.
with cell as (
    select
        *,
        row_number() over (order by service_provider_name, accelerator_name, purchase_option) as cell_id,
        dense_rank() over (order by accelerator_name, purchase_option) as basket_id,
        count(*) over (partition by accelerator_name, purchase_option) > 1 as is_shared_basket
    from (
        select distinct
            service_provider_name,
            accelerator_name,
            purchase_option
        from int.index_spell
    ) as named
),

rate as (
    select
        d.pricing_currency,
        d.index_date,
        ln(r.usd_per_currency_unit) as rate_log
    from (
        select
            pricing_currency,
            unnest(
                range(
                    min(index_date)::TIMESTAMP - interval 1 day, max(held_to_date) + interval 1 day, interval 1 day
                )
            )::DATE as index_date
        from int.index_spell
        where pricing_currency <> 'USD'
        group by pricing_currency
    ) as d
    asof inner join core.usd_rate as r
        on d.pricing_currency = r.pricing_currency and d.index_date >= r.rate_date
    where d.index_date - r.rate_date <= 10
),

placed as (
    select
        c.cell_id,
        i.pricing_currency,
        ln(i.price_per_accelerator_hour) as price_log,
        i.index_date as first_date,
        i.held_to_date,
        i.carried_from_date,
        case when i.is_link_start then i.index_date end as begins_on
    from int.index_spell as i
    inner join cell as c
        on
            i.service_provider_name = c.service_provider_name
            and i.accelerator_name = c.accelerator_name
            and i.purchase_option = c.purchase_option
),

-- As many rows as offers have days, so of few columns, and never all at once.
day as not materialized (
    select
        cell_id,
        pricing_currency,
        price_log,
        carried_from_date,
        begins_on,
        unnest(range(first_date::TIMESTAMP, held_to_date + interval 1 day, interval 1 day))::DATE as index_date
    from placed
),

told as not materialized (
    select
        cell_id,
        index_date,
        price_log as usd_log,
        0 as rate_move,
        coalesce(index_date >= carried_from_date, false) as is_carried,
        coalesce(index_date = begins_on, false) as is_new
    from day
    where pricing_currency = 'USD'
    union all
    select
        d.cell_id,
        d.index_date,
        d.price_log + r.rate_log as usd_log,
        r.rate_log - b.rate_log as rate_move,
        coalesce(d.index_date >= d.carried_from_date, false) as is_carried,
        coalesce(d.index_date = d.begins_on, false) as is_new
    from day as d
    left join rate as r on d.pricing_currency = r.pricing_currency and d.index_date = r.index_date
    left join rate as b on d.pricing_currency = b.pricing_currency and d.index_date - 1 = b.index_date
    where d.pricing_currency <> 'USD'
),

counted as (
    select
        cell_id,
        index_date,
        count(*) as n_items,
        count(*) filter (where is_carried) as n_carried,
        count(usd_log) as n_usd,
        median(usd_log) as median_log,
        min(usd_log) as lowest_log,
        max(usd_log) as highest_log,
        sum(usd_log::DECIMAL(18, 15))::DECIMAL(18, 11) as sum_log,
        sum(exp(usd_log)::DECIMAL(18, 10))::DECIMAL(18, 8) as sum_usd,
        avg(rate_move::DECIMAL(18, 15)) filter (where not is_new) as currency_log
    from told
    group by cell_id, index_date
),

basket as (
    select distinct
        basket_id,
        accelerator_name,
        purchase_option
    from cell
),

shared as (
    select
        c.basket_id,
        t.index_date,
        median(t.usd_log) as median_log
    from told as t
    inner join cell as c on t.cell_id = c.cell_id
    where c.is_shared_basket
    group by c.basket_id, t.index_date
    having min(t.cell_id) < max(t.cell_id)
)

select
    c.service_provider_name,
    c.accelerator_name,
    c.purchase_option,
    n.index_date,
    n.n_items,
    n.n_carried,
    n.n_usd,
    n.median_log,
    n.lowest_log,
    n.highest_log,
    n.sum_log,
    n.sum_usd,
    n.currency_log
from counted as n
inner join cell as c on n.cell_id = c.cell_id
union all
select
    null as service_provider_name,
    b.accelerator_name,
    b.purchase_option,
    m.index_date,
    null as n_items,
    null as n_carried,
    null as n_usd,
    m.median_log,
    null as lowest_log,
    null as highest_log,
    null as sum_log,
    null as sum_usd,
    null as currency_log
from shared as m
inner join basket as b on m.basket_id = b.basket_id
order by accelerator_name, purchase_option, service_provider_name, index_date
